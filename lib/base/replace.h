/* replace.h - a file replaced whole: at any moment it is the old one or the new one. */
#ifndef SN_REPLACE_H
#define SN_REPLACE_H
#include <stdbool.h>
#include <stddef.h>

typedef struct sn_replace {
    int fd;
    bool direct;     /* a device or pipe: written in place, never replaced */
    bool nameless;   /* until it is renamed: not even a killed process leaves it */
    char *path;      /* the file to replace, links resolved */
    char *temporary; /* beside it */
} sn_replace;

/* Opens a temporary file beside PATH, with PATH's permissions if it exists, and with
 * its owner if that is allowed. */
int sn_replace_begin(sn_replace *r, const char *path);
int sn_replace_write(sn_replace *r, const void *p, size_t len);
/* What is written next goes to the beginning of the file; not for `direct` ones. */
int sn_replace_rewind(sn_replace *r);
/* Synchronises and renames; on failure the old file stands and nothing is left. */
int sn_replace_commit(sn_replace *r);
void sn_replace_abort(sn_replace *r);
#endif
