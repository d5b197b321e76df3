/* exceptions.c - the list of exceptions, in memory and in the file beside the
 * filter. */
#include "filter/exceptions.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/map.h"
#include "base/replace.h"
#include "filter/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "\x89seenx\r\n"
#define MOST_BYTES ((uint64_t)64 << 20) /* of a list: it is meant to be small */

/* Offsets in the file. */
enum {
    AT_VERSION = 8,
    AT_NOW = 16,
    AT_BEFORE = 24,
    AT_COUNT = 32,
    AT_SUM = 40,
    AT_KEYS = 48,
};

typedef struct excused_key {
    uint64_t hash;
    uint8_t *key;
    uint32_t len;
} excused_key;

/* Open addressing: a key is in the first slot from its hash on that was free. */
struct sn_exceptions {
    uint64_t n, slots; /* slots is a power of two, more than n */
    excused_key *slot; /* key NULL: free */
    uint64_t bytes;    /* of its file */
    bool dropped;      /* keys were removed since it was read */
};

static uint64_t hash_of(const seen_filter *f, const void *key, size_t len)
{
    return f->foreign ? sn_hash(0, key, len) : sn_hasher_hash(&f->hasher, key, len);
}

static void free_key(const seen_filter *f, excused_key *k)
{
    sn_free(&f->alloc, k->key, k->len ? k->len : 1);
    *k = (excused_key){0};
}

void sn_exceptions_free(seen_filter *f)
{
    sn_exceptions *x = f->exceptions;
    if (!x)
        return;
    for (uint64_t i = 0; i < x->slots; i++)
        free_key(f, x->slot + i);
    sn_free(&f->alloc, x->slot, x->slots * sizeof *x->slot);
    sn_free(&f->alloc, x, sizeof *x);
    f->exceptions = NULL;
}

/* The slot of KEY (or, without KEY, of a key with this hash), or the free slot where it
 * would go. */
static excused_key *find(const sn_exceptions *x, const void *key, size_t len,
                         uint64_t hash)
{
    for (uint64_t i = hash & (x->slots - 1);; i = (i + 1) & (x->slots - 1)) {
        excused_key *k = x->slot + i;
        if (!k->key || (k->hash == hash && (!key || (k->len == len &&
                                                     !memcmp(k->key, key, len)))))
            return k;
    }
}

/* Closes the gap that a key leaves: later keys move up, so that each is still found
 * from its hash on. */
static void take_out(const seen_filter *f, excused_key *gone)
{
    sn_exceptions *x = f->exceptions;
    uint64_t mask = x->slots - 1, gap = (uint64_t)(gone - x->slot);
    x->bytes -= 4 + gone->len;
    x->n--;
    x->dropped = true;
    free_key(f, gone);
    for (uint64_t i = (gap + 1) & mask; x->slot[i].key; i = (i + 1) & mask)
        if (((i - x->slot[i].hash) & mask) >= ((i - gap) & mask)) {
            x->slot[gap] = x->slot[i];
            x->slot[i] = (excused_key){0};
            gap = i;
        }
}

static int make_room(seen_filter *f)
{
    sn_exceptions *x = f->exceptions;
    if (!x) {
        x = sn_alloc(&f->alloc, sizeof *x);
        if (!x)
            return sn_fail(SEEN_ENOMEM, "no memory for a list of exceptions");
        x->bytes = AT_KEYS;
        f->exceptions = x;
    }
    if (x->slots && x->n + 1 <= x->slots / 2)
        return 0;
    sn_exceptions more = *x;
    more.slots = x->slots ? x->slots * 2 : 16;
    more.slot = sn_alloc(&f->alloc, more.slots * sizeof *more.slot);
    if (!more.slot)
        return sn_fail(SEEN_ENOMEM, "no memory for a list of exceptions");
    for (uint64_t i = 0; i < x->slots; i++)
        if (x->slot[i].key)
            *find(&more, x->slot[i].key, x->slot[i].len, x->slot[i].hash) = x->slot[i];
    sn_free(&f->alloc, x->slot, x->slots * sizeof *x->slot);
    *x = more;
    return 0;
}

/* SEEN_NEW, SEEN_DUP or a code. */
static int put_in(seen_filter *f, const void *key, size_t len)
{
    uint64_t hash = hash_of(f, key, len);
    int rc = make_room(f);
    if (rc < 0)
        return rc;
    sn_exceptions *x = f->exceptions;
    excused_key *at = find(x, key, len, hash);
    if (at->key)
        return SEEN_DUP;
    if (len > MOST_BYTES - 4 || x->bytes > MOST_BYTES - 4 - len)
        return sn_fail(SEEN_ETOOBIG, "a list of exceptions has at most %llu bytes",
                       (unsigned long long)MOST_BYTES);
    uint8_t *copy = sn_alloc(&f->alloc, len ? len : 1);
    if (!copy)
        return sn_fail(SEEN_ENOMEM, "no memory for a key of %zu bytes", len);
    if (len)
        memcpy(copy, key, len);
    *at = (excused_key){hash, copy, (uint32_t)len};
    x->n++;
    x->bytes += 4 + len;
    return SEEN_NEW;
}

int sn_exceptions_copy(seen_filter *to, const seen_filter *from)
{
    const sn_exceptions *x = from->exceptions;
    for (uint64_t i = 0; x && i < x->slots; i++)
        if (x->slot[i].key) {
            int rc = put_in(to, x->slot[i].key, x->slot[i].len);
            if (rc < 0)
                return rc;
        }
    return 0;
}

/* ---- asking and adding ----------------------------------------------------------- */

bool sn_exceptions_has(const seen_filter *f, const void *key, size_t len, uint64_t hash)
{
    return f->exceptions->n && find(f->exceptions, key, len, hash)->key;
}

void sn_exceptions_sift(const seen_filter *f, const seen_key *keys,
                        const uint64_t *hashes, size_t n, bool *found)
{
    for (size_t i = 0; i < n; i++)
        if (found[i])
            found[i] = keys ? !sn_exceptions_has(f, keys[i].data, keys[i].len,
                                              hash_of(f, keys[i].data, keys[i].len))
                            : !sn_exceptions_has(f, NULL, 0, hashes[i]);
}

void sn_exceptions_added(seen_filter *f, const seen_key *keys, const uint64_t *hashes,
                      size_t n, bool *dup)
{
    for (size_t i = 0; i < n && f->exceptions->n; i++) {
        if (dup && !dup[i])
            continue;
        uint64_t hash = keys ? hash_of(f, keys[i].data, keys[i].len) : hashes[i];
        excused_key *k;
        while ((k = find(f->exceptions, keys ? keys[i].data : NULL,
                         keys ? keys[i].len : 0, hash))
                   ->key) {
            take_out(f, k);
            if (dup)
                dup[i] = false;
        }
    }
}

void sn_exceptions_merged(seen_filter *f, const seen_filter *src)
{
    sn_exceptions *x = f->exceptions;
    for (uint64_t i = 0; i < x->slots;) /* a removal may move another key here */
        if (x->slot[i].key && seen_has(src, x->slot[i].key, x->slot[i].len))
            take_out(f, x->slot + i);
        else
            i++;
}

/* ---- the file -------------------------------------------------------------------- */

static char *name_beside(const seen_filter *f, const char *path, size_t *size)
{
    *size = strlen(path) + sizeof ".excused";
    char *name = sn_alloc(&f->alloc, *size);
    if (name)
        snprintf(name, *size, "%s.excused", path);
    else
        sn_fail(SEEN_ENOMEM, "no memory for a name");
    return name;
}

int sn_exceptions_parse(seen_filter *f, uint8_t *p, uint64_t len, uint64_t filter)
{
    if (len < AT_KEYS || memcmp(p, MAGIC, 8) != 0)
        return sn_fail(SEEN_EFORMAT, "not a list of exceptions");
    if (sn_le32(p + AT_VERSION) != 1 || sn_le32(p + AT_VERSION + 4))
        return sn_fail(SEEN_EVERSION, "made by a newer version");
    uint64_t sum = sn_le64(p + AT_SUM), count = sn_le64(p + AT_COUNT), at = AT_KEYS;
    sn_put64(p + AT_SUM, 0);
    if (sn_checksum(p, len) != sum)
        return sn_fail(SEEN_EDAMAGED, "the checksum does not match: it is damaged");
    if (sn_le64(p + AT_NOW) != filter && sn_le64(p + AT_BEFORE) != filter)
        return 0; /* it belongs to another filter, or to this one before a change */
    for (uint64_t i = 0; i < count; i++) {
        uint64_t left = len - at, key = left >= 4 ? sn_le32(p + at) : 0;
        if (left < 4 || key > left - 4)
            return sn_fail(SEEN_EFORMAT, "key %llu is outside the list",
                           (unsigned long long)i + 1);
        int rc = put_in(f, p + at + 4, key);
        if (rc < 0)
            return rc;
        at += 4 + key;
    }
    return at == len ? 1 : sn_fail(SEEN_EFORMAT, "bytes follow the last key");
}

/* Reads all bytes of the file NAME; NULL and length 0 if there is none. */
static int read_all(const seen_filter *f, const char *name, uint8_t **out,
                    uint64_t *len)
{
    struct stat st;
    *out = NULL;
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : sn_cannot_open(name);
    int rc = 0;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        (uint64_t)st.st_size > MOST_BYTES + AT_KEYS)
        rc = sn_fail(SEEN_EFORMAT, "not a list of exceptions");
    *len = rc == 0 ? (uint64_t)st.st_size : 0;
    if (rc == 0 && !(*out = sn_alloc(&f->alloc, *len)))
        rc = sn_fail(SEEN_ENOMEM, "no memory for %llu bytes", (unsigned long long)*len);
    for (uint64_t at = 0; rc == 0 && at < *len;) {
        ssize_t n = read(fd, *out + at, *len - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            rc = sn_fail(SEEN_EIO, "cannot read it: %s",
                         n ? strerror(errno) : "it has shrunk");
        else
            at += (uint64_t)n;
    }
    close(fd);
    if (rc < 0) {
        sn_free(&f->alloc, *out, *len);
        *out = NULL;
    }
    return rc;
}

/* The identity of a file, to which a list is bound. The content is the header's
 * checksum of a native file, which covers the checksums of the bodies, or the checksum
 * of all bytes of another system's file. */
static uint64_t identity_of(uint64_t content, uint64_t modified)
{
    uint8_t both[16];
    sn_put64(both, content);
    sn_put64(both + 8, modified);
    return sn_checksum(both, 16);
}

/* The identity of the file that F was opened from. */
static uint64_t identity(seen_filter *f)
{
    if (!f->content && f->foreign && f->map)
        f->content = sn_checksum(f->map, f->map_len);
    return identity_of(f->content, f->modified);
}

int sn_exceptions_load(seen_filter *f, const char *path)
{
    size_t size;
    uint8_t *bytes;
    uint64_t len;
    char *name = name_beside(f, path, &size);
    if (!name)
        return SEEN_ENOMEM;
    int rc = read_all(f, name, &bytes, &len);
    if (rc == 0 && bytes)
        rc = sn_exceptions_parse(f, bytes, len, identity(f));
    if (bytes)
        sn_free(&f->alloc, bytes, len);
    if (rc < 0)
        sn_fail_named(rc, name);
    else if (f->exceptions)
        f->exceptions->dropped = false;
    sn_free(&f->alloc, name, size);
    return rc;
}

/* The bytes of F's list, f->exceptions->bytes of them. */
static uint8_t *make_bytes(const seen_filter *f, uint64_t now, uint64_t before)
{
    const sn_exceptions *x = f->exceptions;
    uint8_t *p = sn_alloc(&f->alloc, x->bytes), *to;
    if (!p) {
        sn_fail(SEEN_ENOMEM, "no memory for %llu bytes", (unsigned long long)x->bytes);
        return NULL;
    }
    to = p + AT_KEYS;
    memcpy(p, MAGIC, 8);
    sn_put32(p + AT_VERSION, 1);
    sn_put64(p + AT_NOW, now);
    sn_put64(p + AT_BEFORE, before ? before : now);
    sn_put64(p + AT_COUNT, x->n);
    for (const excused_key *k = x->slot; k < x->slot + x->slots; k++)
        if (k->key) {
            sn_put32(to, k->len);
            memcpy(to + 4, k->key, k->len);
            to += 4 + k->len;
        }
    sn_put64(p + AT_SUM, sn_checksum(p, x->bytes));
    return p;
}

/* Writes F's list beside PATH, for a file with identity NOW, or BEFORE until it
 * changes. */
static int write_list(const seen_filter *f, const char *path, uint64_t now,
                      uint64_t before)
{
    size_t size;
    char *name = name_beside(f, path, &size);
    if (!name)
        return SEEN_ENOMEM;
    int rc = 0;
    if (!f->exceptions || !f->exceptions->n) {
        if (unlink(name) < 0 && errno != ENOENT && errno != ENOTDIR)
            rc = sn_fail(SEEN_EIO, "cannot remove %s: %s", name, strerror(errno));
    } else {
        uint8_t *bytes = make_bytes(f, now, before);
        sn_replace r;
        struct stat st; /* who may read the filter may read the list */
        mode_t mode = stat(path, &st) == 0 ? st.st_mode & 0666 : 0666;
        rc = bytes ? sn_replace_begin(&r, name, mode) : SEEN_ENOMEM;
        if (rc == 0 && (rc = sn_replace_write(&r, bytes, f->exceptions->bytes)) < 0)
            sn_replace_abort(&r);
        else if (rc == 0)
            rc = sn_replace_commit(&r);
        sn_free(&f->alloc, bytes, f->exceptions->bytes);
        if (rc == 0)
            f->exceptions->dropped = false;
    }
    sn_free(&f->alloc, name, size);
    return rc;
}

/* The modification time that the file FD will get, to which the list is bound: now, in
 * whole seconds if the file system seems to store no fractions. */
static uint64_t moment(int fd, struct timespec times[2])
{
    struct stat st;
    clock_gettime(CLOCK_REALTIME, &times[1]);
    if (fstat(fd, &st) == 0 && st.st_mtim.tv_nsec == 0)
        times[1].tv_nsec = 0;
    times[0] = (struct timespec){.tv_nsec = UTIME_OMIT};
    return (uint64_t)times[1].tv_sec * 1000000000u + (uint64_t)times[1].tv_nsec;
}

int sn_exceptions_save(const seen_filter *f, const char *path, int fd, uint64_t content)
{
    struct timespec times[2];
    uint64_t now = moment(fd, times);
    if (f->exceptions && futimens(fd, times) < 0)
        return sn_fail(SEEN_EIO, "cannot set the time of %s: %s", path,
                       strerror(errno));
    return write_list(f, path, identity_of(content, now),
                      identity_of(f->content, f->modified));
}

int sn_exceptions_flush(seen_filter *f)
{
    if (!f->path || f->lock < 0)
        return 0;
    struct timespec times[2];
    uint64_t before = identity(f);
    f->modified = moment(f->lock, times);
    int rc = write_list(f, f->path, identity(f), before);
    if (rc == 0 && futimens(f->lock, times) < 0)
        rc = sn_fail(SEEN_EIO, "cannot set the time of %s: %s", f->path,
                     strerror(errno));
    return rc;
}

bool sn_exceptions_changed(const seen_filter *f)
{
    return f->exceptions && f->exceptions->dropped;
}

/* ---- public ---------------------------------------------------------------------- */

static int may_excuse(const seen_filter *f)
{
    return f->shared || (f->flags & SEEN_ATOMIC && f->writable)
               ? sn_fail(SEEN_EKIND, "a filter that many may add to has no exceptions: "
                                     "they could not all remove a key from the list")
               : 0;
}

int seen_excuse(seen_filter *f, const void *key, size_t len)
{
    int rc = may_excuse(f);
    if (rc < 0 || !seen_has(f, key, len))
        return rc;
    return put_in(f, key, len);
}

int seen_unexcuse(seen_filter *f, const void *key, size_t len)
{
    if (!f->exceptions || !f->exceptions->n)
        return 0;
    excused_key *k = find(f->exceptions, key, len, hash_of(f, key, len));
    if (!k->key)
        return 0;
    take_out(f, k);
    return 1;
}

uint64_t seen_excused(const seen_filter *f)
{
    return f->exceptions ? f->exceptions->n : 0;
}

int seen_excused_each(const seen_filter *f,
                      int (*each)(void *ctx, const void *key, size_t len), void *ctx)
{
    const sn_exceptions *x = f->exceptions;
    int rc = 0;
    for (uint64_t i = 0; x && rc == 0 && i < x->slots; i++)
        if (x->slot[i].key)
            rc = each(ctx, x->slot[i].key, x->slot[i].len);
    return rc;
}

int seen_excused_save(seen_filter *f)
{
    if (!f->path || !f->map || f->shared || f->dirty ||
        (f->foreign && f->foreign->dirty))
        return sn_fail(SEEN_EINVAL,
                       "only the exceptions of a filter that was opened from "
                       "a file, and not changed since, are saved beside it");
    /* One writer at a time; exceptions that others added meanwhile are kept. */
    int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return sn_cannot_open(f->path);
    struct stat st;
    struct timespec times[2];
    int rc = 0;
    if (f->lock < 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        rc = sn_fail(SEEN_EBUSY, "another process is writing to %s", f->path);
    else if (fstat(fd, &st) < 0)
        rc = sn_cannot_open(f->path);
    if (rc == 0) {
        bool touched = sn_modified(&st) != f->modified;
        f->modified = sn_modified(&st);
        rc = touched || !sn_exceptions_changed(f) ? sn_exceptions_load(f, f->path) : 0;
        if (rc == 0 && touched) /* and not only by another excuse */
            rc = sn_fail(SEEN_EMISMATCH, "%s was changed since it was opened", f->path);
    }
    /* The file gets a new time, so that programs that watch it read it again. */
    uint64_t before = identity(f), now = moment(fd, times);
    if (rc >= 0)
        rc = write_list(f, f->path, identity_of(f->content, now), before);
    if (rc == 0 && futimens(fd, times) < 0)
        rc = sn_fail(SEEN_EIO, "cannot set the time of %s: %s", f->path,
                     strerror(errno));
    if (rc == 0)
        f->modified = now;
    close(fd);
    return rc;
}
