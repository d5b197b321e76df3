/* cmd_plan.c - `seen plan`: every kind side by side, before anything is made. */
#include "commands.h"
#include "json.h"
#include "plot.h"
#include "say.h"
#include "human_numbers.h"
#include "sizing.h"
#include "timing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OPT_PLOT = 300, OPT_JSON, OPT_STATIC, OPT_NOTIME };

static const kit_option options[] = {
    {'n', "expect", "N", "Number of keys (20M, 2e7)."},
    {'e', "error", "P", "Chance that an absent key is called present."},
    {'m', "memory", "SIZE", "Memory it may take (64M, 1G)."},
    {'r', "removable", NULL, "Keys will be removed: only kinds that can are taken."},
    {OPT_STATIC, "static", NULL,
     "All keys are known before the first question: a filter that never changes will "
     "do."},
    {OPT_NOTIME, "no-time", NULL, "Do not measure lookups, which takes a second."},
    {OPT_PLOT, "plot", "FILE",
     "Write a picture to FILE (SVG): error against memory, and against the number of "
     "keys."},
    {OPT_JSON, "json", NULL, "As JSON."},
    {0},
};

static const char *says(seen_kind k)
{
    switch (k) {
    case SEEN_CLASSIC:
        return "textbook; small below 1e-4, slow";
    case SEEN_BLOCKED:
        return "one cache line a key";
    case SEEN_SPLIT:
        return "Parquet's; fastest in cache";
    case SEEN_SET:
        return "fingerprints; exact in practice";
    case SEEN_CUCKOO:
        return "small fingerprints";
    case SEEN_RIBBON:
        return "built once; smallest";
    default:
        return "";
    }
}

/* What is asked of the filter beyond its size. */
typedef struct needs {
    bool removes, all_known;
} needs;

static bool serves(seen_kind k, needs want)
{
    unsigned can = seen_kind_can(k);
    return (can & SEEN_CAN_ADD || want.all_known) &&
           (can & SEEN_CAN_REMOVE || !want.removes);
}

/* Whether A is the better answer to what was not given: fewer bytes; more keys or the
 * smaller error if the bytes were. */
static bool better(const seen_size *a, const seen_size *b, const sizing *given)
{
    if (!given->memory)
        return a->bytes < b->bytes;
    return given->keys ? a->error < b->error : a->keys > b->keys;
}

/* The kind that seen would take of the rows R, and why. */
static seen_kind choose(const seen_size *r, const seen_size *usual, const sizing *given,
                        needs want, char *why, size_t size)
{
    seen_kind best = want.removes || want.all_known ? SEEN_AUTO : usual->kind;
    for (int k = 1, first = best; first == SEEN_AUTO && k < SEEN_KINDS; k++)
        if (r[k].bytes && serves((seen_kind)k, want) &&
            (best == SEEN_AUTO || better(r + k, r + best, given)))
            best = (seen_kind)k;
    double blocked = (double)r[SEEN_BLOCKED].bytes, classic = (double)r[SEEN_CLASSIC].bytes;
    if (best == SEEN_AUTO) {
        snprintf(why, size, "no kind can do that in so little");
        return best;
    }
    if (want.removes || want.all_known) {
        snprintf(why, size, "%s%s",
                 given->memory  ? given->keys ? "nothing errs less often in so much"
                                              : "nothing takes more keys"
                 : want.removes ? "the smallest that removes keys"
                                : "all keys are known, and nothing is smaller",
                 best == SEEN_RIBBON ? "; see seen build" : "");
        return best;
    }
    switch (best) {
    case SEEN_BLOCKED:
        snprintf(why, size, "one memory access a key, hardly larger than classic");
        break;
    case SEEN_CLASSIC:
        if (blocked == 0)
            snprintf(why, size, "blocked cannot be that sure");
        else if (blocked > classic)
            snprintf(why, size, "blocked would take %.0f%% more",
                     100 * (blocked / classic - 1));
        else
            snprintf(why, size, "blocked would err more often in as many bytes");
        break;
    case SEEN_SPLIT:
        snprintf(why, size, "it fits the fastest cache");
        break;
    default:
        snprintf(why, size, "it has room for whole fingerprints");
        break;
    }
    return best;
}

static void can_words(seen_kind k, char *out)
{
    unsigned can = seen_kind_can(k);
    sprintf(out, "%s%s%s%s", can & SEEN_CAN_ADD ? "add" : "static",
            can & SEEN_CAN_REMOVE ? " remove" : "",
            can & SEEN_CAN_MERGE ? " merge" : "", can & SEEN_CAN_GROW ? " grow" : "");
}

static int plan_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen plan", self, argc, argv);
    sizing z = {0};
    const char *plot = NULL;
    bool json = false, timed = true;
    needs want = {0};
    for (int o; (o = kit_next(&p));) {
        if (sizing_option(&z, &p, o))
            continue;
        if (o == OPT_PLOT)
            plot = p.arg;
        if (o == OPT_JSON)
            json = true;
        if (o == 'r')
            want.removes = true;
        if (o == OPT_STATIC)
            want.all_known = true;
        if (o == OPT_NOTIME)
            timed = false;
    }
    if (p.at < argc)
        kit_usage(&p, "no operand '%s' is expected", argv[p.at]);
    if (z.keys && z.error == 0 && !z.memory)
        z.error = 0.01;
    if ((z.keys != 0) + (z.error > 0) + (z.memory != 0) != 2)
        kit_usage(&p, "give two of -n, -e and -m (or -n alone, for an error of 0.01)");

    kit_json j = {.to = stdout};
    seen_size best = {.keys = z.keys, .error = z.error, .bytes = z.memory};
    if (seen_solve(&best) < 0)
        kit_die("%s", seen_reason());
    seen_size row[SEEN_KINDS] = {{0}};
    char cannot[SEEN_KINDS][160], why[160];
    for (int k = 1; k < SEEN_KINDS; k++) {
        row[k] = (seen_size){
            .kind = (seen_kind)k, .keys = z.keys, .error = z.error, .bytes = z.memory};
        if (!seen_kind_name((seen_kind)k) || k == SEEN_FOREIGN ||
            seen_solve(row + k) < 0) {
            snprintf(cannot[k], sizeof cannot[k], "%s", seen_reason());
            row[k].bytes = 0;
        }
    }
    seen_kind choice = choose(row, &best, &z, want, why, sizeof why);
    if (json) {
        kit_json_open(&j, NULL, '{');
        kit_json_text(&j, "choice", choice ? seen_kind_name(choice) : "none");
        kit_json_text(&j, "why", why);
        kit_json_open(&j, "kinds", '[');
    } else {
        printf("%-9s %10s %10s %4s %10s %9s %5s  %s\n", "kind", "memory", "bits/key",
               "k", "error", "keys", timed ? "ns" : "", "can");
    }
    for (int k = 1; k < SEEN_KINDS; k++) {
        seen_size s = row[k];
        char memory[24], can[64], keys[32], ns[32] = "";
        const char *name = seen_kind_name(s.kind);
        if (!name || k == SEEN_FOREIGN)
            continue;
        if (!s.bytes && json) {
            kit_json_open(&j, NULL, '{');
            kit_json_text(&j, "kind", name);
            kit_json_text(&j, "cannot", cannot[k]);
            kit_json_close(&j, '}');
            continue;
        }
        if (!s.bytes) {
            printf("%-9s cannot: %s\n", name, cannot[k]);
            continue;
        }
        double took = timed ? timing_lookup(&s) : 0;
        if (took > 0)
            snprintf(ns, sizeof ns, "%.1f", took);
        if (json) {
            kit_json_open(&j, NULL, '{');
            kit_json_text(&j, "kind", name);
            kit_json_count(&j, "bytes", s.bytes);
            kit_json_real(&j, "bits_per_key", s.bits_per_key);
            kit_json_count(&j, "k", s.probes);
            kit_json_real(&j, "error", s.error);
            kit_json_count(&j, "keys", s.keys);
            if (took > 0)
                kit_json_real(&j, "ns", took);
            can_words(s.kind, can);
            kit_json_text(&j, "can", can);
            kit_json_close(&j, '}');
            continue;
        }
        can_words(s.kind, can);
        if (s.keys < 1000000)
            snprintf(keys, sizeof keys, "%llu", (unsigned long long)s.keys);
        else
            snprintf(keys, sizeof keys, "%.4g", (double)s.keys);
        printf("%-9s %10s %10.2f %4u %10.3g %9s %5s  %-23s %s%s\n", name,
               kit_show_bytes((double)s.bytes, memory), s.bits_per_key, s.probes,
               s.error, keys, ns, can, says(s.kind),
               s.kind == choice ? " <- chosen" : "");
    }
    /* Any filter of error e needs log2(1/e) bits a key, whatever its structure. */
    double n = z.keys ? (double)z.keys : (double)best.keys, e;
    double bits = z.error > 0 ? log2(1 / z.error) : (double)z.memory * 8 / n;
    e = z.error > 0 ? z.error : exp2(-bits);
    if (z.error > 0 && z.memory)
        n = (double)z.memory * 8 / bits;
    if (json) {
        kit_json_close(&j, ']');
        kit_json_open(&j, "minimum", '{');
        kit_json_real(&j, "bits_per_key", bits);
        kit_json_real(&j, "bytes", n * bits / 8);
        kit_json_real(&j, "error", e);
        kit_json_real(&j, "keys", n);
        kit_json_close(&j, '}');
        kit_json_close(&j, '}');
    } else {
        char memory[24];
        printf("%-9s %10s %10.2f %4s %10.3g %9.4g %5s  no filter can be smaller\n",
               "minimum", kit_show_bytes(n * bits / 8, memory), bits, "", e, n, "");
        printf("\n%s%s: %s.\n", choice ? "seen would take " : "nothing",
               choice ? seen_kind_name(choice) : "", why);
        const seen_size *small = row + SEEN_RIBBON, *took = row + choice;
        if (choice && choice != SEEN_RIBBON && small->bytes && !want.removes &&
            better(small, took, &z)) {
            if (z.keys && z.error > 0)
                printf("If all keys are known beforehand, ribbon saves %.0f%% of it "
                       "(--static; seen build).\n",
                       100 - 100 * (double)small->bytes / (double)took->bytes);
            else if (z.keys)
                printf("If all keys are known beforehand, ribbon errs %.2g instead of "
                       "%.2g "
                       "(--static; seen build).\n",
                       small->error, took->error);
            else
                printf("If all keys are known beforehand, ribbon takes %.0f%% more of "
                       "them "
                       "(--static; seen build).\n",
                       100 * (double)small->keys / (double)took->keys - 100);
        }
        if (timed)
            printf("ns: a lookup in batches, measured here with %s keys.\n",
                   kit_show_count(z.keys && z.keys < TIMING_KEYS ? z.keys : TIMING_KEYS,
                                  memory));
    }
    if (plot)
        plot_plan(plot, &best);
    return 0;
}

const kit_command cmd_plan = {
    .name = "plan",
    .summary = "compare the kinds for a given size",
    .usage = "-n N [-e P | -m SIZE] [--plot FILE]\n-e P -m SIZE [--plot FILE]",
    .about =
        "Tells for every kind of filter what two of the number of keys, the error and "
        "the memory make of the third, what it can do, and the least that any filter "
        "would need. Nothing is made.",
    .options = options,
    .examples = "# A hundred million keys, one error in a thousand\n"
                "$ seen plan -n 100M -e 0.001\n"
                "# What fits into 64 MB\n"
                "$ seen plan -e 1% -m 64M\n"
                "# As a picture\n"
                "$ seen plan -n 1M -e 0.001 --plot plan.svg\n",
    .run = plan_main,
};
