/* quotient_line.h - a line of a quotient filter, taken apart. */
#ifndef SN_QUOTIENT_LINE_H
#define SN_QUOTIENT_LINE_H
#include "kind/quotient.h"

typedef struct sn_quotient_line {
    uint64_t first, end; /* its cells: first .. end-1 */
    unsigned n;
    uint64_t cell[2 * SN_QUOTIENT_SLOTS + 1]; /* in order */
    uint64_t v[2 * SN_QUOTIENT_SLOTS + 1];    /* in order within a cell */
} sn_quotient_line;

/* Takes line I apart; false if it contradicts itself. */
bool sn_quotient_read(const sn_quotient *q, uint64_t i, sn_quotient_line *x);
/* Puts X together as line I, at TO. */
void sn_quotient_write(const sn_quotient *q, uint64_t i, const sn_quotient_line *x,
                       uint8_t *to);

/* quotient_spread.c: puts the cells of FROM, or their halves if there are twice as
 * many, and its slots, which are as wide, into the empty lines of TO; *SLOTS is how
 * many these are. False if they do not fit, or if a line of FROM contradicts itself. */
bool sn_quotient_spread(const sn_quotient *from, const sn_quotient *to,
                        uint64_t *slots);

/* Which slots of LINE belong to the cell that is AT places after its first one. */
uint64_t sn_quotient_run(const sn_quotient *q, const uint8_t *line, unsigned at);
/* Slots in use of the eight words of a line. */
unsigned sn_quotient_used(const sn_quotient *q, const uint64_t *line);
#endif
