/* quotient_ask.h - asking and adding, in the words of a variant: it defines TARGET, the
 * attribute of its functions, maybe() and maybe_own(), and then includes this.
 *
 * maybe(q, line, key): slots of a line, as bits, that may be a beginning of KEY by their
 * whole bytes; bits from S on say nothing.
 * maybe_own(q, line, head, bits): of a line with HEAD, slots on the side of a key of
 * W + 1 BITS that may be a beginning of it. With W = 16 it is only asked whether there
 * are any: their bytes are the whole slots. */

#define INLINE TARGET static inline __attribute__((always_inline))
#define ALONE TARGET static __attribute__((noinline))

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
    uint64_t bits = sn_quotient_bits(&q, h);
    unsigned head = sn_quotient_head(&q, line);
    return (look){line, head, bits | 1, maybe_own(&q, line, head, bits)};
}

INLINE look look_up(const sn_quotient q, uint64_t h)
{
    return look_at(q, q.body + 64 * sn_quotient_home(&q, h), h);
}

INLINE bool is_own(const sn_quotient q, const look *x)
{
    if (q.width == 16)
        return x->mask != 0;
    return x->mask && sn_quotient_one_of(&q, x->line, x->mask,
                                         x->bits & sn_quotient_ones(q.width));
}

/* Whether a key of W + 1 BITS, whose HOME overflowed, is a guest of the next line. */
INLINE bool is_guest(const sn_quotient q, const uint8_t *home, uint64_t bits)
{
    const uint8_t *line = sn_quotient_next(&q, home);
    unsigned own = sn_quotient_head(&q, home), next = sn_quotient_head(&q, line);
    unsigned f = q.field, ones = (1u << f) - 1, all = (1u << (3 * f + 1)) - 1;
    uint64_t key = sn_quotient_as_guest(bits);
    uint64_t mask = sn_quotient_ones(next >> 2 * f & ones) << (next & ones);
    mask &= maybe(&q, line, key);
    bool gave_up = (own == all) | (next == all);
    if (q.width == 16)
        return gave_up | (mask != 0);
    return gave_up || (mask && sn_quotient_one_of(&q, line, mask, key));
}

INLINE bool find(const sn_quotient q, uint64_t h)
{
    look x = look_up(q, h);
    return is_own(q, &x) ||
           (sn_quotient_overflowed(&q, x.head) && is_guest(q, x.line, x.bits));
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

/* Lists keys of one block, by their numbers in it, that need another look: puts I there
 * if WHEN, without a branch, and returns how many there are. (N is a register: a list
 * of bytes may alias any count in memory.) */
INLINE size_t ask_later(uint8_t *list, size_t n, size_t i, bool when)
{
    list[n] = (uint8_t)i;
    return n + when;
}

INLINE void ask_guests(const sn_quotient q, const uint64_t *h, const uint8_t *list,
                       size_t n, bool *found)
{
    for (size_t j = 0; j < n; j++) {
        size_t i = list[j];
        found[i] = is_guest(q, sn_quotient_home_line(&q, h[i]),
                            sn_quotient_bits(&q, h[i]) | 1);
    }
}

ALONE void ask_guests_16(const sn_quotient *q, const uint64_t *h, const uint8_t *list,
                         size_t n, bool *found)
{
    ask_guests(sn_quotient_lines(q->body, q->lines, 16), h, list, n, found);
}

ALONE void ask_guests_any(const sn_quotient *q, const uint64_t *h, const uint8_t *list,
                          size_t n, bool *found)
{
    ask_guests(*q, h, list, n, found);
}

/* Looks at all bits of the slots MASK of the keys of LIST. Those that may be guests go
 * to that list, which has MORE of them; returns how many it has now. */
ALONE size_t ask_own(const sn_quotient *t, const uint64_t *h, const uint8_t *list,
                     size_t n, const uint64_t *mask, bool *found, uint8_t *guests,
                     size_t more)
{
    const sn_quotient q = *t;
    for (size_t j = 0; j < n; j++) {
        size_t i = list[j];
        const uint8_t *line = sn_quotient_home_line(&q, h[i]);
        uint64_t key = (sn_quotient_bits(&q, h[i]) | 1) & sn_quotient_ones(q.width);
        found[i] = sn_quotient_one_of(&q, line, mask[i], key);
        bool over = sn_quotient_overflowed(&q, sn_quotient_head(&q, line));
        more = ask_later(guests, more, i, over & !found[i]);
    }
    return more;
}

/* Asks N keys, at most TOGETHER, whose homes are AT (NULL: not yet known). */
INLINE void ask(const sn_quotient q, const uint64_t *h, const uint32_t *at, size_t n,
                bool *found)
{
    uint8_t own[TOGETHER], guests[TOGETHER];
    uint64_t mask[TOGETHER];
    size_t may_own = 0, may_guest = 0;
    for (size_t i = 0; i < n; i++) {
        look x = at ? look_at(q, q.body + (uint64_t)64 * at[i], h[i])
                    : look_up(q, h[i]);
        bool in = x.mask != 0, over = sn_quotient_overflowed(&q, x.head);
        if (at)
            __builtin_prefetch(x.line + 64 * over);
        found[i] = in;
        if (q.width != 16) {
            mask[i] = x.mask;
            may_own = ask_later(own, may_own, i, in);
        }
        may_guest = ask_later(guests, may_guest, i, over & !in);
    }
    if (may_own)
        may_guest = ask_own(&q, h, own, may_own, mask, found, guests, may_guest);
    if (may_guest)
        (q.width == 16 ? ask_guests_16
                       : ask_guests_any)(&q, h, guests, may_guest, found);
}

INLINE void ask_with(const sn_quotient q, const uint64_t *h, const uint32_t *at,
                     size_t n, bool *found)
{
    if (at)
        ask(q, h, at, n, found);
    else
        ask(q, h, NULL, n, found);
}

/* Code of its own for the most common width, and for each number of whole bytes. */
ALONE void ask_16(const sn_quotient *q, const uint64_t *h, const uint32_t *at, size_t n,
                  bool *found)
{
    ask_with(sn_quotient_lines(q->body, q->lines, 16), h, at, n, found);
}

ALONE void ask_more(const sn_quotient *q, const uint64_t *h, const uint32_t *at,
                    size_t n, bool *found)
{
    if (q->width > 16)
        ask_with(*q, h, at, n, found);
}

ALONE void ask_less(const sn_quotient *q, const uint64_t *h, const uint32_t *at,
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
    for (size_t i = 0, m; i < n; i += m) {
        m = n - i < TOGETHER ? n - i : TOGETHER;
        uint32_t *at = homes[i / TOGETHER % 3];
        for (; far && fetched < n && fetched <= i + 2 * TOGETHER; fetched += TOGETHER)
            fetch_homes(q, h + fetched, n - fetched < TOGETHER ? n - fetched : TOGETHER,
                        homes[fetched / TOGETHER % 3], true);
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
 * the table is large, the next lines of full homes are fetched for some keys at once. */
enum { ADDED_TOGETHER = 16 };

/* Adds the key of look X: 1, 0 if it is in, -1 if there is no place. */
INLINE int add_one(const sn_quotient q, const look x)
{
    if (is_own(q, &x))
        return 0;
    unsigned f = q.field, ones = (1u << f) - 1, head = x.head;
    unsigned left = head & ones, right = head >> f & ones, guests = head >> 2 * f & ones;
    bool over = sn_quotient_overflowed(&q, head);
    if ((left + right + guests >= q.slots) | over) {
        const sn_quotient copy = q; /* Q stays in registers */
        if (over && is_guest(q, x.line, x.bits))
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
        int rc = add_one(q, look_up(q, h[i]));
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

ALONE size_t add_16(const sn_quotient *q, const uint64_t *h, size_t n, bool *dup,
                    uint64_t *added)
{
    return add_many(sn_quotient_lines(q->body, q->lines, 16), h, n, dup, added);
}

ALONE size_t add_more(const sn_quotient *q, const uint64_t *h, size_t n, bool *dup,
                      uint64_t *added)
{
    return q->width > 16 ? add_many(*q, h, n, dup, added) : 0;
}

ALONE size_t add_less(const sn_quotient *q, const uint64_t *h, size_t n, bool *dup,
                      uint64_t *added)
{
    return q->width < 16 ? add_many(*q, h, n, dup, added) : 0;
}

TARGET static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    const sn_quotient q = sn_quotient_of(l);
    if (!l->shape.own[SN_QUOTIENT_ONCE])
        return sn_quotient_add_copies(l, h, n, dup);
    return (q.width == 16  ? add_16
            : q.width > 16 ? add_more
                           : add_less)(&q, h, n, dup, &l->added);
}
