/* ribbon_solve.c - builds one shard of a ribbon from its keys.
 *
 * Gaussian elimination with the keys in order of their start: a row goes to the first
 * slot of its subset that has no row yet, and is reduced by each row it finds on the
 * way. All rows touched are within 64 slots, so a shard is solved in one pass through
 * the cache. The keys of a bucket are inserted last start first. If one does not fit,
 * it and all keys that start before the next threshold are bumped, and those of them
 * that were already in are removed: they are the newest rows, and no row depends on a
 * newer one. For the same reason the keys of rich segments, which come first, never
 * depend on slots after the wide ones. The rows are then solved from the end. A rich
 * key with a trit must fit both systems or is bumped.
 *
 * Scratch is about 40 bytes a key of one shard, 65 with trits. */
#include "kind/ribbon.h"
#include "base/fail.h"

#define SALTS 64

typedef struct item {
    uint64_t place, M;
} item;

struct sn_ribbon_work {
    const seen_allocator *alloc;
    sn_ribbon_row *rows;
    item *now, *next; /* keys of this level and the next */
    sn_trit_row *trits;
    uint32_t *undo;  /* slots and trits used by each key of one bucket */
    uint64_t *words; /* the shard */
    uint64_t rows_cap, now_cap, next_cap, trits_cap, undo_cap, words_cap;
    uint64_t words_len;
};

sn_ribbon_work *sn_ribbon_work_new(const seen_allocator *a)
{
    sn_ribbon_work *w = sn_alloc(a, sizeof *w);
    if (w)
        w->alloc = a;
    return w;
}

void sn_ribbon_work_free(sn_ribbon_work *w)
{
    if (!w)
        return;
    const seen_allocator *a = w->alloc;
    sn_body_free(a, w->rows, w->rows_cap * sizeof *w->rows);
    sn_body_free(a, w->now, w->now_cap * sizeof *w->now);
    sn_body_free(a, w->next, w->next_cap * sizeof *w->next);
    sn_body_free(a, w->trits, w->trits_cap * sizeof *w->trits);
    sn_body_free(a, w->undo, w->undo_cap * sizeof *w->undo);
    sn_body_free(a, w->words, w->words_cap * sizeof *w->words);
    sn_free(a, w, sizeof *w);
}

/* ---- sorting --------------------------------------------------------------------- */

/* Stable radix sort of N records of WORDS words by their first word, a byte at a time
 * from the lowest. SCRATCH is as long as A. */
static void sort_records(uint64_t *a, uint64_t *scratch, uint64_t n, unsigned words)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        uint64_t count[257] = {0}, *t = a;
        for (uint64_t i = 0; i < n * words; i += words)
            count[(a[i] >> shift & 255) + 1]++;
        for (unsigned d = 0; d < 255; d++)
            count[d + 1] += count[d];
        for (uint64_t i = 0; i < n * words; i += words) {
            uint64_t to = count[a[i] >> shift & 255]++ * words;
            for (unsigned j = 0; j < words; j++)
                scratch[to + j] = a[i + j];
        }
        a = scratch;
        scratch = t;
    }
}

#define RADIX 11

/* Three passes over the 33 bits after the common ones leave hardly any two neighbours
 * out of order. Words that agree in all of these bits, which are few with a good hash,
 * are sorted separately. */
uint64_t sn_ribbon_sort(uint64_t *a, uint64_t *scratch, uint64_t n, unsigned bits)
{
    if (n < 2)
        return n;
    if (bits > 64 - 3 * RADIX)
        bits = 64 - 3 * RADIX;
    if (n < 512) {
        sort_records(a, scratch, n, 1);
    } else {
        static const uint64_t mask = (1 << RADIX) - 1;
        uint64_t count[3][1 << RADIX] = {{0}};
        unsigned low = 64 - 3 * RADIX - bits;
        for (uint64_t i = 0; i < n; i++)
            for (int p = 0; p < 3; p++)
                count[p][a[i] >> (low + RADIX * (unsigned)p) & mask]++;
        uint64_t *from = a, *to = scratch;
        for (int p = 0; p < 3; p++) {
            unsigned shift = low + RADIX * (unsigned)p;
            uint64_t sum = 0;
            for (uint64_t d = 0; d <= mask; d++) {
                uint64_t c = count[p][d];
                count[p][d] = sum;
                sum += c;
            }
            for (uint64_t i = 0; i < n; i++)
                to[count[p][from[i] >> shift & mask]++] = from[i];
            uint64_t *t = from;
            from = to;
            to = t;
        }
        for (uint64_t i = 0;
             i < n;) { /* copies back from the scratch, sorting equal prefixes */
            uint64_t j = i + 1;
            while (j < n && from[j] >> low == from[i] >> low)
                j++;
            bool equal = true;
            for (uint64_t e = i + 1; e < j && equal; e++)
                equal = from[e] == from[i];
            if (!equal)
                sort_records(from + i, to + i, j - i, 1);
            for (; i < j; i++)
                a[i] = from[i];
        }
    }
    uint64_t kept = 1;
    for (uint64_t i = 1; i < n; i++)
        if (a[i] != a[kept - 1])
            a[kept++] = a[i];
    return kept;
}

/* ---- elimination ----------------------------------------------------------------- */

/* Inserts one row; returns its slot, or UINT64_MAX if it depends on the rows already
 * in. */
static inline uint64_t put(sn_ribbon_row *rows, uint64_t slot, uint64_t subset,
                           uint64_t print)
{
    for (;;) {
        sn_ribbon_row *r = rows + slot;
        if (!r->subset) {
            *r = (sn_ribbon_row){subset, print};
            return slot;
        }
        subset ^= r->subset;
        print ^= r->print;
        if (!subset)
            return UINT64_MAX;
        int step = __builtin_ctzll(subset);
        subset >>= step;
        slot += (uint64_t)step;
    }
}

/* Inserts a key that starts in slot POS, or leaves everything unchanged; UNDO is its
 * number in its bucket. Keys before slot TRITS have a trit. */
static bool put_key(sn_ribbon_work *w, uint64_t pos, const sn_ribbon_key *k,
                    uint64_t trits, unsigned undo)
{
    uint64_t slot = put(w->rows, pos, k->subset, k->print);
    if (slot == UINT64_MAX)
        return false;
    w->undo[2 * undo] = (uint32_t)slot;
    if (pos >= trits)
        return true;
    uint64_t trit = sn_trit_put(w->trits, pos, k);
    if (trit == UINT64_MAX) {
        w->rows[slot] = (sn_ribbon_row){0, 0};
        return false;
    }
    w->undo[2 * undo + 1] = (uint32_t)trit;
    return true;
}

/* Inserts the N keys of w->now, by place, into a level of SEGMENTS. Bumped keys go to
 * w->next, and the codes of buckets to META; META is NULL in the last level. Returns
 * how many were bumped; in the last level, how many did not fit. */
static uint64_t eliminate(sn_ribbon_work *w, uint64_t n, uint64_t segments,
                          unsigned bits, uint64_t salt, uint64_t trits, uint64_t *meta)
{
    uint64_t bumped = 0, slots = segments << 6;
    for (uint64_t i = 0; i < n;) {
        uint64_t bucket = sn_mulhi(w->now[i].place, slots) >> 7, end = i + 1;
        while (end < n && sn_mulhi(w->now[end].place, slots) >> 7 == bucket)
            end++;
        unsigned code = 0, in = 0;
        uint64_t j = end, first = i;
        while (j-- > i) {
            uint64_t pos = sn_mulhi(w->now[j].place, slots);
            sn_ribbon_key k = sn_ribbon_key_of(w->now[j].M, bits, salt);
            if (put_key(w, pos, &k, trits, in)) {
                in++;
                continue;
            }
            if (!meta)
                return 1;
            while (sn_ribbon_threshold(code) <= (pos & 127))
                code++;
            first = j + 1;
            while (first < end && (pos = sn_mulhi(w->now[first].place, slots),
                                   (pos & 127) < sn_ribbon_threshold(code))) {
                w->rows[w->undo[2 * --in]] = (sn_ribbon_row){0, 0};
                if (pos < trits)
                    w->trits[w->undo[2 * in + 1]] = (sn_trit_row){0, 0, 0};
                first++;
            }
            break;
        }
        if (code)
            meta[bucket >> 5] |= (uint64_t)code << (2 * (bucket & 31));
        for (; i < first; i++)
            w->next[bumped++] = w->now[i];
        i = end;
    }
    return bumped;
}

void sn_ribbon_fill_scalar(const sn_ribbon_row *rows, uint64_t segments, uint64_t wide,
                           unsigned r, unsigned e, uint8_t *out)
{
    uint64_t state[SN_RIBBON_RMAX + 1] = {0}; /* bit i: slot i after this one */
    for (uint64_t seg = segments + 1; seg-- > 0;) {
        unsigned used = sn_ribbon_columns(seg, wide, r, e);
        for (unsigned o = 64; o-- > 0;) {
            const sn_ribbon_row *row = rows + seg * 64 + o;
            uint64_t later = row->subset >> 1;
            for (unsigned j = 0; j < used; j++) {
                uint64_t bit = (uint64_t)__builtin_parityll(later & state[j]);
                bit ^= row->print >> j & 1;
                state[j] = state[j] << 1 | bit;
            }
        }
        for (unsigned j = 0; j < used; j++)
            sn_put64(out + sn_ribbon_at(seg, wide, r, e) + 8 * j, state[j]);
    }
}

/* ---- a shard --------------------------------------------------------------------- */

/* Appends N zeroed words; *AT is their offset. */
static bool more_words(sn_ribbon_work *w, uint64_t n, uint64_t *at)
{
    if (!sn_array_room(w->alloc, &w->words, &w->words_cap, w->words_len + n, 8))
        return false;
    *at = w->words_len;
    if (n)
        memset(w->words + w->words_len, 0, n * 8);
    w->words_len += n;
    return true;
}

/* Builds one level. Its keys are in w->now, which then has the bumped ones, in the
 * order of the next level. Returns how many were bumped, or a negative code; in the
 * last level 1 means that the keys did not fit. */
static int64_t level_of(sn_ribbon_work *w, uint64_t n, unsigned level,
                        uint64_t segments, unsigned bits, unsigned r, uint64_t share,
                        uint64_t salt, uint64_t entry[8])
{
    static sn_ribbon_fill *fill; /* every thread writes the same value */
    bool last = level == SN_RIBBON_LEVELS;
    unsigned e = (unsigned)(share >> 32);
    uint64_t wide = sn_ribbon_wide(segments, share), meta = 0, at = 0,
             start = w->words_len;
    uint64_t slots = (segments + 1) * 64, trits = e ? wide * 64 : 0;
    if (slots >> 32)
        return sn_fail(SEEN_ETOOBIG, "a shard of %llu keys is too large",
                       (unsigned long long)n);
    if (!last && !more_words(w, sn_ribbon_meta(segments), &meta))
        return SEEN_ENOMEM;
    if (level == 1 && !more_words(w, -w->words_len & 7, &at))
        return SEEN_ENOMEM;
    if (!sn_array_room(w->alloc, &w->rows, &w->rows_cap, slots, sizeof *w->rows) ||
        !sn_array_room(w->alloc, &w->trits, &w->trits_cap, trits, sizeof *w->trits) ||
        !more_words(w, sn_ribbon_slots(segments, wide, r, e), &at))
        return SEEN_ENOMEM;
    memset(w->rows, 0, slots * sizeof *w->rows);
    if (trits)
        memset(w->trits, 0, trits * sizeof *w->trits);
    uint64_t bumped = eliminate(w, n, segments, bits, salt, trits ? trits - 64 : 0,
                                last ? NULL : w->words + meta);
    if (last && bumped) {
        w->words_len = start;
        return 1;
    }
    sn_ribbon_fill *f = __atomic_load_n(&fill, __ATOMIC_RELAXED);
    if (!f) {
        f = sn_simd_best() == SN_AVX512 ? sn_ribbon_fill_x86() : NULL;
        f = f ? f : sn_ribbon_fill_scalar;
        __atomic_store_n(&fill, f, __ATOMIC_RELAXED);
    }
    uint8_t *out = (uint8_t *)(w->words + at);
    f(w->rows, segments, wide, r, e, out);
    if (trits)
        sn_trit_fill(w->trits, wide, r, e, out);
    if (!last)
        for (uint64_t i = 0; i < sn_ribbon_meta(segments); i++)
            w->words[meta + i] = sn_swap64(w->words[meta + i]);
    entry[1 + level] = segments | wide << 32;
    if (level == 1) {
        entry[0] = at;
        entry[1] = meta;
    }
    item *t = w->now;
    w->now = w->next;
    w->next = t;
    return (int64_t)bumped;
}

/* Computes the places of the N keys of w->now in LEVEL and sorts the keys by place. */
static void place_items(sn_ribbon_work *w, uint64_t n, unsigned level, unsigned bits,
                        uint64_t salt)
{
    for (uint64_t i = 0; i < n; i++) {
        sn_ribbon_key k = sn_ribbon_key_of(w->now[i].M, bits, salt);
        w->now[i].place = sn_ribbon_place(&k, level);
    }
    if (n > 1 && (level > 1 || salt))
        sort_records(&w->now->place, &w->next->place, n, sizeof *w->now / 8);
}

/* Builds all levels with one salt: 0, a negative code, or 1 if the caller should try
 * another salt. */
static int attempt(sn_ribbon_work *w, const uint64_t *m, uint64_t n, unsigned bits,
                   unsigned r, uint64_t share, uint64_t salt, uint64_t entry[8])
{
    int64_t left = (int64_t)n;
    w->words_len = 0;
    for (int i = 0; i < 8; i++)
        entry[i] = 0;
    entry[6] = salt;
    for (uint64_t i = 0; i < n; i++)
        w->now[i].M = sn_ribbon_salted(m[i], salt);
    for (unsigned level = 1; level < SN_RIBBON_LEVELS && left >= SN_RIBBON_FEW;
         level++) {
        uint64_t before = (uint64_t)left;
        place_items(w, before, level, bits, salt);
        left = level_of(w, before, level, sn_ribbon_segments(before, false), bits, r,
                        share, salt, entry);
        if (left < 0)
            return (int)left;
        if ((uint64_t)left > before / 4)
            return 1; /* the places are too uneven */
    }
    n = (uint64_t)left;
    uint64_t segments = sn_ribbon_segments(n, true);
    place_items(w, n, SN_RIBBON_LEVELS, bits, salt);
    for (int wider = 0; n && wider < 16; wider++, segments += 1 + segments / 16) {
        left = level_of(w, n, SN_RIBBON_LEVELS, segments, bits, r, share, salt, entry);
        if (left <= 0)
            break;
    }
    return left < 0 ? (int)left : left > 0;
}

int sn_ribbon_solve(sn_ribbon_work *w, const uint64_t *m, uint64_t n, unsigned bits,
                    unsigned r, uint64_t share, const uint64_t **words, uint64_t *len,
                    uint64_t entry[8])
{
    const seen_allocator *a = w->alloc;
    if (!sn_array_room(a, &w->now, &w->now_cap, n, sizeof *w->now) ||
        !sn_array_room(a, &w->next, &w->next_cap, n, sizeof *w->next) ||
        !sn_array_room(a, &w->undo, &w->undo_cap, 2 * n, sizeof *w->undo))
        return sn_no_memory("no memory to solve %llu keys", (unsigned long long)n);
    int rc = 1;
    for (uint64_t salt = 0; rc == 1 && salt < SALTS; salt++)
        rc = attempt(w, m, n, bits, r, share, salt, entry);
    if (rc == SEEN_ENOMEM)
        return sn_no_memory("no memory to solve %llu keys", (unsigned long long)n);
    if (rc == 1)
        return sn_fail(SEEN_EINVAL, "%llu keys cannot be told apart by their hashes",
                       (unsigned long long)n);
    if (rc < 0)
        return rc;
    uint64_t at;
    if (!more_words(w, -w->words_len & 7, &at))
        return sn_no_memory("no memory to solve %llu keys", (unsigned long long)n);
    entry[7] = n;
    *words = w->words;
    *len = w->words_len;
    return 0;
}
