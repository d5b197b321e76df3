/* against.c - opens what else counts as seen: filters as they are, lists as sets. */
#include "against.h"
#include "messages.h"

#include <string.h>

void against_check_list(const uniq *u, const char *name, const kit_block *b)
{
    if (b->len >= 5 && !memcmp(b->data, "\x89seen", 5))
        kit_die("--against %s: a filter must be a file that can be mapped", name);
    if (u->keys.term && strcmp(name, "-") && memchr(b->data, 0, b->len))
        kit_die("--against %s: neither a filter (%s) nor a list of lines: it holds NUL "
                "bytes (give a list that does on standard input, --against -)",
                name, seen_reason());
}

/* HASHER is that of the run, so that one hash serves both; NULL: the list has its own.
 */
static named_filter *open_list(const uniq *u, const char *name,
                               const seen_hasher *hasher)
{
    char *const files[] = {(char *)name};
    feed_spec spec = {
        .files = files, .nfiles = 1, .keys = keyspec_elsewhere(&u->keys), .hash = true};
    seen_spec set = {.kind = SEEN_SET, .hasher = hasher};
    named_filter *s = kit_alloc(sizeof *s);
    *s = (named_filter){
        .name = name, .filter = sizing_make(&set), .hashes = true, .lock = -1};
    seen_get_hasher(s->filter, &spec.hasher);
    feed *f = feed_open(&spec);
    uint64_t lines = 0, missing = 0;
    for (batch *b; (b = feed_next(f)); feed_done(f, b)) {
        against_check_list(u, name, &b->block);
        named_add(s, b->key, b->hash, b->n, b->dup);
        lines += b->n;
        missing += b->missing;
    }
    feed_close(f);
    if (lines && missing == lines)
        kit_die("--against %s: no line has field %s: -k counts for lists too (for a "
                "list of bare keys make a filter with 'seen add')",
                name, u->keys.asked);
    return s;
}

void against_open(uniq *u)
{
    seen_hasher own, its;
    bool hashed = u->seen->hashes && seen_get_hasher(u->seen->filter, &own) == 0;
    u->against = kit_alloc(u->nagainst * sizeof *u->against);
    for (size_t i = 0; i < u->nagainst; i++) {
        bool piped = !strcmp(u->against_name[i], "-");
        named_filter *s = piped ? NULL : named_open_if_filter(u->against_name[i]);
        if (!s)
            s = open_list(u, u->against_name[i], hashed ? &own : NULL);
        /* A filter can use the hashes of the run only if it hashes the same way. */
        s->hashes = s->hashes && hashed && seen_get_hasher(s->filter, &its) == 0 &&
                    !memcmp(&own, &its, sizeof own);
        u->against[i] = s;
    }
}
