/* files_come_back.c - saving and opening: what comes back is what was saved, damage is
 * found, and nothing in a file can make the library crash. */
#include "seen.h"
#include "filter/file.h"
#include "base/bytes.h"
#include "test_keys.h"
#include "tap.h"
#include <errno.h>
#include <signal.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/seen-file-XXXXXX", path[64], old[64];

static seen_filter *filled(seen_kind kind, uint64_t keys, uint64_t n)
{
    seen_filter *f;
    seen_spec spec = {.kind = kind, .keys = keys, .seed = 5};
    seen_new(&spec, &f);
    for (uint64_t i = 0; i < n; i++)
        seen_add_u64(f, i);
    return f;
}

static uint64_t denied(const seen_filter *f, uint64_t n)
{
    uint64_t d = 0;
    for (uint64_t i = 0; i < n; i++)
        d += !seen_has_u64(f, i);
    return d;
}

static void round_trip(seen_kind kind, uint64_t keys, uint64_t n)
{
    seen_filter *f = filled(kind, keys, n), *g;
    ok(seen_save(f, path) == 0, "%s with %llu keys is saved", seen_kind_name(kind),
       (unsigned long long)n);
    static const unsigned modes[] = {SEEN_READ, SEEN_LOAD, SEEN_READ | SEEN_VERIFY};
    for (int m = 0; m < 3; m++) {
        if (!ok(seen_open(path, modes[m], &g) == 0, "opened with mode %u", modes[m]))
            continue;
        seen_stats a, b;
        seen_get_stats(f, &a), seen_get_stats(g, &b);
        ok(denied(g, n) == 0 && a.added == b.added && a.layers == b.layers &&
               a.bits_set == b.bits_set && a.seed == b.seed &&
               a.error_wanted == b.error_wanted,
           "and is the same filter");
        if (modes[m] != SEEN_LOAD)
            ok(seen_add_u64(g, n + 7) == SEEN_EREADONLY &&
                   seen_clear(g) == SEEN_EREADONLY,
               "that cannot be changed");
        else
            ok(seen_add_u64(g, n + 7000000) == SEEN_NEW, "that goes on growing");
        seen_free(g);
    }
    seen_free(f);
}

static void in_place(void)
{
    seen_filter *f = filled(SEEN_BLOCKED, 100000, 1000), *g, *h;
    seen_save(f, path);
    seen_free(f);
    ok(seen_open(path, SEEN_WRITE, &g) == 0, "opened for writing in place");
    for (uint64_t i = 1000; i < 3000; i++)
        seen_add_u64(g, i);
    ok(seen_open(path, SEEN_WRITE, &h) == SEEN_EBUSY && !h, "by one at a time: %s",
       seen_reason());
    /* A second reader sees the file while it is being written. */
    seen_open(path, SEEN_READ, &h);
    seen_stats s;
    seen_get_stats(h, &s);
    ok(s.dirty && denied(h, 3000) == 0,
       "meanwhile the file says dirty and has the keys");
    ok(s.added > 2900 && s.added < 3100, "its count comes from the bits (%llu)",
       (unsigned long long)s.added);
    ok(seen_verify(h) == 0, "and nothing can vouch for it, so verify says nothing");
    seen_free(h);
    ok(seen_flush(g) == 0, "flush");
    seen_add_u64(g, 5000);
    seen_free(g);
    ok(seen_open(path, SEEN_READ | SEEN_VERIFY, &h) == 0,
       "closing flushes: the sums fit");
    seen_get_stats(h, &s);
    ok(!s.dirty && seen_has_u64(h, 5000), "all adds are there");
    seen_free(h);
    /* A writer that dies leaves its bits. */
    pid_t pid = fork();
    if (pid == 0) {
        seen_open(path, SEEN_WRITE, &g);
        for (uint64_t i = 10000; i < 20000; i++)
            seen_add_u64(g, i);
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
    ok(seen_open(path, SEEN_WRITE, &g) == 0, "after kill -9 it opens");
    uint64_t lost = 0;
    for (uint64_t i = 10000; i < 20000; i++)
        lost += !seen_has_u64(g, i);
    ok(lost == 0 && seen_added(g) > 12500, "and has every key (%llu)",
       (unsigned long long)seen_added(g));
    seen_free(g);
    ok(seen_open(path, SEEN_READ | SEEN_VERIFY, &h) == 0,
       "and is clean again after a close");
    seen_free(h);
}

/* Every byte of the header, every kind of damage: refused, never a crash. */
static void damage(void)
{
    seen_filter *f = filled(SEEN_BLOCKED, 0, 100000), *g;
    seen_save(f, path);
    seen_free(f);
    int fd = open(path, O_RDONLY);
    struct stat st;
    fstat(fd, &st);
    size_t len = (size_t)st.st_size;
    uint8_t *good = aligned_alloc(64, len), *bad = aligned_alloc(64, len);
    ok(read(fd, good, len) == (ssize_t)len, "a file of %zu bytes", len);
    close(fd);
    uint64_t header = sn_le64(good + SN_AT_HEADER_LEN);
    int taken = 0, opened = 0;
    memcpy(bad, good, len);
    for (size_t i = 0; i < header; i += i < 600 ? 1 : 97) {
        if (i >= SN_AT_DIRTY && i < SN_AT_DIRTY + 4)
            continue; /* outside the sum on purpose */
        bad[i] ^= 0x41;
        taken += seen_open_bytes(bad, len, 0, NULL, &g) == 0;
        seen_free(g);
        bad[i] = good[i];
    }
    ok(taken == 0, "no damaged header is taken");
    /* The same with a sum that fits: now each field has to be checked by itself. */
    for (size_t i = 0; i < 256; i++)
        for (int v = 0; v < 3; v++) {
            bad[i] = (uint8_t[]){0, 0xff, (uint8_t)(good[i] + 1)}[v];
            sn_put64(bad + SN_AT_SUM, sn_header_sum(bad, header));
            if (bad[i] != good[i] && (i < SN_AT_SUM || i >= SN_AT_SUM + 8))
                if (seen_open_bytes(bad, len, 0, NULL, &g) == 0) {
                    opened++;
                    seen_has_u64(g, 1);
                    seen_verify(g);
                    char line[400];
                    seen_describe(g, line, sizeof line);
                }
            seen_free(g);
            g = NULL;
            memcpy(bad, good, 600);
        }
    ok(opened > 0 && opened < 384,
       "of some 500 forged headers, only those with another seed, "
       "count, promise or number of the kind's own are taken (%d), and none crashes",
       opened);
    for (size_t cut = 0; cut < len; cut += cut < 300 ? 1 : 4001)
        taken += seen_open_bytes(bad, cut, 0, NULL, &g) == 0;
    ok(taken == 0, "no truncated file is taken: %s", seen_reason());
    /* A layer that does not fill its last page: every byte after it counts. */
    seen_filter *odd = filled(SEEN_CLASSIC, 60000, 100);
    seen_save(odd, path);
    seen_free(odd);
    fd = open(path, O_RDWR);
    fstat(fd, &st);
    uint64_t record = 0, flips = 0;
    if (pread(fd, bad, (size_t)st.st_size, 0) == st.st_size)
        record = sn_le64(bad + SN_PREAMBLE + SN_IN_OFFSET) +
                 sn_le64(bad + SN_PREAMBLE + SN_IN_LEN);
    for (uint64_t at = record; record && at < (uint64_t)st.st_size;
         at += 101, flips++) {
        bad[at] ^= 0x10;
        int rc = seen_open_bytes(bad, (size_t)st.st_size, 0, NULL, &g);
        taken += rc != SEEN_EDAMAGED;
        bad[at] ^= 0x10;
    }
    close(fd);
    ok(flips >= 5 && taken == 0, "bytes flipped in the padding are found: %s",
       seen_reason());
    memcpy(bad, good, len);
    bad[len - 5000] ^= 1;
    fd = open(path, O_WRONLY);
    ok(pwrite(fd, bad, len, 0) == (ssize_t)len, "one bit of a body is flipped");
    close(fd);
    ok(seen_open(path, SEEN_READ, &g) == 0 && seen_verify(g) == SEEN_EDAMAGED,
       "verify finds it: %s", seen_reason());
    seen_free(g);
    ok(seen_open(path, SEEN_LOAD, &g) == SEEN_EDAMAGED && g == NULL,
       "load refuses it: %s", seen_reason());
    ok(seen_open(path, SEEN_WRITE, &g) == SEEN_EDAMAGED && g == NULL,
       "and it cannot be opened for writing");
    sn_put32(bad + SN_AT_VERSION, SN_FILE_VERSION + 1);
    ok(seen_open_bytes(bad, len, 0, NULL, &g) == SEEN_EVERSION, "a newer version: %s",
       seen_reason());
    ok(seen_open_bytes(bad + 8, len - 8, 0, NULL, &g) == SEEN_EINVAL,
       "unaligned bytes: %s", seen_reason());
    free(good), free(bad);
}

/* The bytes of PATH, aligned as seen_open_bytes wants them. */
static uint8_t *slurp(size_t *len)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    fstat(fd, &st);
    *len = (size_t)st.st_size;
    uint8_t *p = aligned_alloc(64, *len);
    if (read(fd, p, *len) != (ssize_t)*len)
        exit(2);
    close(fd);
    return p;
}

static int reopened(uint8_t *p, size_t len, seen_filter **g)
{
    sn_put64(p + SN_AT_SUM, sn_header_sum(p, sn_le64(p + SN_AT_HEADER_LEN)));
    return seen_open_bytes(p, len, 0, NULL, g);
}

/* Headers whose sums fit and whose fields are right one by one, but not together. */
static void forged(void)
{
    static const seen_kind kinds[] = {SEEN_SET, SEEN_CUCKOO};
    seen_filter *f, *g;
    size_t len;
    uint8_t *p;
    for (int i = 0; i < 2; i++) {
        f = filled(kinds[i], 100000, 100);
        seen_save(f, path);
        seen_free(f);
        p = slurp(&len);
        sn_put32(p + SN_AT_FLAGS, SEEN_FIXED | SEEN_ATOMIC);
        ok(reopened(p, len, &g) == SEEN_EFORMAT, "a %s for many threads is refused: %s",
           seen_kind_name(kinds[i]), seen_reason());
        free(p);
    }
    f = filled(SEEN_BLOCKED, 100000, 100);
    seen_save(f, path);
    seen_free(f);
    p = slurp(&len);
    sn_put32(p + SN_AT_FLAGS, SEEN_ATOMIC);
    ok(reopened(p, len, &g) == SEEN_EFORMAT,
       "one for many threads that grows is refused: %s", seen_reason());
    free(p);
    /* Two lines, then the second called a set of as many bytes. */
    f = filled(SEEN_BLOCKED, 100000, 110000);
    ok(seen_save(f, path) == 0 && f->layers == 2, "a filter of two layers");
    seen_free(f);
    p = slurp(&len);
    sn_put32(p + SN_AT_KIND, SEEN_SET);
    sn_put32(p + SN_PREAMBLE + SN_RECORD + SN_IN_KIND, SEEN_SET);
    sn_put32(p + SN_PREAMBLE + SN_RECORD + SN_IN_K, 64);
    ok(reopened(p, len, &g) == SEEN_EFORMAT,
       "layers of different kinds are refused: %s", seen_reason());
    free(p);
    f = filled(SEEN_SET, 100000, 100);
    seen_save(f, path);
    seen_free(f);
    p = slurp(&len);
    sn_put64(p + SN_PREAMBLE + SN_IN_CAPACITY, UINT64_MAX);
    ok(reopened(p, len, &g) == SEEN_EFORMAT,
       "a set for more keys than it has slots is "
       "refused: %s",
       seen_reason());
    free(p);
}

/* A growing filter whose file promises no error at all: no size is small enough. */
static void promises_nothing(void)
{
    static const seen_kind kinds[] = {SEEN_CLASSIC, SEEN_BLOCKED, SEEN_SPLIT};
    for (int i = 0; i < 3; i++) {
        seen_filter *f = filled(kinds[i], 100000, 100), *g;
        size_t len;
        seen_save(f, path);
        seen_free(f);
        uint8_t *p = slurp(&len);
        sn_put_double(p + SN_AT_ERROR, 0);
        if (reopened(p, len, &g) == 0 && seen_copy(g, &f) == 0) {
            int rc = 0;
            for (uint64_t k = 100; k < 1000000 && rc >= 0; k++)
                rc = seen_add_u64(f, k);
            ok(rc < 0 && denied(f, 1000) == 0, "%s, error 0, does not grow: %s",
               seen_kind_name(kinds[i]), seen_reason());
            seen_free(f);
        }
        seen_free(g);
        free(p);
    }
}

/* A flush writes sums of all bodies, which takes long: whatever it was at when the
 * process died, the file opens and has its keys. */
static void flush_cut_short(void)
{
    seen_filter *f = filled(SEEN_BLOCKED, 100000, 1000), *g;
    seen_save(f, path);
    seen_free(f);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        size_t len;
        freopen("/dev/null", "w", stderr);
        seen_open(path, SEEN_WRITE, &g);
        for (uint64_t i = 1000; i < 3000; i++)
            seen_add_u64(g, i);
        mprotect((void *)(uintptr_t)seen_body(g, 0, &len), 4096, PROT_NONE);
        seen_flush(g); /* dies when it reads the body */
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    ok(status != 0, "a process dies while it flushes");
    size_t len;
    uint8_t *p = slurp(&len);
    if (ok(seen_open_bytes(p, len, 0, NULL, &g) == 0, "the file opens all the same"))
        ok(denied(g, 3000) == 0 && seen_added(g) > 2900, "and has every key");
    seen_free(g);
    /* Counts and sums half rewritten. */
    sn_put64(p + SN_PREAMBLE + SN_IN_ADDED, 2000);
    p[sn_sums_at(1)] ^= 1;
    ok(seen_open_bytes(p, len, 0, NULL, &g) == 0 && denied(g, 3000) == 0,
       "nor do half-written counts and sums lose a dirty file");
    seen_free(g);
    p[SN_AT_SEED] ^= 1;
    ok(seen_open_bytes(p, len, 0, NULL, &g) == SEEN_EDAMAGED,
       "but a damaged seed does: %s", seen_reason());
    p[SN_AT_SEED] ^= 1;
    p[SN_AT_DIRTY] = 0;
    ok(seen_open_bytes(p, len, 0, NULL, &g) == SEEN_EDAMAGED,
       "and a file that is not dirty needs all");
    free(p);
    ok(seen_open(path, SEEN_WRITE, &g) == 0, "opened for writing again");
    seen_free(g);
    ok(seen_open(path, SEEN_READ | SEEN_VERIFY, &g) == 0 && denied(g, 3000) == 0,
       "and closed, it is clean");
    seen_free(g);
}

static void troubles(void)
{
    seen_filter *f = filled(SEEN_BLOCKED, 1000, 10), *g = (seen_filter *)&f;
    ok(seen_open("/nonexistent/x", SEEN_READ, &g) == SEEN_EIO && errno == ENOENT &&
           g == NULL,
       "a missing file: %s", seen_reason());
    ok(seen_open(dir, SEEN_READ, &g) == SEEN_EIO, "a folder: %s", seen_reason());
    char fifo[300];
    snprintf(fifo, sizeof fifo, "%s/fifo", dir);
    mkfifo(fifo, 0600);
    static const unsigned modes[] = {SEEN_READ, SEEN_WRITE, SEEN_LOAD, SEEN_SHARED};
    unsigned refused = 0;
    for (int m = 0; m < 4; m++)
        refused += seen_open(fifo, modes[m], &g) == SEEN_EFORMAT;
    refused += seen_open_foreign(fifo, NULL, NULL, SEEN_READ, &g) == SEEN_EFORMAT;
    ok(refused == 5 && strstr(seen_reason(), "is a FIFO, not a file"),
       "a pipe nobody writes to is refused at once: %s", seen_reason());
    unlink(fifo);
    ok(seen_open("/dev/null", SEEN_READ, &g) == SEEN_EFORMAT, "a device: %s",
       seen_reason());
    int fd = open(old, O_CREAT | O_WRONLY | O_TRUNC, 0640);
    ok(write(fd, "old", 3) == 3, "an old file");
    close(fd);
    ok(seen_open(old, SEEN_READ, &g) == SEEN_EFORMAT, "a short file: %s",
       seen_reason());
    ok(seen_save(f, "/nonexistent/x") == SEEN_EIO, "no such folder: %s", seen_reason());
    ok(seen_save(f, dir) == SEEN_EIO, "saving over a folder: %s", seen_reason());
    ok(seen_save(f, "/dev/full") == SEEN_EIO, "a full disk: %s", seen_reason());
    ok(seen_save(f, "/dev/null") == 0 && access("/dev/null", W_OK) == 0,
       "a device is written to, not replaced");
    ok(seen_save(f, old) == 0, "an old file is replaced");
    struct stat st;
    stat(old, &st);
    ok((st.st_mode & 0777) == 0640, "and keeps its permissions");
    if (geteuid() == 0 && chown(old, 65534, 65534) == 0)
        ok(seen_save(f, old) == 0 && stat(old, &st) == 0 && st.st_uid == 65534 &&
               st.st_gid == 65534 && (st.st_mode & 0777) == 0640,
           "and its owner, when root saves it");
    char link_path[96];
    snprintf(link_path, sizeof link_path, "%s.link", path);
    ok(symlink(old, link_path) == 0 && seen_save(f, link_path) == 0 &&
           lstat(link_path, &st) == 0 && S_ISLNK(st.st_mode),
       "a link stays a link");
    unlink(link_path);
    seen_free(f);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/f.seen", dir);
    snprintf(old, sizeof old, "%s/old", dir);
    round_trip(SEEN_CLASSIC, 1000, 1000);
    round_trip(SEEN_BLOCKED, 0, 200000);
    round_trip(SEEN_SPLIT, 50, 500);
    round_trip(SEEN_AUTO, 1, 1);
    in_place();
    damage();
    forged();
    promises_nothing();
    flush_cut_short();
    troubles();
    char command[128];
    snprintf(command, sizeof command, "ls -A %s | grep -vE '^(f.seen|old)$'", dir);
    ok(system(command) != 0, "no temporary file is left behind");
    unlink(path), unlink(old), rmdir(dir);
    return done();
}
