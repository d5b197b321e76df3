/* progress.h - one line on a terminal that shows how far a run is; silent elsewhere. */
#ifndef KIT_PROGRESS_H
#define KIT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct kit_progress {
    uint64_t taken, total; /* bytes; total 0 if unknown */
    uint64_t lines, distinct, memory;
} kit_progress;

/* Shows progress if standard error is a terminal, standard output is not, and QUIET is
 * false. */
void kit_progress_start(bool quiet);
/* The same for a command that prints nothing, whatever standard output is. */
void kit_progress_start_silent(bool quiet);
/* Whether a new line is due, about five times a second; cheap. */
bool kit_progress_due(void);
void kit_progress_show(const kit_progress *p);
/* Any other line. */
void kit_progress_text(const char *text);
void kit_progress_end(void); /* wipes the line */
#endif
