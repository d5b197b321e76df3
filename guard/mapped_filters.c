/* mapped_filters.c - maps the files PATH.N as the control file's numbers change.
 *
 * Readers and writers share a lock; only an exchange of mappings has it alone. A reader
 * that finds no usable filter passes (fails open); a writer that cannot add takes the
 * filter out of use for everybody. */
#include "mapped_filters.h"
#include "base/sync.h"
#include "guard_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- files ----------------------------------------------------------------------- */

static void file_name(const mapped_filters *m, uint32_t number, char *buf, size_t size)
{
    snprintf(buf, size, "%s.%u", m->path, number);
}

/* Maps the filter behind FD, which stays the caller's. */
static int map_descriptor(int fd, seen_filter **out)
{
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return seen_open(name, SEEN_SHARED, out);
}

static int map_file(const mapped_filters *m, uint32_t number, seen_filter **out)
{
    char name[4096];
    file_name(m, number, name, sizeof name);
    int fd = sn_control_open_private(name, 0);
    if (fd < 0)
        return errno == ENOENT || errno == ELOOP || errno == EPERM ? SEEN_EDAMAGED
                                                                   : SEEN_EIO;
    int rc = map_descriptor(fd, out);
    close(fd);
    if (rc == 0 && seen_hash(*out, "", 0) != seen_hasher_hash(&m->hasher, "", 0)) {
        seen_free(*out);
        *out = NULL;
        rc = SEEN_EMISMATCH;
    }
    return rc;
}

static int to_file(void *ctx, const void *p, size_t len)
{
    return sn_write_all(*(int *)ctx, p, len) < 0 ? SEEN_EIO : 0;
}

int sn_mapped_make(mapped_filters *m, uint32_t number, const seen_filter *f,
                   seen_filter **out)
{
    char name[4096];
    file_name(m, number, name, sizeof name);
    unlink(name);
    int fd = sn_control_open_private(name, O_CREAT | O_EXCL);
    if (fd < 0)
        return SEEN_EIO;
    int rc = seen_write(f, to_file, &fd);
    if (rc < 0)
        sn_guard_fail(rc, "cannot write %s: %s", name, strerror(errno));
    else if (sn_sync_folder(name) < 0)
        rc = sn_guard_fail(SEEN_EIO, "cannot synchronise the folder of %s: %s", name,
                           strerror(errno));
    else if ((rc = map_descriptor(fd, out)) < 0)
        sn_guard_fail(rc, "cannot map %s: %s", name, seen_reason());
    close(fd);
    if (rc < 0)
        unlink(name);
    return rc;
}

void sn_mapped_remove(const mapped_filters *m, uint32_t number)
{
    char name[4096];
    file_name(m, number, name, sizeof name);
    if (number)
        unlink(name);
}

/* ---- mappings -------------------------------------------------------------------- */

static void lock_init(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attr;
    /* There are always readers; an exchange must get its turn. */
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(lock, &attr);
    pthread_rwlockattr_destroy(&attr);
}

static void fork_lock(void *ctx)
{
    pthread_rwlock_rdlock(&((mapped_filters *)ctx)->lock);
}
static void fork_unlock(void *ctx)
{
    pthread_rwlock_unlock(&((mapped_filters *)ctx)->lock);
}
static void fork_child(void *ctx)
{
    lock_init(&((mapped_filters *)ctx)->lock);
}

void sn_mapped_open(mapped_filters *m, control *c, const char *path)
{
    memset(m, 0, sizeof *m);
    m->control = c;
    seen_hasher_init(&m->hasher, SEEN_HASH_KEYED, c->seed[0], c->seed[1]);
    m->path = path;
    lock_init(&m->lock);
    m->fork = (fork_watch){m, fork_lock, fork_unlock, fork_child};
    sn_fork_watch(&m->fork);
}

void sn_mapped_close(mapped_filters *m)
{
    sn_fork_unwatch(&m->fork);
    seen_free(m->live.filter);
    seen_free(m->next.filter);
    pthread_rwlock_destroy(&m->lock);
}

static seen_filter *find(const mapped_filters *m, uint32_t number)
{
    return number == 0                ? NULL
           : m->live.number == number ? m->live.filter
           : m->next.number == number ? m->next.filter
                                      : NULL;
}

/* Filter NUMBER: the one that is mapped, or mapped now. */
static int keep_or_map(mapped_filters *m, uint32_t number, mapped_filter *out)
{
    mapped_filter *have = m->live.number == number ? &m->live : &m->next;
    *out = (mapped_filter){number, NULL};
    if (number == 0)
        return 0;
    if (have->number == number) {
        *out = *have;
        *have = (mapped_filter){0, NULL};
        return 0;
    }
    int rc = map_file(m, number, &out->filter);
    if (rc < 0)
        *out = (mapped_filter){0, NULL};
    return rc;
}

/* Maps what W names and unmaps the rest. On failure *BAD is the filter that could not
 * be mapped. */
static int follow(mapped_filters *m, uint64_t w, uint32_t *bad)
{
    mapped_filter live, next;
    pthread_rwlock_wrlock(&m->lock);
    int rc = keep_or_map(m, live_of(w), &live), rc2 = keep_or_map(m, next_of(w), &next);
    seen_free(m->live.filter);
    seen_free(m->next.filter);
    m->live = live;
    m->next = next;
    pthread_rwlock_unlock(&m->lock);
    *bad = rc < 0 ? live_of(w) : next_of(w);
    return rc < 0 ? rc : rc2;
}

enum filter_answer sn_mapped_ask(mapped_filters *m, uint64_t hash)
{
    control *c = m->control;
    for (int tries = 0; tries < 100; tries++) {
        uint64_t w = c->live_and_next;
        uint32_t live = live_of(w), bad;
        if (live == 0)
            return FILTER_OPEN;
        pthread_rwlock_rdlock(&m->lock);
        seen_filter *f = find(m, live);
        bool has = f && seen_has_hash(f, hash);
        pthread_rwlock_unlock(&m->lock);
        if (f)
            return has ? FILTER_MAYBE : FILTER_NO;
        if (m->cannot == live && sn_guard_now_ms() < m->until)
            return FILTER_OPEN;
        int rc = follow(m, w, &bad);
        if (rc == 0 || bad != live || c->live_and_next != w)
            continue;
        /* Nobody can use a file that is gone or damaged; one that only this process
         * cannot open (no descriptors, no permission) serves the others. */
        if (rc != SEEN_EIO && rc != SEEN_ENOMEM)
            sn_control_drop_live(c, live, OPEN_LOST);
        m->until = sn_guard_now_ms() + 1000;
        m->cannot = live;
        return FILTER_OPEN;
    }
    return FILTER_OPEN;
}

void sn_mapped_add(mapped_filters *m, uint64_t hash)
{
    control *c = m->control;
    for (;;) {
        uint64_t w = c->live_and_next;
        uint32_t live = live_of(w), next = next_of(w), bad = 0;
        if (w == 0)
            return;
        pthread_rwlock_rdlock(&m->lock);
        seen_filter *a = find(m, live), *b = find(m, next);
        if (a && seen_add_hash(a, hash) == SEEN_NEW)
            c->added++;
        if (b)
            seen_add_hash(b, hash);
        pthread_rwlock_unlock(&m->lock);
        if ((a || !live) && (b || !next))
            break;
        if (follow(m, w, &bad) < 0 && c->live_and_next == w) {
            if (bad == live)
                sn_control_drop_live(c, live, OPEN_LOST);
            else
                atomic_compare_exchange_strong(&c->live_and_next, &w,
                                               live_and_next(live, 0));
        }
    }
    atomic_thread_fence(memory_order_seq_cst);
}

uint64_t sn_mapped_bytes(mapped_filters *m)
{
    pthread_rwlock_rdlock(&m->lock);
    uint64_t n = m->live.filter ? seen_bytes(m->live.filter) : 0;
    pthread_rwlock_unlock(&m->lock);
    return n;
}
