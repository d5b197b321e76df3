/* pipeline.h - a run over all files: threads, order, and when files are in place. */
#ifndef DEDUP_PIPELINE_H
#define DEDUP_PIPELINE_H

#include "combine.h"
#include "dedup.h"
#include "inputs.h"
#include "output.h"
#include "progress_file.h"

typedef struct dedup_run {
    dedup_rules rules;
    judge judge;
    inputs in;
    char **names; /* paths of the inputs, for messages and --removed */
    unsigned threads;
    int level; /* of packing; 0: the usual */
    bool quiet;
    bool take;              /* only add the keys of all files to judge.filter */
    combine *combine;       /* marks that decide instead of the filter; or NULL */
    kit_output *removed;    /* or NULL */
    progress_file *state;   /* or NULL */
    uint64_t save_every;    /* bytes read between saves of the state; 0: as it pays */
    uint64_t read, written; /* bytes: unpacked, packed */
    size_t finished;        /* files */
} dedup_run;

/* Processes all files. If one is bad, dies with the finished files in their places. */
void pipeline_run(dedup_run *r);
#endif
