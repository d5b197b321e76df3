/* origins.c - a table of keys and places, open addressing, at most half full. */
#include "origins.h"
#include "sample.h"
#include "messages.h"

#include <stdlib.h>

struct origins {
    struct entry {
        uint64_t key;
        origin place;
    } * entry;
    size_t room, used;
};

origins *origins_new(void)
{
    origins *o = kit_alloc(sizeof *o);
    o->room = 1 << 16;
    o->entry = kit_alloc(o->room * sizeof *o->entry);
    return o;
}

void origins_free(origins *o)
{
    if (o)
        free(o->entry);
    free(o);
}

uint64_t origins_bytes(const origins *o)
{
    return o ? o->room * sizeof *o->entry : 0;
}

/* The entry of KEY, or the empty one where it belongs. */
static struct entry *entry_of(const origins *o, uint64_t key)
{
    size_t i = kit_mix(key) & (o->room - 1);
    while (o->entry[i].place && o->entry[i].key != key)
        i = (i + 1) & (o->room - 1);
    return o->entry + i;
}

static void grow(origins *o)
{
    struct entry *old = o->entry;
    size_t n = o->room;
    o->room = n * 2;
    o->entry = kit_alloc(o->room * sizeof *o->entry);
    for (size_t i = 0; i < n; i++)
        if (old[i].place)
            *entry_of(o, old[i].key) = old[i];
    free(old);
}

origin origins_find(const origins *o, const uint64_t *key, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        origin place = entry_of(o, key[i])->place;
        if (place)
            return place;
    }
    return 0;
}

void origins_note(origins *o, const uint64_t *key, size_t n, origin place)
{
    for (size_t i = 0; i < n; i++) {
        struct entry *e = entry_of(o, key[i]);
        if (e->place)
            continue;
        *e = (struct entry){key[i], place};
        if (++o->used * 2 > o->room)
            grow(o);
    }
}
