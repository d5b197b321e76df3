/* corpus_plan.h - `seen plan --corpus`: the memory that a corpus wants. */
#ifndef DEDUP_CORPUS_PLAN_H
#define DEDUP_CORPUS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* Prints what `seen dedup` needs for TEXT bytes of JSON lines, mode by mode, and, if
 * MEMORY is not 0, what can be had within it. ERROR 0 is the usual one of each mode. */
void corpus_plan(uint64_t text, double error, uint64_t memory, bool json);
#endif
