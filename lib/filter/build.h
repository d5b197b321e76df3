/* build.h - the keys that build.c has collected, for build_solve.c to solve. */
#ifndef SN_BUILD_H
#define SN_BUILD_H
#include "base/fail.h"
#include "filter/filter.h"
#include <pthread.h>

/* Keys are kept as m = remix(hash), grouped by their first PART_BITS bits. */
#define SN_PART_BITS 11
#define SN_PARTS (1 << SN_PART_BITS)

/* The keys that were in memory at once, in order of their parts. */
typedef struct sn_run {
    uint64_t at;                  /* byte of the temporary file */
    uint32_t start[SN_PARTS + 1]; /* key with which each part starts */
} sn_run;

struct seen_builder {
    seen_build_spec spec;
    sn_hasher hasher;
    /* The caller's allocator behind a lock, because the solving threads use it too; or
     * the system's. */
    seen_allocator alloc;
    pthread_mutex_t memory;
    char *tmp;
    uint64_t work; /* bytes of memory to work with */
    int failed;    /* the code that ended it */

    uint64_t total; /* keys added */
    uint64_t *fill; /* being filled: `used` of `room`, at most `cap` */
    uint64_t used, room, cap;

    int fd;           /* of the temporary file; -1: none yet */
    uint64_t spilled; /* bytes in it */
    sn_run **run;
    uint64_t runs_room;
    uint32_t runs; /* on disk */

    /* The thread that writes a run; the fields are its own while it runs. */
    pthread_t writer;
    bool writing;
    uint64_t *full, full_n, *parted, parted_room;
    sn_run *full_run;
    sn_failure write_failed;
};

/* Ends the taking: all keys are in runs on disk, or, if there is none, in b->fill,
 * grouped by parts as *START says. */
int sn_builder_close(seen_builder *b, uint32_t start[SN_PARTS + 1]);
/* Calls the caller's progress function; OF is 0 while keys are collected. SEEN_ECANCEL
 * if it asks to stop. */
int sn_builder_tell(seen_builder *b, uint64_t done, uint64_t of);
/* An unnamed file in the builder's folder with room for LEN more bytes, or a code. */
int sn_builder_temporary(seen_builder *b, uint64_t len);
/* Fails if fewer than LEN bytes are free on the file system of FD. */
int sn_builder_space(seen_builder *b, int fd, uint64_t len);
#endif
