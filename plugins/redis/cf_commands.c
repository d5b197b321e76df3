/* cf_commands.c - CF.*: open the key, do it, answer, tell the replicas.
 *
 * Replicas get creations with every parameter spelled out and only the items that were
 * taken; they and the append-only file know no limits of their own. */
#include "bf_commands.h"
#include "bloom_bytes.h"
#include "cf_value.h"
#include "server_memory.h"
#include "settings.h"
#include "words.h"
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int refuse(rm_ctx *ctx, cf_key *k, const char *why)
{
    cf_close(k);
    return RM_ReplyWithError(ctx, why);
}

static const char *state_error(const cf_key *k)
{
    return k->state == CF_WRONG ? SAY_WRONGTYPE : SAY_NOT_FOUND;
}

static bool word_is(const rm_str *s, const char *word)
{
    size_t len;
    const char *p = RM_StringPtrLen(s, &len);
    return len == strlen(word) && !strncasecmp(p, word, len);
}

static seen_key key_of(const rm_str *s)
{
    seen_key k;
    k.data = RM_StringPtrLen(s, &k.len);
    return k;
}

/* ---- making ------------------------------------------------------------------ */

typedef struct cf_options {
    bool compat;
    long long capacity, bucket_size, max_iterations, expansion;
    uint64_t seed;
    bool no_create;
    int items;
} cf_options;

/* Four slots a bucket fill to 95% and two only to 84%: fast filters whose bucket size
 * nobody chose get four. */
static void settle_buckets(cf_options *o, bool chosen)
{
    if (!o->compat && !chosen && o->bucket_size < 4)
        o->bucket_size = 4;
}

static cf_options defaults(void)
{
    return (cf_options){
        .compat = conf.layout == LAYOUT_COMPAT,
        .capacity = conf.cf_capacity,
        .bucket_size = conf.cf_bucket_size,
        .max_iterations = conf.cf_max_iterations,
        .expansion = conf.cf_expansion,
        .seed = conf.random_seed ? seen_random_seed() : 0,
    };
}

static const char *create(rm_ctx *ctx, const cf_options *o, cf *out)
{
    *out = (cf){0};
    uint64_t limit = memory_limit(ctx);
    if (o->compat) {
        server_allowance_begin(ctx, 0);
        int rc = seen_cf_new((uint64_t)o->capacity, (uint32_t)o->bucket_size,
                             (uint32_t)o->max_iterations, (uint32_t)o->expansion,
                             &server_allocator, &out->compat);
        if (server_allowance_end())
            return SAY_OVER_LIMIT;
        return rc == SEEN_OK ? NULL : SAY_CF_NO_MEMORY;
    }
    uint64_t buckets =
        cuckoo_buckets_for((uint64_t)o->capacity, (uint32_t)o->bucket_size);
    if (buckets * (uint64_t)o->bucket_size * 2 > limit)
        return SAY_OVER_LIMIT;
    out->fast =
        cuckoo_new(buckets, (uint32_t)o->bucket_size, (uint32_t)o->max_iterations,
                   (uint32_t)o->expansion, o->seed);
    return out->fast ? NULL : SAY_CF_NO_MEMORY;
}

static void replicate_new(rm_ctx *ctx, rm_str *key, const cf_options *o)
{
    uint64_t seed[4] = {htole64(o->seed)};
    RM_Replicate(ctx, "CF.RESERVE", "slclclclcccb", key, o->capacity, "BUCKETSIZE",
                 o->bucket_size, "MAXITERATIONS", o->max_iterations, "EXPANSION",
                 o->expansion, "LAYOUT", o->compat ? "compat" : "fast", "SEED",
                 (char *)seed, sizeof seed);
}

static const char *get_number(const rm_str *s, const char *range, long long min,
                              long long max, long long *out)
{
    return RM_StringToLongLong(s, out) == RM_OK && *out >= min && *out <= max ? NULL
                                                                              : range;
}

int cf_reserve(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc < 3)
        return RM_WrongArity(ctx);
    cf_options o = defaults();
    bool chosen = false;
    long long n;
    if (RM_StringToLongLong(argv[2], &o.capacity) != RM_OK)
        return RM_ReplyWithError(ctx, SAY_CF_CAPACITY);
    for (int i = 3; i < argc; i += 2) {
        const char *bad = NULL;
        bool number = i + 1 < argc && RM_StringToLongLong(argv[i + 1], &n) == RM_OK;
        if (word_is(argv[i], "BUCKETSIZE")) {
            chosen = true;
            bad = !number ? SAY_CF_PARSE "BUCKETSIZE"
                          : get_number(argv[i + 1], SAY_CF_BUCKETSIZE, 1, 255,
                                       &o.bucket_size);
        } else if (word_is(argv[i], "MAXITERATIONS")) {
            bad = !number ? SAY_CF_PARSE "MAXITERATIONS"
                          : get_number(argv[i + 1], SAY_CF_ITERATIONS, 1, 65535,
                                       &o.max_iterations);
        } else if (word_is(argv[i], "EXPANSION")) {
            bad = !number ? SAY_CF_PARSE "EXPANSION"
                          : get_number(argv[i + 1], SAY_CF_EXPANSION, 0, MAX_EXPANSION,
                                       &o.expansion);
        } else if (word_is(argv[i], "LAYOUT") && i + 1 < argc) {
            o.compat = word_is(argv[i + 1], "compat");
            bad = o.compat || word_is(argv[i + 1], "fast") ? NULL : SAY_BAD_LAYOUT;
        } else if (word_is(argv[i], "SEED") && i + 1 < argc) {
            seen_key s = key_of(argv[i + 1]);
            uint64_t w[4] = {0};
            bad = s.len == sizeof w ? NULL : SAY_BAD_SEED;
            memcpy(w, s.data, s.len < sizeof w ? s.len : sizeof w);
            o.seed = le64toh(w[0] ^ w[1] ^ w[2] ^ w[3]);
        } else {
            bad = SAY_UNKNOWN;
        }
        if (bad)
            return RM_ReplyWithError(ctx, bad);
    }
    if (o.capacity < 2 * o.bucket_size || o.capacity > MAX_CAPACITY)
        return RM_ReplyWithError(ctx, SAY_CF_RANGE);
    settle_buckets(&o, chosen);
    cf_key k = cf_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (k.state != CF_MISSING)
        return refuse(ctx, &k, k.state == CF_WRONG ? SAY_WRONGTYPE : SAY_EXISTS);
    cf made;
    const char *bad = create(ctx, &o, &made);
    if (bad)
        return refuse(ctx, &k, bad);
    cf_set(&k, made);
    cf_close(&k);
    replicate_new(ctx, argv[1], &o);
    RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "cuckoo.reserve", argv[1]);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* ---- adding ------------------------------------------------------------------ */

static uint64_t limit_of(void *ctx)
{
    return memory_limit(ctx);
}

/* One of CUCKOO_... */
static int add_one(rm_ctx *ctx, cf v, seen_key key, bool unique, uint32_t max_filters)
{
    if (v.fast) {
        cuckoo_limits lim = {max_filters, limit_of, ctx};
        return cuckoo_add(v.fast, key, unique, &lim);
    }
    server_allowance_begin(ctx, cf_get_facts(v).bytes);
    int rc = unique ? seen_cf_addnx(v.compat, key.data, key.len, max_filters)
                    : seen_cf_add(v.compat, key.data, key.len, max_filters);
    if (server_allowance_end() && rc < 0)
        return CUCKOO_TOOBIG;
    return rc == SEEN_NEW       ? CUCKOO_ADDED
           : rc == SEEN_DUP     ? CUCKOO_THERE
           : rc == SEEN_EFULL   ? CUCKOO_FULL
           : rc == SEEN_ETOOBIG ? CUCKOO_EXPANDED
                                : CUCKOO_NOMEM;
}

static const char *why_not(int rc)
{
    return rc == CUCKOO_FULL       ? SAY_CF_FULL
           : rc == CUCKOO_EXPANDED ? SAY_CF_EXPANDED
           : rc == CUCKOO_TOOBIG   ? SAY_OVER_LIMIT
                                   : SAY_CF_NO_MEMORY;
}

static void reply_added(rm_ctx *ctx, int rc, bool one, bool unique)
{
    if (one && rc < 0)
        RM_ReplyWithError(ctx, why_not(rc));
    else if (one || !unique) {
        /* Full is -1 in RESP2 and false in RESP3. */
        if (rc < 0 && !(RM_GetContextFlags(ctx) & RM_FLAG_RESP3))
            RM_ReplyWithLongLong(ctx, -1);
        else
            RM_ReplyWithBool(ctx, rc == CUCKOO_ADDED);
    } else {
        RM_ReplyWithLongLong(ctx, rc < 0 ? -1 : rc);
    }
}

static int add_items(rm_ctx *ctx, rm_str *name, const cf_options *o, rm_str **argv,
                     size_t n, bool unique, bool one)
{
    cf_key k = cf_open(ctx, name, RM_READ | RM_WRITE);
    if (k.state == CF_WRONG)
        return refuse(ctx, &k, SAY_WRONGTYPE);
    if (k.state == CF_MISSING) {
        cf made;
        if (o->no_create)
            return refuse(ctx, &k, SAY_NOT_FOUND);
        const char *bad = create(ctx, o, &made);
        if (bad)
            return refuse(ctx, &k, bad);
        cf_set(&k, made);
        replicate_new(ctx, name, o);
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "cuckoo.reserve", name);
    }
    bool told = RM_GetContextFlags(ctx) & (RM_FLAG_FROM_MASTER | RM_FLAG_LOADING);
    uint32_t max = told ? UINT16_MAX + 1 : (uint32_t)conf.cf_max_expansions;
    cf_facts before = cf_get_facts(k.value), after;
    rm_str **taken = RM_Alloc(n * sizeof *taken);
    size_t ntaken = 0;
    if (!one)
        RM_ReplyWithArray(ctx, (long)n);
    for (size_t i = 0; i < n; i++) {
        int rc = add_one(ctx, k.value, key_of(argv[i]), unique, max);
        if (rc == CUCKOO_ADDED)
            taken[ntaken++] = argv[i];
        reply_added(ctx, rc, one, unique);
    }
    after = cf_get_facts(k.value);
    cf_account(&before, &after);
    cf_close(&k);
    if (ntaken) {
        RM_Replicate(ctx, "CF.INSERT", "sccv", name, "NOCREATE", "ITEMS", taken,
                     ntaken);
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "cuckoo.add", name);
    }
    RM_Free(taken);
    return RM_OK;
}

static int add_command(rm_ctx *ctx, rm_str **argv, int argc, bool unique)
{
    if (argc != 3)
        return RM_WrongArity(ctx);
    cf_options o = defaults();
    settle_buckets(&o, false);
    return add_items(ctx, argv[1], &o, argv + 2, 1, unique, true);
}

int cf_add(rm_ctx *ctx, rm_str **argv, int argc)
{
    return add_command(ctx, argv, argc, false);
}

int cf_addnx(rm_ctx *ctx, rm_str **argv, int argc)
{
    return add_command(ctx, argv, argc, true);
}

static int insert_command(rm_ctx *ctx, rm_str **argv, int argc, bool unique)
{
    if (argc < 4)
        return RM_WrongArity(ctx);
    cf_options o = defaults();
    for (int i = 2; i < argc && !o.items;) {
        if (word_is(argv[i], "NOCREATE")) {
            o.no_create = true;
            i++;
        } else if (word_is(argv[i], "ITEMS")) {
            o.items = i + 1;
        } else if (word_is(argv[i], "CAPACITY")) {
            if (i + 1 == argc || RM_StringToLongLong(argv[i + 1], &o.capacity) != RM_OK)
                return RM_ReplyWithError(ctx, SAY_CF_CAPACITY);
            if (o.capacity < 2 * o.bucket_size || o.capacity > MAX_CAPACITY)
                return RM_ReplyWithError(ctx, SAY_CF_INSERT_RANGE);
            i += 2;
        } else {
            return RM_ReplyWithError(ctx, SAY_UNKNOWN);
        }
    }
    if (!o.items || o.items == argc)
        return RM_WrongArity(ctx);
    settle_buckets(&o, false);
    return add_items(ctx, argv[1], &o, argv + o.items, (size_t)(argc - o.items), unique,
                     false);
}

int cf_insert(rm_ctx *ctx, rm_str **argv, int argc)
{
    return insert_command(ctx, argv, argc, false);
}

int cf_insertnx(rm_ctx *ctx, rm_str **argv, int argc)
{
    return insert_command(ctx, argv, argc, true);
}

/* ---- asking and removing ----------------------------------------------------- */

static int exists(rm_ctx *ctx, rm_str **argv, size_t n, bool one)
{
    enum { ROUND = 128 };
    cf_key k = cf_open(ctx, argv[1], RM_READ);
    if (!one)
        RM_ReplyWithArray(ctx, (long)n);
    for (size_t at = 0; at < n; at += ROUND) {
        size_t m = n - at < ROUND ? n - at : ROUND;
        seen_key keys[ROUND];
        bool found[ROUND] = {false};
        for (size_t i = 0; i < m; i++)
            keys[i] = key_of(argv[2 + at + i]);
        if (k.value.fast)
            cuckoo_has_many(k.value.fast, keys, m, found);
        for (size_t i = 0; i < m; i++) {
            if (k.value.compat)
                found[i] = seen_cf_has(k.value.compat, keys[i].data, keys[i].len);
            RM_ReplyWithBool(ctx, found[i]);
        }
    }
    cf_close(&k);
    return RM_OK;
}

int cf_exists(rm_ctx *ctx, rm_str **argv, int argc)
{
    return argc == 3 ? exists(ctx, argv, 1, true) : RM_WrongArity(ctx);
}

int cf_mexists(rm_ctx *ctx, rm_str **argv, int argc)
{
    return argc >= 3 ? exists(ctx, argv, (size_t)argc - 2, false) : RM_WrongArity(ctx);
}

int cf_count(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 3)
        return RM_WrongArity(ctx);
    cf_key k = cf_open(ctx, argv[1], RM_READ);
    seen_key key = key_of(argv[2]);
    uint64_t n = k.value.fast     ? cuckoo_count(k.value.fast, key)
                 : k.value.compat ? seen_cf_count(k.value.compat, key.data, key.len)
                                  : 0;
    cf_close(&k);
    return RM_ReplyWithLongLong(ctx, (long long)n);
}

int cf_del(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 3)
        return RM_WrongArity(ctx);
    cf_key k = cf_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (k.state != CF_FOUND)
        return refuse(ctx, &k, SAY_CF_ABSENT);
    seen_key key = key_of(argv[2]);
    cf_facts before = cf_get_facts(k.value), after;
    bool gone = k.value.fast ? cuckoo_remove(k.value.fast, key)
                             : seen_cf_del(k.value.compat, key.data, key.len) == 1;
    after = cf_get_facts(k.value);
    cf_account(&before, &after);
    cf_close(&k);
    if (gone) {
        RM_ReplicateVerbatim(ctx);
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "cuckoo.del", argv[1]);
    }
    return RM_ReplyWithBool(ctx, gone);
}

int cf_compact(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 2)
        return RM_WrongArity(ctx);
    cf_key k = cf_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (k.state != CF_FOUND)
        return refuse(ctx, &k, SAY_CF_NONE);
    cf_facts before = cf_get_facts(k.value), after;
    bool changed = true;
    if (k.value.fast)
        changed = cuckoo_compact(k.value.fast);
    else
        seen_cf_compact(k.value.compat);
    after = cf_get_facts(k.value);
    cf_account(&before, &after);
    cf_close(&k);
    if (changed)
        RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* ---- telling ----------------------------------------------------------------- */

int cf_info_command(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 2)
        return RM_WrongArity(ctx);
    cf_key k = cf_open(ctx, argv[1], RM_READ);
    if (k.state != CF_FOUND)
        return refuse(ctx, &k, state_error(&k));
    cf_facts f = cf_get_facts(k.value);
    cf_close(&k);
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"Size", f.size},
        {"Number of buckets", f.buckets},
        {"Number of filters", f.filters},
        {"Number of items inserted", f.items},
        {"Number of items deleted", f.deletes},
        {"Bucket size", f.bucket_size},
        {"Expansion rate", f.expansion},
        {"Max iterations", f.max_iterations},
    };
    RM_ReplyWithMap(ctx, 8);
    for (int i = 0; i < 8; i++) {
        RM_ReplyWithSimpleString(ctx, rows[i].name);
        RM_ReplyWithLongLong(ctx, (long long)rows[i].value);
    }
    return RM_OK;
}

int cf_debug(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 2)
        return RM_WrongArity(ctx);
    cf_key k = cf_open(ctx, argv[1], RM_READ);
    if (k.state != CF_FOUND)
        return refuse(ctx, &k, state_error(&k));
    cf_facts f = cf_get_facts(k.value);
    cf_close(&k);
    char line[256];
    int n =
        snprintf(line, sizeof line,
                 "bktsize:%llu buckets:%llu items:%llu deletes:%llu filters:%llu "
                 "max_iterations:%llu expansion:%llu",
                 (unsigned long long)f.bucket_size, (unsigned long long)f.first_buckets,
                 (unsigned long long)f.items, (unsigned long long)f.deletes,
                 (unsigned long long)f.filters, (unsigned long long)f.max_iterations,
                 (unsigned long long)f.expansion);
    return RM_ReplyWithStringBuffer(ctx, line, (size_t)n);
}

/* ---- moving ------------------------------------------------------------------ */

int cf_scandump(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long iter;
    if (argc != 3)
        return RM_WrongArity(ctx);
    cf_key k = cf_open(ctx, argv[1], RM_READ);
    if (k.state != CF_FOUND)
        return refuse(ctx, &k, state_error(&k));
    if (RM_StringToLongLong(argv[2], &iter) != RM_OK || iter < 0)
        return refuse(ctx, &k, SAY_CF_POSITION);
    value_bytes b = cf_bytes(k.value);
    const char *p;
    size_t len;
    uint64_t next;
    bool inside = value_bytes_at(&b, (uint64_t)iter, &p, &len, &next);
    if (iter == 0 && !cf_get_facts(k.value).items)
        len = next = 0; /* nothing to move */
    if (inside || k.value.compat) {
        RM_ReplyWithArray(ctx, 2);
        RM_ReplyWithLongLong(ctx, (long long)next);
        if (len)
            RM_ReplyWithStringBuffer(ctx, p, len);
        else
            RM_ReplyWithNull(ctx);
    } else {
        RM_ReplyWithError(ctx, SAY_CF_POSITION);
    }
    value_bytes_free(b);
    cf_close(&k);
    return RM_OK;
}

int cf_loadchunk(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long iter;
    if (argc != 4)
        return RM_WrongArity(ctx);
    cf_key k = cf_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (k.state == CF_WRONG)
        return refuse(ctx, &k, SAY_WRONGTYPE);
    if (RM_StringToLongLong(argv[2], &iter) != RM_OK || iter < 1)
        return refuse(ctx, &k, SAY_CF_POSITION);
    seen_key d = key_of(argv[3]);
    if (k.state == CF_MISSING && iter != 1)
        return refuse(ctx, &k, SAY_NOT_FOUND);
    if (k.state == CF_MISSING) {
        cf made = {0};
        uint64_t limit = memory_limit(ctx);
        int rc =
            cuckoo_is_header(d.data, d.len)
                ? cuckoo_load(d.data, d.len, limit, &made.fast)
                : seen_cf_load(d.data, d.len, limit, &server_allocator, &made.compat);
        if (rc != SEEN_OK)
            return refuse(ctx, &k,
                          d.len != SEEN_CF_HEADER && !cuckoo_is_header(d.data, d.len)
                              ? SAY_CF_HEADER
                              : SAY_CF_CREATE);
        cf_set(&k, made);
    } else {
        int rc =
            k.value.fast
                ? cuckoo_load_chunk(k.value.fast, (uint64_t)iter, d.data, d.len)
                : seen_cf_load_chunk(k.value.compat, (uint64_t)iter, d.data, d.len);
        if (rc != SEEN_OK)
            return refuse(ctx, &k, SAY_CF_CHUNK);
    }
    cf_close(&k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}
