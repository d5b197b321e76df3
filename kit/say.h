/* say.h - what a program tells people: one line on stderr, naming what and where. */
#ifndef KIT_SAY_H
#define KIT_SAY_H

#include <stddef.h>

/* The name in front of every message, such as "seen uniq". */
void kit_say_name(const char *program);

/* Prints "NAME: message" on stderr, in one write. A progress line that stands on
 * the terminal is wiped first. */
void kit_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same, then leaves with status 2; unfinished output files are taken away. */
void kit_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Memory or death: programs, unlike the library, may give up. */
void *kit_alloc(size_t size);
void *kit_grow(void *p, size_t count, size_t size);

/* Called before each message; kit/progress uses it to wipe its line. */
extern void (*kit_before_message)(void);
#endif
