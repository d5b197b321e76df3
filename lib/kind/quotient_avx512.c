/* quotient_avx512.c - the variant of quotient.c that compares all slots of a line at once.
 *
 * vpermb brings the eight bytes in which four slots lie (two, if they are wide) to each
 * word of a register, and vpmultishiftqb the bits of each slot to a lane of its own. What
 * matches anywhere in the line is a mask; pdep finds where the run of the cell begins and
 * ends in the same numbering. Nothing here branches on an answer. */
#include "kind/quotient_line.h"
#if defined(__x86_64__)
#include <immintrin.h>
#include <pthread.h>

#define T512                                                                           \
    __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx512vbmi,avx512vbmi2," \
                          "bmi,bmi2,popcnt,lzcnt")))
#define INLINE inline __attribute__((always_inline))

/* Lanes are of 16 bits up to this width, then of 32. */
enum { NARROW = 16 };

/* Where the slots of a width are: bytes for vpermb and bits for vpmultishiftqb. The first
 * 32 slots, or 16 wide ones, come from the whole line; the few that are left from its last
 * 16 bytes, or 32. */
typedef struct places {
    uint8_t bytes[128], bits[128], mask[128]; /* 96 of each */
} places;

static places of_width[SN_QUOTIENT_WMAX + 1] __attribute__((aligned(64)));

static void fill_places(void)
{
    for (unsigned w = SN_QUOTIENT_WMIN; w <= SN_QUOTIENT_WMAX; w++) {
        unsigned bytes = w <= NARROW ? 2 : 4, each = 8 / bytes; /* slots of a word */
        for (unsigned i = 0; i < 96; i++) {
            unsigned first = sn_quotient_slots_at(w) + i / 8 * each * w;
            unsigned lane = i % 8 / bytes, byte = i % bytes, slot = i / bytes;
            uint64_t mask = slot < sn_quotient_slots(w) ? sn_quotient_low(w) : 0;
            of_width[w].mask[i] = (uint8_t)(mask >> 8 * byte);
            of_width[w].bytes[i] = (uint8_t)(first / 8 + i % 8);
            of_width[w].bits[i] = (uint8_t)((first % 8 + lane * w + 8 * byte) & 63);
        }
    }
}

/* Which lanes the slots of a line take, a constant wherever these functions are called. */
enum lanes { ONE, FEW_MORE, WIDE };

/* What is the same for all keys of a batch. */
typedef struct fixed {
    sn_quotient q;
    uint64_t top, next; /* the bits of a hash that name its cell, and those that follow */
    uint64_t step, two, head; /* step + 1, two ones, bits before those of the cells */
    __m512i bytes, bits, mask, one;
    __m256i more_bytes, more_bits, more_mask;
} fixed;

T512 static INLINE fixed fix(const sn_layer *l, enum lanes lanes)
{
    fixed f = {.q = sn_quotient_of(l)};
    const places *p = of_width + f.q.w;
    f.one = lanes == WIDE ? _mm512_set1_epi32(-1) : _mm512_set1_epi16(1);
    __asm__("" : "+v"(f.one));
    f.two = 3;
    f.head = 16;
    f.step = f.q.step + 1;
    __asm__("" : "+r"(f.two), "+r"(f.head));
    f.top = ~(uint64_t)0 << (64 - f.q.c);
    f.next = sn_quotient_low(f.q.w - 1) << (65 - f.q.c - f.q.w);
    f.mask = _mm512_load_si512(p->mask);
    f.more_mask = _mm256_load_si256((const __m256i *)(p->mask + 64));
    f.bytes = _mm512_load_si512(p->bytes);
    f.bits = _mm512_load_si512(p->bits);
    f.more_bytes = _mm256_load_si256((const __m256i *)(p->bytes + 64));
    f.more_bits = _mm256_load_si256((const __m256i *)(p->bits + 64));
    return f;
}

/* A cell in a line. */
typedef struct place {
    uint8_t *line;
    unsigned at;
    bool lost; /* it is more than one line away */
} place;

/* The line where the cell of H is at home, and its place among those. */
T512 static INLINE place home_of(const fixed *f, uint64_t h)
{
    uint64_t i, rest, at;
    __asm__("mulxq %3, %0, %1"
            : "=r"(rest), "=r"(i)
            : "d"(h & f->top), "r"(f->q.lines));
    __asm__("mulxq %2, %0, %0" : "=r"(at) : "d"(rest), "r"(f->step));
    return (place){f->q.body + 64 * i, (unsigned)(at >> 58), false};
}

/* The line that has the cell, and its place among all there. */
T512 static INLINE place seek(place home)
{
    unsigned on = home.at + home.line[1];
    place r = {home.line, home.at + home.line[0], false};
    if (__builtin_expect(on & 128, 0)) {
        r.line = home.line + 64;
        r.at = on & 127;
        r.lost = (r.at >= SN_QUOTIENT_CELLS) |
                 sn_quotient_passes(r.line, (int)r.at - r.line[0]);
    }
    return r;
}

/* The slots of a line, one a lane; 0 in lanes that are none. */
typedef struct slots {
    __m512i v;
    __m256i more;
} slots;

T512 static INLINE slots load(const fixed *f, const uint8_t *line, enum lanes lanes)
{
    slots s;
    __m512i all = _mm512_permutexvar_epi8(f->bytes, _mm512_loadu_si512(line));
    s.v = _mm512_and_si512(_mm512_multishift_epi64_epi8(f->bits, all), f->mask);
    s.more = _mm256_setzero_si256();
    if (lanes == WIDE) {
        __m256i end = _mm256_loadu_si256((const __m256i *)(const void *)(line + 32));
        end = _mm256_permutexvar_epi8(f->more_bytes, end);
        end = _mm256_multishift_epi64_epi8(f->more_bits, end);
        s.more = _mm256_and_si256(end, f->more_mask);
    }
    if (lanes == FEW_MORE) {
        __m128i end = _mm_loadu_si128((const __m128i *)(const void *)(line + 48));
        end = _mm_permutexvar_epi8(_mm256_castsi256_si128(f->more_bytes), end);
        end = _mm_multishift_epi64_epi8(_mm256_castsi256_si128(f->more_bits), end);
        end = _mm_and_si128(end, _mm256_castsi256_si128(f->more_mask));
        s.more = _mm256_castsi128_si256(end);
    }
    return s;
}

/* Which slots are beginnings of KEY. With narrow lanes, (v ^ key) & ~(v ^ less) is zero:
 * of an empty slot nothing is masked, 0 less 1 being 0. With wide ones, v ^ key <= v ^ less:
 * of an empty slot the right side is negative. */
T512 static INLINE uint64_t matches(const fixed *f, const slots *s, uint64_t key,
                                    enum lanes lanes)
{
    __m512i v = s->v;
    if (lanes == WIDE) {
        __m512i k = _mm512_set1_epi32((int)key), ones = f->one;
        uint64_t hit = _mm512_cmple_epi32_mask(
            _mm512_xor_si512(v, k), _mm512_xor_si512(v, _mm512_add_epi32(v, ones)));
        __m256i u = s->more, less = _mm256_add_epi32(u, _mm512_castsi512_si256(ones));
        uint64_t more = _mm256_cmple_epi32_mask(
            _mm256_xor_si256(u, _mm512_castsi512_si256(k)), _mm256_xor_si256(u, less));
        return hit | more << 16;
    }
    __m512i k = _mm512_set1_epi16((short)key), one = f->one;
    v = _mm512_ternarylogic_epi64(v, k, _mm512_subs_epu16(v, one), 0x24);
    uint64_t hit = _mm512_testn_epi16_mask(v, v);
    if (lanes == FEW_MORE) {
        __m128i u = _mm256_castsi256_si128(s->more);
        __m128i less = _mm_subs_epu16(u, _mm512_castsi512_si128(one));
        u = _mm_ternarylogic_epi64(u, _mm512_castsi512_si128(k), less, 0x24);
        hit |= (uint64_t)_mm_testn_epi16_mask(u, u) << 32;
    }
    return hit;
}

/* Which slots are less than KEY and, in *USED, which are not empty. */
T512 static INLINE uint64_t smaller(const slots *s, uint64_t key, uint64_t *used,
                                    enum lanes lanes)
{
    if (lanes == WIDE) {
        __m512i k = _mm512_set1_epi32((int)key);
        *used = _mm512_test_epi32_mask(s->v, s->v) |
                (uint64_t)_mm256_test_epi32_mask(s->more, s->more) << 16;
        return _mm512_cmplt_epu32_mask(s->v, k) |
               (uint64_t)_mm256_cmplt_epu32_mask(s->more, _mm512_castsi512_si256(k)) << 16;
    }
    __m512i k = _mm512_set1_epi16((short)key);
    uint64_t less = _mm512_cmplt_epu16_mask(s->v, k);
    *used = _mm512_test_epi16_mask(s->v, s->v);
    if (lanes == FEW_MORE) {
        __m128i u = _mm256_castsi256_si128(s->more);
        *used |= (uint64_t)_mm_test_epi16_mask(u, u) << 32;
        less |= (uint64_t)_mm_cmplt_epu16_mask(u, _mm512_castsi512_si128(k)) << 32;
    }
    return less;
}

/* The slots of the cell that has BEFORE occupied ones before it. If it is the last, the run
 * ends with a bit of a slot or never, but behind all slots there are. */
T512 static INLINE uint64_t run_of(const uint8_t *line, unsigned before)
{
    uint64_t ends = _pdep_u64((uint64_t)3 << before, sn_le64(line + 8));
    return ends - 2 * _blsi_u64(ends);
}

static __attribute__((noinline)) bool find_far(const sn_layer *l, uint64_t h)
{
    sn_quotient q = sn_quotient_of(l);
    return sn_quotient_find(&q, h, sn_quotient_select);
}

T512 static INLINE bool find(const fixed *f, const sn_layer *l, uint64_t h, place home,
                             enum lanes lanes)
{
    place r = seek(home);
    if (__builtin_expect(r.lost, 0))
        return find_far(l, h);
    uint64_t cells = sn_le64(r.line) >> f->head;
    unsigned before = (unsigned)__builtin_popcountll(_bzhi_u64(cells, r.at));
    uint64_t ends = _pdep_u64(f->two << before, sn_le64(r.line + 8));
    uint64_t run = ends - 2 * _blsi_u64(ends);
    uint64_t key = 2 * _pext_u64(h, f->next) + 1, in = cells >> (r.at & 63) & 1;
    slots s = load(f, r.line, lanes);
    uint64_t hit = matches(f, &s, key, lanes);
    return in & ((hit & run) != 0);
}

/* Puts V before slot I of a line that has room. */
T512 static INLINE void open_slot(const fixed *f, uint8_t *line, unsigned i, uint64_t v)
{
    const __m512i at = _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0);
    __m512i was = _mm512_loadu_si512(line), zero = _mm512_setzero_si512();
    __m512i bit = _mm512_set1_epi64(f->q.slots_at + i * f->q.w);
    __m512i from = _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_subs_epu16(bit, at));
    __m512i above = _mm512_and_si512(was, from), value = _mm512_set1_epi64((long long)v);
    __m512i moved = _mm512_shldv_epi64(above, _mm512_alignr_epi64(above, zero, 7),
                                       _mm512_set1_epi64(f->q.w));
    value = _mm512_or_si512(_mm512_sllv_epi64(value, _mm512_sub_epi64(bit, at)),
                            _mm512_srlv_epi64(value, _mm512_sub_epi64(at, bit)));
    __m512i below = _mm512_andnot_si512(from, was);
    _mm512_storeu_si512(line, _mm512_or_si512(_mm512_or_si512(below, moved), value));
}

/* Adds one hash: whether it was in, or -1 if there is no place. */
T512 static INLINE int put(const fixed *f, sn_layer *l, uint64_t h,
                               enum lanes lanes)
{
    place r = seek(home_of(f, h));
    if (__builtin_expect(r.lost | (r.at >= SN_QUOTIENT_CELLS), 0))
        return sn_quotient_add_one(l, h);
    uint64_t cells = sn_le64(r.line) >> 16, key = 2 * _pext_u64(h, f->next) + 1;
    unsigned before = (unsigned)__builtin_popcountll(_bzhi_u64(cells, r.at));
    slots s = load(f, r.line, lanes);
    uint64_t taken = cells >> r.at & 1, run = run_of(r.line, before) & -taken, used;
    if (matches(f, &s, key, lanes) & run)
        return f->q.copies ? sn_quotient_add_one(l, h) : 1;
    uint64_t less = smaller(&s, key, &used, lanes) & run & used;
    unsigned n = 64 - (unsigned)_lzcnt_u64(used);
    if (n >= f->q.slots)
        return sn_quotient_add_one(l, h);
    uint64_t word = sn_le64(r.line + 8), mask = sn_quotient_low(f->q.slots);
    uint64_t starts = word & mask, begin = _pdep_u64((uint64_t)1 << before, starts);
    unsigned first = begin ? (unsigned)_tzcnt_u64(begin) : n;
    unsigned i = first + (unsigned)__builtin_popcountll(less);
    starts &= ~(less ? 0 : begin & -taken); /* what began the cell follows now */
    uint64_t low = sn_quotient_low(i);
    starts = ((starts & low) | (starts & ~low) << 1 | (uint64_t)!less << i) & mask;
    open_slot(f, r.line, i, key);
    sn_put64(r.line, sn_le64(r.line) | (uint64_t)1 << (16 + r.at));
    sn_put64(r.line + 8, (sn_le64(r.line + 8) & ~mask) | starts);
    l->added++;
    return 0;
}

/* Asks for the home of H; returns line and place in one word. */
T512 static INLINE uintptr_t ask_for(const fixed *f, uint64_t h)
{
    place home = home_of(f, h);
    SN_FETCH(home.line);
    return (uintptr_t)home.line + home.at;
}

/* Up to so many bytes, lines come fast enough without being asked for. */
#define AT_HAND ((uint64_t)256 << 10)

/* In a larger body, homes are known, and asked for, some time before their turn: what
 * waits for a line is then as little as can be. */
T512 static INLINE void find_all(const sn_layer *l, const uint64_t *h, size_t n,
                                 bool *out, enum lanes lanes)
{
    fixed f = fix(l, lanes);
    if (l->len <= AT_HAND) {
        for (size_t i = 0; i < n; i++)
            out[i] = find(&f, l, h[i], home_of(&f, h[i]), lanes);
        return;
    }
    uintptr_t home[SN_QUOTIENT_FAR]; /* a line is at a multiple of 64 */
    size_t known = n < SN_QUOTIENT_FAR ? n : SN_QUOTIENT_FAR;
    for (size_t k = 0; k < known; k++)
        home[k] = ask_for(&f, h[k]);
    for (size_t i = 0; i < n; i++) {
        uintptr_t *at = home + i % SN_QUOTIENT_FAR;
        place now = {(uint8_t *)(*at & ~(uintptr_t)63), (unsigned)*at & 63, false};
        if (i + SN_QUOTIENT_FAR < n)
            *at = ask_for(&f, h[i + SN_QUOTIENT_FAR]);
        __builtin_prefetch((void *)home[(i + SN_QUOTIENT_NEAR) % SN_QUOTIENT_FAR]);
        out[i] = find(&f, l, h[i], now, lanes);
    }
}

#define FOR_LANES(name, lanes)                                                         \
    T512 static void has_##name(const sn_layer *l, const uint64_t *h, size_t n,        \
                                bool *out)                                             \
    {                                                                                  \
        find_all(l, h, n, out, lanes);                                                 \
    }                                                                                  \
    T512 static bool has_one_##name(const sn_layer *l, uint64_t h)                     \
    {                                                                                  \
        fixed f = fix(l, lanes);                                                       \
        return find(&f, l, h, home_of(&f, h), lanes);                                  \
    }                                                                                  \
    T512 static size_t add_##name(sn_layer *l, const uint64_t *h, size_t n, bool *dup) \
    {                                                                                  \
        fixed f = fix(l, lanes);                                                       \
        for (size_t i = 0; i < n; i++) {                                               \
            int was = put(&f, l, h[i], lanes);                                         \
            if (was < 0)                                                               \
                return i;                                                              \
            dup[i] = was;                                                              \
        }                                                                              \
        return n;                                                                      \
    }

FOR_LANES(one, ONE)
FOR_LANES(few_more, FEW_MORE)
FOR_LANES(wide, WIDE)

#define VARIANT(name)                                                                     \
    {.prefetch = sn_quotient_prefetch,                                                       \
     .has = has_##name,                                                                \
     .add = add_##name,                                                                       \
     .has_one = has_one_##name}

const sn_variant *sn_quotient_avx512(const sn_shape *s)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const sn_variant one = VARIANT(one), few_more = VARIANT(few_more), wide = VARIANT(wide);
    if (!sn_cpu_has(SN_VBMI) || !sn_cpu_has(SN_VBMI2))
        return NULL;
    pthread_once(&once, fill_places);
    return s->k > NARROW ? &wide : sn_quotient_slots(s->k) > 32 ? &few_more : &one;
}
#endif
