/* count_sketch.h - the questions of `seen count` that sketches answer: in a fixed
 * amount of memory, whatever comes, with the error stated. */
#ifndef CLI_COUNT_SKETCH_H
#define CLI_COUNT_SKETCH_H
#include "lines/feed.h"

typedef struct sketch_job {
    feed_spec input; /* hashes as the sketch does: XXH3 with SEED */
    uint64_t seed;
    uint64_t top;          /* --top: how many */
    const char *quantiles; /* --quantiles: a list, or NULL for the usual ones */
    uint64_t memory;       /* -m; 0: not given */
    bool json, quiet;
} sketch_job;

/* Each reads the input, prints the answer and says how sure it is on standard error.
 * Ends the program with a message if it cannot. */
void count_top(const sketch_job *j);
void count_quantiles(const sketch_job *j);
void count_within_memory(const sketch_job *j);

/* The quantiles that LIST names, such as "0.5,99%", in *OUT; the usual ones if it is
 * NULL. Returns their number, 0 if LIST is not such a list. The caller frees *OUT. */
size_t count_parse_quantiles(const char *list, double **out);

/* Hands every batch of J's input to TAKE, and shows progress; returns the number of
 * lines. */
uint64_t count_batches(const sketch_job *j, void (*take)(void *ctx, const batch *b),
                       void *ctx);

#endif
