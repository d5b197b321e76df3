/* exceptions.h - the exceptions of a filter: keys that it says yes to and that were never
 * added, kept whole in a small file beside it.
 *
 * A filter must not deny a key that was added. Adding a key takes it off the list; and
 * a list counts only for the file it was made for, as it was then. Its content alone
 * does not tell: adding a false positive changes no bit. So the list is bound to the
 * content and to the moment of the file's last change (docs/format.md). Replacing the
 * file, or adding to it with another system's library, makes the list void: the false
 * positives are back, and no added key is denied. Lists are asked only after a yes. */
#ifndef SN_EXCEPTIONS_H
#define SN_EXCEPTIONS_H
#include "filter/filter.h"

/* Reads the list beside F's file PATH, if there is one that belongs to it: 1, or 0.
 * SEEN_EDAMAGED, SEEN_EFORMAT name the list; SEEN_ENOMEM; SEEN_EIO. */
int sn_exceptions_load(seen_filter *f, const char *path);
/* The same from the LEN bytes of a list, which are hostile and are changed: 1, or 0 if it
 * is not the list of a file whose identity is FILTER. */
int sn_exceptions_parse(seen_filter *f, uint8_t *p, uint64_t len, uint64_t filter);

/* Writes F's list beside PATH, which FD, whole and with this CONTENT, is about to
 * replace; the list fits the old file and the new one. Removes the list of another
 * filter that is there. */
int sn_exceptions_save(const seen_filter *f, const char *path, int fd, uint64_t content);
/* Writes F's list, which may be empty, beside the file that is mapped for writing and
 * was flushed. */
int sn_exceptions_flush(seen_filter *f);
/* Whether keys were taken off the list since it was read or written. */
bool sn_exceptions_changed(const seen_filter *f);

/* TO gets a copy of FROM's list. */
int sn_exceptions_copy(seen_filter *to, const seen_filter *from);
/* Drops the keys that SRC, which was merged into F, says yes to. */
void sn_exceptions_merged(seen_filter *f, const seen_filter *src);
void sn_exceptions_free(seen_filter *f);

/* Whether KEY (or, without KEY, a key of this hash) is an exception. */
bool sn_exceptions_has(const seen_filter *f, const void *key, size_t len, uint64_t hash);
/* Sets found[i] to false for the keys (or hashes) that are. */
void sn_exceptions_sift(const seen_filter *f, const seen_key *keys, const uint64_t *hashes,
                     size_t n, bool *found);
/* Takes keys that were added off the list; they were new: dup[i] becomes false. DUP may
 * be NULL. */
void sn_exceptions_added(seen_filter *f, const seen_key *keys, const uint64_t *hashes,
                      size_t n, bool *dup);
#endif
