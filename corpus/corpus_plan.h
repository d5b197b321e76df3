/* corpus_plan.h - `seen plan --corpus`: the memory that a corpus needs. */
#ifndef DEDUP_CORPUS_PLAN_H
#define DEDUP_CORPUS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* Prints the memory that `seen dedup` needs for TEXT bytes of JSON lines, mode by mode;
 * if MEMORY is not 0, the error that fits into it. ERROR 0 is the default of each mode.
 */
void corpus_plan(uint64_t text, double error, uint64_t memory, bool json);
#endif
