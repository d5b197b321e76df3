/* sample.h - lines like those of a crawl's log, for demonstrations and measurements:
 * addresses of some 65 bytes, a given part of them repeats. The same seed gives the
 * same lines everywhere. */
#ifndef KIT_SAMPLE_H
#define KIT_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct kit_sample {
    uint64_t state;
    uint64_t distinct; /* lines so far that were new */
    double repeats;    /* the part of the lines that repeat an earlier one */
} kit_sample;

/* Writes the next line with its newline to OUT (128 bytes) and returns its length. */
size_t kit_sample_line(kit_sample *s, char *out);

/* X with its bits mixed: splitmix64. */
static inline uint64_t kit_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}
#endif
