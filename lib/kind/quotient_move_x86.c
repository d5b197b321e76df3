/* quotient_move_x86.c - quotient_move.c for AVX2: where the slots of a line go is
 * computed for all of them at once, and lists are filled eight slots at a time. */
#include "kind/quotient_move.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define EACH 0x0101010101010101u

INLINE __m256i load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

INLINE void store(uint8_t *p, __m256i v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

/* Slots are looked at from one byte before the first on if there are 31: the last byte
 * of those is the last of the line. */
INLINE unsigned lead(const sn_quotient q)
{
    return q.slots == 31;
}

/* The number of the slot in each byte. */
INLINE __m256i numbers(const sn_quotient q)
{
    __m256i x =
        _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                         18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
    return _mm256_sub_epi8(x, _mm256_set1_epi8((char)lead(q)));
}

INLINE __m256i less(__m256i x, unsigned n)
{
    return _mm256_cmpgt_epi8(_mm256_set1_epi8((char)n), x);
}

/* The slots of the line with these NUMBERs that are on the left, with N of them. */
INLINE __m256i left_ones(__m256i number, unsigned n)
{
    __m256i none = _mm256_cmpgt_epi8(_mm256_setzero_si256(), number);
    return _mm256_andnot_si256(none, less(number, n));
}

INLINE __m256i right_ones(const sn_quotient q, __m256i number, unsigned n)
{
    return _mm256_andnot_si256(less(number, q.slots - n), less(number, q.slots));
}

/* Which bytes of A, taken as unsigned, are at least N. */
INLINE __m256i at_least(__m256i a, unsigned n)
{
    return _mm256_cmpeq_epi8(_mm256_max_epu8(a, _mm256_set1_epi8((char)n)), a);
}

/* Bit K of each byte of V, as bit 0. */
INLINE __m256i bit(__m256i v, int k)
{
    return _mm256_and_si256(_mm256_srli_epi16(v, k), _mm256_set1_epi8(1));
}

INLINE uint32_t mask_of(__m256i v)
{
    return (uint32_t)_mm256_movemask_epi8(v);
}

/* The bits of a byte of plane 2 that belong to the slot, in each byte. */
INLINE uint64_t low_bits(const sn_quotient q)
{
    return (0xff00u >> q.low & 0xff) * EACH;
}

/* The bits of all slots behind the whole bytes, one slot a byte. */
INLINE __m256i unpack(const sn_quotient q, const uint8_t *line)
{
    uint64_t x[4] = {0};
    for (unsigned g = 0; 8 * g < q.slots; g++)
        x[g] = _pdep_u64(sn_quotient_eight(line, q.low_at / 8 + g * q.low),
                         low_bits(q));
    return _mm256_setr_epi64x((long long)x[0], (long long)x[1], (long long)x[2],
                              (long long)x[3]);
}

/* The planes of the slots of a line, eight slots a word. */
typedef union bytes_of_slots {
    __m256i v[3];
    uint64_t g[3][4];
} bytes_of_slots;

/* Appends the slots MASK to the left list. */
INLINE void append_left(sn_quotient_open_line *o, const bytes_of_slots *x,
                        unsigned planes, uint32_t mask)
{
    unsigned n = o->n[0];
#pragma GCC unroll 4
    for (unsigned g = 0; g < 4; g++) {
        uint64_t m = mask >> 8 * g & 255, bytes = _pdep_u64(m, EACH) * 255;
#pragma GCC unroll 3
        for (unsigned p = 0; p < planes; p++)
            sn_put64(o->slot[p][0] + n, _pext_u64(x->g[p][g], bytes));
        n += (unsigned)_mm_popcnt_u64(m);
    }
    o->n[0] = n;
}

/* The last ones first: the list grows to its front. */
INLINE void append_right(sn_quotient_open_line *o, const bytes_of_slots *x,
                         unsigned planes, uint32_t mask)
{
    unsigned n = o->n[1];
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; i++) {
        const unsigned g = 3 - i;
        uint64_t m = mask >> 8 * g & 255, bytes = _pdep_u64(m, EACH) * 255;
        unsigned more = (unsigned)_mm_popcnt_u64(m), shift = (64 - 8 * more) & 63;
#pragma GCC unroll 3
        for (unsigned p = 0; p < planes; p++)
            sn_put64(o->slot[p][1] + SN_QUOTIENT_LIST - 8 - n,
                     _pext_u64(x->g[p][g], bytes) << shift);
        n += more;
    }
    o->n[1] = n;
}

INLINE uint64_t sum_of_bytes(__m256i v)
{
    __m256i x = _mm256_sad_epu8(v, _mm256_setzero_si256());
    __m128i y =
        _mm_add_epi64(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    return (uint64_t)_mm_cvtsi128_si64(y) + (uint64_t)_mm_extract_epi64(y, 1);
}

/* The sum of the last ones of the slots KEEP. */
INLINE uint64_t sum_of_last(const bytes_of_slots *x, unsigned planes, __m256i keep)
{
    uint64_t sum = 0;
    for (unsigned p = planes; p-- > 0;) {
        __m256i v = _mm256_and_si256(x->v[p], keep), zero = _mm256_setzero_si256();
        sum += sum_of_bytes(_mm256_and_si256(v, _mm256_sub_epi8(zero, v)))
               << (56 - 8 * p);
        keep = _mm256_and_si256(keep, _mm256_cmpeq_epi8(v, zero));
    }
    return sum;
}

/* All slots with one more bit in the address: their first bit is the side. */
INLINE void shift(bytes_of_slots *x, unsigned planes)
{
    for (unsigned p = 0; p < planes; p++) {
        __m256i next = p + 1 < planes ? bit(x->v[p + 1], 7) : _mm256_setzero_si256();
        x->v[p] = _mm256_or_si256(_mm256_add_epi8(x->v[p], x->v[p]), next);
    }
}

INLINE uint64_t pour(const sn_quotient q, const uint8_t *line,
                     const sn_quotient_way *way, sn_quotient_target *to, unsigned more)
{
    const unsigned planes = q.width > 16 ? 3 : 2, head = sn_quotient_head(&q, line);
    const unsigned left = head & 31, right = head >> 5 & 31;
    bytes_of_slots x;
    x.v[0] = load(line + 2 - lead(q));
    x.v[1] = load(line + 2 - lead(q) + q.slots);
    x.v[2] = planes > 2 ? unpack(q, line) : _mm256_setzero_si256();
    __m256i number = numbers(q), rest = _mm256_and_si256(x.v[0], _mm256_set1_epi8(3));
    __m256i on_right = right_ones(q, number, right);
    __m256i used = _mm256_or_si256(on_right, left_ones(number, left));
    __m256i cell = _mm256_and_si256(_mm256_srli_epi16(x.v[0], 2),
                                    _mm256_set1_epi8(0x3f));
    cell = _mm256_add_epi8(cell, _mm256_and_si256(on_right, _mm256_set1_epi8(64)));
    cell = _mm256_sub_epi8(cell, _mm256_set1_epi8((char)way->first));
    cell = _mm256_and_si256(cell, _mm256_set1_epi8(127));
    if (more) {
        rest = _mm256_and_si256(rest, _mm256_set1_epi8(1));
        cell = _mm256_or_si256(_mm256_add_epi8(cell, cell), bit(x.v[0], 1));
    }
    rest = _mm256_or_si256(rest, _mm256_or_si256(x.v[1], x.v[2]));
    __m256i strange = _mm256_or_si256(at_least(cell, way->before[3]),
                                      _mm256_cmpeq_epi8(rest, _mm256_setzero_si256()));
    __m256i keep = _mm256_andnot_si256(strange, used);
    uint32_t in = mask_of(keep), second = mask_of(at_least(cell, way->before[1])),
             third = mask_of(at_least(cell, way->before[2])),
             side = mask_of(more ? x.v[0] : on_right);
    if (more) {
        to->sum += sum_of_last(&x, planes, keep) >> (q.c - 6);
        shift(&x, planes);
    }
    to->slots += (unsigned)_mm_popcnt_u32(in);
    uint32_t lines[3] = {in & ~second, in & second & ~third, in & third};
    for (unsigned k = 0; k < 3; k++) {
        if (!lines[k])
            continue;
        sn_quotient_open_line *o = sn_quotient_open_at(to, way->line + k);
        append_left(o, &x, planes, lines[k] & ~side);
        append_right(o, &x, planes, lines[k] & side);
    }
    return (mask_of(used) & ~in) >> lead(q);
}

TARGET uint64_t sn_quotient_pour_avx2(const sn_quotient *q, const uint8_t *line,
                                      const sn_quotient_way *way,
                                      sn_quotient_target *to)
{
    if (q->width == 16)
        return way->more
                   ? pour(sn_quotient_lines(q->body, q->lines, 16), line, way, to, 1)
                   : pour(sn_quotient_lines(q->body, q->lines, 16), line, way, to, 0);
    return way->more ? pour(*q, line, way, to, 1) : pour(*q, line, way, to, 0);
}

/* A plane of the slots of O, as numbered. */
INLINE __m256i plane(const sn_quotient q, const sn_quotient_open_line *o, unsigned p)
{
    __m256i number = numbers(q);
    /* A byte before the list is in O, too, and is masked. */
    const uint8_t *left = (const uint8_t *)o + offsetof(sn_quotient_open_line, slot) +
                          2 * SN_QUOTIENT_LIST * p - lead(q),
                  *right = left + 2 * SN_QUOTIENT_LIST - q.slots;
    return _mm256_or_si256(
        _mm256_and_si256(left_ones(number, o->n[0]), load(left)),
        _mm256_and_si256(right_ones(q, number, o->n[1]), load(right)));
}

TARGET void sn_quotient_write_avx2(const sn_quotient *t, const sn_quotient_open_line *o,
                                   uint8_t *line)
{
    if (t->width == 16) {
        const sn_quotient q = sn_quotient_lines(t->body, t->lines, 16);
        __m256i high = plane(q, o, 0);
        store(line + 1, high);
        store(line + 32, plane(q, o, 1));
        line[32] = (uint8_t)_mm256_extract_epi8(high, 31);
        return;
    }
    const sn_quotient q = *t;
    uint8_t all[128];
    bytes_of_slots x;
    x.v[2] = plane(q, o, 2);
    store(all + 2, plane(q, o, 0));
    store(all + 2 + q.slots, plane(q, o, 1));
    for (unsigned g = 0; g < 4; g++)
        sn_put64(all + q.low_at / 8 + g * q.low, _pext_u64(x.g[2][g], low_bits(q)));
    store(line, load(all));
    store(line + 32, load(all + 32));
}
#endif
