/* exact.c - `seen uniq -x`: no distinct line is dropped, whatever the hash does.
 *
 * First pass: a filter of some 8 bits a line says "certainly new" or "perhaps seen";
 * the hashes of the latter go to a second, small filter. Second pass: a line that is
 * not in the second filter occurs once. The others, lines with repeats and a few false
 * positives, are looked up in a table of where lines begin and compared byte by byte
 * with what is there. So memory is that of the filters and 8 to 10 bytes for each line
 * that has repeats.
 *
 * Comparing jumps all over the files, which are mapped: the system counts the pages
 * that were touched as ours, and takes them back when it needs them. In files larger
 * than half of the machine's memory each jump would read from disk. There comparisons
 * are deferred (deferred_compare.c), made in the order of the file and noted in one
 * bit a line, and a third pass prints. If the table would outgrow its budget, the
 * second pass is made several times, each for a part of the hashes. Pipes and
 * compressed files are copied to TMPDIR in the first pass. */
#include "against.h"
#include "mapped_inputs.h"
#include "output.h"
#include "progress.h"
#include "deferred_compare.h"
#include "messages.h"
#include "seed.h"
#include "source.h"
#include "uniq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TAG_BITS = 20, AHEAD = 64 };
#define TAG_MASK (((uint64_t)1 << TAG_BITS) - 1)

typedef struct exact {
    uniq *u;
    mapped_inputs in;
    seen_hasher hasher;
    seen_filter *first, *again;  /* lines; lines that perhaps have repeats */
    uint64_t *slot, slots, used; /* (offset + 1) << TAG_BITS | tag of the hash */
    arena words;
    uint64_t lines;
    uint8_t *notes; /* one bit a line: it occurred before */
    size_t notes_len;
    deferred *deferred; /* comparisons, or NULL if they are made at once */
} exact;

/* The key of the line at OFFSET; valid until the next call. */
static seen_key key_at(exact *x, uint64_t offset)
{
    const keyspec *k = &x->u->keys;
    const mapped_input *s;
    const char *p = mapped_inputs_at(&x->in, offset, &s), *end = s->map + s->len;
    seen_key line = {p, 0};
    uint64_t missing = 0;
    if (k->csv) {
        kit_cut_csv(&p, end, k->term, keyspec_comma(k), &line, 1);
    } else {
        const char *e = memchr(p, k->term, (size_t)(end - p));
        line.len = (size_t)((e ? e : end) - p);
    }
    arena_reset(&x->words);
    return keyspec_key(k, &x->words, line, &missing);
}

/* Whether the line at OFFSET has this key. */
static bool equal(exact *x, uint64_t offset, seen_key key)
{
    const keyspec *k = &x->u->keys;
    const mapped_input *s;
    const char *p = mapped_inputs_at(&x->in, offset, &s), *end = s->map + s->len;
    if (keyspec_plain(k) && !k->csv) {
        size_t left = (size_t)(end - p);
        return left >= key.len && (left == key.len || p[key.len] == (char)k->term) &&
               memcmp(p, key.data, key.len) == 0;
    }
    seen_key other = key_at(x, offset);
    return other.len == key.len && memcmp(other.data, key.data, key.len) == 0;
}

/* ---- the table ------------------------------------------------------------------- */

static inline uint64_t home_of(uint64_t h, uint64_t slots)
{
    return (uint64_t)(((unsigned __int128)h * slots) >> 64);
}

static void new_table(exact *x, uint64_t slots)
{
    size_t len = slots * sizeof *x->slot;
    x->slots = slots;
    x->used = 0;
    x->slot =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (x->slot == MAP_FAILED)
        kit_die("out of memory (%zu bytes wanted)", len);
    madvise(x->slot, len, MADV_HUGEPAGE);
}

static void free_table(exact *x)
{
    if (x->slot)
        munmap(x->slot, x->slots * sizeof *x->slot);
    x->slot = NULL;
}

/* The hashes are not kept, so a table that is too small is filled again from the lines
 * themselves. Sizes are computed to make that rare. */
static void double_table(exact *x)
{
    uint64_t *old = x->slot, slots = x->slots;
    new_table(x, slots * 2);
    for (uint64_t i = 0; i < slots; i++) {
        if (!old[i])
            continue;
        uint64_t h = feed_hash(&x->hasher, key_at(x, (old[i] >> TAG_BITS) - 1));
        uint64_t at = home_of(h, x->slots);
        while (x->slot[at])
            at = at + 1 == x->slots ? 0 : at + 1;
        x->slot[at] = old[i];
        x->used++;
    }
    munmap(old, slots * sizeof *old);
}

/* Whether the line was there before; if it was not, it is added. */
static bool look_up(exact *x, uint64_t h, seen_key key, uint64_t offset)
{
    uint64_t at = home_of(h, x->slots), tag = h & TAG_MASK;
    for (; x->slot[at]; at = at + 1 == x->slots ? 0 : at + 1)
        if ((x->slot[at] & TAG_MASK) == tag &&
            equal(x, (x->slot[at] >> TAG_BITS) - 1, key))
            return true;
    x->slot[at] = (offset + 1) << TAG_BITS | tag;
    if (++x->used > x->slots / 8 * 7)
        double_table(x);
    return false;
}

/* The same without comparing: *FIRST is where a line with this tag begins, nearly
 * always an equal one. */
static bool look_up_tag(exact *x, uint64_t h, uint64_t offset, uint64_t *first)
{
    uint64_t at = home_of(h, x->slots), tag = h & TAG_MASK;
    for (; x->slot[at]; at = at + 1 == x->slots ? 0 : at + 1)
        if ((x->slot[at] & TAG_MASK) == tag) {
            *first = (x->slot[at] >> TAG_BITS) - 1;
            return true;
        }
    x->slot[at] = (offset + 1) << TAG_BITS | tag;
    if (++x->used > x->slots / 8 * 7)
        double_table(x);
    return false;
}

/* ---- deferred comparisons -------------------------------------------------------- */

static bool deferred_equal(void *ctx, uint64_t first, seen_key key)
{
    return equal(ctx, first, key);
}

static const void *deferred_where(void *ctx, uint64_t first)
{
    const mapped_input *s;
    return mapped_inputs_at(&((exact *)ctx)->in, first, &s);
}

static void deferred_note(void *ctx, uint64_t line)
{
    exact *x = ctx;
    x->notes[line / 8] |= (uint8_t)(1 << line % 8);
}

/* The tag was that of another line: looks it up again and compares at once. */
static void deferred_differs(void *ctx, uint64_t line, uint64_t offset, seen_key key)
{
    exact *x = ctx;
    if (look_up(x, feed_hash(&x->hasher, key), key, offset))
        deferred_note(x, line);
}

/* Gives back the pages that comparing has touched. */
static void deferred_done(void *ctx)
{
    mapped_inputs_give_back(&((exact *)ctx)->in);
}

static const deferred_calls calls = {deferred_equal, deferred_where, deferred_note,
                                     deferred_differs, deferred_done};

/* ---- passes ---------------------------------------------------------------------- */

static feed *open_feed(exact *x, bool again, bool hash)
{
    feed_spec spec = {.files = x->in.path,
                      .nfiles = x->in.n,
                      .keys = x->u->keys,
                      .hash = hash,
                      .hasher = x->hasher,
                      .threads = x->u->threads,
                      .raw = again,
                      .most = x->in.most};
    return feed_open(&spec);
}

static void progress(exact *x, const feed *f)
{
    feed_progress(f, x->lines, x->u->out.lines,
                  (x->first ? seen_bytes(x->first) : 0) + x->slots * 8);
}

/* How many lines there will be, by the length of those in the first block. */
static uint64_t guess_lines(const exact *x, const feed *f, const batch *b)
{
    if (x->u->size.keys)
        return x->u->size.keys;
    uint64_t total = kit_lines_total(feed_lines(f));
    if (!total || b->block.packed)
        return 4000000;
    return (uint64_t)((double)total / (double)b->block.len * (double)b->n * 1.05) + 100;
}

static void first_pass(exact *x)
{
    feed *f = open_feed(x, false, true);
    uint64_t *some = NULL;
    size_t room = 0;
    for (batch *b; (b = feed_next(f)) && !kit_stopped; feed_done(f, b)) {
        mapped_input *s = x->in.file + b->block.file;
        if (s->list)
            against_check_list(x->u, s->name, &b->block);
        mapped_inputs_take(&x->in, &b->block);
        if (!x->first) {
            seen_spec spec = {
                .keys = guess_lines(x, f, b), .error = 0.05, .hasher = &x->hasher};
            uint64_t memory = x->u->size.memory;
            if (memory && spec.keys > memory / 4) /* 8 bits each would be too many */
                spec = (seen_spec){.kind = SEEN_BLOCKED,
                                   .bits = memory / 4 * 8,
                                   .probes = 4,
                                   .hasher = &x->hasher};
            x->first = sizing_make(&spec);
            seen_spec few = {
                .keys = spec.keys / 4 + 1000, .error = 0.01, .hasher = &x->hasher};
            if (spec.bits)
                few = (seen_spec){.kind = SEEN_BLOCKED,
                                  .bits = memory / 4 * 8,
                                  .probes = 5,
                                  .hasher = &x->hasher};
            x->again = sizing_make(&few);
        }
        if (seen_add_hashes(x->first, b->hash, b->n, b->dup, NULL) < 0)
            kit_die("%s", seen_reason());
        if (b->n > room) {
            room = b->n;
            some = kit_grow(some, room, sizeof *some);
        }
        size_t m = 0;
        for (size_t i = 0; i < b->n; i++) {
            some[m] = b->hash[i];
            m += b->dup[i];
        }
        if (seen_add_hashes(x->again, some, m, b->dup, NULL) < 0)
            kit_die("%s", seen_reason());
        x->lines += b->n;
        progress(x, f);
    }
    if (!kit_stopped)
        feed_close(f);
    free(some);
}

/* Marks in b->dup the lines that occurred before, of those whose hash is in part PART
 * of PARTS, or defers the comparison. FIRST_LINE is the number of the batch's first
 * line; PERHAPS and AT are room for a batch. */
static void mark_repeats(exact *x, batch *b, unsigned part, unsigned parts,
                         uint64_t first_line, bool *perhaps, uint32_t *at)
{
    size_t m = 0;
    seen_has_hashes(x->again, b->hash, b->n, perhaps);
    for (size_t i = 0; i < b->n; i++) {
        at[m] = (uint32_t)i;
        m += perhaps[i];
        b->dup[i] = false;
    }
    for (size_t i = 0; i < m + AHEAD; i++) {
        if (i < m)
            __builtin_prefetch(x->slot + home_of(b->hash[at[i]], x->slots));
        if (!x->deferred && i >= AHEAD / 2 && i - AHEAD / 2 < m) {
            /* The slot has arrived: prefetch the line it points to. */
            uint64_t h = b->hash[at[i - AHEAD / 2]];
            uint64_t word = x->slot[home_of(h, x->slots)];
            const mapped_input *s;
            if (word && (word & TAG_MASK) == (h & TAG_MASK)) {
                const char *p = mapped_inputs_at(&x->in, (word >> TAG_BITS) - 1, &s);
                __builtin_prefetch(p);
                __builtin_prefetch(p + 64);
            }
        }
        if (i < AHEAD)
            continue;
        size_t l = at[i - AHEAD];
        uint64_t h = b->hash[l], first;
        if (parts > 1 && (h >> 20) % parts != part)
            continue;
        uint64_t offset =
            b->block.offset + (uint64_t)((const char *)b->line[l].data - b->block.data);
        if (!x->deferred)
            b->dup[l] = look_up(x, h, b->key[l], offset);
        else if (look_up_tag(x, h, offset, &first))
            deferred_add(x->deferred, first, first_line + l, offset, b->key[l]);
    }
}

static void print(exact *x, batch *b)
{
    uniq *u = x->u;
    if (x->in.file[b->block.file].list)
        return;
    u->lines += b->n;
    u->missing += b->missing;
    emit_header(&u->dup, &u->keys);
    emit_header(&u->out, &u->keys);
    if (u->dup.out)
        emit_lines(&u->dup, b, true, false);
    emit_lines(&u->out, b, u->repeated, true);
}

/* One pass with the table. Without notes it prints; with notes it only fills them. */
static void second_pass(exact *x, unsigned part, unsigned parts)
{
    feed *f = open_feed(x, true, true);
    bool *perhaps = NULL;
    uint32_t *at = NULL;
    size_t room = 0;
    uint64_t line = 0;
    for (batch *b; (b = feed_next(f)) && !kit_stopped; feed_done(f, b)) {
        if (b->n > room) {
            room = b->n;
            perhaps = kit_grow(perhaps, room, sizeof *perhaps);
            at = kit_grow(at, room, sizeof *at);
        }
        mark_repeats(x, b, part, parts, line, perhaps, at);
        if (!x->notes)
            print(x, b);
        line += b->n;
        progress(x, f);
    }
    if (x->deferred)
        deferred_flush(x->deferred);
    if (!kit_stopped)
        feed_close(f);
    free(perhaps);
    free(at);
    if (line != x->lines && !kit_stopped)
        kit_die("an input file changed while it was read");
}

static void print_pass(exact *x)
{
    feed *f = open_feed(x, true, false);
    uint64_t line = 0;
    for (batch *b; (b = feed_next(f)) && !kit_stopped; feed_done(f, b)) {
        for (size_t i = 0; i < b->n; i++, line++)
            b->dup[i] = x->notes[line / 8] >> line % 8 & 1;
        print(x, b);
    }
    if (!kit_stopped)
        feed_close(f);
}

/* Room for the notes: on disk, unless they are few. */
static void map_notes(exact *x)
{
    size_t len = x->notes_len = x->lines / 8 + 1;
    int fd = -1;
    if (len > 16 << 20) {
        fd = kit_temp_nameless();
        if (fd < 0 || posix_fallocate(fd, 0, (off_t)len) != 0)
            kit_die("no room for a temporary file of %zu bytes in TMPDIR", len);
    }
    x->notes = mmap(NULL, len, PROT_READ | PROT_WRITE,
                    fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
    if (x->notes == MAP_FAILED)
        kit_die("cannot map a temporary file: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
}

void uniq_exact(uniq *u)
{
    exact x = {.u = u, .hasher = kit_new_hasher(0)};
    u->kind = "exact";
    mapped_inputs_open(&x.in, u);
    kit_progress_start(u->quiet);
    first_pass(&x);
    if (x.first && !kit_stopped) {
        mapped_inputs_map(&x.in);
        uint64_t perhaps = seen_added(x.again) + (uint64_t)seen_lost_expected(x.again) +
                           (uint64_t)(seen_error_predicted(x.again) * (double)x.lines);
        uint64_t slots = perhaps + perhaps / 3 + 1024;
        /* A table as large as the machine's memory would be swapped. */
        uint64_t machine =
            (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
        uint64_t budget = u->size.memory ? u->size.memory / 2 : machine / 4;
        unsigned parts = (unsigned)(slots * 8 / (budget + 1)) + 1;
        if (parts > 1 || x.in.bytes > machine / 2) {
            map_notes(&x);
            x.deferred = deferred_new(x.in.bytes,
                                      u->size.memory ? u->size.memory / 4 : 256 << 20,
                                      &calls, &x);
        }
        if (parts > 1 && !u->quiet)
            kit_warn("repeated lines exceed the memory: reading %u times", parts + 2);
        for (unsigned p = 0; p < parts && !kit_stopped; p++) {
            free_table(&x);
            new_table(&x,
                      parts == 1 ? slots : slots / parts + slots / parts / 8 + 1024);
            second_pass(&x, p, parts);
        }
        if (x.notes && !kit_stopped)
            print_pass(&x);
        u->memory = seen_bytes(x.first) + seen_bytes(x.again) + x.slots * 8 +
                    x.notes_len + (x.deferred ? deferred_bytes(x.deferred) : 0);
        if (!kit_stopped)
            mapped_inputs_check(&x.in);
    }
    kit_progress_end();
    free_table(&x);
    deferred_free(x.deferred);
    if (x.notes)
        munmap(x.notes, x.notes_len);
    seen_free(x.first);
    seen_free(x.again);
    arena_free(&x.words);
    mapped_inputs_close(&x.in);
}
