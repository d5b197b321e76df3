/* record_after_print.c - lines that are added to a filter only after they are written.
 *
 * A server records an add at once and for ever, so a program that adds before it
 * prints loses lines if it is killed in between. Here a line is looked up first and
 * recorded last. The price is a second request, and that other programs that ask
 * meanwhile also hear "new". Until the lines are recorded a set of our own holds them,
 * so that of equal lines only the first is new. */
#include "record_after_print.h"
#include "messages.h"
#include "filters/sizing.h"

#include <stdlib.h>
#include <string.h>

/* Batches of hundreds of keys keep a server busy: more at once save nothing. A block of
 * lines fits into a small set. */
enum { ROOM = 512, FIRST_KEYS = 8191 };

struct after_print {
    bool keep;
    seen_filter *unrecorded;
    char *bytes; /* of the keys that are kept, one after the other */
    size_t used, room;
    size_t *len;
    size_t n, most;
};

after_print *after_print_new(bool keep)
{
    after_print *a = kit_alloc(sizeof *a);
    seen_spec set = {.kind = SEEN_SET, .keys = FIRST_KEYS};
    a->keep = keep;
    a->unrecorded = sizing_make(&set);
    return a;
}

void after_print_free(after_print *a)
{
    if (!a)
        return;
    seen_free(a->unrecorded);
    free(a->bytes);
    free(a->len);
    free(a);
}

uint64_t after_print_bytes(const after_print *a)
{
    return seen_bytes(a->unrecorded) + a->room + a->most * sizeof *a->len;
}

static void keep(after_print *a, seen_key key)
{
    if (key.len > a->room - a->used) {
        a->room = (a->used + key.len) * 2;
        a->bytes = kit_grow(a->bytes, a->room, 1);
    }
    if (a->n == a->most) {
        a->most = a->most ? a->most * 2 : ROOM;
        a->len = kit_grow(a->len, a->most, sizeof *a->len);
    }
    memcpy(a->bytes + a->used, key.data, key.len);
    a->used += key.len;
    a->len[a->n++] = key.len;
}

void after_print_ask(after_print *a, named_filter *f, const seen_key *keys, size_t n,
                     bool *dup)
{
    named_has(f, keys, NULL, n, dup);
    for (size_t i = 0; i < n; i++) {
        if (dup[i])
            continue;
        int rc = seen_add(a->unrecorded, keys[i].data, keys[i].len);
        if (rc < 0)
            kit_die("%s", seen_strerror(rc));
        dup[i] = rc == SEEN_DUP;
        if (!dup[i] && a->keep)
            keep(a, keys[i]);
    }
}

void after_print_record(after_print *a, named_filter *f)
{
    seen_key key[ROOM];
    bool dup[ROOM];
    const char *at = a->bytes;
    for (size_t i = 0, n; i < a->n; i += n) {
        for (n = 0; n < ROOM && i + n < a->n; n++) {
            key[n] = (seen_key){at, a->len[i + n]};
            at += key[n].len;
        }
        named_add(f, key, NULL, n, dup);
    }
    a->n = a->used = 0;
    seen_clear(a->unrecorded);
}
