/* foreign.c - finds formats by name or by content, and has the code they share. */
#include "foreign/foreign.h"
#include "foreign/keytype.h"
#include "base/modulo.h"
#include "foreign/raw.h"
#include "base/bytes.h"
#include "kind/kind.h"
#include <math.h>
#include <stdio.h>

/* Formats with a magic number come first, then those whose numbers must match the
 * length; the more such numbers, the earlier. */
#ifdef SEEN_NO_FOREIGN /* the two-file library can be built without them */
const sn_format *const sn_formats[] = {NULL};
const unsigned sn_formats_n = 0;
#else
const sn_format *const sn_formats[] = {
    &sn_fmt_leveldb_table, &sn_fmt_parquet_file, &sn_fmt_libbloom,
    &sn_fmt_redisbloom,    &sn_fmt_rediscuckoo,  &sn_fmt_parquet,
    &sn_fmt_bloom_go_json, &sn_fmt_bloom_go,     &sn_fmt_bloom_go_le,
    &sn_fmt_dcso,          &sn_fmt_guava,        &sn_fmt_parquet_v0,
    &sn_fmt_guava32,       &sn_fmt_leveldb,      &sn_fmt_leveldb_block,
    &sn_fmt_redis_bitmap,  &sn_fmt_scrapy,       &sn_fmt_libbloom1,
    &sn_fmt_fnv_split,     &sn_fmt_crc32_shift,  &sn_fmt_mmh3_17,
};
const unsigned sn_formats_n = sizeof sn_formats / sizeof *sn_formats;
#endif

const sn_format *sn_format_named(const char *name)
{
    for (unsigned i = 0; i < sn_formats_n; i++)
        if (!strcmp(name, sn_formats[i]->pub.name))
            return sn_formats[i];
    return NULL;
}

const sn_format *sn_format_of(const uint8_t *p, uint64_t len)
{
    for (unsigned i = 0; i < sn_formats_n; i++)
        if (sn_formats[i]->recognises && sn_formats[i]->recognises(p, len))
            return sn_formats[i];
    return NULL;
}


int sn_check_km(uint64_t k, uint64_t m)
{
    if (k < 1 || k > SN_MAX_PROBES)
        return sn_fail(SEEN_EFORMAT, "k is %llu, not in 1 .. %d", (unsigned long long)k,
                       SN_MAX_PROBES);
    if (m < 1 || m / 8 >= SN_MAX_BYTES)
        return sn_fail(SEEN_EFORMAT, "m is %llu", (unsigned long long)m);
    return SEEN_OK;
}

bool sn_keys_and_error(const seen_params *params)
{
    return params->keys && params->error > 0 && params->error < 1;
}

int sn_needs(const char *format, const char *what)
{
    return sn_fail(SEEN_EINVAL, "%s needs %s", format, what);
}

int sn_bits_from(double bits, uint64_t *m)
{
    if (!(bits < 0x1p48))
        return sn_fail(SEEN_ETOOBIG, "%.0f bits are too many", bits);
    *m = (uint64_t)bits;
    return SEEN_OK;
}

int sn_foreign_room(sn_foreign *f, uint64_t len)
{
    if (!f->owned)
        return sn_fail(SEEN_EFULL,
                       "the file cannot grow in place: load it, add, and save");
    if (len > SN_MAX_BYTES)
        return sn_fail(SEEN_ETOOBIG, "%llu bytes are too many",
                       (unsigned long long)len);
    if (len > f->room) {
        uint64_t room =
            f->len && len < f->room + f->room / 2 ? f->room + f->room / 2 : len;
        uint8_t *p = sn_body_alloc(&f->alloc, room);
        if (!p)
            return sn_no_memory("no memory for %llu bytes", (unsigned long long)room);
        if (f->len)
            memcpy(p, f->file, f->len);
        sn_body_free(&f->alloc, f->file, f->room);
        f->file = p;
        f->room = room;
    }
    f->len = len;
    return SEEN_OK;
}

/* ---- opening and making --------------------------------------------------------- */

static int type_set(sn_foreign *f, const char *name)
{
    sn_keytype t = sn_keytype_named(name);
    if (t == SN_KEY_TYPES)
        return sn_fail(SEEN_EINVAL,
                       "no key type \"%s\": bytes, utf8, utf16, int32, int64, "
                       "float, double",
                       name);
    if (t != SN_KEY_BYTES && !(f->format->types >> t & 1))
        return sn_fail(SEEN_EINVAL, "%s has no keys of type %s", f->format->pub.name,
                       name);
    f->type = t;
    return SEEN_OK;
}

static int format_pick(const char *name, const sn_format **out)
{
    *out = sn_format_named(name);
    return *out ? SEEN_OK
                : sn_fail(SEEN_EINVAL, "no format \"%s\"; see the list of formats",
                          name);
}

static int foreign_alloc(const sn_format *format, const seen_params *params,
                         const seen_allocator *a, sn_foreign **out)
{
    sn_foreign *f = sn_alloc(a, sizeof *f);
    if (!f)
        return sn_no_memory("no memory for a filter");
    f->alloc = *a;
    f->format = format;
    f->layers = 1;
    int rc = type_set(f, params->type);
    if (rc < 0) {
        sn_free(a, f, sizeof *f);
        return rc;
    }
    *out = f;
    return SEEN_OK;
}

/* The caller's parameters must not contradict the bytes. */
static int params_agree(const sn_foreign *f, const seen_params *params)
{
    if (params->bits && f->bits.m && params->bits != f->bits.m)
        return sn_fail(SEEN_EINVAL, "m is %llu, not %llu",
                       (unsigned long long)f->bits.m, (unsigned long long)params->bits);
    if (params->probes && f->bits.m && params->probes != f->bits.k)
        return sn_fail(SEEN_EINVAL, "k is %u, not %u", f->bits.k, params->probes);
    return SEEN_OK;
}

/* Checks the fields that no format interprets; NULL becomes empty parameters. */
static int check_params(const seen_params **params)
{
    static const seen_params none;
    const seen_params *p = *params = *params ? *params : &none;
    const unsigned known = SEEN_HASH_UNSIGNED | SEEN_BITS_MSB | SEEN_BITS_LSB |
                           SEEN_GUAVA_OLD | SEEN_NONSCALING;
    if (!sn_all_zero(p->reserved, sizeof p->reserved))
        return sn_fail(SEEN_EINVAL, "reserved fields of the parameters must be zero");
    if (p->flags & ~known)
        return sn_fail(SEEN_EINVAL, "unknown flags 0x%x in the parameters",
                       p->flags & ~known);
    return sn_check_allocator(&p->alloc);
}

/* Says why. If a header fits a format and only bytes after it are missing, says so. */
static int not_recognised(uint8_t *bytes, uint64_t len, const seen_allocator *alloc)
{
    static const seen_params none;
    for (unsigned i = 0; i < sn_formats_n; i++) {
        sn_foreign *f;
        if (!sn_formats[i]->recognises ||
            foreign_alloc(sn_formats[i], &none, alloc, &f) < 0)
            continue;
        f->file = bytes;
        f->len = f->room = len;
        sn_is_cut = false;
        int rc = sn_formats[i]->open(f, &none);
        f->owned = f->owned && f->file != bytes;
        sn_foreign_free(f);
        if (rc == SEEN_EFORMAT && sn_is_cut) {
            char why[SN_REASON];
            snprintf(why, sizeof why, "%s", seen_reason());
            return sn_fail(SEEN_EFORMAT, "perhaps a %s filter that was cut short: %s",
                           sn_formats[i]->pub.name, why);
        }
    }
    return sn_fail(SEEN_EFORMAT,
                   "not a filter file of seen and not a recognised format: some "
                   "formats must be named, see 'seen formats'");
}

int sn_foreign_open(uint8_t *bytes, uint64_t len, bool owned, bool writable,
                    const char *name, const seen_params *params,
                    const seen_allocator *alloc, sn_foreign **out)
{
    const sn_format *format;
    sn_foreign *f;
    int rc = check_params(&params);
    if (rc == SEEN_OK && name)
        rc = format_pick(name, &format);
    else if (rc == SEEN_OK && !(format = sn_format_of(bytes, len)))
        rc = not_recognised(bytes, len, alloc);
    if (rc < 0)
        return rc;
    rc = foreign_alloc(format, params, alloc, &f);
    if (rc < 0)
        return rc;
    f->file = bytes;
    f->len = f->room = len;
    f->owned = owned;
    f->writable = writable && format->add;
    rc = format->open(f, params);
    if (rc == SEEN_OK)
        rc = params_agree(f, params);
    if (rc < 0) {
        f->owned = f->owned && f->file != bytes;
        sn_foreign_free(f);
        return rc;
    }
    if (owned && f->file != bytes) /* the format keeps a copy in another form */
        sn_body_free(alloc, bytes, len);
    f->bits.inverse = sn_inverse(f->bits.m);
    *out = f;
    return SEEN_OK;
}

int sn_foreign_new(const char *name, const seen_params *params,
                   const seen_allocator *alloc, sn_foreign **out)
{
    const sn_format *format;
    sn_foreign *f;
    int rc = check_params(&params);
    if (rc == SEEN_OK)
        rc = format_pick(name, &format);
    if (rc < 0)
        return rc;
    if (!format->create)
        return sn_fail(SEEN_EKIND, "%s filters can only be opened", name);
    rc = foreign_alloc(format, params, alloc, &f);
    if (rc < 0)
        return rc;
    f->owned = f->writable = f->counted = true;
    rc = format->create(f, params);
    if (rc < 0) {
        sn_foreign_free(f);
        /* The checks report fields of a file; here the fields are arguments. */
        return rc == SEEN_EFORMAT ? SEEN_EINVAL : rc;
    }
    f->bits.inverse = sn_inverse(f->bits.m);
    *out = f;
    return SEEN_OK;
}

void sn_foreign_free(sn_foreign *f)
{
    if (!f)
        return;
    seen_allocator a = f->alloc;
    if (f->format->close)
        f->format->close(f);
    if (f->owned)
        sn_body_free(&a, f->file, f->room);
    sn_free(&a, f, sizeof *f);
}

/* ---- keys ----------------------------------------------------------------------- */

/* One key converted to the bytes to hash, in BUF or on the heap. */
typedef struct turned {
    seen_key key;
    uint8_t buf[512];
    uint8_t *heap;
    size_t heap_len;
} turned;

static int turn(const sn_foreign *f, const seen_key *from, turned *t)
{
    size_t room = sn_keytype_room(f->type, from->len), len;
    uint8_t *p = t->buf;
    t->heap = NULL;
    if (room > sizeof t->buf) {
        p = t->heap = sn_alloc(&f->alloc, room);
        t->heap_len = room;
        if (!p)
            return sn_no_memory("no memory for a key of %zu bytes", from->len);
    }
    int rc = sn_keytype_convert(f->type, from->data, from->len, p, &len);
    t->key = (seen_key){p, len};
    return rc;
}

static void turn_back(const sn_foreign *f, turned *t)
{
    sn_free(&f->alloc, t->heap, t->heap_len);
}

int sn_foreign_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    int refused = SEEN_OK;
    if (f->type == SN_KEY_BYTES) {
        f->format->has(f, keys, n, found);
        return SEEN_OK;
    }
    for (size_t i = 0; i < n; i++) {
        turned t;
        int rc = turn(f, &keys[i], &t);
        /* Text that cannot be a key of this type was never added. Without memory the
         * answer is unknown. */
        found[i] = rc == SEEN_ENOMEM;
        if (rc == SEEN_OK)
            f->format->has(f, &t.key, 1, &found[i]);
        else
            refused = rc;
        turn_back(f, &t);
    }
    return refused;
}

size_t sn_foreign_add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc)
{
    if (!f->format->add) {
        *rc = sn_fail(SEEN_EKIND, "%s filters are read-only", f->format->pub.name);
        return 0;
    }
    if (!f->writable) {
        *rc = sn_fail(SEEN_EREADONLY, "the filter was opened read-only");
        return 0;
    }
    *rc = SEEN_OK;
    if (f->type == SN_KEY_BYTES)
        return f->format->add(f, keys, n, dup, rc);
    for (size_t i = 0; i < n; i++) {
        turned t;
        size_t taken = 0;
        *rc = turn(f, &keys[i], &t);
        if (*rc == SEEN_OK)
            taken = f->format->add(f, &t.key, 1, &dup[i], rc);
        turn_back(f, &t);
        if (!taken)
            return i;
    }
    return n;
}

int sn_foreign_remove(sn_foreign *f, const void *key, size_t len)
{
    if (!f->format->remove)
        return sn_fail(SEEN_EKIND, "%s filters cannot remove keys",
                       f->format->pub.name);
    if (!f->writable)
        return sn_fail(SEEN_EREADONLY, "the filter was opened read-only");
    return f->format->remove(f, key, len);
}

int sn_foreign_write(const sn_foreign *f, const sn_sink *to)
{
    if (f->format->write)
        return f->format->write(f, to);
    return f->len ? to->put(to->ctx, f->file, f->len) : SEEN_OK;
}

/* ---- what is in it -------------------------------------------------------------- */

uint64_t sn_bits_set(const uint8_t *p, uint64_t n)
{
    uint64_t set = 0;
    for (; n >= 8; p += 8, n -= 8)
        set += (uint64_t)__builtin_popcountll(sn_le64(p));
    for (; n; p++, n--)
        set += (uint64_t)__builtin_popcount(*p);
    return set;
}

/* The share of the m bits that are set. Above 64 MiB it is estimated from every STEP-th
 * piece of 4 KiB. */
static double fill_of(const sn_bits *b)
{
    const uint64_t piece = 4096;
    uint64_t step = 1 + (b->have >> 26), set = 0, bytes = 0;
    for (uint64_t at = 0; at < b->have; at += piece * step) {
        uint64_t n = b->have - at < piece ? b->have - at : piece;
        set += sn_bits_set(b->at + at, n);
        bytes += n;
    }
    double share = bytes ? (double)set / (double)bytes : 0; /* bits set per byte */
    return fmin(1, share * (double)b->have / (double)b->m);
}

double sn_keys_behind(double fill, double m, double k)
{
    return k > 0 ? -log1p(-fmin(fill, 1 - 0.5 / m)) * m / k : 0;
}

void sn_foreign_stats(const sn_foreign *f, seen_stats *out)
{
    *out = (seen_stats){.kind = SEEN_FOREIGN,
                        .layers = f->layers,
                        .capacity = f->capacity,
                        .error_wanted = f->error,
                        .probes = f->bits.k,
                        .bits = f->bits.m,
                        .bytes = f->bits.have,
                        .writable = f->writable,
                        .dirty = f->dirty};
    if (f->format->stats) {
        f->format->stats(f, out);
    } else if (f->bits.m) {
        double m = (double)f->bits.m, k = f->bits.k, fill = fill_of(&f->bits);
        out->fill = fill;
        out->bits_set = (uint64_t)(fill * m + 0.5);
        out->error_now = pow(fill, k);
        out->keys_estimate = sn_keys_behind(fill, m, k);
    } else if (f->rule == SN_RULE_LEVELDB && f->len >= 2) {
        out->error_now = 1; /* a reserved k: LevelDB's reader finds every key */
    }
    out->added =
        f->counted ? f->added : (uint64_t)(fmin(out->keys_estimate, 9e18) + 0.5);
}

int sn_foreign_describe(const sn_foreign *f, char *buf, size_t size)
{
    char more[128] = "", type[32] = "", keys[64], layers[32] = "", promised[48] = "";
    seen_stats s;
    sn_foreign_stats(f, &s);
    if (f->format->describe)
        f->format->describe(f, more, sizeof more);
    else if (f->type != SN_KEY_BYTES)
        snprintf(type, sizeof type, ", %s keys", sn_keytype_name(f->type));
    if (f->layers > 1)
        snprintf(layers, sizeof layers, ", %u layers", f->layers);
    if (s.capacity)
        snprintf(keys, sizeof keys, "%s%llu of %llu keys", f->counted ? "" : "about ",
                 (unsigned long long)s.added, (unsigned long long)s.capacity);
    else
        snprintf(keys, sizeof keys, "%s%llu keys", f->counted ? "" : "about ",
                 (unsigned long long)s.added);
    if (s.error_wanted > 0)
        snprintf(promised, sizeof promised, ", %g promised", s.error_wanted);
    return snprintf(buf, size,
                    "%s%s%s%s, m=%llu, k=%u, %s, %llu bytes, %.1f%% of bits set, error "
                    "%.3g now%s",
                    f->format->pub.name, more, type, layers, (unsigned long long)s.bits,
                    s.probes, keys, (unsigned long long)s.bytes, 100 * s.fill,
                    s.error_now, promised);
}

/* ---- from one container to another ---------------------------------------------- */

static uint8_t reversed(uint8_t b)
{
    b = (uint8_t)(b >> 4 | b << 4);
    b = (uint8_t)((b & 0xcc) >> 2 | (b & 0x33) << 2);
    return (uint8_t)((b & 0xaa) >> 1 | (b & 0x55) << 1);
}

/* Copies the first m bits; both have the same m. */
static int bits_copy(sn_foreign *to, const sn_bits *from)
{
    uint64_t bytes = sn_bytes_of(from->m), last = 0;
    for (uint64_t i = 0; i < bytes; i++)
        if ((i ^ from->flip_byte) < from->have && from->at[i ^ from->flip_byte])
            last = i + 1;
    if (last > to->bits.have && sn_raw_grow(to, last * 8 - 1) < 0)
        return SEEN_ENOMEM;
    for (uint64_t i = 0; i < last; i++) {
        uint64_t at = i ^ from->flip_byte;
        uint8_t b = at < from->have ? from->at[at] : 0;
        if (from->flip_bit != to->bits.flip_bit)
            b = reversed(b);
        to->bits.at[i ^ to->bits.flip_byte] = b;
    }
    return SEEN_OK;
}

static bool same_rule(const sn_foreign *a, const sn_foreign *b)
{
    return a->rule != SN_RULE_OWN && a->rule == b->rule && a->bits.m == b->bits.m &&
           a->bits.k == b->bits.k && a->nseeds == b->nseeds &&
           !memcmp(a->seeds, b->seeds, a->nseeds * sizeof *a->seeds);
}

int sn_foreign_merge(sn_foreign *dst, const sn_foreign *src)
{
    int rc = SEEN_OK;
    if (dst->rule == SN_RULE_OWN || !dst->format->add)
        return sn_fail(SEEN_EKIND, "%s filters cannot be merged",
                       dst->format->pub.name);
    if (!dst->writable)
        return sn_fail(SEEN_EREADONLY, "the filter was opened read-only");
    if (!same_rule(dst, src) || dst->bits.flip_bit != src->bits.flip_bit ||
        dst->bits.flip_byte != src->bits.flip_byte || dst->type != src->type)
        return sn_fail(
            SEEN_EMISMATCH,
            "one is %s with m=%llu and k=%u, the other %s with m=%llu and k=%u",
            dst->format->pub.name, (unsigned long long)dst->bits.m, dst->bits.k,
            src->format->pub.name, (unsigned long long)src->bits.m, src->bits.k);
    if (src->bits.have > dst->bits.have)
        rc = dst->bits.at == dst->file
                 ? sn_raw_grow(dst, src->bits.have * 8 - 1)
                 : sn_fail(SEEN_EMISMATCH, "one is shorter than the other");
    if (rc < 0)
        return rc;
    for (uint64_t i = 0; i < src->bits.have; i++)
        dst->bits.at[i] |= src->bits.at[i];
    sn_count_up(&dst->added, src->added);
    dst->counted &= src->counted;
    dst->dirty = true;
    dst->format->add(dst, NULL, 0, NULL, &rc); /* counts in the header */
    return rc;
}

int sn_foreign_convert(const sn_foreign *f, const char *name, sn_foreign **out)
{
    const sn_format *format;
    sn_foreign *g = NULL;
    int rc = format_pick(name, &format);
    if (rc < 0)
        return rc;
    seen_params params = {.bits = f->bits.m,
                          .probes = f->bits.k,
                          .keys = f->capacity,
                          .error = f->error,
                          .seeds = f->nseeds ? f->seeds : NULL,
                          .seeds_n = f->nseeds,
                          .flags = f->rule == SN_RULE_MMH3_UNSIGNED ? SEEN_HASH_UNSIGNED
                                                                    : 0};
    params.type =
        f->type && format->types >> f->type & 1 ? sn_keytype_name(f->type) : NULL;
    if (f->rule == SN_RULE_OWN || !format->create ||
        sn_foreign_new(name, &params, &f->alloc, &g) < 0 || !same_rule(f, g)) {
        sn_foreign_free(g);
        return sn_fail(SEEN_EKIND,
                       "a %s filter cannot become a %s filter: the same key sets "
                       "different bits",
                       f->format->pub.name, name);
    }
    rc = bits_copy(g, &f->bits);
    if (rc < 0) {
        sn_foreign_free(g);
        return rc;
    }
    g->counted = false;
    *out = g;
    return SEEN_OK;
}
