/* cuckoo_keeps_keys_once.c - what the library chooses for small errors: smaller than
 * classic, a key takes one place however often it comes, nothing is lost, filters
 * merge, and what cannot be kept is refused in words. */
#include "filter/file.h"
#include "base/bytes.h"
#include "test_keys.h"
#include "tap.h"
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static seen_filter *made(seen_spec spec)
{
    seen_filter *f;
    if (seen_new(&spec, &f) < 0) {
        printf("# %s\n", seen_reason());
        exit(3);
    }
    return f;
}

static bool once(const seen_filter *f)
{
    seen_stats st;
    seen_get_stats(f, &st);
    return st.kind == SEEN_CUCKOO && st.flags & SEEN_ONCE;
}

static void add(seen_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if (seen_add_u64(f, i) < 0) {
            printf("# key %d: %s\n", (int)i, seen_reason());
            exit(3);
        }
}

static bool all_in(const seen_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if (!seen_has_u64(f, i))
            return false;
    return true;
}

/* How many of N absent keys are called present. */
static double wrong(const seen_filter *f, uint64_t n)
{
    uint64_t yes = 0;
    for (uint64_t i = 0; i < n; i++)
        yes += seen_has_u64(f, ((uint64_t)1 << 40) + i);
    return (double)yes;
}

static void choice(void)
{
    static const double errors[] = {1e-5, 1e-6, 1e-8, 1e-9};
    for (int i = 0; i < 4; i++) {
        seen_size auto_ = {.keys = 1000000, .error = errors[i]};
        seen_size classic = {.kind = SEEN_CLASSIC, .keys = 1000000, .error = errors[i]};
        seen_solve(&auto_), seen_solve(&classic);
        ok(auto_.kind == SEEN_CUCKOO && auto_.bytes < classic.bytes * 9 / 10 &&
               auto_.error <= errors[i],
           "at %g the choice is cuckoo, with %.2f bits a key instead of %.2f",
           errors[i], auto_.bits_per_key, classic.bits_per_key);
    }
    static const struct {
        seen_spec spec;
        seen_kind kind;
        const char *what;
    } cases[] = {
        {{.error = 1e-6, .flags = SEEN_FIXED, .keys = 50000}, SEEN_CUCKOO, "fixed"},
        {{.error = 1e-6, .keys = 50000}, SEEN_CUCKOO, "growing"},
        {{.error = 1e-6, .keys = 50000, .flags = SEEN_REMOVES}, SEEN_CUCKOO, "removes"},
        {{.error = 1e-6}, SEEN_QUOTIENT, "of unknown size"},
        {{.error = 1e-6, .flags = SEEN_REMOVES}, SEEN_CUCKOO, "the same, removes"},
        {{.error = 1e-6, .keys = 50000, .flags = SEEN_ATOMIC}, SEEN_CLASSIC, "atomic"},
        {{.error = 1e-6, .keys = 50000, .probes = 9}, SEEN_CLASSIC, "nine probes"},
        {{.memory = 180000, .keys = 50000}, SEEN_CLASSIC, "from a budget: never full"},
        {{.error = 1e-12, .keys = 50000}, SEEN_CLASSIC, "surer than 32 bits can be"},
        {{.error = 1e-3, .keys = 5000000}, SEEN_BLOCKED, "one line is worth its bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen_size s;
        int rc = seen_choose(&cases[i].spec, &s);
        ok(rc == 0 && s.kind == cases[i].kind, "%s: %s", cases[i].what,
           seen_kind_name(s.kind));
    }
    seen_filter *f = made(cases[2].spec);
    ok(!once(f), "a filter that removes keeps copies");
    seen_free(f);
    ok(seen_new(&(seen_spec){.keys = 9, .flags = SEEN_ONCE | SEEN_REMOVES}, &f) ==
           SEEN_EINVAL,
       "once and removable is refused: %s", seen_reason());
}

/* A fixed filter takes the keys it was made for, each as often as it comes. */
static void fixed(void)
{
    enum { N = 200000 };
    seen_filter *f = made((seen_spec){.keys = N, .error = 1e-6, .flags = SEEN_FIXED});
    ok(once(f), "a fixed filter of small error keeps keys once");
    bool fresh = true, dup = true;
    for (uint64_t i = 0; i < N; i++) {
        fresh &= seen_add_u64(f, i) == SEEN_NEW;
        dup &= seen_add_u64(f, i) == SEEN_DUP && seen_add_u64(f, i / 2) == SEEN_DUP;
    }
    ok(fresh && dup && seen_added(f) == N, "it takes %d keys three times each", N);
    ok(all_in(f, 0, N) && seen_add_u64(f, 7) == SEEN_DUP, "finds all of them");
    ok(seen_add_u64(f, N) == SEEN_EFULL, "and refuses one more: %s", seen_reason());

    size_t len;
    const void *body = seen_body(f, 0, &len);
    void *copy = malloc(len);
    memcpy(copy, body, len);
    ok(seen_remove(f, LE8(7)) == SEEN_EKIND && strstr(seen_reason(), "SEEN_REMOVES") &&
           !memcmp(copy, body, len),
       "it removes nothing, and says how one is made that does");
    free(copy);
    seen_free(f);
}

/* A wide error, so that there is something to count; batches as single keys. */
static void error(void)
{
    enum { N = 100000, ASKED = 2000000 };
    seen_spec spec = {.kind = SEEN_CUCKOO, .keys = N, .error = 1e-3,
                      .flags = SEEN_ONCE | SEEN_FIXED};
    seen_filter *f = made(spec), *g = made(spec);
    add(f, 0, N);
    uint64_t *h = malloc(2 * N * sizeof *h);
    bool *dup = malloc(2 * N);
    for (uint64_t i = 0; i < 2 * N; i++)
        h[i] = seen_hash(g, LE8(i / 2));
    size_t taken, twins = 0;
    ok(seen_add_hashes(g, h, 2 * N, dup, &taken) == 0, "a batch with every key twice");
    for (uint64_t i = 0; i < N; i++)
        twins += !dup[2 * i + 1];
    ok(twins == 0 && seen_added(g) == seen_added(f), "takes each of them once");
    size_t len, other;
    const void *one_by_one = seen_body(f, 0, &len), *at_once = seen_body(g, 0, &other);
    ok(len == other && !memcmp(one_by_one, at_once, len),
       "and has the bits of one that took them one by one");
    double mean = 1e-3 * ASKED, got = wrong(f, ASKED);
    double said = seen_error_predicted(f) * ASKED;
    ok(got < mean + 6 * sqrt(mean) && fabs(got - said) < 6 * sqrt(said),
       "%g of %d absent keys are called present: %.0f promised, %.0f predicted", got,
       ASKED, mean, said);
    free(h), free(dup);
    seen_free(f), seen_free(g);
}

/* From nothing, through whole hashes, to layers; and through a file. */
static void grown(void)
{
    enum { N = 1500000 };
    seen_filter *f = made((seen_spec){
                    .kind = SEEN_CUCKOO, .flags = SEEN_ONCE, .error = 1e-5}),
                *g;
    bool told = true;
    for (uint64_t i = 0; i < N; i++)
        told &=
            seen_add_u64(f, i) >= 0 && (i % 8 || seen_add_u64(f, i / 2) == SEEN_DUP);
    seen_stats st;
    seen_get_stats(f, &st);
    /* Keys lost: at most N times 1e-5 expected, 15 with a deviation below 4. */
    ok(told && once(f) && st.layers == 2 && st.added <= N && st.added + 39 >= N,
       "a growing filter has %d keys in %u layers", (int)st.added, st.layers);
    ok(all_in(f, 0, N), "and finds them all");
    double mean = 1e-5 * 1e6, got = wrong(f, 1000000);
    ok(got <= mean + 6 * sqrt(mean), "%g of a million absent keys are called present",
       got);

    char path[] = "/tmp/seen-once-XXXXXX";
    close(mkstemp(path));
    ok(seen_save(f, path) == 0 && seen_open(path, SEEN_LOAD, &g) == 0 && once(g) &&
           seen_remove(g, LE8(1)) == SEEN_EKIND,
       "it comes back from a file and still keeps keys once");
    add(g, 0, 1000);
    ok(seen_added(g) == st.added, "what it has takes no more room");
    seen_free(g);
    unlink(path);
    seen_free(f);
}

/* Readers that would keep copies in such a file, and remove them, must not open it. */
static void file(void)
{
    char path[] = "/tmp/seen-once-XXXXXX";
    int fd = mkstemp(path);
    static _Alignas(64) uint8_t p[1 << 17];
    seen_filter *f = made((seen_spec){.keys = 25000, .error = 1e-6}), *g;
    add(f, 0, 100);
    seen_save(f, path);
    close(fd);
    fd = open(path, O_RDONLY);
    ssize_t len = read(fd, p, sizeof p);
    close(fd);
    ok(sn_le32(p + SN_AT_VERSION) == SN_FILE_VERSION, "the file is of a version");
    ok(seen_open_bytes(p, (size_t)len, 0, NULL, &g) == 0 && once(g), "and opens");
    seen_free(g);
    memset(p + SN_AT_ID, 0, SN_PREAMBLE - SN_AT_ID);
    sn_put32(p + SN_AT_VERSION, 2);
    sn_put64(p + SN_AT_SUM, sn_header_sum(p, sn_le64(p + SN_AT_HEADER_LEN)));
    ok(seen_open_bytes(p, (size_t)len, 0, NULL, &g) == 0 && once(g),
       "so does one of version 2");
    seen_free(g);
    sn_put32(p + SN_AT_VERSION, 1);
    sn_put64(p + SN_AT_SUM, sn_header_sum(p, sn_le64(p + SN_AT_HEADER_LEN)));
    ok(seen_open_bytes(p, (size_t)len, 0, NULL, &g) == SEEN_EFORMAT,
       "one that says version 1 is refused: %s", seen_reason());
    unlink(path);
    seen_free(f);
}

static void merged(void)
{
    seen_spec spec = {.keys = 10000, .error = 1e-6};
    seen_filter *f = made(spec), *g, *h;
    add(f, 0, 6000);
    seen_new_like(f, &g);
    add(g, 3000, 9000);
    seen_copy(f, &h);
    ok(seen_merge(f, g) == 0 && all_in(f, 0, 9000) && seen_added(f) == 9000,
       "the union of two has each key once");
    ok(seen_merge(f, g) == 0 && seen_added(f) == 9000, "also when it is made again");
    ok(seen_merge(h, f) == 0 && all_in(h, 0, 9000) && seen_added(h) == 9000,
       "in either direction");
    seen_free(h), seen_free(g);

    /* More than fits: the layer is appended. */
    seen_new_like(f, &g);
    add(g, 5000, 15000);
    seen_stats st;
    ok(seen_merge(f, g) == 0 && all_in(f, 0, 15000),
       "a union with too many keys has all");
    seen_get_stats(f, &st);
    ok(st.layers == 2 && st.error_now < 2e-6, "in %u layers, with an error of %.2g",
       st.layers, st.error_now);
    ok(seen_add_u64(f, 20000) == SEEN_NEW && seen_has_u64(f, 20000), "and takes keys");
    seen_free(g), seen_free(f);

    /* A fixed one has no other layer. */
    spec.flags = SEEN_FIXED;
    f = made(spec);
    add(f, 0, 6000);
    seen_new_like(f, &g);
    add(g, 3000, 10001);
    size_t len;
    const void *body = seen_body(f, 0, &len);
    void *copy = malloc(len);
    memcpy(copy, body, len);
    ok(seen_merge(f, g) == SEEN_EFULL && seen_added(f) == 6000 &&
           !memcmp(copy, seen_body(f, 0, &(size_t){0}), len),
       "a fixed filter refuses a union that does not fit, and stays as it was: %s",
       seen_reason());
    free(copy);
    seen_free(g);
    seen_new_like(f, &g);
    add(g, 4000, 10000);
    ok(seen_merge(f, g) == 0 && all_in(f, 0, 10000) && seen_added(f) == 10000,
       "one that fits just so is taken");
    seen_free(g);

    /* Those that remove keep the copies of both. */
    seen_spec r = {.kind = SEEN_CUCKOO, .keys = 10000, .error = 1e-6};
    g = made(r), h = made(r);
    add(g, 0, 4000), add(h, 2000, 6000);
    ok(seen_merge(g, h) == 0 && seen_added(g) == 8000 && all_in(g, 0, 6000),
       "the union of two that remove has the copies of both");
    bool there = true;
    for (uint64_t i = 0; i < 6000; i++)
        there &= seen_remove(g, LE8(i)) == 1 &&
                 seen_has_u64(g, i) == (i >= 2000 && i < 4000);
    ok(there, "a key that was in both is there until it is removed twice");
    add(h, 6000, 12000);
    ok(seen_merge(g, h) == SEEN_EFULL && seen_added(g) == 2000,
       "what does not fit is refused: %s", seen_reason());
    seen_free(f);
    f = made((seen_spec){.keys = 10000, .error = 1e-6});
    ok(seen_merge(f, g) == SEEN_EMISMATCH && strstr(seen_reason(), "remove"),
       "once and copies are not merged: %s", seen_reason());
    seen_free(f), seen_free(g), seen_free(h);

    /* Few keys of unknown number are whole hashes, of any number. */
    spec = (seen_spec){.kind = SEEN_CUCKOO, .flags = SEEN_ONCE, .error = 1e-6};
    f = made(spec), g = made(spec);
    add(f, 0, 100), add(g, 50, 5000);
    ok(seen_merge(f, g) == 0 && all_in(f, 0, 5000) && seen_added(f) == 5000,
       "two that grow from nothing merge while they are small");
    seen_free(f), seen_free(g);
}

int main(void)
{
    choice();
    fixed();
    error();
    grown();
    file();
    merged();
    return done();
}
