/* build.c - collects any number of keys: eight bytes each, in memory, then on disk.
 *
 * Keys are hashed into an array. When it is full, a thread groups it by the first bits
 * of the hash and appends it to one temporary file as a run, while the next array
 * fills. The file has no name, so that nothing is left behind, even if the process is
 * killed. build_solve.c then reads the same part of every run, and so never needs more
 * than a part in memory. */
#include "filter/build.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "kind/ribbon.h"
#include "hash/hash.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define WORK_DEFAULT ((uint64_t)1 << 30)
#define WORK_LEAST ((uint64_t)64 << 20)
#define FIRST_ROOM 65536
#define TELL_EVERY ((uint64_t)1 << 20) /* keys */
/* Space to leave free on the disk. */
#define SPARE ((uint64_t)16 << 20)

static void *alloc_locked(void *ctx, size_t size, size_t align)
{
    seen_builder *b = ctx;
    pthread_mutex_lock(&b->memory);
    void *p = b->spec.alloc.alloc(b->spec.alloc.ctx, size, align);
    pthread_mutex_unlock(&b->memory);
    return p;
}

static void free_locked(void *ctx, void *p, size_t size)
{
    seen_builder *b = ctx;
    pthread_mutex_lock(&b->memory);
    b->spec.alloc.free(b->spec.alloc.ctx, p, size);
    pthread_mutex_unlock(&b->memory);
}

static int check_spec(const seen_build_spec *spec)
{
    if (!sn_all_zero(spec->reserved, sizeof spec->reserved))
        return sn_fail(SEEN_EINVAL,
                       "reserved fields of the specification must be zero");
    if (spec->error != 0 && !(spec->error > 0 && spec->error < 1))
        return sn_fail(SEEN_EINVAL, "the error rate must lie between 0 and 1, not %g",
                       spec->error);
    if (spec->error != 0 && spec->memory)
        return sn_fail(SEEN_EINVAL, "the error and the memory both decide the size: "
                                    "give one of them");
    if (spec->work && spec->work < WORK_LEAST)
        return sn_fail(SEEN_EINVAL,
                       "building needs at least %llu bytes of memory, not %llu",
                       (unsigned long long)WORK_LEAST, (unsigned long long)spec->work);
    sn_shape s = {.kind = SEEN_RIBBON};
    int rc = sn_check_allocator(&spec->alloc);
    if (rc == 0 && spec->error != 0)
        rc = sn_ribbon.shape_for(&s, 1, spec->error);
    return rc;
}

int seen_builder_new(const seen_build_spec *spec, seen_builder **out)
{
    static const seen_build_spec zero;
    *out = NULL;
    if (!spec)
        spec = &zero;
    sn_hasher hasher;
    int rc = check_spec(spec);
    if (rc == 0)
        rc = sn_hasher_of(&hasher, spec->hasher, spec->hash, spec->seed,
                          spec->seed_high);
    if (rc < 0)
        return rc;
    seen_builder *b = sn_alloc(&spec->alloc, sizeof *b);
    const char *tmp = spec->tmp ? spec->tmp : getenv("TMPDIR");
    tmp = tmp && *tmp ? tmp : "/tmp";
    char *name = sn_alloc(&spec->alloc, strlen(tmp) + 1);
    if (!b || !name) {
        sn_free(&spec->alloc, name, strlen(tmp) + 1);
        sn_free(&spec->alloc, b, sizeof *b);
        return sn_no_memory("no memory for a builder");
    }
    b->tmp = strcpy(name, tmp);
    b->spec = *spec;
    b->hasher = hasher;
    pthread_mutex_init(&b->memory, NULL);
    if (spec->alloc.alloc)
        b->alloc = (seen_allocator){alloc_locked, free_locked, b};
    b->fd = -1;
    b->work = spec->work ? spec->work : WORK_DEFAULT;
    /* Three arrays: one filling, one being grouped, one being written. */
    b->cap = b->work / 5 / 8;
    if (b->cap > UINT32_MAX)
        b->cap = UINT32_MAX;
    if (spec->keys > b->cap) {
        b->fd = sn_builder_temporary(b, spec->keys * 8);
        if (b->fd < 0) {
            rc = b->fd;
            b->fd = -1;
            seen_builder_free(b);
            return rc;
        }
    }
    *out = b;
    return 0;
}

/* ---- the temporary file ---------------------------------------------------------- */

static int refused(const char *what, const char *path)
{
    int e = errno;
    sn_fail(SEEN_EIO, "cannot %s %s: %s", what, path, strerror(e));
    errno = e;
    return SEEN_EIO;
}

int sn_builder_space(seen_builder *b, int fd, uint64_t len)
{
    struct statvfs v;
    if (fstatvfs(fd, &v) < 0)
        return refused("check the space in", b->tmp);
    uint64_t free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
    if (free_bytes >= len + (len > SPARE ? SPARE : 0))
        return 0;
    sn_fail(SEEN_EIO, "%s has %llu MB free, but building needs %llu MB there", b->tmp,
            (unsigned long long)(free_bytes / 1000000),
            (unsigned long long)((len + 999999) / 1000000));
    errno = ENOSPC;
    return SEEN_EIO;
}

int sn_builder_temporary(seen_builder *b, uint64_t len)
{
    int fd = open(b->tmp, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        char *name; /* a file system without unnamed files: remove the name at once */
        if (asprintf(&name, "%s/seen-build-XXXXXX", b->tmp) < 0)
            return sn_no_memory("no memory for a name");
        fd = mkostemp(name, O_CLOEXEC);
        int e = errno;
        if (fd >= 0)
            unlink(name);
        free(name);
        errno = e;
    }
    if (fd < 0)
        return refused("make a temporary file in", b->tmp);
    int rc = sn_builder_space(b, fd, len);
    if (rc < 0) {
        int e = errno;
        close(fd);
        errno = e;
        return rc;
    }
    return fd;
}

/* ---- runs ------------------------------------------------------------------------ */

/* Copies FROM to TO, grouped by parts. */
static void group(const uint64_t *from, uint64_t n, uint64_t *to,
                  uint32_t start[SN_PARTS + 1])
{
    uint32_t at[SN_PARTS] = {0};
    for (uint64_t i = 0; i < n; i++)
        at[from[i] >> (64 - SN_PART_BITS)]++;
    uint32_t sum = 0;
    for (int p = 0; p < SN_PARTS; p++) {
        start[p] = sum;
        sum += at[p];
        at[p] = start[p];
    }
    start[SN_PARTS] = sum;
    for (uint64_t i = 0; i < n; i++)
        to[at[from[i] >> (64 - SN_PART_BITS)]++] = from[i];
}

/* A line that is repeated very often makes one part large. So parts of more than four
 * times the usual size lose their duplicates, and no part outgrows memory because of a
 * few keys. SCRATCH has room for all keys. Returns how many are left. */
static uint64_t thin(uint64_t *m, uint32_t start[SN_PARTS + 1], uint64_t *scratch)
{
    uint64_t n = start[SN_PARTS], most = 4096 + 4 * (n / SN_PARTS), to = 0;
    for (int p = 0; p < SN_PARTS; p++) {
        uint64_t from = start[p], part = start[p + 1] - from;
        start[p] = (uint32_t)to;
        if (part > most)
            part = sn_ribbon_sort(m + from, scratch, part, SN_PART_BITS);
        if (to < from)
            memmove(m + to, m + from, part * 8);
        to += part;
    }
    start[SN_PARTS] = (uint32_t)to;
    return to;
}

/* The writer's thread: groups b->full and appends it to the file. */
static void *write_run(void *arg)
{
    seen_builder *b = arg;
    group(b->full, b->full_n, b->parted, b->full_run->start);
    b->full_n = thin(b->parted, b->full_run->start, b->full);
    const char *p = (const char *)b->parted;
    uint64_t left = b->full_n * 8, at = b->full_run->at;
    int rc = sn_builder_space(b, b->fd, left);
    while (rc == 0 && left) {
        ssize_t n = pwrite(b->fd, p, left < (64u << 20) ? left : 64u << 20, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            rc = refused("write a temporary file in", b->tmp);
            break;
        }
        p += n;
        at += (uint64_t)n;
        left -= (uint64_t)n;
    }
    sn_failure_keep(&b->write_failed, rc);
    return NULL;
}

static int join_writer(seen_builder *b)
{
    if (!b->writing)
        return 0;
    pthread_join(b->writer, NULL);
    b->writing = false;
    return sn_failure_tell(&b->write_failed);
}

/* Hands b->fill to the writer. */
static int spill(seen_builder *b)
{
    int rc = join_writer(b);
    if (rc < 0)
        return rc;
    if (b->fd < 0) {
        b->fd = sn_builder_temporary(b, b->used * 8);
        if (b->fd < 0) {
            rc = b->fd;
            b->fd = -1;
            return rc;
        }
    }
    sn_run *run = NULL;
    if (sn_array_room(&b->alloc, &b->run, &b->runs_room, b->runs + 1, sizeof *b->run))
        run = sn_alloc(&b->alloc, sizeof *run);
    if (!b->parted && (b->parted = sn_body_alloc(&b->alloc, b->cap * 8)))
        b->parted_room = b->cap;
    if (!b->full)
        b->full = sn_body_alloc(&b->alloc, b->cap * 8);
    if (!run || !b->parted || !b->full) {
        sn_free(&b->alloc, run, sizeof *run);
        return sn_no_memory("no memory to sort %llu keys", (unsigned long long)b->cap);
    }
    run->at = b->spilled;
    b->run[b->runs++] = run;
    uint64_t *t = b->full;
    b->full = b->fill;
    b->full_n = b->used;
    b->full_run = run;
    b->fill = t;
    b->spilled += b->used * 8;
    b->used = 0;
    if (pthread_create(&b->writer, NULL, write_run, b) == 0) {
        b->writing = true;
        return 0;
    }
    write_run(b); /* no thread available: this only takes longer */
    return b->write_failed.code;
}

/* ---- taking ---------------------------------------------------------------------- */

int sn_builder_tell(seen_builder *b, uint64_t done, uint64_t of)
{
    seen_build_progress p = {.keys = b->total, .temporary = b->spilled};
    if (!b->spec.progress)
        return 0;
    p.phase = of ? SEEN_BUILD_SOLVING : SEEN_BUILD_TAKING;
    p.done = done;
    p.of = of;
    return b->spec.progress(b->spec.ctx, &p)
               ? sn_fail(SEEN_ECANCEL, "stopped on request")
               : 0;
}

/* Room for at least one more key in b->fill. */
static int make_room(seen_builder *b)
{
    if (b->used < b->room)
        return 0;
    if (b->room == b->cap)
        return spill(b);
    uint64_t want = b->room ? b->room * 2 : FIRST_ROOM;
    want = want < b->cap ? want : b->cap;
    uint64_t *p = b->fill ? sn_body_regrow(&b->alloc, b->fill, b->room * 8, want * 8)
                          : sn_body_alloc(&b->alloc, want * 8);
    if (!p)
        return sn_no_memory("no memory for %llu keys", (unsigned long long)want);
    b->fill = p;
    b->room = want;
    return 0;
}

static inline int take_keys(seen_builder *b, const seen_key *keys, const uint64_t *h,
                       size_t n)
{
    if (b->failed)
        return sn_fail(b->failed, "the builder has failed or finished");
    for (size_t i = 0; i < n;) {
        int rc = make_room(b);
        uint64_t before = b->total;
        if (rc == 0) {
            uint64_t some = b->room - b->used;
            some = some < n - i ? some : n - i;
            uint64_t *to = b->fill + b->used;
            if (keys)
                sn_hasher_many(&b->hasher, keys + i, some, to);
            for (uint64_t j = 0; j < some; j++)
                to[j] = sn_remix(keys ? to[j] : h[i + j]);
            b->used += some;
            b->total += some;
            i += some;
            if (before / TELL_EVERY != b->total / TELL_EVERY)
                rc = sn_builder_tell(b, 0, 0);
        }
        if (rc < 0) {
            b->failed = rc;
            return rc;
        }
    }
    return 0;
}

int seen_builder_add(seen_builder *b, const seen_key *keys, size_t n)
{
    return take_keys(b, keys, NULL, n);
}

int seen_builder_add_hashes(seen_builder *b, const uint64_t *h, size_t n)
{
    return take_keys(b, NULL, h, n);
}

static void free_words(seen_builder *b, uint64_t **words, uint64_t room)
{
    sn_body_free(&b->alloc, *words, room * 8);
    *words = NULL;
}

int sn_builder_close(seen_builder *b, uint32_t start[SN_PARTS + 1])
{
    int rc = 0;
    if (b->runs) {
        rc = b->used ? spill(b) : 0;
        int late = join_writer(b);
        rc = rc < 0 ? rc : late;
        free_words(b, &b->fill, b->room);
        free_words(b, &b->full, b->cap);
    } else {
        b->parted = sn_body_alloc(&b->alloc, b->used * 8);
        if (!b->parted)
            return sn_no_memory("no memory to sort %llu keys",
                                (unsigned long long)b->used);
        group(b->fill, b->used, b->parted, start);
        if (b->used)
            thin(b->parted, start, b->fill);
        free_words(b, &b->fill, b->room);
        b->fill = b->parted;
        b->room = b->used;
        b->parted = NULL;
    }
    free_words(b, &b->parted, b->parted_room);
    return rc;
}

void seen_builder_free(seen_builder *b)
{
    if (!b)
        return;
    if (b->writing)
        pthread_join(b->writer, NULL);
    if (b->fd >= 0)
        close(b->fd);
    for (uint32_t i = 0; i < b->runs; i++)
        sn_free(&b->alloc, b->run[i], sizeof *b->run[i]);
    sn_body_free(&b->alloc, b->run, b->runs_room * sizeof *b->run);
    free_words(b, &b->full, b->cap);
    sn_free(&b->alloc, b->tmp, strlen(b->tmp) + 1);
    free_words(b, &b->fill, b->room);
    free_words(b, &b->parted, b->parted_room);
    pthread_mutex_destroy(&b->memory);
    seen_allocator a = b->spec.alloc;
    sn_free(&a, b, sizeof *b);
}
