/* named_filter.h - a filter by its name: the one place that knows what names can mean.
 *
 * A name is a file, a native filter or another system's, or the URL of a filter in a
 * server. named_open tries each opener in turn, for all commands. A filter that is not
 * one of the library's (in a server) brings its own named_ops. */
#ifndef CLI_NAMED_FILTER_H
#define CLI_NAMED_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

typedef struct named_filter named_filter;

typedef struct named_ops {
    const char *kind;
    /* As seen_add_many and seen_has_many; false: reported by kit_warn already. */
    bool (*add)(named_filter *s, const seen_key *keys, size_t n, bool *dup);
    bool (*has)(named_filter *s, const seen_key *keys, size_t n, bool *found);
    bool (*remove)(named_filter *s, const seen_key *keys, size_t n,
                   bool *removed); /* or NULL */
    uint64_t (*bytes)(named_filter *s);
    double (*lost)(named_filter *s); /* expected so far */
    bool (*save)(named_filter *s);
    void (*close)(named_filter *s);
    void (*show)(named_filter *s); /* for 'seen info', on standard output; or NULL */
} named_ops;

struct named_filter {
    const char *name;
    seen_filter *filter;  /* NULL if ops do the work */
    const named_ops *ops; /* NULL: the library does */
    void *ctx;            /* of ops */
    bool hashes;          /* takes seen_add_hashes with FILTER's seed */
    int lock;             /* descriptor that holds the lock; -1 */
    bool made;            /* the file did not exist before */
    bool changes;         /* opened to be changed */
    bool gzip;            /* another system's filter, compressed as a whole */
};

enum {
    NAMED_ASK = 0,     /* only asked: shared, read-only */
    NAMED_CHANGE = 1,  /* will be changed and saved: locked against a second writer */
    NAMED_MAY_MAKE = 2 /* with NAMED_CHANGE: a missing or empty file is fine, then
                        * s->filter is NULL until the caller makes one */
};

/* Opens NAME, or reports why not and ends the program with status 2. */
named_filter *named_open(const char *name, unsigned how);

/* The same where NAME may also be a list of lines: NULL if it can be read but is not a
 * filter at all. */
named_filter *named_open_if_filter(const char *name);

/* Adds N keys in order; HASHES may be NULL. Ends the program if it fails. */
void named_add(named_filter *s, const seen_key *keys, const uint64_t *hashes, size_t n,
               bool *dup);
void named_has(named_filter *s, const seen_key *keys, const uint64_t *hashes, size_t n,
               bool *found);

uint64_t named_bytes(named_filter *s);
double named_lost(named_filter *s);

/* Replaces the file whole. Ends the program if it fails. */
void named_save(named_filter *s);
void named_close(named_filter *s);

/* A filter is saved by making or replacing a file, which needs the folder of NAME:
 * better to know before the work than after it. Ends the program if it is not possible.
 */
void named_check_place(const char *name);

/* The same for a file that is to be made; one that exists is refused unless FORCE. */
void named_check_new(const char *name, bool force);

/* Reports the library's last failure, with NAME, and ends the program. */
void named_die(const char *name, int code) __attribute__((noreturn));
#endif
