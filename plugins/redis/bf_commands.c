/* bf_commands.c - BF.*: open the key, do it, answer, tell the replicas.
 *
 * Replicas get the effect: creations with every parameter spelled out, only items that
 * were taken, and nothing at all when nothing changed. */
#include "bf_commands.h"
#include "bf_options.h"
#include "bf_parts.h"
#include "server_memory.h"
#include "settings.h"
#include "words.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- items of a command ------------------------------------------------------ */

/* Items and their answers; small commands need no allocation. */
enum { FEW = 128 };
typedef struct items {
    size_t n;
    seen_key *keys;
    bool *answer;
    seen_key few_keys[FEW];
    bool few_answers[FEW];
} items;

static void items_get(items *it, rm_str **argv, size_t n)
{
    it->n = n;
    it->keys = n <= FEW ? it->few_keys : RM_Alloc(n * sizeof *it->keys);
    it->answer = n <= FEW ? it->few_answers : RM_Alloc(n * sizeof *it->answer);
    for (size_t i = 0; i < n; i++)
        it->keys[i].data = RM_StringPtrLen(argv[i], &it->keys[i].len);
}

static void items_done(items *it)
{
    if (it->keys != it->few_keys) {
        RM_Free(it->keys);
        RM_Free(it->answer);
    }
}

/* ---- adding ------------------------------------------------------------------ */

static const char *why_not(int rc)
{
    return rc == BLOOM_FULL     ? SAY_FULL
           : rc == BLOOM_TOOBIG ? SAY_OVER_LIMIT
                                : SAY_PROBLEM;
}

/* Adds to a filter of RedisBloom's layout; as bloom_add_many. */
static size_t compat_add_many(rm_ctx *ctx, seen_bf *f, items *it, bool *changed,
                              const char **why)
{
    seen_bf_info info;
    seen_bf_get_info(f, &info);
    server_allowance_begin(ctx, info.bytes);
    int rc;
    size_t taken = seen_bf_add_many(f, it->keys, it->n, it->answer, &rc);
    for (size_t i = 0; i < taken; i++) {
        it->answer[i] = !it->answer[i];
        *changed |= it->answer[i];
    }
    if (server_allowance_end() && rc < 0)
        *why = SAY_OVER_LIMIT;
    else if (rc < 0)
        *why = rc == SEEN_EFULL ? SAY_FULL : SAY_PROBLEM;
    return taken;
}

/* A window's next generation begins on the master, at the master's clock. */
static const char *rotate_if_due(rm_ctx *ctx, rm_str *name, bloom *b, int64_t now)
{
    if (!bloom_due(b, now) ||
        (RM_GetContextFlags(ctx) & (RM_FLAG_FROM_MASTER | RM_FLAG_LOADING)))
        return NULL;
    if (bloom_rotate(b, now) != BLOOM_OK)
        return SAY_NO_MEMORY;
    RM_Replicate(ctx, "BF.ROTATE", "sl", name, (long long)now);
    return NULL;
}

/* The answers of the N items that were taken, and why there are no more, if WHY. */
static void reply_many(rm_ctx *ctx, const bool *answer, size_t n, const char *why)
{
    RM_ReplyWithArray(ctx, (long)(n + (why != NULL)));
    for (size_t i = 0; i < n; i++)
        RM_ReplyWithBool(ctx, answer[i]);
    if (why)
        RM_ReplyWithError(ctx, why);
}

/* Adds to a filter in pieces. The answers end before the first item that was not taken;
 * items behind it may be in all the same, and the replicas are told which. */
static int add_to_parts(rm_ctx *ctx, rm_str *name, bf_key *k, const bf_options *made,
                        rm_str **argv, size_t n, bool one)
{
    items it;
    items_get(&it, argv, n);
    bool *taken = RM_Alloc(n + 1), changed = false;
    const char *why =
        parts_add(ctx, k->value.parts, it.keys, n, it.answer, taken, &changed);
    size_t done = 0, all = 0;
    while (done < n && taken[done])
        done++;
    rm_str **in = RM_Alloc((n + 1) * sizeof *in);
    for (size_t i = 0; i < n; i++)
        if (taken[i])
            in[all++] = argv[i];
    if (one && done) {
        RM_ReplyWithBool(ctx, it.answer[0]);
    } else if (one || (why && !all)) {
        RM_ReplyWithError(ctx, why);
    } else {
        reply_many(ctx, it.answer, done, why);
    }
    if (made)
        bf_replicate_new(ctx, name, made, in, all);
    else if (changed)
        RM_Replicate(ctx, "BF.MADD", "sv", name, in, all);
    if (changed)
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "bloom.add", name);
    RM_Free(in);
    RM_Free(taken);
    items_done(&it);
    bf_close(k);
    return RM_OK;
}

/* Adds argv[0 .. n) to the filter NAME, made by O if missing. A reply for ONE item is
 * not an array. */
static int add_items(rm_ctx *ctx, rm_str *name, bf_options *o, rm_str **argv, size_t n,
                     bool one)
{
    bf_key k = bf_open(ctx, name, RM_READ | RM_WRITE);
    bool created = k.state == BF_MISSING;
    if (k.state == BF_WRONG)
        return bf_refuse(ctx, &k, SAY_WRONGTYPE);
    if (created) {
        bf made;
        if (o->no_create)
            return bf_refuse(ctx, &k, SAY_NOT_FOUND);
        const char *bad = bf_create(ctx, name, o, &made);
        if (bad)
            return bf_refuse(ctx, &k, bad);
        bf_set(&k, made);
    }
    if (k.value.parts)
        return add_to_parts(ctx, name, &k, created ? o : NULL, argv, n, one);
    bf_facts before = bf_get_facts(k.value), after;
    int64_t now = 0;
    if (k.value.fast && k.value.fast->spec.window) {
        now = now_ms();
        const char *bad = rotate_if_due(ctx, name, k.value.fast, now);
        if (bad)
            return bf_refuse(ctx, &k, bad);
    }
    items it;
    items_get(&it, argv, n);
    bool changed = false;
    const char *why = NULL;
    size_t done;
    if (k.value.fast) {
        bloom_limit lim = limit_for(ctx);
        int rc = BLOOM_OK;
        done = bloom_add_many(k.value.fast, it.keys, n, now, &lim, it.answer, &changed,
                              &rc);
        why = rc == BLOOM_OK ? NULL : why_not(rc);
    } else {
        done = compat_add_many(ctx, k.value.compat, &it, &changed, &why);
    }
    if (one) {
        if (done)
            RM_ReplyWithBool(ctx, it.answer[0]);
        else
            RM_ReplyWithError(ctx, why);
    } else {
        reply_many(ctx, it.answer, done, why);
    }
    items_done(&it);

    after = bf_get_facts(k.value);
    bf_account(&before, &after);
    if (created) {
        bf_replicate_new(ctx, name, o, argv, done);
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "bloom.reserve", name);
    } else if (changed && done == n) {
        RM_ReplicateVerbatim(ctx);
    } else if (changed) {
        RM_Replicate(ctx, "BF.MADD", "sv", name, argv, done);
    }
    if (changed)
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "bloom.add", name);
    bf_close(&k);
    return RM_OK;
}

int bf_add(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 3)
        return RM_WrongArity(ctx);
    bf_options o = bf_defaults();
    return add_items(ctx, argv[1], &o, argv + 2, 1, true);
}

int bf_madd(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc < 3)
        return RM_WrongArity(ctx);
    bf_options o = bf_defaults();
    return add_items(ctx, argv[1], &o, argv + 2, (size_t)argc - 2, false);
}

int bf_insert(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc < 3)
        return RM_WrongArity(ctx);
    bf_options o;
    const char *bad = bf_parse_insert(argv, argc, &o);
    if (bad)
        return RM_ReplyWithError(ctx, bad);
    if (o.items == argc)
        return RM_WrongArity(ctx);
    size_t n = o.items ? (size_t)(argc - o.items) : 0;
    return add_items(ctx, argv[1], &o, argv + argc - n, n, false);
}

int bf_reserve(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc < 4)
        return RM_WrongArity(ctx);
    bf_options o;
    const char *bad = bf_parse_reserve(argv, argc, &o);
    if (bad)
        return RM_ReplyWithError(ctx, bad);
    bf_key k = bf_open(ctx, argv[1], RM_READ | RM_WRITE);
    bf made;
    if (k.state == BF_WRONG)
        bad = SAY_WRONGTYPE;
    else if (k.state == BF_FOUND)
        bad = SAY_EXISTS;
    else
        bad = bf_create(ctx, argv[1], &o, &made);
    if (bad)
        return bf_refuse(ctx, &k, bad);
    bf_set(&k, made);
    bf_replicate_new(ctx, argv[1], &o, NULL, 0);
    RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "bloom.reserve", argv[1]);
    bf_close(&k);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* BF.ROTATE key ms: begins the next generation of a window. What a master tells its
 * replicas and its append-only file; harmless by hand. */
int bf_rotate(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long at;
    if (argc != 3)
        return RM_WrongArity(ctx);
    bf_key k = bf_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (k.state != BF_FOUND)
        return bf_refuse(ctx, &k, bf_state_error(&k));
    bloom *b = k.value.fast;
    if (!b || !b->spec.window || RM_StringToLongLong(argv[2], &at) != RM_OK ||
        at < b->layers[b->nlayers - 1].born || at > (1LL << 50))
        return bf_refuse(ctx, &k, SAY_BAD_WINDOW);
    bf_facts before = bf_get_facts(k.value);
    if (bloom_rotate(b, at) != BLOOM_OK)
        return bf_refuse(ctx, &k, SAY_NO_MEMORY);
    bf_facts after = bf_get_facts(k.value);
    bf_account(&before, &after);
    bf_close(&k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* ---- asking ------------------------------------------------------------------ */

static void ask(bf v, items *it)
{
    if (v.fast) {
        int64_t now = v.fast->spec.window ? now_ms() : 0;
        bloom_has_many(v.fast, it->keys, it->n, now, it->answer);
    } else if (v.compat) {
        seen_bf_has_many(v.compat, it->keys, it->n, it->answer);
    } else {
        memset(it->answer, 0, it->n);
    }
}

static int has_items(rm_ctx *ctx, rm_str *name, rm_str **argv, size_t n, bool one,
                     bool strict)
{
    bf_key k = bf_open(ctx, name, RM_READ);
    if (strict && k.state != BF_FOUND)
        return bf_refuse(ctx, &k, bf_state_error(&k));
    items it;
    items_get(&it, argv, n);
    const char *bad = NULL;
    if (k.value.parts)
        bad = parts_has(ctx, k.value.parts, it.keys, n, it.answer);
    else
        ask(k.value, &it);
    if (bad) {
        items_done(&it);
        return bf_refuse(ctx, &k, bad);
    }
    if (!one)
        RM_ReplyWithArray(ctx, (long)n);
    for (size_t i = 0; i < n; i++)
        RM_ReplyWithBool(ctx, it.answer[i]);
    items_done(&it);
    bf_close(&k);
    return RM_OK;
}

int bf_exists(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 3)
        return RM_WrongArity(ctx);
    return has_items(ctx, argv[1], argv + 2, 1, true, false);
}

int bf_mexists(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc < 3)
        return RM_WrongArity(ctx);
    return has_items(ctx, argv[1], argv + 2, (size_t)argc - 2, false, false);
}

/* BF.HAS key item [item ...]: BF.MEXISTS that tells a missing filter from a missing
 * item. */
int bf_has(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc < 3)
        return RM_WrongArity(ctx);
    return has_items(ctx, argv[1], argv + 2, (size_t)argc - 2, false, true);
}

int bf_card(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 2)
        return RM_WrongArity(ctx);
    bf_key k = bf_open(ctx, argv[1], RM_READ);
    if (k.state == BF_WRONG)
        return bf_refuse(ctx, &k, SAY_WRONGTYPE);
    bf_facts f = {0};
    const char *bad = NULL;
    if (k.value.parts)
        bad = parts_facts(ctx, k.value.parts, &f);
    else if (k.state == BF_FOUND)
        f = bf_get_facts(k.value);
    uint64_t n = f.items;
    if (bad)
        return bf_refuse(ctx, &k, bad);
    bf_close(&k);
    return RM_ReplyWithLongLong(ctx, (long long)n);
}

/* ---- telling ----------------------------------------------------------------- */

/* Keys the filter could hold before it exceeds the memory limit. */
static uint64_t max_scaled(rm_ctx *ctx, const bloom *b)
{
    uint64_t limit = memory_limit(ctx), keys = bloom_capacity(b),
             bytes = bloom_bytes(b);
    bloom_layer l = b->layers[b->nlayers - 1], next;
    bloom one = {.spec = b->spec, .nlayers = 1, .layers = &l};
    while (bloom_shape_next(&one, &next) && bytes + next.bytes <= limit &&
           keys < (uint64_t)1 << 62) {
        keys += next.capacity;
        bytes += next.bytes;
        l = next;
    }
    return keys;
}

static double tightening_of(bf v)
{
    if (v.compat || v.parts)
        return 0.5;
    if (v.fast->spec.tightening > 0)
        return v.fast->spec.tightening;
    double n = v.fast->nlayers;
    return n / (n + 1) * (n / (n + 1));
}

static bool is_word(const char *word, const rm_str *s)
{
    size_t len;
    const char *p = RM_StringPtrLen(s, &len);
    return len == strlen(word) && !strncasecmp(word, p, len);
}

static void reply_field(rm_ctx *ctx, const char *name, long long v)
{
    RM_ReplyWithSimpleString(ctx, name);
    if (v < 0)
        RM_ReplyWithNull(ctx);
    else
        RM_ReplyWithLongLong(ctx, v);
}

int bf_info_command(rm_ctx *ctx, rm_str **argv, int argc)
{
    static const char *const names[] = {"Capacity", "Size", "Number of filters",
                                        "Number of items inserted", "Expansion rate"};
    static const char *const words[] = {"CAPACITY", "SIZE", "FILTERS", "ITEMS",
                                        "EXPANSION"};
    if (argc < 2 || argc > 3)
        return RM_WrongArity(ctx);
    bf_key k = bf_open(ctx, argv[1], RM_READ);
    if (k.state != BF_FOUND)
        return bf_refuse(ctx, &k, bf_state_error(&k));
    bf_facts f = bf_get_facts(k.value);
    const char *bad = k.value.parts ? parts_facts(ctx, k.value.parts, &f) : NULL;
    if (bad)
        return bf_refuse(ctx, &k, bad);
    const long long values[] = {(long long)f.capacity, (long long)f.size,
                                (long long)f.layers, (long long)f.items,
                                f.fixed ? -1 : (long long)f.expansion};
    bf v = k.value;
    if (argc == 2) {
        RM_ReplyWithMap(ctx, 5);
        for (int i = 0; i < 5; i++)
            reply_field(ctx, names[i], values[i]);
        bf_close(&k);
        return RM_OK;
    }
    int found = -1;
    for (int i = 0; i < 5; i++)
        if (is_word(words[i], argv[2]))
            found = i;
    if (found >= 0) {
        /* RESP3: a map of one; RESP2: an array of the one value. */
        if (RM_GetContextFlags(ctx) & RM_FLAG_RESP3) {
            RM_ReplyWithMap(ctx, 1);
            reply_field(ctx, names[found], values[found]);
        } else {
            RM_ReplyWithArray(ctx, 1);
            if (values[found] < 0)
                RM_ReplyWithNull(ctx);
            else
                RM_ReplyWithLongLong(ctx, values[found]);
        }
    } else if (is_word("ERROR", argv[2])) {
        RM_ReplyWithDouble(ctx, f.error);
    } else if (is_word("TIGHTENING", argv[2])) {
        RM_ReplyWithDouble(ctx, tightening_of(v));
    } else if (is_word("MAXSCALEDCAPACITY", argv[2]) && v.fast && !f.fixed) {
        RM_ReplyWithLongLong(ctx, (long long)max_scaled(ctx, v.fast));
    } else {
        RM_ReplyWithError(ctx, SAY_BAD_INFO);
    }
    bf_close(&k);
    return RM_OK;
}

static void debug_line(rm_ctx *ctx, uint64_t bytes, uint64_t bits, uint32_t hashes,
                       int width, uint64_t capacity, uint64_t size, double ratio)
{
    char line[256];
    int n = snprintf(line, sizeof line,
                     "bytes:%llu bits:%llu hashes:%u hashwidth:%d capacity:%llu "
                     "size:%llu ratio:%g",
                     (unsigned long long)bytes, (unsigned long long)bits, hashes, width,
                     (unsigned long long)capacity, (unsigned long long)size, ratio);
    RM_ReplyWithStringBuffer(ctx, line, (size_t)n);
}

int bf_debug(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 2)
        return RM_WrongArity(ctx);
    bf_key k = bf_open(ctx, argv[1], RM_READ);
    if (k.state != BF_FOUND)
        return bf_refuse(ctx, &k, bf_state_error(&k));
    if (k.value.parts) {
        char line[64];
        int n = snprintf(line, sizeof line, "pieces:%u capacity:%llu", k.value.parts->n,
                         (unsigned long long)k.value.parts->capacity);
        RM_ReplyWithArray(ctx, 2);
        RM_ReplyWithStringBuffer(ctx, line, (size_t)n);
        RM_ReplyWithStringBuffer(ctx, k.value.parts->prefix,
                                 strlen(k.value.parts->prefix));
        bf_close(&k);
        return RM_OK;
    }
    bf_facts f = bf_get_facts(k.value);
    char line[32];
    int n = snprintf(line, sizeof line, "size:%llu", (unsigned long long)f.items);
    RM_ReplyWithArray(ctx, (long)(1 + f.layers));
    RM_ReplyWithStringBuffer(ctx, line, (size_t)n);
    for (uint32_t i = 0; i < f.layers; i++) {
        if (k.value.fast) {
            const bloom_layer *l = &k.value.fast->layers[i];
            debug_line(ctx, l->bytes, l->bits, l->probes, 64, l->capacity, l->count,
                       l->error);
        } else {
            seen_bf_link l;
            seen_bf_info info;
            seen_bf_get_info(k.value.compat, &info);
            seen_bf_get_link(k.value.compat, i, &l);
            debug_line(ctx, l.bytes, l.bits, l.hashes,
                       info.options & SEEN_BF_FORCE64 ? 64 : 32, l.entries, l.size,
                       l.error);
        }
    }
    bf_close(&k);
    return RM_OK;
}
