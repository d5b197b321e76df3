/* bf_write.c - the BF.* commands that create, add and delete.
 *
 * Replicas receive the effect: creations with every parameter spelled out, only the
 * items that were added, and nothing at all when nothing changed. */
#include "server/arguments.h"
#include "bf/bf_options.h"
#include "bf/bf_pieces.h"
#include "server/module_commands.h"
#include "server/error_texts.h"
#include "server/server_memory.h"
#include "server/settings.h"
#include <string.h>

/* ---- adding ------------------------------------------------------------------ */

static const char *why_not(int rc)
{
    return rc == BLOOM_FULL     ? SAY_FULL
           : rc == BLOOM_TOOBIG ? SAY_OVER_LIMIT
                                : SAY_PROBLEM;
}

/* Adds to a filter of RedisBloom's layout; as bloom_add_many. */
static size_t compat_add_many(rm_ctx *ctx, sn_bf *f, arg_items *it, bool *changed,
                              const char **why)
{
    sn_bf_info info;
    sn_bf_get_info(f, &info);
    server_allowance_begin(ctx, info.bytes);
    int rc;
    size_t taken = sn_bf_add_many(f, it->keys, it->n, it->answer, &rc);
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

/* The next generation of a window begins on the master, by the master's clock. */
static const char *rotate_if_due(rm_ctx *ctx, rm_str *name, bloom *b, int64_t now)
{
    if (!bloom_due(b, now) || is_replayed(ctx))
        return NULL;
    if (bloom_rotate(b, now) != BLOOM_OK)
        return SAY_NO_MEMORY;
    RM_Replicate(ctx, "BF.ROTATE", "sl", name, (long long)now);
    return NULL;
}

/* Replies for N items, followed by the error WHY if there is one. */
static void reply_many(rm_ctx *ctx, const bool *answer, size_t n, const char *why)
{
    RM_ReplyWithArray(ctx, (long)(n + (why != NULL)));
    for (size_t i = 0; i < n; i++)
        RM_ReplyWithBool(ctx, answer[i]);
    if (why)
        RM_ReplyWithError(ctx, why);
}

/* Adds to a filter in pieces. The replies end before the first item that was refused;
 * later items may have been added, and the replicas receive those. */
static int add_to_pieces(rm_ctx *ctx, rm_str *name, value_key *k,
                         const bf_options *made, rm_str **argv, size_t n, bool one)
{
    arg_items it;
    arg_items_get(&it, argv, n);
    bool *taken = RM_Alloc(n + 1), changed = false;
    const char *why =
        pieces_add(ctx, bf_of(k).pieces, it.keys, n, it.answer, taken, &changed);
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
    arg_items_free(&it);
    value_close(k);
    return RM_OK;
}

/* Adds argv[0 .. n) to the filter NAME, which is created as O says if it is missing.
 * With ONE the reply is not an array. */
static int add_items(rm_ctx *ctx, rm_str *name, bf_options *o, rm_str **argv, size_t n,
                     bool one)
{
    value_key k = bf_open(ctx, name, RM_READ | RM_WRITE);
    bool created = k.state == KEY_MISSING;
    if (k.state == KEY_WRONG)
        return value_refuse(ctx, &k, SAY_WRONGTYPE);
    if (created) {
        bf made;
        if (o->no_create)
            return value_refuse(ctx, &k, SAY_NOT_FOUND);
        const char *bad = bf_create(ctx, name, o, &made);
        if (bad)
            return value_refuse(ctx, &k, bad);
        bf_put(&k, made);
    }
    bf v = bf_of(&k);
    if (v.pieces)
        return add_to_pieces(ctx, name, &k, created ? o : NULL, argv, n, one);
    int64_t now = 0;
    if (v.fast && v.fast->spec.window) {
        now = now_ms();
        const char *bad = rotate_if_due(ctx, name, v.fast, now);
        if (bad)
            return value_refuse(ctx, &k, bad);
    }
    arg_items it;
    arg_items_get(&it, argv, n);
    bool changed = false;
    const char *why = NULL;
    size_t done;
    if (v.fast) {
        bloom_limit lim = limit_for(ctx);
        int rc = BLOOM_OK;
        done = bloom_add_many(v.fast, it.keys, n, now, &lim, it.answer, &changed, &rc);
        why = rc == BLOOM_OK ? NULL : why_not(rc);
    } else {
        done = compat_add_many(ctx, v.compat, &it, &changed, &why);
    }
    if (one) {
        if (done)
            RM_ReplyWithBool(ctx, it.answer[0]);
        else
            RM_ReplyWithError(ctx, why);
    } else {
        reply_many(ctx, it.answer, done, why);
    }
    arg_items_free(&it);

    value_recount(k.value);
    if (created) {
        bf_replicate_new(ctx, name, o, argv, done);
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "bloom.reserve", name);
    } else if (changed && done == n && v.fast) {
        RM_ReplicateVerbatim(ctx);
    } else if (changed) { /* also for compat: BF.INSERT may have had options of ours */
        RM_Replicate(ctx, "BF.MADD", "sv", name, argv, done);
    }
    if (changed)
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "bloom.add", name);
    value_close(&k);
    return RM_OK;
}

int bf_add(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 3)
        return RM_WrongArity(ctx);
    bf_options o = bf_defaults(ctx);
    return add_items(ctx, argv[1], &o, argv + 2, 1, true);
}

int bf_madd(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc < 3)
        return RM_WrongArity(ctx);
    bf_options o = bf_defaults(ctx);
    return add_items(ctx, argv[1], &o, argv + 2, (size_t)argc - 2, false);
}

int bf_insert(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc < 3)
        return RM_WrongArity(ctx);
    bf_options o;
    const char *bad = bf_parse_insert(ctx, argv, argc, &o);
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
    const char *bad = bf_parse_reserve(ctx, argv, argc, &o);
    if (bad)
        return RM_ReplyWithError(ctx, bad);
    value_key k = bf_open(ctx, argv[1], RM_READ | RM_WRITE);
    bf made;
    if (k.state == KEY_WRONG)
        bad = SAY_WRONGTYPE;
    else if (k.state == KEY_FOUND)
        bad = SAY_EXISTS;
    else
        bad = bf_create(ctx, argv[1], &o, &made);
    if (bad)
        return value_refuse(ctx, &k, bad);
    bf_put(&k, made);
    bf_replicate_new(ctx, argv[1], &o, NULL, 0);
    RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "bloom.reserve", argv[1]);
    value_close(&k);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* BF.ROTATE key ms: begins the next generation of a window. Masters send it to replicas
 * and to the append-only file; by hand it is harmless. */
int bf_rotate(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long at;
    if (argc != 3)
        return RM_WrongArity(ctx);
    value_key k = bf_open(ctx, argv[1], RM_READ | RM_WRITE);
    bf v = bf_of(&k);
    if (k.state != KEY_FOUND)
        return value_refuse(ctx, &k, value_state_error(&k));
    bloom *b = v.fast;
    if (!b || !b->spec.window || RM_StringToLongLong(argv[2], &at) != RM_OK ||
        at < b->layers[b->nlayers - 1].born || at > (1LL << 50))
        return value_refuse(ctx, &k, SAY_BAD_WINDOW);
    if (bloom_rotate(b, at) != BLOOM_OK)
        return value_refuse(ctx, &k, SAY_NO_MEMORY);
    value_recount(k.value);
    value_close(&k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* BF.DROP key: deletes a filter with all its pieces, in the background; 1 or 0. */
int bf_drop(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc != 2)
        return RM_WrongArity(ctx);
    value_key k = bf_open(ctx, argv[1], RM_READ | RM_WRITE);
    bf v = bf_of(&k);
    if (k.state == KEY_WRONG)
        return value_refuse(ctx, &k, SAY_WRONGTYPE);
    bool found = k.state == KEY_FOUND;
    if (found) {
        const char *bad = v.pieces ? pieces_unlink(ctx, v.pieces) : NULL;
        if (bad)
            return value_refuse(ctx, &k, bad);
        RM_UnlinkKey ? RM_UnlinkKey(k.key) : RM_DeleteKey(k.key);
        if (v.pieces)
            RM_ReplicateVerbatim(ctx);
        else
            RM_Replicate(ctx, "UNLINK", "s", argv[1]);
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "del", argv[1]);
    }
    value_close(&k);
    return RM_ReplyWithLongLong(ctx, found);
}
