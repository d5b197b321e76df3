/* quotient_keeps_what_is_left.c - a quotient filter from which keys are removed,
 * against a plain count of each: random adds, removes, growth, copies, files and merges
 * deny no key that is left; the error stays below the promise however often keys come
 * and go. */
#include "filter/filter.h"
#include "kind/quotient.h"
#include "tap.h"
#include "test_keys.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEYS = 30000 };

static uint64_t dice = 1, strays;

static uint64_t roll(uint64_t sides)
{
    dice = mix(dice);
    return dice % sides;
}

static seen_filter *make(double error, unsigned flags)
{
    seen_filter *f;
    seen_spec spec = {.kind = SEEN_QUOTIENT, .error = error, .seed = 1, .flags = flags};
    return seen_new(&spec, &f) == 0 ? f : NULL;
}

/* A filter, and how often each key is in it. */
typedef struct both {
    seen_filter *f;
    unsigned count[KEYS];
} both;

static uint64_t denied(const both *b)
{
    uint64_t no = 0;
    for (uint64_t i = 0; i < KEYS; i++)
        no += b->count[i] && !seen_has_hash(b->f, mix(i));
    return no;
}

static void change(both *b, uint64_t keys, unsigned times, unsigned adds_in_ten)
{
    for (unsigned t = 0; t < times; t++) {
        uint64_t i = roll(keys);
        if (roll(1000) == 0 && keys < KEYS)
            i = roll(8); /* some come again and again */
        if (roll(10) < adds_in_ten) {
            int rc = seen_add_hash(b->f, mix(i));
            /* Eight copies are the most, of a key and of those it is taken for. */
            if (rc < 0 && (rc != SEEN_EFULL || !b->count[i]) && strays++ > 20)
                ok(false, "adds: %s", seen_reason());
            b->count[i] += rc >= 0;
        } else if (b->count[i]) {
            if (seen_remove_hash(b->f, mix(i)) != 1)
                ok(false, "a key that is in is removed");
            b->count[i]--;
        }
    }
}

static void through_a_file(both *b, const char *name)
{
    seen_filter *g = NULL;
    if (seen_save(b->f, name) < 0 || seen_open(name, SEEN_LOAD, &g) < 0) {
        ok(false, "saved and opened: %s", seen_reason());
        return;
    }
    seen_free(b->f);
    b->f = g;
}

static void merged(both *b)
{
    both *other = calloc(1, sizeof *other);
    other->f = make(0.01, SEEN_REMOVES);
    change(other, KEYS, (unsigned)roll(20000), 7);
    int rc = seen_merge(b->f, other->f);
    unsigned most = 0;
    for (uint64_t i = 0; i < KEYS; i++)
        if (b->count[i] + other->count[i] > most && other->count[i])
            most = b->count[i] + other->count[i];
    if (rc < 0 && most < 7)
        ok(false, "merged, at most %u copies: %s", most, seen_reason());
    for (uint64_t i = 0; rc == 0 && i < KEYS; i++)
        b->count[i] += other->count[i];
    seen_free(other->f);
    free(other);
}

static void random_walk(unsigned flags, unsigned rounds)
{
    char name[] = "/tmp/quotient.XXXXXX";
    int fd = mkstemp(name);
    both *b = calloc(1, sizeof *b);
    b->f = make(0.01, SEEN_REMOVES | flags);
    uint64_t no = 0;
    for (unsigned r = 0; r < rounds; r++) {
        change(b, KEYS >> roll(6), (unsigned)roll(12000), (unsigned)(3 + roll(6)));
        no += denied(b);
        switch (roll(5)) {
        case 0:
            through_a_file(b, name);
            break;
        case 1:
            merged(b);
            break;
        case 2: {
            seen_filter *g;
            if (seen_copy(b->f, &g) == 0) {
                seen_free(b->f);
                b->f = g;
            }
        }
        }
        no += denied(b);
    }
    ok(no == 0, "no key that is left is denied in %u rounds, %llu copies in the end",
       rounds, (unsigned long long)seen_added(b->f));
    uint64_t left = 0;
    for (uint64_t i = 0; i < KEYS; i++)
        for (; b->count[i]; b->count[i]--)
            if (seen_remove_hash(b->f, mix(i)) != 1)
                left++;
    ok(left == 0, "and every one can be removed");
    seen_free(b->f);
    free(b);
    close(fd);
    unlink(name);
}

/* Two filters of all sizes, one or two copies of each key in both. */
static void copies_merge(uint64_t a, uint64_t b)
{
    seen_filter *f = make(0.01, SEEN_REMOVES), *g = make(0.01, SEEN_REMOVES);
    uint64_t wrong = 0, most = a > b ? a : b;
    for (uint64_t i = 0; i < most; i++)
        for (uint64_t k = 0; k <= i % 2; k++) {
            wrong += i < a && seen_add_hash(f, mix(i)) < 0;
            wrong += i < b && seen_add_hash(g, mix(i)) < 0;
        }
    ok(!wrong && seen_merge(f, g) == 0, "%llu and %llu keys with copies merge: %s",
       (unsigned long long)a, (unsigned long long)b, seen_reason());
    for (uint64_t i = 0; i < most; i++)
        for (uint64_t k = 0; k <= i % 2; k++)
            for (int in = (i < a) + (i < b); in; in--)
                wrong += !seen_has_hash(f, mix(i)) || seen_remove_hash(f, mix(i)) != 1;
    ok(!wrong && seen_added(f) == 0,
       "every copy of both is found and removed, none is left");
    seen_free(f);
    seen_free(g);
}

/* Equal bytes by all instructions, removes included. */
static void variants(void)
{
    seen_filter *f[2] = {make(0.001, SEEN_REMOVES),
                         make(0.001, SEEN_REMOVES | SEEN_SCALAR)};
    uint64_t h[500];
    bool dup[2][500];
    unsigned same = 0, rounds = WORK(300);
    for (unsigned r = 0; r < rounds; r++) {
        for (int i = 0; i < 500; i++)
            h[i] = mix(roll(100000));
        for (int w = 0; w < 2; w++)
            seen_add_hashes(f[w], h, 500, dup[w], NULL);
        bool equal = !memcmp(dup[0], dup[1], sizeof dup[0]);
        for (int i = 0; i < 200; i++)
            equal &= seen_remove_hash(f[0], h[i]) == seen_remove_hash(f[1], h[i]);
        size_t a, b;
        const void *x = seen_body(f[0], 0, &a), *y = seen_body(f[1], 0, &b);
        same += equal && a == b && !memcmp(x, y, a);
    }
    ok(same == rounds, "variants agree on copies and bytes, %u times of %u", same,
       rounds);
    seen_free(f[0]);
    seen_free(f[1]);
}

/* A million keys come and go, 50,000 of them at a time. */
static void turnover(double promised)
{
    enum { LIVE = 50000 };
    seen_filter *f = make(promised, SEEN_REMOVES);
    uint64_t no = 0, turns = WORK(1000000), q = WORK(1 << 21), yes = 0, bytes = 0;
    for (uint64_t i = 0; i < LIVE + turns; i++) {
        seen_add_hash(f, mix(i));
        if (i >= LIVE)
            no += seen_remove_hash(f, mix(i - LIVE)) != 1;
        if (i == LIVE)
            bytes = seen_bytes(f);
    }
    for (uint64_t i = turns; i < turns + LIVE; i++)
        no += !seen_has_hash(f, mix(i));
    ok(no == 0,
       "%llu keys came and went: each was removed, none that is left is denied",
       (unsigned long long)turns);
    ok(seen_bytes(f) <= bytes * 2, "it takes %.2f times the memory it took before",
       (double)seen_bytes(f) / (double)bytes);
    for (uint64_t i = 0; i < q; i++)
        yes += (uint64_t)seen_has_hash(f, mix(((uint64_t)1 << 50) + i));
    double share = (double)yes / (double)q, sigma = sqrt(promised / (double)q);
    seen_stats st;
    seen_get_stats(f, &st);
    ok(share <= promised + 6 * sigma && st.error_now <= promised,
       "then %.5f of absent keys are found, %.5f said, %g promised", share,
       st.error_now, promised);
    ok(fabs(share - st.error_now) <= 6 * sqrt(st.error_now / (double)q) + 1e-9,
       "which is what is said, at six sigma");
    seen_free(f);
}

/* From few keys to many: where the filter grew a thousandfold since, a key stays in and
 * the remove says so. */
static void outgrown(void)
{
    seen_filter *f = make(0.01, SEEN_REMOVES);
    uint64_t n = WORK(8000000), no = 0, stay = 0;
    for (uint64_t i = 0; i < 500; i++)
        seen_add_hash(f, mix(i));
    uint64_t h[1000];
    for (uint64_t i = 500; i < n; i += 1000) {
        for (uint64_t j = 0; j < 1000; j++)
            h[j] = mix(i + j);
        seen_add_hashes(f, h, 1000, NULL, NULL);
    }
    for (uint64_t i = 0; i < n; i += i < 500 ? 1 : 7)
        no += !seen_has_hash(f, mix(i));
    for (uint64_t i = 250; i < 500; i++) {
        int rc = seen_remove_hash(f, mix(i));
        no += rc != 1 && (rc != SEEN_EKIND || !seen_has_hash(f, mix(i)));
        stay += rc == SEEN_EKIND;
    }
    for (uint64_t i = 0; i < 250; i++)
        no += !seen_has_hash(f, mix(i));
    ok(no == 0,
       "after growth by thousands the first keys are in, and removed or, %llu of "
       "250, refused in words",
       (unsigned long long)stay);
    seen_free(f);
}

static void copies_come_to_an_end(void)
{
    seen_filter *f = make(0.01, SEEN_REMOVES);
    int taken = 0, refused = 0, removed = 0;
    for (int i = 0; i < 1000; i++) {
        int rc = seen_add_hash(f, mix(7));
        taken += rc == (i ? SEEN_DUP : SEEN_NEW);
        refused += rc == SEEN_EFULL;
    }
    ok(taken == 8 && refused == 992 && seen_added(f) == 8,
       "eight copies of a key, then: %s", seen_reason());
    while (removed < 1000 && seen_remove_hash(f, mix(7)) == 1)
        removed++;
    ok(removed == 8 && !seen_has_hash(f, mix(7)), "eight removes, and it is gone");
    ok(seen_remove_hash(f, mix(8)) == 0,
       "a key that is certainly absent is not removed");
    seen_free(f);
}

static void refusals(void)
{
    seen_filter *f = make(0.01, 0), *g = make(0.01, SEEN_REMOVES);
    for (uint64_t i = 0; i < 20000; i++) {
        seen_add_hash(f, mix(i));
        seen_add_hash(g, mix(i));
    }
    ok(seen_remove_hash(f, mix(1)) == SEEN_EKIND, "made without removes: %s",
       seen_reason());
    ok(seen_merge(g, f) == SEEN_EMISMATCH, "merged: %s", seen_reason());
    ok(seen_merge(f, g) == 0 && seen_has_hash(f, mix(9)),
       "the other way round it goes");
    seen_free(f);
    seen_free(g);
}

int main(void)
{
    random_walk(0, 60);
    random_walk(SEEN_SCALAR, 30);
    copies_merge(20000, 20000);
    copies_merge(3000, 50000);
    copies_merge(50000, 3000);
    variants();
    turnover(0.01);
    turnover(0.001);
    outgrown();
    copies_come_to_an_end();
    refusals();
    return done();
}
