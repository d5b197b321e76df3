/* bf_merge.c - BF.MERGE: one filter becomes the union of several. */
#include "bf_options.h"
#include "bf_pieces.h"
#include "commands.h"
#include "error_texts.h"
#include "server_memory.h"

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

/* Adds all of SRC to *SUM, which may still be empty. BLOOM_OK or a code. */
static int unite(bf *sum, bf src, const bloom_limit *lim)
{
    if (!sum->fast && !sum->compat) {
        if (src.fast)
            sum->fast = bloom_copy(src.fast);
        else
            seen_bf_copy(src.compat, &server_allocator, &sum->compat);
        return sum->fast || sum->compat ? BLOOM_OK : BLOOM_NOMEM;
    }
    if (sum->fast && src.fast)
        return bloom_merge(sum->fast, src.fast, lim);
    if (!sum->compat || !src.compat)
        return BLOOM_DIFFER;
    seen_bf *old = sum->compat;
    int rc = compat_merge(&sum->compat, src.compat, lim->max_bytes(lim->ctx));
    if (rc == BLOOM_OK)
        seen_bf_free(old);
    return rc;
}

/* BF.MERGE dest src [src ...]: DEST becomes the union of itself and the sources. The
 * union is made aside and put in place at the end, so an error changes nothing. */
int bf_merge(rm_ctx *ctx, rm_str **argv, int argc)
{
    if (argc < 3)
        return RM_WrongArity(ctx);
    value_key dest = bf_open(ctx, argv[1], RM_READ | RM_WRITE);
    if (dest.state == KEY_WRONG)
        return value_refuse(ctx, &dest, SAY_WRONGTYPE);
    bf sum = {0};
    int rc = BLOOM_OK;
    const char *bad = NULL;
    bloom_limit lim = limit_for(ctx);
    if (bf_of(&dest).pieces)
        bad = SAY_PIECE_NO;
    else if (dest.state == KEY_FOUND)
        rc = unite(&sum, bf_of(&dest), &lim);
    for (int i = 2; i < argc && !bad && rc == BLOOM_OK; i++) {
        value_key k = bf_open(ctx, argv[i], RM_READ);
        bf v = bf_of(&k);
        if (k.state != KEY_FOUND)
            bad = value_state_error(&k);
        else if (v.pieces)
            bad = SAY_PIECE_NO;
        else if (k.value != dest.value) /* DEST among the sources adds nothing */
            rc = unite(&sum, v, &lim);
        value_close(&k);
    }
    if (!bad && rc != BLOOM_OK)
        bad = rc == BLOOM_DIFFER   ? SAY_DIFFER
              : rc == BLOOM_TOOBIG ? SAY_OVER_LIMIT
                                   : SAY_NO_MEMORY;
    if (bad) {
        bf_free(sum);
        return value_refuse(ctx, &dest, bad);
    }
    bool replaced = dest.state == KEY_FOUND;
    bf_put(&dest, sum);
    if (sum.fast) {
        RM_ReplicateVerbatim(ctx);
    } else { /* RedisBloom has no BF.MERGE: its words for the result */
        if (replaced)
            RM_Replicate(ctx, "UNLINK", "s", argv[1]);
        value_bytes_replicate(ctx, argv[1], "BF.LOADCHUNK", value_to_bytes(dest.value));
    }
    value_close(&dest);
    RM_NotifyKeyspaceEvent(ctx, RM_EVENT_GENERIC, "bloom.merge", argv[1]);
    return RM_ReplyWithSimpleString(ctx, "OK");
}
