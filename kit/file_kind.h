/* file_kind.h - is it a file? A FIFO in the place of one would wait for ever. */
#ifndef KIT_FILE_KIND_H
#define KIT_FILE_KIND_H

#include <stdbool.h>

/* Ends the program with "PATH: is a FIFO, not a file" if something other than a regular
 * file is at PATH: a pipe, a device, a socket or a folder. A missing file is fine. Call
 * it before a file that programs keep for themselves is opened. */
void kit_must_be_file(const char *path);

/* Whether PATH is a regular file. */
bool kit_is_file(const char *path);
#endif
