/* sql_store.h - what a table in an SQL database has in common, whoever the database is:
 * the statements, a pool of connections, and how both are opened and closed. */
#ifndef GUARD_SQL_STORE_H
#define GUARD_SQL_STORE_H
#include "pool.h"
#include "seen_guard.h"

enum { SQL_GET, SQL_INSERT, SQL_ERASE, SQL_SCAN, SQL_STATEMENTS };

typedef struct sql_store sql_store;

/* One database. Connections belong to the pool; connect gets the store. */
typedef struct sql_kind {
    void *(*connect)(void *store);
    void (*disconnect)(void *conn);
    /* As in seen_guard_db; WHICH is SQL_INSERT or SQL_ERASE, which has no value. */
    int (*get)(void *store, const void *key, size_t len, seen_guard_bytes *value);
    int (*change)(sql_store *s, int which, const void *key, size_t len,
                  const void *value, size_t vlen);
    int (*scan)(void *store, int (*each)(void *, const void *, size_t), void *arg);
} sql_kind;

struct sql_store {
    pool pool;
    const sql_kind *kind;
    char *where; /* the database is */
    char *sql[SQL_STATEMENTS];
    bool binary;
};

/* Opens the table, with one connection at once: a wrong statement is told here. */
int sn_sql_open(const sql_kind *kind, const char *where, const seen_guard_sql *sql,
                unsigned connections, seen_guard_db *out);
#endif
