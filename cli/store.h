/* store.h - a filter by its name: the one place that knows what names can mean.
 *
 * A name is a file: a native filter or another system's. Other formats and places are
 * learned here, once, for all commands: store_open tries each opener in turn. A store
 * that is no filter of the library (a server) brings its own store_ops. */
#ifndef CLI_STORE_H
#define CLI_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

typedef struct store store;

typedef struct store_ops {
    const char *kind;
    /* As seen_add_many and seen_has_many; false: told by kit_warn already. */
    bool (*add)(store *s, const seen_key *keys, size_t n, bool *dup);
    bool (*has)(store *s, const seen_key *keys, size_t n, bool *found);
    bool (*remove)(store *s, const seen_key *keys, size_t n,
                   bool *removed); /* or NULL */
    uint64_t (*bytes)(store *s);
    double (*lost)(store *s); /* expected so far */
    bool (*save)(store *s);
    void (*close)(store *s);
    void (*tell)(store *s); /* for 'seen info', on standard output; or NULL */
} store_ops;

struct store {
    const char *name;
    seen_filter *filter;  /* NULL if ops do the work */
    const store_ops *ops; /* NULL: the library does */
    void *ctx;            /* of ops */
    bool hashes;          /* takes seen_add_hashes with FILTER's seed */
    int lock;             /* descriptor that holds the lock; -1 */
    bool made;            /* the file was not there before */
    bool changes;         /* opened to be changed */
    bool gzip;            /* another system's filter, compressed as a whole */
};

enum {
    STORE_ASK = 0,     /* only asked: shared, read-only */
    STORE_CHANGE = 1,  /* will be changed and saved: locked against a second writer */
    STORE_MAY_MAKE = 2 /* with STORE_CHANGE: a missing or empty file is fine, then
                        * s->filter is NULL until the caller makes one */
};

/* Opens NAME, or tells why not and ends the program with status 2. */
store *store_open(const char *name, unsigned how);

/* The same for several, of which NAME may also be a list of keys: NULL if it is
 * readable but no filter at all. */
store *store_open_if_filter(const char *name);

/* Adds N keys in order; HASHES may be NULL. Ends the program if it fails. */
void store_add(store *s, const seen_key *keys, const uint64_t *hashes, size_t n,
               bool *dup);
void store_has(store *s, const seen_key *keys, const uint64_t *hashes, size_t n,
               bool *found);

uint64_t store_bytes(store *s);
double store_lost(store *s);

/* Replaces the file whole. Ends the program if it fails. */
void store_save(store *s);
void store_close(store *s);

/* A filter is saved by making or replacing a file, which needs the folder of NAME:
 * better to know before the work than after it. Ends the program if it cannot be. */
void store_check_place(const char *name);

/* Tells the library's last complaint about NAME and ends the program. */
void store_die(const char *name, int code) __attribute__((noreturn));
#endif
