/* probe.h - tests and sets k bits a key in a plain bit array, for any probe rule.
 *
 * A rule is two functions, passed as constants so that the compiler inlines them into
 * the loop: START hashes a key once, NEXT returns the index of probe i and may advance
 * the state. Every index is below bits->m. */
#ifndef SN_PROBE_H
#define SN_PROBE_H
#include "foreign/foreign.h"
#include "base/modulo.h"
#include "kind/kind.h"

typedef struct sn_state {
    uint64_t a, b, c, d;
} sn_state;

typedef sn_state sn_start_fn(const sn_foreign *f, const void *key, size_t len);
typedef uint64_t sn_next_fn(const sn_foreign *f, sn_state *s, uint32_t i);

#define SN_INLINE static inline __attribute__((always_inline))
#define SN_SCAN 32 /* keys hashed and prefetched together */

/* x % m */
SN_INLINE uint64_t sn_bits_mod(const sn_bits *b, uint64_t x)
{
    return sn_modulo(x, b->m, b->inverse);
}

SN_INLINE bool sn_bit_get(const sn_bits *b, uint64_t i)
{
    uint64_t byte = (i >> 3) ^ b->flip_byte;
    return byte < b->have && (b->at[byte] >> ((i & 7) ^ b->flip_bit) & 1);
}

/* The byte must be present. */
SN_INLINE void sn_bit_set(const sn_bits *b, uint64_t i)
{
    b->at[(i >> 3) ^ b->flip_byte] |= (uint8_t)(1u << ((i & 7) ^ b->flip_bit));
}

SN_INLINE void sn_fetch(const sn_foreign *f, sn_state s, sn_next_fn *next)
{
    uint64_t byte = f->bits.k ? next(f, &s, 0) >> 3 : 0;
    if (byte < f->bits.have)
        __builtin_prefetch(f->bits.at + byte);
}

SN_INLINE bool sn_probe_all(const sn_foreign *f, sn_state s, sn_next_fn *next)
{
    for (uint32_t i = 0; i < f->bits.k; i++)
        if (!sn_bit_get(&f->bits, next(f, &s, i)))
            return false;
    return true;
}

/* In an array larger than the caches every probe waits for memory, so all probes of a
 * batch are prefetched before the first one is tested. */
#define SN_FAR ((uint64_t)4 << 20)
#define SN_FAR_PROBES 16

SN_INLINE bool sn_is_far(const sn_foreign *f, size_t n)
{
    return n > 1 && f->bits.have > SN_FAR && f->bits.k <= SN_FAR_PROBES;
}

SN_INLINE void sn_fetch_all(const sn_foreign *f, sn_state s, sn_next_fn *next,
                            uint64_t index[SN_FAR_PROBES])
{
    for (uint32_t i = 0; i < f->bits.k; i++) {
        index[i] = next(f, &s, i);
        if (index[i] >> 3 < f->bits.have)
            __builtin_prefetch(f->bits.at + (index[i] >> 3));
    }
}

SN_INLINE bool sn_index_all(const sn_foreign *f, const uint64_t *index)
{
    for (uint32_t i = 0; i < f->bits.k; i++)
        if (!sn_bit_get(&f->bits, index[i]))
            return false;
    return true;
}

SN_INLINE void sn_scan_has(const sn_foreign *f, const seen_key *keys, size_t n,
                           bool *found, sn_start_fn *start, sn_next_fn *next)
{
    sn_state s[SN_SCAN];
    uint64_t index[SN_SCAN][SN_FAR_PROBES];
    bool far = sn_is_far(f, n);
    while (n) {
        size_t c = n < SN_SCAN ? n : SN_SCAN;
        for (size_t i = 0; i < c; i++) {
            s[i] = start(f, keys[i].data, keys[i].len);
            if (far)
                sn_fetch_all(f, s[i], next, index[i]);
            else if (c > 1)
                sn_fetch(f, s[i], next);
        }
        for (size_t i = 0; i < c; i++)
            found[i] = far ? sn_index_all(f, index[i]) : sn_probe_all(f, s[i], next);
        keys += c, found += c, n -= c;
    }
}

/* Sets the bits of a key; true if all were set before. */
SN_INLINE bool sn_probe_set(sn_foreign *f, sn_state s, sn_next_fn *next)
{
    bool all = true;
    for (uint32_t i = 0; i < f->bits.k; i++) {
        uint64_t bit = next(f, &s, i);
        if (!sn_bit_get(&f->bits, bit)) {
            sn_bit_set(&f->bits, bit);
            all = false;
        }
    }
    return all;
}

/* Adds keys to an array that may be too short. GROW lengthens it so that it has the
 * byte of a bit beyond bits->have. */
SN_INLINE size_t sn_scan_grow(sn_foreign *f, const seen_key *keys, size_t n, bool *dup,
                              int *rc, sn_start_fn *start, sn_next_fn *next,
                              int (*grow)(sn_foreign *f, uint64_t bit))
{
    for (size_t i = 0; i < n; i++) {
        sn_state s = start(f, keys[i].data, keys[i].len), t = s;
        uint64_t top = 0;
        dup[i] = sn_probe_all(f, s, next);
        if (dup[i])
            continue;
        for (uint32_t j = 0; j < f->bits.k; j++) {
            uint64_t bit = next(f, &t, j);
            top = bit > top ? bit : top;
        }
        if (top >> 3 >= f->bits.have && (*rc = grow(f, top)) < 0)
            return i;
        sn_probe_set(f, s, next);
        f->dirty = true;
        sn_count_up(&f->added, 1);
    }
    return n;
}

SN_INLINE size_t sn_scan_add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup,
                             sn_start_fn *start, sn_next_fn *next)
{
    sn_state s[SN_SCAN];
    uint64_t index[SN_FAR_PROBES];
    bool far = sn_is_far(f, n);
    for (size_t taken = 0; taken < n;) {
        size_t c = n - taken < SN_SCAN ? n - taken : SN_SCAN;
        for (size_t i = 0; i < c; i++) {
            s[i] = start(f, keys[taken + i].data, keys[taken + i].len);
            if (far)
                sn_fetch_all(f, s[i], next, index);
            else if (c > 1)
                sn_fetch(f, s[i], next);
        }
        /* Equal keys may share a batch: each is tested and set before the next. */
        for (size_t i = 0; i < c; i++, taken++) {
            dup[taken] = sn_probe_set(f, s[i], next);
            sn_count_up(&f->added, !dup[taken]);
            f->dirty |= !dup[taken];
        }
    }
    return n;
}

/* Defines NAME_has and NAME_add for a rule over an array that never grows. */
#define SN_PROBES(name, start, next)                                                   \
    static void name##_has(const sn_foreign *f, const seen_key *keys, size_t n,        \
                           bool *found)                                                \
    {                                                                                  \
        sn_scan_has(f, keys, n, found, start, next);                                   \
    }                                                                                  \
    static size_t name##_add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, \
                             int *rc)                                                  \
    {                                                                                  \
        return sn_scan_add(f, keys, n, dup, start, next);                              \
    }

#endif
