/* bf_commands.c - BF.*: open the key, do it, answer, tell the replicas.
 *
 * Replicas get the effect: creations with every parameter spelled out, only items that
 * were taken, and nothing at all when nothing changed. */
#include "bf_commands.h"
#include "bf_options.h"
#include "bf_parts.h"
#include "bloom_bytes.h"
#include "server_memory.h"
#include "settings.h"
#include "words.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- items of a command ------------------------------------------------------------ */

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

/* Closes K and answers with an error. */
static int refuse(rm_ctx *ctx, bf_key *k, const char *why)
{
    bf_close(k);
    return RM_ReplyWithError(ctx, why);
}

static const char *state_error(const bf_key *k)
{
    return k->state == BF_WRONG ? SAY_WRONGTYPE : SAY_NOT_FOUND;
}

/* ---- adding ---------------------------------------------------------------------------- */

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

/* Adds to a filter in pieces. The answers end before the first item that was not taken;
 * items behind it may be in all the same, and the replicas are told which. */
static int add_to_parts(rm_ctx *ctx, rm_str *name, bf_key *k, const bf_options *made,
                        rm_str **argv, size_t n, bool one)
{
    items it;
    items_get(&it, argv, n);
    bool *taken = RM_Alloc(n + 1), changed = false;
    const char *why = parts_add(ctx, k->value.parts, it.keys, n, it.answer, taken, &changed);
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
        RM_ReplyWithArray(ctx, (long)(done + (why != NULL)));
        for (size_t i = 0; i < done; i++)
            RM_ReplyWithBool(ctx, it.answer[i]);
        if (why)
            RM_ReplyWithError(ctx, why);
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
        return refuse(ctx, &k, SAY_WRONGTYPE);
    if (created) {
        bf made;
        if (o->no_create)
            return refuse(ctx, &k, SAY_NOT_FOUND);
        const char *bad = bf_create(ctx, name, o, &made);
        if (bad)
            return refuse(ctx, &k, bad);
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
            return refuse(ctx, &k, bad);
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
        RM_ReplyWithArray(ctx, (long)(done + (why != NULL)));
        for (size_t i = 0; i < done; i++)
            RM_ReplyWithBool(ctx, it.answer[i]);
        if (why)
            RM_ReplyWithError(ctx, why);
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
        return refuse(ctx, &k, bad);
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
        return refuse(ctx, &k, state_error(&k));
    bloom *b = k.value.fast;
    if (!b || !b->spec.window || RM_StringToLongLong(argv[2], &at) != RM_OK ||
        at < b->layers[b->nlayers - 1].born || at > (1LL << 50))
        return refuse(ctx, &k, SAY_BAD_WINDOW);
    bf_facts before = bf_get_facts(k.value);
    if (bloom_rotate(b, at) != BLOOM_OK)
        return refuse(ctx, &k, SAY_NO_MEMORY);
    bf_facts after = bf_get_facts(k.value);
    bf_account(&before, &after);
    bf_close(&k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* ---- asking ------------------------------------------------------------------------------ */

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
        return refuse(ctx, &k, state_error(&k));
    items it;
    items_get(&it, argv, n);
    const char *bad = NULL;
    if (k.value.parts)
        bad = parts_has(ctx, k.value.parts, it.keys, n, it.answer);
    else
        ask(k.value, &it);
    if (bad) {
        items_done(&it);
        return refuse(ctx, &k, bad);
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
        return refuse(ctx, &k, SAY_WRONGTYPE);
    bf_facts f = {0};
    const char *bad = NULL;
    if (k.value.parts)
        bad = parts_facts(ctx, k.value.parts, &f);
    else if (k.state == BF_FOUND)
        f = bf_get_facts(k.value);
    uint64_t n = f.items;
    if (bad)
        return refuse(ctx, &k, bad);
    bf_close(&k);
    return RM_ReplyWithLongLong(ctx, (long long)n);
}

/* ---- telling ----------------------------------------------------------------------------- */

/* Keys the filter could hold before it exceeds the memory limit. */
static uint64_t max_scaled(rm_ctx *ctx, const bloom *b)
{
    uint64_t limit = memory_limit(ctx), keys = bloom_capacity(b), bytes = bloom_bytes(b);
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
        return refuse(ctx, &k, state_error(&k));
    bf_facts f = bf_get_facts(k.value);
    const char *bad = k.value.parts ? parts_facts(ctx, k.value.parts, &f) : NULL;
    if (bad)
        return refuse(ctx, &k, bad);
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
        return refuse(ctx, &k, state_error(&k));
    if (k.value.parts) {
        char line[64];
        int n = snprintf(line, sizeof line, "pieces:%u capacity:%llu", k.value.parts->n,
                         (unsigned long long)k.value.parts->capacity);
        RM_ReplyWithArray(ctx, 2);
        RM_ReplyWithStringBuffer(ctx, line, (size_t)n);
        RM_ReplyWithStringBuffer(ctx, k.value.parts->prefix, strlen(k.value.parts->prefix));
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

/* ---- moving ------------------------------------------------------------------------------ */

int bf_scandump(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long iter;
    if (argc != 3)
        return RM_WrongArity(ctx);
    bf_key k = bf_open(ctx, argv[1], RM_READ);
    if (k.state != BF_FOUND)
        return refuse(ctx, &k, state_error(&k));
    if (RM_StringToLongLong(argv[2], &iter) != RM_OK)
        return refuse(ctx, &k, SAY_SCAN_NUMERIC);
    if (k.value.parts)
        return refuse(ctx, &k, SAY_PART_NO);
    RM_ReplyWithArray(ctx, 2);
    if (iter == 0) {
        size_t len = k.value.fast ? bloom_header(k.value.fast, NULL, 0)
                                  : seen_bf_header(k.value.compat, NULL, 0);
        char *header = RM_Alloc(len);
        if (k.value.fast)
            bloom_header(k.value.fast, header, len);
        else
            seen_bf_header(k.value.compat, header, len);
        RM_ReplyWithLongLong(ctx, 1);
        RM_ReplyWithStringBuffer(ctx, header, len);
        RM_Free(header);
    } else {
        const void *data = NULL;
        size_t len = 0;
        uint64_t next = 0;
        int rc = iter < 0 ? SEEN_EINVAL
                 : k.value.fast
                     ? bloom_chunk(k.value.fast, (uint64_t)iter, SEEN_REDIS_CHUNK, &data,
                                   &len, &next)
                     : seen_bf_chunk(k.value.compat, (uint64_t)iter, &data, &len, &next);
        if (rc != SEEN_OK)
            len = next = 0;
        RM_ReplyWithLongLong(ctx, (long long)next);
        RM_ReplyWithStringBuffer(ctx, len ? data : "", len);
    }
    bf_close(&k);
    return RM_OK;
}

/* The header of a dump makes the key. */
static int load_header(rm_ctx *ctx, bf_key *k, const char *p, size_t len)
{
    bf made = {0};
    uint64_t limit = memory_limit(ctx);
    int rc = SEEN_OK;
    if (parts_is_header(p, len)) {
        made.parts = parts_load(p, len);
        rc = made.parts ? SEEN_OK : SEEN_EFORMAT;
    } else
        rc = bloom_is_header(p, len)
                 ? bloom_load(p, len, limit, &made.fast)
                 : seen_bf_load(p, len, limit, &server_allocator, &made.compat);
    if (rc != SEEN_OK)
        return refuse(ctx, k,
                      rc == SEEN_ETOOBIG  ? SAY_OVER_LIMIT
                      : rc == SEEN_ENOMEM ? SAY_NO_MEMORY
                                          : SAY_BAD_DATA);
    bf_set(k, made);
    bf_close(k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

int bf_loadchunk(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long iter;
    size_t len;
    if (argc != 4)
        return RM_WrongArity(ctx);
    if (RM_StringToLongLong(argv[2], &iter) != RM_OK)
        return RM_ReplyWithError(ctx, SAY_LOAD_NUMERIC);
    const char *p = RM_StringPtrLen(argv[3], &len);
    bf_key k = bf_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (k.state == BF_WRONG)
        return refuse(ctx, &k, SAY_WRONGTYPE);
    if (k.state == BF_MISSING && iter != 1)
        return refuse(ctx, &k, SAY_NOT_FOUND);
    if (k.state == BF_MISSING)
        return load_header(ctx, &k, p, len);
    if (k.value.parts)
        return refuse(ctx, &k, SAY_PART_NO);
    int rc = iter < 1 ? SEEN_ERANGE
             : k.value.fast
                 ? bloom_load_chunk(k.value.fast, (uint64_t)iter, p, len)
                 : seen_bf_load_chunk(k.value.compat, (uint64_t)iter, p, len);
    bf_close(&k);
    if (rc == SEEN_ERANGE)
        return RM_ReplyWithError(ctx, SAY_NO_LINK);
    if (rc != SEEN_OK)
        return RM_ReplyWithError(ctx, SAY_CHUNK_BIG);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* ---- union ------------------------------------------------------------------------------- */

/* DST |= SRC in RedisBloom's layout: its chain takes links of any shape, so the union
 * is one chain of both filters' links, those of *DST last. */
static int compat_merge(seen_bf **dst, const seen_bf *src, uint64_t limit)
{
    seen_bf_info d, s;
    seen_bf_get_info(*dst, &d);
    seen_bf_get_info(src, &s);
    if ((d.options ^ s.options) & SEEN_BF_FORCE64)
        return BLOOM_DIFFER;
    seen_bf_link *links = RM_Calloc(d.links + s.links, sizeof *links);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s.links; i++) {
        seen_bf_get_link(src, i, &links[n]);
        n += links[n].size > 0;
    }
    for (uint32_t i = 0; i < d.links; i++)
        seen_bf_get_link(*dst, i, &links[n++]);
    seen_bf *sum = NULL;
    int rc = seen_bf_make(d.options, d.expansion, links, n, limit, &server_allocator,
                          &sum);
    RM_Free(links);
    if (rc != SEEN_OK)
        return rc == SEEN_ETOOBIG ? BLOOM_TOOBIG : BLOOM_NOMEM;
    *dst = sum;
    return BLOOM_OK;
}

/* BF.MERGE dest src [src ...]: DEST becomes the union. Done on the side and put in
 * place at the end, so that an error changes nothing. */
int bf_merge(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc < 3)
        return RM_WrongArity(ctx);
    bf_key dest = bf_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (dest.state == BF_WRONG)
        return refuse(ctx, &dest, SAY_WRONGTYPE);
    bf sum = {0};
    int rc = BLOOM_OK;
    const char *bad = NULL;
    bloom_limit lim = limit_for(ctx);
    for (int i = 1; i < argc && !bad && rc == BLOOM_OK; i++) {
        if (i == 1 && dest.state == BF_MISSING)
            continue;
        bf_key k = i == 1 ? dest : bf_open(ctx, argv[i], RM_READ);
        if (k.state != BF_FOUND) {
            bad = k.state == BF_WRONG ? SAY_WRONGTYPE : SAY_NOT_FOUND;
        } else if (k.value.parts) {
            bad = SAY_PART_NO;
        } else if (!sum.fast && !sum.compat) {
            if (k.value.fast)
                sum.fast = bloom_copy(k.value.fast);
            else
                seen_bf_copy(k.value.compat, &server_allocator, &sum.compat);
            rc = sum.fast || sum.compat ? BLOOM_OK : BLOOM_NOMEM;
        } else if (dest.state == BF_FOUND && k.value.fast == dest.value.fast &&
                   k.value.compat == dest.value.compat) {
            /* DEST itself among the sources adds nothing. */
        } else if (sum.fast && k.value.fast) {
            rc = bloom_merge(sum.fast, k.value.fast, &lim);
        } else if (sum.compat && k.value.compat) {
            seen_bf *old = sum.compat;
            rc = compat_merge(&sum.compat, k.value.compat, lim.max_bytes(lim.ctx));
            if (rc == BLOOM_OK)
                seen_bf_free(old);
        } else {
            rc = BLOOM_DIFFER;
        }
        if (i > 1)
            bf_close(&k);
    }
    if (!bad && rc != BLOOM_OK)
        bad = rc == BLOOM_DIFFER   ? SAY_DIFFER
              : rc == BLOOM_TOOBIG ? SAY_OVER_LIMIT
                                   : SAY_NO_MEMORY;
    if (bad) {
        bf_release(sum);
        return refuse(ctx, &dest, bad);
    }
    if (dest.state == BF_FOUND)
        RM_DeleteKey(dest.key);
    bf_set(&dest, sum);
    bf_close(&dest);
    RM_ReplicateVerbatim(ctx);
    RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "bloom.merge", argv[1]);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* BF.DROP key: deletes a filter with all its pieces, in the background; 1 or 0. */
int bf_drop(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 2)
        return RM_WrongArity(ctx);
    bf_key k = bf_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (k.state == BF_WRONG)
        return refuse(ctx, &k, SAY_WRONGTYPE);
    bool found = k.state == BF_FOUND;
    if (found) {
        if (k.value.parts)
            parts_unlink(ctx, k.value.parts);
        RM_UnlinkKey ? RM_UnlinkKey(k.key) : RM_DeleteKey(k.key);
        RM_ReplicateVerbatim(ctx);
    }
    bf_close(&k);
    return RM_ReplyWithLongLong(ctx, found);
}
