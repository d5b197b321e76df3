/* quotient.c - quotient filter that grows in place: prefixes of hashes, in order.
 *
 * A key is kept as a prefix of its hash, at least long enough for the promise. When the
 * filter grows, every prefix gives bits to the address, so nothing is hashed again and
 * no layer is appended: one cache line answers a question, now and then the next one,
 * for ever. The chance that an absent key is found is the sum of 2^-length over all
 * prefixes. Keys that come later lie among more cells, so their prefixes are longer, and
 * each doubling adds about the same to that sum; before the sum would exceed the promise
 * the slots get a bit more. What this costs: 17 to 21 bits a key at 1%, adds that move
 * half a line, and a walk through all of it whenever it grows by an eighth.
 *
 * Lines are described in quotient.h; growing and merging are in quotient_rewrite.c. */
#include "kind/quotient.h"
#include "base/fail.h"
#include <math.h>

/* ---- sizes ------------------------------------------------------------------- */

static uint64_t body_len(const sn_shape *s)
{
    uint64_t c = sn_quotient_c(s);
    if (s->own[SN_QUOTIENT_ONCE] > 1 ||
        s->k < SN_QUOTIENT_WMIN || s->k > SN_QUOTIENT_WMAX || c < 1 || c + s->k > 64 ||
        s->units < 1 || s->units > SN_QUOTIENT_LINES || c > 50)
        return 0;
    if ((uint64_t)1 << c > s->units * SN_QUOTIENT_CELLS ||
        s->own[SN_QUOTIENT_STEP] != sn_quotient_step(s->units, (unsigned)c))
        return 0;
    return (s->units + SN_QUOTIENT_SPARE) * 64;
}

static int shape_for(sn_shape *s, double n, double p)
{
    return sn_quotient_shape(s, n, p, 0);
}

static int shape_in(sn_shape *s, double n, uint64_t bytes)
{
    if (bytes < 64 * (1 + SN_QUOTIENT_SPARE) || bytes > SN_MAX_BYTES)
        return sn_fail(SEEN_EINVAL, "a quotient filter cannot have %llu bytes",
                       (unsigned long long)bytes);
    uint64_t lines = bytes / 64 - SN_QUOTIENT_SPARE;
    if (s->k)
        return sn_quotient_shape(s, n, 0, lines);
    for (uint32_t w = SN_QUOTIENT_WMAX; w >= SN_QUOTIENT_WMIN; w--) {
        s->k = w;
        int rc = sn_quotient_shape(s, n, 0, lines);
        if (rc == 0 && (double)s->capacity >= n)
            return 0;
    }
    return sn_fail(SEEN_ETOOBIG, "%.3g keys do not fit into %llu bytes", n,
                   (unsigned long long)bytes);
}

/* Those of before as they are, and w - 1 bits more than the cell of each since. What it
 * was with fewer keys than at the last growth is not kept: every doubling adds about as
 * much as the last. */
static double error_at(const sn_shape *s, double n)
{
    double then = (double)sn_quotient_keys(s),
           error = ldexp((double)s->own[SN_QUOTIENT_ERROR], -64);
    double each = ldexp(1, -(int)(sn_quotient_c(s) + s->k - 1));
    if (n <= 0)
        return 0;
    double e = error + (n - then) * each, least = error * n / then;
    if (n < then)
        e = fmax(error - then / 2 * each * log2(then / n), least);
    return e < 1 ? e : 1;
}

double sn_quotient_sum(const sn_quotient *q, uint64_t lines, uint64_t *slots)
{
    uint64_t of_length[SN_QUOTIENT_WMAX] = {0};
    double error = 0;
    *slots = 0;
    for (uint64_t i = 0; i < lines; i++)
        for (unsigned j = 0; j < q->slots; j++) {
            uint64_t v = sn_quotient_slot_at(q, q->body + i * 64, j);
            if (!v)
                break;
            of_length[__builtin_ctzll(v)]++;
        }
    for (unsigned k = 0; k < q->w; k++) {
        error += ldexp((double)of_length[k], (int)k - (int)(q->c + q->w) + 1);
        *slots += of_length[k];
    }
    return error;
}

static void measure(const sn_layer *l, sn_measure *out)
{
    sn_quotient q = sn_quotient_of(l);
    uint64_t all = q.lines + SN_QUOTIENT_SPARE, look = all < 1 << 20 ? all : 1 << 20;
    uint64_t slots;
    double error = sn_quotient_sum(&q, look, &slots);
    double scale = (double)all / (double)look;
    out->bits = l->len * 8;
    out->bits_set = (uint64_t)((double)slots * scale * (q.w + 1) + 0.5);
    out->keys = l->added < (double)slots * scale || look < all ? (double)l->added
                                                               : (double)slots;
    out->error = error * scale < 1 ? error * scale : 1;
}

/* ---- the scalar variant ---------------------------------------------------------- */

void sn_quotient_prefetch(const sn_layer *l, const uint64_t *h, size_t n)
{
    sn_quotient q = sn_quotient_of(l);
    for (size_t i = 0; i < n; i++)
        SN_FETCH(sn_quotient_home_line(&q, h[i]));
}

static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    sn_quotient q = sn_quotient_of(l);
    bool far = SN_FETCHES && l->len > SN_QUOTIENT_CACHED;
    if (far)
        sn_quotient_prefetch(l, h, n < SN_QUOTIENT_FAR ? n : SN_QUOTIENT_FAR);
    for (size_t i = 0; i < n; i++) {
        if (far)
            sn_quotient_fetch(&q, h, i, n);
        found[i] = sn_quotient_find(&q, h[i], sn_quotient_select);
    }
}

int sn_quotient_add_one(sn_layer *l, uint64_t h)
{
    sn_quotient q = sn_quotient_of(l);
    if (q.copies)
        return sn_quotient_add_copy(l, h);
    if (sn_quotient_find(&q, h, sn_quotient_select))
        return 1;
    if (!sn_quotient_insert(&q, h))
        return -1;
    l->added++;
    return 0;
}

static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    for (size_t i = 0; i < n; i++) {
        int was = sn_quotient_add_one(l, h[i]);
        if (was < 0)
            return i;
        dup[i] = was;
    }
    return n;
}

static const sn_variant plain = {sn_quotient_prefetch, has, add};

static const sn_variant *variant(const sn_shape *s, enum sn_simd simd, bool atomic)
{
    if (atomic)
        return NULL;
#if defined(__x86_64__)
    if (simd >= SN_AVX512 && sn_quotient_avx512(s))
        return sn_quotient_avx512(s);
    if (simd >= SN_AVX2)
        return &sn_quotient_avx2;
#endif
    (void)s;
    (void)simd;
    return &plain;
}

/* A line that is not what its neighbours say is met when it is read; this is what would
 * make the filter grow without end. */
static int check(const sn_layer *l)
{
    uint64_t most = l->shape.units * sn_quotient_slots(l->shape.k);
    uint64_t then = sn_quotient_keys(&l->shape);
    if (l->added > most || l->shape.capacity > most)
        return sn_fail(SEEN_EFORMAT, "%llu keys are claimed, there is room for %llu",
                       (unsigned long long)(l->added > most ? l->added
                                                            : l->shape.capacity),
                       (unsigned long long)most);
    if (then > most || (l->shape.own[SN_QUOTIENT_ERROR] && !then))
        return sn_fail(SEEN_EFORMAT, "the error of %llu keys is claimed",
                       (unsigned long long)then);
    return 0;
}

const sn_kind sn_quotient_kind = {
    .name = "quotient",
    .id = SEEN_QUOTIENT,
    .can = SEEN_CAN_ADD | SEEN_CAN_REMOVE | SEEN_CAN_MERGE | SEEN_CAN_GROW,
    .body_len = body_len,
    .shape_for = shape_for,
    .shape_in = shape_in,
    .error_at = error_at,
    .measure = measure,
    .variant = variant,
    .absorb = sn_quotient_absorb,
    .grow = sn_quotient_grow,
    .remove = sn_quotient_remove,
    .multiset = true,
    .check = check,
    .ordered = true,
    .prefetches_itself = true,
};
