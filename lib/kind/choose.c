/* choose.c - the kind that serves a wish best, where nobody named one.
 *
 * The rest of the library asks here, and names no kind. */
#include "base/fail.h"
#include "kind/kind.h"

/* A blocked filter is worth this many times the bits of classic, for its one cache
 * miss instead of k; it costs more below about 1e-4. */
#define BLOCKED_WORTH 1.15
/* Inside the second-level cache, split is worth this many times the bits of blocked. */
#define SPLIT_WORTH 1.08
#define SPLIT_MAX_BYTES ((uint64_t)256 << 10)
/* Whole hashes are worth this many times the bits of classic: one cache miss, and no
 * kind errs less. */
#define WHOLE_WORTH 1.15

const sn_kind *sn_kind_whole(void)
{
    return &sn_set;
}

const sn_kind *sn_kind_growing(void)
{
    return sn_kind_of(SEEN_QUOTIENT);
}

const sn_kind *sn_kind_removing(void)
{
    return &sn_cuckoo;
}

const sn_kind *sn_kind_textbook(void)
{
    return &sn_classic;
}

static uint64_t len_of(const sn_shape *s)
{
    return sn_kind_of(s->kind)->body_len(s);
}

/* Best shape of one kind, from an error or, if BYTES, from a budget. */
static int shape_one(seen_kind id, sn_shape *s, double n, double p, uint64_t bytes)
{
    const sn_kind *kind = sn_kind_of(id);
    if (!kind)
        return sn_fail(SEEN_EKIND, "this library has no kind number %d", (int)id);
    s->kind = id;
    int rc = bytes ? kind->shape_in(s, n, bytes) : sn_shape_for(s, NULL, n, p);
    if (rc < 0)
        return rc;
    if (!len_of(s))
        return sn_fail(SEEN_EINVAL, "%s cannot have %u probes and %llu units",
                       kind->name, s->k, (unsigned long long)s->units);
    return 0;
}

/* Takes cuckoo, each key once, in place of the classic shape S where it is smaller: two
 * cache misses instead of k. Not where adds are atomic, nor where only bytes are given:
 * then keys beyond N must raise the error, and slots would be full instead. */
static void less_than_classic(sn_shape *s, double n, double p, uint64_t bytes,
                              unsigned flags)
{
    sn_shape cuckoo = {.own[SN_ONCE] = 1};
    if (!bytes && !(flags & SEEN_ATOMIC) &&
        shape_one(SEEN_CUCKOO, &cuckoo, n, p, 0) == 0 && len_of(&cuckoo) < len_of(s)) {
        cuckoo.capacity = s->capacity;
        cuckoo.error = s->error;
        *s = cuckoo;
    }
}

/* Takes whole hashes in place of S where there is room for them, or they are hardly
 * larger. Returns whether it did. */
static bool whole_hashes(sn_shape *s, double n, uint64_t bytes, unsigned flags)
{
    sn_shape whole = {.capacity = s->capacity, .error = s->error};
    double most = flags & SEEN_SMALLEST ? 1 : WHOLE_WORTH;
    if (flags & SEEN_ATOMIC ||
        shape_one(sn_kind_whole()->id, &whole, n, s->error, bytes) < 0 ||
        (!bytes && (double)len_of(&whole) > most * (double)len_of(s)))
        return false;
    *s = whole;
    return true;
}

/* For adding: blocked, unless it wastes bits. */
static int shape_best(sn_shape *s, double n, double p, uint64_t bytes, unsigned flags)
{
    sn_shape classic = *s, blocked = *s, split = *s;
    const bool probes_given = s->k != 0;
    if (flags & SEEN_REMOVES)
        return shape_one(sn_kind_removing()->id, s, n, p, bytes);
    int rc = shape_one(SEEN_CLASSIC, &classic, n, p, bytes);
    bool have_blocked = shape_one(SEEN_BLOCKED, &blocked, n, p, bytes) == 0;
    if (rc < 0 && !have_blocked)
        return rc;
    *s = classic;
    if (rc == 0 && !probes_given && whole_hashes(s, n, bytes, flags))
        return 0;
    if (rc == 0 && !probes_given)
        less_than_classic(s, n, p, bytes, flags);
    if (flags & SEEN_SMALLEST || !have_blocked)
        return rc;
    /* With a budget both have the same bytes: compare what classic would need for
     * the error that blocked reaches. */
    double worth = (double)len_of(&classic);
    if (bytes) {
        sn_shape same = {.kind = SEEN_CLASSIC};
        double e = sn_error_most(&blocked, n);
        if (e < 1 && sn_shape_for(&same, NULL, n, e) == 0)
            worth = (double)len_of(&same);
    }
    uint64_t bytes_blocked = len_of(&blocked);
    if (rc == 0 && bytes_blocked > 4096 &&
        (double)bytes_blocked > BLOCKED_WORTH * worth)
        return 0;
    *s = blocked;
    if (!bytes && bytes_blocked <= SPLIT_MAX_BYTES &&
        shape_one(SEEN_SPLIT, &split, n, p, 0) == 0 &&
        (double)len_of(&split) <= SPLIT_WORTH * (double)bytes_blocked)
        *s = split;
    return 0;
}

int sn_choose_shape(seen_kind id, sn_shape *s, double n, double p, uint64_t bytes,
                    unsigned flags)
{
    return id == SEEN_AUTO ? shape_best(s, n, p, bytes, flags)
                           : shape_one(id, s, n, p, bytes);
}
