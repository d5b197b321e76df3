/* uniq.h - what the ways of `seen uniq` share: options, filters, counts. */
#ifndef CLI_UNIQ_H
#define CLI_UNIQ_H

#include "emit.h"
#include "keys.h"
#include "record_after_print.h"
#include "shards.h"
#include "sizing.h"
#include "store.h"

typedef struct uniq {
    /* as asked */
    keyspec keys;
    sizing size;
    char *const *files;
    size_t nfiles;
    const char *state_name, *out_name, *dup_name;
    char **against_name;
    size_t nagainst;
    bool repeated, exact, quiet, stats, json, print_first;
    double max_lost; /* below 0: no bound */
    unsigned threads;

    /* the run */
    store *seen; /* the state, or a filter in memory; or else: */
    shards *shards;
    store **against;
    later *later; /* the state hears of lines when they are out; NULL: at once */
    sink out, dup;
    uint64_t lines, missing;
    double lost_base; /* expected losses that are not this run's */
    double
        short_base;  /* keys that the bits know and the count does not, at the start */
    uint64_t memory; /* bytes of filters and tables */
    const char *kind;
    double error, lost;
} uniq;

/* The two ways, which write the lines and leave the counts in U: past a filter or set
 * that is open, in one pass (one_pass.c); or, whatever the hash does, exactly (exact.c). */
void uniq_stream(uniq *u);
void uniq_exact(uniq *u);
#endif
