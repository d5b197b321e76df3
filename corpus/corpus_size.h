/* corpus_size.h - how many keys a corpus of so many bytes has. */
#ifndef DEDUP_CORPUS_SIZE_H
#define DEDUP_CORPUS_SIZE_H

#include "dedup.h"

/* Distinct keys in TEXT bytes of JSON lines, roughly. TEXT is 0 for a pipe of unknown
 * size. */
uint64_t corpus_keys(const dedup_rules *r, uint64_t text);
#endif
