/* tally.h - what a crawl did lately: pages per second, how long answers take, and the
 * hosts worth showing. Kept as answers come, at a few instructions each, however many
 * hosts there are. */
#ifndef CRAWL_TALLY_H
#define CRAWL_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct host;

/* The hosts with the most answers, the slowest single answer, the most failures. All
 * three only grow, so a list of the largest can be kept without looking at all hosts.
 */
enum { MOST_ANSWERS, SLOWEST_ANSWER, MOST_FAILURES, TALLY_LISTS };
enum { TALLY_HOSTS = 20, TALLY_SECONDS = 120, TALLY_BUCKETS = 14 };

/* Of one host. */
typedef struct host_tally {
    uint64_t answers, failures, bytes; /* bytes: as they came over the wire */
    uint64_t took;                     /* milliseconds, of all answers together */
    uint64_t slowest;                  /* milliseconds */
    uint8_t listed;                    /* bits: in which lists it is */
} host_tally;

typedef struct tally {
    struct host *list[TALLY_LISTS][TALLY_HOSTS];
    size_t listed[TALLY_LISTS];
    uint64_t within[TALLY_BUCKETS]; /* answers of at most tally_limit(i) milliseconds */
    uint64_t answers, took, wire;   /* milliseconds and bytes, of all of them */
    uint64_t pages[TALLY_SECONDS];  /* done in each of the latest seconds, a ring */
    uint64_t second, pages_before;  /* second: how many are over */
} tally;

/* Milliseconds: 1, 2, 5, 10 and so on to 30 seconds. */
unsigned tally_limit(int bucket);

/* An answer of H took so many milliseconds and bytes, or FAILED. */
void tally_answer(tally *t, struct host *h, uint64_t ms, uint64_t wire, int failed);

/* Puts the largest of each list first. */
void tally_sort(tally *t);

/* A second is over; PAGES: done so far. */
void tally_second(tally *t, uint64_t pages);

#endif
