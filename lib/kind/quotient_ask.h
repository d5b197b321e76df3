/* quotient_ask.h - asking and adding, in the words of a variant: it defines TARGET, the
 * attribute of its functions, maybe(), maybe_own() and slots_in(), and then includes
 * it.
 *
 * maybe(q, line, key): slots of a line, as bits, that may be a beginning of KEY, which
 * has its first bit foremost, by their whole bytes; bits from S on say nothing.
 *
 * maybe_own(q, line, head, top): of a line with HEAD, slots that may be a beginning of
 * a key and are on its side; TOP has that in its first bit, then the key. With W = 16
 * it is only asked whether there are any: their bytes are the whole slots. Otherwise
 * slots_in(q, x) are they, as bits. */

#define INLINE TARGET static inline __attribute__((always_inline))
#define NOINLINE TARGET static __attribute__((noinline))

/* What the home of a key says of it. */
typedef struct look {
    uint8_t *line;
    unsigned head;
    uint64_t bits; /* W + 1 of the key */
    uint64_t mask; /* maybe_own() */
} look;

/* Any bytes are safe. No branch depends on the key. */
INLINE look look_at(const sn_quotient q, uint8_t *line, uint64_t h)
{
    unsigned head = sn_quotient_head(&q, line);
    return (look){line, head, sn_quotient_bits(&q, h) | 1,
                  maybe_own(&q, line, head, h << (q.c - 7))};
}

INLINE look look_up(const sn_quotient q, uint64_t h)
{
    return look_at(q, q.body + 64 * sn_quotient_home(&q, h), h);
}

INLINE bool is_own(const sn_quotient q, const look *x)
{
    if (q.width == 16)
        return x->mask != 0;
    return x->mask && sn_quotient_one_of(&q, x->line, slots_in(&q, x->mask),
                                         x->bits & sn_quotient_ones(q.width));
}

/* Whether the key of hash H, whose HOME overflowed, is a guest of the next line. */
INLINE bool is_guest(const sn_quotient q, const uint8_t *home, uint64_t h)
{
    const uint8_t *line = sn_quotient_next(&q, home);
    unsigned own = sn_quotient_head(&q, home), next = sn_quotient_head(&q, line);
    unsigned f = q.field, ones = (1u << f) - 1, all = (1u << (3 * f + 1)) - 1;
    uint64_t mask = sn_quotient_ones(next >> 2 * f & ones) << (next & ones);
    mask &= maybe(&q, line, h << (q.c - 7));
    bool gave_up = (own == all) | (next == all);
    if (q.width == 16)
        return gave_up | (mask != 0);
    uint64_t key = sn_quotient_as_guest(sn_quotient_bits(&q, h) | 1);
    return gave_up || (mask && sn_quotient_one_of(&q, line, mask, key));
}

INLINE bool find(const sn_quotient q, uint64_t h)
{
    look x = look_up(q, h);
    return is_own(q, &x) ||
           (sn_quotient_overflowed(&q, x.head) && is_guest(q, x.line, h));
}

TARGET static bool has_one(const sn_layer *l, uint64_t h)
{
    return find(sn_quotient_of(l), h);
}

/* ---- batches of questions ------------------------------------------------------ */

/* Keys that are asked together: those for which the home is not enough come last, so
 * that no branch depends on one key. */
enum { TOGETHER = 64 };

/* A table of at most so many bytes is in the first cache. */
#define NEAR_BYTES (16 << 10)

/* Finds the homes of N keys, and prefetches them into the first cache, or with FAR into
 * the second. */
INLINE void fetch_homes(const sn_quotient q, const uint64_t *h, size_t n, uint32_t *at,
                        bool far)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t home = sn_quotient_home(&q, h[i]);
        at[i] = (uint32_t)home;
        if (far)
            SN_FETCH(q.body + 64 * home);
        else
            __builtin_prefetch(q.body + 64 * home);
    }
}

/* What the homes of the keys of one block say. */
typedef struct block {
    const uint64_t *h;
    bool *found; /* one may be in its home; it is if W = 16 */
    uint8_t over[TOGETHER]; /* in the top bit: the home overflowed */
    uint64_t mask[TOGETHER];
} block;

/* Bit K of each of N bytes, a multiple of 8, as bits. */
INLINE uint64_t bits_of(const uint8_t *bytes, size_t n, unsigned k)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t ones = sn_le64(bytes + i) >> k & 0x0101010101010101;
        all |= (ones * 0x0102040810204080 >> 56) << i;
    }
    return all;
}

/* Looks at all bits of the slots that may be beginnings of N keys. */
NOINLINE void ask_own(const sn_quotient *t, const block *x, size_t n)
{
    const sn_quotient q = *t;
    uint64_t m = bits_of((const uint8_t *)x->found, n, 0);
    for (; m; m &= m - 1) {
        unsigned i = (unsigned)__builtin_ctzll(m);
        look y = {.line = q.body + 64 * sn_quotient_home(&q, x->h[i]),
                  .bits = sn_quotient_bits(&q, x->h[i]) | 1,
                  .mask = x->mask[i]};
        x->found[i] = is_own(q, &y);
    }
}

/* Looks at the lines after those that overflowed. */
INLINE void ask_guests(const sn_quotient q, const block *x, size_t n)
{
    uint64_t m = bits_of(x->over, n, 7) & ~bits_of((const uint8_t *)x->found, n, 0);
    for (; m; m &= m - 1) {
        unsigned i = (unsigned)__builtin_ctzll(m);
        x->found[i] = is_guest(q, sn_quotient_home_line(&q, x->h[i]), x->h[i]);
    }
}

NOINLINE void ask_guests_16(const sn_quotient *q, const block *x, size_t n)
{
    ask_guests(sn_quotient_lines(q->body, q->lines, 16), x, n);
}

NOINLINE void ask_guests_any(const sn_quotient *q, const block *x, size_t n)
{
    ask_guests(*q, x, n);
}

/* Asks N keys, a multiple of 8 and at most TOGETHER, whose homes are AT (NULL: not yet
 * known); FAR: the table is larger than the caches. */
INLINE void ask(const sn_quotient q, const uint64_t *h, const uint32_t *at, size_t n,
                bool *found, bool far)
{
    block all;
    all.h = h;
    all.found = found;
    for (size_t i = 0; i < n; i++) {
        look x = at ? look_at(q, q.body + (uint64_t)64 * at[i], h[i])
                    : look_up(q, h[i]);
        if (far)
            __builtin_prefetch(x.line + 64 * sn_quotient_overflowed(&q, x.head));
        found[i] = x.mask != 0;
        all.over[i] = (uint8_t)(x.head >> (3 * q.field - 7));
        if (q.width != 16)
            all.mask[i] = x.mask;
    }
    if (q.width != 16)
        ask_own(&q, &all, n);
    (q.width == 16 ? ask_guests_16 : ask_guests_any)(&q, &all, n);
}

INLINE void ask_with(const sn_quotient q, const uint64_t *h, const uint32_t *at,
                     size_t n, bool *found)
{
    if (!at)
        ask(q, h, NULL, n, found, false);
    else if (64 * q.lines <= SN_QUOTIENT_CACHED)
        ask(q, h, at, n, found, false);
    else
        ask(q, h, at, n, found, true);
}

/* Slots of more than 16 bits. */
INLINE sn_quotient wider(const sn_quotient *q)
{
    sn_quotient x = *q;
    x.head = 2;
    x.field = 5;
    return x;
}

/* Code of its own for the most common width, and for each number of whole bytes. */
NOINLINE void ask_16(const sn_quotient *q, const uint64_t *h, const uint32_t *at,
                     size_t n, bool *found)
{
    ask_with(sn_quotient_lines(q->body, q->lines, 16), h, at, n, found);
}

NOINLINE void ask_more(const sn_quotient *q, const uint64_t *h, const uint32_t *at,
                    size_t n, bool *found)
{
    if (q->width > 16)
        ask_with(wider(q), h, at, n, found);
}

NOINLINE void ask_less(const sn_quotient *q, const uint64_t *h, const uint32_t *at,
                    size_t n, bool *found)
{
    if (q->width < 16)
        ask_with(*q, h, at, n, found);
}

/* Blocks of TOGETHER keys go through three stages: the far fetch two blocks ahead, the
 * near fetch, and the question. */
TARGET static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    const sn_quotient q = sn_quotient_of(l);
    const bool near = l->len > NEAR_BYTES, far = l->len > SN_QUOTIENT_CACHED;
    uint32_t homes[3][TOGETHER];
    size_t fetched = 0;
    const size_t eights = n & ~(size_t)7;
    for (size_t i = eights; i < n; i++)
        found[i] = find(q, h[i]);
    for (size_t i = 0, m; i < eights; i += m) {
        m = eights - i < TOGETHER ? eights - i : TOGETHER;
        uint32_t *at = homes[i / TOGETHER % 3];
        for (size_t k; far && fetched < eights && fetched <= i + 2 * TOGETHER;
             fetched += k) {
            k = eights - fetched < TOGETHER ? eights - fetched : TOGETHER;
            fetch_homes(q, h + fetched, k, homes[fetched / TOGETHER % 3], true);
        }
        if (far)
            for (size_t j = 0; j < m; j++)
                __builtin_prefetch(q.body + (uint64_t)64 * at[j]);
        else if (near)
            fetch_homes(q, h + i, m, at, false);
        (q.width == 16  ? ask_16
         : q.width > 16 ? ask_more
                        : ask_less)(&q, h + i, near ? at : NULL, m, found + i);
    }
}

/* ---- adds ------------------------------------------------------------------------ */

/* Keys of a batch see those before them, so they are added one after the other. Where
 * the table is large, the next lines of full homes are fetched for some keys at once.
 */
enum { ADDED_TOGETHER = 16 };

/* Adds a key: 1, 0 if it is in, -1 if there is no place. */
INLINE int add_one(const sn_quotient q, uint64_t h)
{
    const look x = look_up(q, h);
    if (is_own(q, &x))
        return 0;
    unsigned f = q.field, ones = (1u << f) - 1, head = x.head;
    unsigned left = head & ones, right = head >> f & ones,
             guests = head >> 2 * f & ones;
    bool over = sn_quotient_overflowed(&q, head);
    if ((left + right + guests >= q.slots) | over) {
        const sn_quotient copy = q; /* Q stays in registers */
        if (over && is_guest(q, x.line, h))
            return 0;
        return sn_quotient_put(copy, (uint64_t)(x.line - q.body) / 64, x.bits) ? 1 : -1;
    }
    sn_quotient_put_own(q, x.line, head, x.bits);
    return 1;
}

INLINE size_t add_once(const sn_quotient q, const uint64_t *h, size_t n, bool *dup,
                       uint64_t *added)
{
    uint64_t before = *added, new = before;
    for (size_t i = 0; i < n; i++) {
        int rc = add_one(q, h[i]);
        if (rc < 0) {
            *added = new;
            return i;
        }
        dup[i] = !rc;
        new += (unsigned)rc;
    }
    *added = new;
    return n;
}

/* Fetches the homes of N keys, at most ADDED_TOGETHER, and where those are full the
 * lines after them. */
INLINE void fetch_next(const sn_quotient q, const uint64_t *h, size_t n)
{
    const uint8_t *line[ADDED_TOGETHER];
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(line[i] = sn_quotient_home_line(&q, h[i]), 1);
    for (size_t i = 0; i < n; i++) {
        sn_quotient_counts x = sn_quotient_counts_of(&q, line[i]);
        bool full = x.overflowed | (sn_quotient_total(&x) >= q.slots);
        __builtin_prefetch(line[i] + 64 * full, 1);
    }
}

INLINE size_t add_many(const sn_quotient q, const uint64_t *h, size_t n, bool *dup,
                       uint64_t *added)
{
    if (64 * q.lines <= SN_QUOTIENT_CACHED)
        return add_once(q, h, n, dup, added);
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < ADDED_TOGETHER ? n - i : ADDED_TOGETHER;
        fetch_next(q, h + i, m);
        size_t done = add_once(q, h + i, m, dup + i, added);
        if (done < m)
            return i + done;
    }
    return n;
}

NOINLINE size_t add_16(const sn_quotient *q, const uint64_t *h, size_t n, bool *dup,
                    uint64_t *added)
{
    return add_many(sn_quotient_lines(q->body, q->lines, 16), h, n, dup, added);
}

NOINLINE size_t add_more(const sn_quotient *q, const uint64_t *h, size_t n, bool *dup,
                      uint64_t *added)
{
    return q->width > 16 ? add_many(wider(q), h, n, dup, added) : 0;
}

NOINLINE size_t add_less(const sn_quotient *q, const uint64_t *h, size_t n, bool *dup,
                      uint64_t *added)
{
    return q->width < 16 ? add_many(*q, h, n, dup, added) : 0;
}

TARGET static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    const sn_quotient q = sn_quotient_of(l);
    size_t done = 0;
    if (!l->shape.own[SN_QUOTIENT_ONCE])
        return sn_quotient_add_copies(l, h, n, dup);
    do
        done += (q.width == 16  ? add_16
                 : q.width > 16 ? add_more
                                : add_less)(&q, h + done, n - done, dup + done,
                                            &l->added);
    while (done < n && sn_quotient_make_place(l, h[done]));
    return done;
}
