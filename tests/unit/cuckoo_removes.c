/* cuckoo_removes.c - the promises of the cuckoo kind: nothing is lost, what is removed
 * is gone, the error is the predicted one also after many generations. */
#include "kind/cuckoo.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const seen_allocator sys;

static uint64_t key(uint64_t i)
{
    return sn_hash(7, LE8(i));
}

static sn_layer make(uint32_t k, double n, double p)
{
    sn_layer l = {.kind = &sn_cuckoo, .shape = {.kind = SEEN_CUCKOO, .k = k}};
    if (sn_cuckoo.shape_for(&l.shape, n, p) < 0)
        exit(3);
    l.len = sn_cuckoo.body_len(&l.shape);
    l.body = sn_body_alloc(&sys, l.len);
    l.variant = sn_cuckoo.variant(&l.shape, SN_SCALAR, false);
    return l;
}

static void drop(sn_layer *l)
{
    sn_body_free(&sys, l->body, l->len);
}

static bool add(sn_layer *l, uint64_t h)
{
    bool dup;
    return l->variant->add(l, &h, 1, &dup) == 1;
}

static bool has(const sn_layer *l, uint64_t h)
{
    bool found;
    l->variant->has(l, &h, 1, &found);
    return found;
}

enum { KMIN = SN_CUCKOO_KMIN, KMAX = SN_CUCKOO_KMAX };

/* Any four values come back sorted, whatever their order, width and neighbours. */
static void buckets(void)
{
    sn_layer l = make(8, 1, 0.1); /* fills the table of nibbles */
    drop(&l);
    bool back = true, hints = true, canonical = true;
    uint64_t x = 1;
    for (unsigned round = 0; round < 290000; round++) {
        unsigned k = KMIN + round % (KMAX - KMIN + 1), at = round / 29 % 3;
        sn_slots s = sn_slots_of(k);
        sn_bucket b;
        for (int i = 0; i < 4; i++) {
            x = sn_remix(x);
            b.v[i] = x >> (63 - k);
            if ((x & 7) == 0)
                b.v[i] = 0;
            if ((x & 24) == 0 && i)
                b.v[i] = b.v[i - 1];
        }
        uint8_t was[64], mem[64], again[64];
        memset(was, 0xee, sizeof was);
        memcpy(mem, was, sizeof was);
        memcpy(again, was, sizeof was);
        sn_bucket_store(mem, &s, at, b);
        sn_bucket c = sn_bucket_load(mem, &s, at);
        for (int i = 0; i < 4; i++) {
            back &= sn_bucket_count(&b, b.v[i]) == sn_bucket_count(&c, b.v[i]);
            back &= i == 0 || c.v[i - 1] <= c.v[i];
            hints &= sn_bucket_hint(mem, &s, at, b.v[i]) != 0;
        }
        sn_bucket turned = {{b.v[2], b.v[0], b.v[3], b.v[1]}};
        sn_bucket_store(again, &s, at, turned);
        canonical &= memcmp(mem, again, sizeof mem) == 0;
        for (unsigned bit = 0; bit < 8 * sizeof mem; bit++)
            if (bit / (4 * k) != at)
                canonical &= ((mem[bit / 8] ^ was[bit / 8]) >> (bit % 8) & 1) == 0;
    }
    ok(back, "four fingerprints of k+1 bits come back from 4k bits, sorted");
    ok(hints, "none is overlooked by the low bits");
    ok(canonical, "equal buckets have equal bits, and no neighbour is touched");
}

static void sizes(void)
{
    static const double ns[] = {1, 2, 3, 10, 63, 64, 65, 1000, 30000};
    for (unsigned k = KMIN; k <= KMAX; k++) {
        bool all = true, found = true;
        for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
            for (uint64_t seed = 0; seed < (ns[i] < 100 ? 60 : 1); seed++) {
                sn_layer l = make(k, ns[i], 0.5);
                uint64_t n = (uint64_t)ns[i], base = seed << 32;
                for (uint64_t j = 0; j < n; j++)
                    all &= add(&l, key(base + j));
                for (uint64_t j = 0; j < n; j++)
                    found &= has(&l, key(base + j));
                drop(&l);
            }
        ok(all && found,
           "cuckoo%u takes as many keys as it was made for, 1 to 30000, and finds them",
           k);
    }
}

/* Six sigma around the prediction. */
static bool near(double got, double p, double n)
{
    double sigma = sqrt(p * (1 - p) / n);
    if (fabs(got - p) > 6 * sigma + 1e-9)
        note("measured %g, predicted %g, sigma %g", got, p, sigma);
    return fabs(got - p) <= 6 * sigma + 1e-9;
}

static double measured(const sn_layer *l, uint64_t absent)
{
    uint64_t wrong = 0, h[64];
    bool found[64];
    for (uint64_t i = 0; i < absent; i += 64) {
        for (int j = 0; j < 64; j++)
            h[j] = key(((uint64_t)1 << 60) + i + (uint64_t)j);
        l->variant->prefetch(l, h, 64);
        l->variant->has(l, h, 64, found);
        for (int j = 0; j < 64; j++)
            wrong += found[j];
    }
    return (double)wrong / (double)absent;
}

/* Every width, full, errs as predicted, costs what the plan says, and answers alike by
 * all instructions. The narrow ones also with a quarter of their keys. */
static void rates(void)
{
    const uint64_t n = 300000, absent = 1 << 20;
    bool bits = true, counted = true, alike = true;
    for (unsigned k = KMIN; k <= KMAX; k++) {
        sn_layer l = make(k, (double)n, 0.9);
        bool all = true;
        double p, got;
        for (uint64_t i = 0; i < n; i++) {
            all &= add(&l, key(i));
            if (i == n / 4 && k <= 12) {
                p = sn_cuckoo.error_at(&l.shape, (double)i);
                got = measured(&l, absent);
                ok(near(got, p, (double)absent),
                   "cuckoo%u, a quarter full, errs %.4g, predicted %.4g", k, got, p);
            }
        }
        p = sn_cuckoo.error_at(&l.shape, (double)n), got = measured(&l, absent);
        ok(all && near(got, p, (double)absent),
           "cuckoo%u, full, errs %.4g, predicted %.4g", k, got, p);
        double each = 8.0 * (double)l.len / (double)n;
        bits &= fabs(each - k / 0.94) < 0.02;
        sn_measure m;
        sn_cuckoo.measure(&l, &m);
        counted &= fabs(m.keys - (double)n) < 1 && fabs(m.error - p) < p / 1000;
        static uint64_t h[4096];
        static bool one[4096], two[4096];
        const sn_variant *fast = sn_cuckoo.variant(&l.shape, sn_simd_best(), false);
        for (uint64_t i = 0; i < 4096; i++)
            h[i] = key(n - 2048 + i);
        l.variant->has(&l, h, 4096, one);
        fast->has(&l, h, 4096, two);
        for (size_t i = 0; i < 4096; i++) {
            alike &= one[i] == two[i] && one[i] == fast->has_one(&l, h[i]) &&
                     one[i] == l.variant->has_one(&l, h[i]) && (one[i] || i >= 2048);
        }
        drop(&l);
    }
    ok(bits, "each takes k / 0.94 bits a key");
    ok(counted, "the slots say how many keys are in and the error");
    ok(alike, "the twins give the same answers, in batches and one by one");
}

/* What it costs at the errors people ask for. */
static void costs(void)
{
    static const struct {
        double p, bits;
    } goals[] = {{0.01, 9.7}, {0.001, 13}, {1e-4, 17.1}, {1e-6, 23.5}, {1e-9, 34.1}};
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
        sn_shape s = {.kind = SEEN_CUCKOO};
        int rc = sn_cuckoo.shape_for(&s, 1e7, goals[i].p);
        double each = 8.0 * (double)sn_cuckoo.body_len(&s) / 1e7;
        double e = sn_cuckoo.error_at(&s, 1e7);
        ok(rc == 0 && each <= goals[i].bits && e <= goals[i].p,
           "an error of %g costs %.2f bits a key", goals[i].p, each);
    }
    bool kept = true;
    for (double p = 0.6; p > 3e-10; p *= 0.97)
        for (double n = 1; n < 1e6; n *= 7) {
            sn_shape s = {.kind = SEEN_CUCKOO};
            kept &= sn_shape_for(&s, NULL, n, p) == 0 &&
                    sn_cuckoo.error_at(&s, n) <= p * (1 + 1e-12);
        }
    ok(kept, "no error from 0.6 to 3e-10 is exceeded, for any number of keys");
}

/* Ten times every key leaves and another comes. */
static void generations(unsigned k, uint64_t n)
{
    sn_layer l = make(k, (double)n, 0.9);
    bool all = true, gone = true, found = true;
    for (uint64_t i = 0; i < n; i++)
        all &= add(&l, key(i));
    for (uint64_t g = 0; g < 10; g++)
        for (uint64_t i = 0; i < n; i++) {
            gone &= sn_cuckoo.remove(&l, key(g * n + i)) == 1;
            all &= add(&l, key((g + 1) * n + i));
        }
    for (uint64_t i = 0; i < n; i++)
        found &= has(&l, key(10 * n + i));
    double p = sn_cuckoo.error_at(&l.shape, (double)n), got = measured(&l, 1 << 21);
    ok(all && gone && found,
       "cuckoo%u: ten generations of %d keys come and go, none is lost", k, (int)n);
    ok(near(got, p, 1 << 21), "then the error is %.4g, as predicted %.4g", got, p);
    ok(l.added == n && sn_le64(l.body) == n, "and %d keys are counted", (int)n);
    for (uint64_t i = 0; i < n; i++)
        gone &= sn_cuckoo.remove(&l, key(10 * n + i)) == 1;
    bool clean = true;
    for (uint64_t i = 64; i < l.len; i++)
        clean &= l.body[i] == 0;
    ok(gone && clean && l.added == 0, "removing all leaves every bucket empty");
    ok(sn_cuckoo.remove(&l, key(1)) == 0 && l.added == 0,
       "removing an absent key changes nothing");
    drop(&l);
}

/* Random adds and removes of few keys against the true counts. Up to three copies
 * of a key are counted exactly; with up to twenty, some stay for good and some adds
 * are refused because hot keys share buckets. */
static void storm(unsigned k, int most)
{
    enum { KEYS = 3000 };
    static int copies[KEYS];
    sn_layer l = make(k, KEYS * 3, 0.5);
    memset(copies, 0, sizeof copies);
    uint64_t x = k, refused = 0, lost = 0, left = 0;
    for (int i = 0; i < 100000; i++) {
        x = sn_remix(x);
        uint64_t id = sn_mulhi(x, most > 3 ? KEYS / 4 : KEYS);
        if (copies[id] > 0 && (x & 1)) {
            sn_cuckoo.remove(&l, key(id));
            copies[id]--;
        } else if (copies[id] < most) {
            if (add(&l, key(id)))
                copies[id]++;
            else
                refused++;
        }
        x = sn_remix(x);
        id = sn_mulhi(x, KEYS);
        lost += copies[id] > 0 && !has(&l, key(id));
    }
    for (uint64_t id = 0; id < KEYS; id++)
        left += (uint64_t)copies[id];
    ok(lost == 0,
       "cuckoo%u: up to %d copies of a key come and go, no key with one left is denied",
       k, most);
    if (most <= 3 && k >= 8) /* in fewer bits many keys are one class of eight copies */
        ok(refused == 0 && l.added == left, "and %d copies are counted", (int)left);
    drop(&l);
}

/* A family of layers with one error in seventy each: adds go to the newest, removes
 * ask the newest first and so often meet a stranger of the same class. */
static void family(void)
{
    enum { KEYS = 60000, LAYERS = 5 };
    static uint8_t in[KEYS];
    sn_layer l[LAYERS] = {make(8, 2000, 0.5)};
    bool sizes_right = true;
    for (int i = 1; i < LAYERS; i++) {
        l[i] = (sn_layer){.kind = &sn_cuckoo, .shape = {.kind = SEEN_CUCKOO}};
        sn_cuckoo.shape_next(&l[i].shape, &l[0].shape, 2000 << i, i < 3 ? 0.02 : 0.001);
        sizes_right &= l[i].shape.units == l[0].shape.units << i;
        sizes_right &= l[i].shape.k == (i < 3 ? 8 : 12);
        l[i].len = sn_cuckoo.body_len(&l[i].shape);
        l[i].body = sn_body_alloc(&sys, l[i].len);
        l[i].variant = sn_cuckoo.variant(&l[i].shape, SN_SCALAR, false);
    }
    ok(sizes_right,
       "further layers double the first one's buckets, with more bits if need be");
    int newest = 0, live = 0;
    uint64_t x = 11, lost = 0, missed = 0;
    for (int step = 0; step < 1000000; step++) {
        x = sn_remix(x);
        uint64_t id = sn_mulhi(x, KEYS);
        if (in[id]) {
            bool done = false;
            for (int i = newest; i >= 0 && !done; i--)
                done = sn_cuckoo.remove(&l[i], key(id)) == 1;
            missed += !done;
            in[id] = 0;
            live--;
        } else if (live < 40000) {
            if (l[newest].added >= (uint64_t)2000 << newest && newest < LAYERS - 1)
                newest++;
            int at = newest;
            for (; at >= 0 &&
                   !(l[at].added < (uint64_t)2000 << at && add(&l[at], key(id)));)
                at--;
            in[id] = at >= 0;
            live += at >= 0;
        }
        if (step % 50000 == 49999)
            for (uint64_t i = 0; i < KEYS; i++)
                if (in[i]) {
                    bool found = false;
                    for (int j = newest; j >= 0; j--)
                        found |= has(&l[j], key(i));
                    lost += !found;
                }
    }
    uint64_t held = 0;
    for (int i = 0; i < LAYERS; i++)
        held += l[i].added;
    ok(newest == LAYERS - 1 && lost == 0 && missed == 0,
       "in a storm over five layers no key is lost to another one's remove");
    ok(held == (uint64_t)live, "and the layers hold as many copies as there are keys");
    for (int i = 0; i < LAYERS; i++)
        drop(&l[i]);
}

/* Adds a key a hundred times, as far as F takes it, and removes it until F says that
 * nothing went. */
static void removes_end(seen_filter *f, const char *what, int most, int last)
{
    int adds = 0, removes = 0, rc;
    for (int i = 0; i < 100; i++)
        adds += seen_add(f, "hot", 3) >= 0;
    seen_add(f, "cold", 4);
    while ((rc = seen_remove(f, "hot", 3)) == 1 && removes < 1000)
        removes++;
    bool here = seen_has(f, "hot", 3);
    ok(removes <= most && removes <= adds && rc == last && here == (rc < 0) &&
           seen_has(f, "cold", 4),
       "%s: after %d adds and %d removes, %s", what, adds, removes,
       rc < 0 ? seen_reason() : "it is gone");
    ok(seen_remove(f, "hot", 3) == last, "and it stays so");
    seen_free(f);
}

/* In every kind that removes, "until nothing was removed" comes to an end. */
static void every_kind_ends(void)
{
    static const struct {
        seen_spec spec;
        const char *what;
        int most, last;
    } made[] = {
        {{.kind = SEEN_SET}, "set", 1, 0},
        {{.kind = SEEN_SET, .keys = 100, .flags = SEEN_FIXED}, "fixed set", 1, 0},
        {{.kind = SEEN_CUCKOO, .keys = 1000}, "cuckoo", 0, SEEN_EFOREVER},
        {{.flags = SEEN_REMOVES}, "one that grows", 0, SEEN_EFOREVER},
        {{.kind = SEEN_QUOTIENT, .flags = SEEN_REMOVES}, "quotient", 8, 0},
        {{.kind = SEEN_QUOTIENT, .keys = 100, .flags = SEEN_REMOVES | SEEN_FIXED},
         "fixed quotient", 8, 0},
    };
    seen_filter *f;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (ok(seen_new(&made[i].spec, &f) == 0, "%s", made[i].what))
            removes_end(f, made[i].what, made[i].most, made[i].last);
    seen_params p = {.keys = 1000};
    if (ok(seen_new_foreign("rediscuckoo", &p, &f) == 0, "rediscuckoo"))
        removes_end(f, "rediscuckoo", 100, 0);
}

static void extremes(void)
{
    sn_layer l = make(16, 1000, 0.01);
    uint64_t hot = key(1);
    bool took = true;
    for (int i = 0; i < 100; i++)
        took &= add(&l, hot);
    ok(took && l.added == 8, "of a hundred copies of one key eight are kept");
    for (int i = 0; i < 100; i++)
        took &= sn_cuckoo.remove(&l, hot) == SEEN_EFOREVER;
    ok(took && has(&l, hot) && l.added == 8,
       "and the key then stays: no false no, and a remove says so: %s", seen_reason());
    drop(&l);

    l = make(16, 1000, 0.01);
    uint64_t in = 0, found = 0;
    while (in < 100000 && add(&l, key(in)))
        in++;
    for (uint64_t i = 0; i < in; i++)
        found += has(&l, key(i));
    ok(in >= 1000 && in <= 4 * l.shape.units + 16 && found == in,
       "overfilled, it refuses at %d of %d slots and still finds every key", (int)in,
       (int)(4 * l.shape.units));
    ok(sn_cuckoo.check(&l) == 0, "a full body is sound");
    sn_put32(l.body + 8, 17);
    ok(sn_cuckoo.check(&l) == SEEN_EFORMAT, "a stash that claims too much is refused");
    sn_put32(l.body + 8, 16);
    sn_put64(l.body + 64, l.shape.units);
    ok(sn_cuckoo.check(&l) == SEEN_EFORMAT,
       "a stashed key outside the buckets is refused");
    sn_put64(l.body + 64, l.shape.units - 1);
    sn_put64(l.body + 72, 1 << 17);
    ok(sn_cuckoo.check(&l) == SEEN_EFORMAT,
       "a stashed fingerprint with a bit too many is refused");
    drop(&l);

    sn_shape s = {.k = 3, .units = 1, .own = {0, 3}}, t = s;
    t.k = t.own[1] = 33;
    ok(sn_cuckoo.body_len(&s) == 0 && sn_cuckoo.shape_for(&s, 1, 0.1) == SEEN_EINVAL &&
           sn_cuckoo.body_len(&t) == 0 &&
           sn_cuckoo.shape_for(&t, 1, 0.1) == SEEN_EINVAL,
       "3 and 33 bits are refused: %s", seen_reason());
    s = (sn_shape){.k = 32, .units = UINT64_MAX};
    ok(sn_cuckoo.body_len(&s) == 0, "an impossible number of buckets is refused");
    s = (sn_shape){0};
    ok(sn_cuckoo.shape_in(&s, 1000000, 3000000) == 0 && s.k == 22 &&
           sn_cuckoo.body_len(&s) <= 3000000 && sn_cuckoo.body_len(&s) > 2999984,
       "a budget of three bytes a key is used up, with the widest prints that fit");
    ok(sn_cuckoo.shape_in(&s, 1000000, 500000) == SEEN_EINVAL,
       "a budget of half a byte a key is refused");
}

/* Through the handle: a filter of unknown size grows, keeps its promise, removes, and
 * comes back from a file. */
static void handle(void)
{
    seen_spec spec = {.kind = SEEN_CUCKOO, .error = 0.01};
    seen_filter *f, *g;
    seen_new(&spec, &f);
    const uint64_t n = 400000, absent = 1000000;
    bool added = true, dup = true, removed = true;
    for (uint64_t i = 0; i < n; i++)
        added &= seen_add_u64(f, i) >= 0;
    for (uint64_t i = 0; i < n; i += 100)
        dup &= seen_add_u64(f, i) == SEEN_DUP;
    seen_stats st;
    seen_get_stats(f, &st);
    ok(added && dup && st.layers == 3 && st.added == n + n / 100,
       "a growing filter took %d keys and one in a hundred twice, in %u layers", (int)n,
       st.layers);
    uint64_t wrong = 0, lost = 0;
    for (uint64_t i = 0; i < absent; i++)
        wrong += seen_has_u64(f, ((uint64_t)1 << 40) + i);
    double got = (double)wrong / (double)absent;
    ok(got < 0.01 && near(got, seen_error_predicted(f), (double)absent),
       "the error of all layers is %.4f, below the promised 0.01 and as predicted",
       got);

    char path[] = "/tmp/seen-cuckoo-XXXXXX";
    int fd = mkstemp(path);
    ok(fd >= 0 && seen_save(f, path) == 0 && seen_open(path, SEEN_LOAD, &g) == 0,
       "it goes to a file and comes back");
    close(fd);
    unlink(path);
    for (uint64_t i = 0; i < n; i++)
        removed &= seen_remove(g, LE8(i)) == 1;
    for (uint64_t i = 0; i < n; i++)
        lost += i % 100 == 0 && !seen_has_u64(g, i);
    ok(removed && lost == 0 && seen_added(g) == n / 100,
       "each key removed once: those added twice are still there");
    for (uint64_t i = 0; i < n; i += 100)
        removed &= seen_remove(g, LE8(i)) == 1;
    ok(removed && seen_added(g) == 0 && seen_remove(g, LE8(n)) == 0,
       "then none is left");
    seen_get_stats(g, &st);
    ok(st.removes_missed == 1 && st.bits_set == 0,
       "and one remove too many is counted");
    seen_free(f);
    seen_free(g);

    spec = (seen_spec){.kind = SEEN_CUCKOO, .keys = 1000, .flags = SEEN_FIXED};
    seen_new(&spec, &f);
    for (uint64_t i = 0; i < 1000; i++)
        added &= seen_add_u64(f, i) >= 0;
    ok(added && seen_add_u64(f, 5) == SEEN_EFULL && seen_added(f) == 1000,
       "a fixed one refuses the key beyond its number, a second copy too");
    seen_free(f);
}

int main(void)
{
    buckets();
    sizes();
    rates();
    costs();
    generations(9, 60000);
    generations(12, 60000);
    generations(22, 60000);
    generations(5, 20000);
    for (unsigned k = KMIN; k <= KMAX; k++)
        storm(k, k % 2 ? 3 : 20);
    storm(8, 3);
    storm(9, 20);
    family();
    extremes();
    every_kind_ends();
    handle();
    return done();
}
