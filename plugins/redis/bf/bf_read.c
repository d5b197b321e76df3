/* bf_read.c - the BF.* commands that ask about items and describe filters. */
#include "server/arguments.h"
#include "bf/bf_options.h"
#include "bf/bf_pieces.h"
#include "server/module_commands.h"
#include "server/error_texts.h"
#include "server/settings.h"
#include <stdio.h>
#include <string.h>

/* ---- asking ------------------------------------------------------------------ */

static void ask(bf v, arg_items *it)
{
    if (v.fast) {
        int64_t now = v.fast->spec.window ? now_ms() : 0;
        bloom_has_many(v.fast, it->keys, it->n, now, it->answer);
    } else if (v.compat) {
        sn_bf_has_many(v.compat, it->keys, it->n, it->answer);
    } else {
        memset(it->answer, 0, it->n);
    }
}

static int has_items(rm_ctx *ctx, rm_str *name, rm_str **argv, size_t n, bool one,
                     bool strict)
{
    value_key k = bf_open(ctx, name, RM_READ);
    bf v = bf_of(&k);
    if (strict && k.state != KEY_FOUND)
        return value_refuse(ctx, &k, value_state_error(&k));
    arg_items it;
    arg_items_get(&it, argv, n);
    const char *bad = NULL;
    if (v.pieces)
        bad = pieces_has(ctx, v.pieces, it.keys, n, it.answer);
    else
        ask(v, &it);
    if (bad) {
        arg_items_free(&it);
        return value_refuse(ctx, &k, bad);
    }
    if (!one)
        RM_ReplyWithArray(ctx, (long)n);
    for (size_t i = 0; i < n; i++)
        RM_ReplyWithBool(ctx, it.answer[i]);
    arg_items_free(&it);
    value_close(&k);
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

/* BF.HAS key item [item ...]: BF.MEXISTS that distinguishes a missing filter from a
 * missing item. */
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
    value_key k = bf_open(ctx, argv[1], RM_READ);
    bf v = bf_of(&k);
    if (k.state == KEY_WRONG)
        return value_refuse(ctx, &k, SAY_WRONGTYPE);
    bf_facts f = {0};
    const char *bad = NULL;
    if (v.pieces)
        bad = pieces_facts(ctx, v.pieces, &f);
    else if (k.state == KEY_FOUND)
        f = bf_get_facts(v);
    uint64_t n = f.items;
    if (bad)
        return value_refuse(ctx, &k, bad);
    value_close(&k);
    return RM_ReplyWithLongLong(ctx, (long long)n);
}

/* ---- describing -------------------------------------------------------------- */

/* Keys the filter could hold before it exceeds the memory limit. */
static uint64_t max_scaled(rm_ctx *ctx, const bloom *b)
{
    uint64_t limit = memory_limit(ctx), keys = bloom_capacity(b),
             bytes = bloom_bytes(b);
    bloom_layer l = b->layers[b->nlayers - 1];
    for (uint32_t i = b->nlayers; bloom_shape_after(&b->spec, i, l.capacity, &l) &&
                                  bytes + l.bytes <= limit && keys < (uint64_t)1 << 62;
         i++) {
        keys += l.capacity;
        bytes += l.bytes;
    }
    return keys;
}

static double tightening_of(bf v)
{
    if (v.compat || v.pieces)
        return 0.5;
    if (v.fast->spec.tightening > 0)
        return v.fast->spec.tightening;
    const bloom_layer *last = &v.fast->layers[v.fast->nlayers - 1];
    bloom_layer next;
    bloom_shape_after(&v.fast->spec, v.fast->nlayers, last->capacity, &next);
    return next.error / last->error;
}

static void reply_field(rm_ctx *ctx, const char *name, long long v)
{
    RM_ReplyWithSimpleString(ctx, name);
    if (v < 0)
        RM_ReplyWithNull(ctx);
    else
        RM_ReplyWithLongLong(ctx, v);
}

int bf_info(rm_ctx *ctx, rm_str **argv, int argc)
{
    static const char *const names[] = {"Capacity", "Size", "Number of filters",
                                        "Number of items inserted", "Expansion rate"};
    static const char *const words[] = {"CAPACITY", "SIZE", "FILTERS", "ITEMS",
                                        "EXPANSION"};
    if (argc < 2 || argc > 3)
        return RM_WrongArity(ctx);
    value_key k = bf_open(ctx, argv[1], RM_READ);
    bf v = bf_of(&k);
    if (k.state != KEY_FOUND)
        return value_refuse(ctx, &k, value_state_error(&k));
    bf_facts f = bf_get_facts(v);
    const char *bad = v.pieces ? pieces_facts(ctx, v.pieces, &f) : NULL;
    if (bad)
        return value_refuse(ctx, &k, bad);
    const long long values[] = {(long long)f.capacity, (long long)f.size,
                                (long long)f.layers, (long long)f.items,
                                f.fixed ? -1 : (long long)f.expansion};
    if (argc == 2) {
        RM_ReplyWithMap(ctx, 5);
        for (int i = 0; i < 5; i++)
            reply_field(ctx, names[i], values[i]);
        value_close(&k);
        return RM_OK;
    }
    int found = -1;
    for (int i = 0; i < 5; i++)
        if (arg_is(argv[2], words[i]))
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
    } else if (arg_is(argv[2], "ERROR")) {
        RM_ReplyWithDouble(ctx, f.error);
    } else if (arg_is(argv[2], "TIGHTENING")) {
        RM_ReplyWithDouble(ctx, tightening_of(v));
    } else if (arg_is(argv[2], "MAXSCALEDCAPACITY") && v.fast && !f.fixed) {
        RM_ReplyWithLongLong(ctx, (long long)max_scaled(ctx, v.fast));
    } else {
        RM_ReplyWithError(ctx, SAY_BAD_INFO);
    }
    value_close(&k);
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
    value_key k = bf_open(ctx, argv[1], RM_READ);
    bf v = bf_of(&k);
    if (k.state != KEY_FOUND)
        return value_refuse(ctx, &k, value_state_error(&k));
    if (v.pieces) {
        char line[64];
        int n = snprintf(line, sizeof line, "pieces:%u capacity:%llu", v.pieces->n,
                         (unsigned long long)v.pieces->capacity);
        RM_ReplyWithArray(ctx, 2);
        RM_ReplyWithStringBuffer(ctx, line, (size_t)n);
        RM_ReplyWithStringBuffer(ctx, v.pieces->prefix, strlen(v.pieces->prefix));
        value_close(&k);
        return RM_OK;
    }
    bf_facts f = bf_get_facts(v);
    char line[32];
    int n = snprintf(line, sizeof line, "size:%llu", (unsigned long long)f.items);
    RM_ReplyWithArray(ctx, (long)(1 + f.layers));
    RM_ReplyWithStringBuffer(ctx, line, (size_t)n);
    for (uint32_t i = 0; i < f.layers; i++) {
        if (v.fast) {
            const bloom_layer *l = &v.fast->layers[i];
            debug_line(ctx, l->bytes, l->bits, l->probes, 64, l->capacity, l->count,
                       l->error);
        } else {
            sn_bf_link_info l;
            sn_bf_info info;
            sn_bf_get_info(v.compat, &info);
            sn_bf_get_link(v.compat, i, &l);
            debug_line(ctx, l.bytes, l.bits, l.hashes,
                       info.options & SN_BF_FORCE64 ? 64 : 32, l.entries, l.size,
                       l.error);
        }
    }
    value_close(&k);
    return RM_OK;
}
