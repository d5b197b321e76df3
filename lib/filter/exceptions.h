/* exceptions.h - the exceptions of a filter: known false positives, stored whole in a
 * small file beside it.
 *
 * A filter must not deny a key that was added. So adding a key removes it from the
 * list, and a list is valid only for the file it was made for, unchanged. The content
 * alone does not show a change: adding a false positive changes no bit. So the list is
 * bound to the content and to the time of the file's last change (docs/format.md). If
 * the file is replaced, or another system's library adds to it, the list is ignored:
 * the false positives are back, and no added key is denied. Lists are searched only
 * after a yes. */
#ifndef SN_EXCEPTIONS_H
#define SN_EXCEPTIONS_H
#include "filter/filter.h"

/* Reads the list beside F's file PATH: 1 if there is one that belongs to it, otherwise
 * 0. SEEN_EDAMAGED, SEEN_EFORMAT name the list; SEEN_ENOMEM; SEEN_EIO. */
int sn_exceptions_load(seen_filter *f, const char *path);
/* The same from the LEN bytes of a list, which are hostile and which it changes: 1, or
 * 0 if the list does not belong to the file with identity FILTER. */
int sn_exceptions_parse(seen_filter *f, uint8_t *p, uint64_t len, uint64_t filter);

/* Writes F's list beside PATH, which the complete file FD with this CONTENT is about to
 * replace; the list is valid for the old file and the new one. Removes the list of
 * another filter. */
int sn_exceptions_save(const seen_filter *f, const char *path, int fd,
                       uint64_t content);
/* Writes F's list, which may be empty, beside its file, which is mapped for writing and
 * flushed. */
int sn_exceptions_flush(seen_filter *f);
/* True if keys were removed from the list since it was read or written. */
bool sn_exceptions_changed(const seen_filter *f);

/* Copies FROM's list to TO. */
int sn_exceptions_copy(seen_filter *to, const seen_filter *from);
/* Removes the keys that SRC, which was merged into F, finds. */
void sn_exceptions_merged(seen_filter *f, const seen_filter *src);
void sn_exceptions_free(seen_filter *f);

/* True if KEY (or, without KEY, a key with this hash) is an exception. */
bool sn_exceptions_has(const seen_filter *f, const void *key, size_t len,
                       uint64_t hash);
/* Sets found[i] to false for keys (or hashes) that are exceptions. */
void sn_exceptions_sift(const seen_filter *f, const seen_key *keys,
                        const uint64_t *hashes, size_t n, bool *found);
/* Removes added keys from the list; they were new, so dup[i] becomes false. DUP may be
 * NULL. */
void sn_exceptions_added(seen_filter *f, const seen_key *keys, const uint64_t *hashes,
                      size_t n, bool *dup);
#endif
