/* cf_commands.c - CF.*: open the key, do it, answer, tell the replicas.
 *
 * Replicas get creations with every parameter spelled out and only the items that were
 * taken; they and the append-only file know no limits of their own. */
#include "server/arguments.h"
#include "cf/cf_value.h"
#include "cf/cuckoo_bytes.h"
#include "server/module_commands.h"
#include "server/error_texts.h"
#include "server/server_memory.h"
#include "server/settings.h"
#include <stdio.h>
#include <string.h>

/* ---- making ------------------------------------------------------------------ */

typedef struct cf_options {
    bool compat;
    long long capacity, bucket_size, max_iterations, expansion;
    filter_secret secret;
    bool saw_seed;
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

static cf_options defaults(rm_ctx *ctx)
{
    return (cf_options){
        .compat = default_is_compat(ctx),
        .capacity = conf.cf_capacity,
        .bucket_size = conf.cf_bucket_size,
        .max_iterations = conf.cf_max_iterations,
        .expansion = conf.cf_expansion,
    };
}

static const char *create(rm_ctx *ctx, cf_options *o, cf *out)
{
    *out = (cf){0};
    uint64_t limit = memory_limit(ctx);
    if (o->compat) {
        server_allowance_begin(ctx, 0);
        int rc = sn_cf_new((uint64_t)o->capacity, (uint32_t)o->bucket_size,
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
    if (!secret_choose(is_replayed(ctx), o->saw_seed, &o->secret))
        return SAY_NO_RANDOM;
    out->fast =
        cuckoo_new(buckets, (uint32_t)o->bucket_size, (uint32_t)o->max_iterations,
                   (uint32_t)o->expansion, o->secret);
    return out->fast ? NULL : SAY_CF_NO_MEMORY;
}

static void replicate_new(rm_ctx *ctx, rm_str *key, const cf_options *o)
{
    char word[SECRET_WORD];
    secret_to_word(o->secret, word);
    if (o->compat) /* in words that RedisBloom knows */
        RM_Replicate(ctx, "CF.RESERVE", "slclclcl", key, o->capacity, "BUCKETSIZE",
                     o->bucket_size, "MAXITERATIONS", o->max_iterations, "EXPANSION",
                     o->expansion);
    else
        RM_Replicate(ctx, "CF.RESERVE", "slclclclcccb", key, o->capacity, "BUCKETSIZE",
                     o->bucket_size, "MAXITERATIONS", o->max_iterations, "EXPANSION",
                     o->expansion, "LAYOUT", "fast", "SEED", word, sizeof word);
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
    cf_options o = defaults(ctx);
    bool chosen = false;
    long long n;
    if (RM_StringToLongLong(argv[2], &o.capacity) != RM_OK)
        return RM_ReplyWithError(ctx, SAY_CF_CAPACITY);
    for (int i = 3; i < argc; i += 2) {
        const char *bad = NULL;
        bool number = i + 1 < argc && RM_StringToLongLong(argv[i + 1], &n) == RM_OK;
        if (arg_is(argv[i], "BUCKETSIZE")) {
            chosen = true;
            bad = !number ? SAY_CF_PARSE "BUCKETSIZE"
                          : get_number(argv[i + 1], SAY_CF_BUCKETSIZE, 1, 255,
                                       &o.bucket_size);
        } else if (arg_is(argv[i], "MAXITERATIONS")) {
            bad = !number ? SAY_CF_PARSE "MAXITERATIONS"
                          : get_number(argv[i + 1], SAY_CF_ITERATIONS, 1, 65535,
                                       &o.max_iterations);
        } else if (arg_is(argv[i], "EXPANSION")) {
            bad = !number ? SAY_CF_PARSE "EXPANSION"
                          : get_number(argv[i + 1], SAY_CF_EXPANSION, 0, MAX_EXPANSION,
                                       &o.expansion);
        } else if (arg_is(argv[i], "LAYOUT") && i + 1 < argc) {
            o.compat = arg_is(argv[i + 1], "compat");
            bad = o.compat || arg_is(argv[i + 1], "fast") ? NULL : SAY_BAD_LAYOUT;
        } else if (arg_is(argv[i], "SEED") && i + 1 < argc) {
            o.saw_seed = true;
            bad = secret_from_word(argv[i + 1], &o.secret) ? NULL : SAY_BAD_SEED;
        } else {
            bad = SAY_UNKNOWN;
        }
        if (bad)
            return RM_ReplyWithError(ctx, bad);
    }
    if (o.capacity < 2 * o.bucket_size || o.capacity > MAX_CAPACITY)
        return RM_ReplyWithError(ctx, SAY_CF_RANGE);
    settle_buckets(&o, chosen);
    value_key k = cf_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (k.state != KEY_MISSING)
        return value_refuse(ctx, &k, k.state == KEY_WRONG ? SAY_WRONGTYPE : SAY_EXISTS);
    cf made;
    const char *bad = create(ctx, &o, &made);
    if (bad)
        return value_refuse(ctx, &k, bad);
    cf_put(&k, made);
    value_close(&k);
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
    server_allowance_begin(ctx, cf_get_facts(v).size);
    int rc = unique ? sn_cf_addnx(v.compat, key.data, key.len, max_filters)
                    : sn_cf_add(v.compat, key.data, key.len, max_filters);
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

static int add_items(rm_ctx *ctx, rm_str *name, cf_options *o, rm_str **argv, size_t n,
                     bool unique, bool one)
{
    value_key k = cf_open(ctx, name, RM_READ | RM_WRITE);
    if (k.state == KEY_WRONG)
        return value_refuse(ctx, &k, SAY_WRONGTYPE);
    if (k.state == KEY_MISSING) {
        cf made;
        if (o->no_create)
            return value_refuse(ctx, &k, SAY_NOT_FOUND);
        const char *bad = create(ctx, o, &made);
        if (bad)
            return value_refuse(ctx, &k, bad);
        cf_put(&k, made);
        replicate_new(ctx, name, o);
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "cuckoo.reserve", name);
    }
    cf v = cf_of(&k);
    uint32_t max = is_replayed(ctx) ? UINT16_MAX + 1 : (uint32_t)conf.cf_max_expansions;
    /* RedisBloom looks before the item does: what has grown as often as allowed takes
     * nothing more, though slots be free. */
    if (v.compat && cf_get_facts(v).filters >= max)
        return value_refuse(ctx, &k, SAY_CF_EXPANDED);
    rm_str **taken = RM_Alloc(n * sizeof *taken);
    size_t ntaken = 0;
    if (!one)
        RM_ReplyWithArray(ctx, (long)n);
    for (size_t i = 0; i < n; i++) {
        int rc = add_one(ctx, v, arg_key(argv[i]), unique, max);
        if (rc == CUCKOO_ADDED)
            taken[ntaken++] = argv[i];
        reply_added(ctx, rc, one, unique);
    }
    value_recount(k.value);
    value_close(&k);
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
    cf_options o = defaults(ctx);
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
    cf_options o = defaults(ctx);
    for (int i = 2; i < argc && !o.items;) {
        if (arg_is(argv[i], "NOCREATE")) {
            o.no_create = true;
            i++;
        } else if (arg_is(argv[i], "ITEMS")) {
            o.items = i + 1;
        } else if (arg_is(argv[i], "CAPACITY")) {
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
    value_key k = cf_open(ctx, argv[1], RM_READ);
    cf v = cf_of(&k);
    if (!one)
        RM_ReplyWithArray(ctx, (long)n);
    for (size_t at = 0; at < n; at += ROUND) {
        size_t m = n - at < ROUND ? n - at : ROUND;
        seen_key keys[ROUND];
        bool found[ROUND] = {false};
        for (size_t i = 0; i < m; i++)
            keys[i] = arg_key(argv[2 + at + i]);
        if (v.fast)
            cuckoo_has_many(v.fast, keys, m, found);
        for (size_t i = 0; i < m; i++) {
            if (v.compat)
                found[i] = sn_cf_has(v.compat, keys[i].data, keys[i].len);
            RM_ReplyWithBool(ctx, found[i]);
        }
    }
    value_close(&k);
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
    value_key k = cf_open(ctx, argv[1], RM_READ);
    cf v = cf_of(&k);
    seen_key key = arg_key(argv[2]);
    uint64_t n = v.fast     ? cuckoo_count(v.fast, key)
                 : v.compat ? sn_cf_count(v.compat, key.data, key.len)
                            : 0;
    value_close(&k);
    return RM_ReplyWithLongLong(ctx, (long long)n);
}

int cf_del(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 3)
        return RM_WrongArity(ctx);
    value_key k = cf_open(ctx, argv[1], RM_READ | RM_WRITE);
    cf v = cf_of(&k);
    if (k.state != KEY_FOUND)
        return value_refuse(ctx, &k, SAY_CF_ABSENT);
    seen_key key = arg_key(argv[2]);
    bool gone = v.fast ? cuckoo_remove(v.fast, key)
                       : sn_cf_del(v.compat, key.data, key.len) == 1;
    value_recount(k.value);
    value_close(&k);
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
    value_key k = cf_open(ctx, argv[1], RM_READ | RM_WRITE);
    cf v = cf_of(&k);
    if (k.state != KEY_FOUND)
        return value_refuse(ctx, &k, SAY_CF_NONE);
    bool changed = true;
    if (v.fast)
        changed = cuckoo_compact(v.fast);
    else
        sn_cf_compact(v.compat);
    value_recount(k.value);
    value_close(&k);
    if (changed)
        RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* ---- describing -------------------------------------------------------------- */

/* The facts of the filter that COMMAND key names; false, with the error sent, if there
 * is none. */
static bool facts_of(rm_ctx *ctx, rm_str **argv, int argc, cf_facts *f)
{
    if (argc != 2) {
        RM_WrongArity(ctx);
        return false;
    }
    value_key k = cf_open(ctx, argv[1], RM_READ);
    if (k.state != KEY_FOUND) {
        value_refuse(ctx, &k, value_state_error(&k));
        return false;
    }
    *f = cf_get_facts(cf_of(&k));
    value_close(&k);
    return true;
}

int cf_info(rm_ctx *ctx, rm_str **argv, int argc)
{
    cf_facts f;
    if (!facts_of(ctx, argv, argc, &f))
        return RM_OK;
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
    cf_facts f;
    if (!facts_of(ctx, argv, argc, &f))
        return RM_OK;
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
    value_key k = cf_open(ctx, argv[1], RM_READ);
    cf v = cf_of(&k);
    if (k.state != KEY_FOUND)
        return value_refuse(ctx, &k, value_state_error(&k));
    if (RM_StringToLongLong(argv[2], &iter) != RM_OK || iter < 0)
        return value_refuse(ctx, &k, SAY_CF_POSITION);
    uint64_t at = iter == 0 && !cf_get_facts(v).items ? UINT64_MAX : (uint64_t)iter;
    value_bytes_reply(ctx, value_to_bytes(k.value), at, true);
    value_close(&k);
    return RM_OK;
}

int cf_loadchunk(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long iter;
    if (argc != 4)
        return RM_WrongArity(ctx);
    value_key k = cf_open(ctx, argv[1], RM_READ | RM_WRITE);
    cf v = cf_of(&k);
    if (k.state == KEY_WRONG)
        return value_refuse(ctx, &k, SAY_WRONGTYPE);
    if (RM_StringToLongLong(argv[2], &iter) != RM_OK || iter < 1)
        return value_refuse(ctx, &k, SAY_CF_POSITION);
    seen_key d = arg_key(argv[3]);
    if (k.state == KEY_MISSING && iter != 1)
        return value_refuse(ctx, &k, SAY_NOT_FOUND);
    if (k.state == KEY_MISSING) {
        cf made = {0};
        uint64_t limit = memory_limit(ctx);
        int rc =
            cuckoo_is_header(d.data, d.len)
                ? cuckoo_load(d.data, d.len, limit, &made.fast)
                : sn_cf_load(d.data, d.len, limit, &server_allocator, &made.compat);
        if (rc != SEEN_OK)
            return value_refuse(ctx, &k,
                                d.len != SN_CF_HEADER &&
                                        !cuckoo_is_header(d.data, d.len)
                                    ? SAY_CF_HEADER
                                    : SAY_CF_CREATE);
        cf_put(&k, made);
    } else {
        value_bytes b = value_to_bytes(k.value);
        int rc = value_bytes_put(&b, (uint64_t)iter, d.data, d.len);
        value_bytes_free(b);
        if (rc != SEEN_OK)
            return value_refuse(ctx, &k, SAY_CF_CHUNK);
        if (v.fast)
            cuckoo_loaded(v.fast, (uint64_t)iter - 1);
    }
    value_close(&k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}
