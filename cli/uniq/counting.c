/* counting.c - counts lines by their fingerprints, and finds the lines again.
 *
 * A line costs its hash, its count and where it first came: the inputs are mapped
 * afterwards (mapped_inputs.h), so the lines themselves are not kept. If that outgrows
 * its memory, what was counted moves into a count-min sketch, and a second reading
 * prints each line that a filter calls new with the sketch's estimate. */
#include "mapped_inputs.h"
#include <seen_sketch.h>
#include "counting.h"
#include "human_numbers.h"
#include "progress.h"
#include "messages.h"
#include "seed.h"
#include "source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SKETCH_ROWS = 5 };

typedef struct counted {
    uint64_t hash, count, offset, len;
} counted;

typedef struct counting {
    uniq *u;
    mapped_inputs in;
    uint64_t seed;      /* of the sketch */
    seen_hasher hasher; /* of the lines */
    counted *line;      /* in the order of first occurrences */
    size_t n, room;
    uint64_t *slot; /* number + 1 of a line, 0 if empty */
    size_t slots;
    seen_cms *sketch; /* instead, once they are too many */
} counting;

static uint64_t table_bytes(const counting *c)
{
    return c->room * sizeof *c->line + c->slots * sizeof *c->slot;
}

static void double_slots(counting *c)
{
    free(c->slot);
    c->slots = c->slots ? c->slots * 2 : 1 << 6;
    c->slot = kit_alloc(c->slots * sizeof *c->slot);
    for (size_t i = 0; i < c->n; i++) {
        size_t at = c->line[i].hash & (c->slots - 1);
        while (c->slot[at])
            at = (at + 1) & (c->slots - 1);
        c->slot[at] = i + 1;
    }
}

/* The place of the line with this hash, which is added with count 0 if it is new. */
static counted *find(counting *c, uint64_t hash, uint64_t offset, uint64_t len)
{
    if (c->n * 2 >= c->slots)
        double_slots(c);
    size_t at = hash & (c->slots - 1);
    for (; c->slot[at]; at = (at + 1) & (c->slots - 1))
        if (c->line[c->slot[at] - 1].hash == hash)
            return c->line + c->slot[at] - 1;
    if (c->n == c->room) {
        c->room = c->room ? c->room * 2 : 1 << 5;
        c->line = kit_grow(c->line, c->room, sizeof *c->line);
    }
    c->line[c->n] = (counted){.hash = hash, .offset = offset, .len = len};
    c->slot[at] = c->n + 1;
    return c->line + c->n++;
}

/* ---- within a memory ------------------------------------------------------------- */

/* Half of the memory is for the sketch, half for the filter of the second reading. */
static void begin_sketch(counting *c)
{
    uint64_t memory = c->u->size.memory;
    seen_cms_spec spec = {.width = memory / 2 / SKETCH_ROWS / sizeof(uint32_t),
                          .depth = SKETCH_ROWS,
                          .seed = c->seed};
    if (seen_cms_new(&spec, &c->sketch) < 0)
        kit_die("%s", seen_reason());
    for (size_t i = 0; i < c->n; i++)
        seen_cms_add(c->sketch, &c->line[i].hash, 8, c->line[i].count);
    free(c->line);
    free(c->slot);
    c->line = NULL;
    c->slot = NULL;
    c->n = c->room = c->slots = 0;
}

/* ---- the passes ------------------------------------------------------------------ */

static feed *open_feed(const counting *c, bool again)
{
    feed_spec spec = {.files = c->in.path,
                      .nfiles = c->in.n,
                      .keys = c->u->keys,
                      .hash = true,
                      .hasher = c->hasher,
                      .threads = c->u->threads,
                      .raw = again,
                      .most = c->in.most};
    return feed_open(&spec);
}

static void count_batch(counting *c, const batch *b)
{
    uniq *u = c->u;
    for (size_t i = 0; i < b->n; i++) {
        if (c->sketch) {
            seen_cms_add(c->sketch, &b->hash[i], 8, 1);
            continue;
        }
        /* Whatever grows next would double. */
        if (u->size.memory && (c->n == c->room || c->n * 2 >= c->slots) &&
            table_bytes(c) * 2 > u->size.memory) {
            begin_sketch(c);
            i--;
            continue;
        }
        const char *p = b->line[i].data;
        find(c, b->hash[i], b->block.offset + (uint64_t)(p - b->block.data),
             b->line[i].len)
            ->count++;
    }
    u->lines += b->n;
    u->missing += b->missing;
}

static void read_all(counting *c)
{
    feed *f = open_feed(c, false);
    for (batch *b; (b = feed_next(f)) && !kit_stopped; feed_done(f, b)) {
        mapped_inputs_take(&c->in, &b->block);
        count_batch(c, b);
        feed_progress(f, c->u->lines, c->n, table_bytes(c));
    }
    if (!kit_stopped)
        feed_close(f);
}

static void print_line(uniq *u, uint64_t count, const void *line, size_t len)
{
    char text[32], term = (char)u->keys.term;
    if (u->repeated && count < 2)
        return;
    int n = snprintf(text, sizeof text, "%7llu ", (unsigned long long)count);
    emit_bytes(&u->out, text, (size_t)n, false);
    emit_bytes(&u->out, line, len, false);
    emit_bytes(&u->out, &term, 1, false);
    u->out.lines++;
}

static int by_count(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void print_counted(counting *c)
{
    uniq *u = c->u;
    if (u->by_count)
        qsort(c->line, c->n, sizeof *c->line, by_count);
    for (size_t i = 0; i < c->n && !kit_stopped; i++) {
        const mapped_input *s;
        const counted *l = c->line + i;
        /* (An empty line at the very end has no byte to point to.) */
        const char *p = l->len ? mapped_inputs_at(&c->in, l->offset, &s) : "";
        print_line(u, l->count, p, l->len);
    }
    u->kind = "counts";
    u->distinct = c->n;
    u->memory = table_bytes(c);
    u->lost = (double)c->n * (double)c->n * 0x1p-65;
}

static void print_estimated(counting *c)
{
    uniq *u = c->u;
    seen_spec spec = {.kind = SEEN_BLOCKED,
                      .bits = u->size.memory / 2 / 64 * 64 * 8,
                      .probes = 4,
                      .hasher = &c->hasher};
    seen_filter *seen = sizing_make(&spec);
    feed *f = open_feed(c, true);
    for (batch *b; (b = feed_next(f)) && !kit_stopped; feed_done(f, b)) {
        if (seen_add_hashes(seen, b->hash, b->n, b->dup, NULL) < 0)
            kit_die("%s", seen_reason());
        for (size_t i = 0; i < b->n; i++)
            if (!b->dup[i] && ++u->distinct)
                print_line(u, seen_cms_count(c->sketch, &b->hash[i], 8),
                           b->line[i].data, b->line[i].len);
        feed_progress(f, u->lines, u->out.lines, u->size.memory);
    }
    if (!kit_stopped)
        feed_close(f);
    seen_cms_info info;
    seen_cms_get_info(c->sketch, &info);
    u->kind = "count-min";
    u->memory = u->size.memory;
    u->lost = seen_lost_expected(seen);
    seen_lost_range(seen, 0, &u->lost_low, &u->lost_high);
    u->error = seen_error_predicted(seen);
    if (!u->quiet)
        kit_warn(
            "more distinct lines than -m holds: counts are estimates, never too "
            "low, and too high by more than %.0f for at most one line in %.0f; %.*g "
            "lines are expected lost (%.0f to %.0f)",
            ceil(M_E / (double)info.width * (double)u->lines), exp(SKETCH_ROWS),
            u->lost < 10 ? 2 : 6, u->lost, u->lost_low, u->lost_high);
    seen_free(seen);
}

void uniq_count(uniq *u)
{
    counting c = {.u = u, .seed = kit_new_seed(), .hasher = kit_new_hasher(0)};
    mapped_inputs_open(&c.in, u);
    kit_progress_start(u->quiet);
    read_all(&c);
    if (!kit_stopped) {
        mapped_inputs_map(&c.in);
        if (c.sketch && u->by_count)
            kit_die("more distinct lines than -m holds, so counts can only be "
                    "estimated in the order of lines: leave out --by-count, or -m");
        if (c.sketch)
            print_estimated(&c);
        else
            print_counted(&c);
        mapped_inputs_check(&c.in);
    }
    kit_progress_end();
    seen_cms_free(c.sketch);
    free(c.line);
    free(c.slot);
    mapped_inputs_close(&c.in);
}
