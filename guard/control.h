/* control.h - what the processes of one guard share: a small file in shared memory.
 *
 * It holds the number of the filter in use and of the one being built (one 64-bit word,
 * so that both are read at one moment), the keys being written right now, and counters.
 * It is memory, not a format: it is valid until the next boot. Nothing here blocks, so
 * a process may be killed at any instruction.
 *
 * The order that keeps the promise. A writer marks its key in a slot, then reads the
 * word and adds to both filters, then commits, then clears the slot. A builder
 * publishes the new filter's number in the word, then adds the keys of all slots,
 * then takes its snapshot. However the two interleave: the writer saw the new filter,
 * or the builder saw the slot, or the slot was already cleared and the snapshot holds
 * the row. A writer that dies leaves its slot, so this also holds for rows whose commit
 * arrives after the death of their writer. */
#ifndef GUARD_CONTROL_H
#define GUARD_CONTROL_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    CONTROL_SLOTS = 1 << 16,
    CONTROL_WINDOW = 64,      /* slots that one key may use */
    CONTROL_WRITES = 1 << 10, /* counters of writes, selected by hash */
    CONTROL_LOOK_MS = 100, /* how often a process looks whether PATH is still there */
    CONTROL_QUIET_MS = 250 /* a new control file takes no writes for so long */
};

/* Why no filter is in use. */
enum open_because { OPEN_LOADING, OPEN_STALE, OPEN_LOST };

typedef struct control_slot {
    _Atomic uint64_t hash;
    _Atomic uint64_t owner; /* 0: free; pid << 32 | seconds; pid 0: in doubt */
} control_slot;

typedef struct control {
    char magic[8];
    char boot[40];    /* the boot this memory belongs to */
    uint64_t seed[2]; /* of the filters' hash: secret, the same for all of them */
    int64_t born_ms;  /* when the file was made, by the clock of this boot */
    _Atomic uint64_t tag;
    _Atomic uint64_t live_and_next; /* see below; 0: none */
    _Atomic uint32_t last;          /* the last number given to a filter */
    _Atomic uint32_t why;           /* enum open_because */
    _Atomic uint32_t suspended; /* no background build until somebody asks for one */
    _Atomic uint64_t epoch;     /* part of all cache keys: a new one forgets them all */
    _Atomic uint64_t server;    /* the cache server that the epoch is good for */
    _Atomic uint64_t built, added, deleted, capacity;
    _Atomic uint64_t tokens;                 /* leases given */
    _Atomic uint32_t writes[CONTROL_WRITES]; /* begun, by hash */
    _Alignas(4096) control_slot slot[CONTROL_SLOTS];
} control;

/* The word: the filter in use << 32 | the filter being built. */
static inline uint32_t live_of(uint64_t w)
{
    return (uint32_t)(w >> 32);
}
static inline uint32_t next_of(uint64_t w)
{
    return (uint32_t)w;
}
static inline uint64_t live_and_next(uint32_t live, uint32_t next)
{
    return (uint64_t)live << 32 | next;
}

/* The mapped file. PATH may be deleted while processes run; others then make a new
 * file, and this process no longer learns about their keys. */
typedef struct control_file {
    control *mapped;
    char *path;
    dev_t device;
    ino_t inode;
    _Atomic int64_t looked_ms;
    _Atomic bool gone;
} control_file;

/* Maps PATH and creates it if it is missing. A filter of another boot or TAG is not
 * enforced. Links, files of other users and files that others may read are refused.
 * 0 or a negative code with a reason. */
int sn_control_open(control_file *f, const char *path, uint64_t tag);
void sn_control_close(control_file *f);

/* Whether PATH no longer names the mapped file; once true, always true. The
 * answer is at most MAX_AGE_MS old. A new control file takes no writes for
 * CONTROL_QUIET_MS, so an answer not older than CONTROL_LOOK_MS is in time. */
bool sn_control_gone(control_file *f, unsigned max_age_ms);

/* Milliseconds until the first write or scan, 0 for all but new files. */
int64_t sn_control_quiet_ms(const control *c);

/* Takes LIVE out of use, if it still is in use. */
void sn_control_drop_live(control *c, uint32_t live, enum open_because why);

/* Marks HASH as being written; NULL if its neighbourhood is full. *KEPT: the slot is
 * that of an earlier write in doubt, and stays when this one ends. */
control_slot *sn_control_claim(control *c, uint64_t hash, bool *kept);
void sn_control_clear(control_slot *s);
/* Leaves the mark: it is not known whether the write was committed. */
void sn_control_doubt(control_slot *s);

/* Whether OWNER is a writer that died or did not learn the outcome. */
bool sn_control_is_doubt(uint64_t owner);
/* Seconds since OWNER's mark was made. */
uint32_t sn_control_age(uint64_t owner);

/* Whether somebody is writing HASH, or may have. */
bool sn_control_writing(const control *c, uint64_t hash);

/* The right to build, or -1 if another process has it. Given up by sn_control_unlock,
 * or by dying. */
int sn_control_lock_build(const char *path);
void sn_control_unlock(int fd);

/* Opens PATH for reading and writing if it is a regular file of this user that nobody
 * else can read, and no link: a descriptor, or -1 with a reason and errno. FLAGS are
 * those of open(2). */
int sn_control_open_private(const char *path, int flags);
#endif
