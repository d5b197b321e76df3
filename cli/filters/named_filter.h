/* named_filter.h - a filter by its name: the one place that knows what names can mean.
 *
 * A name is a file, a native filter or another system's; the URL of a filter in a
 * server; or, for a filter that is only asked, a pipe ("-" is standard input).
 * named_open tries each opener in turn, for all commands. A filter that is not one of
 * the library's (in a server) brings its own named_ops. */
#ifndef CLI_NAMED_FILTER_H
#define CLI_NAMED_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "output.h"
#include "seen.h"
#include "sizing.h"
#include "typed_keys.h"

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
    bool hashes;          /* takes hashes of FILTER's hasher */
    kit_scratch *scratch; /* FILTER is made again from it when it is full; NULL: none */
    typed_keys typed;     /* lines, where FILTER holds other keys */
    int lock;             /* descriptor that holds the lock; -1 */
    bool gzip;            /* another system's filter, compressed as a whole */
    void *piped;          /* the bytes of a filter from a pipe, or unpacked */
    size_t piped_len, piped_room;
    kit_output *replacement; /* between named_write and named_replace */
};

enum {
    NAMED_ASK = 0,      /* only asked: shared, read-only */
    NAMED_CHANGE = 1,   /* will be changed and saved: locked against a second writer */
    NAMED_MAY_MAKE = 2, /* with NAMED_CHANGE: a missing or empty file is fine, then
                         * s->filter is NULL until the caller makes one and calls
                         * named_create */
    NAMED_COPY = 4      /* in memory, to be changed but not saved under its name */
};

/* Opens NAME, or reports why not and ends the program with status 2. */
named_filter *named_open(const char *name, unsigned how);

/* The same where NAME may also be a list of lines: NULL if it can be read but is not a
 * filter at all. */
named_filter *named_open_if_filter(const char *name);

/* The same for NAMED_ASK, without ending the program. Returns 0 or a code of the
 * library; the reason names the file or field. */
int named_try(const char *name, named_filter **out);

/* Gives S, which has no filter yet, a new one for SPEC, made from the options Z. KEPT:
 * it will be saved. */
void named_make(named_filter *s, const sizing *z, const seen_spec *spec, bool kept);

/* Puts the new filter of S under its name, whole: no file is ever there without a
 * filter in it. It is removed again if the program fails before its first save. False
 * if another run has made the file meanwhile: open it. Ends the program if it fails. */
bool named_create(named_filter *s);

/* Adds N keys in order; HASHES may be NULL. Ends the program if it fails. */
void named_add(named_filter *s, const seen_key *keys, const uint64_t *hashes, size_t n,
               bool *dup);
void named_has(named_filter *s, const seen_key *keys, const uint64_t *hashes, size_t n,
               bool *found);

/* Removes one; as seen_remove. */
int named_remove(named_filter *s, const seen_key *key);

/* Whether the system that S comes from ignores a carriage return at the end of a line.
 * Its own command would not find a key that was added with one. */
bool named_drops_cr(const named_filter *s);

uint64_t named_bytes(named_filter *s);
uint64_t named_added(const named_filter *s); /* of one of the library's */
double named_lost(named_filter *s);
/* The interval, as seen_lost_range, of one of the library's. */
void named_lost_range(const named_filter *s, double before, double *low, double *high);

/* Replaces the file whole, in two steps: named_write writes a new file beside the old
 * one (s->replacement) and waits until it is safe on disk, named_replace puts it in
 * place; it stays locked, unless it has exceptions. A full disk fails in the first
 * step. Both end the program if they fail. */
void named_write(named_filter *s);
void named_replace(named_filter *s);
void named_save(named_filter *s); /* both */
void named_close(named_filter *s);

/* A filter file to be made, or replaced by another filter. From named_claim on no other
 * run can write to it. */
typedef struct named_target {
    const char *name;
    int lock;
    bool existed, force;
} named_target;

/* Checks that NAME can be written, before the work is done; a file that exists is
 * refused unless FORCE, and locked. Ends the program if it is not possible. */
named_target named_claim(const char *name, bool force);

/* Writes F there, whole, and ends the claim. Ends the program if it fails. */
void named_fulfil(named_target *t, const seen_filter *f);

/* Reports the library's last failure, with NAME, and ends the program. */
void named_die(const char *name, int code) __attribute__((noreturn));

enum { OPT_WAIT = 0x410, OPT_PRIVATE };
#define PRIVATE_OPTION                                                                 \
    {                                                                                  \
        OPT_PRIVATE, "private", NULL,                                                  \
            "Nobody else may read the filter's file (mode 0600): it holds the secret " \
            "of its hash."                                                             \
    }
/* For commands that write a filter's file. */
#define FILE_OPTIONS                                                                   \
    {OPT_WAIT, "wait", "[SECONDS]",                                                    \
     "If another run is writing the filter, wait until it is done, at most SECONDS "   \
     "[for ever], instead of failing."},                                               \
        PRIVATE_OPTION
/* Takes --wait and --private; returns whether KEY was one of them. They apply to every
 * lock and every filter's file of this run. */
bool file_option(const kit_parse *p, int key);
#endif
