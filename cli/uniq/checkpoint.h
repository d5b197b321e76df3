/* checkpoint.h - the state of `seen uniq --state`, saved while the run lasts.
 *
 * A state vouches for lines that were delivered, never for others. While a run lasts,
 * the log STATE.run says for each state that may be found after a kill how much of the
 * input it knows and how much of the output it vouches for. With -o the next run cuts
 * the unfinished output back to that and goes on; on standard output lines may come
 * twice. No line is lost. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "uniq.h"

/* Looks whether the last run with this state has ended, says from where this one goes
 * on, and opens U->out. The state must be open. Ends the program if the output that the
 * state vouches for would be lost. */
checkpoint *checkpoint_open(uniq *u);

/* Whether the state is to be saved now; cheap. */
bool checkpoint_due(const checkpoint *c);

/* Saves the state. All lines in the filter must be written. */
void checkpoint_save(checkpoint *c);

/* Ends the run, in this order: everything on disk, the output in its place, the state
 * in its place, no log. */
void checkpoint_finish(checkpoint *c);

/* A run that was stopped by a signal: saves, if something was saved before. */
void checkpoint_stop(checkpoint *c);
void checkpoint_free(checkpoint *c); /* NULL is fine */
#endif
