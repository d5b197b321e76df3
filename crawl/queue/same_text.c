/* same_text.c - a hash table with open addressing; its room is a power of two. */
#include "same_text.h"
#include "messages.h"

#include <stdlib.h>

static text_seen *find_text(const same_text *s, uint64_t hash)
{
    size_t i = hash & (s->room - 1);
    while (s->texts[i].hash && s->texts[i].hash != hash)
        i = (i + 1) & (s->room - 1);
    return &s->texts[i];
}

uint64_t same_text_add(same_text *s, uint64_t hash, uint64_t at)
{
    if (2 * s->count >= s->room) {
        same_text old = *s;
        s->room = old.room ? 2 * old.room : 1024;
        s->texts = kit_alloc(s->room * sizeof *s->texts);
        for (size_t i = 0; i < old.room; i++)
            if (old.texts[i].hash)
                *find_text(s, old.texts[i].hash) = old.texts[i];
        free(old.texts);
    }
    text_seen *t = find_text(s, hash);
    if (!t->hash) {
        *t = (text_seen){hash, at, 0};
        s->count++;
    }
    t->pages++;
    return t->at == at ? 0 : t->at;
}

void same_text_free(same_text *s)
{
    free(s->texts);
    *s = (same_text){0};
}
