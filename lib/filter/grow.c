/* grow.c - filters that take more keys than expected.
 *
 * While they are few, whole hashes are kept (a set of at most 1 MiB): exact, small for
 * a handful of keys, and able to become anything. Then come layers. The promise is
 * that the errors of all layers, for ever, add up to at most the error asked for.
 * Layer i therefore gets a share s_i with sum 1:
 *
 *   number of keys unknown:  s_i = 0.3 * 0.7^i, capacity 2^20 * 2.5^i
 *   number n known:          s_0 = 0.8, capacity n; the other 0.2 is shared by the
 *                            layers that come if n was too low, in the same way
 *
 * Why these numbers. Tightening by r costs log2(1/r) / 0.69 bits a key and layer, and
 * leaves layer i the share (1 - r) r^i; growing by g from n0 reaches n keys in about
 * log(n / n0) / log(g) layers, and the newest is half empty on average. With blocked
 * layers at p = 0.01, the bytes of a grown filter over those of one made to measure,
 * averaged over 1 to 10 million keys (build/bench/growth_table):
 *
 *        n0    g    r = 0.5    0.6    0.7    0.8    0.9    layers at 10 million
 *       100    2       7.51   5.09   4.04   3.32   2.90     17
 *     65536    1.5     3.09   2.68   2.41   2.24   2.23     11
 *     65536    2       3.06   2.78   2.62   2.51   2.56      8
 *     65536    2.5     2.93   2.72   2.60   2.54   2.64      6
 *   1048576    2       2.33   2.30   2.32   2.40   2.64      4
 *   1048576    2.5     2.29   2.29   2.33   2.43   2.68      3
 *   1048576    3       2.75   2.73   2.78   2.89   3.19      3
 *
 * Every layer is one more line to ask, so few layers are worth more than the last
 * tenth of the bytes. A first layer of a million keys would be absurd for a hundred
 * keys; the set in front of it makes it affordable. Small guesses catch up faster:
 * below 65536 keys a layer is four times the one before. */
#include "filter/filter.h"
#include "base/fail.h"
#include "kind/set.h"
#include <math.h>
#include <string.h>

#define TIGHTEN 0.7
#define FIRST_KEYS ((uint64_t)1 << 20)
#define SMALL_KEYS 65536
#define PLACE_KEYS 8192 /* of a kind that grows in place */
#define PLACE_HASHES_BYTES ((uint64_t)64 << 10)
#define HASHES_BYTES ((uint64_t)1 << 20)
#define HASHES_UNITS 64 /* buckets of a new set: 4 KiB */
#define KNOWN_SHARE 0.8

double sn_first_share(const seen_spec *spec, double error)
{
    if (spec->flags & (SEEN_FIXED | SEEN_ATOMIC) || spec->kind == SEEN_QUOTIENT)
        return error;
    return error * (spec->keys ? KNOWN_SHARE : 1 - TIGHTEN);
}

void sn_layer_goal(const seen_filter *f, uint32_t i, uint64_t *capacity, double *error)
{
    /* Kinds that remove take no hashes in front, so they start smaller. */
    bool copies = f->kind == SEEN_CUCKOO && !f->once;
    uint64_t n = f->keys                     ? f->keys
                 : copies                   ? SMALL_KEYS
                 : f->kind == SEEN_QUOTIENT ? PLACE_KEYS
                                            : FIRST_KEYS;
    for (uint32_t j = 0; j < i; j++)
        n = n < SMALL_KEYS ? n * 4 : n < (uint64_t)1 << 60 ? n / 2 * 5 : n;
    *capacity = n;
    if (f->kind == SEEN_QUOTIENT) /* grows in place, and keeps its promise by itself */
        *error = f->error;
    else if (!f->keys)
        *error = f->error * (1 - TIGHTEN) * pow(TIGHTEN, i);
    else if (i == 0)
        *error = f->error * KNOWN_SHARE;
    else
        *error = f->error * (1 - KNOWN_SHARE) * (1 - TIGHTEN) * pow(TIGHTEN, i - 1);
}

void sn_choose_variants(seen_filter *f)
{
    enum sn_simd simd = f->flags & SEEN_SCALAR ? SN_SCALAR : sn_simd_best();
    f->prefetch = false;
    f->same_variant = true;
    for (uint32_t i = 0; i < f->layers; i++) {
        sn_layer *l = f->layer + i;
        l->variant = l->kind->variant(&l->shape, simd, (f->flags & SEEN_ATOMIC) != 0);
        if (l->len > SN_PREFETCH_BYTES && l->variant->prefetch)
            f->prefetch = true;
        f->same_variant &= l->variant == f->layer->variant && l->variant->has_any != NULL;
    }
    f->has_one = f->layers == 1 ? f->layer->variant->has_one : NULL;
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
        return sn_no_memory("no memory for %u layers", room);
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
        return sn_no_memory("no memory for a filter of %llu bytes",
                            (unsigned long long)len);
    sn_layer *l = f->layer + f->layers++;
    *l = (sn_layer){.kind = kind, .shape = *shape, .len = len, .body = body};
    sn_choose_variants(f);
    return 0;
}

bool sn_unfolds_to(seen_kind kind)
{
    return sn_kind_of(kind) &&
           (kind == SEEN_BLOCKED || kind == SEEN_SPLIT || kind == SEEN_CLASSIC ||
            kind == SEEN_CUCKOO || kind == SEEN_QUOTIENT);
}

int sn_append_hashes(seen_filter *f)
{
    sn_shape s = {.kind = SEEN_SET};
    int rc = sn_set.shape_in(&s, 1, HASHES_UNITS * 64);
    s.capacity = HASHES_UNITS * SN_SET_LOAD;
    return rc < 0 ? rc : sn_append(f, &s);
}

static int add_to_layer(void *layer, const uint64_t *h, size_t n)
{
    sn_layer *l = layer;
    bool ignored[64];
    for (size_t i = 0; i < n; i += 64)
        l->variant->add(l, h + i, n - i < 64 ? n - i : 64, ignored);
    return 0;
}

int sn_unfold(seen_filter *f)
{
    sn_shape s = {.kind = f->kind, .k = f->probes, .own[SN_ONCE] = f->once};
    sn_layer_goal(f, 0, &s.capacity, &s.error);
    int rc = sn_kind_of(s.kind)->shape_for(&s, (double)s.capacity, s.error);
    if (rc == 0)
        rc = sn_append(f, &s);
    if (rc < 0)
        return rc;
    sn_set.each_hash(f->layer, add_to_layer, f->layer + 1);
    sn_body_free(&f->alloc, f->layer[0].body, f->layer[0].len);
    f->layer[0] = f->layer[1];
    f->layers = 1;
    sn_choose_variants(f);
    return 0;
}

int sn_grow(seen_filter *f)
{
    sn_layer *l = sn_newest(f);
    if (f->flags & SEEN_FIXED || !(l->kind->can & SEEN_CAN_GROW))
        return sn_fail(SEEN_EFULL,
                       "the filter is fixed and holds the %llu keys it was "
                       "made for",
                       (unsigned long long)l->shape.capacity);
    if (sn_in_file(f))
        return sn_fail(SEEN_EFULL,
                       "a mapped filter cannot grow: load it, add, and save it");
    if (l->kind->id != f->kind &&
        l->len >= (f->kind == SEEN_QUOTIENT ? PLACE_HASHES_BYTES : HASHES_BYTES))
        return sn_unfold(f);
    if (l->kind->grow) {
        int done = l->kind->grow(l, &f->alloc);
        sn_choose_variants(f); /* it may have outgrown the caches */
        return done;
    }
    sn_shape s = {.kind = f->kind, .k = f->probes, .own[SN_ONCE] = f->once};
    sn_layer_goal(f, f->layers, &s.capacity, &s.error);
    double n = (double)s.capacity;
    bool family = l->kind->shape_next && !f->once;
    int rc = family ? l->kind->shape_next(&s, &f->layer->shape, n, s.error)
                    : l->kind->shape_for(&s, n, s.error);
    return rc < 0 ? rc : sn_append(f, &s);
}
