/* storm_actors.h - what writers and readers do in a storm, and what they count.
 *
 * A reader looks into the database by itself, asks the guard, and where the guard says
 * "absent" looks again: if the same version of the row was there before and after, it
 * was there all the time, and the guard has refused it. Every row ever written has a
 * version of its own. */
#ifndef STORM_ACTORS_H
#define STORM_ACTORS_H
#include "seen_guard.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HOT = 300 };

typedef struct storm_counts {
    _Atomic unsigned next, version;
    _Atomic unsigned long checks, refused_wrongly, stale, present, inserts, erases,
        builds, refused, markers, hits, past_cache, opened, errors, refused_writes;
    _Atomic bool stop;
    char wrong[200];
} storm_counts;
static storm_counts *sh;

static void storm_share(void)
{
    sh = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
              0);
}

static unsigned dice; /* of this process */
static unsigned roll(unsigned n)
{
    dice = dice * 1103515245 + 12345;
    return dice / 65536 % n;
}

static size_t make_key(char key[32], unsigned n)
{
    return (size_t)sprintf(key, "k%u", n);
}

/* A fresh key, or one of a few that come and go. */
static void write_some(seen_guard *g)
{
    char key[32], value[32];
    size_t len = make_key(key, roll(2) ? sh->next++ : roll(HOT));
    if (roll(3) == 0) {
        len = make_key(key, roll(HOT));
        int rc = seen_guard_erase(g, key, len);
        sh->erases += rc == 1;
        sh->refused_writes += rc < 0;
        return;
    }
    int n = sprintf(value, "%u", ++sh->version);
    int rc = seen_guard_insert(g, key, len, value, (size_t)n);
    sh->inserts += rc == 1;
    sh->refused_writes += rc < 0;
}

static bool same(seen_guard_bytes a, seen_guard_bytes b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static void read_some(seen_guard *g, const seen_guard_db *look)
{
    char key[32];
    /* Just written or about to be; coming and going; never written. */
    unsigned which = roll(10), last = sh->next;
    size_t len = make_key(key, which < 5   ? last + 1 - roll(4)
                               : which < 8 ? roll(HOT)
                                           : 1u << 30 | roll(1000));
    seen_guard_bytes before = {NULL, 0}, after = {NULL, 0}, got = {NULL, 0};
    int was = look->get(look->ctx, key, len, &before);
    int rc = seen_guard_get(g, key, len, &got);
    if (was == 1 && rc >= 0) {
        int is = look->get(look->ctx, key, len, &after);
        if (is == 1 && same(before, after)) {
            sh->present++;
            if (rc == 0 && sh->refused_wrongly++ == 0)
                snprintf(sh->wrong, sizeof sh->wrong, "%s", key);
            if (rc == 1 && !same(got, before))
                sh->stale++;
        }
    }
    sh->checks++;
    sh->errors += rc < 0;
    free(before.data);
    free(after.data);
    free(got.data);
}

static void account(seen_guard *g, seen_guard_stats *last)
{
    seen_guard_stats s;
    seen_guard_get_stats(g, &s);
    sh->refused += s.refused - last->refused;
    sh->markers += s.markers - last->markers;
    sh->hits += s.hits - last->hits;
    sh->past_cache += s.past_cache - last->past_cache;
    sh->opened += s.open - last->open;
    sh->builds += s.builds - last->builds;
    *last = s;
}

static int keys_asked, keys_lost;
static int ask_again(void *arg, const void *key, size_t len)
{
    keys_asked++;
    keys_lost += seen_guard_get(arg, key, len, NULL) != 1;
    return 0;
}

/* What went on, as one note. */
static void storm_report(const char *kind)
{
    printf(
        "# %s: %lu questions (%lu of present keys), %lu inserts, %lu deletes, %lu "
        "writes "
        "refused, %lu builds; refused %lu, markers %lu, hits %lu, past the cache %lu, "
        "open %lu, errors %lu\n",
        kind, sh->checks, sh->present, sh->inserts, sh->erases, sh->refused_writes,
        sh->builds, sh->refused, sh->markers, sh->hits, sh->past_cache, sh->opened,
        sh->errors);
}
#endif
