/* seen_guard.h - filter, cache, database: no query for what does not exist.
 *
 * A guard stands in front of a database table with keys and values. A key that was
 * never inserted is refused by a filter in shared memory, without a query and without a
 * trace in the cache. Keys that the filter lets through in vain (its false positives,
 * deleted keys) are remembered in the cache for seconds. Many readers of one missing
 * entry cost one query.
 *
 *     seen_guard_db db;
 *     seen_guard_cache cache;
 *     seen_guard_sql sql = { .get = "SELECT body FROM item WHERE id = $1",
 *                            .scan = "SELECT id FROM item" };
 *     seen_guard_postgres("dbname=shop", &sql, 8, &db);
 *     seen_guard_redis("127.0.0.1", 6379, "item:", 8, &cache);
 *     seen_guard_config config = { .path = "/var/lib/seen/item", .keys = 1000000,
 *                                  .db = db, .cache = cache,
 *                                  .flags = SEEN_GUARD_BACKGROUND };
 *     seen_guard *g;
 *     if (seen_guard_open(&config, &g) < 0) ...
 *     int rc = seen_guard_get(g, "4711", 4, &value);      1, 0 or an error
 *
 * The one promise: **a key that is in the database is never refused**, at any moment,
 * whichever process is killed, as long as every insert goes through a guard on this
 * machine with the same .path. Whenever the guard cannot know, it asks the database
 * (it fails open), and its statistics say so.
 *
 * A guard may be used by many threads, and by many processes that open the same .path.
 * It survives a fork: the child makes its own connections, and has no background
 * thread. All processes run as one user. Keys are bytes: the database must not call two
 * keys equal that differ ("042" and "42" in an integer column).
 *
 * Stability. The guard is young: until version 1.0 a minor version may change any of
 * this, and CHANGELOG.md lists each change. The promise above does not change.
 */
#ifndef SEEN_GUARD_H
#define SEEN_GUARD_H

#include <seen.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SEEN_GUARD_API __attribute__((visibility("default")))
#else
#define SEEN_GUARD_API
#endif

/* A value from the database: .data is from malloc, the caller frees it. */
typedef struct seen_guard_bytes {
    void *data;
    size_t len;
} seen_guard_bytes;

/* Codes of the guard, beside those of enum seen_code. */
#define SEEN_GUARD_DOUBT                                                               \
    (-100)                        /* a write whose outcome is unknown: the connection  \
                                     broke while it was committed */
#define SEEN_GUARD_CROWDED (-101) /* no connection became free in time */
#define SEEN_GUARD_TIMEOUT (-102) /* the database did not answer in time */

/* ---- the database ---------------------------------------------------------------- */

/* Calls may come from many threads at once. Errors are negative: enum seen_code, or one
 * of the three above. */
typedef struct seen_guard_db {
    void *ctx;
    /* 1 and *VALUE (from malloc), or 0: there is no such key. */
    int (*get)(void *ctx, const void *key, size_t len, seen_guard_bytes *value);
    /* One insert, committed: 1, 0 if the key was there, an error if certainly not
     * done, SEEN_GUARD_DOUBT. NULL: see seen_guard_begin. */
    int (*insert)(void *ctx, const void *key, size_t len, const void *value,
                  size_t vlen);
    /* One delete, committed: 1, 0 if there was no such key, else as above. */
    int (*erase)(void *ctx, const void *key, size_t len);
    /* Calls EACH for every key of one snapshot that is taken after this call began;
     * ends early, with its result, if EACH returns non-zero. */
    int (*scan)(void *ctx, int (*each)(void *arg, const void *key, size_t len),
                void *arg);
    void (*close)(void *ctx); /* by seen_guard_close; NULL: nothing to do */
    /* Names the database and the set of keys that SCAN returns, so that a filter of
     * another database is never used; valid until close. NULL: not known. */
    const char *identity;
} seen_guard_db;

/* Statements for the adapters. The key is parameter 1, the value 2: ?1 and ?2 in
 * SQLite, $1 and $2 in PostgreSQL. SCAN returns all keys as GET would be asked for
 * them. Only GET and SCAN are needed. An INSERT should not fail for keys that are
 * there (ON CONFLICT DO NOTHING). */
typedef struct seen_guard_sql {
    const char *get, *insert, *erase, *scan;
    bool binary;       /* keys and values are bytea or BLOB; otherwise text */
    unsigned wait_ms;  /* for a free connection; 0: 5000 */
    unsigned query_ms; /* for one statement other than SCAN; 0: 5000 */
} seen_guard_sql;

/* Adapters; CONNECTIONS (0: 8) are opened as needed. SEEN_EIO, and seen_guard_reason();
 * so does a library that was built without libpq or sqlite3. The SQLite database should
 * be in WAL mode, or writers wait while a filter is built. */
SEEN_GUARD_API int seen_guard_postgres(const char *conninfo, const seen_guard_sql *sql,
                                       unsigned connections, seen_guard_db *out);
SEEN_GUARD_API int seen_guard_sqlite(const char *path, const seen_guard_sql *sql,
                                     unsigned connections, seen_guard_db *out);

/* ---- the cache ------------------------------------------------------------------- */

enum {
    SEEN_GUARD_HIT = 1,    /* a value */
    SEEN_GUARD_MARKER = 0, /* known to be absent */
    SEEN_GUARD_LEASED = 2, /* nothing there: this caller shall fill it */
    SEEN_GUARD_BUSY = 3    /* nothing there: another caller is about to fill it */
};

/* All entries have a time to live in milliseconds. Errors are negative; a cache that
 * fails costs queries, never answers. */
typedef struct seen_guard_cache {
    void *ctx;
    /* One of the four above. Without an entry, one is made that says that TOKEN is
     * filling it. *SERVER is a number for the server that answered: other after a
     * restart, which may have brought back old entries. */
    int (*get)(void *ctx, const void *key, size_t len, uint64_t token,
               unsigned lease_ms, seen_guard_bytes *value, uint64_t *server);
    /* Sets the entry to VALUE, or to the marker if VALUE is NULL, if it still says
     * that TOKEN is filling it: 1, or 0 if not. */
    int (*fill)(void *ctx, const void *key, size_t len, uint64_t token,
                const seen_guard_bytes *value, unsigned ttl_ms);
    /* Removes the entry if it still says that TOKEN is filling it. */
    int (*release)(void *ctx, const void *key, size_t len, uint64_t token);
    /* Removes the entry, whatever it is. */
    int (*drop)(void *ctx, const void *key, size_t len);
    void (*close)(void *ctx);
} seen_guard_cache;

/* Redis (or Valkey) through hiredis; PREFIX before all keys. Servers that do not
 * answer within half a second are passed by. */
SEEN_GUARD_API int seen_guard_redis(const char *host, int port, const char *prefix,
                                    unsigned connections, seen_guard_cache *out);

/* ---- the guard ------------------------------------------------------------------- */

enum {
    SEEN_GUARD_BACKGROUND = 1, /* a thread builds the filter when it is due */
    SEEN_GUARD_NO_FILTER = 2,  /* ask no filter, for comparison (inserts still add) */
    SEEN_GUARD_NO_MARKERS = 4, /* do not remember absent keys in the cache */
    SEEN_GUARD_FLAGS = 7       /* all of them; others are refused */
};

/* ---- many machines --------------------------------------------------------------- */

/* Another place for the filter: a Redis (5 or later) or Valkey server that guards on
 * many machines share, without a module. Filter and cache are asked in one round trip.
 *
 * A key is in the filter, confirmed, before its row is committed, so while the server
 * cannot be reached reads fail open and **writes are refused**. After a restart or a
 * failover of the server the filter is not believed until it is rebuilt.
 *
 * Times are leases and the same for all machines. docs/guard.md, "Many machines". */
typedef struct seen_guard_shared {
    const char *servers; /* "10.0.0.1:6379,10.0.0.2:6379": the master and those that may
                            become it; whichever says that it is the master is used */
    const char *name;    /* of the filter, and the start of all keys */
    const char *user, *password; /* NULL: none */
    unsigned connections;        /* 0: 8 */
    unsigned replicas; /* that must confirm each write (WAIT): so many that they and the
                          master are more than half of all servers. 0: there is only
                          one, or no other is ever made master */
    unsigned write_lease_ms; /* from begin to commit, at most; 0: 30000 */
    unsigned
        enforce_lease_ms; /* how long a master without its replicas may refuse keys,
                             and how long a new one waits; with .replicas; 0: 3000 */
    uint64_t reserved[4]; /* 0 */
} seen_guard_shared;

typedef struct seen_guard_config {
    const char *path; /* of the shared control file; filters are at PATH.N. Both are
                         made with mode 0600 and hold the secret seed of the hash */
    const char *tag; /* a name beside .db.identity: other name, other filter; or NULL */
    uint64_t keys;   /* expected; the filter grows when it is rebuilt. 0: 100000 */
    double error;    /* of the filter when full; 0: 0.01 */
    seen_guard_db db;
    seen_guard_cache cache; /* all zero: none; with .shared, always that server */
    const seen_guard_shared *shared; /* instead of .path; copied */
    unsigned flags;
    unsigned value_ttl_ms;  /* 0: 300000; at most half an hour */
    unsigned marker_ttl_ms; /* 0: 5000 */
    unsigned lease_ms;      /* how long one reader may take to fill; 0: 2000 */
    unsigned wait_ms;       /* how long others wait for it; 0: 1000 */
    double worn;            /* deleted share at which a new filter is due; 0: 0.3 */
    uint64_t reserved[4];   /* 0 */
} seen_guard_config;

typedef struct seen_guard seen_guard;

/* Opens the guard at config->path, made if missing. It fails open until a filter has
 * been built: by the background thread, or by seen_guard_build(). SEEN_EINVAL for a
 * field out of range, an unknown flag or a reserved field that is not 0; SEEN_EIO if
 * PATH cannot be made, belongs to somebody else or may be read by others; SEEN_EFORMAT
 * if it is another kind of file; SEEN_ENOMEM. */
SEEN_GUARD_API int seen_guard_open(const seen_guard_config *config, seen_guard **out);
SEEN_GUARD_API void seen_guard_close(seen_guard *g); /* closes the adapters too */

/* 1 and *VALUE, 0 if there is no such key, SEEN_EIO, SEEN_GUARD_CROWDED or
 * SEEN_GUARD_TIMEOUT if the database could not be asked. VALUE may be NULL. */
SEEN_GUARD_API int seen_guard_get(seen_guard *g, const void *key, size_t len,
                                  seen_guard_bytes *value);

/* One insert or delete through the adapter; results as there. SEEN_EFULL if too many
 * keys are being written at once. */
SEEN_GUARD_API int seen_guard_insert(seen_guard *g, const void *key, size_t len,
                                     const void *value, size_t vlen);
SEEN_GUARD_API int seen_guard_erase(seen_guard *g, const void *key, size_t len);

/* For writes of your own, in any transaction: begin **before the commit** with all its
 * keys (inserted, changed or deleted ones; at most SEEN_GUARD_BATCH), commit, then end
 * with the outcome. A process that dies in between leaves its keys marked: from then on
 * they are in every filter and asked in the database. SEEN_ETOOBIG, SEEN_EFULL,
 * SEEN_ENOMEM; SEEN_EIO if .path was deleted: then do not commit. */
#define SEEN_GUARD_BATCH 16384
enum { SEEN_GUARD_COMMITTED, SEEN_GUARD_ABORTED, SEEN_GUARD_UNKNOWN };
typedef struct seen_guard_write seen_guard_write;
SEEN_GUARD_API int seen_guard_begin(seen_guard *g, const seen_key *keys, size_t n,
                                    seen_guard_write **out);
/* DELETED of the keys no longer exist. W is freed. */
SEEN_GUARD_API void seen_guard_end(seen_guard_write *w, int outcome, uint64_t deleted);

/* Builds a new filter from the table, while reads and writes go on, and publishes it
 * to all processes with one swap: 1, 0 if another process is building, or an error
 * (the filter in use then stays). */
SEEN_GUARD_API int seen_guard_build(seen_guard *g);

/* Fails open, in all processes, until the next seen_guard_build. Call it before keys
 * are inserted past the guard (a restored dump, psql). 0; with .shared SEEN_EIO if the
 * server cannot be reached: then do not start. */
SEEN_GUARD_API int seen_guard_suspend(seen_guard *g);

typedef struct seen_guard_stats {
    /* Of this process: */
    uint64_t gets;       /* questions */
    uint64_t refused;    /* answered by the filter: absent */
    uint64_t open;       /* failed open: there was no filter to ask */
    uint64_t hits;       /* answered by the cache: values */
    uint64_t markers;    /* answered by the cache: absent */
    uint64_t joined;     /* answered by another caller's query */
    uint64_t queries;    /* asked the database */
    uint64_t misses;     /* of which the key was not there */
    uint64_t past_cache; /* of which the key was being written, so no cache */
    uint64_t cache_errors, db_errors;
    uint64_t crowded, timeouts; /* of which: no free connection, no answer in time */
    uint64_t writes, doubts;    /* doubts: writes of unknown outcome */
    uint64_t builds, build_errors;
    /* Of the filter all share: */
    const char *state;   /* "enforcing", or why not: "loading", "stale" (of another boot
                            or database), "lost", "suspended", "foreign" (.path now
                            belongs to another database), "deleted" (.path is gone:
                            close the guard and open it again), "unreachable" (the
                            server of .shared), "waiting" (for its replicas) */
    uint32_t generation; /* of the filter in use; 0: none */
    uint64_t keys;       /* in it when built, and added since */
    uint64_t deleted;    /* since its build began */
    uint64_t capacity;
    uint64_t bytes;
    uint64_t in_flight; /* keys being written now, or of unknown outcome */
} seen_guard_stats;
SEEN_GUARD_API void seen_guard_get_stats(seen_guard *g, seen_guard_stats *out);

/* What went wrong in the last call of this thread that failed; never NULL. */
SEEN_GUARD_API const char *seen_guard_reason(void);

#ifdef __cplusplus
}
#endif
#endif
