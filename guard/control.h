/* control.h - what the processes of one guard share: a small file in shared memory.
 *
 * It holds which filter is in use and which is being built (one 64-bit word, so that
 * both are read at one moment), the keys being written right now, and counters. It is
 * memory, not a format: it lives until the machine is booted, and is not looked into
 * afterwards. Nothing here blocks, so a process may be killed at any instruction.
 *
 * The order that keeps the promise. A writer marks its key in a slot, then reads the
 * word and adds to both filters, then commits, then clears the slot. A builder
 * publishes the new filter's number in the word, then adds the keys of all slots,
 * then takes its snapshot. Whichever way the two interleave: the writer saw the new
 * filter, or the builder saw the slot, or the slot was already cleared and the
 * snapshot holds the row. A writer that dies leaves its slot, so this holds for rows
 * whose commit arrives after the death of their writer, too. */
#ifndef GUARD_CONTROL_H
#define GUARD_CONTROL_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

enum { CONTROL_SLOTS = 1 << 16, CONTROL_WINDOW = 64 };

/* Why there is no filter in use. */
enum control_why { WHY_LOADING, WHY_STALE, WHY_LOST };

typedef struct control_slot {
    _Atomic uint64_t hash;
    _Atomic uint64_t owner; /* 0: free; pid << 32 | seconds; pid 0: in doubt */
} control_slot;

typedef struct control {
    char magic[8];
    char boot[40]; /* the boot this memory belongs to */
    uint64_t seed; /* of the filters' hash: secret, the same for all of them */
    _Atomic uint64_t tag;
    _Atomic uint64_t word; /* filter in use << 32 | filter being built; 0: none */
    _Atomic uint32_t last; /* the last number given to a filter */
    _Atomic uint32_t why;
    _Atomic uint32_t suspended; /* no background build until somebody asks for one */
    _Atomic uint64_t epoch;     /* part of all cache keys: changed, all is forgotten */
    _Atomic uint64_t server;    /* the cache server that the epoch is good for */
    _Atomic uint64_t built, added, deleted, capacity;
    _Atomic uint64_t tokens; /* leases given */
    _Alignas(4096) control_slot slot[CONTROL_SLOTS];
} control;

static inline uint32_t word_live(uint64_t w)
{
    return (uint32_t)(w >> 32);
}
static inline uint32_t word_next(uint64_t w)
{
    return (uint32_t)w;
}
static inline uint64_t word_of(uint32_t live, uint32_t next)
{
    return (uint64_t)live << 32 | next;
}

/* Maps PATH, made if missing. What another boot or another TAG has left is not
 * enforced. NULL with a reason. */
control *sn_control_open(const char *path, uint64_t tag);
void sn_control_close(control *c);

/* Takes LIVE out of use, if it still is in use. */
void sn_control_drop_live(control *c, uint32_t live, enum control_why why);

/* Marks HASH as being written; NULL if its neighbourhood is full. If it is marked
 * already by a writer that died or did not know the outcome, that mark serves (*KEPT)
 * and is not to be cleared. */
control_slot *sn_control_claim(control *c, uint64_t hash, bool *kept);
void sn_control_clear(control_slot *s);
/* The write of S has an unknown outcome: stays marked, without an owner. */
void sn_control_doubt(control_slot *s);
/* Whether nobody will ever end the write of a slot with this OWNER. */
bool sn_control_is_doubt(uint64_t owner);
/* Whether somebody is writing HASH, or may have. */
bool sn_control_writing(const control *c, uint64_t hash);

/* The right to build, or -1 if another process has it. Given up by sn_control_unlock,
 * or by dying. */
int sn_control_lock_build(const char *path);
void sn_control_unlock(int fd);
#endif
