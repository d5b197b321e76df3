/* log_repair.c - seen crawl --repair: makes a damaged log readable again.
 *
 * Whatever is not a good batch becomes a hole of the same length, so that all positions
 * in the log stay valid. A page that was done in a hole is known from the batch that
 * found it, so a resumed crawl fetches it again and finds its links again. The damaged
 * file is kept under another name before the repaired one takes its place. */
#include "durable.h"
#include "frontier.h"
#include "log_batch.h"
#include "output.h"
#include "human_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct repair {
    char path[4096], copy[4096 + 32];
    int from;
    kit_output *to;
    uint64_t seed, end; /* end: of the log */
    uint64_t batches, holes, lost;
} repair;

static void fail(const char *path)
{
    kit_die("%s: %s", path, strerror(errno));
}

/* The header: as it is, with one bit turned back, or written from the known seed. */
static void find_head(repair *r, uint64_t seed, uint8_t raw[LOG_HEAD])
{
    log_head head;
    memset(raw, 0, LOG_HEAD);
    if (read_at(r->from, raw, LOG_HEAD, 0) < 0)
        fail(r->path);
    bool good = log_head_read(raw, &head);
    for (int bit = 0; bit < 8 * LOG_HEAD && !good; bit++) {
        raw[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (!(good = log_head_read(raw, &head)))
            raw[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    if (!good && seed) {
        head = (log_head){LOG_VERSION, seed, 0};
        log_head_write(raw, &head);
        good = true;
    }
    if (!good)
        kit_die("%s: the header is lost, and with it the seed of the checksums",
                r->path);
    log_check_version(r->path, head.version);
    r->seed = head.seed;
}

static void write_fixed(repair *r, const void *p, size_t n)
{
    if (kit_output_write(r->to, p, n) < 0)
        kit_output_fail(r->to);
}

static void write_hole(repair *r, uint64_t from, uint64_t to)
{
    r->holes++;
    r->lost += to - from;
    while (from < to) {
        uint64_t n = to - from;
        /* The rest of a split hole must have room for a frame and a byte. */
        if (n > BATCH_MOST)
            n = BATCH_MOST / 2;
        uint8_t *p = kit_alloc(n);
        batch_frame(p, r->seed, from, (uint32_t)(n - BATCH_FRAME), BATCH_HOLE);
        write_fixed(r, p, n);
        free(p);
        from += n;
    }
}

/* Copies the good batches and puts holes between them. Whatever follows the last
 * good batch is left out, like a torn write. */
static void copy_batches(repair *r)
{
    buf b = {0};
    uint32_t groups;
    uint64_t at = LOG_HEAD;
    while (at < r->end) {
        if (batch_read(r->from, r->seed, at, r->end, &b, &groups)) {
            uint64_t n = BATCH_FRAME + b.len;
            char *p = kit_alloc(n);
            if (read_at(r->from, p, n, at) != (ssize_t)n)
                fail(r->path);
            write_fixed(r, p, n);
            free(p);
            at += n;
            r->batches++;
            continue;
        }
        uint64_t next = batch_find(r->from, r->seed, at + 1, r->end);
        if (next == r->end) {
            r->lost += r->end - at;
            break;
        }
        if (next - at <= BATCH_FRAME)
            kit_die("%s: the %llu bytes before byte %llu are too few for a batch",
                    r->path, (unsigned long long)(next - at), (unsigned long long)next);
        write_hole(r, at, next);
        at = next;
    }
    free(b.p);
}

/* Keeps the damaged file under a second name, the first that is free. */
static void keep_copy(repair *r)
{
    for (int i = 1;; i++) {
        snprintf(r->copy, sizeof r->copy, "%s.damaged.%d", r->path, i);
        int rc = link(r->path, r->copy);
        if (rc == 0 && kit_sync_folder(r->copy) == 0)
            return;
        if (rc == 0 || errno != EEXIST)
            fail(r->copy);
    }
}

static void replace_log(repair *r)
{
    if (kit_output_finish(r->to, 0) < 0)
        kit_output_fail(r->to);
    keep_copy(r);
    if (kit_output_commit(r->to) < 0)
        kit_output_fail(r->to);
    kit_output_close(r->to);
}

void frontier_repair(const char *dir, uint64_t seed)
{
    repair *r = kit_alloc(sizeof *r);
    uint8_t head[LOG_HEAD];
    struct stat st;
    snprintf(r->path, sizeof r->path, "%s/frontier.log", dir);
    r->from = open(r->path, O_RDWR | O_CLOEXEC);
    if (r->from < 0 || fstat(r->from, &st) < 0)
        fail(r->path);
    if (flock(r->from, LOCK_EX | LOCK_NB) < 0)
        kit_die("%s: another crawler works on it", r->path);
    r->end = (uint64_t)st.st_size;
    find_head(r, seed, head);
    if (!(r->to = kit_output_open(r->path)))
        fail(r->path);
    write_fixed(r, head, LOG_HEAD);
    copy_batches(r);
    replace_log(r);
    kit_warn("%s good batches saved, %s holes, %s bytes lost; the damaged log is %s",
             kit_counted(r->batches), kit_counted(r->holes), kit_counted(r->lost),
             r->copy);
    close(r->from);
    free(r);
}
