/* cms_commands.c - CMS.*: count-min sketches, as RedisBloom answers. */
#include "server/acl_categories.h"
#include "server/arguments.h"
#include "server/module_commands.h"
#include "server/error_texts.h"
#include "server/server_memory.h"
#include "sketches/sketch_types.h"
#include "seen.h"
#include <math.h>

/* Opens a sketch; false, with the error sent, if there is none. */
static bool open_sketch(rm_ctx *ctx, rm_str *name, int mode, value_key *k)
{
    *k = value_open(ctx, name, mode, &cms_family);
    if (k->state == KEY_FOUND)
        return true;
    value_refuse(ctx, k, k->state == KEY_WRONG ? SAY_WRONGTYPE : SAY_CMS_MISSING);
    return false;
}

/* ---- making ------------------------------------------------------------------ */

static int create(rm_ctx *ctx, value_key *k, uint64_t width, uint64_t depth)
{
    seen_cms_spec spec = {.width = width,
                          .depth = depth,
                          .hash = SEEN_CMS_REDISBLOOM,
                          .alloc = server_allocator};
    seen_cms *c;
    uint64_t cells;
    if (__builtin_mul_overflow(width, depth, &cells) || cells > INT64_MAX)
        return value_refuse(ctx, k, SAY_CMS_INIT);
    server_allowance_begin(ctx, 0);
    int rc = seen_cms_new(&spec, &c);
    server_allowance_end();
    if (rc != SEEN_OK)
        return value_refuse(ctx, k, SAY_CMS_NO_MEMORY);
    value_put(k, &cms_type, c);
    value_close(k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

int cms_initbydim(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long width, depth;
    if (argc != 4)
        return RM_WrongArity(ctx);
    value_key k = value_open(ctx, argv[1], RM_READ | RM_WRITE, &cms_family);
    if (k.state != KEY_MISSING)
        return value_refuse(ctx, &k, SAY_CMS_EXISTS);
    if (RM_StringToLongLong(argv[2], &width) != RM_OK || width < 1)
        return value_refuse(ctx, &k, SAY_CMS_WIDTH);
    if (RM_StringToLongLong(argv[3], &depth) != RM_OK || depth < 1)
        return value_refuse(ctx, &k, SAY_CMS_DEPTH);
    return create(ctx, &k, (uint64_t)width, (uint64_t)depth);
}

static bool get_probability(const rm_str *s, double *out)
{
    return RM_StringToDouble(s, out) == RM_OK && *out > 0 && *out < 1;
}

int cms_initbyprob(rm_ctx *ctx, rm_str **argv, int argc)
{
    double error, prob;
    if (argc != 4)
        return RM_WrongArity(ctx);
    value_key k = value_open(ctx, argv[1], RM_READ | RM_WRITE, &cms_family);
    if (k.state != KEY_MISSING)
        return value_refuse(ctx, &k, SAY_CMS_EXISTS);
    if (!get_probability(argv[2], &error))
        return value_refuse(ctx, &k, SAY_CMS_ERROR);
    if (!get_probability(argv[3], &prob))
        return value_refuse(ctx, &k, SAY_CMS_PROB);
    /* The depth is computed in single precision there, so it is here. */
    double width = ceil(2 / error);
    double depth = ceilf(log10f((float)prob) / log10f(0.5f));
    if (!(width < 0x1p63) || !(depth < 0x1p63))
        return value_refuse(ctx, &k, SAY_CMS_INIT);
    return create(ctx, &k, (uint64_t)width, (uint64_t)depth);
}

/* ---- counting ---------------------------------------------------------------- */

int cms_incrby(rm_ctx *ctx, rm_str **argv, int argc)
{
    enum { FEW = 128 };
    value_key k;
    if (argc < 4 || argc % 2)
        return RM_WrongArity(ctx);
    if (!open_sketch(ctx, argv[1], RM_READ | RM_WRITE, &k))
        return RM_OK;
    size_t n = (size_t)argc / 2 - 1;
    long long few[FEW], *by = n <= FEW ? few : RM_Alloc(n * sizeof *by);
    const char *bad = NULL;
    for (size_t i = 0; i < n && !bad; i++) {
        if (RM_StringToLongLong(argv[3 + 2 * i], &by[i]) != RM_OK)
            bad = SAY_CMS_NUMBER;
        else if (by[i] < 0)
            bad = SAY_CMS_NEGATIVE;
    }
    if (bad) {
        value_refuse(ctx, &k, bad);
    } else {
        seen_cms *c = k.value->body;
        RM_ReplyWithArray(ctx, (long)n);
        for (size_t i = 0; i < n; i++) {
            seen_key key = arg_key(argv[2 + 2 * i]);
            uint32_t now = seen_cms_add(c, key.data, key.len, (uint64_t)by[i]);
            if (now == UINT32_MAX)
                RM_ReplyWithError(ctx, SAY_CMS_OVERFLOW);
            else
                RM_ReplyWithLongLong(ctx, now);
        }
        value_recount(k.value);
        value_close(&k);
        RM_ReplicateVerbatim(ctx);
    }
    if (by != few)
        RM_Free(by);
    return RM_OK;
}

int cms_query(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    if (argc < 3)
        return RM_WrongArity(ctx);
    if (!open_sketch(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    RM_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        seen_key key = arg_key(argv[i]);
        RM_ReplyWithLongLong(ctx, seen_cms_count(k.value->body, key.data, key.len));
    }
    value_close(&k);
    return RM_OK;
}

/* ---- merging ----------------------------------------------------------------- */

typedef struct sources {
    const seen_cms **sketches;
    int64_t *weights;
    size_t n;
} sources;

/* Whether the caller may read key NAME. The server does not know that the sources are
 * keys: RedisBloom names only the destination, and clients see that in COMMAND. */
static bool may_read(rm_ctx *ctx, rm_str *name)
{
    rm_user *u = acl_user(ctx);
    bool may = !u || RM_ACLCheckKeyPermissions(u, name, RM_SPEC_ACCESS) == RM_OK;
    if (u)
        RM_FreeModuleUser(u);
    return may;
}

/* Opens source I and reads its weight. The values stay valid until DEST changes. */
static const char *get_source(rm_ctx *ctx, sources *s, size_t i, rm_str *name,
                              rm_str *weight, const seen_cms *dest)
{
    long long w = 1;
    seen_cms_info a, b;
    if (weight && RM_StringToLongLong(weight, &w) != RM_OK)
        return SAY_CMS_WEIGHT;
    if (!may_read(ctx, name))
        return SAY_NOPERM;
    value_key k = value_open(ctx, name, RM_READ, &cms_family);
    value_close(&k);
    if (k.state != KEY_FOUND)
        return k.state == KEY_WRONG ? SAY_WRONGTYPE : SAY_CMS_MISSING;
    s->sketches[i] = k.value->body;
    s->weights[i] = w;
    seen_cms_get_info(dest, &a);
    seen_cms_get_info(s->sketches[i], &b);
    return a.width == b.width && a.depth == b.depth ? NULL : SAY_CMS_DIFFER;
}

/* Where the sources and weights stand: NULL, or what is wrong. */
static const char *count_sources(rm_str **argv, int argc, size_t *n, rm_str ***weights)
{
    long long keys;
    if (RM_StringToLongLong(argv[2], &keys) != RM_OK)
        return SAY_CMS_NUMKEYS;
    if (keys < 1)
        return SAY_CMS_NO_KEYS;
    int at = 3;
    while (at < argc && !arg_is(argv[at], "WEIGHTS"))
        at++;
    bool weighted = at < argc;
    if (!weighted && keys != argc - 3)
        return SAY_CMS_KEYS;
    if (weighted && (keys != at - 3 || keys != argc - at - 1))
        return SAY_CMS_KEYS_WEIGHTS;
    *n = (size_t)keys;
    *weights = weighted ? argv + at + 1 : NULL;
    return NULL;
}

int cms_merge(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    sources s = {0};
    rm_str **weights;
    if (argc < 4)
        return RM_WrongArity(ctx);
    if (!open_sketch(ctx, argv[1], RM_READ | RM_WRITE, &k))
        return RM_OK;
    const char *bad = count_sources(argv, argc, &s.n, &weights);
    if (bad)
        return value_refuse(ctx, &k, bad);
    s.sketches = RM_Alloc(s.n * sizeof *s.sketches);
    s.weights = RM_Alloc(s.n * sizeof *s.weights);
    for (size_t i = 0; i < s.n && !bad; i++)
        bad = get_source(ctx, &s, i, argv[3 + i], weights ? weights[i] : NULL,
                         k.value->body);
    if (!bad && seen_cms_merge(k.value->body, s.sketches, s.weights, s.n) != SEEN_OK)
        bad = SAY_CMS_MERGE_OVERFLOW;
    RM_Free(s.sketches);
    RM_Free(s.weights);
    if (bad)
        return value_refuse(ctx, &k, bad);
    value_recount(k.value);
    value_close(&k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

int cms_info(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    if (argc != 2)
        return RM_WrongArity(ctx);
    if (!open_sketch(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    seen_cms_info i;
    seen_cms_get_info(k.value->body, &i);
    value_close(&k);
    RM_ReplyWithMap(ctx, 3);
    RM_ReplyWithSimpleString(ctx, "width");
    RM_ReplyWithLongLong(ctx, (long long)i.width);
    RM_ReplyWithSimpleString(ctx, "depth");
    RM_ReplyWithLongLong(ctx, (long long)i.depth);
    RM_ReplyWithSimpleString(ctx, "count");
    RM_ReplyWithLongLong(ctx, (long long)i.total);
    return RM_OK;
}
