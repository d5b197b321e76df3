/* lines.c - reads blocks and carries the beginning of a line over to the next. */
#include "lines.h"
#include "messages.h"
#include "source.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAD = 64 };                       /* how far kit_cut may read beyond the end */
static const size_t csv_most = 16 << 20; /* a larger quoted record was never closed */

struct kit_lines {
    char *const *files;
    size_t n, at; /* files, and the one being read */
    int term;
    bool csv;
    char separator;
    kit_source *source;
    bool raw;
    const uint64_t *most;
    char *carry; /* the beginning of a line whose end has not been read */
    size_t carried, carry_room;
    uint64_t offset;
    _Atomic uint64_t taken; /* of the files before and of this one */
    uint64_t before, total;
    kit_take_header *take; /* of each file's header; or NULL */
    void *take_ctx;
    bool begun;     /* a block of this file was returned */
    uint64_t ended; /* with CSV: lines of this file before the block */
    bool late;      /* the block before was the last, and ERROR is what is wrong */
    char error[512];
};

kit_lines *kit_lines_new(char *const *files, size_t n, int term)
{
    kit_lines *r = kit_alloc(sizeof *r);
    r->files = files;
    r->n = n;
    r->term = term;
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        bool in = strcmp(files[i], "-") == 0;
        if ((in ? fstat(0, &st) : stat(files[i], &st)) < 0 || !S_ISREG(st.st_mode)) {
            r->total = 0;
            break;
        }
        r->total += (uint64_t)st.st_size;
    }
    return r;
}

void kit_lines_raw(kit_lines *r, const uint64_t *most)
{
    r->raw = true;
    r->most = most;
}

void kit_lines_csv(kit_lines *r, char separator)
{
    r->csv = true;
    r->separator = separator;
}

void kit_lines_header(kit_lines *r, kit_take_header *take, void *ctx)
{
    r->take = take;
    r->take_ctx = ctx;
}

void kit_lines_free(kit_lines *r)
{
    if (!r)
        return;
    kit_source_close(r->source);
    free(r->carry);
    free(r);
}

void kit_block_free(kit_block *b)
{
    free(b->data);
    b->data = NULL;
    b->room = b->len = 0;
}

const char *kit_lines_error(const kit_lines *r)
{
    return r->error;
}
uint64_t kit_lines_taken(const kit_lines *r)
{
    return atomic_load(&r->taken);
}
uint64_t kit_lines_total(const kit_lines *r)
{
    return r->total;
}

const char *kit_lines_check(char *const *files, size_t n)
{
    static char message[512];
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        if (strcmp(files[i], "-") == 0)
            continue;
        int bad = 0;
        if (stat(files[i], &st) < 0 || access(files[i], R_OK) < 0)
            bad = errno;
        else if (S_ISDIR(st.st_mode))
            bad = EISDIR;
        if (bad) {
            snprintf(message, sizeof message, "%s: %s", files[i], strerror(bad));
            return message;
        }
    }
    return NULL;
}

static int fail_in(kit_lines *r, size_t file, const char *what)
{
    const char *name = r->files[file];
    snprintf(r->error, sizeof r->error, "%s: %s",
             strcmp(name, "-") ? name : "standard input", what);
    return -1;
}

static int fail(kit_lines *r, const char *what)
{
    return fail_in(r, r->at, what);
}

static int make_room(kit_lines *r, kit_block *b, size_t room)
{
    if (b->room >= room)
        return 0;
    /* The system would grant more than it has, and kill us later. */
    static size_t most;
    if (!most)
        most = (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
    if (room > most && room > 2 * KIT_BLOCK)
        return fail(r, "a line is longer than half of the machine's memory");
    char *p = realloc(b->data, room + PAD);
    if (!p)
        return fail(r, "out of memory for a long line");
    memset(p + b->len, 0, room + PAD - b->len);
    b->data = p;
    b->room = room;
    return 0;
}

/* Where the last whole line (or record) of [0, LEN) ends; 0 if none does. No line ends
 * before FROM. */
static size_t last_end(const kit_lines *r, const kit_block *b, size_t from)
{
    if (!r->csv) {
        char *e = memrchr(b->data + from, r->term, b->len - from);
        return e ? (size_t)(e - b->data) + 1 : 0;
    }
    const char *p = b->data, *end = b->data + b->len, *last = p;
    seen_key k;
    while (p < end && kit_cut_csv(&p, end, r->term, r->separator, &k, 1) &&
           (const char *)k.data + k.len < p)
        last = p;
    return (size_t)(last - b->data);
}

/* How many lines end in [P, END). */
static uint64_t count_ends(const kit_lines *r, const char *p, const char *end)
{
    uint64_t n = 0;
    for (; (p = memchr(p, r->term, (size_t)(end - p))); n++)
        p++;
    return n;
}

/* Fails, with the line of the quote in B that is not closed; 0 if there is none. */
static int check_quotes(kit_lines *r, const kit_block *b, const char *how)
{
    const char *end = b->data + b->len;
    const char *open = kit_open_quote(b->data, end, r->term, r->separator);
    char what[80];
    if (!open)
        return 0;
    snprintf(what, sizeof what, "line %llu: a quote is opened and %s",
             (unsigned long long)(r->ended + count_ends(r, b->data, open) + 1), how);
    return fail(r, what);
}

/* Gives the first line of B, which begins a file, to whoever wants the header. */
static int take_header(kit_lines *r, kit_block *b)
{
    const char *p = b->data, *end = p + b->len;
    seen_key line;
    if (r->csv)
        kit_cut_csv(&p, end, r->term, r->separator, &line, 1);
    else
        kit_cut(&p, end, r->term, &line, 1);
    b->header = (size_t)(p - b->data);
    const char *wrong = r->take(r->take_ctx, line);
    return wrong ? fail_in(r, b->file, wrong) : 0;
}

int kit_lines_next(kit_lines *r, kit_block *b)
{
    b->len = 0;
    b->open_end = false;
    b->header = 0;
    if (r->late)
        return -1;
    for (;;) {
        if (r->at == r->n)
            return 0;
        if (!r->source) {
            r->source = kit_source_open(r->files[r->at]);
            if (!r->source)
                return fail(r, strerror(errno));
            if (r->raw)
                kit_source_raw(r->source, r->most ? r->most[r->at] : UINT64_MAX);
        }
        if (make_room(r, b, r->carried + KIT_BLOCK) < 0)
            return -1;
        memcpy(b->data, r->carry ? r->carry : "", r->carried);
        b->len = r->carried;
        b->offset = r->offset;
        b->file = r->at;
        size_t looked = b->len, ends = 0;
        ssize_t got;
        for (;;) {
            if (b->room - b->len < KIT_BLOCK / 2 && make_room(r, b, b->room * 2) < 0)
                return -1;
            size_t ask = b->room - b->len < KIT_BLOCK ? b->room - b->len : KIT_BLOCK;
            got = kit_source_read(r->source, b->data + b->len, ask);
            if (got < 0)
                return fail(r, kit_source_error(r->source));
            atomic_store(&r->taken, r->before + kit_source_taken(r->source));
            if (got == 0)
                break;
            b->len += (size_t)got;
            /* Without a terminator in what is new, nothing has ended. */
            if (r->csv && !memchr(b->data + looked, r->term, b->len - looked)) {
                looked = b->len;
                continue;
            }
            ends = last_end(r, b, looked);
            if (ends)
                break;
            if (r->csv && b->len > csv_most &&
                check_quotes(r, b, "not closed within 16 MB") < 0)
                return -1;
            looked = b->len;
        }
        b->packed = kit_source_packed(r->source);
        bool begins = !r->begun;
        r->begun = true;
        if (got == 0) { /* the file ended: what was carried over is its last line */
            if (r->csv && !kit_stopped && check_quotes(r, b, "never closed") < 0)
                return -1;
            if (*kit_source_error(r->source)) {
                fail(r, kit_source_error(r->source));
                r->late = true;
            }
            r->before += kit_source_taken(r->source);
            kit_source_close(r->source);
            r->source = NULL;
            r->carried = 0;
            r->at++;
            r->begun = false;
            r->ended = 0;
            if (!b->len && r->late)
                return -1;
            if (!b->len)
                continue;
            b->open_end = true;
            if (kit_stopped) /* in the middle of a line, which does not count */
                return 0;
        } else {
            r->carried = b->len - ends;
            if (r->carried > r->carry_room) {
                r->carry_room = r->carried * 2;
                r->carry = kit_grow(r->carry, r->carry_room, 1);
            }
            if (r->carried)
                memcpy(r->carry, b->data + ends, r->carried);
            b->len = ends;
            if (r->csv)
                r->ended += count_ends(r, b->data, b->data + ends);
        }
        r->offset += b->len;
        return begins && r->take ? take_header(r, b) < 0 ? -1 : 1 : 1;
    }
}
