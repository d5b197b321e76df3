/* db_sqlite.c - a table in SQLite as the guard's database. */
#include "guard_internal.h"
#include "sql_table.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STEPS = 10000 }; /* of SQLite's machine between two looks at the clock */

typedef struct sqlite_connection {
    sqlite3 *db;
    sqlite3_stmt *statement[SQL_STATEMENTS];
    int64_t end; /* when the statement must be done; 0: whenever */
} sqlite_connection;

static void disconnect(void *p)
{
    sqlite_connection *c = p;
    for (int i = 0; i < SQL_STATEMENTS; i++)
        sqlite3_finalize(c->statement[i]);
    sqlite3_close(c->db);
    free(c);
}

/* SQLite forbids the child of a fork to touch the parent's connection in any way. */
static void abandon(void *p)
{
    (void)p;
}

static int is_late(void *p)
{
    const sqlite_connection *c = p;
    return c->end && sn_guard_now_ms() > c->end;
}

static void *connect_sqlite(sql_table *t)
{
    sqlite_connection *c = calloc(1, sizeof *c);
    if (!c) {
        sn_guard_fail(SEEN_ENOMEM, "no memory");
        return NULL;
    }
    int rc = sqlite3_open_v2(t->where, &c->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_busy_timeout(c->db, (int)t->query_ms);
        sqlite3_progress_handler(c->db, STEPS, is_late, c);
    }
    for (int i = 0; i < SQL_STATEMENTS && rc == SQLITE_OK; i++)
        if (t->sql[i])
            rc = sqlite3_prepare_v3(c->db, t->sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                                    c->statement + i, NULL);
    if (rc != SQLITE_OK) {
        sn_guard_fail(SEEN_EIO, "sqlite %s: %s", t->where, sqlite3_errmsg(c->db));
        disconnect(c);
        return NULL;
    }
    return c;
}

/* The file, not its name: a restored copy is another database. */
static char *identify(sql_table *t, void *conn)
{
    sqlite_connection *c = conn;
    const char *file = sqlite3_db_filename(c->db, "main");
    struct stat st = {0};
    char *out = NULL;
    if (file && *file && stat(file, &st) < 0)
        sn_guard_fail(SEEN_EIO, "sqlite %s: the file is gone", t->where);
    else if (asprintf(&out, "sqlite:%llu:%llu/%s", (unsigned long long)st.st_dev,
                      (unsigned long long)st.st_ino, t->sql[SQL_SCAN]) < 0)
        out = NULL;
    return out;
}

static void bind(const sql_table *t, sqlite3_stmt *st, int at, const void *p,
                 size_t len)
{
    if (t->binary)
        sqlite3_bind_blob64(st, at, len ? p : "", len, SQLITE_STATIC);
    else
        sqlite3_bind_text64(st, at, len ? p : "", len, SQLITE_STATIC, SQLITE_UTF8);
}

static int failed(const sql_table *t, sqlite_connection *c)
{
    int code = sqlite3_errcode(c->db);
    return sn_guard_fail(
        code == SQLITE_INTERRUPT || code == SQLITE_BUSY ? SEEN_GUARD_TIMEOUT : SEEN_EIO,
        "sqlite %s: %s", t->where, sqlite3_errmsg(c->db));
}

/* A connection whose statement must be done in time. */
static sqlite_connection *take_timed(sql_table *t, int *code)
{
    sqlite_connection *c = sn_pool_take_or(&t->pool, code);
    if (c)
        c->end = sn_guard_now_ms() + t->query_ms;
    return c;
}

static void finish(sql_table *t, sqlite_connection *c, sqlite3_stmt *st, int rc)
{
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    sn_pool_give(&t->pool, c, rc < 0);
}

static const void *column(const sql_table *t, sqlite3_stmt *st)
{
    const void *p = t->binary ? sqlite3_column_blob(st, 0) : sqlite3_column_text(st, 0);
    return p ? p : "";
}

static int get(void *ctx, const void *key, size_t len, seen_guard_bytes *value)
{
    sql_table *t = ctx;
    int rc = 0;
    sqlite_connection *c = take_timed(t, &rc);
    if (!c)
        return rc;
    sqlite3_stmt *st = c->statement[SQL_GET];
    bind(t, st, 1, key, len);
    int step = sqlite3_step(st);
    if (step == SQLITE_ROW) {
        const void *p = column(t, st);
        rc = sn_sql_value(p, (size_t)sqlite3_column_bytes(st, 0), value);
    } else if (step != SQLITE_DONE) {
        rc = failed(t, c);
    }
    finish(t, c, st, rc);
    return rc;
}

/* One statement that commits by itself. There is no doubt in one process: a step that
 * fails was rolled back. */
static int change(sql_table *t, int which, const void *key, size_t len,
                  const void *value, size_t vlen)
{
    int rc = 0;
    sqlite_connection *c = take_timed(t, &rc);
    if (!c)
        return rc;
    sqlite3_stmt *st = c->statement[which];
    bind(t, st, 1, key, len);
    if (which == SQL_INSERT && sqlite3_bind_parameter_count(st) > 1)
        bind(t, st, 2, value, vlen);
    int step = sqlite3_step(st);
    if (step == SQLITE_DONE)
        rc = sqlite3_changes(c->db) > 0;
    else if (step == SQLITE_CONSTRAINT && which == SQL_INSERT)
        rc = 0;
    else
        rc = failed(t, c);
    finish(t, c, st, rc);
    return rc;
}

/* One SELECT is one snapshot; it begins with the first step. */
static int scan(void *ctx, int (*each)(void *, const void *, size_t), void *arg)
{
    sql_table *t = ctx;
    int rc = 0, step = SQLITE_DONE;
    sqlite_connection *c = sn_pool_take_or(&t->pool, &rc);
    if (!c)
        return rc;
    c->end = 0;
    sqlite3_stmt *st = c->statement[SQL_SCAN];
    while (rc == 0 && (step = sqlite3_step(st)) == SQLITE_ROW) {
        const void *p = column(t, st);
        if (sqlite3_column_type(st, 0) != SQLITE_NULL)
            rc = each(arg, p, (size_t)sqlite3_column_bytes(st, 0));
    }
    if (rc == 0 && step != SQLITE_DONE)
        rc = failed(t, c);
    finish(t, c, st, rc);
    return rc;
}

int seen_guard_sqlite(const char *path, const seen_guard_sql *sql, unsigned connections,
                      seen_guard_db *out)
{
    static const sql_kind sqlite = {connect_sqlite, disconnect, abandon, identify, get,
                                    change,         scan};
    return sn_sql_table_open(&sqlite, path, sql, connections, out);
}
