/* never_denies_a_key.c - random operations against a plain set of integers: no key is
 * ever denied.
 *
 * Each run draws a kind, a size and a few thousand operations (add one, add many, has,
 * merge, copy, save and open in every way, clear) from a fixed seed, and keeps the
 * truth in a bitmap of key numbers. Answers of absent keys are counted, and their share
 * must stay near the promise. */
#include "seen.h"
#include "test_keys.h"
#include "tap.h"
#include <stdlib.h>
#include <unistd.h>

enum { KEYS = 200000 };
static uint64_t state = 20261115;
static uint64_t dice(uint64_t n)
{
    state = mix(state);
    return state % n;
}

static char path[] = "/tmp/seen-model-XXXXXX";

static uint64_t denied, false_new, absent_yes, absent_asked;

static void ask(const seen_filter *f, const uint8_t *in, uint64_t from, size_t n,
                enum family fam)
{
    char buf[256][96];
    seen_key keys[256] = {{0}};
    bool found[256];
    for (size_t i = 0; i < n; i++)
        keys[i] = (seen_key){buf[i], key_of(fam, (from + i) % KEYS, buf[i])};
    seen_has_many(f, keys, n, found);
    for (size_t i = 0; i < n; i++) {
        bool there = in[(from + i) % KEYS];
        denied += there && !found[i];
        absent_asked += !there;
        absent_yes += !there && found[i];
        if (i % 16 == 0 && seen_has(f, keys[i].data, keys[i].len) != found[i])
            denied++;
    }
}

static void add(seen_filter *f, uint8_t *in, uint64_t from, size_t n, enum family fam)
{
    char buf[256][96];
    seen_key keys[256] = {{0}};
    bool dup[256];
    for (size_t i = 0; i < n; i++)
        keys[i] = (seen_key){buf[i], key_of(fam, (from + i) % KEYS, buf[i])};
    size_t taken = n;
    if (n == 1)
        dup[0] = seen_add(f, keys[0].data, keys[0].len) == SEEN_DUP;
    else
        seen_add_many(f, keys, n, dup, &taken);
    for (size_t i = 0; i < taken; i++) {
        uint64_t k = (from + i) % KEYS;
        false_new += in[k] && !dup[i];
        in[k] = 1;
    }
}

static seen_filter *reopen(seen_filter *f)
{
    static const unsigned modes[] = {SEEN_LOAD, SEEN_READ, SEEN_WRITE,
                                     SEEN_READ | SEEN_VERIFY};
    seen_filter *g = NULL;
    unsigned mode = modes[dice(4)];
    if (seen_save(f, path) < 0 || seen_open(path, mode, &g) < 0) {
        ok(0, "save and open: %s", seen_reason());
        return f;
    }
    seen_free(f);
    if (mode != SEEN_LOAD) { /* what is mapped becomes a copy that can grow */
        seen_filter *h = NULL;
        if (mode == SEEN_WRITE)
            seen_flush(g);
        seen_copy(g, &h);
        seen_free(g);
        g = h;
    }
    return g;
}

static void run(seen_kind kind, uint64_t keys, double error)
{
    enum family fam = (enum family)dice(FAMILIES);
    seen_spec spec = {.kind = kind, .keys = keys, .error = error, .seed = state};
    if (dice(4) == 0)
        spec.flags |= SEEN_SCALAR;
    seen_filter *f;
    if (seen_new(&spec, &f) < 0) {
        ok(0, "%s: %s", seen_kind_name(kind), seen_reason());
        return;
    }
    uint8_t *in = calloc(1, KEYS), *other = calloc(1, KEYS);
    denied = false_new = absent_yes = absent_asked = 0;
    for (int op = 0; op < WORK(1500); op++) {
        uint64_t from = dice(KEYS);
        size_t n = dice(3) ? dice(255) + 1 : 1;
        switch (dice(20)) {
        case 0:
            f = reopen(f);
            break;
        case 1: {
            seen_filter *g;
            if (seen_copy(f, &g) == 0) {
                add(g, memcpy(other, in, KEYS), from, n, fam);
                ask(g, other, from, n, fam);
                if (kind != SEEN_SET && seen_merge(f, g) == 0)
                    memcpy(in, other, KEYS);
                seen_free(g);
            }
            break;
        }
        case 2:
            if (dice(40) == 0 && seen_clear(f) == 0)
                memset(in, 0, KEYS);
            break;
        case 3:
        case 4:
        case 5:
        case 6:
        case 7:
        case 8:
        case 9:
        case 10:
        case 11:
            add(f, in, from, n, fam);
            break;
        default:
            ask(f, in, from, n, fam);
        }
    }
    ask(f, in, 0, 255, fam);
    ok(denied == 0 && false_new == 0,
       "%s keys=%g error=%g: no key denied, none new twice; absent %llu of %llu called "
       "present, %u layers",
       seen_kind_name(kind), (double)keys, error, (unsigned long long)absent_yes,
       (unsigned long long)absent_asked, ({
           seen_stats s;
           seen_get_stats(f, &s);
           s.layers;
       }));
    double mean = error * (double)absent_asked; /* repeated questions: a wide margin */
    ok((double)absent_yes <= 2 * mean + 60, "%s keys=%g error=%g: and not too many are",
       seen_kind_name(kind), (double)keys, error);
    free(in), free(other);
    seen_free(f);
}

int main(void)
{
    close(mkstemp(path));
    static const seen_kind kinds[] = {SEEN_AUTO, SEEN_CLASSIC, SEEN_BLOCKED, SEEN_SPLIT,
                                      SEEN_SET};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (kinds[k] && !seen_kind_can(kinds[k]))
            continue;
        run(kinds[k], 0, 0.01);
        run(kinds[k], 10, 0.05);
        run(kinds[k], 3000, 0.001);
        run(kinds[k], 150000, 0.02);
    }
    run(SEEN_AUTO, 0, 1e-6); /* cuckoo, each key once */
    run(SEEN_AUTO, 3000, 1e-6);
    run(SEEN_CUCKOO, 3000, 0.01);
    unlink(path);
    return done();
}
