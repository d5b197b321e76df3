/* progress_file.h - the state of a run that goes on later: the filter in FILE, and in
 * FILE.files the rules and which inputs are in it.
 *
 * The list is a log. First the names of the files are appended, then a line with the
 * header checksum of the filter that has their keys; only then the filter takes its
 * place. So whichever filter is found, the log says what is in it: everything before
 * the last line with its checksum. Files that were finished but are not in the filter
 * are done again, from the same filter as the first time, with the same result. */
#ifndef DEDUP_PROGRESS_FILE_H
#define DEDUP_PROGRESS_FILE_H

#include "inputs.h"
#include "seen.h"

typedef struct progress_file progress_file;

/* Opens the state PATH for a run with RULES, a line of text; dies if another run uses
 * it or it was made with other rules. *FILTER is the filter, NULL if there is none
 * yet. PRIVATE: nobody else may read it. */
progress_file *progress_open(const char *path, const char *rules, bool private,
                             seen_filter **filter);
void progress_close(progress_file *s);

/* Whether F is in the filter already. */
bool progress_has(const progress_file *s, const input *f);
/* F's result is in its place; counts with the next save. */
void progress_finished(progress_file *s, const input *f);
/* FILTER has the keys of all finished files and no other. */
void progress_save(progress_file *s, const seen_filter *filter);
#endif
