/* host.c - a hash table of hosts and a binary heap over those that wait. */
#include "host.h"
#include "page/page_extract.h"
#include "seen.h"

static void grow_table(hosts *t)
{
    size_t buckets = t->buckets ? 2 * t->buckets : 256;
    host **table = kit_alloc(buckets * sizeof *table);
    for (size_t i = 0; i < t->buckets; i++)
        for (host *h = t->table[i], *next; h; h = next) {
            next = h->chain;
            h->chain = table[h->hash & (buckets - 1)];
            table[h->hash & (buckets - 1)] = h;
        }
    free(t->table);
    t->table = table;
    t->buckets = buckets;
}

host *hosts_get(hosts *t, const url *u)
{
    uint64_t hash = seen_hash_seeded(0, u->text, u->path);
    if (t->count >= t->buckets)
        grow_table(t);
    host **slot = &t->table[hash & (t->buckets - 1)];
    for (host *h = *slot; h; h = h->chain)
        if (h->hash == hash && h->origin_len == u->path &&
            !memcmp(h->origin, u->text, u->path))
            return h;
    host *h = kit_alloc(sizeof *h);
    h->origin = kit_alloc(u->path + 1);
    memcpy(h->origin, u->text, u->path);
    h->origin_len = u->path;
    h->hash = hash;
    h->delay = t->delay;
    h->chain = *slot;
    *slot = h;
    t->count++;
    return h;
}

static void heap_set(hosts *t, size_t i, host *h)
{
    t->heap[i] = h;
    h->heap_pos = (uint32_t)i;
}

static void heap_sift(hosts *t, size_t i)
{
    host *h = t->heap[i];
    for (; i > 1 && t->heap[i / 2]->key > h->key; i /= 2)
        heap_set(t, i, t->heap[i / 2]);
    for (size_t k; (k = 2 * i) <= t->waiting; i = k) {
        if (k < t->waiting && t->heap[k + 1]->key < t->heap[k]->key)
            k++;
        if (t->heap[k]->key >= h->key)
            break;
        heap_set(t, i, t->heap[k]);
    }
    heap_set(t, i, h);
}

void hosts_wait(hosts *t, host *h, uint64_t key)
{
    size_t i = h->heap_pos;
    if (key == UINT64_MAX) {
        if (!i)
            return;
        host *last = t->heap[t->waiting--];
        h->heap_pos = 0;
        if (last != h) {
            heap_set(t, i, last);
            heap_sift(t, i);
        }
        return;
    }
    if (i && h->key == key)
        return;
    h->key = key;
    if (!i) {
        if (t->waiting + 1 >= t->heap_room) {
            t->heap_room = t->heap_room ? 2 * t->heap_room : 256;
            t->heap = kit_grow(t->heap, t->heap_room, sizeof *t->heap);
        }
        i = ++t->waiting;
        t->heap[i] = h;
    }
    heap_sift(t, i);
}

host *hosts_first(const hosts *t)
{
    return t->waiting ? t->heap[1] : NULL;
}

ip_load *hosts_ip(hosts *t, const char *address)
{
    uint64_t hash = seen_hash_seeded(0, address, strlen(address));
    ip_load **slot = &t->ips[hash % HOST_IPS];
    for (ip_load *p = *slot; p; p = p->chain)
        if (!strcmp(p->text, address))
            return p;
    ip_load *p = kit_alloc(sizeof *p);
    strncpy(p->text, address, sizeof p->text - 1);
    p->chain = *slot;
    return *slot = p;
}

void hosts_each(hosts *t, void (*f)(void *ctx, host *h), void *ctx)
{
    for (size_t i = 0; i < t->buckets; i++)
        for (host *h = t->table[i], *next; h; h = next) {
            next = h->chain;
            f(ctx, h);
        }
}

static void free_jobs(job *j)
{
    for (job *next; j; j = next) {
        next = j->next;
        fetch_free(&j->f);
        page_extract_free(j->f.extract);
        free(j->text);
        free(j->referrer);
        free(j->token);
        free(j);
    }
}

void hosts_free(hosts *t, spill *s)
{
    for (size_t i = 0; i < t->buckets; i++)
        for (host *h = t->table[i], *next; h; h = next) {
            next = h->chain;
            backlog_free(&h->queue, NULL);
            free_jobs(h->front);
            free_jobs(h->held);
            robots_free(h->robots);
            free(h->dead_why);
            free(h->lanes);
            free(h->origin);
            free(h);
        }
    for (size_t i = 0; i < HOST_IPS; i++)
        for (ip_load *p = t->ips[i], *next; p; p = next) {
            next = p->chain;
            free(p);
        }
    (void)s;
    free(t->table);
    free(t->heap);
    memset(t, 0, sizeof *t);
}
