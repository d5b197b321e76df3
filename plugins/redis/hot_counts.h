/* hot_counts.h - how many more copies an item has than its buckets hold.
 *
 * A cuckoo filter stores one fingerprint per copy, so an item that is added a million
 * times would fill tables with its fingerprint alone. From some copy on they are
 * counted here instead: 16 bytes per item, however many copies. Items are told apart by
 * all 64 bits of their hash. */
#ifndef SEEN_REDIS_HOT_COUNTS_H
#define SEEN_REDIS_HOT_COUNTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hot_count {
    uint64_t hash, count; /* count 0: a free slot */
} hot_count;

/* Zeroes are an empty table without memory. */
typedef struct hot_counts {
    uint64_t n, room; /* room is 0 or a power of two */
    hot_count *slots;
} hot_counts;

void hot_free(hot_counts *t);
uint64_t hot_bytes(const hot_counts *t);
/* Bytes it takes once one more item is in. */
uint64_t hot_bytes_next(const hot_counts *t);

uint64_t hot_get(const hot_counts *t, uint64_t hash);
/* Adds N copies; false if memory is out. */
bool hot_add(hot_counts *t, uint64_t hash, uint64_t n);
/* Takes one copy away; false if there is none. */
bool hot_remove(hot_counts *t, uint64_t hash);

bool hot_copy(hot_counts *to, const hot_counts *from);
/* Writes all entries to OUT, of t->n elements, by ascending hash. */
void hot_sorted(const hot_counts *t, hot_count *out);

#endif
