/* ribbon_finds_every_key.c - the promises of the ribbon kind: every key of any set is
 * found, by every twin, the error is the one asked for, the size hardly above the least
 * possible, and no body can lead a lookup outside it. */
#include "kind/ribbon.h"
#include "filter/filter.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t key(uint64_t i)
{
    return sn_hash(7, LE8(i));
}

/* A ribbon of the N hashes at H. */
static seen_filter *build(const uint64_t *h, size_t n, double error, unsigned threads)
{
    seen_build_spec spec = {.error = error, .threads = threads};
    seen_builder *b;
    seen_filter *f = NULL;
    if (seen_builder_new(&spec, &b) < 0 || seen_builder_add_hashes(b, h, n) < 0 ||
        seen_builder_finish(b, &f) < 0)
        note("%s", seen_reason());
    seen_builder_free(b);
    return f;
}

static uint64_t count(const seen_filter *f, const uint64_t *h, size_t n)
{
    bool *found = malloc(n + 1);
    uint64_t yes = 0;
    seen_has_hashes(f, h, n, found);
    for (size_t i = 0; i < n; i++)
        yes += found[i];
    free(found);
    return yes;
}

/* All that the twins of this machine say of N hashes; whether they agree. */
static bool twins_agree(const seen_filter *f, const uint64_t *h, size_t n)
{
    bool *one = malloc(n), *two = malloc(n), same = true;
    const sn_layer *l = f->layer;
    sn_ribbon.variant(&l->shape, SN_SCALAR, false)->has(l, h, n, one);
    for (int s = 0; s < SN_SIMDS; s++)
        if (sn_simd_runs((enum sn_simd)s)) {
            sn_ribbon.variant(&l->shape, (enum sn_simd)s, false)->has(l, h, n, two);
            same &= memcmp(one, two, n) == 0;
        }
    free(one);
    free(two);
    return same;
}

static bool near(double got, double p, double n)
{
    return fabs(got - p) <= 6 * sqrt(p * (1 - p) / n) + 1e-9;
}

enum { ABSENT = 1000000 };
static uint64_t absent[ABSENT];

static void any_set(void)
{
    static const size_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 511, 512, 513, 2000, 100000};
    static const double errors[] = {0.9,   0.5,  0.4,   0.3,  0.25, 0.1, 0.05,
                                    0.035, 0.01, 0.003, 3e-4, 1e-4, 1e-9};
    static uint64_t h[100000];
    for (size_t i = 0; i < 100000; i++)
        h[i] = key(i);
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
        bool found = true, same = true, counted = true, sound = true, rate = true;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t n = sizes[i];
            seen_filter *f = build(h, n, errors[e], 2);
            found &= f && count(f, h, n) == n;
            counted &= seen_added(f) == n;
            sound &= sn_ribbon.check(f->layer) == 0;
            same &= twins_agree(f, h, n ? n : 1) && twins_agree(f, absent, 20000);
            double got = (double)count(f, absent, ABSENT) / ABSENT;
            double p = n ? sn_ribbon.error_at(&f->layer->shape, (double)n) : 0;
            /* Small ones round the share of longer prints up. */
            double sigma = sqrt(p * (1 - p) / ABSENT);
            rate &= p <= errors[e] * 1.0001 &&
                    (n < 2000 ? got < 3 * errors[e] + 1e-5
                              : got < p + 6 * sigma + 1e-6 &&
                                    (n < 100000 || got > p * 0.995 - 6 * sigma));
            seen_free(f);
        }
        ok(found, "error %g: every key of 0, 1, 2, 63 ... 100000 is found", errors[e]);
        ok(same, "all twins give the same answers");
        ok(rate, "absent keys err as predicted, at most as asked");
        ok(counted && sound, "keys are counted, bodies are sound");
    }
}

static void duplicates(void)
{
    enum { N = 30000 };
    static uint64_t h[3 * N], once[N];
    for (size_t i = 0; i < N; i++)
        once[i] = key(i);
    for (size_t i = 0; i < 3 * N; i++)
        h[i] = key(sn_mulhi(sn_remix(i), N));
    for (size_t i = 0; i < N; i++)
        h[3 * i] = key(i); /* every key at least once, in another order */
    seen_filter *f = build(once, N, 0.01, 1), *g = build(h, 3 * N, 0.01, 3);
    ok(seen_added(g) == N && count(g, once, N) == N, "duplicates count once");
    ok(f->layer->len == g->layer->len &&
           memcmp(f->layer->body, g->layer->body, g->layer->len) == 0,
       "and the same keys in any order, any number of threads, make the same bytes");
    seen_free(f);
    seen_free(g);
}

/* Undoes sn_remix, as a stranger might who knows the source. */
static uint64_t unmix(uint64_t x)
{
    x ^= x >> 29 ^ x >> 58;
    x -= 0xd1b54a32d192ed03u;
    uint64_t c = 0x9e3779b97f4a7c15u, inverse = c;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - c * inverse;
    x *= inverse;
    return x ^ x >> 32;
}

static void hostile_hashes(void)
{
    enum { N = 60000 };
    static uint64_t h[N];
    bool right = true;
    for (uint64_t i = 0; i < 1000; i++)
        right &= unmix(sn_remix(key(i))) == key(i);
    ok(right, "(remix is undone)");
    static const char *const name[] = {"small integers", "integers far apart",
                                       "one prefix of 40 bits",
                                       "one suffix of 40 bits"};
    for (int kind = 0; kind < 4; kind++) {
        for (uint64_t i = 0; i < N; i++)
            h[i] = kind == 0   ? i
                   : kind == 1 ? i << 48
                   : kind == 2 ? unmix((uint64_t)0xabcde12345 << 24 | i * 257)
                               : unmix(i << 40 | 0xabcde12345);
        seen_filter *f = build(h, N, 0.01, 2);
        ok(f && count(f, h, N) == N, "hashes that are %s: all are found", name[kind]);
        seen_free(f);
    }
}

/* Trit i of a row of 64, of random rows A and B. */
static unsigned trit(sn_trit_row a, unsigned i)
{
    return (unsigned)((a.once >> i & 1) + 2 * (a.twice >> i & 1));
}

static void trits(void)
{
    bool sums = true, packed = true;
    unsigned seen = 0;
    uint64_t x = 5;
    for (int round = 0; round < 100; round++) {
        sn_trit_row a = {x = sn_remix(x), 0, 1}, b = {x = sn_remix(x), 0, 2};
        a.twice = (x = sn_remix(x)) & ~a.once;
        b.twice = (x = sn_remix(x)) & ~b.once;
        sn_trit_row c = sn_trit_add(a, b);
        for (unsigned i = 0; i < 64; i++) {
            sums &= !(c.once & c.twice) && trit(c, i) == (trit(a, i) + trit(b, i)) % 3;
            seen |= 1u << (3 * trit(a, i) + trit(b, i));
        }
    }
    ok(sums && seen == 0x1ff,
       "all nine sums of two trits are right in 64 lanes at once");
    for (unsigned v = 0; v < 243; v++)
        for (unsigned t = 0, left = v; t < 5; t++, left /= 3) {
            unsigned one = sn_ribbon_planes[v] >> t & 1;
            unsigned two = sn_ribbon_planes[v] >> (8 + t) & 1;
            packed &= one + 2 * two == left % 3 && sn_ribbon_planes[v] >> 13 == 0;
        }
    ok(packed, "a byte below 243 is its five trits");
}

/* Every byte of a level belongs to one segment, and to the keys that read it. */
static void layout(void)
{
    static uint8_t level[4096];
    bool tiled = true, inside = true;
    for (unsigned r = 0; r < 11; r++)
        for (unsigned e = 0; e < 3; e++)
            for (uint64_t wide = 0; wide < 14; wide += 1 + !wide) {
                for (uint64_t g = 0; g < 13; g++) {
                    uint64_t at = sn_ribbon_at(g, wide, r, e), bytes = 0;
                    if (e && g < wide)
                        bytes = sn_ribbon_trits_at(g + 1) - sn_ribbon_trits_at(g);
                    bytes += 8 * sn_ribbon_columns(g, wide, r, e);
                    tiled &= at + bytes == sn_ribbon_at(g + 1, wide, r, e);
                }
                for (uint64_t pos = 0; pos < 64 * 12; pos++) {
                    sn_ribbon_key k = {0, 0, 1, 2};
                    uint64_t g = pos / 64, end = sn_ribbon_at(g + 2, wide, r, e);
                    sn_ribbon_spot s = sn_ribbon_look(&k, level, pos, wide, r, e);
                    const uint8_t *next = s.at + s.stride;
                    inside &= next == level + sn_ribbon_at(g + 1, wide, r, e);
                    inside &= next + 8 * s.used <= level + end;
                    inside &= (s.trit < 3) == (e && g + 1 < wide);
                    if (s.trit == 3)
                        continue;
                    unsigned near = s.near;
                    const uint8_t *far = sn_ribbon_far_trits(&s) + near;
                    uint64_t first = pos / 5 - sn_ribbon_trits_at(g);
                    inside &= near <= SN_RIBBON_TRITS && far >= next + 8 * r;
                    inside &= far + SN_RIBBON_TRITS - near <= level + end;
                    inside &= sn_ribbon_near_trits(&s) == s.at + 8 * r + first;
                }
            }
    ok(tiled, "segments of words and trits follow each other without a gap");
    ok(inside, "a key reads its segment and the next, and nothing else");
}

static void size_and_speed(void)
{
    enum { N = 1000000 };
    uint64_t *h = malloc(N * 8);
    for (size_t i = 0; i < N; i++)
        h[i] = key(i);
    for (int bits = 8; bits >= 2; bits -= 6) {
        seen_filter *f = build(h, N, ldexp(1, -bits), 0);
        double got = (double)count(f, absent, ABSENT) / ABSENT;
        double per_key = 8.0 * (double)seen_bytes(f) / N, ratio = per_key / bits;
        ok(near(got, ldexp(1, -bits), ABSENT) && count(f, h, N) == N &&
               ratio <= (bits == 8 ? 1.01 : 1.03),
           "%d bits: a million keys take %.3f bits each, %.4f of the least; error %.4f",
           bits, per_key, ratio, got);
        sn_shape s = {.kind = SEEN_RIBBON};
        sn_ribbon.shape_for(&s, N, ldexp(1, -bits));
        double planned = (double)sn_ribbon.body_len(&s), is = (double)seen_bytes(f);
        ok(fabs(planned - is) < is / 500, "planned were %.0f bytes, it has %.0f",
           planned, is);
        seen_free(f);
    }
    static const double errors[] = {0.04, 0.02, 0.01, 0.006, 0.003, 0.0007};
    for (size_t e = 0; e < sizeof errors / sizeof *errors; e++) {
        seen_filter *f = build(h, N, errors[e], 0);
        double got = (double)count(f, absent, ABSENT) / ABSENT;
        double ratio = 8.0 * (double)seen_bytes(f) / N / -log2(errors[e]);
        ok(near(got, errors[e], ABSENT) && count(f, h, N) == N && ratio <= 1.01 &&
               sn_ribbon_extra(&f->layer->shape),
           "error %g: a million keys take %.4f of the least; error %.5f", errors[e],
           ratio, got);
        seen_free(f);
    }
    free(h);
    /* As planned, for every error; the fewer bits, the more the thresholds weigh. */
    double worst = 0, worst_few = 0;
    for (double bits = 1.73; bits < 29.9; bits += 0.01) {
        sn_shape s = {.kind = SEEN_RIBBON};
        sn_ribbon.shape_for(&s, 4e6, exp2(-bits));
        double ratio = (double)sn_ribbon.body_len(&s) * 8 / 4e6 / bits;
        double *of = bits > 5.47 ? &worst : &worst_few;
        *of = ratio > *of ? ratio : *of;
        if (sn_ribbon.error_at(&s, 1) > exp2(-bits) * 1.0000001)
            worst = 9;
    }
    ok(worst < 1.01, "errors from 2.2%% to 1e-9: at most %.4f of the least", worst);
    ok(worst_few < 1.027, "errors up to 30%%: at most %.4f", worst_few);
}

static void budgets(void)
{
    enum { N = 200000 };
    static uint64_t h[2 * N];
    for (size_t i = 0; i < 2 * N; i++)
        h[i] = key(i % N);
    for (int twice = 0; twice < 2; twice++) {
        bool fits = true, good = true, found = true;
        for (uint64_t bytes = 40000; bytes < 700000; bytes = bytes * 9 / 8) {
            char path[] = "/tmp/seen-ribbon-XXXXXX";
            seen_build_spec spec = {.memory = bytes};
            seen_builder *b;
            seen_filter *f = NULL;
            seen_builder_new(&spec, &b);
            seen_builder_add_hashes(b, h, (size_t)N << twice);
            int rc = seen_builder_finish(b, &f);
            seen_builder_free(b);
            if (rc < 0) {
                note("%s", seen_reason());
                fits = false;
                continue;
            }
            int fd = mkstemp(path);
            seen_save(f, path);
            off_t len = lseek(fd, 0, SEEK_END);
            close(fd);
            unlink(path);
            double least = exp2(-8.0 * (double)bytes / N);
            double p = sn_ribbon.error_at(&f->layer->shape, N);
            fits &= (uint64_t)len <= bytes;
            found &= count(f, h, N) == N;
            /* 2 pages of file, 1.5% and the price of a fraction */
            double allowed = exp2(-8.0 * (double)(bytes - 12288) / N / 1.015 + 0.0861);
            if (p > allowed)
                note("%d bytes: error %g, least %g", (int)bytes, p, least);
            good &= p <= allowed;
            seen_free(f);
        }
        ok(fits && found, "files stay within 40 to 700 kB%s, all keys in",
           twice ? ", every key given twice" : "");
        ok(good, "and use what they may");
    }
    seen_build_spec spec = {.memory = 180};
    seen_builder *b;
    seen_filter *f = NULL;
    seen_builder_new(&spec, &b);
    seen_builder_add_hashes(b, h, N);
    ok(seen_builder_finish(b, &f) == SEEN_EINVAL && !f,
       "a budget too small is refused: %s", seen_reason());
    ok(seen_builder_finish(b, &f) < 0 && seen_builder_add_hashes(b, h, 1) < 0,
       "a builder is used once");
    seen_builder_free(b);
}

/* Random damage to the table: refused, or harmless. */
static void hostile_bodies(void)
{
    static uint64_t h[5000];
    for (size_t i = 0; i < 5000; i++)
        h[i] = key(i);
    seen_filter *f = build(h, 5000, 0.01, 1);
    sn_layer l = *f->layer;
    uint8_t *old = l.body;
    uint64_t x = 1, refused = 0, asked = 0;
    for (int i = 0; i < 20000; i++) {
        l.body = aligned_alloc(64, l.len); /* so that a sanitizer sees the edges */
        memcpy(l.body, old, l.len);
        uint8_t *table = l.body + l.len - 64;
        for (int j = 0; j < 1 + i % 3; j++) {
            x = sn_remix(x);
            uint8_t *word = table + (x & 56);
            x = sn_remix(x);
            sn_put64(word, x & 1 ? x >> (x >> 8 & 63)
                                 : sn_le64(word) ^ (uint64_t)1 << (x >> 58));
        }
        if (sn_ribbon.check(&l) < 0) {
            refused++;
        } else {
            bool found[200];
            for (int s = 0; s < SN_SIMDS; s++)
                if (sn_simd_runs((enum sn_simd)s)) {
                    sn_ribbon_prefetch(&l, h, 200);
                    sn_ribbon.variant(&l.shape, (enum sn_simd)s, false)
                        ->has(&l, h, 200, found);
                }
            asked++;
        }
        free(l.body);
    }
    ok(refused > 1000 && asked > 1000,
       "of 20000 damaged tables %d are refused, the others "
       "harmless",
       (int)refused);
    sn_shape s = {.kind = SEEN_RIBBON, .k = 33, .units = 1, .own = {64}};
    ok(sn_ribbon.body_len(&s) == 0, "33 bits are refused");
    s = (sn_shape){.k = 5, .units = 1, .own = {64, (uint64_t)3 << 32}};
    ok(sn_ribbon.body_len(&s) == 0, "and 3 bits instead of a trit");
    s = (sn_shape){.k = 31, .units = 1, .own = {64, (uint64_t)2 << 32}};
    ok(sn_ribbon.body_len(&s) == 0, "and 33 bits of keys without one");
    s = (sn_shape){.k = 8, .units = 3, .own = {64}};
    ok(sn_ribbon.body_len(&s) == 0, "three shards are refused");
    s = (sn_shape){.k = 8, .units = 16, .own = {64}};
    ok(sn_ribbon.body_len(&s) == 0, "a body shorter than its table is refused");
    ok(seen_add_u64(f, 1) == SEEN_EKIND && seen_remove_hash(f, 1) < 0 &&
           seen_clear(f) < 0,
       "a ribbon cannot be changed");
    seen_free(f);
}

int main(void)
{
    for (uint64_t i = 0; i < ABSENT; i++)
        absent[i] = key(((uint64_t)1 << 60) + i);
    trits();
    layout();
    any_set();
    duplicates();
    hostile_hashes();
    size_and_speed();
    budgets();
    hostile_bodies();
    return done();
}
