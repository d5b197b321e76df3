/* output.h - where results go: in large blocks, every failure noticed, files
 * replaced only when they are whole.
 *
 * An output named like a regular file (or a new one) is written beside it and takes
 * its place in kit_output_commit; until then, and after any failure, the old file is
 * as it was. That makes an output that is also an input work. Devices, pipes and
 * standard output are written directly. */
#ifndef KIT_OUTPUT_H
#define KIT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kit_output kit_output;

/* PATH, or standard output if PATH is NULL, "-" or /dev/stdout. NULL: errno says why,
 * nothing was touched. */
kit_output *kit_output_open(const char *path);

/* Whether it is a file, which nobody sees before kit_output_commit. */
bool kit_output_replaces(const kit_output *o);

/* Whether A and B are one file, or would be one if they were made: then the second to
 * be written would take the place of the first. Devices, pipes and standard output can
 * take both. */
bool kit_output_same(const char *a, const char *b);

/* The name for messages. */
const char *kit_output_name(const kit_output *o);

/* Writes LEN bytes. Pieces from 64 KiB on go out at once, without a copy, behind what
 * was gathered. 0, or -1 with errno; later writes fail the same way. */
int kit_output_write(kit_output *o, const void *p, size_t len);
int kit_output_flush(kit_output *o);

/* Flushes, and with SYNC waits until a regular file is safe on disk. */
int kit_output_finish(kit_output *o, int sync);

/* Puts the file in its place (nothing to do for others). 0, or -1 with errno. */
int kit_output_commit(kit_output *o);

/* Frees O; a file that was not committed vanishes and its place is as it was. */
void kit_output_close(kit_output *o);

/* Says what failed and leaves: quietly and by the signal for a closed pipe, as other
 * filters do, else with a message and status 2. */
void kit_output_fail(const kit_output *o) __attribute__((noreturn));

/* Writes out what printf holds back; tells and ends the program if that fails. */
void kit_stdout_flush(void);

/* A file beside PATH, or for PATH NULL a nameless one in TMPDIR; removed if the
 * program leaves before it was put in place. Returns a descriptor, or -1 and errno. */
int kit_temp_beside(const char *path, char **name);
int kit_temp_nameless(void);
void kit_temp_forget(char *name); /* it was put in place or removed */
void kit_temp_remove(void);       /* all unfinished ones; safe in a signal handler */
#endif
