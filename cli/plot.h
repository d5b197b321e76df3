/* plot.h - draws sizes and errors as charts. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include "seen.h"

/* Writes two charts as SVG to PATH: error against bits a key, for every kind, and error
 * against the number of keys, for filters of the size of BEST. */
void plot_plan(const char *path, const seen_size *best);
#endif
