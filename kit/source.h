/* source.h - the bytes of a file or pipe, unpacked: compressed files are recognised by
 * their first bytes, whatever the name. */
#ifndef KIT_SOURCE_H
#define KIT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct kit_source kit_source;

/* Opens PATH ("-" is standard input), a name that must stay. NULL and errno on failure;
 * a directory is EISDIR. */
kit_source *kit_source_open(const char *path);
void kit_source_close(kit_source *s);

/* Reads the bytes as they are, whatever they begin with, and no more than MOST of
 * them; call it before the first read. */
void kit_source_raw(kit_source *s, uint64_t most);

/* Up to SIZE bytes, as soon as there are any: never waits to fill the buffer. 0 is the
 * end, -1 a failure, which kit_source_error describes. If something else follows the
 * compressed data, these are whole: after the end kit_source_error says so, and is
 * empty otherwise. */
ssize_t kit_source_read(kit_source *s, void *buf, size_t size);
const char *kit_source_error(const kit_source *s);

/* How many bytes of the file itself were read, and whether it is compressed (known
 * from the first read on). */
uint64_t kit_source_taken(const kit_source *s);
bool kit_source_packed(const kit_source *s);

/* Makes readers return 0, as at the end, even if they wait for a pipe. Safe in a
 * signal handler. */
void kit_stop(int sig);
extern volatile int kit_stopped; /* the signal, or 0 */
/* Enables kit_stop to wake readers; call it before installing handlers. */
void kit_stop_ready(void);
#endif
