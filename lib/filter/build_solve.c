/* build_solve.c - builds a ribbon from hashes in parts, on all cores, in bounded
 * memory.
 *
 * A unit of work is one shard, or one part if a part holds several shards. Workers
 * take units in order, read them part by part, sort and drop duplicates, solve, and
 * append the words in order. The bytes depend only on the set of keys, never on their
 * order, their repetitions or the number of threads. Only the current units are in
 * memory; the body grows in memory, or in a temporary file if it would take more than
 * half of what the builder may use. */
#include "filter/build.h"
#include "filter/file.h"
#include "kind/ribbon.h"
#include "base/fail.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Bytes of scratch that a worker needs for each key: two copies to sort, rows and
 * places to solve, words of the result. */
#define SCRATCH 64
#define SCRATCH_TRITS 28 /* at most this many more with trits */
/* The number of distinct keys is estimated from one part in SAMPLE, which is a fair
 * sample because hashes are random; up to EXACT keys are counted if it matters. */
#define SAMPLE 32
#define EXACT 256e6

typedef struct job {
    seen_builder *b;
    uint32_t start[SN_PARTS + 1]; /* of the parts in memory, if there are no runs */
    unsigned bits, unit_bits;     /* of shards and units */
    uint64_t units;
    uint64_t taken, biggest; /* keys of all parts and of one, with duplicates */
    double guess;            /* of the number of distinct keys */
    unsigned threads;
    unsigned r;
    uint64_t share;

    pthread_mutex_t lock;
    pthread_cond_t turned;
    uint64_t next, turn; /* unit to take, unit whose words are due */
    sn_failure failed;   /* the first */

    uint64_t solved; /* keys done, of `taken` */
    uint64_t kept;   /* distinct ones */
    uint64_t *table;
    uint64_t words; /* appended so far */
    uint8_t *body;  /* of `room` bytes, unless fd >= 0 */
    uint64_t room;
    int fd;
} job;

/* ---- reading --------------------------------------------------------------------- */

/* Keys of parts FROM to TO-1. */
static uint64_t part_keys(const job *j, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    uint32_t runs = j->b->runs;
    for (uint32_t i = 0; i < runs; i++)
        n += j->b->run[i]->start[to] - j->b->run[i]->start[from];
    return runs ? n : j->start[to] - j->start[from];
}

static int read_part(const job *j, uint64_t part, uint64_t *to)
{
    const seen_builder *b = j->b;
    if (!b->runs) {
        memcpy(to, b->fill + j->start[part], part_keys(j, part, part + 1) * 8);
        return 0;
    }
    for (uint32_t i = 0; i < b->runs; i++) {
        const sn_run *run = b->run[i];
        uint64_t left = (uint64_t)(run->start[part + 1] - run->start[part]) * 8;
        uint64_t at = run->at + (uint64_t)run->start[part] * 8;
        char *p = (char *)to;
        to += left / 8;
        while (left) {
            ssize_t n = pread(b->fd, p, left, (off_t)at);
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                return sn_fail(SEEN_EIO, "cannot read back a temporary file in %s: %s",
                               b->tmp, n ? strerror(errno) : "it has shrunk");
            p += n;
            at += (uint64_t)n;
            left -= (uint64_t)n;
        }
    }
    return 0;
}

/* A growing array of words. */
typedef struct pile {
    uint64_t *words, n, room;
} pile;

static int pile_room(const job *j, pile *p, uint64_t more)
{
    return sn_array_room(&j->b->alloc, &p->words, &p->room, p->n + more, 8)
               ? 0
               : sn_no_memory("no memory for %llu keys",
                              (unsigned long long)(p->n + more));
}

static void pile_free(const job *j, pile *p)
{
    sn_body_free(&j->b->alloc, p->words, p->room * 8);
}

/* Adds the distinct keys of a part to KEYS, in order; SCRATCH is for sorting. */
static int take_part(const job *j, uint64_t part, pile *keys, pile *scratch)
{
    uint64_t n = part_keys(j, part, part + 1);
    scratch->n = 0;
    int rc = pile_room(j, keys, n);
    rc = rc < 0 ? rc : pile_room(j, scratch, n);
    rc = rc < 0 ? rc : read_part(j, part, keys->words + keys->n);
    if (rc == 0)
        keys->n +=
            sn_ribbon_sort(keys->words + keys->n, scratch->words, n, SN_PART_BITS);
    return rc;
}

/* ---- a worker -------------------------------------------------------------------- */

static void fail_job(job *j, int rc)
{
    sn_failure this;
    sn_failure_keep(&this, rc);
    pthread_mutex_lock(&j->lock);
    if (j->failed.code == 0)
        j->failed = this;
    pthread_cond_broadcast(&j->turned);
    pthread_mutex_unlock(&j->lock);
}

static bool on_disk(const job *j)
{
    return j->fd >= 0;
}

/* Appends N words to the body; it must be the caller's turn. */
static int append(job *j, const uint64_t *words, uint64_t n)
{
    const seen_allocator *a = &j->b->alloc;
    uint64_t at = j->words * 8, len = n * 8;
    if (!on_disk(j) && at + len > j->room) {
        uint64_t room = (at + len) / 8 * 9 + ((uint64_t)8 << 20);
        uint8_t *more = sn_body_alloc(a, room);
        if (!more)
            return sn_no_memory("no memory for a filter of %llu bytes",
                                (unsigned long long)room);
        if (at)
            memcpy(more, j->body, at);
        sn_body_free(a, j->body, j->room);
        j->body = more;
        j->room = room;
    }
    j->words += n;
    if (!on_disk(j)) {
        memcpy(j->body + at, words, len);
        return 0;
    }
    const char *p = (const char *)words;
    while (len) {
        ssize_t w = pwrite(j->fd, p, len, (off_t)at);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return sn_fail(SEEN_EIO, "cannot write a temporary file in %s: %s",
                           j->b->tmp, strerror(errno));
        p += w;
        at += (uint64_t)w;
        len -= (uint64_t)w;
    }
    return 0;
}

/* Waits for the turn of UNIT; false if the work is over. */
static bool wait_turn(job *j, uint64_t unit)
{
    while (j->turn != unit && j->failed.code == 0)
        pthread_cond_wait(&j->turned, &j->lock);
    return j->failed.code == 0;
}

/* Solves the shards of one unit and appends them when it is their turn. */
static int solve_unit(job *j, sn_ribbon_work *w, pile *p, uint64_t unit,
                      const uint64_t *m, uint64_t n, uint64_t taken)
{
    uint64_t shards = (uint64_t)1 << (j->bits - j->unit_bits), first = unit * shards,
             i = 0;
    int rc = 0;
    p->n = 0;
    for (uint64_t s = first; s < first + shards; s++) {
        uint64_t from = i, *entry = j->table + 8 * s, len;
        const uint64_t *words;
        while (i < n && sn_ribbon_shard(m[i], j->bits) == s)
            i++;
        rc = sn_ribbon_solve(w, m + from, i - from, j->bits, j->r, j->share, &words,
                             &len, entry);
        entry[0] += p->n;
        entry[1] += p->n;
        rc = rc < 0 ? rc : pile_room(j, p, len);
        if (rc < 0)
            return rc;
        if (len)
            memcpy(p->words + p->n, words, len * 8);
        p->n += len;
    }
    pthread_mutex_lock(&j->lock);
    if (wait_turn(j, unit)) {
        for (uint64_t s = first; s < first + shards; s++) {
            j->table[8 * s] += j->words;
            j->table[8 * s + 1] += j->words;
            for (uint64_t e = 8 * s; e < 8 * s + 8; e++)
                j->table[e] = sn_swap64(j->table[e]);
        }
        rc = append(j, p->words, p->n);
        j->turn++;
        j->solved += taken;
        j->kept += n;
        pthread_cond_broadcast(&j->turned);
    }
    pthread_mutex_unlock(&j->lock);
    return rc;
}

static void *work(void *arg)
{
    job *j = arg;
    pile keys = {0}, scratch = {0}, words = {0};
    sn_ribbon_work *w = sn_ribbon_work_new(&j->b->alloc);
    uint64_t parts = SN_PARTS >> j->unit_bits;
    int rc = w ? 0 : sn_no_memory("no memory to solve");
    while (rc == 0) {
        pthread_mutex_lock(&j->lock);
        uint64_t unit = j->failed.code == 0 ? j->next++ : j->units;
        pthread_mutex_unlock(&j->lock);
        if (unit >= j->units)
            break;
        keys.n = 0;
        for (uint64_t p = unit * parts; rc == 0 && p < (unit + 1) * parts; p++)
            rc = take_part(j, p, &keys, &scratch);
        if (rc == 0)
            rc = solve_unit(j, w, &words, unit, keys.words, keys.n,
                            part_keys(j, unit * parts, (unit + 1) * parts));
    }
    if (rc < 0)
        fail_job(j, rc);
    pile_free(j, &words);
    pile_free(j, &scratch);
    pile_free(j, &keys);
    sn_ribbon_work_free(w);
    return NULL;
}

/* ---- sizes ----------------------------------------------------------------------- */

/* The longest body for a file of at most BYTES; 0 if there is none. */
static uint64_t body_in(uint64_t bytes)
{
    uint64_t header = sn_page_up(sn_sums_at(1) + 8 * sn_pieces(bytes)), small = 0;
    if (bytes > SN_COMPACT)
        small =
            bytes - SN_COMPACT < SN_COMPACT_BODY ? bytes - SN_COMPACT : SN_COMPACT_BODY;
    uint64_t large = bytes < header ? 0 : (bytes - header) / SN_PAGE * SN_PAGE;
    return large > small ? large : small / 64 * 64;
}

/* The number of distinct keys in the first PARTS parts. */
static int count(const job *j, uint64_t parts, double *out)
{
    pile keys = {0}, scratch = {0};
    int rc = 0;
    *out = 0;
    for (uint64_t p = 0; rc == 0 && p < parts; p++) {
        keys.n = 0;
        rc = take_part(j, p, &keys, &scratch);
        *out += (double)keys.n;
    }
    pile_free(j, &keys);
    pile_free(j, &scratch);
    return rc;
}

/* Chooses the numbers of shards, units and threads. */
static int plan(job *j)
{
    seen_builder *b = j->b;
    double most = (double)b->work / SCRATCH / 4;
    most = most < (double)SN_RIBBON_SHARD ? most : (double)SN_RIBBON_SHARD;
    j->taken = part_keys(j, 0, SN_PARTS);
    for (uint64_t p = 0; p < SN_PARTS; p++) {
        uint64_t n = part_keys(j, p, p + 1);
        j->biggest = n > j->biggest ? n : j->biggest;
    }
    if (j->biggest > b->work / SCRATCH && j->biggest > 2 * most)
        return sn_fail(SEEN_ETOOBIG,
                       "%llu keys of %llu must be solved together, too many for "
                       "%llu MB: give more memory, or another seed",
                       (unsigned long long)j->biggest, (unsigned long long)j->taken,
                       (unsigned long long)(b->work / 1000000));
    int rc = count(j, SN_PARTS / SAMPLE, &j->guess);
    if (rc < 0)
        return rc;
    j->guess *= SAMPLE;
    j->bits = (unsigned)__builtin_ctzll(sn_ribbon_shards(j->guess, most));
    j->unit_bits = j->bits < SN_PART_BITS ? j->bits : SN_PART_BITS;
    j->units = (uint64_t)1 << j->unit_bits;
    j->threads = b->spec.threads;
    if (!j->threads) {
        cpu_set_t set;
        j->threads =
            sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    }
    double unit = j->guess / (double)j->units + (double)j->biggest;
    double fit = (double)b->work / (SCRATCH + SCRATCH_TRITS) / (unit + 1);
    j->threads = fit < 1 ? 1 : j->threads > fit ? (unsigned)fit : j->threads;
    j->threads = j->threads > j->units ? (unsigned)j->units : j->threads;
    return 0;
}

/* ---- solving --------------------------------------------------------------------- */

static void reset(job *j)
{
    sn_body_free(&j->b->alloc, j->body, j->room);
    j->body = NULL;
    j->room = j->words = j->next = j->turn = j->solved = j->kept = 0;
    if (on_disk(j))
        close(j->fd);
    j->fd = -1;
}

/* Solves all units with the fingerprints of S. */
static int solve(job *j, const sn_shape *s)
{
    const seen_allocator *a = &j->b->alloc;
    pthread_t *thread = sn_alloc(a, j->threads * sizeof *thread);
    uint64_t want = sn_ribbon.body_len(s);
    unsigned started = 0;
    int rc = 0;
    reset(j);
    j->r = s->k;
    j->share = s->own[SN_RIBBON_SHARE];
    if (want > j->b->work / 2) {
        j->fd = sn_builder_temporary(j->b, want);
        rc = j->fd < 0 ? j->fd : 0;
    } else {
        j->room = want + want / 256 + 65536;
        j->body = sn_body_alloc(a, j->room);
        if (!j->body)
            rc = SEEN_ENOMEM, j->room = 0;
    }
    if (!thread || rc == SEEN_ENOMEM)
        rc = sn_no_memory("no memory for a filter of %llu bytes",
                          (unsigned long long)want);
    while (rc == 0 && started < j->threads &&
           pthread_create(thread + started, NULL, work, j) == 0)
        started++;
    if (rc == 0 && !started)
        work(j); /* no thread available */
    pthread_mutex_lock(&j->lock);
    while (started && j->turn < j->units && j->failed.code == 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&j->turned, &j->lock, &until);
        uint64_t solved = j->solved;
        pthread_mutex_unlock(&j->lock);
        int stop = sn_builder_tell(j->b, solved, j->taken);
        if (stop < 0)
            fail_job(j, stop);
        pthread_mutex_lock(&j->lock);
    }
    pthread_mutex_unlock(&j->lock);
    for (unsigned i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    sn_free(a, thread, j->threads * sizeof *thread);
    if (rc == 0)
        rc = sn_failure_tell(&j->failed);
    return rc < 0 ? rc : append(j, j->table, 8 * ((uint64_t)1 << j->bits));
}

/* Solves; if there is a budget and the guess was too low, solves again. */
static int solve_to_fit(job *j)
{
    const seen_build_spec *spec = &j->b->spec;
    sn_shape s = {.kind = SEEN_RIBBON};
    if (!spec->memory) {
        int rc = sn_ribbon.shape_for(&s, j->guess + 1,
                                     spec->error == 0 ? 0.01 : spec->error);
        return rc < 0 ? rc : solve(j, &s);
    }
    uint64_t most = body_in(spec->memory), goal = most - most / 4000;
    double n = j->guess + 4 * sqrt(SAMPLE * j->guess); /* four sigma */
    int rc = j->guess <= EXACT ? count(j, SN_PARTS, &n) : 0;
    for (int i = 0; rc == 0 && i < 8; i++) {
        rc = sn_ribbon.shape_in(&s, n < 1 ? 1 : n, goal);
        if (rc < 0)
            return sn_fail(SEEN_EINVAL, "%.0f keys do not fit a file of %llu bytes", n,
                           (unsigned long long)spec->memory);
        rc = solve(j, &s);
        if (rc < 0 || j->words * 8 <= most)
            return rc;
        n = (double)j->kept;
        goal -= j->words * 8 - most + most / 4000;
    }
    return rc < 0 ? rc
                  : sn_fail(SEEN_EINVAL, "%.0f keys do not fit a file of %llu bytes", n,
                            (unsigned long long)spec->memory);
}

/* Reads the LEN bytes of the temporary file into memory of the caller's allocator. */
static uint8_t *read_body(job *j, uint64_t len)
{
    uint8_t *body = sn_body_alloc(&j->b->alloc, len);
    for (uint64_t at = 0; body && at < len;) {
        ssize_t n = pread(j->fd, body + at, len - at, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            sn_body_free(&j->b->alloc, body, len);
            return NULL;
        }
        at += (uint64_t)n;
    }
    return body;
}

/* The body, for the filter to own, at its exact length. */
static uint8_t *take_body(job *j)
{
    uint64_t len = j->words * 8;
    if (on_disk(j) && j->b->alloc.alloc)
        return read_body(j, len);
    if (on_disk(j)) {
        void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, j->fd, 0);
        return p == MAP_FAILED ? NULL : p; /* large, so the filter will unmap it */
    }
    uint8_t *body = sn_body_shrink(&j->b->alloc, j->body, j->room, len);
    if (body) {
        j->body = NULL;
        j->room = 0;
    }
    return body;
}

static int make_filter(job *j, seen_filter **out)
{
    seen_filter *f = sn_filter_alloc(&j->b->spec.alloc);
    uint8_t *body = f ? take_body(j) : NULL;
    if (!body) {
        seen_free(f);
        return sn_no_memory("no memory for a filter of %llu bytes",
                            (unsigned long long)j->words * 8);
    }
    sn_layer *l = f->layer;
    l->kind = &sn_ribbon;
    l->shape = (sn_shape){.kind = SEEN_RIBBON, .k = j->r, .capacity = j->kept};
    l->shape.units = (uint64_t)1 << j->bits;
    l->shape.own[SN_RIBBON_WORDS] = j->words;
    l->shape.own[SN_RIBBON_SHARE] = j->share;
    l->shape.error = sn_ribbon.error_at(&l->shape, (double)j->kept);
    l->added = j->kept;
    l->len = j->words * 8;
    l->body = body;
    f->layers = 1;
    f->flags = SEEN_FIXED;
    f->kind = SEEN_RIBBON;
    f->probes = j->r;
    f->hasher = j->b->hasher;
    f->keys = j->kept;
    f->error = l->shape.error;
    sn_choose_variants(f);
    *out = f;
    return 0;
}

int seen_builder_finish(seen_builder *b, seen_filter **out)
{
    *out = NULL;
    if (b->failed)
        return sn_fail(b->failed, "the builder has failed or finished");
    job *j = sn_alloc(&b->alloc, sizeof *j);
    if (!j)
        return sn_no_memory("no memory to build");
    j->b = b;
    j->fd = -1;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->turned, NULL);
    int rc = sn_builder_close(b, j->start);
    b->failed = rc < 0 ? rc : SEEN_EINVAL; /* finished, with or without success */
    if (rc == 0)
        rc = plan(j);
    if (rc == 0) {
        j->table = sn_body_alloc(&b->alloc, (uint64_t)SN_RIBBON_ENTRY << j->bits);
        rc = j->table ? solve_to_fit(j) : sn_no_memory("no memory for the table");
    }
    if (rc == 0)
        rc = make_filter(j, out);
    int e = errno;
    reset(j);
    sn_body_free(&b->alloc, j->table, (uint64_t)SN_RIBBON_ENTRY << j->bits);
    pthread_cond_destroy(&j->turned);
    pthread_mutex_destroy(&j->lock);
    sn_free(&b->alloc, j, sizeof *j);
    errno = e;
    return rc;
}
