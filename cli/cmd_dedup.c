/* cmd_dedup.c - `seen dedup`: repeated paragraphs and documents out of text corpora.
 *
 * Nothing is guessed and nothing is lost silently: filters grow, the cost of false
 * positives is counted, and results replace files whole. */
#include "commands.h"
#include "corpus/corpus_size.h"
#include "corpus/dedup_report.h"
#include "corpus/origins.h"
#include "corpus/pipeline.h"
#include "corpus/spelling.h"
#include "human_numbers.h"
#include "progress.h"
#include "messages.h"
#include "seed.h"
#include "filters/named_filter.h"
#include "filters/sizing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPT_BY = 300,
    OPT_MIN,
    OPT_DOCUMENT_TOO,
    OPT_LIKE,
    OPT_NORMALIZE,
    OPT_WORDS,
    OPT_SPLIT,
    OPT_SAMPLE,
    OPT_FIELD,
    OPT_ID,
    OPT_MAX_LOST,
    OPT_SEED,
    OPT_MARK,
    OPT_ATTRIBUTE,
    OPT_PACK,
    OPT_LEVEL,
    OPT_REMOVED,
    OPT_ORIGINS,
    OPT_KEEP_EMPTY,
    OPT_SKIP_BAD,
    OPT_AGAINST,
    OPT_NO_UPDATE,
    OPT_SAVE_EVERY,
    OPT_SHARD,
    OPT_COMBINE,
    OPT_JSON,
};

static const kit_option options[] = {
    KIT_OPTIONS_ABOUT("What is a duplicate"),
    {OPT_BY, "by", "WHAT",
     "ngram: a paragraph whose n-grams were mostly seen before (the default). "
     "paragraph: "
     "a paragraph whose words were seen before as a whole. document: a document whose "
     "n-grams, across paragraphs, were mostly seen before.",
     .words = "ngram paragraph document",
     .brief = "ngram, paragraph or document"},
    {'x', "exact", NULL,
     "Compare whole paragraphs or documents byte for byte instead of by words."},
    {'N', "ngram", "N", "Words in an n-gram [13]."},
    {OPT_MIN, "min", "N",
     "Paragraphs with fewer words than N stay [5]; a longer one that is too short for "
     "an n-gram counts as one n-gram."},
    {'t', "threshold", "SHARE",
     "Remove what has more than SHARE of its n-grams seen before [0.8].",
     .brief = "remove what has more than this seen before [0.8]"},
    {OPT_DOCUMENT_TOO, "document-too", NULL,
     "Remove a whole document if that holds for all its paragraphs together."},
    {OPT_LIKE, "like", "TOOL",
     "Rules and marks of bff, dclm (from 13 words on, whole documents too) or dolma "
     "(equal "
     "paragraphs). Other options change them.",
     .words = "bff dclm dolma",
     .brief = "the rules of bff, dclm or dolma"},
    {OPT_NORMALIZE, "normalize", "LIST",
     "Compare texts in another spelling; the output keeps its own. Any of lower, "
     "digits (each is 0), punctuation (left out), space (one blank), nfkc, separated "
     "by commas."},
    {OPT_WORDS, "words", "RULE",
     "uax29: Unicode's word boundaries (the default). simple: runs of ASCII letters "
     "and digits, and runs of everything else; faster.",
     .words = "uax29 simple"},
    {OPT_SPLIT, "split", "WHERE",
     "Paragraphs end at each newline (the default), or at each blank-line.",
     .words = "newline blank-line"},
    {OPT_SAMPLE, "sample", "S",
     "Look at one n-gram in S, chosen by its hash: 1/S of the memory."},
    {OPT_FIELD, "field", "NAME", "The field with the text [text]; a.b is b inside a.",
     .brief = "the field with the text [text]"},
    {OPT_ID, "id", "NAME", "The field that marks repeat [id]."},
    KIT_OPTIONS_ABOUT("Memory and error"),
    {'n', "expect", "N",
     "Expect N distinct n-grams, or whole paragraphs or documents. More may come: the "
     "filter grows. Without it, the size of the files says how many to begin with.",
     .brief = "expect N n-grams in all"},
    {'e', "error", "P",
     "Take an absent key for a present one with probability P [0.01 for n-grams]. "
     "Whole paragraphs and documents have 64-bit fingerprints unless P is given."},
    {'m', "memory", "SIZE",
     "Stay within SIZE (64M, 1G), with a warning when the error rises.",
     .brief = "stay within SIZE"},
    {OPT_MAX_LOST, "max-lost", "N",
     "Stop before more than N, or a share such as 0.1%, of the paragraphs judged are "
     "expected to be removed wrongly [0.1%]."},
    {OPT_SEED, "seed", "N", "Seed of the hashes: a number, or random [1]."},
    KIT_OPTIONS_ABOUT("Input and output"),
    {'o', "output", "DIR",
     "Write a file of the same name for each input to DIR. Without it the result of "
     "one "
     "input goes to standard output.",
     .brief = "one result for each input, in DIR"},
    {OPT_MARK, "mark", NULL,
     "Remove nothing: write for each document a line with its id and the spans that "
     "would go, as byte offsets in the UTF-8 of the text.",
     .brief = "remove nothing, print what would go"},
    {OPT_ATTRIBUTE, "attribute", "NAME",
     "The attribute's name in marks like Dolma's [seen_dedup]."},
    {OPT_PACK, "pack", "HOW",
     "Pack the results: plain, gzip, zstd, bzip2, xz or lz4. Files in DIR are packed "
     "as the "
     "inputs are, standard output is not.",
     .words = "plain gzip zstd bzip2 xz lz4"},
    {OPT_LEVEL, "level", "N", "How hard to compress, from 1 on [gzip 5, zstd 3]."},
    {OPT_REMOVED, "removed", "FILE",
     "Write what was removed to FILE: file, line, id, span and text. If FILE is a "
     "folder, "
     "or ends in a slash, each input has a file of its own there, packed as its "
     "result.",
     .brief = "write what was removed here"},
    {OPT_ORIGINS, "origins", NULL,
     "Also say there where it was first seen. Takes 16 to 64 bytes for each n-gram."},
    {OPT_KEEP_EMPTY, "keep-empty", NULL,
     "Keep documents that have no text left, with an empty text."},
    {OPT_SKIP_BAD, "skip-bad", NULL,
     "Copy lines that are not JSON objects with such a field, and count them. Without "
     "it they are an error."},
    {OPT_AGAINST, "against", "FILE",
     "Treat everything in FILE, JSON lines or the state of another run, as seen "
     "before. May "
     "be given several times."},
    {OPT_NO_UPDATE, "no-update", NULL,
     "Only --against and --state count as seen before, not what comes in this run."},
    {'s', "state", "FILE",
     "Remember in FILE what was seen, and in FILE.files which inputs were finished. "
     "The "
     "next run goes on from there; after a kill, run the same command again.",
     .brief = "go on later, or after a kill"},
    PRIVATE_OPTION,
    {OPT_SAVE_EVERY, "save-every", "SIZE",
     "Save the state between files after SIZE of text [8 times its own size, at least "
     "64M]."},
    {OPT_SHARD, "shard", "I/N",
     "Decide only about whole paragraphs or documents whose hash is in part I of N, "
     "and "
     "write marks: N runs, each with 1/N of the memory."},
    {OPT_COMBINE, "combine", "DIR",
     "Remove what the marks in DIR list, of any --shard, instead of deciding. May be "
     "given "
     "several times; --by and --split are those of the marks."},
    {'j', "threads", "N",
     "Use N threads [one for each processor]; the result is the same."},
    {OPT_JSON, "json", NULL, "Print the summary as JSON, on standard error."},
    {'q', "quiet", NULL, "No progress, summary or warnings."},
    {0},
};

typedef struct settings {
    dedup_run run;
    sizing size;
    const char *out, *removed, *state, **against, **marks;
    size_t nagainst, nmarks;
    enum packing pack;
    bool mark, origins, json, by_given, private;
} settings;

/* ---- options --------------------------------------------------------------------- */

static void set_like(settings *s, const kit_parse *p)
{
    dedup_rules *r = &s->run.rules;
    if (strcmp(p->arg, "bff") == 0) {
        r->marks = MARK_BFF;
        r->keep_empty = true;
    } else if (strcmp(p->arg, "dclm") == 0) {
        r->marks = MARK_BFF;
        r->min = r->ngram = 13;
        r->document_too = true;
    } else if (strcmp(p->arg, "dolma") == 0) {
        r->marks = MARK_DOLMA;
        r->by = BY_PARAGRAPH;
        r->exact = true;
    } else {
        kit_bad_value(p, OPT_LIKE, "bff, dclm or dolma");
    }
}

static unsigned small_number(const kit_parse *p, int key, unsigned most)
{
    uint64_t n;
    char range[48];
    snprintf(range, sizeof range, "a number from 1 to %u", most);
    if (!kit_parse_count(p->arg, &n) || n > most)
        kit_bad_value(p, key, range);
    return (unsigned)n;
}

static bool one_of(const kit_parse *p, int key, const char *first, const char *second)
{
    if (strcmp(p->arg, first) && strcmp(p->arg, second)) {
        char what[64];
        snprintf(what, sizeof what, "%s or %s", first, second);
        kit_bad_value(p, key, what);
    }
    return strcmp(p->arg, second) == 0;
}

static void set_max_lost(judge *j, const kit_parse *p)
{
    uint64_t n;
    double share;
    j->max_lost = j->max_lost_share = -1;
    if (strchr(p->arg, '%') && kit_parse_error(p->arg, &share))
        j->max_lost_share = share;
    else if (strcmp(p->arg, "0") == 0)
        j->max_lost = 0;
    else if (kit_parse_count(p->arg, &n))
        j->max_lost = (double)n;
    else
        kit_bad_value(p, OPT_MAX_LOST, "a number or a share such as 0.1%");
}

static void set_shard(dedup_rules *r, const kit_parse *p)
{
    unsigned i, n;
    char rest;
    if (sscanf(p->arg, "%u/%u%c", &i, &n, &rest) != 2 || i < 1 || i > n || n > 100000)
        kit_bad_value(p, OPT_SHARD, "a part such as 1/4, 2/4, ... 4/4");
    r->shard = i - 1;
    r->shards = n;
}

static void set_rule(settings *s, const kit_parse *p, int key)
{
    dedup_rules *r = &s->run.rules;
    const char *bad;
    uint64_t n;
    switch (key) {
    case OPT_BY:
        if (strcmp(p->arg, "ngram") == 0)
            r->by = BY_NGRAM, r->exact = false;
        else if (strcmp(p->arg, "paragraph") == 0)
            r->by = BY_PARAGRAPH;
        else if (strcmp(p->arg, "document") == 0)
            r->by = BY_DOCUMENT;
        else
            kit_bad_value(p, key, "ngram, paragraph or document");
        break;
    case 'x':
        r->exact = true;
        break;
    case 'N':
        r->ngram = small_number(p, key, 255);
        break;
    case OPT_MIN:
        r->min = small_number(p, key, 1000000);
        break;
    case 't':
        if (strcmp(p->arg, "0") == 0)
            r->threshold = 0;
        else if (!kit_parse_error(p->arg, &r->threshold))
            kit_bad_value(p, key, "a share from 0 to below 1");
        break;
    case OPT_DOCUMENT_TOO:
        r->document_too = true;
        break;
    case OPT_NORMALIZE:
        if (!(r->spelling = spelling_named(p->arg)))
            kit_bad_value(p, key, "a list of lower, digits, punctuation, space, nfkc");
        break;
    case OPT_WORDS:
        r->simple_words = one_of(p, key, "uax29", "simple");
        break;
    case OPT_SPLIT:
        r->blank_lines = one_of(p, key, "newline", "blank-line");
        break;
    case OPT_SAMPLE:
        if (!kit_parse_count(p->arg, &n) || n > 1000000)
            kit_bad_value(p, key, "a number from 1 to 1000000");
        r->sample = n;
        break;
    case OPT_FIELD:
        json_path_free(&r->field);
        if ((bad = json_path_set(&r->field, p->arg)))
            kit_bad_value(p, key, bad);
        break;
    case OPT_ID:
        r->id = p->arg;
        break;
    case OPT_SEED:
        if (strcmp(p->arg, "random") == 0) {
            if (seen_random_bytes(&r->seed, sizeof r->seed) < 0)
                kit_die("%s", seen_reason());
        } else if (!kit_parse_seed(p->arg, &r->seed)) {
            kit_bad_value(p, key, "a number from 1 to 2^64-1, or random");
        }
        break;
    case OPT_KEEP_EMPTY:
        r->keep_empty = true;
        break;
    case OPT_SKIP_BAD:
        r->skip_bad = true;
        break;
    case OPT_NO_UPDATE:
        r->no_update = true;
        break;
    case OPT_ATTRIBUTE:
        r->attribute = p->arg;
        break;
    }
}

static void set_option(settings *s, const kit_parse *p, int key)
{
    switch (key) {
    case OPT_MAX_LOST:
        set_max_lost(&s->run.judge, p);
        break;
    case 'o':
        s->out = p->arg;
        break;
    case OPT_MARK:
        s->mark = true;
        break;
    case OPT_PRIVATE:
        s->private = true;
        break;
    case OPT_PACK:
        if (!packing_named(p->arg, &s->pack))
            kit_bad_value(p, key, "plain, gzip, zstd, bzip2, xz or lz4");
        break;
    case OPT_LEVEL:
        s->run.level = (int)small_number(p, key, 22);
        break;
    case OPT_REMOVED:
        s->removed = p->arg;
        break;
    case OPT_ORIGINS:
        s->origins = true;
        break;
    case OPT_AGAINST:
        s->against = kit_grow(s->against, s->nagainst + 1, sizeof *s->against);
        s->against[s->nagainst++] = p->arg;
        break;
    case OPT_SHARD:
        set_shard(&s->run.rules, p);
        s->mark = true;
        break;
    case OPT_COMBINE:
        s->marks = kit_grow(s->marks, s->nmarks + 1, sizeof *s->marks);
        s->marks[s->nmarks++] = p->arg;
        break;
    case 's':
        s->state = p->arg;
        break;
    case OPT_SAVE_EVERY:
        if (!kit_parse_bytes(p->arg, &s->run.save_every))
            kit_bad_value(p, key, "a size, such as 10G");
        break;
    case 'j':
        s->run.threads = small_number(p, key, 256);
        break;
    case OPT_JSON:
        s->json = true;
        break;
    case 'q':
        s->run.quiet = true;
        break;
    default:
        set_rule(s, p, key);
    }
}

static bool is_folder(const char *path)
{
    struct stat st;
    size_t n = strlen(path);
    return (n && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* The file of --removed must not be an input or a result. */
static void check_removed(const settings *s)
{
    for (size_t i = 0; i < s->run.in.n; i++) {
        const input *f = s->run.in.of + i;
        if (kit_output_same(s->removed, f->path))
            kit_die("--removed %s: is an input: give another file", s->removed);
        if (f->target && (strcmp(s->removed, f->target) == 0 ||
                          kit_output_same(s->removed, f->target)))
            kit_die("--removed %s: is the result of %s: give another file", s->removed,
                    f->path);
    }
}

static void parse(settings *s, const kit_command *self, int argc, char **argv)
{
    dedup_rules *r = &s->run.rules;
    kit_parse p = kit_parse_start("seen dedup", self, argc, argv);
    for (int o; (o = kit_next(&p));) /* what --like sets, others change */
        if (o == OPT_LIKE)
            set_like(s, &p);
    p = kit_parse_start("seen dedup", self, argc, argv);
    for (int o; (o = kit_next(&p));)
        if (o != OPT_LIKE && !sizing_option(&s->size, &p, o))
            set_option(s, &p, o);
    if (!s->mark)
        r->marks = MARK_NONE;
    else if (!r->marks)
        r->marks = MARK_SPANS;
    if (r->exact && r->by == BY_NGRAM)
        kit_usage(&p, "-x compares whole paragraphs or documents: give --by one of "
                      "them");
    if (r->document_too && (r->by != BY_NGRAM))
        kit_usage(&p, "--document-too goes with --by ngram");
    if (s->size.error > 0 && s->size.memory)
        kit_usage(&p, "-e and -m both decide the size: give one of them");
    if (s->origins && !s->removed)
        kit_usage(&p, "--origins goes with --removed FILE");
    if (s->removed && s->state && !is_folder(s->removed))
        kit_usage(&p, "with --state, --removed takes a folder (such as gone/), where "
                      "each "
                      "input has a file of its own: one for all could lose what a "
                      "killed run "
                      "removed");
    if (s->removed && !s->out && strcmp(s->removed, "-") == 0)
        kit_usage(&p, "--removed - and the result cannot both go to standard output: "
                      "give -o");
    if (s->origins && s->state)
        kit_usage(&p, "--origins are not kept in a state: leave out one of them");
    if (r->no_update && !s->nagainst && !s->state)
        kit_usage(&p, "--no-update needs --against or --state");
    if (s->run.save_every && !s->state)
        kit_usage(&p, "--save-every goes with --state");
    if (r->shards > 1 && !r->exact && r->by != BY_PARAGRAPH)
        kit_usage(&p, "--shard decides about whole paragraphs or documents: n-grams "
                      "of one "
                      "would be in all parts (see docs/dedup.md)");
    if (s->nmarks && (s->state || s->nagainst || r->shards || r->no_update))
        kit_usage(&p, "--combine decides nothing: leave out --state, --against, "
                      "--shard and "
                      "--no-update");
    bool dolma = r->marks == MARK_DOLMA;
    if (dolma && (s->nmarks || r->shards > 1))
        kit_usage(&p, "marks like Dolma's count characters and cannot be combined");
    s->run.in = inputs_find(argv + p.at, (size_t)(argc - p.at), s->out, s->pack,
                            dolma ? r->attribute : NULL);
    for (size_t i = 0; i < s->run.in.n; i++)
        packing_check(s->run.in.of[i].packed, s->run.level);
    if (s->removed && is_folder(s->removed))
        inputs_keep_removed(&s->run.in, s->removed);
    else if (s->removed)
        check_removed(s);
    if (!s->out && s->run.in.n > 1)
        kit_usage(&p, "several files: give a folder with -o");
    if (!s->out && dolma)
        kit_usage(&p, "marks like Dolma's are files: give a folder with -o");
}

/* ---- setting up ------------------------------------------------------------------ */

/* The options that must be the same in every run with one state. */
static void describe_rules(const dedup_rules *r, char *out, size_t size)
{
    static const char *const by[] = {"ngram", "paragraph", "document"};
    int n = snprintf(
        out, size,
        "by %s%s ngram %u min %u threshold %.17g%s%s%s normalize %u sample "
        "%llu seed %llu shard %u/%u field",
        by[r->by], r->exact ? " exact" : "", r->ngram, r->min, r->threshold,
        r->document_too ? " document-too" : "", r->blank_lines ? " blank-lines" : "",
        r->simple_words ? " simple-words" : "", r->spelling,
        (unsigned long long)r->sample, (unsigned long long)r->seed, r->shard,
        r->shards);
    for (size_t i = 0; i < r->field.levels && n < (int)size; i++)
        n += snprintf(out + n, size - (size_t)n, "%c%s", i ? '.' : ' ',
                      r->field.name[i]);
}

static seen_filter *new_filter(settings *s, uint64_t guess)
{
    const dedup_rules *r = &s->run.rules;
    bool whole = r->exact || r->by == BY_PARAGRAPH;
    seen_spec spec = {.hash = SEEN_HASH_XXH3,
                      .seed = r->seed,
                      .keys = s->size.keys ? s->size.keys : guess};
    if (s->size.memory) {
        seen_size best = {.keys = spec.keys ? spec.keys : s->size.memory,
                          .bytes = s->size.memory};
        if (seen_solve(&best) < 0)
            kit_die("%s", seen_reason());
        spec = (seen_spec){.kind = best.kind == SEEN_SET ? SEEN_BLOCKED : best.kind,
                           .bits = s->size.memory / 64 * 512,
                           .probes = best.kind == SEEN_SET ? 8 : best.probes,
                           .hash = SEEN_HASH_XXH3,
                           .seed = r->seed};
        s->run.judge.expected = s->run.quiet ? 0 : best.keys;
    } else if (s->size.error > 0 || !whole) {
        spec.error = s->size.error > 0 ? s->size.error : 0.01;
    } else {
        spec.kind = SEEN_SET;
    }
    seen_filter *f;
    if (seen_new(&spec, &f) < 0)
        kit_die("%s", seen_reason());
    seen_set_keys(f, SEEN_KEYS_OWN);
    return f;
}

/* The keys of the files of --against, exactly; or one filter that is one. */
static seen_filter *read_against(settings *s)
{
    seen_filter *f = NULL;
    for (size_t i = 0; i < s->nagainst; i++) {
        char *const one[] = {(char *)s->against[i]};
        if (seen_open(one[0], SEEN_READ, &f) == 0) {
            if (s->nagainst > 1)
                kit_die("--against: a state must be the only one");
            if (seen_check_keys(f, SEEN_KEYS_OWN) < 0)
                kit_die("--against: %s: %s", one[0], seen_reason());
            if (seen_seed(f) != s->run.rules.seed)
                kit_die("%s: has another seed: give --seed %llu", one[0],
                        (unsigned long long)seen_seed(f));
            return f;
        }
        if (!f) {
            seen_spec spec = {
                .kind = SEEN_SET, .hash = SEEN_HASH_XXH3, .seed = s->run.rules.seed};
            if (seen_new(&spec, &f) < 0)
                kit_die("%s", seen_reason());
        }
        dedup_run take = {.rules = s->run.rules, .threads = 1, .take = true};
        take.rules.shards = 0;
        take.in = inputs_find(one, 1, NULL, PACK_PLAIN, NULL);
        take.judge.filter = f;
        pipeline_run(&take);
        inputs_free(&take.in);
    }
    return f;
}

static void open_state(settings *s)
{
    char rules[1024];
    describe_rules(&s->run.rules, rules, sizeof rules);
    s->run.state = progress_open(s->state, rules, s->private, &s->run.judge.filter);
    for (size_t i = 0; i < s->run.in.n; i++)
        s->run.in.of[i].done = progress_has(s->run.state, s->run.in.of + i);
}

static int dedup_main(const kit_command *self, int argc, char **argv)
{
    settings s = {.pack = PACK_AS_INPUT};
    dedup_run *r = &s.run;
    r->rules = (dedup_rules){.ngram = 13,
                             .min = 5,
                             .threshold = 0.8,
                             .sample = 1,
                             .seed = 1,
                             .id = "id",
                             .attribute = "seen_dedup"};
    json_path_set(&r->rules.field, "text");
    r->judge = (judge){.max_lost = -1, .max_lost_share = 0.001};
    parse(&s, self, argc, argv);
    if (!r->threads) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        r->threads = cores > 0 && cores < 256 ? (unsigned)cores : 1;
    }
    r->rules.no_keys = s.nmarks > 0;
    words_ready();
    if (r->rules.spelling)
        spelling_ready();
    r->names = kit_alloc(r->in.n * sizeof *r->names);
    for (size_t i = 0; i < r->in.n; i++)
        r->names[i] = r->in.of[i].path;
    r->judge.rules = &r->rules;
    if (s.state)
        open_state(&s);
    if (s.nagainst)
        r->judge.against = read_against(&s);
    if (s.nmarks)
        r->combine = combine_new(s.marks, s.nmarks);
    if (!r->judge.filter && !r->combine)
        r->judge.filter = new_filter(&s, corpus_keys(&r->rules, r->in.bytes));
    if (s.origins)
        r->judge.origins = origins_new();
    if (s.removed && !is_folder(s.removed) &&
        !(r->removed = kit_output_open(s.removed)))
        kit_die("%s: %s", s.removed, strerror(errno));
    kit_progress_start_silent(r->quiet);
    dedup_report report = report_begin();
    pipeline_run(r);
    if (r->removed &&
        (kit_output_finish(r->removed, 0) < 0 || kit_output_commit(r->removed) < 0))
        kit_output_fail(r->removed);
    kit_progress_end();
    if (s.json || !r->quiet)
        report_end(&report, r, s.json);
    if (r->removed)
        kit_output_close(r->removed);
    progress_close(r->state);
    combine_free(r->combine);
    origins_free(r->judge.origins);
    judge_free(&r->judge);
    inputs_free(&r->in);
    json_path_free(&r->rules.field);
    free(r->names);
    free(s.against);
    free(s.marks);
    return 0;
}

const kit_command cmd_dedup = {
    .name = "dedup",
    .summary = "remove repeated paragraphs or documents from text corpora",
    .usage = "[OPTION]... [FILE | FOLDER]...",
    .about =
        "Reads JSON lines, one document a line with its text in a field, and writes "
        "them "
        "without the paragraphs or documents that were seen before. By default a "
        "paragraph goes if more than 80% of its 13-grams of words were in paragraphs "
        "that stayed, of the same or an earlier document. Files compressed with gzip, "
        "zstd, "
        "bzip2, xz or lz4 are unpacked.\n\n"
        "Bytes outside the text never change, nor does the spelling of the text that "
        "stays. The result is the same in every run and for every number of "
        "threads. Each result is put in its place when it is whole.\n\n"
        "The filter grows with the corpus. A run counts the expected cost of false "
        "positives and stops before it is too high.",
    .options = options,
    .examples = "# Repeated paragraphs, by their 13-grams\n"
                "$ seen dedup -o out/ in/\n"
                "# Equal documents\n"
                "$ seen dedup --by document --exact -o out/ in/\n"
                "# Say what would go, and remove nothing\n"
                "$ seen dedup --mark -o spans/ in/\n"
                "# Whatever is in the test set\n"
                "$ seen dedup --against tests.jsonl --no-update -o out/ in/\n"
                "# A quarter of the paragraphs, then all four quarters\n"
                "$ seen dedup --by paragraph --shard 1/4 -o marks/1 in/\n"
                "$ seen dedup --combine marks/1 -o out/ in/\n"
                "# Go on tomorrow\n"
                "$ seen dedup --state corpus.seen -o out/ in/\n",
    .run = dedup_main,
};
