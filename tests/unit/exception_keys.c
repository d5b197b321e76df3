/* exception_keys.c - a false positive that was excused is denied, and nothing else ever
 * is: not a key that was added, whoever added it, and whatever became of the two files.
 */
#include "seen.h"
#include "test_keys.h"
#include "tap.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/seen-excused-XXXXXX", path[64], list[80], other[64];

/* The N-th key above FROM that F calls present though it holds 0 .. KEYS-1 only. */
static uint64_t false_positive(const seen_filter *f, uint64_t from)
{
    for (uint64_t x = from;; x++)
        if (seen_has_u64(f, x))
            return x;
}

static unsigned denied(const seen_filter *f, uint64_t keys)
{
    unsigned n = 0;
    for (uint64_t x = 0; x < keys; x++)
        n += !seen_has_u64(f, x);
    return n;
}

/* Whether times of files are kept in whole seconds here, as some emulators do. */
static bool whole_seconds(const char *name)
{
    struct stat st;
    int fd = open(name, O_RDONLY);
    bool whole = fd >= 0 && fstat(fd, &st) == 0 && st.st_mtim.tv_nsec == 0;
    close(fd);
    return whole;
}

/* Says no in every way it can be asked. */
static bool says_no(const seen_filter *f, uint64_t x)
{
    bool found = true, by_hash = true;
    seen_has_many(f, &(seen_key){LE8(x)}, 1, &found);
    uint64_t h = seen_hash(f, LE8(x));
    bool single = false;
    if (!seen_format_of(f)) {
        seen_has_hashes(f, &h, 1, &by_hash);
        single = seen_has_hash(f, h);
    } else {
        by_hash = false;
    }
    return !seen_has_u64(f, x) && !found && !by_hash && !single;
}

static seen_filter *make(seen_kind kind, uint64_t keys)
{
    seen_filter *f;
    seen_spec spec = {.kind = kind, .keys = keys, .error = 0.05};
    if (kind == SEEN_FOREIGN)
        seen_new_foreign("guava", &(seen_params){.keys = keys, .error = 0.05}, &f);
    else
        seen_new(&spec, &f);
    for (uint64_t x = 0; x < keys; x++)
        seen_add_u64(f, x);
    return f;
}

static int open_as(seen_kind kind, unsigned mode, seen_filter **f)
{
    return kind == SEEN_FOREIGN ? seen_open_foreign(path, "guava", NULL, mode, f)
                                : seen_open(path, mode, f);
}

static void one_kind(seen_kind kind, uint64_t keys)
{
    const char *name = seen_kind_name(kind);
    seen_filter *f = make(kind, keys), *g, *h;
    uint64_t a = false_positive(f, 1000000), b = false_positive(f, a + 1),
             c = false_positive(f, b + 1);
    ok(seen_save(f, path) == 0 && access(list, F_OK) < 0,
       "%s: without exceptions there "
       "is no list",
       name);
    seen_free(f);
    open_as(kind, SEEN_READ, &f);
    ok(seen_excuse(f, LE8(a)) == SEEN_NEW && seen_excuse(f, LE8(a)) == SEEN_DUP &&
           seen_excuse(f, "absent, surely", 14) == SEEN_DUP + 0 && says_no(f, a) &&
           !says_no(f, b) && denied(f, keys) == 0 && seen_excused(f) == 1,
       "%s: one is excused, and no other", name);
    /* Another process excuses another one at the same time. */
    open_as(kind, SEEN_READ, &g);
    seen_excuse(g, LE8(b));
    ok(seen_excused_save(g) == 0 && seen_excused_save(f) == 0, "%s: saved by two",
       name);
    seen_free(f);
    seen_free(g);
    ok(open_as(kind, SEEN_READ, &f) == 0 && says_no(f, a) && says_no(f, b) &&
           !says_no(f, c) && denied(f, keys) == 0 && seen_excused(f) == 2,
       "%s: both are excused for whoever opens the file", name);
    ok(seen_unexcuse(f, LE8(b)) == 1 && seen_unexcuse(f, LE8(b)) == 0 &&
           !says_no(f, b) && seen_excused_save(f) == 0,
       "%s: one of them is not any more", name);
    seen_free(f);
    /* Adding takes a key off the list, and it was new. */
    ok(open_as(kind, SEEN_LOAD, &f) == 0 && says_no(f, a) && !says_no(f, b) &&
           seen_add_u64(f, a) == SEEN_NEW && !says_no(f, a) && seen_excused(f) == 0,
       "%s: a key that is added after all is new, and present", name);
    seen_excuse(f, LE8(c));
    ok(seen_save(f, path) == 0, "%s: saved with another exception", name);
    seen_free(f);
    ok(open_as(kind, SEEN_READ, &f) == 0 && !says_no(f, a) && says_no(f, c) &&
           denied(f, keys) == 0,
       "%s: found by whoever opens it", name);
    ok(seen_copy(f, &h) == 0 && says_no(h, c) && seen_clear(h) == 0 &&
           seen_excused(h) == 0,
       "%s: a copy has the list, an empty one has none", name);
    seen_free(h);
    seen_free(f);
    /* A batch, in place. */
    ok(open_as(kind, SEEN_WRITE, &f) == 0 && says_no(f, c), "%s: in place", name);
    bool dup[2] = {0};
    uint64_t zero = 0;
    seen_key both[2] = {{LE8(c)}, {LE8(zero)}};
    ok(seen_add_many(f, both, 2, dup, NULL) == 0 && !dup[0] && dup[1] && !says_no(f, c),
       "%s: of a batch the excused key was new", name);
    seen_free(f);
    ok(open_as(kind, SEEN_READ, &f) == 0 && !says_no(f, c) && denied(f, keys) == 0,
       "%s: and stays present", name);
    seen_free(f);
    /* The file is replaced by another filter that holds the excused key. */
    open_as(kind, SEEN_READ, &f);
    uint64_t d = false_positive(f, c + 1);
    seen_excuse(f, LE8(d));
    seen_excused_save(f);
    seen_free(f);
    if (whole_seconds(path))
        sleep(1); /* the next file is of another one */
    f = make(kind, keys);
    seen_add_u64(f, d);
    seen_save(f, other);
    rename(other, path);
    seen_free(f);
    ok(access(list, F_OK) == 0 && open_as(kind, SEEN_READ, &f) == 0 && !says_no(f, d) &&
           seen_excused(f) == 0,
       "%s: the list of another filter counts for nothing", name);
    seen_free(f);
    unlink(list);
    unlink(path);
}

/* Killed between the list and the filter: the list fits both. */
static void killed_between(void)
{
    seen_filter *f = make(SEEN_BLOCKED, 500), *g;
    uint64_t a = false_positive(f, 1000000), b = false_positive(f, a + 1);
    seen_excuse(f, LE8(a));
    seen_excuse(f, LE8(b));
    seen_save(f, path);
    seen_free(f);
    link(path, other);
    seen_open(path, SEEN_LOAD, &f);
    seen_add_u64(f, b);
    seen_save(f, path);
    rename(other, path); /* the old filter, the new list */
    ok(seen_open(path, SEEN_READ, &g) == 0 && says_no(g, a) && !says_no(g, b) &&
           denied(g, 500) == 0,
       "a list that was written before the filter was replaced fits the old one");
    seen_free(g);
    seen_free(f);
}

static void merged(void)
{
    seen_filter *f = make(SEEN_BLOCKED, 500), *g;
    uint64_t a = false_positive(f, 1000000), b = false_positive(f, a + 1);
    seen_excuse(f, LE8(a));
    seen_excuse(f, LE8(b));
    seen_new_like(f, &g);
    seen_add_u64(g, a);
    ok(seen_excused(g) == 0 && seen_merge(f, g) == 0 && !says_no(f, a) && says_no(f, b),
       "a key that comes by a merge is present");
    seen_free(f);
    seen_free(g);
    seen_new(&(seen_spec){.keys = 100, .flags = SEEN_ATOMIC}, &f);
    seen_add_u64(f, 1);
    ok(seen_excuse(f, &(uint64_t){1}, 8) == SEEN_EKIND, "atomic filters: %s",
       seen_reason());
    seen_save(f, path);
    seen_free(f);
    seen_open(path, SEEN_SHARED, &f);
    ok(seen_excuse(f, &(uint64_t){1}, 8) == SEEN_EKIND, "and shared files too");
    seen_free(f);
}

/* Every byte of a list matters, and none can make it read outside. */
static void hostile(void)
{
    seen_filter *f = make(SEEN_BLOCKED, 500), *g;
    uint64_t a = false_positive(f, 1000000);
    seen_excuse(f, LE8(a));
    seen_save(f, path);
    seen_free(f);
    char good[200], bad[200];
    int fd = open(list, O_RDWR);
    ssize_t len = read(fd, good, sizeof good);
    unsigned taken = 0, unnamed = 0;
    for (ssize_t i = 0; i < len + 3; i++)
        for (int cut = 0; cut < 2; cut++) {
            memcpy(bad, good, sizeof good);
            ssize_t n = cut ? i : len;
            if (!cut && i < len)
                bad[i] ^= 0x41;
            if (!cut && i >= len)
                n = i + 1;
            if (cut && i >= len)
                continue;
            taken += ftruncate(fd, 0) || pwrite(fd, bad, (size_t)n, 0) != n;
            int rc = seen_open(path, SEEN_READ, &g);
            taken += rc == 0;
            unnamed += rc < 0 && !strstr(seen_reason(), ".excused");
            seen_free(rc == 0 ? g : NULL);
        }
    ok(taken == 0 && unnamed == 0, "a damaged list is refused by its name: %s",
       seen_reason());
    close(fd);
    unlink(list);
    mkfifo(list, 0600);
    ok(seen_open(path, SEEN_READ, &g) == SEEN_EFORMAT, "a pipe in its place: %s",
       seen_reason());
    unlink(list);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/f.seen", dir);
    snprintf(other, sizeof other, "%s/other", dir);
    snprintf(list, sizeof list, "%s.excused", path);
    one_kind(SEEN_BLOCKED, 500);
    one_kind(SEEN_CLASSIC, 500);
    one_kind(SEEN_CUCKOO, 500);
    one_kind(SEEN_FOREIGN, 500);
    killed_between();
    merged();
    hostile();
    unlink(path);
    rmdir(dir);
    return done();
}
