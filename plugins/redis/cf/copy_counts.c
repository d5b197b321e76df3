/* copy_counts.c - a hash table of counts with linear probing, at most half full. */
#include "cf/copy_counts.h"
#include "server/server_memory.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 16 };

/* Where HASH belongs; the slots after it may hold it too. */
static uint64_t home(const copy_counts *t, uint64_t hash)
{
    return (hash * 0x9e3779b97f4a7c15u) >> (64 - __builtin_ctzll(t->room));
}

/* The slot of HASH, or the free one where it would go. */
static copy_count *find(const copy_counts *t, uint64_t hash)
{
    uint64_t i = home(t, hash);
    while (t->slots[i].count && t->slots[i].hash != hash)
        i = (i + 1) & (t->room - 1);
    return &t->slots[i];
}

void copy_counts_free(copy_counts *t)
{
    body_free(t->slots);
    *t = (copy_counts){0};
}

uint64_t copy_counts_bytes(const copy_counts *t)
{
    return t->room * sizeof *t->slots;
}

/* The room for one more item. */
static uint64_t room_next(const copy_counts *t)
{
    if (!t->room)
        return FIRST_ROOM;
    return (t->n + 1) * 2 > t->room ? t->room * 2 : t->room;
}

uint64_t copy_counts_bytes_next(const copy_counts *t)
{
    return room_next(t) * sizeof *t->slots;
}

static bool resize(copy_counts *t, uint64_t room)
{
    copy_counts larger = {.room = room, .n = t->n};
    larger.slots = body_new(copy_counts_bytes(&larger));
    if (!larger.slots)
        return false;
    for (uint64_t i = 0; i < t->room; i++)
        if (t->slots[i].count)
            *find(&larger, t->slots[i].hash) = t->slots[i];
    copy_counts_free(t);
    *t = larger;
    return true;
}

uint64_t copy_counts_get(const copy_counts *t, uint64_t hash)
{
    return t->n ? find(t, hash)->count : 0;
}

bool copy_counts_add(copy_counts *t, uint64_t hash, uint64_t n)
{
    if (!copy_counts_get(t, hash)) {
        uint64_t room = room_next(t);
        if (room != t->room && !resize(t, room))
            return false;
        t->n++;
    }
    copy_count *s = find(t, hash);
    s->hash = hash;
    s->count += n;
    return true;
}

bool copy_counts_remove(copy_counts *t, uint64_t hash)
{
    if (!copy_counts_get(t, hash))
        return false;
    copy_count *s = find(t, hash);
    if (--s->count)
        return true;
    t->n--;
    /* Entries that were pushed past the free slot move back, or find() would miss them.
     */
    uint64_t hole = (uint64_t)(s - t->slots), mask = t->room - 1;
    for (uint64_t i = (hole + 1) & mask; t->slots[i].count; i = (i + 1) & mask) {
        uint64_t from_home = (i - home(t, t->slots[i].hash)) & mask;
        if (from_home >= ((i - hole) & mask)) {
            t->slots[hole] = t->slots[i];
            t->slots[i].count = 0;
            hole = i;
        }
    }
    return true;
}

bool copy_counts_copy(copy_counts *to, const copy_counts *from)
{
    *to = (copy_counts){.n = from->n, .room = from->room};
    if (!from->room)
        return true;
    to->slots = body_new(copy_counts_bytes(from));
    if (!to->slots)
        return false;
    memcpy(to->slots, from->slots, copy_counts_bytes(from));
    return true;
}

static int by_hash(const void *x, const void *y)
{
    uint64_t a = ((const copy_count *)x)->hash, b = ((const copy_count *)y)->hash;
    return a < b ? -1 : a > b;
}

void copy_counts_sorted(const copy_counts *t, copy_count *out)
{
    size_t n = 0;
    for (uint64_t i = 0; i < t->room; i++)
        if (t->slots[i].count)
            out[n++] = t->slots[i];
    qsort(out, n, sizeof *out, by_hash);
}
