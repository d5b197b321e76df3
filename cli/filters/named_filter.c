/* named_filter.c - opens filters by name, locks and replaces their files. */
#include "named_filter.h"
#include "file_lock.h"
#include "format.h"
#include "remote_filter.h"
#include "file_kind.h"
#include "messages.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void named_die(const char *name, int code)
{
    const char *why = seen_reason();
    if (!*why)
        why = seen_strerror(code);
    if (strstr(why, name)) /* the reason names the file itself */
        kit_die("%s", why);
    kit_die("%s: %s", name, why);
}

static bool is_private;

bool file_option(const kit_parse *p, int key)
{
    if (key == OPT_PRIVATE)
        return is_private = true;
    if (key != OPT_WAIT)
        return false;
    char *end = NULL;
    double seconds = p->arg ? strtod(p->arg, &end) : -1;
    if (p->arg && (end == p->arg || *end || !(seconds >= 0 && seconds <= 1e9)))
        kit_bad_value(p, key, "a number of seconds");
    file_lock_wait(seconds);
    return true;
}

/* ---- names ----------------------------------------------------------------------- */

/* Each opener decides whether it knows NAME. It returns SEEN_EFORMAT if not, 0 with S
 * filled in, or another code with seen_reason(). If none knows NAME, the reason of the
 * last one is reported. */
typedef int opener(const char *name, unsigned how, named_filter *s);

static int open_native(const char *name, unsigned how, named_filter *s)
{
    if (format_is_chosen())
        return SEEN_EFORMAT;
    int rc = seen_open(name, how == NAMED_ASK ? SEEN_READ : SEEN_LOAD, &s->filter);
    s->hashes = rc == 0 && !typed_needed(s->filter);
    return rc;
}

/* Everything that can be read from NAME, unpacked, in pages of its own. */
static void read_pipe(const char *name, named_filter *s)
{
    size_t room = 1 << 20;
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2;
    memory *= (uint64_t)sysconf(_SC_PAGESIZE);
    kit_source *in = kit_source_open(name);
    if (!in)
        kit_die("%s: %s", name, strerror(errno));
    char *p =
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (ssize_t n; p != MAP_FAILED;) {
        if ((n = kit_source_read(in, p + s->piped_len, room - s->piped_len)) < 0)
            kit_die("%s: %s", name, kit_source_error(in));
        if (n == 0)
            break;
        s->piped_len += (size_t)n;
        if (s->piped_len < room)
            continue;
        if (room > memory)
            kit_die("%s: larger than half of the machine's memory", name);
        p = mremap(p, room, room * 2, MREMAP_MAYMOVE);
        room *= 2;
    }
    if (p == MAP_FAILED)
        kit_die("%s: out of memory", name);
    if (*kit_source_error(in))
        kit_die("%s: %s", name, kit_source_error(in));
    kit_source_close(in);
    s->piped = p;
    s->piped_room = room;
}

/* Whether NAME is a descriptor that this process was given. */
static bool is_descriptor(const char *name)
{
    return !strncmp(name, "/dev/fd/", 8) || !strncmp(name, "/proc/self/fd/", 14);
}

/* A pipe, such as standard input or the shell's <(...), cannot be mapped: it is read
 * into memory. A FIFO or device that is found by its name is refused by the library:
 * nobody may ever write to the one, and the other may never end. */
static int open_pipe(const char *name, unsigned how, named_filter *s)
{
    struct stat st;
    bool in = !strcmp(name, "-") || (!strcmp(name, "/dev/stdin") && !kit_is_file(name));
    if (!in && (!is_descriptor(name) || stat(name, &st) < 0 || S_ISREG(st.st_mode) ||
                S_ISDIR(st.st_mode)))
        return SEEN_EFORMAT;
    read_pipe(in ? "-" : name, s);
    int rc = format_open_bytes(s->piped, s->piped_len, &s->filter);
    if (rc == 0 && how & NAMED_COPY) {
        seen_filter *copy;
        rc = seen_copy(s->filter, &copy);
        if (rc == 0) {
            seen_free(s->filter);
            s->filter = copy;
        }
    }
    if (rc < 0)
        named_die(in ? "standard input" : name, rc);
    s->hashes = !seen_format_of(s->filter);
    return rc;
}

static opener *const openers[] = {remote_open, open_pipe, open_native, format_open};

static int open_any(const char *name, unsigned how, named_filter *s)
{
    int rc = SEEN_EFORMAT;
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
        rc = openers[i](name, how, s);
        if (rc != SEEN_EFORMAT)
            break;
    }
    return rc;
}

/* A filter is saved by replacing its file, which needs the folder of NAME: better to
 * know before the work than after it. */
static void check_place(const char *name)
{
    struct stat st;
    if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        kit_die("%s: %s", name, strerror(EISDIR));
    if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
        return; /* a device is written to, not replaced */
    char *real = realpath(name, NULL), *copy = strdup(real ? real : name);
    if (!copy)
        kit_die("%s: out of memory", name);
    const char *dir = dirname(copy);
    if (access(dir, W_OK) < 0)
        kit_die("%s: cannot be written: folder %s: %s", name, dir, strerror(errno));
    free(copy);
    free(real);
}

static named_filter *new_named(const char *name)
{
    named_filter *s = kit_alloc(sizeof *s);
    s->name = name;
    s->lock = -1;
    return s;
}

/* Locks the file, and refuses what would be destroyed by adding to it. True if there is
 * a filter in it; false if it is missing or empty, which is fine for NAMED_MAY_MAKE. */
static bool prepare_change(named_filter *s, unsigned how)
{
    struct stat st;
    if (!strcmp(s->name, "-"))
        kit_die("a filter that is to be changed must be a file, not standard input");
    s->lock = file_lock(s->name);
    if (s->lock < 0 && !(how & NAMED_MAY_MAKE))
        kit_die("%s: %s", s->name, strerror(ENOENT));
    check_place(s->name);
    if (s->lock < 0)
        return false;
    if (how & NAMED_MAY_MAKE && fstat(s->lock, &st) == 0 && st.st_size == 0)
        return false; /* made by another program, for us */
    format_check_target(s->name);
    return true;
}

/* (An empty file is an empty filter in some formats, which --format names.) */
static void refuse_empty(const char *name)
{
    struct stat st;
    if (!format_is_chosen() && !strstr(name, "://") && stat(name, &st) == 0 &&
        S_ISREG(st.st_mode) && st.st_size == 0)
        kit_die("%s: empty: no filter was ever saved in it ('seen uniq --state' makes "
                "one there, or remove it)",
                name);
}

named_filter *named_open(const char *name, unsigned how)
{
    named_filter *s = new_named(name);
    struct stat st;
    if (!strstr(name, "://")) {
        if (how & NAMED_CHANGE && !prepare_change(s, how))
            return s;
        if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
            kit_die("%s: %s", name, strerror(EISDIR));
        refuse_empty(name);
    }
    int rc = open_any(name, how, s);
    if (rc < 0)
        named_die(name, rc);
    return s;
}

int named_try(const char *name, named_filter **out)
{
    *out = new_named(name);
    int rc = open_any(name, NAMED_ASK, *out);
    if (rc < 0) {
        named_close(*out);
        *out = NULL;
    }
    return rc;
}

named_filter *named_open_if_filter(const char *name)
{
    static const char magic[8] = "\x89seen\r\n\x1a";
    char head[8] = "";
    struct stat st;
    if (!strstr(name, "://")) {
        if (stat(name, &st) < 0)
            kit_die("%s: %s", name, strerror(errno));
        if (S_ISDIR(st.st_mode))
            kit_die("%s: %s", name, strerror(EISDIR));
        if (!S_ISREG(st.st_mode)) /* reading ahead would consume it */
            return NULL;
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, head, sizeof head) < 0)
            kit_die("%s: %s", name, strerror(errno));
        close(fd);
    }
    named_filter *s;
    int rc = named_try(name, &s);
    if (rc == 0)
        return s;
    /* A file that begins like a filter is one, if a damaged one. */
    if (rc != SEEN_EFORMAT || memcmp(head, magic, sizeof magic) == 0)
        named_die(name, rc);
    return NULL;
}

/* ---- use ------------------------------------------------------------------------- */

void named_make(named_filter *s, const sizing *z, const seen_spec *spec, bool kept)
{
    s->hashes = true;
    s->filter = sizing_make(spec);
    seen_set_keys(s->filter, SEEN_KEYS_TEXT);
    s->scratch = kept ? NULL : sizing_scratch(z, s->filter);
}

static const char *name_of(const named_filter *s)
{
    return s->name ? s->name : "filter";
}

void named_add(named_filter *s, const seen_key *keys, const uint64_t *hashes, size_t n,
               bool *dup)
{
    if (s->ops) {
        if (!s->ops->add(s, keys, n, dup))
            exit(2);
        return;
    }
    keys = typed_convert(&s->typed, name_of(s), s->filter, keys, n, true);
    int rc = s->hashes && hashes ? seen_add_hashes(s->filter, hashes, n, dup, NULL)
                                 : seen_add_many(s->filter, keys, n, dup, NULL);
    if (rc < 0)
        named_die(name_of(s), rc);
}

int named_remove(named_filter *s, const seen_key *key)
{
    key = typed_convert(&s->typed, name_of(s), s->filter, key, 1, false);
    return seen_remove(s->filter, key->data, key->len);
}

/* A key that cannot be one of the filter's type, such as text among integers, is a
 * mistake and not an absent key. */
static void ask(named_filter *s, const seen_key *keys, size_t n, bool *found)
{
    if (seen_ask_many(s->filter, keys, n, found) < 0)
        kit_die("%s: %s%s", s->name, seen_reason(),
                strchr(seen_reason(), '\r') ? " (--crlf ignores carriage returns)"
                                            : "");
}

void named_has(named_filter *s, const seen_key *keys, const uint64_t *hashes, size_t n,
               bool *found)
{
    if (s->ops) {
        if (!s->ops->has(s, keys, n, found))
            exit(2);
        return;
    }
    keys = typed_convert(&s->typed, name_of(s), s->filter, keys, n, false);
    if (s->hashes && hashes)
        seen_has_hashes(s->filter, hashes, n, found);
    else
        ask(s, keys, n, found);
}

bool named_drops_cr(const named_filter *s)
{
    const seen_format *f = s->filter ? seen_format_of(s->filter) : NULL;
    return f && !strcmp(f->name, "dcso");
}

uint64_t named_bytes(named_filter *s)
{
    if (s->ops || !s->filter)
        return s->ops ? s->ops->bytes(s) : 0;
    return seen_bytes(s->filter) + (s->scratch ? kit_scratch_bytes(s->scratch) : 0);
}

uint64_t named_added(const named_filter *s)
{
    return seen_added(s->filter);
}

double named_lost(named_filter *s)
{
    return s->ops ? s->ops->lost(s) : s->filter ? seen_lost_expected(s->filter) : 0;
}

void named_lost_range(const named_filter *s, double before, double *low, double *high)
{
    seen_lost_range(s->filter, before, low, high);
}

static int put(void *ctx, const void *p, size_t len)
{
    return kit_output_write(ctx, p, len) < 0 ? SEEN_EIO : 0;
}

/* Writes F beside NAME, safe on disk, not yet in place. */
static kit_output *write_beside(const char *name, const seen_filter *f, bool gzip)
{
    kit_output *o = is_private ? kit_output_open_private(name) : kit_output_open(name);
    if (!o)
        kit_die("%s: %s", name, strerror(errno));
    int rc = gzip ? format_write_gzip(f, o) : seen_write(f, put, o);
    if (rc == SEEN_EIO || (rc == 0 && kit_output_finish(o, 0) < 0))
        kit_output_fail(o);
    if (rc < 0)
        named_die(name, rc);
    return o;
}

static int excuse_again(void *ctx, const void *key, size_t len)
{
    int rc = seen_excuse(ctx, key, len);
    return rc < 0 ? rc : 0;
}

/* The list of exceptions belongs to one file, byte for byte, so the new file gets its
 * own list. Without it false positives would return, but no key would be lost. */
static int carry_exceptions(const char *name, const seen_filter *f)
{
    const seen_format *format = seen_format_of(f);
    seen_filter *g;
    if (!seen_excused(f))
        return 0;
    int rc = format ? format_open_as(name, format->name, &g)
                    : seen_open(name, SEEN_READ, &g);
    if (rc < 0)
        return rc;
    rc = seen_excused_each(f, excuse_again, g);
    if (rc == 0)
        rc = seen_excused_save(g);
    seen_free(g);
    return rc;
}

/* Puts F, which was written to O, in its place under NAME. */
static void put_in_place(kit_output *o, const char *name, const seen_filter *f)
{
    if (kit_output_commit(o) < 0)
        kit_output_fail(o);
    kit_output_close(o);
    int rc = carry_exceptions(name, f);
    if (rc < 0)
        kit_die("%s: saved, but its exceptions were not: %s", name, seen_reason());
}

void named_write(named_filter *s)
{
    if (!s->ops)
        s->replacement = write_beside(s->name, s->filter, s->gzip);
}

void named_replace(named_filter *s)
{
    if (s->ops) {
        if (s->ops->save && !s->ops->save(s))
            exit(2);
        return;
    }
    /* (The library locks a file whose exceptions it saves.) */
    int lock = -1;
    if (!seen_excused(s->filter))
        lock = file_lock_new(kit_output_fd(s->replacement));
    kit_made_file(NULL);
    put_in_place(s->replacement, s->name, s->filter);
    s->replacement = NULL;
    if (s->lock >= 0)
        close(s->lock);
    s->lock = lock;
}

bool named_create(named_filter *s)
{
    if (s->lock >= 0) { /* an empty file, which stays ours */
        named_save(s);
        return true;
    }
    kit_output *o = write_beside(s->name, s->filter, false);
    s->lock = file_lock_new(kit_output_fd(o));
    bool made = kit_output_commit_new(o) == 0;
    if (!made && errno != EEXIST)
        kit_output_fail(o);
    kit_output_close(o);
    if (made)
        kit_made_file(s->name);
    return made;
}

void named_save(named_filter *s)
{
    named_write(s);
    named_replace(s);
}

void named_close(named_filter *s)
{
    if (!s)
        return;
    if (s->ops && s->ops->close)
        s->ops->close(s);
    seen_free(s->filter);
    kit_scratch_free(s->scratch);
    typed_free(&s->typed);
    if (s->piped)
        munmap(s->piped, s->piped_room);
    if (s->lock >= 0)
        close(s->lock);
    free(s);
}

/* ---- files to be made ------------------------------------------------------------ */

/* A device or standard output is written to, not replaced. */
static bool is_file(const char *name)
{
    struct stat st;
    return strcmp(name, "-") && (stat(name, &st) < 0 || S_ISREG(st.st_mode));
}

named_target named_claim(const char *name, bool force)
{
    named_target t = {.name = name, .lock = -1, .force = force};
    if (strcmp(name, "-"))
        check_place(name);
    if (!is_file(name))
        return t;
    t.existed = access(name, F_OK) == 0;
    if (t.existed && !force)
        kit_die("%s: exists already (-f replaces it)", name);
    if (t.existed)
        t.lock = file_lock(name);
    return t;
}

void named_fulfil(named_target *t, const seen_filter *f)
{
    kit_output *o = write_beside(t->name, f, false);
    if (is_file(t->name) && t->lock < 0) {
        /* It did not exist: what another run has made meanwhile is not overwritten. */
        if (!t->force && access(t->name, F_OK) == 0)
            kit_die("%s: was made by another run meanwhile (-f replaces it)", t->name);
        t->lock = file_lock(t->name);
    }
    put_in_place(o, t->name, f);
    if (t->lock >= 0)
        close(t->lock);
}
