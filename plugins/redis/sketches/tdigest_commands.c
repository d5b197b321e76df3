/* tdigest_commands.c - TDIGEST.*: quantiles of streams of numbers, as RedisBloom
 * answers.
 *
 * Most questions merge the values that were added since the last one. That changes no
 * answer, so it is not told to replicas: these merge when they are asked. */
#include "server/arguments.h"
#include "server/module_commands.h"
#include "server/error_texts.h"
#include "server/server_memory.h"
#include "server/settings.h"
#include "sketches/sketch_types.h"
#include "seen.h"
#include <math.h>

enum { MOST_COMPRESSION = 357913939 };

/* Opens a digest; false, with the error sent, if there is none. */
static bool open_digest(rm_ctx *ctx, rm_str *name, int mode, value_key *k)
{
    *k = value_open(ctx, name, mode, &tdigest_family);
    if (k->state == KEY_FOUND)
        return true;
    value_refuse(ctx, k, k->state == KEY_WRONG ? SAY_WRONGTYPE : SAY_TD_MISSING);
    return false;
}

static int done(rm_ctx *ctx, value_key *k)
{
    value_recount(k->value);
    value_close(k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* ---- making ------------------------------------------------------------------ */

static const char *get_compression(const rm_str *s, long long *out)
{
    if (RM_StringToLongLong(s, out) != RM_OK)
        return SAY_TD_PARSE_COMPRESSION;
    return *out < 1 ? SAY_TD_COMPRESSION : NULL;
}

/* An empty digest; NULL if it would be too large once it is full. */
static seen_tdigest *new_digest(rm_ctx *ctx, long long compression)
{
    seen_tdigest *t = NULL;
    if (compression <= MOST_COMPRESSION &&
        ((uint64_t)compression * 6 + 10) * sizeof(seen_tdigest_node) <=
            memory_limit(ctx))
        seen_tdigest_new((uint64_t)compression, SEEN_TDIGEST_REDISBLOOM,
                         &server_allocator, &t);
    return t;
}

int tdigest_create(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long compression = 100;
    if (argc != 2 && argc != 4)
        return RM_WrongArity(ctx);
    value_key k = value_open(ctx, argv[1], RM_READ | RM_WRITE, &tdigest_family);
    if (k.state != KEY_MISSING)
        return value_refuse(ctx, &k,
                            k.state == KEY_WRONG ? SAY_WRONGTYPE : SAY_TD_EXISTS);
    if (argc == 4) {
        const char *bad = arg_is(argv[2], "COMPRESSION")
                              ? get_compression(argv[3], &compression)
                          : arg_is(argv[3], "COMPRESSION") ? SAY_TD_PARSE_COMPRESSION
                                                           : SAY_TD_KEYWORD;
        if (bad)
            return value_refuse(ctx, &k, bad);
    }
    seen_tdigest *t = new_digest(ctx, compression);
    if (!t)
        return value_refuse(ctx, &k, SAY_TD_NO_MEMORY);
    value_put(&k, &tdigest_type, t);
    return done(ctx, &k);
}

int tdigest_reset(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    if (argc != 2)
        return RM_WrongArity(ctx);
    if (!open_digest(ctx, argv[1], RM_READ | RM_WRITE, &k))
        return RM_OK;
    seen_tdigest_reset(k.value->body);
    return done(ctx, &k);
}

/* ---- numbers ----------------------------------------------------------------- */

/* The numbers of a command. Small commands need no allocation. */
typedef struct numbers {
    size_t n;
    double *v;
    double few[64];
} numbers;

static void numbers_room(numbers *x, size_t n)
{
    x->n = n;
    x->v = n <= sizeof x->few / sizeof *x->few ? x->few : RM_Alloc(n * sizeof *x->v);
}

static void numbers_free(numbers *x)
{
    if (x->v != x->few)
        RM_Free(x->v);
}

/* Reads ARGV[0 .. n-1]; UNREADABLE if one is not a number, OUTSIDE if one is not in
 * LOW .. HIGH. */
static const char *numbers_get(numbers *x, rm_str **argv, size_t n, double low,
                               double high, const char *unreadable, const char *outside)
{
    numbers_room(x, n);
    for (size_t i = 0; i < n; i++) {
        if (RM_StringToDouble(argv[i], &x->v[i]) != RM_OK)
            return unreadable;
        if (!(x->v[i] >= low && x->v[i] <= high))
            return outside;
    }
    return NULL;
}

int tdigest_add(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    numbers x;
    if (argc < 3)
        return RM_WrongArity(ctx);
    if (!open_digest(ctx, argv[1], RM_READ | RM_WRITE, &k))
        return RM_OK;
    size_t n = (size_t)argc - 2, taken = 0;
    const char *bad = numbers_get(&x, argv + 2, n, -__DBL_MAX__, __DBL_MAX__,
                                  SAY_TD_PARSE_VALUE, SAY_TD_FINITE);
    server_allowance_begin(ctx, 0);
    for (; !bad && taken < n; taken++) {
        int rc = seen_tdigest_add(k.value->body, x.v[taken], 1);
        if (rc != SEEN_OK)
            bad = rc == SEEN_ENOMEM ? SAY_TD_NO_MEMORY : SAY_TD_OVERFLOW;
    }
    server_allowance_end();
    numbers_free(&x);
    if (!bad)
        return done(ctx, &k);
    if (taken > 1) { /* what was taken before the last stays, there and on replicas */
        value_recount(k.value);
        RM_Replicate(ctx, "TDIGEST.ADD", "sv", argv[1], argv + 2, taken - 1);
    }
    return value_refuse(ctx, &k, bad);
}

/* ---- merging ----------------------------------------------------------------- */

typedef struct merge_options {
    size_t n; /* sources */
    long long compression;
    bool chosen, replace;
} merge_options;

/* What the command says, in *O. Returns NULL, an error, or "" for a wrong arity. */
static const char *merge_get_options(rm_str **argv, int argc, merge_options *o)
{
    long long keys;
    if (RM_StringToLongLong(argv[2], &keys) != RM_OK)
        return SAY_TD_PARSE_NUMKEYS;
    if (keys < 1)
        return SAY_TD_NUMKEYS;
    if (keys > argc - 3)
        return "";
    o->n = (size_t)keys;
    rm_str **compression = NULL;
    for (int i = 3 + (int)keys; i < argc; i++) {
        if (!compression && arg_is(argv[i], "COMPRESSION"))
            compression = argv + i;
        o->replace |= arg_is(argv[i], "OVERRIDE");
    }
    if (compression) {
        if (compression + 1 == argv + argc)
            return "";
        o->chosen = true;
        return get_compression(compression[1], &o->compression);
    }
    return o->replace || argc == 3 + keys ? NULL : SAY_TD_KEYWORD;
}

static const char *merge_one(seen_tdigest *to, seen_tdigest *from)
{
    int rc = seen_tdigest_merge(to, from);
    return rc == SEEN_OK       ? NULL
           : rc == SEEN_ENOMEM ? SAY_TD_MERGE_NO_MEMORY
                               : SAY_TD_OVERFLOW;
}

/* The sources into *OUT, a new digest; DEST is the old one, NULL if there is none. */
static const char *merge_into_new(rm_ctx *ctx, merge_options *o, seen_tdigest *dest,
                                  seen_tdigest **from, seen_tdigest **out)
{
    seen_tdigest_info i;
    if (!o->chosen) {
        o->compression = 0;
        for (size_t n = 0; n < o->n && (!dest || o->replace); n++) {
            seen_tdigest_get_info(from[n], &i);
            if ((long long)i.compression > o->compression)
                o->compression = (long long)i.compression;
        }
        if (dest && !o->replace) {
            seen_tdigest_get_info(dest, &i);
            o->compression = (long long)i.compression;
        }
    }
    *out = new_digest(ctx, o->compression);
    if (!*out)
        return SAY_TD_MERGE_NO_MEMORY;
    const char *bad = dest && !o->replace ? merge_one(*out, dest) : NULL;
    for (size_t n = 0; n < o->n && !bad; n++)
        bad = merge_one(*out, from[n]);
    if (bad) {
        seen_tdigest_free(*out);
        *out = NULL;
    }
    return bad;
}

int tdigest_merge(rm_ctx *ctx, rm_str **argv, int argc)
{
    merge_options o = {0};
    if (argc < 4)
        return RM_WrongArity(ctx);
    value_key k = value_open(ctx, argv[1], RM_READ | RM_WRITE, &tdigest_family);
    if (k.state == KEY_WRONG)
        return value_refuse(ctx, &k, SAY_WRONGTYPE);
    const char *bad = merge_get_options(argv, argc, &o);
    if (bad && !*bad) {
        value_close(&k);
        return RM_WrongArity(ctx);
    }
    if (bad)
        return value_refuse(ctx, &k, bad);
    seen_tdigest **from = RM_Alloc(o.n * sizeof *from), *made = NULL;
    for (size_t i = 0; i < o.n && !bad; i++) {
        value_key s = value_open(ctx, argv[3 + i], RM_READ, &tdigest_family);
        value_close(&s);
        if (s.state == KEY_FOUND)
            from[i] = s.value->body;
        else
            bad = s.state == KEY_WRONG ? SAY_WRONGTYPE : SAY_TD_MISSING;
    }
    if (!bad)
        bad = merge_into_new(ctx, &o, k.value ? k.value->body : NULL, from, &made);
    RM_Free(from);
    if (bad)
        return value_refuse(ctx, &k, bad);
    value_put(&k, &tdigest_type, made);
    return done(ctx, &k);
}

/* ---- asking ------------------------------------------------------------------ */

static int answered(value_key *k)
{
    value_close(k);
    return RM_OK;
}

static int ask_end(rm_ctx *ctx, rm_str **argv, int argc, bool max)
{
    value_key k;
    seen_tdigest_info i;
    if (argc != 2)
        return RM_WrongArity(ctx);
    if (!open_digest(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    seen_tdigest_get_info(k.value->body, &i);
    bool empty = !(i.merged_weight + i.unmerged_weight);
    RM_ReplyWithDouble(ctx, empty ? NAN : max ? i.max : i.min);
    return answered(&k);
}

int tdigest_min(rm_ctx *ctx, rm_str **argv, int argc)
{
    return ask_end(ctx, argv, argc, false);
}

int tdigest_max(rm_ctx *ctx, rm_str **argv, int argc)
{
    return ask_end(ctx, argv, argc, true);
}

int tdigest_quantile(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    numbers q, out;
    if (argc < 3)
        return RM_WrongArity(ctx);
    if (!open_digest(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    const char *bad = numbers_get(&q, argv + 2, (size_t)argc - 2, 0, 1,
                                  SAY_TD_PARSE_QUANTILE, SAY_TD_QUANTILE);
    if (!bad) {
        numbers_room(&out, q.n);
        seen_tdigest_quantiles(k.value->body, q.v, q.n, out.v);
        RM_ReplyWithArray(ctx, (long)q.n);
        for (size_t i = 0; i < q.n; i++)
            RM_ReplyWithDouble(ctx, out.v[i]);
        numbers_free(&out);
    }
    numbers_free(&q);
    return bad ? value_refuse(ctx, &k, bad) : answered(&k);
}

/* One answer for each value: a share, or a rank. */
static int ask_values(rm_ctx *ctx, rm_str **argv, int argc, const char *unreadable,
                      double (*share)(seen_tdigest *, double),
                      int64_t (*rank)(seen_tdigest *, double))
{
    value_key k;
    numbers x;
    if (argc < 3)
        return RM_WrongArity(ctx);
    if (!open_digest(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    const char *bad = numbers_get(&x, argv + 2, (size_t)argc - 2, -INFINITY, INFINITY,
                                  unreadable, unreadable);
    if (!bad) {
        RM_ReplyWithArray(ctx, (long)x.n);
        for (size_t i = 0; i < x.n; i++)
            if (share)
                RM_ReplyWithDouble(ctx, share(k.value->body, x.v[i]));
            else
                RM_ReplyWithLongLong(ctx, rank(k.value->body, x.v[i]));
    }
    numbers_free(&x);
    return bad ? value_refuse(ctx, &k, bad) : answered(&k);
}

int tdigest_cdf(rm_ctx *ctx, rm_str **argv, int argc)
{
    return ask_values(ctx, argv, argc, SAY_TD_PARSE_CDF, seen_tdigest_cdf, NULL);
}

int tdigest_rank(rm_ctx *ctx, rm_str **argv, int argc)
{
    return ask_values(ctx, argv, argc, SAY_TD_PARSE_RANKED, NULL, seen_tdigest_rank);
}

int tdigest_revrank(rm_ctx *ctx, rm_str **argv, int argc)
{
    return ask_values(ctx, argv, argc, SAY_TD_PARSE_RANKED, NULL, seen_tdigest_revrank);
}

static int ask_ranks(rm_ctx *ctx, rm_str **argv, int argc,
                     double (*by)(seen_tdigest *, int64_t))
{
    value_key k;
    long long rank;
    if (argc < 3)
        return RM_WrongArity(ctx);
    if (!open_digest(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    for (int i = 2; i < argc; i++) {
        if (RM_StringToLongLong(argv[i], &rank) != RM_OK)
            return value_refuse(ctx, &k, SAY_TD_PARSE_RANK);
        if (rank < 0)
            return value_refuse(ctx, &k, SAY_TD_RANK);
    }
    RM_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        RM_StringToLongLong(argv[i], &rank);
        RM_ReplyWithDouble(ctx, by(k.value->body, rank));
    }
    return answered(&k);
}

int tdigest_byrank(rm_ctx *ctx, rm_str **argv, int argc)
{
    return ask_ranks(ctx, argv, argc, seen_tdigest_by_rank);
}

int tdigest_byrevrank(rm_ctx *ctx, rm_str **argv, int argc)
{
    return ask_ranks(ctx, argv, argc, seen_tdigest_by_revrank);
}

int tdigest_trimmed_mean(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    double low, high;
    if (argc != 4)
        return RM_WrongArity(ctx);
    if (!open_digest(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    if (RM_StringToDouble(argv[2], &low) != RM_OK)
        return value_refuse(ctx, &k, SAY_TD_PARSE_LOW);
    if (RM_StringToDouble(argv[3], &high) != RM_OK)
        return value_refuse(ctx, &k, SAY_TD_PARSE_HIGH);
    if (low < 0 || low > 1 || high < 0 || high > 1)
        return value_refuse(ctx, &k, SAY_TD_CUTS);
    if (low >= high)
        return value_refuse(ctx, &k, SAY_TD_CUT_ORDER);
    RM_ReplyWithDouble(ctx, seen_tdigest_trimmed_mean(k.value->body, low, high));
    return answered(&k);
}

int tdigest_info(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    if (argc != 2)
        return RM_WrongArity(ctx);
    if (!open_digest(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    seen_tdigest_info t;
    seen_tdigest_get_info(k.value->body, &t);
    value_close(&k);
    const struct {
        const char *name;
        long long value;
    } rows[] = {
        {"Compression", (long long)t.compression},
        {"Capacity", (long long)t.capacity},
        {"Merged nodes", (long long)t.merged},
        {"Unmerged nodes", (long long)t.unmerged},
        {"Merged weight", t.merged_weight},
        {"Unmerged weight", t.unmerged_weight},
        {"Observations", t.merged_weight + t.unmerged_weight},
        {"Total compressions", t.compressions},
        {"Memory usage", (long long)(80 + 16 * t.capacity)}, /* RedisBloom's figure */
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    RM_ReplyWithMap(ctx, ROWS);
    for (int i = 0; i < ROWS; i++) {
        RM_ReplyWithSimpleString(ctx, rows[i].name);
        RM_ReplyWithLongLong(ctx, rows[i].value);
    }
    return RM_OK;
}
