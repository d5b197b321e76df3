/* corpus_plan.c - the memory that a corpus needs. */
#include "corpus_plan.h"
#include "corpus_size.h"
#include "human_numbers.h"
#include "json.h"
#include "messages.h"

#include <math.h>
#include <stdio.h>

typedef struct row {
    const char *options, *what;
    dedup_rules rules;
    bool fingerprints; /* unless an error is given */
    seen_size size;
} row;

/* The size of R, for ERROR or within MEMORY. */
static void solve(row *r, uint64_t text, double error, uint64_t memory)
{
    r->size = (seen_size){.keys = corpus_keys(&r->rules, text)};
    if (!r->size.keys)
        r->size.keys = 1;
    if (memory)
        r->size.bytes = memory;
    else if (r->fingerprints && error == 0)
        r->size.kind = SEEN_SET;
    r->size.error = memory ? 0 : error > 0 ? error : r->fingerprints ? 1e-9 : 0.01;
    if (r->size.kind == SEEN_SET) { /* a set is exact: its size follows from its keys */
        r->size.error = (double)r->size.keys * exp2(-64);
        r->size.bytes = r->size.keys * 64 / 7;
        return;
    }
    if (seen_solve(&r->size) < 0)
        kit_die("%s", seen_reason());
}

void corpus_plan(uint64_t text, double error, uint64_t memory, bool json)
{
    row rows[] = {
        {"", "paragraphs, by 13-grams", {.by = BY_NGRAM, .sample = 1}},
        {"--sample 8", "one 13-gram in eight", {.by = BY_NGRAM, .sample = 8}},
        {"--by document", "documents, by 13-grams", {.by = BY_DOCUMENT, .sample = 1}},
        {"--by paragraph", "whole paragraphs", {.by = BY_PARAGRAPH}, true},
        {"--by document -x",
         "equal documents",
         {.by = BY_DOCUMENT, .exact = true},
         true},
    };
    kit_json j = {.to = stdout};
    char a[24], b[32];
    if (json)
        kit_json_open(&j, NULL, '[');
    else
        printf("%-17s %-24s %12s %10s %9s\n", "seen dedup", "", "keys", "memory",
               "error");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        row *r = rows + i;
        solve(r, text, error, memory);
        if (json) {
            kit_json_open(&j, NULL, '{');
            kit_json_text(&j, "options", r->options);
            kit_json_count(&j, "keys", r->size.keys);
            kit_json_count(&j, "memory", r->size.bytes);
            kit_json_real(&j, "error", r->size.error);
            kit_json_close(&j, '}');
        } else {
            snprintf(b, sizeof b, "%.3g", (double)r->size.keys);
            printf("%-17s %-24s %12s %10s %9.2g\n", r->options, r->what, b,
                   kit_show_bytes((double)r->size.bytes, a), r->size.error);
        }
    }
    if (json)
        kit_json_close(&j, ']');
    else
        printf(
            "\nKeys as in English text in which nothing repeats; repeats need no "
            "memory.\nWhole paragraphs and documents divide over N machines: --shard "
            "I/N.\nFingerprints of these take up to twice as much while their table "
            "grows.\n");
}
