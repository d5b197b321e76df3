/* grow.c - layers: filters that take more keys than anybody knew.
 *
 * The promise is that the errors of all layers, for ever, add up to at most the
 * error asked for. Layer i therefore gets a share s_i with sum 1:
 *
 *   number of keys unknown:  s_i = 0.15 * 0.85^i, capacity 65536 * 2^i
 *   number n known:          s_0 = 0.8, capacity n; the other 0.2 is shared by the
 *                            layers that come if n was too low, in the same way
 *
 * Why these numbers. Tightening by r costs log2(1/r) / 0.69 bits a key and layer,
 * and leaves layer i the share (1 - r) r^i; doubling from n0 reaches n keys in
 * about log2(n / n0) layers. With line layers at p = 0.01, the bytes of a grown
 * filter over those of one made to measure, averaged over 1 to 10 million keys:
 *
 *              r = 0.5    0.75    0.8    0.85    0.9     layers at 10 million
 *   n0 =   100    4.3     2.98   2.91    2.89   2.92       17
 *   n0 =  4096    3.4     2.80   2.71    2.67   2.66       12
 *   n0 = 65536    2.8     2.51   2.47    2.47   2.52        8
 *
 * Growing by 3 or 4 saves layers but wastes half of the newest one (2.9 and up);
 * growing by 1.5 wastes less (2.2) but needs 11 layers, and every layer is one more
 * line to ask. (bench/growth prints the table.) Small guesses catch up faster: below
 * 65536 keys a layer is four times the one before. */
#include "filter/filter.h"
#include "base/fail.h"
#include <math.h>
#include <string.h>

#define TIGHTEN 0.85
#define FIRST_KEYS 65536
#define KNOWN_SHARE 0.8

/* Below this many bytes a body lives in the second-level cache. */
#define TOUCH_BYTES ((uint64_t)512 << 10)

double sn_first_share(const seen_spec *spec, double error)
{
    if (spec->flags & (SEEN_FIXED | SEEN_ATOMIC))
        return error;
    return error * (spec->keys ? KNOWN_SHARE : 1 - TIGHTEN);
}

void sn_layer_goal(const seen_filter *f, uint32_t i, uint64_t *capacity, double *error)
{
    uint64_t n = f->keys ? f->keys : FIRST_KEYS;
    for (uint32_t j = 0; j < i; j++)
        n = n < FIRST_KEYS ? n * 4 : n < (uint64_t)1 << 60 ? n * 2 : n;
    *capacity = n;
    if (!f->keys)
        *error = f->error * (1 - TIGHTEN) * pow(TIGHTEN, i);
    else if (i == 0)
        *error = f->error * KNOWN_SHARE;
    else
        *error = f->error * (1 - KNOWN_SHARE) * (1 - TIGHTEN) * pow(TIGHTEN, i - 1);
}

void sn_settle(seen_filter *f)
{
    enum sn_simd simd = f->flags & SEEN_SCALAR ? SN_SCALAR : sn_simd_best();
    f->touch = false;
    for (uint32_t i = 0; i < f->layers; i++) {
        sn_layer *l = f->layer + i;
        l->twin = l->kind->twin(&l->shape, simd, (f->flags & SEEN_ATOMIC) != 0);
        if (l->len > TOUCH_BYTES && l->twin->touch)
            f->touch = true;
    }
}

int sn_make_room(seen_filter *f, uint32_t n)
{
    if (n <= f->room)
        return 0;
    /* Most filters have one layer for ever: those that grow pay for the move. */
    uint32_t room = f->room ? f->room * 2 : 1;
    if (room < n)
        room = n;
    sn_layer *to = sn_alloc(&f->alloc, room * sizeof *to);
    if (!to)
        return sn_fail(SEEN_ENOMEM, "no memory for %u layers", room);
    if (f->layers)
        memcpy(to, f->layer, f->layers * sizeof *to);
    sn_free(&f->alloc, f->layer, f->room * sizeof *to);
    f->layer = to;
    f->room = room;
    return 0;
}

int sn_append(seen_filter *f, const sn_shape *shape)
{
    const sn_kind *kind = sn_kind_of(shape->kind);
    uint64_t len = kind ? kind->body_len(shape) : 0;
    if (!len)
        return sn_fail(SEEN_EINVAL, "no such shape: kind %d, k %u, %llu units",
                       (int)shape->kind, shape->k, (unsigned long long)shape->units);
    if (f->layers == SN_MAX_LAYERS)
        return sn_fail(SEEN_ETOOBIG, "a filter cannot have more than %d layers",
                       SN_MAX_LAYERS);
    int rc = sn_make_room(f, f->layers + 1);
    if (rc < 0)
        return rc;
    uint8_t *body = sn_body_alloc(&f->alloc, len);
    if (!body)
        return sn_fail(SEEN_ENOMEM, "no memory for a filter of %llu bytes",
                       (unsigned long long)len);
    sn_layer *l = f->layer + f->layers++;
    *l = (sn_layer){ .kind = kind, .shape = *shape, .len = len, .body = body };
    sn_settle(f);
    return 0;
}

int sn_grow(seen_filter *f)
{
    sn_layer *l = sn_newest(f);
    if (f->flags & SEEN_FIXED || !(l->kind->can & SEEN_CAN_GROW))
        return sn_fail(SEEN_EFULL, "the filter is fixed and holds the %llu keys it was "
                                   "made for",
                       (unsigned long long)l->shape.capacity);
    if (f->map)
        return sn_fail(SEEN_EFULL, "a mapped filter cannot grow: load it, add, and save it");
    if (l->kind->grow) {
        int done = l->kind->grow(l, &f->alloc);
        sn_settle(f); /* it may have outgrown the caches */
        return done;
    }
    sn_shape s = { .kind = f->kind, .k = f->probes };
    sn_layer_goal(f, f->layers, &s.capacity, &s.error);
    double n = (double)s.capacity;
    int rc = l->kind->shape_next ? l->kind->shape_next(&s, &f->layer->shape, n, s.error)
                                 : l->kind->shape_for(&s, n, s.error);
    return rc < 0 ? rc : sn_append(f, &s);
}
