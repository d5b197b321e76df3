/* leveldb_policy.c - table_filter.h as a LevelDB filter policy.
 *
 * LevelDB passes the user keys of one data block (about 36), sorted, with adjacent
 * repeats if a key has several versions. There is no way to report an error, so
 * every path here returns a filter, at worst one that matches all keys. */
#include "seen_leveldb.h"
#include "table_filter.h"

#include <seen.h>
#include <stdlib.h>
#include <unistd.h>

/* Part of the encoding: changing it means changing SEEN_LEVELDB_NAME. */
static const uint64_t key_seed = 0x5ee1a11a5cafe001u;

typedef struct policy {
    unsigned bits;
} policy;

static char *own_create(void *state, const char *const *keys, const size_t *lens, int n,
                        size_t *out_len)
{
    const policy *p = state;
    size_t distinct = 0;
    uint64_t few[256];
    uint64_t *h = n <= 256 ? few : malloc((size_t)n * sizeof *h);
    for (int i = 0; h && i < n; i++) {
        uint64_t x = seen_hash_seeded(key_seed, keys[i], lens[i]);
        if (distinct == 0 || h[distinct - 1] != x)
            h[distinct++] = x;
    }
    char *out = malloc(sn_table_filter_size(distinct, p->bits));
    if (h && out) {
        *out_len = sn_table_filter_build(h, distinct, p->bits, (uint8_t *)out);
    } else {
        /* An empty filter matches nothing and would hide the block's keys, and there is
         * no way to report an error: wait until one byte can be allocated. */
        while (!out && !(out = malloc(1)))
            usleep(1000);
        out[0] = 0;
        *out_len = 1;
    }
    if (h != few)
        free(h);
    return out;
}

static uint8_t own_match(void *state, const char *key, size_t len, const char *filter,
                         size_t filter_len)
{
    (void)state;
    return sn_table_filter_has((const uint8_t *)filter, filter_len,
                               seen_hash_seeded(key_seed, key, len));
}

static const char *own_name(void *state)
{
    (void)state;
    return SEEN_LEVELDB_NAME;
}

leveldb_filterpolicy_t *seen_leveldb_policy(int bits_per_key)
{
    policy *p = malloc(sizeof *p);
    if (!p)
        return NULL;
    p->bits = bits_per_key < 0 ? 0 : (unsigned)bits_per_key;
    return leveldb_filterpolicy_create(p, free, own_create, own_match, own_name);
}
