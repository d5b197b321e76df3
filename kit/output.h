/* output.h - where results go: in large blocks, every failure noticed, files
 * replaced only when they are whole.
 *
 * An output that is a regular file, or does not exist yet, is written beside its place
 * and put there by kit_output_commit; until then, and after any failure, the old file
 * is as it was. So an output may also be an input. Devices, pipes and standard output
 * are written directly. */
#ifndef KIT_OUTPUT_H
#define KIT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kit_output kit_output;

/* Opens PATH, or standard output if PATH is NULL, "-" or /dev/stdout. NULL on failure:
 * errno says why, and nothing was touched. */
kit_output *kit_output_open(const char *path);
/* The same; a file is for its owner only (mode 0600), whatever the old one was. */
kit_output *kit_output_open_private(const char *path);

/* Whether it is a file, which appears only with kit_output_commit. */
bool kit_output_replaces(const kit_output *o);

/* Whether A and B are one file, or would be: then the second to be written would
 * replace the first. Devices, pipes and standard output can take both. */
bool kit_output_same(const char *a, const char *b);

/* The name for messages. */
const char *kit_output_name(const kit_output *o);

/* Writes LEN bytes. Small pieces are gathered; from 64 KiB on a piece is written at
 * once, without a copy. 0, or -1 with errno; later writes fail the same way. */
int kit_output_write(kit_output *o, const void *p, size_t len);
int kit_output_flush(kit_output *o);

/* Flushes, and waits until the data of a file that will be replaced are safe on disk;
 * with SYNC also those of a file that is standard output. */
int kit_output_finish(kit_output *o, int sync);

/* Finishes, puts the file in its place and waits until its folder is safe on disk;
 * does nothing for others. 0, or -1 with errno: then the old file is as it was, unless
 * only the folder could not be synchronised. */
int kit_output_commit(kit_output *o);

/* The same, but fails with EEXIST, and changes nothing, if there is a file already. */
int kit_output_commit_new(kit_output *o);

/* Frees O; a file that was not committed disappears, unless it is kept, and the old one
 * is as it was. */
void kit_output_close(kit_output *o);

/* Lets the file beside its place outlive the program, whatever happens to that. Returns
 * its name, which is valid as long as O; NULL with errno on failure. A later program
 * goes on with the first SIZE bytes of it: kit_output_resume, which fails as
 * kit_output_open does, and with EINVAL if there are fewer bytes. */
const char *kit_output_keep(kit_output *o);
kit_output *kit_output_resume(const char *path, const char *kept, uint64_t size);

/* The descriptor that is written to, for callers that lock it or look at what was
 * written. */
int kit_output_fd(const kit_output *o);

/* Ends the program: for a closed pipe quietly and by the signal, as other filters do;
 * otherwise with a message that says what failed, and status 2. */
void kit_output_fail(const kit_output *o) __attribute__((noreturn));

/* Flushes standard output; reports a failure and ends the program. */
void kit_stdout_flush(void);

/* Makes printf wait where standard output does not block; call it first. */
void kit_stdout_waits(void);

/* A temporary file beside PATH, removed if the program ends before kit_temp_forget; or
 * one without a name in TMPDIR. Returns a descriptor, or -1 and errno. */
int kit_temp_beside(const char *path, char **name);
int kit_temp_nameless(void);
void kit_temp_forget(char *name); /* NAME was renamed or removed; frees it */
void kit_temp_remove(void);       /* all unfinished ones; safe in a signal handler */

/* The file NAME, a string which must stay, was just made: it is removed with the
 * unfinished files, unless kit_made_file(NULL) was called, when it has become worth
 * keeping, or somebody has replaced it. */
void kit_made_file(const char *name);
#endif
