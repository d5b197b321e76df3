/* size.c - how large, of which kind: from keys, errors and bytes to shapes. */
#include "filter/growth.h"
#include "base/bytes.h"
#include "base/fail.h"
#include <math.h>

#define DEFAULT_ERROR 0.01
#define MOST_PROBES 32
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
                       "an error of %g cannot be promised: a key has the same 64-bit "
                       "hash as one of %g others with probability %g",
                       error, keys, chance_of_hash(keys));
    return 0;
}

/* The textbook's number of probes; with bits to spare, no more than serve. */
static uint32_t probes_in(uint64_t bits, double n)
{
    uint32_t k = seen_classic_probes(bits, (uint64_t)ceil(n));
    return k < MOST_PROBES ? k : MOST_PROBES;
}

/* A shape of exactly so many bits and probes: no promise, so never full. */
static int shape_of_bits(const seen_spec *spec, sn_shape *out)
{
    const sn_kind *kind =
        spec->kind == SEEN_AUTO ? sn_kind_textbook() : sn_kind_of(spec->kind);
    double n = spec->keys ? (double)spec->keys : (double)spec->bits / 10;
    if (!kind)
        return sn_fail(SEEN_EKIND, "this library has no kind number %d",
                       (int)spec->kind);
    if (spec->flags & SEEN_REMOVES)
        return sn_fail(SEEN_EKIND, "%s filters cannot remove keys", kind->name);
    int rc = check_numbers(spec->keys ? (double)spec->keys : 1, DEFAULT_ERROR);
    if (rc < 0)
        return rc;
    if (!kind->unit_bits)
        return sn_fail(SEEN_EINVAL, "%s is not made from bits and probes", kind->name);
    if (!out->k)
        out->k = kind->only_probes ? kind->only_probes : probes_in(spec->bits, n);
    out->kind = kind->id;
    out->units = spec->bits / kind->unit_bits + (spec->bits % kind->unit_bits != 0);
    if (!kind->body_len(out))
        return sn_fail(SEEN_EINVAL, "%s cannot have %llu bits and %u probes",
                       kind->name, (unsigned long long)spec->bits, out->k);
    return 0;
}

/* Whether layers of KIND, which could keep copies, keep keys once. */
static bool keeps_once(const seen_spec *spec, const sn_kind *kind)
{
    return kind && kind->multiset &&
           (spec->flags & SEEN_ONCE || (kind->grow && !(spec->flags & SEEN_REMOVES)));
}

/* The kind of a filter of SPEC; SEEN_AUTO if its size decides. */
static seen_kind kind_of_spec(const seen_spec *spec)
{
    const sn_kind *growing = sn_kind_growing();
    if (spec->kind != SEEN_AUTO)
        return spec->kind;
    if (spec->flags & SEEN_REMOVES)
        return sn_kind_removing()->id;
    bool unknown =
        !spec->keys && !spec->probes && !(spec->flags & (SEEN_FIXED | SEEN_ATOMIC));
    return unknown && growing ? growing->id : SEEN_AUTO;
}

/* What a shape OUT that was made from a budget promises. A kind that would be full has
 * a capacity, up to which the promise holds; the others take any number of keys. */
static int promise_in(const seen_spec *spec, sn_shape *out)
{
    const sn_kind *kind = sn_kind_of(out->kind);
    if (spec->flags & SEEN_FIXED)
        out->capacity = spec->keys;
    else if (kind->holds)
        out->capacity = kind->holds(out);
    out->error =
        sn_error_most(out, (double)(out->capacity ? out->capacity : spec->keys));
    return 0;
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
                                    "choose SEEN_ONCE or SEEN_REMOVES");
    if (sn_check_allocator(&spec->alloc) < 0)
        return SEEN_EINVAL;
    if (spec->memory && spec->error != 0)
        return sn_fail(SEEN_EINVAL, "the error and the memory both decide the size: "
                                    "give one of them");
    if (spec->bits)
        return shape_of_bits(spec, out);
    if (spec->flags & SEEN_REMOVES && spec->kind != SEEN_AUTO &&
        sn_kind_of(spec->kind) && !(seen_kind_can(spec->kind) & SEEN_CAN_REMOVE))
        return sn_fail(SEEN_EKIND, "%s filters cannot remove keys",
                       seen_kind_name(spec->kind));
    double p = spec->error == 0 ? DEFAULT_ERROR : spec->error;
    int rc = check_numbers(spec->keys ? (double)spec->keys : 1, p);
    if (rc < 0)
        return rc;
    if (spec->memory) {
        if (!spec->keys)
            return sn_fail(SEEN_EINVAL, "a memory budget needs the number of keys");
        out->own[SN_ONCE] = keeps_once(spec, sn_kind_of(spec->kind));
        rc = sn_choose_shape(spec->kind, out, (double)spec->keys, 0, spec->memory,
                             spec->flags);
        return rc < 0 ? rc : promise_in(spec, out);
    }
    const sn_kind *kind = sn_kind_of(kind_of_spec(spec));
    seen_filter goal = {.keys = spec->keys,
                        .error = p,
                        .kind = kind_of_spec(spec),
                        .flags = spec->flags,
                        .once = keeps_once(spec, kind)};
    out->own[SN_ONCE] = goal.once;
    sn_layer_goal(&goal, 0, &out->capacity, &out->error);
    rc = sn_choose_shape(goal.kind, out, (double)out->capacity, out->error, 0,
                         spec->flags);
    if (rc == 0 && !spec->keys && kind && kind->holds)
        out->capacity = kind->holds(out);
    return rc;
}

/* ---- public -------------------------------------------------------------------- */

static void fill_size(seen_size *o, const sn_shape *s, double n)
{
    const sn_kind *kind = sn_kind_of(s->kind);
    o->kind = s->kind;
    o->probes = sn_probes(s);
    o->keys = (uint64_t)n;
    o->error = sn_error_most(s, n);
    o->bytes = kind->body_len(s);
    o->bits = kind->unit_bits ? s->units * kind->unit_bits : o->bytes * 8;
    o->bits_per_key = n > 0 ? (double)o->bits / n : 0;
}

/* The most keys with error P in BYTES: doubles until it is too many, then bisects. */
static int most_keys(seen_kind id, uint32_t k, double p, uint64_t bytes, sn_shape *out,
                     double *keys)
{
    double lo = 0, hi = 0;
    while (hi == 0 || hi - lo > 1 + lo * 1e-9) {
        double n = hi ? floor((lo + hi) / 2) : lo ? lo * 2 : 1;
        sn_shape s = {.k = k};
        int rc = sn_choose_shape(id, &s, n, p, bytes, 0);
        if (rc < 0 && lo < 1)
            return rc;
        if (rc == 0 && n <= 1e15 && p >= chance_of_hash(n) &&
            sn_error_most(&s, n) <= p) {
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
        rc = sn_choose_shape(s->kind, &shape, n, s->error, s->bytes, 0);
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
