/* dedup_report.h - the summary at the end of a run. */
#ifndef DEDUP_DEDUP_REPORT_H
#define DEDUP_DEDUP_REPORT_H

#include "pipeline.h"

typedef struct dedup_report {
    double wall, cpu; /* when it began */
} dedup_report;

dedup_report report_begin(void);
/* Prints it on standard error, in a sentence or as JSON. */
void report_end(const dedup_report *began, const dedup_run *r, bool json);
#endif
