/* trap_detector.c - the latest simhashes in four tables, one for each quarter of their
 * bits.
 *
 * Two simhashes that differ in at most three bits have a quarter in common, so a page
 * finds a near-duplicate in one of four places. A place holds only the latest simhash.
 */
#include "trap_detector.h"
#include "page/fingerprint.h"
#include "messages.h"

#include <stdlib.h>

enum { QUARTERS = NEAR_BITS + 1, PLACES = 1 << 16 };

struct trap_detector {
    uint64_t latest[QUARTERS][PLACES];
};

trap_detector *trap_detector_new(void)
{
    return kit_alloc(sizeof(trap_detector));
}

void trap_detector_free(trap_detector *t)
{
    free(t);
}

bool trap_detector_dull(trap_detector *t, uint64_t host, uint64_t simhash)
{
    bool dull = false;
    for (int q = 0; q < QUARTERS; q++) {
        uint64_t bits = simhash >> (16 * q) & 0xffff;
        uint64_t at = (host ^ bits * 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u >> 48;
        uint64_t *place = &t->latest[q][at];
        dull |= *place && simhash_near(*place ^ host, simhash);
        *place = simhash ^ host; /* another host's does not look near */
    }
    return dull;
}

bool trap_detector_spent(uint64_t budget, uint64_t fresh, uint64_t dull)
{
    return budget && dull > budget + 4 * fresh;
}
