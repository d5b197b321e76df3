/* cmd_compare.c - `seen compare`: hash set, bitmap and filters on the same keys.
 *
 * The keys are integers below sixteen times their number, so that all three can hold
 * them: what one would write first, what is exact for small integers, and what holds
 * any key in a few bits. */
#include "commands.h"
#include "sample.h"
#include "messages.h"
#include "human_numbers.h"
#include "filters/sizing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { BATCH = 1024 };

static const kit_option options[] = {
    {'n', "expect", "N", "Number of keys [1M]."},
    {'e', "error", "P", "Error of the filters [0.01]."},
    {0},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct row {
    const char *name;
    uint64_t bytes;
    double add, ask; /* seconds */
    uint64_t wrong;  /* false positives */
    bool lost;       /* a present key was not found: never */
} row;

static void show(const row *r, uint64_t n)
{
    char memory[24];
    printf("%-14s %10s %9.1f %11.1f %11.1f %12.5f%%%s\n", r->name,
           kit_show_bytes((double)r->bytes, memory), (double)r->bytes * 8 / (double)n,
           r->add * 1e9 / (double)n, r->ask * 1e9 / (double)(2 * n),
           100.0 * (double)r->wrong / (double)n, r->lost ? "  LOST KEYS" : "");
}

/* A hash set as in the textbook: the keys themselves, open addressing, doubled when
 * three quarters full. */
static row hash_set(const uint64_t *in, const uint64_t *out, uint64_t n)
{
    uint64_t slots = 1024, used = 0, *slot = kit_alloc(slots * 8);
    row r = {.name = "hash set"};
    double t = now();
    for (uint64_t i = 0; i < n; i++) {
        if (used >= slots / 4 * 3) {
            uint64_t *old = slot, count = slots;
            slots *= 2;
            slot = kit_alloc(slots * 8);
            for (uint64_t j = 0; j < count; j++) {
                if (!old[j])
                    continue;
                uint64_t at = kit_mix(old[j]) & (slots - 1);
                while (slot[at])
                    at = (at + 1) & (slots - 1);
                slot[at] = old[j];
            }
            free(old);
        }
        uint64_t at = kit_mix(in[i] + 1) & (slots - 1);
        while (slot[at] && slot[at] != in[i] + 1)
            at = (at + 1) & (slots - 1);
        used += !slot[at];
        slot[at] = in[i] + 1;
    }
    r.add = now() - t;
    t = now();
    for (int side = 0; side < 2; side++) {
        const uint64_t *key = side ? out : in;
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = kit_mix(key[i] + 1) & (slots - 1);
            while (slot[at] && slot[at] != key[i] + 1)
                at = (at + 1) & (slots - 1);
            if (side)
                r.wrong += slot[at] != 0;
            else
                r.lost |= !slot[at];
        }
    }
    r.ask = now() - t;
    r.bytes = slots * 8;
    free(slot);
    return r;
}

static row bitmap(const uint64_t *in, const uint64_t *out, uint64_t n, uint64_t bound)
{
    row r = {.name = "bitmap", .bytes = bound / 8};
    seen_bitmap *b;
    if (seen_bitmap_new(bound, NULL, &b) < 0)
        kit_die("%s", seen_reason());
    double t = now();
    seen_bitmap_set_many(b, in, n, NULL);
    r.add = now() - t;
    t = now();
    for (uint64_t i = 0; i < n; i++)
        r.lost |= seen_bitmap_get(b, in[i]) != 1;
    for (uint64_t i = 0; i < n; i++)
        r.wrong += seen_bitmap_get(b, out[i]) == 1;
    r.ask = now() - t;
    seen_bitmap_free(b);
    return r;
}

static row filter(seen_kind kind, double error, const uint64_t *in, const uint64_t *out,
                  uint64_t n)
{
    row r = {.name = seen_kind_name(kind)};
    seen_spec spec = {.kind = kind, .keys = n, .error = error, .flags = SEEN_FIXED};
    seen_filter *f = sizing_make(&spec);
    seen_key key[BATCH];
    bool flag[BATCH];
    double t = now();
    for (uint64_t i = 0; i < n; i += BATCH) {
        size_t m = n - i < BATCH ? (size_t)(n - i) : BATCH;
        for (size_t j = 0; j < m; j++)
            key[j] = (seen_key){in + i + j, 8};
        if (seen_add_many(f, key, m, flag, NULL) < 0)
            kit_die("%s", seen_reason());
    }
    r.add = now() - t;
    t = now();
    for (int side = 0; side < 2; side++)
        for (uint64_t i = 0; i < n; i += BATCH) {
            size_t m = n - i < BATCH ? (size_t)(n - i) : BATCH;
            for (size_t j = 0; j < m; j++)
                key[j] = (seen_key){(side ? out : in) + i + j, 8};
            seen_has_many(f, key, m, flag);
            for (size_t j = 0; j < m; j++) {
                if (side)
                    r.wrong += flag[j];
                else
                    r.lost |= !flag[j];
            }
        }
    r.ask = now() - t;
    r.bytes = seen_bytes(f);
    seen_free(f);
    return r;
}

static void mix_order(uint64_t *x, uint64_t n, uint64_t seed)
{
    for (uint64_t i = n; i > 1; i--) {
        uint64_t j = kit_mix(seed << 40 ^ i) % i, t = x[i - 1];
        x[i - 1] = x[j];
        x[j] = t;
    }
}

static int compare_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen compare", self, argc, argv);
    sizing z = {.keys = 1000000, .error = 0.01};
    for (int o; (o = kit_next(&p));)
        sizing_option(&z, &p, o);
    if (p.at < argc)
        kit_usage(&p, "no operand '%s' is expected", argv[p.at]);
    if (z.keys > 1000000000)
        kit_die("--expect: at most a billion keys: more would take too long");
    uint64_t n = z.keys, bound = n * 16;
    /* Even numbers are added and odd ones are absent: one of each sixteen, so that all
     * are distinct, in mixed order. */
    uint64_t *in = kit_grow(NULL, n, 8), *out = kit_grow(NULL, n, 8);
    for (uint64_t i = 0; i < n; i++) {
        in[i] = i * 16 + kit_mix(i) % 8 * 2;
        out[i] = i * 16 + kit_mix(~i) % 8 * 2 + 1;
    }
    mix_order(in, n, 1);
    mix_order(out, n, 2);
    printf("%s integers below %s; CPU time of one thread\n\n", kit_counted(n),
           kit_counted(bound));
    printf("%-14s %10s %9s %11s %11s %13s\n", "", "memory", "bits/key", "add, ns",
           "ask, ns", "false pos.");
    row r = hash_set(in, out, n);
    show(&r, n);
    r = bitmap(in, out, n, bound);
    show(&r, n);
    for (int k = 1; seen_kind_name((seen_kind)k); k++) {
        if (!(seen_kind_can((seen_kind)k) & SEEN_CAN_ADD) || k == SEEN_FOREIGN)
            continue;
        r = filter((seen_kind)k, z.error, in, out, n);
        show(&r, n);
    }
    printf(
        "\nThe hash set keeps the keys: for strings instead of integers, add their "
        "bytes.\nThe bitmap holds only integers below its bound. The others hold any "
        "key.\n");
    free(in);
    free(out);
    return 0;
}

const kit_command cmd_compare = {
    .name = "compare",
    .summary = "hash set, bitmap and filters on the same keys",
    .usage = "[-n N] [-e P]",
    .about =
        "Adds N integers to a textbook hash set, to a bitmap and to every kind of "
        "filter, looks up N present and N absent keys in each, and prints memory, CPU "
        "time and false positives side by side.",
    .options = options,
    .examples = "# Small enough for the caches\n$ seen compare -n 100k\n",
    .run = compare_main,
};
