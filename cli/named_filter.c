/* named_filter.c - filters by name: opening, locking, saving. */
#include "named_filter.h"
#include "remote_filter.h"
#include "format.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

/* ---- names ----------------------------------------------------------------------- */

/* Each opener looks whether NAME is its own. It returns SEEN_EFORMAT if not, 0 and
 * fills S, or another code with seen_reason(); the last one's reason is told when
 * nobody knows NAME. */
typedef int opener(const char *name, unsigned how, named_filter *s);

static int open_native(const char *name, unsigned how, named_filter *s)
{
    if (format_is_chosen())
        return SEEN_EFORMAT;
    int rc = seen_open(name, how & NAMED_CHANGE ? SEEN_LOAD : SEEN_READ, &s->filter);
    /* A filter that came from Parquet hashes as Parquet does, whatever its seed. */
    s->hashes = rc == 0 && seen_hash(s->filter, "x", 1) ==
                               seen_hash_seeded(seen_seed(s->filter), "x", 1);
    return rc;
}

static opener *const openers[] = {remote_open, open_native, format_open};

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

/* ---- locks ----------------------------------------------------------------------- */

/* Locks the file that NAME is now. It may be replaced between opening and locking, so
 * the name is looked at again; whoever waits for nothing else needs no lock file. */
static int lock_file(const char *name, bool make, bool *made)
{
    for (;;) {
        struct stat a, b;
        int fd = open(name, O_RDWR | O_CLOEXEC);
        *made = false;
        if (fd < 0 && errno == ENOENT && make) {
            fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            *made = fd >= 0;
            if (fd < 0 && errno == EEXIST)
                continue;
        }
        if (fd < 0)
            kit_die("%s: %s", name, strerror(errno));
        if (fstat(fd, &a) < 0 || !S_ISREG(a.st_mode))
            kit_die("%s: not a regular file", name);
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            if (errno == EWOULDBLOCK)
                kit_die("%s: in use by another run", name);
            kit_die("%s: cannot lock: %s", name, strerror(errno));
        }
        if (stat(name, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
            return fd;
        close(fd);
    }
}

/* Files that this run made and that are still empty vanish when it fails. */
static const char *made_name;

static void remove_made(void)
{
    struct stat st;
    if (made_name && stat(made_name, &st) == 0 && st.st_size == 0)
        unlink(made_name);
}

void named_check_place(const char *name)
{
    struct stat st;
    if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        kit_die("%s: %s", name, strerror(EISDIR));
    if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
        return; /* a device is written to, not replaced */
    char *real = realpath(name, NULL), *copy = strdup(real ? real : name);
    const char *dir = dirname(copy);
    if (access(dir, W_OK) < 0)
        kit_die("%s: cannot be written: folder %s: %s", name, dir, strerror(errno));
    free(copy);
    free(real);
}

void named_check_new(const char *name, bool force)
{
    if (!force && access(name, F_OK) == 0)
        kit_die("%s: exists already (-f replaces it)", name);
    named_check_place(name);
}

named_filter *named_open(const char *name, unsigned how)
{
    named_filter *s = kit_alloc(sizeof *s);
    s->name = name;
    s->lock = -1;
    s->changes = how & NAMED_CHANGE;
    struct stat st;
    bool remote = strstr(name, "://") != NULL;
    if (how & NAMED_CHANGE && !remote) {
        s->lock = lock_file(name, how & NAMED_MAY_MAKE, &s->made);
        if (s->made) {
            made_name = name;
            atexit(remove_made);
        }
        named_check_place(name);
        if (how & NAMED_MAY_MAKE && fstat(s->lock, &st) == 0 && st.st_size == 0)
            return s; /* new, or left by a run that was killed before its first save */
    }
    if (!remote && stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        kit_die("%s: %s", name, strerror(EISDIR));
    int rc = open_any(name, how, s);
    if (rc < 0)
        named_die(name, rc);
    return s;
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
        if (!S_ISREG(st.st_mode)) /* reading ahead would eat it */
            return NULL;
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, head, sizeof head) < 0)
            kit_die("%s: %s", name, strerror(errno));
        close(fd);
    }
    named_filter *s = kit_alloc(sizeof *s);
    s->name = name;
    s->lock = -1;
    int rc = open_any(name, NAMED_ASK, s);
    if (rc == 0)
        return s;
    /* What begins like a filter is one, if a bad one. */
    if (rc != SEEN_EFORMAT || memcmp(head, magic, sizeof magic) == 0)
        named_die(name, rc);
    free(s);
    return NULL;
}

/* ---- use ------------------------------------------------------------------------- */

void named_add(named_filter *s, const seen_key *keys, const uint64_t *hashes, size_t n,
               bool *dup)
{
    if (s->ops) {
        if (!s->ops->add(s, keys, n, dup))
            exit(2);
        return;
    }
    int rc = s->hashes && hashes ? seen_add_hashes(s->filter, hashes, n, dup, NULL)
                                 : seen_add_many(s->filter, keys, n, dup, NULL);
    if (rc < 0)
        named_die(s->name ? s->name : "filter", rc);
}

void named_has(named_filter *s, const seen_key *keys, const uint64_t *hashes, size_t n,
               bool *found)
{
    if (s->ops) {
        if (!s->ops->has(s, keys, n, found))
            exit(2);
    } else if (s->hashes && hashes) {
        seen_has_hashes(s->filter, hashes, n, found);
    } else {
        seen_has_many(s->filter, keys, n, found);
    }
}

uint64_t named_bytes(named_filter *s)
{
    return s->ops ? s->ops->bytes(s) : s->filter ? seen_bytes(s->filter) : 0;
}

double named_lost(named_filter *s)
{
    return s->ops ? s->ops->lost(s) : s->filter ? seen_lost_expected(s->filter) : 0;
}

void named_save(named_filter *s)
{
    if (s->ops) {
        if (s->ops->save && !s->ops->save(s))
            exit(2);
        return;
    }
    if (s->gzip) {
        format_save_gzip(s);
        return;
    }
    int rc = seen_save(s->filter, s->name);
    if (rc < 0)
        named_die(s->name, rc);
    made_name = NULL;
}

void named_close(named_filter *s)
{
    if (!s)
        return;
    if (s->ops && s->ops->close)
        s->ops->close(s);
    seen_free(s->filter);
    if (s->lock >= 0)
        close(s->lock);
    free(s);
}
