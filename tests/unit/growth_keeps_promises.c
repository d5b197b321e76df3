/* growth_keeps_promises.c - filters that grow, by every policy of lib/filter/growth.c:
 * the error stays below the promise for ever, no key is denied, what they say of their
 * losses is true; they come back from files in the middle, and merge in any order.
 * (rebuilt_is_made_to_measure.c has more on those that are made again.) */
#include "filter/file.h"
#include "filter/growth.h"
#include "scratch_hashes.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static double rate(const seen_filter *f, uint64_t from, uint64_t n)
{
    uint64_t yes = 0, h[1024];
    bool found[1024];
    for (uint64_t i = 0; i < n; i += 1024) {
        for (int j = 0; j < 1024; j++) {
            uint64_t x = from + i + (uint64_t)j;
            h[j] = seen_hash(f, LE8(x));
        }
        seen_has_hashes(f, h, 1024, found);
        for (int j = 0; j < 1024; j++)
            yes += found[j];
    }
    return (double)yes / (double)n;
}

static uint64_t denied(const seen_filter *f, uint64_t from, uint64_t to)
{
    uint64_t no = 0;
    for (uint64_t i = from; i < to; i++)
        no += !seen_has_u64(f, i);
    return no;
}

static char path[] = "/tmp/seen-growth-XXXXXX";

/* Saves F and opens it again, as it would be between two runs. */
static seen_filter *through_a_file(seen_filter *f)
{
    seen_filter *g;
    bool same = seen_save(f, path) == 0 && seen_open(path, SEEN_LOAD, &g) == 0;
    if (!same)
        return NULL;
    seen_free(f);
    return g;
}

/* All the layers that could ever come keep the sum below the promise. */
static void shares_add_up(const seen_filter *f)
{
    double sum = 0;
    uint32_t layers = sn_growth_of(f)->mode == SN_BY_LAYERS ? SN_MAX_LAYERS : 1;
    for (uint32_t i = 0; i < layers; i++) {
        uint64_t cap;
        double e;
        sn_layer_goal(f, i, &cap, &e);
        sum += e;
    }
    ok(sum <= f->error * 1.0000001,
       "the shares of %u layers add up to %.5f of the promise", layers, sum / f->error);
}

/* One that grows to N keys; SCRATCH: from a scratch file. */
static void grow(seen_kind kind, unsigned flags, uint64_t keys, double error,
                 uint64_t n, bool scratch)
{
    seen_filter *f;
    seen_spec spec = {.kind = kind, .flags = flags, .keys = keys, .error = error};
    if (!ok(seen_new(&spec, &f) == 0, "a growing %s filter, %g keys, error %g",
            kind ? seen_kind_name(kind) : "auto", (double)keys, error))
        return;
    kit_scratch *from = scratch ? kit_scratch_for(f) : NULL;
    uint64_t lost = 0;
    for (uint64_t i = 0; i < n && f; i++) {
        lost += seen_add_u64(f, i) == SEEN_DUP;
        /* In the middle, at every size of file; a source ends with its run. */
        if (!scratch && (i == 5 || i == 40 || i == 3000 || i == n / 2))
            f = through_a_file(f);
    }
    if (!ok(f != NULL, "saved and opened in the middle: %s", f ? "yes" : seen_reason()))
        return;
    ok(denied(f, 0, n) == 0, "%s grown to %g keys: none is denied",
       seen_kind_name(seen_kind_of(f)), (double)n);
    double q = WORK(1 << 20), got = rate(f, (uint64_t)1 << 50, (uint64_t)q);
    double predicted = seen_error_predicted(f);
    double sigma = sqrt(predicted / q);
    ok(predicted <= error && got <= error + 6 * sqrt(error / q),
       "%s, %u layers: predicted error %.4g, measured %.4g, promised %g",
       seen_kind_name(seen_kind_of(f)), f->layers, predicted, got, error);
    /* A small first layer is fuller or emptier than the average one, and all later keys
     * meet it: what its bits say holds to six sigma, the prediction to that spread. */
    seen_stats st;
    seen_get_stats(f, &st);
    ok(fabs(got - st.error_now) <=
           6 * sqrt(st.error_now / q) + 0.02 * st.error_now + 1 / q,
       "measured %.4g, the bits say %.4g", got, st.error_now);
    double spread = fabs(st.error_now / predicted - 1),
           expected = seen_lost_expected(f);
    ok(spread <= (keys && keys < 10000 ? 0.25 : 0.02) + 6 * sigma / predicted,
       "the prediction is %.1f%% away", 100 * spread);
    ok(fabs((double)lost - expected) <=
           6 * sqrt(expected + 1) + (0.03 + 1.2 * spread) * expected,
       "lost while growing: predicted %.1f, actual %llu", expected,
       (unsigned long long)lost);
    shares_add_up(f);
    if (!scratch) {
        ok(seen_clear(f) == 0 && seen_error_predicted(f) == 0 &&
               seen_lost_expected(f) == 0,
           "cleared, it has no past");
        for (uint64_t i = 0; i < 1000; i++)
            seen_add_u64(f, i);
        ok(denied(f, 0, 1000) == 0 && seen_error_predicted(f) <= error,
           "and takes keys");
    }
    seen_free(f);
    kit_scratch_free(from);
}

static seen_filter *range(const seen_spec *spec, uint64_t from, uint64_t to)
{
    seen_filter *f;
    if (seen_new(spec, &f) < 0)
        exit(2);
    for (uint64_t i = from; i < to; i++)
        seen_add_u64(f, i);
    return f;
}

/* Filters of a few, of some and of many keys, merged in every order: the union has all
 * keys and keeps its promise. */
static void merges(unsigned flags, double error)
{
    static const uint64_t end[4] = {0, 9, 400, 60000};
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    seen_spec spec = {.error = error, .flags = flags};
    bool merged = true, all = true, kept = true;
    for (int o = 0; o < 6; o++) {
        seen_filter *f[3];
        for (int i = 0; i < 3; i++)
            f[i] = range(&spec, end[i], end[i + 1]);
        seen_filter *to = f[order[o][0]];
        for (int i = 1; i < 3; i++) {
            merged &= seen_merge(to, f[order[o][i]]) == 0;
            if (i == 1)
                to = through_a_file(to);
        }
        f[order[o][0]] = to;
        all &= denied(to, 0, 60000) == 0;
        for (uint64_t i = 60000; i < 100000; i++)
            seen_add_u64(to, i);
        all &= denied(to, 0, 100000) == 0;
        /* Errors of a union add up: each part had its own promise. */
        double q = 1 << 20, got = rate(to, (uint64_t)1 << 50, 1 << 20);
        kept &= got <= 2 * error + 6 * sqrt(2 * error / q);
        for (int i = 0; i < 3; i++)
            seen_free(f[i]);
    }
    ok(merged && all,
       "filters of unknown size merge in any order%s, and no key is denied",
       flags ? ", with removes" : "");
    ok(kept, "and keep the sum of their promises");
}

static size_t file_len(const seen_filter *f)
{
    struct stat st;
    return seen_save(f, path) == 0 && stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

/* Ten keys, in memory and in a file. */
static void ten_keys(void)
{
    seen_filter *f = range(&(seen_spec){0}, 0, 10), *g;
    size_t len = file_len(f);
    ok(seen_bytes(f) <= 256 && len <= 256, "ten keys take %d bytes, and %d in a file",
       (int)seen_bytes(f), (int)len);
    ok(seen_open(path, SEEN_WRITE, &g) == 0 && seen_add_u64(g, 10) == SEEN_NEW,
       "one more goes to the file in place");
    uint8_t head[SN_COMPACT];
    memcpy(head, g->map, sizeof head);
    seen_free(g);
    ok(seen_open(path, SEEN_READ, &g) == 0 && seen_added(g) == 11 &&
           seen_verify(g) == 0 && denied(g, 0, 11) == 0,
       "which says so when it is closed");
    int taken = 0;
    _Alignas(64) uint8_t bytes[256];
    if (len == sizeof bytes) {
        memcpy(bytes, g->map, len);
        seen_free(g);
        for (size_t i = 0; i < len; i++) {
            bytes[i] ^= 0x41;
            bool dirty = i >= SN_COMPACT_DIRTY && i < SN_COMPACT_DIRTY + 4;
            taken += seen_open_bytes(bytes, len, 0, NULL, &g) == 0 && !dirty;
            seen_free(g);
            bytes[i] ^= 0x41;
        }
        for (size_t cut = 0; cut < len; cut++)
            taken += seen_open_bytes(bytes, cut, 0, NULL, &g) == 0;
        ok(taken == 0, "no byte of it can change, nor be missing: %s", seen_reason());
        /* The header of a writer that died, with the bits that it left. */
        memcpy(bytes, head, sizeof head);
        ok(seen_open_bytes(bytes, len, 0, NULL, &g) == 0 && denied(g, 0, 11) == 0,
           "after kill -9 it opens and has every key");
    }
    seen_free(g);
    seen_free(f);
}

/* Bytes when grown from nothing, over bytes made to measure, on average. */
static void price(void)
{
    seen_filter *f;
    seen_spec spec = {.kind = SEEN_BLOCKED, .error = 0.01};
    seen_new(&spec, &f);
    double sum = 0;
    int points = 0;
    for (uint64_t n = 100000; n <= 10000000; n += 100000, points++) {
        while (({
                   uint64_t c = 0;
                   for (uint32_t i = 0; i < f->layers; i++)
                       c += f->layer[i].shape.capacity;
                   c;
               }) < n)
            sn_grow(f);
        seen_size made = {.kind = SEEN_BLOCKED, .keys = n, .error = 0.01};
        seen_solve(&made);
        sum += (double)seen_bytes(f) / (double)made.bytes;
    }
    ok(sum / points <= 2.7,
       "grown from nothing to 1 .. 10 million keys: %.2f times the bytes "
       "of one made to measure, %u layers",
       sum / points, f->layers);
    seen_free(f);
}

/* Many repeats around the moment when the filter is full, in batches and one by one. */
static void batches_at_the_brim(seen_kind kind, uint32_t flags, uint64_t keys)
{
    seen_spec spec = {
        .kind = kind, .keys = keys, .error = 0.001, .seed = 7, .flags = flags};
    uint64_t h[3000];
    bool many[3000];
    unsigned wrong = 0;
    for (uint64_t distinct = keys - 2; distinct <= keys + 2; distinct++) {
        seen_filter *a, *b;
        if (seen_new(&spec, &a) < 0 || seen_new(&spec, &b) < 0)
            exit(2);
        for (unsigned i = 0; i < 3000; i++)
            h[i] = seen_hash(a, LE8(mix(i) % distinct));
        size_t done = 0;
        int rc = seen_add_hashes(a, h, 3000, many, &done);
        for (unsigned i = 0; i < 3000; i++) {
            bool one = false;
            size_t ignored = 0;
            int rc1 = seen_add_hashes(b, h + i, 1, &one, &ignored);
            if (rc1 < 0) { /* fixed and full: both stop at the same key */
                wrong += rc != rc1 || done != i;
                break;
            }
            wrong += rc < 0 && i >= done;
            wrong += one != many[i];
        }
        wrong += seen_added(a) != seen_added(b) || a->layers != b->layers;
        seen_free(a);
        seen_free(b);
    }
    ok(!wrong,
       "%s for %llu keys%s: batches around its capacity as keys one by one (%u)",
       seen_kind_name(kind), (unsigned long long)keys,
       flags & SEEN_FIXED ? ", fixed" : "", wrong);
}

static const sn_variant *counted;
static size_t calls;

static void count_has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    calls++;
    counted->has(l, h, n, found);
}

static size_t count_add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    calls++;
    return counted->add(l, h, n, dup);
}

/* A full set, or one with little room, takes repeats in batches, not one by one. */
static void repeats_are_cheap(uint64_t room)
{
    seen_spec spec = {.kind = SEEN_SET, .keys = 10, .seed = 7};
    seen_filter *f;
    uint64_t h[4096];
    bool dup[4096];
    if (seen_new(&spec, &f) < 0)
        exit(2);
    for (unsigned i = 0; i < 4096; i++)
        h[i] = seen_hash(f, LE8((uint64_t)i % (10 - room)));
    seen_add_hashes(f, h, 10 - room, dup, NULL);
    counted = f->layer->variant;
    sn_variant counting = *counted;
    counting.has = count_has;
    counting.add = count_add;
    f->layer->variant = &counting;
    calls = 0;
    seen_add_hashes(f, h, 4096, dup, NULL);
    f->layer->variant = counted;
    ok(calls <= 4096 / 8 && f->layers == 1,
       "a set with room for %llu more keys finds 4,096 keys that are there in %zu "
       "looks",
       (unsigned long long)room, calls);
    seen_free(f);
}

int main(void)
{
    repeats_are_cheap(0);
    repeats_are_cheap(1);
    repeats_are_cheap(5);
    close(mkstemp(path));
    for (uint64_t keys = 10; keys <= 1000; keys *= 10) {
        batches_at_the_brim(SEEN_SET, 0, keys);
        batches_at_the_brim(SEEN_SET, SEEN_FIXED, keys);
        batches_at_the_brim(SEEN_BLOCKED, 0, keys);
        batches_at_the_brim(SEEN_BLOCKED, SEEN_FIXED, keys);
        batches_at_the_brim(SEEN_CUCKOO, SEEN_ONCE, keys);
        batches_at_the_brim(SEEN_CUCKOO, 0, keys);
        batches_at_the_brim(SEEN_QUOTIENT, 0, keys);
    }
    grow(SEEN_AUTO, 0, 0, 0.01, WORK(1000000), false);
    grow(SEEN_AUTO, 0, 0, 0.001, WORK(200000), false);
    grow(SEEN_AUTO, SEEN_REMOVES, 0, 0.01, WORK(100000), false);
    grow(SEEN_AUTO, 0, 0, 0.01, WORK(300000), true);
    grow(SEEN_SET, 0, 0, 0.01, WORK(100000), false);
    grow(SEEN_CLASSIC, 0, 0, 0.001, WORK(300000), false);
    grow(SEEN_CUCKOO, SEEN_ONCE, 0, 0.001, WORK(300000), false);
    grow(SEEN_BLOCKED, 0, 10, 0.05, WORK(100000), false);
    grow(SEEN_SPLIT, 0, 1000, 0.02, WORK(200000), false);
    grow(SEEN_BLOCKED, 0, WORK(500000), 0.01, WORK(500000), false);
    grow(SEEN_QUOTIENT, 0, 1000, 0.01, WORK(100000), false);
    merges(0, 0.01);
    merges(SEEN_REMOVES, 0.01);
    ten_keys();
    price();
    unlink(path);
    return done();
}
