/* growth.c - the policies of growth, and filters that take more keys than expected.
 *
 * In place. The table of prefixes (kind/quotient.h) is what a filter is that was told
 * nothing: it keeps its promise by itself and takes 1.5 to 2.3 times the bytes of a
 * filter made to measure, from 100 keys to as many as come. In front of it stand whole
 * hashes of a dozen keys, which take less than its smallest table.
 *
 * Layers. They are for kinds that cannot be rewritten, for filters whose number of keys
 * was given and turned out too low, and for files of version 0.2. The errors of all
 * layers, for ever, add up to at most the error asked for. Layer i therefore gets a
 * share s_i with sum 1:
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
 * tenth of the bytes. Small guesses catch up faster: below 65536 keys a layer is four
 * times the one before.
 *
 * Rebuilt. A filter of one cache line a key, a quarter larger each time: 1.00 to 1.25
 * times the bytes of one made to measure, for five adds a key in all. */
#include "filter/growth.h"
#include "base/fail.h"
#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define FEW_KEYS 14 /* whole hashes at first: two cache lines */
#define SMALL_KEYS 65536
#define BY_LAYERS                                                                      \
    {                                                                                  \
        .step = {{SMALL_KEYS, 4, 1}, {0, 5, 2}}, .asked = 0.8, .asked_small = 0.8,     \
        .ratio = 0.7                                                                   \
    }

static const sn_growth by_layers = {SN_BY_LAYERS, 1 << 20, 1 << 20, BY_LAYERS};
/* Kinds that remove take no hashes in front, so they start smaller. */
static const sn_growth by_layers_of_copies = {SN_BY_LAYERS, SMALL_KEYS, 0, BY_LAYERS};
/* (The kind says how much larger its next body is.) */
static const sn_growth in_place = {SN_IN_PLACE, FEW_KEYS, 128, {.step = {{0}}}};
/* Keys from when such a filter was 500 times smaller cannot be removed: it begins where
 * that is rare. */
static const sn_growth in_place_of_copies = {SN_IN_PLACE, 8192, 0, {.step = {{0}}}};
static const sn_growth rebuilt = {SN_REBUILT, 7000, 64 << 10, {.step = {{0, 5, 4}}}};

const sn_growth *sn_growth_for(const sn_kind *kind, bool once)
{
    bool copies = kind && kind->multiset && !once;
    if (kind && kind->grow)
        return copies ? &in_place_of_copies : &in_place;
    return copies ? &by_layers_of_copies : &by_layers;
}

const sn_growth *sn_growth_of(const seen_filter *f)
{
    return f->source.again ? &rebuilt : sn_growth_for(sn_kind_of(f->kind), f->once);
}

/* ---- series of layers ------------------------------------------------------------ */

uint64_t seen_growth_next(const seen_growth *g, uint64_t keys)
{
    const seen_growth_step *s = g->step;
    while (s->below && keys >= s->below)
        s++;
    uint64_t n = s->over ? keys / s->over : 0;
    return __builtin_mul_overflow(n, s->times, &n) ? 0 : n;
}

double seen_growth_share(const seen_growth *g, uint64_t first, bool asked, uint32_t i)
{
    double own = !asked ? 0 : first < g->small ? g->asked_small : g->asked;
    if (own > 0 && i == 0)
        return own;
    uint32_t small = 0; /* layers that are */
    for (uint64_t n = first; n && n < g->small; small++)
        n = seen_growth_next(g, n);
    if (i < small)
        return g->small_share;
    uint32_t j = i - small - (own > 0 && small == 0);
    if (g->ratio > 0)
        return (1 - own - g->small_most * g->small_share) * (1 - g->ratio) *
               pow(g->ratio, j);
    return 6 / (PI * PI) / ((i + 1.0) * (i + 1.0)); /* which add up to 1 */
}

void sn_layer_goal(const seen_filter *f, uint32_t i, uint64_t *capacity, double *error)
{
    const sn_growth *g = sn_growth_of(f);
    uint64_t first = f->keys ? f->keys : g->first, n = first;
    for (uint32_t j = 0; n && j < i; j++)
        n = seen_growth_next(&g->series, n);
    *capacity = n;
    *error = f->error;
    if (g->mode == SN_BY_LAYERS && !(f->flags & (SEEN_FIXED | SEEN_ATOMIC)))
        *error *= seen_growth_share(&g->series, first, f->keys != 0, i);
}

/* ---- layers ---------------------------------------------------------------------- */

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
        f->same_variant &=
            l->variant == f->layer->variant && l->variant->has_any != NULL;
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

bool sn_begins_whole(const sn_kind *kind, bool once)
{
    return kind && kind->can & SEEN_CAN_ADD && !kind->each_hash &&
           (!kind->multiset || once) && sn_growth_for(kind, once)->whole;
}

uint64_t sn_whole_keys(const seen_filter *f)
{
    const sn_kind *whole = sn_kind_whole();
    sn_shape s = {.kind = whole->id};
    if (f->keys || f->flags & (SEEN_FIXED | SEEN_ATOMIC) ||
        !sn_begins_whole(sn_kind_of(f->kind), f->once) ||
        whole->shape_for(&s, FEW_KEYS, 0) < 0)
        return 0;
    while (whole->body_len(&s) < sn_growth_of(f)->whole)
        s.units *= 2;
    return whole->holds(&s);
}

int sn_append_hashes(seen_filter *f)
{
    const sn_kind *whole = sn_kind_whole();
    sn_shape s = {.kind = whole->id};
    int rc = whole->shape_for(&s, FEW_KEYS, 0);
    s.capacity = whole->holds(&s);
    return rc < 0 ? rc : sn_append(f, &s);
}

static int add_to_layer(void *layer, const uint64_t *h, size_t n)
{
    sn_layer *l = layer;
    bool ignored[64];
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < 64 ? n - i : 64;
        if (l->variant->add(l, h + i, m, ignored) < m)
            return sn_fail(SEEN_EFULL, "%s has no place for a key", l->kind->name);
    }
    return 0;
}

/* The shape of layer I of F. */
static int shape_layer(const seen_filter *f, uint32_t i, sn_shape *s)
{
    const sn_kind *kind = sn_kind_of(f->kind);
    *s = (sn_shape){.kind = f->kind, .k = f->probes, .own[SN_ONCE] = f->once};
    sn_layer_goal(f, i, &s->capacity, &s->error);
    if (!s->capacity)
        return sn_fail(SEEN_ETOOBIG, "the filter cannot grow any more");
    if (i == 0 && s->capacity < seen_added(f) * 5 / 4)
        s->capacity = seen_added(f) * 5 / 4;
    double n = (double)s->capacity;
    int rc = sn_shape_for(s, i && !f->once ? &f->layer->shape : NULL, n, s->error);
    if (rc == 0 && kind->holds)
        s->capacity = kind->holds(s);
    return rc;
}

int sn_unfold(seen_filter *f)
{
    sn_shape s;
    int rc = shape_layer(f, 0, &s);
    if (rc == 0)
        rc = sn_append(f, &s);
    if (rc == 0 && (rc = f->layer->kind->each_hash(f->layer, add_to_layer,
                                                   f->layer + 1)) < 0) {
        sn_body_free(&f->alloc, f->layer[1].body, f->layer[1].len);
        f->layers = 1;
    }
    if (rc < 0)
        return rc;
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
    if (l->kind->id != f->kind && l->len >= sn_growth_of(f)->whole)
        return sn_unfold(f);
    if (l->kind->grow) {
        int done = l->kind->grow(l, &f->alloc);
        sn_choose_variants(f); /* it may have outgrown the caches */
        return done;
    }
    sn_shape s;
    int rc = shape_layer(f, f->layers, &s);
    return rc < 0 ? rc : sn_append(f, &s);
}
