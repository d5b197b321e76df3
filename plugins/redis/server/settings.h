/* settings.h - what CONFIG SET and the module's arguments decide.
 *
 * RedisBloom's names and valkey-bloom's names are two names for one setting. */
#ifndef SEEN_SETTINGS_H
#define SEEN_SETTINGS_H
#include "server/module_api.h"

enum { LAYOUT_FAST = 0, LAYOUT_COMPAT = 1 };

/* The limits RedisBloom states in its error texts. */
#define MAX_CAPACITY (1LL << 30)
#define MAX_EXPANSION 32768
#define MAX_ERROR 0.25

typedef struct settings {
    long long layout;       /* of new filters */
    double error;           /* of filters that BF.ADD, MADD and INSERT create */
    long long capacity;     /* of those */
    long long expansion;    /* of those; 0: never grow */
    double tightening;      /* error of a layer over that of the one before */
    long long memory_limit; /* bytes one filter may take; 0: see memory_limit() */
    long long random_seed;  /* whether new filters hash with a seed of their own */
    long long defrag;
    long long cf_bucket_size;
    long long cf_capacity;
    long long cf_max_iterations;
    long long cf_expansion;
    long long cf_max_expansions;
} settings;

extern settings conf;

/* Registers every setting, then applies the configuration file and the arguments of
 * loadmodule. RM_ERR, with a line in the log, for an argument it does not know. */
int settings_load(rm_ctx *ctx, rm_str **argv, int argc);

/* Whether the command comes from a master or from an append-only file: it was allowed
 * when it was first given, so no limit applies. */
bool is_replayed(rm_ctx *ctx);

/* Whether a filter whose creation names no layout gets RedisBloom's. A replayed
 * creation that names none does: fast ones always name theirs, so it was written by
 * RedisBloom or for RedisBloom. Otherwise the setting decides. */
bool default_is_compat(rm_ctx *ctx);

/* The bytes one filter may take: the setting, or if that is 0 the smaller of maxmemory
 * and half of the machine's memory. No limit (UINT64_MAX) for replayed commands. */
uint64_t memory_limit(rm_ctx *ctx);

/* The same for a value that is being read: no limit while the server loads a file or
 * follows a master, but RESTORE gets no further than BF.RESERVE. */
uint64_t memory_limit_io(rm_io *io);

#endif
