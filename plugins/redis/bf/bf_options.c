/* bf_options.c - parses the options of a filter, creates it, and spells the options out
 * for replicas. */
#include "bf/bf_options.h"
#include "server/arguments.h"
#include "bf/bf_pieces.h"
#include "server/server_memory.h"
#include "server/settings.h"
#include "server/error_texts.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static uint64_t limit_of(void *ctx)
{
    return memory_limit(ctx);
}

bloom_limit limit_for(rm_ctx *ctx)
{
    return (bloom_limit){limit_of, ctx};
}

bf_options bf_defaults(rm_ctx *ctx)
{
    bf_options o = {
        .compat = default_is_compat(ctx),
        .spec = {.error = conf.error < MAX_ERROR ? conf.error : MAX_ERROR,
                 .capacity = (uint64_t)conf.capacity,
                 .expansion = (uint32_t)conf.expansion,
                 .fixed = conf.expansion == 0,
                 .tightening = conf.tightening != 0.5 ? conf.tightening : 0,
                 .automatic = conf.tightening == 0.5 && conf.expansion == 2},
    };
    return o;
}

/* ---- single values ----------------------------------------------------------- */

static const char *get_error(const rm_str *s, bf_options *o, const char *bad,
                             const char *range)
{
    double e;
    if (RM_StringToDouble(s, &e) != RM_OK)
        return bad;
    if (!(e > 0 && e < 1))
        return range;
    o->spec.error = e < MAX_ERROR ? e : MAX_ERROR;
    return NULL;
}

static const char *get_capacity(const rm_str *s, bf_options *o, const char *bad,
                                const char *range)
{
    long long n;
    if (RM_StringToLongLong(s, &n) != RM_OK)
        return bad;
    if (n < 1 || n > MAX_CAPACITY)
        return range;
    o->spec.capacity = (uint64_t)n;
    o->saw_capacity = true;
    return NULL;
}

static const char *get_expansion(const rm_str *s, bf_options *o, const char *bad,
                                 const char *range)
{
    long long n;
    if (RM_StringToLongLong(s, &n) != RM_OK)
        return bad;
    if (n < 0 || n > MAX_EXPANSION)
        return range;
    o->spec.expansion = (uint32_t)n;
    o->spec.fixed |= n == 0;
    o->saw_expansion = n > 0;
    return NULL;
}

static const char *get_tightening(const rm_str *s, bf_options *o)
{
    double r;
    if (RM_StringToDouble(s, &r) != RM_OK)
        return SAY_BAD_TIGHTENING;
    if (!(r > 0 && r < 1))
        return SAY_TIGHTENING_RANGE;
    o->spec.tightening = r;
    o->saw_tightening = true;
    return NULL;
}

static const char *get_window(const rm_str *s, bf_options *o)
{
    long long n;
    if (RM_StringToLongLong(s, &n) != RM_OK || n < 1 || n > 315360000)
        return SAY_BAD_WINDOW;
    o->spec.window = (uint64_t)n * 1000;
    return NULL;
}

static const char *get_layout(const rm_str *s, bf_options *o)
{
    o->saw_layout = true;
    o->compat = arg_is(s, "compat");
    return o->compat || arg_is(s, "fast") ? NULL : SAY_BAD_LAYOUT;
}

/* Options of both commands. *USED is the number of words read; 0: not one of these. */
static const char *get_common(rm_str **argv, int left, bf_options *o, int *used)
{
    *used = 2;
    bool more = left > 1;
    if (arg_is(argv[0], "TIGHTENING"))
        return more ? get_tightening(argv[1], o) : SAY_BAD_TIGHTENING;
    if (arg_is(argv[0], "SEED")) {
        o->saw_seed = true;
        return more && secret_from_word(argv[1], &o->spec.secret) ? NULL : SAY_BAD_SEED;
    }
    if (arg_is(argv[0], "WINDOW"))
        return more ? get_window(argv[1], o) : SAY_BAD_WINDOW;
    if (arg_is(argv[0], "LAYOUT"))
        return more ? get_layout(argv[1], o) : SAY_BAD_LAYOUT;
    if (arg_is(argv[0], "BORN")) {
        long long n;
        if (!more || RM_StringToLongLong(argv[1], &n) != RM_OK || n < 1 ||
            n > (1LL << 50))
            return SAY_BAD_WINDOW;
        o->born = n;
        return NULL;
    }
    if (arg_is(argv[0], "PIECES")) {
        long long n;
        if (!more || RM_StringToLongLong(argv[1], &n) != RM_OK || n < 2 ||
            n > MAX_PIECES)
            return SAY_BAD_PIECES;
        o->pieces = (uint32_t)n;
        return NULL;
    }
    if (arg_is(argv[0], "GROWTH")) {
        o->growth = !more                      ? 0
                    : arg_is(argv[1], "auto")  ? GROWTH_AUTO
                    : arg_is(argv[1], "known") ? GROWTH_KNOWN
                                               : 0;
        return o->growth ? NULL : SAY_BAD_EXPANSION;
    }
    if (arg_is(argv[0], "ID")) {
        long long n;
        if (!more || RM_StringToLongLong(argv[1], &n) != RM_OK || n < 1)
            return SAY_BAD_PIECES;
        o->id = (uint64_t)n;
        return NULL;
    }
    *used = 0;
    return NULL;
}

/* Decides what options leave open and refuses those that contradict each other. */
static const char *check_together(bf_options *o)
{
    if (o->spec.window && o->compat) {
        if (o->saw_layout)
            return SAY_WINDOW_FAST;
        o->compat = false;
    }
    if (o->pieces && (o->spec.window || (o->compat && o->saw_layout)))
        return SAY_PIECE_FAST;
    o->compat = o->compat && !o->pieces;
    /* RedisBloom stores 2 as the growth of a filter that never grows. */
    if (o->compat && o->spec.fixed && o->spec.expansion)
        o->spec.expansion = 2;
    /* A layout that is named brings its own rule, whatever the settings say. */
    if (!o->saw_tightening && o->saw_layout)
        o->spec.tightening = 0;
    /* What was chosen is obeyed; replicas receive what the master decided. */
    if (o->growth) {
        o->spec.automatic = true;
        o->spec.known = o->growth == GROWTH_KNOWN;
    } else {
        /* Generations of a window start small again and again: they must not overshoot.
         */
        o->spec.automatic &= !o->saw_expansion && !o->saw_tightening &&
                             !o->spec.fixed && !o->compat && !o->spec.window;
        o->spec.known = o->spec.automatic && o->saw_capacity;
    }
    return NULL;
}

/* ---- commands ---------------------------------------------------------------- */

const char *bf_parse_reserve(rm_ctx *ctx, rm_str **argv, int argc, bf_options *o)
{
    *o = bf_defaults(ctx);
    o->spec.expansion = (uint32_t)(conf.expansion ? conf.expansion : 2);
    o->spec.fixed = conf.expansion == 0;
    const char *bad = get_error(argv[2], o, SAY_BAD_ERROR, SAY_ERROR_RANGE);
    if (!bad)
        bad = get_capacity(argv[3], o, SAY_BAD_CAPACITY, SAY_CAPACITY_RANGE);
    for (int i = 4; i < argc && !bad;) {
        int used;
        if (arg_is(argv[i], "NONSCALING")) {
            o->spec.fixed = true;
            i++;
        } else if (arg_is(argv[i], "EXPANSION")) {
            if (i + 1 == argc)
                return SAY_NO_EXPANSION;
            bad = get_expansion(argv[i + 1], o, SAY_BAD_EXPANSION, SAY_EXPANSION_RANGE);
            i += 2;
        } else {
            bad = get_common(argv + i, argc - i, o, &used);
            if (!bad && !used)
                bad = SAY_UNKNOWN;
            i += used;
        }
    }
    if (!bad && o->spec.fixed && o->saw_expansion)
        bad = SAY_FIXED_EXPANDS;
    return bad ? bad : check_together(o);
}

/* RedisBloom tells its keywords apart by the first letters; scripts may rely on it. */
static bool starts(const rm_str *s, const char *letters)
{
    size_t len;
    const char *p = RM_StringPtrLen(s, &len);
    return len >= strlen(letters) && !strncasecmp(p, letters, strlen(letters));
}

const char *bf_parse_insert(rm_ctx *ctx, rm_str **argv, int argc, bf_options *o)
{
    *o = bf_defaults(ctx);
    bool fixed = o->spec.fixed;
    const char *bad = NULL;
    o->spec.fixed = false;
    for (int i = 2; i < argc && !bad && !o->items;) {
        int used;
        bool more = i + 1 < argc;
        bad = get_common(argv + i, argc - i, o, &used);
        if (bad || used) {
            i += used;
            continue;
        }
        used = 2;
        if (arg_is(argv[i], "VALIDATESCALETO")) {
            long long n;
            if (!more || RM_StringToLongLong(argv[i + 1], &n) != RM_OK || n < 1)
                return SAY_BAD_SCALE_TO;
            o->scale_to = (uint64_t)n;
        } else if (starts(argv[i], "I")) {
            o->items = i + 1;
        } else if (starts(argv[i], "NOC")) {
            o->no_create = true;
            used = 1;
        } else if (starts(argv[i], "NON")) {
            o->spec.fixed = true;
            used = 1;
        } else if (starts(argv[i], "ER")) {
            bad = more ? get_error(argv[i + 1], o, SAY_INSERT_ERROR, SAY_INSERT_ERROR)
                       : SAY_INSERT_ERROR;
        } else if (starts(argv[i], "EX")) {
            bad = more ? get_expansion(argv[i + 1], o, SAY_INSERT_EXPANSION,
                                       SAY_INSERT_EXPANSION)
                       : SAY_INSERT_EXPANSION;
        } else if (starts(argv[i], "C")) {
            bad = more ? get_capacity(argv[i + 1], o, SAY_INSERT_CAPACITY,
                                      SAY_INSERT_CAPACITY)
                       : SAY_INSERT_CAPACITY;
        } else {
            bad = SAY_UNKNOWN;
        }
        i += used;
    }
    if (bad)
        return bad;
    if (fixed && !o->saw_expansion)
        o->spec.fixed = true;
    if (o->scale_to && o->spec.fixed)
        return SAY_SCALE_FIXED;
    return check_together(o);
}

/* ---- making ------------------------------------------------------------------ */

/* Whether the filter could grow to hold scale_to keys within LIMIT bytes. */
static const char *check_scale(const bf_options *o, uint64_t limit)
{
    uint64_t keys = 0, bytes = 0;
    bloom_layer l;
    if (!bloom_shape_first(&o->spec, &l))
        return SAY_SCALE_MEMORY;
    for (uint32_t i = 1;; i++) {
        keys += l.capacity;
        bytes += l.bytes;
        if (bytes > limit)
            return SAY_SCALE_MEMORY;
        if (keys >= o->scale_to)
            return NULL;
        if (!bloom_shape_after(&o->spec, i, l.capacity, &l))
            return l.error > 0 ? SAY_SCALE_MEMORY : SAY_SCALE_ERROR;
    }
}

/* In a cluster, a filter too large to be moved as one key is made of pieces. Only the
 * master decides; it tells replicas and the append-only file. */
static void choose_pieces(rm_ctx *ctx, bf_options *o)
{
    bloom_layer l;
    int flags = RM_GetContextFlags(ctx);
    if (!o->pieces && !o->compat && !o->spec.window && (flags & RM_FLAG_CLUSTER) &&
        !is_replayed(ctx) && bloom_shape_first(&o->spec, &l) &&
        l.bytes > (uint64_t)448 << 20)
        o->pieces = (uint32_t)(l.bytes / ((uint64_t)128 << 20)) + 1;
}

const char *bf_create(rm_ctx *ctx, rm_str *name, bf_options *o, bf *out)
{
    *out = (bf){0};
    choose_pieces(ctx, o);
    if (!o->compat && !secret_choose(is_replayed(ctx), o->saw_seed, &o->spec.secret))
        return SAY_NO_RANDOM;
    if (!o->born)
        o->born = now_ms();
    bloom_limit lim = limit_for(ctx);
    if (o->scale_to) {
        const char *bad = check_scale(o, lim.max_bytes(lim.ctx));
        if (bad)
            return bad;
    }
    if (o->pieces && !o->id) {
        if (seen_random_bytes(&o->id, sizeof o->id) < 0)
            return SAY_NO_RANDOM;
        o->id = o->id >> 1 | 1;
    }
    if (o->pieces)
        return pieces_make(ctx, name, o, &out->pieces);
    if (!o->compat) {
        int rc = bloom_new(&o->spec, o->born, &lim, &out->fast);
        return rc == BLOOM_OK       ? NULL
               : rc == BLOOM_TOOBIG ? SAY_OVER_LIMIT
                                    : SAY_NO_MEMORY;
    }
    /* 1.44 log2(1/error) bits a key, and half the error for the first link. */
    server_allowance_begin(ctx, 0);
    int rc = sn_bf_new(o->spec.error, o->spec.capacity, o->spec.expansion,
                       o->spec.fixed, &server_allocator, &out->compat);
    if (server_allowance_end())
        return SAY_OVER_LIMIT;
    return rc == SEEN_OK ? NULL : SAY_NO_MEMORY;
}

/* ---- back to words ----------------------------------------------------------- */

static rm_str *text(const char *s)
{
    return RM_CreateString(NULL, s, strlen(s));
}

static rm_str *number(long long n)
{
    char buf[32];
    snprintf(buf, sizeof buf, "%lld", n);
    return text(buf);
}

static rm_str *fraction(double d)
{
    char buf[32];
    snprintf(buf, sizeof buf, "%.17g", d);
    return text(buf);
}

/* RedisBloom knows BF.RESERVE with its own options, and no word of ours. */
static void replicate_compat(rm_ctx *ctx, rm_str *key, const bf_options *o,
                             rm_str **items, size_t n)
{
    rm_str *error = fraction(o->spec.error);
    long long capacity = (long long)o->spec.capacity, expansion = o->spec.expansion;
    if (o->spec.fixed && expansion)
        RM_Replicate(ctx, "BF.RESERVE", "sslc", key, error, capacity, "NONSCALING");
    else
        RM_Replicate(ctx, "BF.RESERVE", "sslcl", key, error, capacity, "EXPANSION",
                     expansion);
    if (n)
        RM_Replicate(ctx, "BF.MADD", "sv", key, items, n);
    RM_FreeString(NULL, error);
}

void bf_replicate_new(rm_ctx *ctx, rm_str *key, const bf_options *o, rm_str **items,
                      size_t n)
{
    if (o->compat) {
        replicate_compat(ctx, key, o, items, n);
        return;
    }
    rm_str *v[32];
    size_t m = 0;
    v[m++] = text("CAPACITY");
    v[m++] = number((long long)o->spec.capacity);
    v[m++] = text("ERROR");
    v[m++] = fraction(o->spec.error);
    if (o->spec.fixed) {
        v[m++] = text("NONSCALING");
    } else {
        v[m++] = text("EXPANSION");
        v[m++] = number(o->spec.expansion);
    }
    if (o->spec.automatic) {
        v[m++] = text("GROWTH");
        v[m++] = text(o->spec.known ? "known" : "auto");
    }
    v[m++] = text("LAYOUT");
    v[m++] = text("fast");
    char word[SECRET_WORD];
    secret_to_word(o->spec.secret, word);
    v[m++] = text("SEED");
    v[m++] = RM_CreateString(NULL, word, sizeof word);
    if (o->spec.tightening > 0) {
        v[m++] = text("TIGHTENING");
        v[m++] = fraction(o->spec.tightening);
    }
    if (o->pieces) {
        v[m++] = text("PIECES");
        v[m++] = number(o->pieces);
        v[m++] = text("ID");
        v[m++] = number((long long)o->id);
    }
    if (o->spec.window) {
        v[m++] = text("WINDOW");
        v[m++] = number((long long)(o->spec.window / 1000));
        v[m++] = text("BORN");
        v[m++] = number(o->born);
    }
    if (n)
        v[m++] = text("ITEMS");
    RM_Replicate(ctx, "BF.INSERT", "svv", key, v, m, items, n);
    while (m-- > 0)
        RM_FreeString(NULL, v[m]);
}
