/* marked_write.c - writes in the local backend: keys are marked and added before the
 * commit, dropped from the cache and unmarked after it. */
#include "guard_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct local_write {
    seen_guard_write base;
    size_t n;
    struct write_key {
        control_slot *slot;
        bool kept; /* the slot is an earlier, doubtful write's */
        char *key;
        size_t len;
    } at[];
} local_write;

static void free_write(local_write *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->at[i].key);
    free(w);
}

/* Marks HASH. A full neighbourhood empties as the writes of others end. */
static control_slot *mark(control *c, uint64_t hash, bool *kept)
{
    control_slot *s;
    int64_t end = sn_guard_now_ms() + 1000;
    while (!(s = sn_control_claim(c, hash, kept)) && sn_guard_now_ms() < end)
        usleep(1000);
    return s;
}

int sn_local_begin(seen_guard *g, const seen_key *keys, size_t n, bool add,
                   seen_guard_write **out)
{
    int rc = 0;
    *out = NULL;
    int64_t quiet = sn_control_quiet_ms(g->control);
    if (quiet > 0)
        usleep((useconds_t)quiet * 1000);
    if (sn_control_gone(&g->file, 0))
        return sn_guard_fail(SEEN_EIO,
                             "%s was deleted while in use, and nobody else would hear "
                             "of this key: close the guard and open it again",
                             g->config.path);
    local_write *w = calloc(1, sizeof *w + n * sizeof *w->at);
    if (!w)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    w->base.g = g;
    for (; w->n < n && rc == 0; w->n++) {
        struct write_key *k = w->at + w->n;
        const seen_key *from = keys + w->n;
        uint64_t hash = seen_hasher_hash(&g->filters.hasher, from->data, from->len);
        k->len = from->len;
        k->key = malloc(from->len + 1);
        if (!k->key) {
            rc = sn_guard_fail(SEEN_ENOMEM, "no memory");
        } else if (!(k->slot = mark(g->control, hash, &k->kept))) {
            rc = sn_guard_fail(SEEN_EFULL, "too many keys are being written at once");
        } else {
            memcpy(k->key, from->data, from->len);
            if (add)
                sn_mapped_add(&g->filters, hash);
        }
    }
    if (rc < 0) {
        for (size_t i = 0; i < w->n; i++)
            if (w->at[i].slot && !w->at[i].kept)
                sn_control_clear(w->at[i].slot);
        free_write(w);
        return rc;
    }
    g->count.writes++;
    *out = &w->base;
    return 0;
}

void sn_local_end(seen_guard_write *base, int outcome, uint64_t deleted)
{
    local_write *w = (local_write *)base;
    seen_guard *g = base->g;
    const seen_guard_cache *cache = &g->config.cache;
    bool dropped = true;
    char name[24];
    uint64_t epoch = g->control->epoch;
    int prefix = snprintf(name, sizeof name, "%llu:", (unsigned long long)epoch);
    for (size_t i = 0; outcome == SEEN_GUARD_COMMITTED && cache->drop && i < w->n;
         i++) {
        char *key = malloc((size_t)prefix + w->at[i].len);
        if (key) {
            memcpy(key, name, (size_t)prefix);
            memcpy(key + prefix, w->at[i].key, w->at[i].len);
            dropped &= cache->drop(cache->ctx, key, (size_t)prefix + w->at[i].len) >= 0;
            free(key);
        } else {
            dropped = false;
        }
        if (!dropped)
            break;
    }
    /* If an entry cannot be dropped, a new epoch forgets all of them. */
    if (!dropped) {
        g->count.cache_errors++;
        g->control->epoch++;
    }
    for (size_t i = 0; i < w->n; i++)
        if (outcome == SEEN_GUARD_UNKNOWN)
            sn_control_doubt(w->at[i].slot);
        else if (!w->at[i].kept)
            sn_control_clear(w->at[i].slot);
    g->control->deleted += deleted;
    free_write(w);
}
