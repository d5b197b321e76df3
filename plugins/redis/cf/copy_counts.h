/* copy_counts.h - how many more copies an item has than its buckets hold.
 *
 * A cuckoo filter stores one fingerprint per copy, so an item that is added a million
 * times would fill tables with its fingerprint alone. From some copy on they are
 * counted here instead: 16 bytes per item, however many copies. Items are told apart by
 * all 64 bits of their hash. */
#ifndef SEEN_REDIS_COPY_COUNTS_H
#define SEEN_REDIS_COPY_COUNTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct copy_count {
    uint64_t hash, count; /* count 0: a free slot */
} copy_count;

/* Zeroes are an empty table without memory. */
typedef struct copy_counts {
    uint64_t n, room; /* room is 0 or a power of two */
    copy_count *slots;
} copy_counts;

void copy_counts_free(copy_counts *t);
uint64_t copy_counts_bytes(const copy_counts *t);
/* Bytes it takes once one more item is in. */
uint64_t copy_counts_bytes_next(const copy_counts *t);

uint64_t copy_counts_get(const copy_counts *t, uint64_t hash);
/* Adds N copies; false if memory is out. */
bool copy_counts_add(copy_counts *t, uint64_t hash, uint64_t n);
/* Takes one copy away; false if there is none. */
bool copy_counts_remove(copy_counts *t, uint64_t hash);

bool copy_counts_copy(copy_counts *to, const copy_counts *from);
/* Writes all entries to OUT, of t->n elements, by ascending hash. */
void copy_counts_sorted(const copy_counts *t, copy_count *out);

#endif
