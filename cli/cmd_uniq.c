/* cmd_uniq.c - `seen uniq`: each distinct line once, in order, in little memory.
 *
 * Nothing that was read is lost: a line is recorded in the state only after it was
 * written, files are replaced only when they are whole, and every failure is reported
 * with status 2. */
#include "uniq/against.h"
#include "uniq/checkpoint.h"
#include "uniq/budget.h"
#include "uniq/counting.h"
#include "commands.h"
#include "json.h"
#include "messages.h"
#include "human_numbers.h"
#include "source.h"
#include "filters/remote_filter.h"
#include "uniq/uniq.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_BY_COUNT = 299,
    OPT_AGAINST,
    OPT_STATS,
    OPT_JSON,
    OPT_MAX_LOST,
    OPT_PRINT_FIRST,
    OPT_CHECKPOINT
};

/* A set that begins with this many keys doubles through powers of two, which waste the
 * least of the last huge page. */
enum { FIRST_KEYS = 8191 * 7, LEAST_MEMORY = 4096 };

static const kit_option options[] = {
    KIT_OPTIONS_ABOUT("What counts as the same line"),
    KEY_OPTIONS,
    {'w', "width", "N", "Compare only the first N bytes of the key."},
    KIT_OPTIONS_ABOUT("What is printed"),
    {'d', "repeated", NULL, "Print only lines seen before, each time.",
     .brief = "print only what came before"},
    {'c', "count", NULL,
     "Print each distinct line after the number of times it came, as uniq -c does for "
     "sorted lines; with -d only those that came twice or more. With -m SIZE counts "
     "are exact while they fit, then estimated, with a bound that is printed.",
     .brief = "print how often each line came"},
    {OPT_BY_COUNT, "by-count", NULL, "With --count: the most frequent first."},
    {'D', "repeated-to", "FILE", "Write the lines seen before to FILE as well."},
    {OPT_AGAINST, "against", "FILE",
     "Drop also the lines whose key is in FILE: a filter, or a list of lines, read "
     "like "
     "the input (with -k, their field N counts). FILE stays as it is; - is a list on "
     "standard input. May be repeated.",
     .brief = "drop also what is in this list or filter"},
    {'o', "output", "FILE",
     "Write to FILE, which is replaced at the end; it may be one of the inputs.",
     .brief = "write here; it may be one of the inputs"},
    KIT_OPTIONS_ABOUT("What is remembered, and where"),
    {'s', "state", "FILE",
     "Remember the lines in FILE across runs; FILE is created if it is missing. A "
     "killed run may repeat lines next time but never loses one. Sizes (-n, -e, -m) "
     "apply when FILE is created.",
     .brief = "remember the lines across runs"},
    {OPT_CHECKPOINT, "checkpoint", "N",
     "Save the state whenever N new lines were printed [every 15 seconds, or less "
     "often if it takes long]; 0: only at the end. After a kill the next run goes on "
     "from the last save: it cuts the unfinished output of -o back to it, and on "
     "standard output repeats what came later. While a run lasts, FILE.run says how "
     "far it is. With -d or -D the state is saved only at the end."},
    FILE_OPTIONS,
    OPTION_REDIS("Remember the lines in a filter"),
    OPTION_REDIS_MODULE,
    {OPT_PRINT_FIRST, "print-first", NULL,
     "With --redis: look up, print, and only then record, so that a killed run may "
     "repeat lines next time but never loses one. Other runs that ask meanwhile may "
     "print the same line; without this option exactly one does. -o FILE implies it."},
    KIT_OPTIONS_ABOUT("How sure, and in how much memory"),
    {'x', "exact", NULL,
     "Compare bytes wherever a hash says 'seen', so that no distinct line is ever "
     "dropped. Reads files twice, or three times if they are larger than half of the "
     "machine's memory, and copies pipes and compressed files to TMPDIR.",
     .brief = "lose no line, whatever the hash does"},
    {'e', "error", "P",
     "Use a filter that drops a new line with probability at most P (0.001, 0.1%), in "
     "a few bits a line, instead of 64-bit fingerprints.",
     .brief = "a few bits a line: lose this share (0.001)"},
    OPTION_EXPECT,
    OPTION_NO_SCRATCH,
    {'m', "memory", "SIZE",
     "Stay within SIZE (64M, 1G). With -n, the best filter for N lines; without, "
     "fingerprints until they reach SIZE, then, with a warning, the best filter that "
     "fits."},
    {OPT_MAX_LOST, "max-lost", "N",
     "Stop with an error before more than N distinct lines may be lost: the upper end "
     "of "
     "the interval that --stats shows."},
    KIT_OPTIONS_ABOUT("The run"),
    THREAD_OPTION,
    {OPT_STATS, "stats", NULL,
     "At the end print on standard error: lines in and out, expected losses, memory.",
     .brief = "say how many lines went, and the losses"},
    {OPT_JSON, "json", NULL, "The same as JSON, with kind and error."},
    {'q', "quiet", NULL, "Show no progress on a terminal and no warnings."},
    {0},
};

/* ---- setting up ------------------------------------------------------------------ */

static void set_option(uniq *u, const kit_parse *p, int key)
{
    uint64_t n;
    switch (key) {
    case 's':
        u->state_name = p->arg;
        break;
    case 'x':
        u->exact = true;
        break;
    case 'd':
        u->repeated = true;
        break;
    case OPT_BY_COUNT:
        u->by_count = true;
        /* fall through */
    case 'c':
        u->count = true;
        break;
    case 'D':
        u->dup_name = p->arg;
        break;
    case 'o':
        u->out_name = p->arg;
        break;
    case 'q':
        u->quiet = true;
        kit_hush();
        break;
    case 'w':
        if (!kit_parse_count(p->arg, &u->keys.width))
            kit_bad_value(p, key, "a number of bytes from 1 on");
        break;
    case OPT_STATS:
        u->stats = true;
        break;
    case OPT_JSON:
        u->json = true;
        break;
    case OPT_PRINT_FIRST:
        u->print_first = true;
        break;
    case OPT_CHECKPOINT:
        if (strcmp(p->arg, "0") == 0)
            u->checkpoint = 0;
        else if (!kit_parse_count(p->arg, &u->checkpoint))
            kit_bad_value(p, key, "a number of lines");
        break;
    case OPT_AGAINST:
        u->against_name = kit_grow(u->against_name, u->nagainst + 1, sizeof(char *));
        u->against_name[u->nagainst++] = (char *)p->arg;
        break;
    case OPT_MAX_LOST:
        if (strcmp(p->arg, "0") == 0)
            u->max_lost = 0;
        else if (kit_parse_count(p->arg, &n))
            u->max_lost = (double)n;
        else
            kit_bad_value(p, key, "a number of lines");
        break;
    }
}

/* Standard input can be read only once. */
static void check_standard_input(const uniq *u, const kit_parse *p)
{
    bool taken = !u->nfiles;
    for (size_t i = 0; i < u->nfiles; i++)
        taken |= !strcmp(u->files[i], "-");
    for (size_t i = 0; i < u->nagainst; i++)
        if (!strcmp(u->against_name[i], "-")) {
            if (taken)
                kit_usage(p, "standard input is the list of --against - or the lines, "
                             "not both: name a file");
            taken = true;
        }
}

/* Each output replaces its file whole, so of two in one file only the last would
 * remain. */
static void check_outputs_differ(const uniq *u)
{
    const struct {
        const char *option, *name;
    } made[] = {{"-o", u->out_name}, {"-D", u->dup_name}, {"--state", u->state_name}};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < i; j++)
            if (made[i].name && made[j].name &&
                kit_output_same(made[i].name, made[j].name))
                kit_die("%s and %s are one file, %s: give them different ones",
                        made[j].option, made[i].option, made[i].name);
}

static void parse(uniq *u, const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen uniq", self, argc, argv);
    for (int o; (o = kit_next(&p));)
        if (!remote_option(&p, o, &u->state_name) && !file_option(&p, o) &&
            !keyspec_option(&u->keys, &p, o) && !sizing_option(&u->size, &p, o) &&
            !thread_option(&u->threads, &p, o))
            set_option(u, &p, o);
    u->files = argv + p.at;
    u->nfiles = (size_t)(argc - p.at);
    if (u->count && (u->exact || u->state_name || u->dup_name || u->nagainst ||
                     u->size.error > 0 || u->max_lost >= 0))
        kit_usage(&p, "--count goes with -k, -d, -m and -o, not with -x, -s, -D, -e, "
                      "--against or --max-lost");
    if (u->exact && u->state_name)
        kit_usage(&p, "-x needs the lines themselves, which a state does not keep: "
                      "leave out -x or --state");
    if (u->exact && (u->size.error > 0 || u->max_lost >= 0))
        kit_usage(&p, "-x loses nothing: leave out -e and --max-lost");
    if (u->print_first && !(u->state_name && remote_is_url(u->state_name)))
        kit_usage(&p, "--print-first is for --redis: everything else prints first");
    if (u->checkpoint != CHECKPOINT_BY_TIME &&
        (!u->state_name || remote_is_url(u->state_name)))
        kit_usage(&p, "--checkpoint is for a state in a file: give --state FILE");
    if (u->print_first && u->repeated)
        kit_usage(&p, "--print-first is about new lines, which -d does not print");
    if (u->size.error > 0 && u->size.memory)
        kit_usage(&p, "-e and -m both decide the size: give one of them");
    if (u->size.memory && u->size.memory < LEAST_MEMORY)
        kit_die("--memory: %s bytes are too few, %s is the least",
                kit_counted(u->size.memory), kit_counted(LEAST_MEMORY));
    check_standard_input(u, &p);
    check_outputs_differ(u);
}

static void on_signal(int sig)
{
    kit_stop(sig);
}

/* A run that leaves a state or a file behind stops between two lines. */
static void catch_signals(void)
{
    static const int which[] = {SIGINT, SIGTERM, SIGHUP};
    kit_stop_ready();
    for (size_t i = 0; i < 3; i++) {
        struct sigaction a = {.sa_handler = on_signal}, before;
        sigaction(which[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            sigaction(which[i], &a, NULL);
    }
}

/* Makes the filter of a run that has no state yet. */
static void make_filter(uniq *u)
{
    const sizing *z = &u->size;
    seen_spec spec = {.kind = SEEN_SET, .keys = z->keys};
    if (!spec.keys)
        spec.keys = FIRST_KEYS;
    if (z->error > 0) {
        spec.keys = z->keys;
        spec.kind = z->kind;
        spec.error = z->error;
    } else if (z->memory) {
        spec = budget_spec(z->memory, z->keys);
    }
    named_make(u->seen, z, &spec, u->state_name != NULL);
}

/* Whether the run needs only fingerprints in memory, and nothing to ask in order. */
static bool may_shard(const uniq *u)
{
    return u->threads > 1 && !u->state_name && !u->nagainst && !(u->size.error > 0) &&
           !u->size.memory && u->max_lost < 0;
}

/* Opens the state, or makes it; returns whether it is new. */
static bool open_state(uniq *u)
{
    for (;;) {
        u->seen = named_open(u->state_name, NAMED_CHANGE | NAMED_MAY_MAKE);
        if (u->seen->filter || u->seen->ops)
            return false;
        make_filter(u);
        if (named_create(u->seen))
            return true;
        named_close(u->seen); /* another run was faster */
    }
}

static void open_filters(uniq *u)
{
    if (may_shard(u)) {
        u->shards = shards_new(u->size.keys);
        return;
    }
    bool new = !u->state_name || open_state(u);
    if (!u->state_name) {
        u->seen = kit_alloc(sizeof *u->seen);
        *u->seen = (named_filter){.lock = -1};
        make_filter(u);
    }
    if (!new && u->seen->filter) {
        typed_expect_text(u->state_name, u->seen->filter);
        seen_kind kind = seen_kind_of(u->seen->filter);
        if (!(seen_kind_can(kind) & SEEN_CAN_ADD) && kind != SEEN_FOREIGN)
            kit_die("%s: a %s filter cannot take new lines", u->state_name,
                    seen_kind_name(kind));
    }
    u->lost_base = named_lost(u->seen);
    against_open(u);
}

/* ---- endings ----------------------------------------------------------------------
 */

/* A server's filter records lines at once, unless they are to be printed first. An
 * output that replaces a file appears at the end, so lines are then recorded after it.
 */
static void record_after_print(uniq *u)
{
    bool file = kit_output_replaces(u->out.out);
    if (!u->seen || !u->seen->ops || u->repeated || !(u->print_first || file))
        return;
    u->after_print = after_print_new(!file);
    u->threads = 1; /* a batch is recorded before the next is asked for */
}

/* Records the lines of the file that is now in its place. */
static void record_file(uniq *u)
{
    char *const files[] = {(char *)u->out_name};
    feed_spec spec = {.files = files, .nfiles = 1, .keys = u->keys, .raw = true};
    feed *f = feed_open(&spec);
    for (batch *b; (b = feed_next(f)); feed_done(f, b))
        named_add(u->seen, b->key, NULL, b->n, b->dup);
    feed_close(f);
}

static void report(const uniq *u)
{
    char size[24];
    uint64_t distinct = u->count      ? u->distinct
                        : u->repeated ? u->lines - u->out.lines
                                      : u->out.lines;
    if (u->json) {
        kit_json j = {.to = stderr};
        kit_json_open(&j, NULL, '{');
        kit_json_count(&j, "lines", u->lines);
        kit_json_count(&j, "distinct", distinct);
        kit_json_count(&j, "duplicates", u->lines - distinct);
        kit_json_count(&j, "printed", u->out.lines);
        if (keyspec_has_field(&u->keys))
            kit_json_count(&j, "without_key", u->missing);
        kit_json_text(&j, "kind", u->kind);
        kit_json_count(&j, "memory", u->memory);
        kit_json_real(&j, "error", u->error);
        kit_json_real(&j, "expected_lost", u->lost);
        kit_json_count(&j, "lost_at_least", (uint64_t)u->lost_low);
        kit_json_count(&j, "lost_at_most", (uint64_t)u->lost_high);
        kit_json_close(&j, '}');
    } else if (u->stats) {
        fprintf(stderr, "%s in, %s out, expected lost %s", kit_counted(u->lines),
                kit_counted(u->out.lines), kit_expected(u->lost));
        if (u->lost_high > 0)
            fprintf(stderr, " (%s to %s)", kit_counted((uint64_t)u->lost_low),
                    kit_counted((uint64_t)u->lost_high));
        fprintf(stderr, ", %s\n", kit_show_bytes((double)u->memory, size));
        if (u->missing)
            fprintf(stderr, "%s lines had no field %s: %s is empty\n",
                    kit_counted(u->missing), u->keys.asked,
                    u->keys.fields ? "it" : "their key");
    }
}

static int uniq_main(const kit_command *self, int argc, char **argv)
{
    uniq u = {
        .keys = KEYSPEC_INIT, .max_lost = -1, .checkpoint = CHECKPOINT_BY_TIME};
    parse(&u, self, argc, argv);
    const char *bad = kit_lines_check(u.files, u.nfiles);
    if (bad)
        kit_die("%s", bad);
    if (u.state_name || u.out_name || u.dup_name)
        catch_signals();
    if (!u.exact && !u.count)
        open_filters(&u);
    if (u.state_name && u.seen->filter)
        u.saves = checkpoint_open(&u);
    else
        u.out = emit_open(u.out_name, u.keys.term);
    if (u.dup_name)
        u.dup = emit_open(u.dup_name, u.keys.term);
    if (u.count) {
        uniq_count(&u);
    } else if (u.exact) {
        uniq_exact(&u);
    } else {
        record_after_print(&u);
        uniq_one_pass(&u);
    }

    /* The order that loses nothing: everything written and safe on disk, files in
     * place, then the state. A run that was stopped keeps what it has printed, but
     * replaces no file by a part. */
    bool files = u.out_name || u.dup_name;
    if (u.saves && kit_stopped && files) {
        checkpoint_stop(u.saves);
    } else if (u.saves) {
        checkpoint_finish(u.saves);
    } else if (!kit_stopped || !files) {
        emit_finish(&u.dup, u.state_name != NULL);
        emit_finish(&u.out, u.state_name != NULL);
        if (u.state_name)
            named_write(u.seen);
        emit_commit(&u.dup);
        emit_commit(&u.out);
        if (u.after_print && kit_output_replaces(u.out.out))
            record_file(&u);
        if (u.state_name)
            named_replace(u.seen);
    }
    report(&u);
    emit_close(&u.out);
    emit_close(&u.dup);
    after_print_free(u.after_print);
    checkpoint_free(u.saves);
    named_close(u.seen);
    shards_free(u.shards);
    for (size_t i = 0; i < u.nagainst && u.against; i++)
        named_close(u.against[i]);
    free(u.against);
    free(u.against_name);
    if (kit_stopped) {
        kit_temp_remove();
        signal(kit_stopped, SIG_DFL);
        raise(kit_stopped);
    }
    return 0;
}

const kit_command cmd_uniq = {
    .name = "uniq",
    .summary = "drop the lines already seen, keep the order",
    .usage = "[OPTION]... [FILE]...",
    .about =
        "Prints each distinct line of the FILEs, or of standard input, once: its first "
        "occurrence, in order. Files compressed with gzip, zstd, bzip2, xz or lz4 are "
        "unpacked. Lines may have any length and hold any bytes.\n\n"
        "By default a 64-bit fingerprint of each line is kept, in 9 to 18 bytes: the "
        "chance that even one line of a billion is dropped wrongly is 3 in 100. With "
        "-e a filter takes a few bits a line instead, and --stats says how many lines "
        "it is expected to have lost. With -x nothing is ever lost.",
    .options = options,
    .examples = "# Visited pages once each, in order of the first visit\n"
                "$ seen uniq urls.txt\n"
                "# Only what is new since the last run\n"
                "$ seen uniq --state visited.seen urls.txt\n"
                "# Twenty million lines in some 40 MB, with the expected losses\n"
                "$ seen uniq -e 0.001 -n 20M --stats urls.txt\n"
                "# The first request of each client in a compressed log\n"
                "$ seen uniq -k 1 access.log.gz\n"
                "# How often each came, the most frequent first\n"
                "$ seen uniq --by-count urls.txt\n"
                "# In place\n"
                "$ seen uniq -x -o urls.txt urls.txt\n",
    .run = uniq_main,
};
