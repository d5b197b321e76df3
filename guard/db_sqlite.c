/* db_sqlite.c - a table in SQLite as the guard's database. */
#include "guard_inside.h"
#include "sql_store.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { BUSY_MS = 5000 };

typedef struct connection {
    sqlite3 *db;
    sqlite3_stmt *st[SQL_STATEMENTS];
} connection;

static void disconnect(void *p)
{
    connection *c = p;
    for (int i = 0; i < SQL_STATEMENTS; i++)
        sqlite3_finalize(c->st[i]);
    sqlite3_close(c->db);
    free(c);
}

static void *connect_sqlite(void *ctx)
{
    sql_store *s = ctx;
    connection *c = calloc(1, sizeof *c);
    if (!c) {
        sn_guard_fail(SEEN_ENOMEM, "no memory");
        return NULL;
    }
    int rc = sqlite3_open_v2(s->where, &c->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        sqlite3_busy_timeout(c->db, BUSY_MS);
    for (int i = 0; i < SQL_STATEMENTS && rc == SQLITE_OK; i++)
        if (s->sql[i])
            rc = sqlite3_prepare_v3(c->db, s->sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                    c->st + i, NULL);
    if (rc != SQLITE_OK) {
        sn_guard_fail(SEEN_EIO, "sqlite %s: %s", s->where, sqlite3_errmsg(c->db));
        disconnect(c);
        return NULL;
    }
    return c;
}

static void bind(const sql_store *s, sqlite3_stmt *st, int at, const void *p,
                 size_t len)
{
    if (s->binary)
        sqlite3_bind_blob64(st, at, len ? p : "", len, SQLITE_STATIC);
    else
        sqlite3_bind_text64(st, at, len ? p : "", len, SQLITE_STATIC, SQLITE_UTF8);
}

static int failed(const sql_store *s, connection *c)
{
    return sn_guard_fail(SEEN_EIO, "sqlite %s: %s", s->where, sqlite3_errmsg(c->db));
}

static int get(void *ctx, const void *key, size_t len, seen_guard_bytes *value)
{
    sql_store *s = ctx;
    connection *c = sn_pool_take(&s->pool);
    if (!c)
        return SEEN_EIO;
    sqlite3_stmt *st = c->st[SQL_GET];
    bind(s, st, 1, key, len);
    int step = sqlite3_step(st), rc = 0;
    if (step == SQLITE_ROW) {
        const void *p =
            s->binary ? sqlite3_column_blob(st, 0) : sqlite3_column_text(st, 0);
        value->len = (size_t)sqlite3_column_bytes(st, 0);
        value->data = malloc(value->len + 1);
        if (value->data && value->len)
            memcpy(value->data, p, value->len);
        rc = value->data ? 1 : sn_guard_fail(SEEN_ENOMEM, "no memory");
    } else if (step != SQLITE_DONE) {
        rc = failed(s, c);
    }
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    sn_pool_give(&s->pool, c, rc < 0);
    return rc;
}

/* One statement that commits by itself. In this process there is no doubt: a step
 * that fails was rolled back. */
static int change(sql_store *s, int which, const void *key, size_t len,
                  const void *value, size_t vlen)
{
    connection *c = sn_pool_take(&s->pool);
    if (!c)
        return SEEN_EIO;
    sqlite3_stmt *st = c->st[which];
    bind(s, st, 1, key, len);
    if (which == SQL_INSERT && sqlite3_bind_parameter_count(st) > 1)
        bind(s, st, 2, value, vlen);
    int step = sqlite3_step(st), rc;
    if (step == SQLITE_DONE)
        rc = sqlite3_changes(c->db) > 0;
    else if (step == SQLITE_CONSTRAINT && which == SQL_INSERT)
        rc = 0;
    else
        rc = failed(s, c);
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    sn_pool_give(&s->pool, c, rc < 0);
    return rc;
}

/* One SELECT is one snapshot; it begins with the first step. */
static int scan(void *ctx, int (*each)(void *, const void *, size_t), void *arg)
{
    sql_store *s = ctx;
    connection *c = sn_pool_take(&s->pool);
    int rc = 0, step = SQLITE_DONE;
    if (!c)
        return SEEN_EIO;
    sqlite3_stmt *st = c->st[SQL_SCAN];
    while (rc == 0 && (step = sqlite3_step(st)) == SQLITE_ROW) {
        const void *p =
            s->binary ? sqlite3_column_blob(st, 0) : sqlite3_column_text(st, 0);
        if (sqlite3_column_type(st, 0) != SQLITE_NULL)
            rc = each(arg, p ? p : "", (size_t)sqlite3_column_bytes(st, 0));
    }
    if (rc == 0 && step != SQLITE_DONE)
        rc = failed(s, c);
    sqlite3_reset(st);
    sn_pool_give(&s->pool, c, rc < 0);
    return rc;
}

int seen_guard_sqlite(const char *path, const seen_guard_sql *sql, unsigned connections,
                      seen_guard_db *out)
{
    static const sql_kind sqlite = {connect_sqlite, disconnect, get, change, scan};
    return sn_sql_open(&sqlite, path, sql, connections, out);
}
