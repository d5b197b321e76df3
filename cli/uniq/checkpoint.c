/* checkpoint.c - the order of a save: output, new state, log, and then the state's
 * place.
 *
 * The log is text. Its lines name states by a checksum of their files, so whichever
 * state is found, the old one or the new one, the log says what it vouches for:
 *
 *     seen uniq run 1
 *     output /data/out.000001       where the unfinished output is, for
 *     for /data/out                 this one; neither on standard output
 *     state 0123456789abcdef 0 0    checksum, lines read, bytes of output
 *     state 123456789abcdef0 40 800
 *     end 23456789abcdef01 60 1200  this one takes its place after the output has
 *
 * A run whose log is there was killed, even if output and state have their places: the
 * next one goes on with that output too, so that nobody has to know how far it came. */
#include "checkpoint.h"
#include "durable.h"
#include "file_kind.h"
#include "human_numbers.h"
#include "messages.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A save is due when this many seconds have passed, and this many times what the last
 * one took. */
enum { SECONDS = 15, TIMES = 25 };

static const char magic[] = "seen uniq run 1\n";

/* One line of the log. */
typedef struct vouched {
    bool end;
    uint64_t sum, lines, bytes;
} vouched;

struct checkpoint {
    uniq *u;
    char *log;
    int fd;          /* of the log, once this run has begun its own; -1 */
    bool there;      /* there is a log, of this run or of the one before */
    bool never;      /* only at the end */
    bool file;       /* the output is a file that is replaced */
    uint64_t begun;  /* bytes of output at the beginning of this run */
    uint64_t added;  /* keys in the filter at the last save */
    double at, took; /* the last save */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *name) __attribute__((noreturn));
static void fail(const char *name)
{
    kit_die("%s: %s", name, strerror(errno));
}

/* A checksum of all bytes of the file of FD. */
static uint64_t sum_of(int fd, const char *name)
{
    static char buf[1 << 18];
    uint64_t sum = 0;
    size_t len = 0;
    off_t at = 0;
    for (ssize_t n; (n = pread(fd, buf + len, sizeof buf - len, at));) {
        if (n < 0 && errno != EINTR)
            fail(name);
        at += n > 0 ? n : 0;
        len += n > 0 ? (size_t)n : 0;
        if (len == sizeof buf) {
            sum = seen_hash_seeded(sum, buf, len);
            len = 0;
        }
    }
    return seen_hash_seeded(sum, buf, len);
}

static uint64_t sum_of_state(const checkpoint *c)
{
    return sum_of(c->u->seen->lock, c->u->state_name);
}

/* NAME from the root on; its folder exists. */
static char *absolute(const char *name)
{
    char *copy = kit_copy(name), *folder = realpath(dirname(copy), NULL), *full;
    const char *slash = strrchr(name, '/');
    if (!folder)
        fail(name);
    if (asprintf(&full, "%s/%s", strcmp(folder, "/") ? folder : "",
                 slash ? slash + 1 : name) < 0)
        kit_die("out of memory");
    free(copy);
    free(folder);
    return full;
}

/* ---- the log of the run before --------------------------------------------------- */

typedef struct old_log {
    char *text, *output, *target; /* OUTPUT is NULL for standard output */
    bool known;                   /* it has a line for the state, the last of them: */
    vouched line;
    bool ended; /* it has a line for an output in its place: */
    vouched end;
} old_log;

static char *read_text(const char *name)
{
    struct stat st;
    kit_must_be_file(name);
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return NULL;
    if (fd < 0 || fstat(fd, &st) < 0)
        fail(name);
    char *text = kit_alloc((size_t)st.st_size + 1);
    ssize_t n = pread(fd, text, (size_t)st.st_size, 0);
    if (n < 0)
        fail(name);
    text[n] = 0;
    close(fd);
    return text;
}

static void parse_line(old_log *o, const char *line, uint64_t state)
{
    vouched v = {.end = !strncmp(line, "end ", 4)};
    if (!strncmp(line, "output ", 7)) {
        o->output = kit_copy(line + 7);
    } else if (!strncmp(line, "for ", 4)) {
        o->target = kit_copy(line + 4);
    } else if (sscanf(line, "%*s %" SCNx64 " %" SCNu64 " %" SCNu64, &v.sum, &v.lines,
                      &v.bytes) == 3) {
        if (v.sum == state) {
            o->known = true;
            o->line = v;
        }
        if (v.end) {
            o->ended = true;
            o->end = v;
        }
    }
}

/* Reads the log; false if the file does not exist. A last line without an end was never
 * relied on. */
static bool read_log(const checkpoint *c, old_log *o)
{
    *o = (old_log){.text = read_text(c->log)};
    if (!o->text)
        return false;
    if (strncmp(o->text, magic, strlen(magic)) && !strncmp(o->text, magic, 14))
        kit_die(
            "%s: is of another version of 'seen uniq', whose run did not end: go on "
            "with that version, or remove the log to give up the unfinished output",
            c->log);
    if (strncmp(o->text, magic, strlen(magic)))
        kit_die("%s: is not the log of a run of 'seen uniq', which needs this name: "
                "rename it",
                c->log);
    uint64_t state = sum_of_state(c);
    char *line = o->text + strlen(magic);
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        parse_line(o, line, state);
    }
    return true;
}

static void free_log(old_log *o)
{
    free(o->text);
    free(o->output);
    free(o->target);
}

/* ---- going on -------------------------------------------------------------------- */

/* Copies the first SIZE bytes of the file NAME to the output. */
static void copy_beginning(checkpoint *c, const char *name, uint64_t size)
{
    char *const files[] = {(char *)name};
    uint64_t most[] = {size};
    feed_spec spec = {.files = files,
                      .nfiles = 1,
                      .keys = {.term = c->u->keys.term, .separator = -1},
                      .raw = true,
                      .most = most};
    feed *f = feed_open(&spec);
    for (batch *b; (b = feed_next(f)); feed_done(f, b))
        emit_bytes(&c->u->out, b->block.data, b->block.len, false);
    feed_close(f);
    emit_finish(&c->u->out, false);
}

/* Whether the last byte of the output is not the end of a line. */
static bool is_open(const checkpoint *c, uint64_t size)
{
    char last = (char)c->u->keys.term;
    if (size &&
        pread(kit_output_fd(c->u->out.out), &last, 1, (off_t)size - 1) != 1)
        fail(kit_output_name(c->u->out.out));
    return last != (char)c->u->keys.term;
}

/* Whether the output of the run before is there, all of it. */
static bool is_in_place(const uniq *u, const old_log *o)
{
    struct stat st;
    return o->ended && u->out_name && stat(u->out_name, &st) == 0 &&
           (uint64_t)st.st_size == o->end.bytes;
}

static void go_on_with_file(checkpoint *c, const old_log *o)
{
    uniq *u = c->u;
    uint64_t bytes = o->line.bytes;
    if (!u->out_name || u->dup_name || u->repeated ||
        !kit_output_same(u->out_name, o->target))
        kit_die("%s: a run that did not end wrote lines for %s, which the state knows "
                "already: go on with -o %s, or remove %s to give them up",
                u->state_name, o->target, o->target, c->log);
    if (!o->known)
        kit_die("%s: has changed since a run with -o %s that did not end: %s does not "
                "know it (remove that to give up the lines in %s)",
                u->state_name, u->out_name, c->log, o->output);
    if (access(o->output, F_OK) == 0) {
        u->out = (emitter){.out = kit_output_resume(u->out_name, o->output, bytes),
                           .term = u->keys.term};
        if (!u->out.out)
            kit_die("%s: %s: %s (remove %s to give up its lines)", u->out_name,
                    o->output, errno == EINVAL ? "was cut short" : strerror(errno),
                    c->log);
    } else if (is_in_place(u, o)) {
        u->out = emit_open(u->out_name, u->keys.term);
        copy_beginning(c, u->out_name, bytes);
    } else {
        kit_die("%s: %s is missing, with lines that the state knows already (remove %s "
                "to give them up)",
                u->out_name, o->output, c->log);
    }
    u->out.owed = is_open(c, bytes);
    u->out.headed = bytes > 0;
    c->begun = bytes;
    char size[24];
    if (!u->quiet)
        kit_warn("%s: goes on after a run that did not end: its first %s lines and %s "
                 "of output are kept",
                 u->out_name, kit_counted(o->line.lines),
                 kit_show_bytes((double)bytes, size));
}

static void go_on(checkpoint *c, const old_log *o)
{
    uniq *u = c->u;
    c->there = true;
    /* It was killed when everything was in place. The same command goes on with that
     * output; for any other it has ended. */
    if (o->line.end && !(is_in_place(u, o) && kit_output_same(u->out_name, o->target) &&
                         !u->dup_name && !u->repeated))
        return;
    if (o->output && o->target) {
        go_on_with_file(c, o);
        return;
    }
    if (o->known && !u->quiet)
        kit_warn("%s: goes on after a run that did not end: the state knows its first "
                 "%s lines; what it printed later comes again",
                 u->state_name, kit_counted(o->line.lines));
}

checkpoint *checkpoint_open(uniq *u)
{
    checkpoint *c = kit_alloc(sizeof *c);
    old_log old;
    *c = (checkpoint){.u = u, .fd = -1};
    if (asprintf(&c->log, "%s.run", u->state_name) < 0)
        kit_die("out of memory");
    if (read_log(c, &old)) {
        go_on(c, &old);
        free_log(&old);
    }
    if (!u->out.out)
        u->out = emit_open(u->out_name, u->keys.term);
    c->file = kit_output_replaces(u->out.out);
    /* What was recorded would count as repeated in the next run. A name with a newline
     * does not fit into the log. */
    c->never = u->repeated || u->dup_name || u->checkpoint == 0 ||
               seen_excused(u->seen->filter) || /* would not stay locked */
               (u->out_name && strchr(u->out_name, '\n'));
    c->added = named_added(u->seen);
    c->at = now();
    return c;
}

/* ---- saving ---------------------------------------------------------------------- */

bool checkpoint_due(const checkpoint *c)
{
    if (c->never)
        return false;
    uint64_t new = named_added(c->u->seen) - c->added;
    if (c->u->checkpoint != CHECKPOINT_BY_TIME)
        return new >= c->u->checkpoint;
    double since = now() - c->at;
    return new &&since >= SECONDS && since >= TIMES * c->took;
}

static uint64_t output_bytes(const checkpoint *c)
{
    off_t at = c->file ? lseek(kit_output_fd(c->u->out.out), 0, SEEK_CUR) : 0;
    return at < 0 ? 0 : (uint64_t)at;
}

/* Begins the log of this run, which also knows the state that is there now. */
static void begin_log(checkpoint *c)
{
    char *text, *part = NULL, *target = NULL;
    if (c->file) {
        const char *name = kit_output_keep(c->u->out.out);
        if (!name)
            kit_output_fail(c->u->out.out);
        part = absolute(name);
        target = absolute(kit_output_name(c->u->out.out));
    }
    if (asprintf(&text, "%s%s%s%s%s%sstate %016" PRIx64 " 0 %" PRIu64 "\n", magic,
                 part ? "output " : "", part ? part : "", part ? "\nfor " : "",
                 target ? target : "", part ? "\n" : "", sum_of_state(c),
                 c->begun) < 0)
        kit_die("out of memory");
    if (kit_replace_file(c->log, text, strlen(text), 0666) < 0 ||
        (c->fd = open(c->log, O_WRONLY | O_APPEND | O_CLOEXEC)) < 0)
        fail(c->log);
    c->there = true;
    free(text);
    free(part);
    free(target);
}

/* The output is safe, the new state is written but not in its place: notes what it
 * vouches for. */
static void note(checkpoint *c, const char *word)
{
    const uniq *u = c->u;
    char line[100];
    if (c->fd < 0)
        begin_log(c);
    int n = snprintf(line, sizeof line, "%s %016" PRIx64 " %" PRIu64 " %" PRIu64 "\n",
                     word, sum_of(kit_output_fd(u->seen->replacement), u->state_name),
                     u->lines, output_bytes(c));
    if (kit_write_synced(c->fd, line, (size_t)n) < 0)
        fail(c->log);
}

void checkpoint_save(checkpoint *c)
{
    double start = now();
    emit_finish(&c->u->out, true);
    named_write(c->u->seen);
    note(c, "state");
    named_replace(c->u->seen);
    c->added = named_added(c->u->seen);
    c->at = now();
    c->took = c->at - start;
}

void checkpoint_finish(checkpoint *c)
{
    uniq *u = c->u;
    emit_finish(&u->dup, true);
    emit_finish(&u->out, true);
    named_write(u->seen);
    if (c->there && c->file)
        note(c, "end");
    emit_commit(&u->dup);
    emit_commit(&u->out);
    named_replace(u->seen);
    if (c->there && unlink(c->log) < 0 && errno != ENOENT)
        fail(c->log);
}

void checkpoint_stop(checkpoint *c)
{
    if (c->fd >= 0)
        checkpoint_save(c);
}

void checkpoint_free(checkpoint *c)
{
    if (!c)
        return;
    if (c->fd >= 0)
        close(c->fd);
    free(c->log);
    free(c);
}
