/* cmd_plan.c - `seen plan`: every kind side by side, before anything is made. */
#include "commands.h"
#include "corpus/corpus_plan.h"
#include "json.h"
#include "plot.h"
#include "messages.h"
#include "human_numbers.h"
#include "filters/sizing.h"
#include "timing.h"
#include "output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { OPT_PLOT = 300, OPT_JSON, OPT_STATIC, OPT_NOTIME, OPT_CORPUS };
enum { KINDS = 16 }; /* rows there is room for; a number without a kind is left out */

static const kit_option options[] = {
    {'n', "expect", "N", "Number of keys (20M, 2e7)."},
    {'e', "error", "P", "Probability of a false positive (0.001, 0.1%, 1/1000)."},
    {'m', "memory", "SIZE", "Memory the filter may take (64M, 1G)."},
    {'r', "removable", NULL, "Choose only among kinds that can remove keys."},
    {OPT_STATIC, "static", NULL,
     "All keys are known before the first lookup: a filter that never changes will "
     "do."},
    {OPT_NOTIME, "no-time", NULL, "Do not measure lookups, which takes a second."},
    {OPT_PLOT, "plot", "FILE",
     "Draw error against memory, and against the number of keys, in FILE (SVG)."},
    {OPT_CORPUS, "corpus", "SIZE",
     "Show what seen dedup needs for SIZE of JSON lines (300G, 2T); with -e for that "
     "error, with -m what fits."},
    {OPT_JSON, "json", NULL, "Print JSON."},
    {0},
};

static const char *says(seen_kind k)
{
    switch (k) {
    case SEEN_CLASSIC:
        return "textbook; a cache line a probe";
    case SEEN_BLOCKED:
        return "one cache line a key";
    case SEEN_SPLIT:
        return "Parquet's; fastest in cache";
    case SEEN_SET:
        return "fingerprints; exact in practice";
    case SEEN_CUCKOO:
        return "small fingerprints, two lines a key";
    case SEEN_RIBBON:
        return "built once; smallest";
    case SEEN_QUOTIENT:
        return "grows in place, one cache line a key";
    default:
        return "";
    }
}

/* What the filter must be able to do. */
typedef struct needs {
    bool removes, all_known;
} needs;

static bool serves(seen_kind k, needs want)
{
    unsigned can = seen_kind_can(k);
    return (can & SEEN_CAN_ADD || want.all_known) &&
           (can & SEEN_CAN_REMOVE || !want.removes);
}

/* Whether A is better than B in the number that was not given: fewer bytes, or more
 * keys or a smaller error if the bytes were given. */
static bool better(const seen_size *a, const seen_size *b, const sizing *given)
{
    if (!given->memory)
        return a->bytes < b->bytes;
    return given->keys ? a->error < b->error : a->keys > b->keys;
}

/* The kind that seen would choose among the rows R, and why. */
static seen_kind choose(const seen_size *r, const seen_size *usual, const sizing *given,
                        needs want, char *why, size_t size)
{
    seen_kind best = want.removes || want.all_known ? SEEN_AUTO : usual->kind;
    for (int k = 1, first = best; first == SEEN_AUTO && k < KINDS; k++)
        if (r[k].bytes && serves((seen_kind)k, want) &&
            (best == SEEN_AUTO || better(r + k, r + best, given)))
            best = (seen_kind)k;
    double blocked = (double)r[SEEN_BLOCKED].bytes,
           classic = (double)r[SEEN_CLASSIC].bytes;
    if (best == SEEN_AUTO) {
        snprintf(why, size, "no kind can do that in so little memory");
        return best;
    }
    if (want.removes || want.all_known) {
        snprintf(why, size, "%s%s",
                 given->memory  ? given->keys ? "nothing errs less often in this memory"
                                              : "nothing holds more keys"
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
    case SEEN_CUCKOO:
        snprintf(why, size,
                 "%.0f%% less than classic, and two cache lines a key instead of %u; "
                 "to "
                 "remove keys, make it with -r",
                 100 * (1 - (double)r[SEEN_CUCKOO].bytes / classic),
                 r[SEEN_CLASSIC].probes);
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

/* What was asked for, and what came out. */
typedef struct plan {
    uint64_t corpus; /* bytes of text; 0: not asked */
    sizing given;
    needs want;
    const char *plot;
    bool json, timed;

    seen_size best;       /* the choice of seen_solve */
    seen_size row[KINDS]; /* 0 bytes: this kind cannot */
    char cannot[KINDS][160], why[160];
    seen_kind choice;
} plan;

static void parse(plan *pl, const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen plan", self, argc, argv);
    sizing *z = &pl->given;
    for (int o; (o = kit_next(&p));) {
        if (sizing_option(z, &p, o))
            continue;
        switch (o) {
        case OPT_PLOT:
            pl->plot = p.arg;
            break;
        case OPT_JSON:
            pl->json = true;
            break;
        case 'r':
            pl->want.removes = true;
            break;
        case OPT_STATIC:
            pl->want.all_known = true;
            break;
        case OPT_NOTIME:
            pl->timed = false;
            break;
        case OPT_CORPUS:
            if (!kit_parse_bytes(p.arg, &pl->corpus))
                kit_bad_value(&p, o, "a size, such as 300G");
            break;
        }
    }
    if (p.at < argc)
        kit_usage(&p, "no operand '%s' is expected", argv[p.at]);
    if (pl->corpus) {
        if (z->keys || pl->plot || pl->want.removes || pl->want.all_known ||
            (z->error > 0 && z->memory))
            kit_usage(&p, "--corpus goes with -e or -m, and with --json");
        return;
    }
    if (z->keys && z->error == 0 && !z->memory)
        z->error = 0.01;
    if ((z->keys != 0) + (z->error > 0) + (z->memory != 0) != 2)
        kit_usage(&p, "give two of -n, -e and -m (or -n alone, for an error of 0.01)");
}

static bool listed(int kind)
{
    return seen_kind_name((seen_kind)kind) && kind != SEEN_FOREIGN;
}

/* Sizes every kind and chooses one. */
static void solve(plan *pl)
{
    const sizing *z = &pl->given;
    seen_size asked = {.keys = z->keys, .error = z->error, .bytes = z->memory};
    pl->best = asked;
    if (seen_solve(&pl->best) < 0)
        kit_die("%s", seen_reason());
    for (int k = 1; k < KINDS; k++) {
        seen_size *r = pl->row + k;
        *r = asked;
        r->kind = (seen_kind)k;
        if (!listed(k) || seen_solve(r) < 0) {
            snprintf(pl->cannot[k], sizeof pl->cannot[k], "%s", seen_reason());
            r->bytes = 0;
        }
    }
    pl->choice = choose(pl->row, &pl->best, z, pl->want, pl->why, sizeof pl->why);
}

/* Any filter of error e needs log2(1/e) bits a key, whatever its structure. */
typedef struct minimum {
    double keys, error, bits;
} minimum;

static minimum least(const plan *pl)
{
    const sizing *z = &pl->given;
    minimum m = {.keys = z->keys ? (double)z->keys : (double)pl->best.keys};
    /* Keys of one 64-bit hash are one key to any filter, whatever its memory. */
    double same = m.keys * 0x1p-64, given = exp2(-(double)z->memory * 8 / m.keys);
    m.error = z->error > 0 ? z->error : fmin(fmax(given, same), 1);
    m.bits = log2(1 / m.error);
    if (z->error > 0 && z->memory)
        m.keys = (double)z->memory * 8 / m.bits;
    return m;
}

/* ---- for programs ---------------------------------------------------------------- */

static void print_json(const plan *pl)
{
    kit_json j = {.to = stdout};
    char can[64];
    kit_json_open(&j, NULL, '{');
    kit_json_text(&j, "choice", pl->choice ? seen_kind_name(pl->choice) : "none");
    kit_json_text(&j, "why", pl->why);
    kit_json_open(&j, "kinds", '[');
    for (int k = 1; k < KINDS; k++) {
        const seen_size *s = pl->row + k;
        if (!listed(k))
            continue;
        kit_json_open(&j, NULL, '{');
        kit_json_text(&j, "kind", seen_kind_name((seen_kind)k));
        if (!s->bytes) {
            kit_json_text(&j, "cannot", pl->cannot[k]);
        } else {
            double took = pl->timed ? timing_lookup(s) : 0;
            kit_json_count(&j, "bytes", s->bytes);
            kit_json_real(&j, "bits_per_key", s->bits_per_key);
            kit_json_real(&j, "k", fingerprint_bits(s->kind, s->probes, s->error));
            kit_json_real(&j, "error", s->error);
            kit_json_count(&j, "keys", s->keys);
            if (took > 0)
                kit_json_real(&j, "ns", took);
            can_words(s->kind, can);
            kit_json_text(&j, "can", can);
        }
        kit_json_close(&j, '}');
    }
    kit_json_close(&j, ']');
    minimum m = least(pl);
    kit_json_open(&j, "minimum", '{');
    kit_json_real(&j, "bits_per_key", m.bits);
    kit_json_real(&j, "bytes", m.keys * m.bits / 8);
    kit_json_real(&j, "error", m.error);
    kit_json_real(&j, "keys", m.keys);
    kit_json_close(&j, '}');
    kit_json_close(&j, '}');
}

/* ---- for people ------------------------------------------------------------------ */

static void print_row(const plan *pl, const seen_size *s)
{
    char memory[24], can[64], keys[32], ns[32] = "";
    const char *name = seen_kind_name(s->kind);
    if (!s->bytes) {
        printf("%-9s cannot: %s\n", name, pl->cannot[s->kind]);
        return;
    }
    double took = pl->timed ? timing_lookup(s) : 0;
    if (took > 0)
        snprintf(ns, sizeof ns, "%.1f", took);
    can_words(s->kind, can);
    if (s->keys < 1000000)
        kit_show_count(s->keys, keys);
    else
        snprintf(keys, sizeof keys, "%.4g", (double)s->keys);
    printf("%-9s %10s %10.2f %4.3g %10.3g %9s %5s  %-23s %s%s\n", name,
           kit_show_bytes((double)s->bytes, memory), s->bits_per_key,
           fingerprint_bits(s->kind, s->probes, s->error), s->error, keys, ns, can,
           says(s->kind),
           s->kind == pl->choice ? " <- chosen" : "");
    if (pl->timed) /* the next one takes a moment */
        kit_stdout_flush();
}

/* What a run takes that does not know the number: lib/filter/growth.c. */
static void print_growing(const plan *pl)
{
    const sizing *z = &pl->given;
    if (pl->choice != SEEN_BLOCKED || !z->keys || !(z->error > 0) || pl->want.removes)
        return;
    seen_spec spec = {.keys = z->keys + z->keys / 4, .error = z->error};
    seen_size most;
    char a[24], b[24];
    if (seen_choose(&spec, &most) == 0)
        printf("If the number is not known, uniq and count need no -n: at most %s, "
               "and %s "
               "in TMPDIR.\n",
               kit_show_bytes((double)most.bytes, a),
               kit_show_bytes(8 * (double)z->keys, b));
    const seen_size *grown = pl->row + SEEN_QUOTIENT;
    if (grown->bytes)
        printf("A filter that is kept and grows takes some %s here, in one layer.\n",
               kit_show_bytes((double)grown->bytes, a));
}

/* What a static filter would save, if that is much. */
static void print_static(const plan *pl)
{
    const sizing *z = &pl->given;
    const seen_size *small = pl->row + SEEN_RIBBON, *took = pl->row + pl->choice;
    if (!pl->choice || pl->choice == SEEN_RIBBON || !small->bytes || pl->want.removes ||
        !better(small, took, z))
        return;
    printf("If all keys are known beforehand, ribbon ");
    if (z->keys && z->error > 0)
        printf("saves %.0f%% of it",
               100 - 100 * (double)small->bytes / (double)took->bytes);
    else if (z->keys)
        printf("errs %.2g instead of %.2g", small->error, took->error);
    else
        printf("takes %.0f%% more of them",
               100 * (double)small->keys / (double)took->keys - 100);
    printf(" (--static; seen build).\n");
}

static void print_table(const plan *pl)
{
    char text[24];
    uint64_t keys = pl->given.keys;
    printf("%-9s %10s %10s %4s %10s %9s %5s  %s\n", "kind", "memory", "bits/key", "k",
           "error", "keys", pl->timed ? "ns" : "", "can");
    for (int k = 1; k < KINDS; k++)
        if (listed(k))
            print_row(pl, pl->row + k);
    minimum m = least(pl);
    printf("%-9s %10s %10.2f %4s %10.3g %9.4g %5s  no filter can be smaller\n",
           "minimum", kit_show_bytes(m.keys * m.bits / 8, text), m.bits, "", m.error,
           m.keys, "");
    printf("\n%s%s: %s.\n", pl->choice ? "seen would choose " : "nothing",
           pl->choice ? seen_kind_name(pl->choice) : "", pl->why);
    print_growing(pl);
    print_static(pl);
    if (pl->timed)
        printf("ns: a lookup in batches, measured here with %s keys.\n",
               kit_show_count(keys && keys < TIMING_KEYS ? keys : TIMING_KEYS, text));
}

static int plan_main(const kit_command *self, int argc, char **argv)
{
    plan pl = {.timed = true};
    parse(&pl, self, argc, argv);
    if (pl.corpus) {
        corpus_plan(pl.corpus, pl.given.error, pl.given.memory, pl.json);
        return 0;
    }
    solve(&pl);
    if (pl.json)
        print_json(&pl);
    else
        print_table(&pl);
    if (pl.plot)
        plot_plan(pl.plot, &pl.best);
    return 0;
}

const kit_command cmd_plan = {
    .name = "plan",
    .summary = "compare the kinds for a given size",
    .usage = "-n N [-e P | -m SIZE] [--plot FILE]\n-e P -m SIZE [--plot FILE]\n"
             "--corpus SIZE [-e P | -m SIZE]",
    .about =
        "Takes two of the number of keys, the error and the memory, and computes the "
        "third for every kind of filter. Shows what each kind can do and the least "
        "that any filter needs. Makes no filter.",
    .options = options,
    .examples = "# A hundred million keys, one error in a thousand\n"
                "$ seen plan -n 100M -e 0.001\n"
                "# What fits into 64 MB\n"
                "$ seen plan -e 1% -m 64M\n"
                "# As a picture\n"
                "$ seen plan -n 1M -e 0.001 --plot plan.svg\n"
                "# Memory to deduplicate half a terabyte of text\n"
                "$ seen plan --corpus 500G\n",
    .run = plan_main,
};
