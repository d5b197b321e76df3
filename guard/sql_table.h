/* sql_table.h - what a table in an SQL database has in common, whichever the database:
 * the statements, a pool of connections, and how both are opened and closed. */
#ifndef GUARD_SQL_TABLE_H
#define GUARD_SQL_TABLE_H
#include "pool.h"
#include "seen_guard.h"

enum { SQL_GET, SQL_INSERT, SQL_ERASE, SQL_SCAN, SQL_STATEMENTS };

typedef struct sql_table sql_table;

/* One kind of database. Connections belong to the pool. */
typedef struct sql_kind {
    void *(*connect)(sql_table *t); /* NULL with a reason */
    void (*disconnect)(void *conn);
    void (*abandon)(void *conn); /* see pool.h */
    /* A text, from malloc, that no other database has; NULL with a reason. */
    char *(*identify)(sql_table *t, void *conn);
    /* As in seen_guard_db; WHICH is SQL_INSERT or SQL_ERASE, which has no value. */
    int (*get)(void *table, const void *key, size_t len, seen_guard_bytes *value);
    int (*change)(sql_table *t, int which, const void *key, size_t len,
                  const void *value, size_t vlen);
    int (*scan)(void *table, int (*each)(void *, const void *, size_t), void *arg);
} sql_kind;

struct sql_table {
    pool pool;
    const sql_kind *kind;
    char *where;    /* the database is */
    char *identity; /* of the database and of SQL_SCAN, by the first connection */
    char *sql[SQL_STATEMENTS];
    bool binary;
    unsigned query_ms;
};

/* Opens the table with one connection, so that a wrong statement is reported here. */
int sn_sql_table_open(const sql_kind *kind, const char *where,
                      const seen_guard_sql *sql, unsigned connections,
                      seen_guard_db *out);

/* A copy of the LEN bytes at P as a value: 1, or SEEN_ENOMEM. */
int sn_sql_value(const void *p, size_t len, seen_guard_bytes *value);
#endif
