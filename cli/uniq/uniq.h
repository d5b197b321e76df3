/* uniq.h - what the ways of `seen uniq` share: options, filters, counts. */
#ifndef CLI_UNIQ_H
#define CLI_UNIQ_H

#include "lines/emit.h"
#include "lines/keys.h"
#include "filters/named_filter.h"
#include "record_after_print.h"
#include "shards.h"
#include "filters/sizing.h"

#define CHECKPOINT_BY_TIME UINT64_MAX

typedef struct checkpoint checkpoint;

typedef struct uniq {
    /* as asked */
    keyspec keys;
    sizing size;
    char *const *files;
    size_t nfiles;
    const char *state_name, *out_name, *dup_name;
    char **against_name;
    size_t nagainst;
    bool repeated, exact, count, by_count, quiet, stats, json, print_first;
    double max_lost;     /* below 0: no bound */
    uint64_t checkpoint; /* new lines between saves of the state; 0: only at the end */
    unsigned threads;

    /* the run */
    named_filter *seen; /* the state, or a filter in memory; or else: */
    shards *shards;
    named_filter **against;
    after_print *after_print; /* lines are recorded after they are out; NULL: at once */
    emitter out, dup;
    checkpoint *saves; /* of a state that is a file; NULL */
    uint64_t lines, missing, distinct; /* distinct: of --count */
    double lost_base;                  /* expected losses from before this run */
    double short_base; /* at the start: keys that set bits but were not counted */
    uint64_t memory;   /* bytes of filters and tables */
    const char *kind;
    double error, lost, lost_low, lost_high;
} uniq;

/* Two ways, which write the lines and leave the counts in U: through a filter or set
 * that is open, in one pass (one_pass.c); or exactly, whatever the hash does (exact.c).
 * The third, counting.h, prints how often each line came. */
void uniq_one_pass(uniq *u);
void uniq_exact(uniq *u);
#endif
