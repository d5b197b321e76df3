/* combine.h - marks of earlier runs decide instead of a filter.
 *
 * Each folder has for every input a file of marks, one line a document in the same
 * order, as `seen dedup --mark` writes them. A paragraph goes if any of them says so.
 */
#ifndef DEDUP_COMBINE_H
#define DEDUP_COMBINE_H

#include "dedup.h"
#include "inputs.h"

typedef struct combine combine;

/* The array of N folders must stay. */
combine *combine_new(const char *const *folders, size_t n);
void combine_free(combine *c);

/* Decides about the paragraphs of B, the next block of F. False if the marks are not
 * those of the file: B->error says which. */
bool combine_block(combine *c, block *b, const input *f);
/* Dies if the marks of the last file go on. */
void combine_end(combine *c);
#endif
