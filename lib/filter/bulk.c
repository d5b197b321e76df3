/* bulk.c - adds many keys to a large filter, in memory order.
 *
 * Hashes with equal prefixes go to the same region of the body (kind->ordered), so
 * hashes sorted roughly by prefix fill one region after another: the pages stay in
 * the TLB and the lines are accessed in runs. Below 256 MiB the prefetching of
 * batch.c is as fast; at 1.25 GB this takes 5.9 ns a key instead of 10.2. */
#include "filter/batch.h"

#define BULK_BYTES ((uint64_t)256 << 20)
#define REGIONS_LOG2 9
#define REGIONS (1 << REGIONS_LOG2)

/* Stable sort of N hashes by their first bits. */
static void partition(const uint64_t *h, size_t n, uint64_t *out)
{
    size_t at[REGIONS + 1] = {0};
    for (size_t i = 0; i < n; i++)
        at[(h[i] >> (64 - REGIONS_LOG2)) + 1]++;
    for (int r = 0; r < REGIONS; r++)
        at[r + 1] += at[r];
    for (size_t i = 0; i < n; i++)
        out[at[h[i] >> (64 - REGIONS_LOG2)]++] = h[i];
}

size_t sn_add_bulk(seen_filter *f, const seen_key *keys, const uint64_t *hashes,
                   size_t n)
{
    const sn_layer *l = f->layer;
    /* Worth it when every line is met about once, and with room for all. */
    if (f->layers != 1 || !l->kind->ordered || f->flags & SEEN_ATOMIC ||
        l->len < BULK_BYTES || n < l->len / 64 || sn_room(l) < n ||
        (l->kind->grow && !l->shape.capacity))
        return 0; /* (the last: even a set without a promise can be full) */
    /* The scratch is at most half the filter, with several keys a line in each
     * chunk. */
    size_t chunk = l->len / 16 < n ? l->len / 16 : n, arrays = keys ? 2 : 1;
    uint64_t *scratch = sn_body_alloc(&f->alloc, chunk * 8 * arrays);
    if (!scratch)
        return 0;
    bool ignored[4096];
    for (size_t i = 0; i < n; i += chunk) {
        size_t m = n - i < chunk ? n - i : chunk;
        if (keys)
            sn_key_hashes(f, keys + i, m, scratch + chunk);
        partition(keys ? scratch + chunk : hashes + i, m, scratch);
        for (size_t j = 0; j < m; j += sizeof ignored)
            seen_add_hashes(f, scratch + j,
                            m - j < sizeof ignored ? m - j : sizeof ignored, ignored,
                            NULL);
    }
    sn_body_free(&f->alloc, scratch, chunk * 8 * arrays);
    return n;
}
