/* budget.c - a run that stays within its memory.
 *
 * A set holds the hashes, so it can become a filter at any moment without losing a
 * line up to then. Both together would take twice the memory, so the set is written to
 * a temporary file and the filter is built from there. */
#include "budget.h"
#include "output.h"
#include "messages.h"
#include "human_numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Keys that a set of at most BYTES holds. */
static uint64_t set_holds(uint64_t bytes)
{
    seen_size set = {.kind = SEEN_SET, .bytes = bytes, .error = 0.01};
    return seen_solve(&set) < 0 ? 0 : set.keys;
}

/* Keys of a set that doubles to exactly MEMORY bytes. */
static uint64_t first_keys(uint64_t memory)
{
    while (memory > 1 << 20)
        memory /= 2;
    uint64_t keys = set_holds(memory);
    return keys ? keys : 1;
}

/* A filter of exactly MEMORY bytes, the best for KEYS, that never refuses a key. */
static seen_spec filter_in(uint64_t memory, uint64_t keys)
{
    seen_size best = {.keys = keys, .bytes = memory};
    if (seen_solve(&best) < 0)
        kit_die("%s", seen_reason());
    return (seen_spec){.kind = best.kind, .bits = best.bits, .probes = best.probes};
}

seen_spec budget_spec(uint64_t memory, uint64_t keys)
{
    if (!keys || keys <= set_holds(memory))
        return (seen_spec){.kind = SEEN_SET, .keys = first_keys(memory)};
    return filter_in(memory, keys);
}

/* F with its bodies in a temporary file, or F itself if there is no room for one. */
static seen_filter *move_out(seen_filter *f)
{
    const char *dir = getenv("TMPDIR");
    char base[4096], *name;
    seen_filter *g = NULL;
    snprintf(base, sizeof base, "%s/seen", dir && *dir ? dir : "/tmp");
    int fd = kit_temp_beside(base, &name);
    if (fd < 0)
        return f;
    close(fd);
    if (seen_save(f, name) == 0 && seen_open(name, SEEN_READ, &g) == 0)
        seen_free(f);
    unlink(name);
    kit_temp_forget(name);
    return g ? g : f;
}

size_t budget_keep(uniq *u, size_t n)
{
    uint64_t memory = u->size.memory;
    seen_filter *f = u->seen->filter;
    if (!memory || !f)
        return n;
    uint64_t bytes = seen_bytes(f), added = seen_added(f);
    if (seen_kind_of(f) != SEEN_SET) {
        /* Said once, when the number given turns out too low. */
        if (u->size.keys && added > u->size.keys && !u->quiet) {
            kit_warn("more than the %s distinct lines expected: each new line is now "
                     "lost with probability %.2g and rising",
                     kit_counted(u->size.keys), seen_error_predicted(f));
            u->size.keys = 0;
        }
        return n;
    }
    if (bytes * 2 <= memory)
        return n < bytes / 16 ? n : bytes / 16 + 1;
    /* It cannot double again: fill it to the last bucket, but not key by key. */
    uint64_t most = set_holds(bytes), room = most > added ? most - added : 0;
    if (room > 64 || n <= room)
        return n < room ? n : (size_t)room;
    /* Made for 16 bits a line: a compromise, as nobody knows how many will come. */
    uint64_t keys = u->size.keys > memory / 2 ? u->size.keys : memory / 2;
    seen_spec spec = filter_in(memory, keys);
    f = move_out(f);
    seen_filter *g;
    if (seen_rebuild(f, &spec, &g) < 0)
        kit_die("%s", seen_reason());
    seen_free(f);
    u->seen->filter = g;
    /* The set loses no key, whatever the filter predicts for so many. */
    u->lost_base = seen_lost_expected(g);
    u->short_base = (double)added - (double)seen_added(g);
    if (!u->quiet) {
        char size[24];
        kit_warn(
            "%s reached with %s distinct lines: from here on a filter, in which a "
            "new line is lost with probability %.2g, rising as it fills",
            kit_show_bytes((double)memory, size), kit_counted(added),
            seen_error_predicted(g));
    }
    return n;
}
