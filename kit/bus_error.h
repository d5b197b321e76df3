/* bus_error.h - a mapped file that was truncated under us: named, not a bare SIGBUS. */
#ifndef KIT_BUS_ERROR_H
#define KIT_BUS_ERROR_H

/* From now on, touching a page of a mapped file that has been truncated, or that the
 * disk cannot deliver, ends the program with status 2 and a message that names the
 * file; unfinished outputs are removed. */
void kit_name_bus_errors(void);
#endif
