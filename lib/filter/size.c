/* size.c - how large, of which kind: from keys, errors and bytes to shapes. */
#include "filter/filter.h"
#include "base/bytes.h"
#include "base/fail.h"
#include <math.h>

#define DEFAULT_ERROR 0.01
/* A blocked filter is worth this many times the bits of classic, for its one cache
 * miss instead of k; it costs more below about 1e-4. */
#define BLOCKED_WORTH 1.15
/* Inside the second-level cache, split is worth this many times the bits of blocked. */
#define SPLIT_WORTH 1.08
#define SPLIT_MAX_BYTES ((uint64_t)256 << 10)

/* No kind can tell keys apart that have one hash. */
static double chance_of_hash(double keys)
{
    return keys * 0x1p-64;
}

static int check_numbers(double keys, double error)
{
    if (!(error > 0 && error < 1))
        return sn_fail(SEEN_EINVAL, "the error rate must lie between 0 and 1, not %g",
                       error);
    if (!(keys >= 1 && keys <= 1e15))
        return sn_fail(SEEN_EINVAL,
                       "the number of keys must lie between 1 and 1e15, not %g", keys);
    if (error < chance_of_hash(keys))
        return sn_fail(SEEN_EINVAL,
                       "an error of %g cannot be promised: the 64-bit hash of a key is "
                       "that of one of %g others with probability %g",
                       error, keys, chance_of_hash(keys));
    return 0;
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
    int rc = bytes ? kind->shape_in(s, n, bytes) : kind->shape_for(s, n, p);
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

/* The kind that `seen` would take for adding: blocked, unless it wastes bits. */
static int shape_best(sn_shape *s, double n, double p, uint64_t bytes, unsigned flags)
{
    sn_shape classic = *s, blocked = *s, split = *s;
    const seen_kind removes = SEEN_CUCKOO;
    const bool probes_given = s->k != 0;
    if (flags & SEEN_REMOVES)
        return shape_one(sn_kind_of(removes) ? removes : SEEN_SET, s, n, p, bytes);
    int rc = shape_one(SEEN_CLASSIC, &classic, n, p, bytes);
    bool have_blocked = shape_one(SEEN_BLOCKED, &blocked, n, p, bytes) == 0;
    if (rc < 0 && !have_blocked)
        return rc;
    *s = classic;
    if (rc == 0 && !probes_given)
        less_than_classic(s, n, p, bytes, flags);
    if (flags & SEEN_SMALLEST || !have_blocked)
        return rc;
    /* With a budget both have the same bytes: compare what classic would need for
     * the error that blocked reaches. */
    double worth = (double)len_of(&classic);
    if (bytes) {
        sn_shape same = {.kind = SEEN_CLASSIC};
        double e = sn_blocked.error_at(&blocked, n);
        if (e < 1 && sn_classic.shape_for(&same, n, e) == 0)
            worth = (double)len_of(&same);
    }
    uint64_t bytes_blocked = len_of(&blocked);
    if (rc == 0 && bytes_blocked > 4096 && (double)bytes_blocked > BLOCKED_WORTH * worth)
        return 0;
    *s = blocked;
    if (!bytes && bytes_blocked <= SPLIT_MAX_BYTES &&
        shape_one(SEEN_SPLIT, &split, n, p, 0) == 0 &&
        (double)len_of(&split) <= SPLIT_WORTH * (double)bytes_blocked)
        *s = split;
    return 0;
}

static int shape_any(seen_kind id, sn_shape *s, double n, double p, uint64_t bytes,
                     unsigned flags)
{
    return id == SEEN_AUTO ? shape_best(s, n, p, bytes, flags)
                           : shape_one(id, s, n, p, bytes);
}

int sn_shape_of_spec(const seen_spec *spec, sn_shape *out)
{
    *out = (sn_shape){.k = spec->probes};
    if (!sn_all_zero(spec->reserved, sizeof spec->reserved))
        return sn_fail(SEEN_EINVAL,
                       "reserved fields of the specification must be zero");
    const unsigned flags = SEEN_FIXED | SEEN_ATOMIC | SEEN_SCALAR | SEEN_REMOVES |
                           SEEN_SMALLEST | SEEN_ONCE;
    if (spec->flags & ~flags)
        return sn_fail(SEEN_EINVAL, "unknown flags 0x%x", spec->flags & ~flags);
    if (spec->flags & SEEN_REMOVES && spec->flags & SEEN_ONCE)
        return sn_fail(SEEN_EINVAL, "keys that are kept once cannot be removed: "
                                    "SEEN_ONCE or SEEN_REMOVES");
    if (sn_check_allocator(&spec->alloc) < 0)
        return SEEN_EINVAL;
    if (spec->memory && spec->error != 0)
        return sn_fail(SEEN_EINVAL, "the error and the memory both decide the size: "
                                    "give one of them");
    if (spec->bits) {
        /* m and k exactly: no promise, so never full. */
        seen_kind id = spec->kind == SEEN_AUTO ? SEEN_CLASSIC : spec->kind;
        const sn_kind *kind = sn_kind_of(id);
        double n = spec->keys ? (double)spec->keys : (double)spec->bits / 10;
        if (!kind)
            return sn_fail(SEEN_EKIND, "this library has no kind number %d", (int)id);
        if (spec->flags & SEEN_REMOVES)
            return sn_fail(SEEN_EKIND, "%s filters cannot remove keys", kind->name);
        int rc = check_numbers(spec->keys ? (double)spec->keys : 1, DEFAULT_ERROR);
        if (rc < 0)
            return rc;
        if (!out->k)
            out->k = id == SEEN_SPLIT
                         ? 8
                         : seen_classic_probes(spec->bits, (uint64_t)ceil(n));
        out->kind = id;
        out->units = id == SEEN_BLOCKED    ? (spec->bits + 511) / 512
                     : id == SEEN_SPLIT ? (spec->bits + 255) / 256
                                        : spec->bits;
        if (id != SEEN_BLOCKED && id != SEEN_SPLIT && id != SEEN_CLASSIC)
            return sn_fail(SEEN_EINVAL, "%s is not made from bits and probes",
                           kind->name);
        if (!kind->body_len(out))
            return sn_fail(SEEN_EINVAL, "%s cannot have %llu bits and %u probes",
                           kind->name, (unsigned long long)spec->bits, out->k);
        return 0;
    }
    if (spec->flags & SEEN_REMOVES && spec->kind != SEEN_AUTO &&
        sn_kind_of(spec->kind) && !(seen_kind_can(spec->kind) & SEEN_CAN_REMOVE))
        return sn_fail(SEEN_EKIND, "%s filters cannot remove keys",
                       seen_kind_name(spec->kind));
    bool once = (spec->flags & SEEN_ONCE && spec->kind == SEEN_CUCKOO) ||
                (spec->kind == SEEN_QUOTIENT && !(spec->flags & SEEN_REMOVES));
    out->own[SN_ONCE] = once;
    double p = spec->error == 0 ? DEFAULT_ERROR : spec->error;
    int rc = check_numbers(spec->keys ? (double)spec->keys : 1, p);
    if (rc < 0)
        return rc;
    if (spec->memory) {
        if (!spec->keys)
            return sn_fail(SEEN_EINVAL, "a memory budget needs the number of keys");
        rc = shape_any(spec->kind, out, (double)spec->keys, 0, spec->memory,
                       spec->flags);
        if (rc == 0)
            out->error = sn_kind_of(out->kind)->error_at(out, (double)spec->keys);
        if (spec->flags & SEEN_FIXED)
            out->capacity = spec->keys;
        return rc;
    }
    seen_filter goal = {.keys = spec->keys,
                        .error = p,
                        .kind = spec->kind == SEEN_AUTO && spec->flags & SEEN_REMOVES
                                    ? SEEN_CUCKOO
                                    : spec->kind,
                        .once = once};
    sn_layer_goal(&goal, 0, &out->capacity, &out->error);
    out->error = sn_first_share(spec, p);
    return shape_any(spec->kind, out, (double)out->capacity, out->error, 0,
                     spec->flags);
}

/* ---- public -------------------------------------------------------------------- */

static void fill_size(seen_size *o, const sn_shape *s, double n)
{
    const sn_kind *kind = sn_kind_of(s->kind);
    o->kind = s->kind;
    o->probes = s->k;
    o->keys = (uint64_t)n;
    o->error = kind->error_at(s, n);
    o->bytes = kind->body_len(s);
    o->bits = s->kind == SEEN_CLASSIC ? s->units : o->bytes * 8;
    o->bits_per_key = n > 0 ? (double)o->bits / n : 0;
}

/* The most keys with error P in BYTES: double until it is too many, then halve. */
static int most_keys(seen_kind id, uint32_t k, double p, uint64_t bytes, sn_shape *out,
                     double *keys)
{
    double lo = 0, hi = 0;
    while (hi == 0 || hi - lo > 1 + lo * 1e-9) {
        double n = hi ? floor((lo + hi) / 2) : lo ? lo * 2 : 1;
        sn_shape s = {.k = k};
        int rc = shape_any(id, &s, n, p, bytes, 0);
        if (rc < 0 && lo < 1)
            return rc;
        if (rc == 0 && n <= 1e15 && p >= chance_of_hash(n) &&
            sn_kind_of(s.kind)->error_at(&s, n) <= p) {
            *out = s;
            lo = n;
        } else {
            hi = n;
        }
    }
    if (lo < 1)
        return sn_fail(SEEN_EINVAL, "%llu bytes hold no key at error %g",
                       (unsigned long long)bytes, p);
    *keys = lo;
    return 0;
}

int seen_solve(seen_size *s)
{
    if (!sn_all_zero(s->reserved, sizeof s->reserved))
        return sn_fail(SEEN_EINVAL, "reserved fields of the size must be zero");
    int given = (s->keys != 0) + (s->error != 0) + (s->bytes != 0);
    if (given != 2)
        return sn_fail(SEEN_EINVAL, "give two of keys, error and bytes, not %d", given);
    double n = (double)s->keys;
    int rc = check_numbers(s->keys ? n : 1, s->error != 0 ? s->error : 0.5);
    if (rc < 0)
        return rc;
    sn_shape shape = {.k = s->probes};
    if (!s->keys)
        rc = most_keys(s->kind, s->probes, s->error, s->bytes, &shape, &n);
    else
        rc = shape_any(s->kind, &shape, n, s->error, s->bytes, 0);
    if (rc == 0)
        fill_size(s, &shape, n);
    return rc;
}

int seen_choose(const seen_spec *spec, seen_size *out)
{
    sn_shape s;
    int rc = sn_shape_of_spec(spec, &s);
    *out = (seen_size){0};
    if (rc == 0)
        fill_size(out, &s, (double)(spec->keys ? spec->keys : s.capacity));
    return rc;
}
