/* messages.h - a program's messages: one line on stderr that names what and where. */
#ifndef KIT_MESSAGES_H
#define KIT_MESSAGES_H

#include <stddef.h>

/* The name in front of every message, such as "seen uniq". */
void kit_say_name(const char *program);

/* Prints "NAME: message" on stderr, in one write, and wipes a line of progress first.
 */
void kit_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same, unless kit_hush was called: what a user who wants to hear nothing need not
 * hear. */
void kit_caution(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kit_hush(void);

/* The same as kit_warn, then ends the program with status 2; unfinished output files
 * are removed.
 */
void kit_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Zeroed memory, or an array of COUNT items with its old contents; if there is none,
 * reports it and ends the program. */
void *kit_alloc(size_t size);
/* A copy of S, or of its first LEN bytes, that ends with a NUL. */
char *kit_copy(const char *s);
char *kit_copy_part(const char *s, size_t len);
void *kit_grow(void *p, size_t count, size_t size);

/* Called before each message; kit/progress uses it to wipe its line. */
extern void (*kit_before_message)(void);
#endif
