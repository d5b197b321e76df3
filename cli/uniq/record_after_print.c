/* record_after_print.c - lines that a filter hears of only after they were written.
 *
 * A server takes an add at once and for ever, so whoever adds before he prints loses
 * lines when he is killed in between. Here they are asked first and recorded last. The
 * price is a second question, and that others who ask meanwhile hear "new" as well.
 * Until they are recorded a set of our own knows the lines, so that of equal ones only
 * the first is new. */
#include "record_after_print.h"
#include "say.h"
#include "sizing.h"

#include <stdlib.h>
#include <string.h>

/* A server's batches are hundreds of keys: more at once save nothing. A block of lines
 * fits into a small set. */
enum { ROOM = 512, FIRST_KEYS = 8191 };

struct later {
    bool keep;
    seen_filter *unrecorded;
    char *bytes; /* of the keys that are kept, one after the other */
    size_t used, room;
    size_t *len;
    size_t n, most;
};

later *later_new(bool keep)
{
    later *l = kit_alloc(sizeof *l);
    seen_spec set = {.kind = SEEN_SET, .keys = FIRST_KEYS};
    l->keep = keep;
    l->unrecorded = sizing_make(&set);
    return l;
}

void later_free(later *l)
{
    if (!l)
        return;
    seen_free(l->unrecorded);
    free(l->bytes);
    free(l->len);
    free(l);
}

uint64_t later_bytes(const later *l)
{
    return seen_bytes(l->unrecorded) + l->room + l->most * sizeof *l->len;
}

static void keep(later *l, seen_key key)
{
    if (key.len > l->room - l->used) {
        l->room = (l->used + key.len) * 2;
        l->bytes = kit_grow(l->bytes, l->room, 1);
    }
    if (l->n == l->most) {
        l->most = l->most ? l->most * 2 : ROOM;
        l->len = kit_grow(l->len, l->most, sizeof *l->len);
    }
    memcpy(l->bytes + l->used, key.data, key.len);
    l->used += key.len;
    l->len[l->n++] = key.len;
}

void later_ask(later *l, store *s, const seen_key *keys, size_t n, bool *dup)
{
    store_has(s, keys, NULL, n, dup);
    for (size_t i = 0; i < n; i++) {
        if (dup[i])
            continue;
        int rc = seen_add(l->unrecorded, keys[i].data, keys[i].len);
        if (rc < 0)
            kit_die("%s", seen_strerror(rc));
        dup[i] = rc == SEEN_DUP;
        if (!dup[i] && l->keep)
            keep(l, keys[i]);
    }
}

void later_record(later *l, store *s)
{
    seen_key key[ROOM];
    bool dup[ROOM];
    const char *at = l->bytes;
    for (size_t i = 0, n; i < l->n; i += n) {
        for (n = 0; n < ROOM && i + n < l->n; n++) {
            key[n] = (seen_key){at, l->len[i + n]};
            at += key[n].len;
        }
        store_add(s, key, NULL, n, dup);
    }
    l->n = l->used = 0;
    seen_clear(l->unrecorded);
}
