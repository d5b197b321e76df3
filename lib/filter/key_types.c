/* key_types.c - what the keys of a filter are (docs/keys.md).
 *
 * A filter hashes bytes and knows nothing of types: an integer asked of a filter of
 * text would be "certainly not there", always. So front ends say which type they add or
 * ask with, and are refused where it cannot match. */
#include "filter/file.h"
#include "base/bytes.h"
#include "base/fail.h"
#include <string.h>

/* Types with one number hash equal values to equal bytes. */
static const struct {
    const char *name, *words, *ask;
    int bytes;
} types[] = {
    [SEEN_KEYS_UNSAID] = {"unsaid", "keys of any type", "", 0},
    [SEEN_KEYS_MIXED] = {"mixed", "keys of several types", "", 0},
    [SEEN_KEYS_TEXT] = {"text", "text", "text", 1},
    [SEEN_KEYS_BYTES] = {"bytes", "bytes", "bytes", 1},
    [SEEN_KEYS_INT64] = {"int64", "64-bit integers", "an integer", 2},
    [SEEN_KEYS_UINT64] = {"uint64", "unsigned 64-bit integers", "an integer", 2},
    [SEEN_KEYS_FLOAT] = {"float", "floating-point numbers", "a float", 3},
    [SEEN_KEYS_UUID] = {"uuid", "UUIDs", "a UUID", 4},
    [SEEN_KEYS_DATE] = {"date", "dates", "a date", 5},
    [SEEN_KEYS_TIMESTAMP] = {"timestamp", "timestamps", "a timestamp", 6},
    [SEEN_KEYS_TUPLE] = {"tuple", "tuples", "a tuple", 7},
    [SEEN_KEYS_OWN] = {"own", "what one program makes of its data", "that program", 8},
};
enum { TYPES = sizeof types / sizeof *types };

void seen_integer_key(uint64_t x, unsigned char out[8])
{
    sn_put64(out, x);
}

void seen_real_key(double x, unsigned char out[8])
{
    sn_put_double(out, x == 0 ? 0 : x);
    if (x != x)
        sn_put64(out, 0x7ff8000000000000u);
}

const char *seen_keys_name(seen_keys type)
{
    return (unsigned)type < TYPES ? types[type].name : NULL;
}

seen_keys seen_keys_of(const seen_filter *f)
{
    seen_keys type = __atomic_load_n(&f->key_type, __ATOMIC_RELAXED);
    return type == SEEN_KEYS_UNSAID && (f->foreign || seen_added(f)) ? SEEN_KEYS_MIXED
                                                                     : type;
}

static bool match(seen_keys a, seen_keys b)
{
    return a == b || a <= SEEN_KEYS_MIXED || b <= SEEN_KEYS_MIXED ||
           types[a].bytes == types[b].bytes;
}

int seen_check_keys(const seen_filter *f, seen_keys type)
{
    seen_keys own = __atomic_load_n(&f->key_type, __ATOMIC_RELAXED);
    if ((unsigned)type >= TYPES)
        return sn_fail(SEEN_EINVAL, "there is no type %d of keys", (int)type);
    if (match(own, type))
        return SEEN_OK;
    return sn_fail(SEEN_EMISMATCH,
                   "this filter holds %s, not %s: use %s, or open it as mixed",
                   types[own].words, types[type].words, types[own].ask);
}

/* Where the file behind F has the type, NULL if nowhere. */
static uint8_t *in_file(const seen_filter *f)
{
    if (!sn_in_file(f) || !f->writable || f->no_identity || f->shared)
        return NULL;
    return f->map +
           (f->header_len == SN_COMPACT ? SN_COMPACT_KEY_TYPE : SN_AT_KEY_TYPE);
}

static int set(seen_filter *f, seen_keys type)
{
    uint8_t *at = in_file(f);
    int rc = at ? sn_may_change(f) : 0;
    if (rc == 0) {
        __atomic_store_n(&f->key_type, type, __ATOMIC_RELAXED);
        if (at)
            *at = (uint8_t)type;
    }
    return rc;
}

int seen_take_keys(seen_filter *f, seen_keys type)
{
    int rc = seen_check_keys(f, type);
    if (rc < 0 || f->key_type != SEEN_KEYS_UNSAID || f->foreign || seen_added(f))
        return rc;
    return type == SEEN_KEYS_UNSAID ? SEEN_OK : set(f, type);
}

int seen_set_keys(seen_filter *f, seen_keys type)
{
    int rc = seen_check_keys(f, type);
    if (f->foreign || type == f->key_type)
        return SEEN_OK;
    if (type == SEEN_KEYS_MIXED)
        return set(f, type);
    if (rc < 0 || f->key_type != SEEN_KEYS_UNSAID)
        return rc;
    return f->writable ? set(f, type)
                       : sn_fail(SEEN_EREADONLY, "the filter was opened read-only");
}

int sn_keys_of_union(const seen_filter *dst, const seen_filter *src, seen_keys *out)
{
    seen_keys a = seen_keys_of(dst), b = seen_keys_of(src);
    *out = a == SEEN_KEYS_UNSAID || b == SEEN_KEYS_MIXED ? b : a;
    if (match(a, b))
        return 0;
    return sn_fail(SEEN_EMISMATCH,
                   "one holds %s, the other %s: say that the first is mixed if they "
                   "shall be one filter",
                   types[a].words, types[b].words);
}

void sn_keys_merged(seen_filter *dst, seen_keys type)
{
    if (type != seen_keys_of(dst))
        set(dst, type);
}
