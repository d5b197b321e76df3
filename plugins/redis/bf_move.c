/* bf_move.c - BF.SCANDUMP and LOADCHUNK, MERGE, DROP: whole filters, not items. */
#include "bf_commands.h"
#include "bf_options.h"
#include "bf_parts.h"
#include "bloom_bytes.h"
#include "server_memory.h"
#include "settings.h"
#include "words.h"

/* ---- moving ------------------------------------------------------------------ */

int bf_scandump(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long iter;
    if (argc != 3)
        return RM_WrongArity(ctx);
    bf_key k = bf_open(ctx, argv[1], RM_READ);
    if (k.state != BF_FOUND)
        return bf_refuse(ctx, &k, bf_state_error(&k));
    if (RM_StringToLongLong(argv[2], &iter) != RM_OK)
        return bf_refuse(ctx, &k, SAY_SCAN_NUMERIC);
    if (k.value.parts)
        return bf_refuse(ctx, &k, SAY_PART_NO);
    value_bytes b = bf_bytes(k.value);
    const char *p;
    size_t len;
    uint64_t next;
    value_bytes_at(&b, (uint64_t)iter, &p, &len, &next);
    RM_ReplyWithArray(ctx, 2);
    RM_ReplyWithLongLong(ctx, (long long)next);
    RM_ReplyWithStringBuffer(ctx, p, len);
    value_bytes_free(b);
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
        return bf_refuse(ctx, k,
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
        return bf_refuse(ctx, &k, SAY_WRONGTYPE);
    if (k.state == BF_MISSING && iter != 1)
        return bf_refuse(ctx, &k, SAY_NOT_FOUND);
    if (k.state == BF_MISSING)
        return load_header(ctx, &k, p, len);
    if (k.value.parts)
        return bf_refuse(ctx, &k, SAY_PART_NO);
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

/* ---- union ------------------------------------------------------------------- */

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
    int rc =
        seen_bf_make(d.options, d.expansion, links, n, limit, &server_allocator, &sum);
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
        return bf_refuse(ctx, &dest, SAY_WRONGTYPE);
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
        return bf_refuse(ctx, &dest, bad);
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
        return bf_refuse(ctx, &k, SAY_WRONGTYPE);
    bool found = k.state == BF_FOUND;
    if (found) {
        if (k.value.parts)
            parts_unlink(ctx, k.value.parts);
        RM_UnlinkKey ? RM_UnlinkKey(k.key) : RM_DeleteKey(k.key);
        RM_ReplicateVerbatim(ctx);
        RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "del", argv[1]);
    }
    bf_close(&k);
    return RM_ReplyWithLongLong(ctx, found);
}
