/* bf_merge.c - BF.MERGE: one filter becomes the union of several. */
#include "bf/bf_options.h"
#include "bf/bf_pieces.h"
#include "server/module_commands.h"
#include "server/error_texts.h"
#include "bf/merge_layers.h"
#include "server/server_memory.h"
#include <string.h>

/* Links of a chain of RedisBloom's layout. An array is the chain's own until it is
 * replaced by one of ours. */
typedef struct chain {
    sn_bf_link_info *links;
    uint8_t **ours;
    uint32_t n;
} chain;

static layer_view view_of(const sn_bf_link_info *l)
{
    return (layer_view){.body = l->data,
                        .bits = l->bytes * 8,
                        .keys = l->size,
                        .capacity = l->entries,
                        .probes = l->hashes,
                        .kind = l->n2};
}

/* Joins L to C, before its newest link, which is the one that is added to. */
static int merge_link(chain *c, const sn_bf_link_info *l)
{
    layer_view *have = RM_Alloc(c->n * sizeof *have), add = view_of(l);
    for (uint32_t i = 0; i < c->n; i++)
        have[i] = view_of(&c->links[i]);
    merge_step step = merge_step_for(have, c->n, &add);
    RM_Free(have);
    if (step.how == MERGE_NOTHING)
        return BLOOM_OK;
    if (step.how == MERGE_APPEND) {
        c->links[c->n] = c->links[c->n - 1];
        c->ours[c->n] = c->ours[c->n - 1];
        c->links[c->n - 1] = *l;
        c->ours[c->n++ - 1] = NULL;
        return BLOOM_OK;
    }
    sn_bf_link_info *to = &c->links[step.at];
    uint8_t **own = &c->ours[step.at];
    if (!*own) {
        *own = body_new(to->bytes);
        if (!*own)
            return BLOOM_NOMEM;
        memcpy(*own, to->data, to->bytes);
        to->data = *own;
    }
    bits_unite(*own, l->data, l->bytes);
    to->size = step.keys;
    return BLOOM_OK;
}

/* *DST |= SRC in RedisBloom's layout: its chain takes links of any shape. */
static int compat_merge(sn_bf **dst, const sn_bf *src, uint64_t limit)
{
    sn_bf_info d, s;
    sn_bf_get_info(*dst, &d);
    sn_bf_get_info(src, &s);
    if ((d.options ^ s.options) & SN_BF_FORCE64)
        return BLOOM_DIFFER;
    uint32_t room = d.links + s.links, most = d.links > s.links ? d.links : s.links;
    chain c = {RM_Calloc(room, sizeof *c.links), RM_Calloc(room, sizeof *c.ours),
               d.links};
    sn_bf_link_info l;
    int rc = BLOOM_OK;
    for (uint32_t i = 0; i < d.links; i++)
        sn_bf_get_link(*dst, i, &c.links[i]);
    for (uint32_t i = 0; i < s.links && rc == BLOOM_OK; i++) {
        sn_bf_get_link(src, i, &l);
        rc = merge_link(&c, &l);
    }
    if (rc == BLOOM_OK && c.n > most && c.n > BLOOM_MERGE_LAYERS)
        rc = BLOOM_LAYERS;
    sn_bf *sum = NULL;
    if (rc == BLOOM_OK) {
        rc = sn_bf_make(d.options, d.expansion, c.links, c.n, limit, &server_allocator,
                        &sum);
        rc = rc == SEEN_OK ? BLOOM_OK : rc == SEEN_ETOOBIG ? BLOOM_TOOBIG : BLOOM_NOMEM;
    }
    for (uint32_t i = 0; i < room; i++)
        body_free(c.ours[i]);
    RM_Free(c.ours);
    RM_Free(c.links);
    if (rc == BLOOM_OK)
        *dst = sum;
    return rc;
}

/* Adds all of SRC to *SUM, which may still be empty. BLOOM_OK or a code. */
static int unite(bf *sum, bf src, const bloom_limit *lim)
{
    if (!sum->fast && !sum->compat) {
        if (src.fast)
            sum->fast = bloom_copy(src.fast);
        else
            sn_bf_copy(src.compat, &server_allocator, &sum->compat);
        return sum->fast || sum->compat ? BLOOM_OK : BLOOM_NOMEM;
    }
    if (sum->fast && src.fast)
        return bloom_merge(sum->fast, src.fast, lim);
    if (!sum->compat || !src.compat)
        return BLOOM_DIFFER;
    sn_bf *old = sum->compat;
    int rc = compat_merge(&sum->compat, src.compat, lim->max_bytes(lim->ctx));
    if (rc == BLOOM_OK)
        sn_bf_free(old);
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
              : rc == BLOOM_LAYERS ? SAY_MERGE_LAYERS
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
