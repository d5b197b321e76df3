/* replace.h - replaces a file whole: at any moment it is the old one or the new one.
 *
 * The only code in the tree that does this. The library saves filters with it, programs
 * use it through kit/output.h and kit/durable.h. After sn_replace_commit the new file
 * survives a power cut: its data are on disk before its name, and its name when the
 * call returns. Failures set errno and, for the library, seen_reason(). */
#ifndef SN_REPLACE_H
#define SN_REPLACE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct sn_replace {
    int fd;
    bool direct;     /* a device or pipe: written in place, never replaced */
    bool nameless;   /* has no name yet: a killed process leaves nothing behind */
    bool synced;     /* all data written so far are on disk */
    bool kept;       /* the temporary file stays if it is not committed */
    char *path;      /* the file to replace, links resolved */
    char *temporary; /* the name beside it, unless it is nameless */
} sn_replace;

/* Opens a temporary file beside PATH. It gets the permissions of the file at PATH, and
 * its owner if that is allowed; if there is no such file, MODE less the umask. */
int sn_replace_begin(sn_replace *r, const char *path, mode_t mode);
/* The same for a file that only its owner may read or write, whatever the old one was.
 */
int sn_replace_begin_private(sn_replace *r, const char *path);
/* Gives the temporary file a name that outlives this process, and waits until it is on
 * disk: sn_replace_resume goes on with it, as it was left. Not for `direct` ones. */
int sn_replace_keep(sn_replace *r);
int sn_replace_resume(sn_replace *r, const char *path, const char *temporary);
int sn_replace_write(sn_replace *r, const void *p, size_t len);
/* Continues at the beginning of the file. Not for `direct` ones. */
int sn_replace_rewind(sn_replace *r);
/* Waits until the data are on disk. sn_replace_commit does it if nobody did; a caller
 * with several files finishes all of them first and renames after. */
int sn_replace_sync(sn_replace *r);
/* Synchronises the data, renames, synchronises the folder; R is closed, whatever
 * happens. On failure the old file stands and nothing is left, unless only the folder
 * could not be synchronised. */
int sn_replace_commit(sn_replace *r);
/* The same, but fails with EEXIST, and changes nothing, if there is a file already. */
int sn_replace_commit_new(sn_replace *r);
void sn_replace_abort(sn_replace *r);
#endif
