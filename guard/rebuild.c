/* rebuild.c - a new filter from the table, while reads and writes go on.
 *
 * Publish its number (from now on writers add to it), add the keys that are being
 * written, scan a snapshot, swap. control.h says why in this order. A builder that
 * dies leaves a number that nobody finishes; the next builder gets another one. */
#include "guard_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DOUBT_SECONDS = 3600, BATCH = 256 };

/* Makes the file of an empty filter for KEYS keys and opens it. It is never full: keys
 * beyond KEYS raise its error until the next build. */
static int make_filter(seen_guard *g, uint32_t number, uint64_t keys, seen_filter **out)
{
    seen_filter *f;
    seen_size size = {.kind = g->config.error < 1e-4 ? SEEN_CLASSIC : SEEN_BLOCKED,
                      .keys = keys,
                      .error = g->config.error};
    int rc = seen_solve(&size);
    seen_spec spec = {.kind = size.kind,
                      .bits = size.bits,
                      .probes = size.probes,
                      .hasher = &g->filters.hasher,
                      .flags = SEEN_ATOMIC};
    if (rc == 0)
        rc = seen_new(&spec, &f);
    if (rc < 0)
        return sn_guard_fail(rc, "cannot make a filter: %s", seen_reason());
    rc = sn_mapped_make(&g->filters, number, f, out);
    seen_free(f);
    return rc;
}

typedef struct building {
    seen_guard *g;
    seen_filter *f;
    uint32_t number;
    uint64_t keys, room;
    size_t waiting;
    uint64_t hash[BATCH];
} building;

static void add_waiting(building *b)
{
    seen_add_hashes(b->f, b->hash, b->waiting, NULL, NULL);
    b->waiting = 0;
}

static int add_scanned(void *arg, const void *key, size_t len)
{
    building *b = arg;
    b->hash[b->waiting++] = seen_hasher_hash(&b->g->filters.hasher, key, len);
    if (++b->keys > b->room)
        return SCAN_TOO_SMALL;
    if (b->waiting == BATCH) {
        add_waiting(b);
        if (next_of(b->g->control->live_and_next) != b->number || b->g->stop)
            return SCAN_GIVEN_UP;
    }
    return 0;
}

/* Slots that this build may free. */
typedef struct decided {
    size_t n;
    struct {
        control_slot *slot;
        uint64_t owner;
    } at[CONTROL_SLOTS];
} decided;

/* Adds the keys being written. A mark that a dead process left, or one that did not
 * know the outcome, is decided after an hour, in the database as in the cache: its slot
 * is freed by this build. */
static void add_in_flight(building *b, decided *d)
{
    for (size_t i = 0; i < CONTROL_SLOTS; i++) {
        control_slot *s = b->g->control->slot + i;
        uint64_t owner = s->owner;
        if (owner == 0)
            continue;
        b->hash[0] = s->hash;
        b->waiting = 1;
        add_waiting(b);
        if (sn_control_age(owner) > DOUBT_SECONDS && sn_control_is_doubt(owner)) {
            d->at[d->n].slot = s;
            d->at[d->n++].owner = owner;
        }
    }
}

static void free_decided(decided *d)
{
    for (size_t i = 0; i < d->n; i++) /* unless somebody writes that key again */
        atomic_compare_exchange_strong(&d->at[i].slot->owner, &d->at[i].owner, 0);
}

/* Swaps filter NUMBER into use; false if a writer could not add to it meanwhile. */
static bool publish(control *c, uint32_t number)
{
    uint64_t w = c->live_and_next;
    while (next_of(w) == number)
        if (atomic_compare_exchange_weak(&c->live_and_next, &w,
                                         live_and_next(number, 0)))
            return true;
    return false;
}

/* Names NUMBER as the filter being built; the one in use is returned. */
static uint32_t announce(control *c, uint32_t number)
{
    uint64_t w = c->live_and_next;
    while (!atomic_compare_exchange_weak(&c->live_and_next, &w,
                                         live_and_next(live_of(w), number)))
        ;
    return live_of(w);
}

/* Takes NUMBER back, if it still is the one being built. */
static void withdraw(control *c, uint32_t number)
{
    uint64_t w = c->live_and_next;
    while (next_of(w) == number)
        if (atomic_compare_exchange_weak(&c->live_and_next, &w,
                                         live_and_next(live_of(w), 0)))
            return;
}

/* One try with room for ROOM keys: 0, SCAN_TOO_SMALL, SCAN_GIVEN_UP or an error. */
static int build_once(seen_guard *g, uint64_t room, bool asked)
{
    control *c = g->control;
    uint32_t number = ++c->last, before;
    uint64_t deleted = c->deleted;
    building b = {.g = g, .number = number, .room = room};
    decided *d = calloc(1, sizeof *d);
    if (!d)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    int rc = make_filter(g, number, room, &b.f);
    if (rc < 0)
        goto out;
    before = announce(c, number);
    /* Suspending sets the flag, then the word: we see one of the two. */
    rc = c->suspended && !asked ? SCAN_GIVEN_UP : 0;
    if (rc == 0) {
        add_in_flight(&b, d);
        rc = g->config.db.scan(g->config.db.ctx, add_scanned, &b);
        add_waiting(&b);
    }
    seen_free(b.f);
    if (rc == 0 && !publish(c, number))
        rc = SCAN_GIVEN_UP;
    if (rc != 0) {
        withdraw(c, number);
        goto out;
    }
    c->built = b.keys;
    c->added = 0;
    c->deleted -= deleted; /* keys deleted during the scan may be in the new filter */
    c->capacity = room;
    free_decided(d);
    number = before; /* whose file is removed */
out:
    sn_mapped_remove(&g->filters, number);
    free(d);
    return rc;
}

/* Files of builders that died. Only the holder of the lock makes new ones. */
static void sweep(seen_guard *g)
{
    uint64_t w = g->control->live_and_next;
    while (next_of(w) && !atomic_compare_exchange_weak(&g->control->live_and_next, &w,
                                                       live_and_next(live_of(w), 0)))
        ;
    uint32_t last = g->control->last, live = live_of(w);
    for (uint32_t n = last > 64 ? last - 64 : 1; n <= last; n++)
        if (n != live)
            sn_mapped_remove(&g->filters, n);
}

int sn_local_build(seen_guard *g, bool asked)
{
    control *c = g->control;
    if (!sn_local_is_ours(g))
        return sn_guard_fail(SEEN_EMISMATCH, "%s %s", g->config.path,
                             g->file.gone ? "was deleted while in use: close the guard "
                                            "and open it again"
                                          : "now belongs to another database");
    int64_t quiet = sn_control_quiet_ms(c);
    if (quiet > 0)
        usleep((useconds_t)quiet * 1000);
    if (asked)
        c->suspended = 0;
    int lock = sn_control_lock_build(g->config.path), rc;
    if (lock < 0)
        return 0;
    sweep(g);
    uint64_t known = c->built + c->added;
    uint64_t room = sn_guard_room(g, known - (c->deleted < known ? c->deleted : known));
    while ((rc = build_once(g, room, asked)) == SCAN_TOO_SMALL)
        room = sn_guard_more(room);
    sn_control_unlock(lock);
    return sn_guard_built(g, rc);
}

int sn_local_suspend(seen_guard *g)
{
    g->control->suspended = 1;
    /* A build under way is given up too: it may have missed keys. */
    g->control->live_and_next = 0;
    return 0;
}

bool sn_local_due(seen_guard *g)
{
    const control *c = g->control;
    if (!sn_local_is_ours(g))
        return false;
    if (live_of(c->live_and_next) == 0)
        return !c->suspended;
    uint64_t keys = c->built + c->added;
    return keys > c->capacity ||
           (double)c->deleted > g->config.worn * (double)keys + 100;
}
