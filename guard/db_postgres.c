/* db_postgres.c - a table in PostgreSQL as the guard's database, through libpq.
 *
 * No statement waits for ever: the server cancels it after query_ms; if that answer
 * does not come either, the connection is closed a second later. */
#include "guard_internal.h"
#include "sql_table.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GRACE_MS = 1000 };
static const char *const prepared[] = {"seen_get", "seen_insert", "seen_erase"};

static int failed(int code, const char *what)
{
    char line[300];
    snprintf(line, sizeof line, "%s", what);
    line[strcspn(line, "\n")] = 0;
    return sn_guard_fail(code, "postgresql: %s", line);
}

/* ---- connections ----------------------------------------------------------------- */

static void disconnect(void *conn)
{
    PQfinish(conn);
}

/* PQfinish would end the session of the parent: only our descriptor is closed. */
static void abandon(void *conn)
{
    close(PQsocket(conn));
}

static void no_notice(void *arg, const PGresult *res)
{
    (void)arg;
    (void)res;
}

/* Runs SQL without parameters. */
static int run(PGconn *c, const char *sql)
{
    PGresult *r = PQexec(c, sql);
    int rc =
        PQresultStatus(r) == PGRES_COMMAND_OK ? 0 : failed(SEEN_EIO, PQerrorMessage(c));
    PQclear(r);
    return rc;
}

static void *connect_postgres(sql_table *t)
{
    char seconds[16], timeout[64];
    unsigned s = (t->query_ms + 999) / 1000;
    snprintf(seconds, sizeof seconds, "%u", s < 2 ? 2 : s);
    snprintf(timeout, sizeof timeout, "SET statement_timeout = %u", t->query_ms);
    /* Options in the connection string come last and win. */
    const char *const names[] = {
        "connect_timeout",  "keepalives_idle", "keepalives_interval",
        "keepalives_count", "dbname",          NULL};
    const char *const values[] = {seconds, "30", "10", "3", t->where, NULL};
    PGconn *c = PQconnectdbParams(names, values, 1);
    bool good = c && PQstatus(c) == CONNECTION_OK;
    if (good) {
        PQsetNoticeReceiver(c, no_notice, NULL);
        good = run(c, timeout) == 0;
    }
    for (int i = 0; good && i < SQL_SCAN; i++)
        if (t->sql[i]) {
            PGresult *r = PQprepare(c, prepared[i], t->sql[i], 0, NULL);
            good = PQresultStatus(r) == PGRES_COMMAND_OK;
            PQclear(r);
        }
    if (!good) {
        failed(SEEN_EIO, c ? PQerrorMessage(c) : "no memory");
        PQfinish(c);
        return NULL;
    }
    PQsetnonblocking(c, 1);
    return c;
}

/* The cluster, the database, the schemas that names are looked up in, and the keys
 * that SCAN selects. */
static char *identify(sql_table *t, void *conn)
{
    static const char *const sql[] = {
        "SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || "
        "current_setting('port') || '/' || current_database() || '/' || "
        "current_schemas(false)::text",
        "SELECT current_setting('port') || '/' || current_database() || '/' || "
        "current_schemas(false)::text"}; /* without the right to the first */
    char *out = NULL;
    for (int i = 0; i < 2 && !out; i++) {
        PGresult *r = PQexec(conn, sql[i]);
        if (PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1) {
            if (asprintf(&out, "postgresql:%s/%s", PQgetvalue(r, 0, 0),
                         t->sql[SQL_SCAN]) < 0)
                out = NULL;
        } else {
            failed(SEEN_EIO, PQerrorMessage(conn));
        }
        PQclear(r);
    }
    return out;
}

/* ---- statements ------------------------------------------------------------------ */

/* No text in PostgreSQL holds a NUL. */
static bool possible(const sql_table *t, const void *p, size_t len)
{
    return t->binary || !len || !memchr(p, 0, len);
}

/* A copy with a NUL behind it, where text parameters of libpq end. */
static char *parameter(const void *p, size_t len)
{
    char *copy = malloc(len + 1);
    if (copy) {
        if (len)
            memcpy(copy, p, len);
        copy[len] = 0;
    }
    return copy;
}

/* Waits until C can be read (and written, while there is something to send). False if
 * END comes first. */
static bool wait_socket(PGconn *c, bool sending, int64_t end)
{
    int64_t left = end - sn_guard_now_ms();
    struct pollfd p = {PQsocket(c), (short)(POLLIN | (sending ? POLLOUT : 0)), 0};
    return left > 0 && poll(&p, 1, (int)left) != 0;
}

/* The last result of the statement that was sent; NULL if there is none in time. */
static PGresult *await(PGconn *c, int64_t end)
{
    PGresult *last = NULL, *r;
    int sending;
    while ((sending = PQflush(c)) > 0)
        if (!wait_socket(c, true, end) || !PQconsumeInput(c))
            return NULL;
    for (;;) {
        while (sending == 0 && PQisBusy(c))
            if (!wait_socket(c, false, end)) {
                PQclear(last);
                return NULL;
            } else if (!PQconsumeInput(c)) {
                break;
            }
        if (!(r = PQgetResult(c)))
            return last;
        PQclear(last);
        last = r;
    }
}

/* The outcome of a statement: its result, and whether the connection is broken. */
typedef struct outcome {
    PGresult *result; /* NULL: no answer in time */
    bool broken;
} outcome;

/* Runs a prepared statement with key and value. */
static outcome execute(sql_table *t, PGconn *c, int which, const char *key, size_t len,
                       const char *value, size_t vlen)
{
    const char *values[] = {key, value};
    int lens[] = {(int)len, (int)vlen}, formats[] = {t->binary, t->binary};
    int64_t end = sn_guard_now_ms() + t->query_ms + GRACE_MS;
    outcome o = {NULL, true};
    if (PQsendQueryPrepared(c, prepared[which], which == SQL_INSERT ? 2 : 1, values,
                            lens, formats, t->binary)) {
        o.result = await(c, end);
        o.broken = !o.result || PQstatus(c) != CONNECTION_OK;
        if (!o.result && sn_guard_now_ms() >= end)
            failed(SEEN_GUARD_TIMEOUT, "no answer in time");
        else if (!o.result)
            failed(SEEN_EIO, PQerrorMessage(c));
    } else {
        failed(SEEN_EIO, PQerrorMessage(c));
    }
    return o;
}

static bool state_is(const PGresult *r, const char *prefix)
{
    const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    return state && strncmp(state, prefix, strlen(prefix)) == 0;
}

/* 57014: the server cancelled the statement, after statement_timeout. */
static int error_of(PGconn *c, outcome o)
{
    if (!o.result)
        return PQstatus(c) == CONNECTION_OK ? SEEN_GUARD_TIMEOUT : SEEN_EIO;
    return failed(state_is(o.result, "57014") ? SEEN_GUARD_TIMEOUT : SEEN_EIO,
                  PQerrorMessage(c));
}

static int get_once(sql_table *t, const char *key, size_t len, seen_guard_bytes *value,
                    bool *again)
{
    int rc;
    PGconn *c = sn_pool_take_or(&t->pool, &rc);
    if (!c)
        return rc;
    outcome o = execute(t, c, SQL_GET, key, len, NULL, 0);
    if (PQresultStatus(o.result) != PGRES_TUPLES_OK) {
        rc = error_of(c, o);
        *again = o.broken && rc != SEEN_GUARD_TIMEOUT;
    } else if (PQnfields(o.result) < 1) {
        rc = failed(SEEN_EIO, "the query for a value has no column");
    } else if (PQntuples(o.result) == 0) {
        rc = 0;
    } else {
        rc = sn_sql_value(PQgetvalue(o.result, 0, 0),
                          (size_t)PQgetlength(o.result, 0, 0), value);
    }
    PQclear(o.result);
    sn_pool_give(&t->pool, c, o.broken);
    return rc;
}

/* A connection that the server closed while it was idle is noticed only when it is
 * used: a read is then tried once more. */
static int get(void *ctx, const void *key, size_t len, seen_guard_bytes *value)
{
    sql_table *t = ctx;
    bool again = false;
    if (!possible(t, key, len))
        return 0;
    char *k = parameter(key, len);
    if (!k)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    int rc = get_once(t, k, len, value, &again);
    if (again)
        rc = get_once(t, k, len, value, &again);
    free(k);
    return rc;
}

/* Only the server's own verdict on the statement is certain, not that the server or the
 * connection is going down (57, 08, XX). */
static int change_error(PGconn *c, outcome o)
{
    int rc = error_of(c, o);
    if (state_is(o.result, "23505"))
        return 0; /* the key is there */
    if (o.result && rc == SEEN_GUARD_TIMEOUT)
        return rc;
    bool sure = o.result && !o.broken && state_is(o.result, "") &&
                !state_is(o.result, "57") && !state_is(o.result, "08") &&
                !state_is(o.result, "XX");
    return sure ? rc : SEEN_GUARD_DOUBT;
}

static int change(sql_table *t, int which, const void *key, size_t len,
                  const void *value, size_t vlen)
{
    if (!possible(t, key, len) || !possible(t, value, vlen))
        return sn_guard_fail(SEEN_EINVAL, "a NUL in a text key or value");
    char *k = parameter(key, len), *v = parameter(value, vlen);
    int rc = SEEN_ENOMEM;
    PGconn *c = k && v ? sn_pool_take_or(&t->pool, &rc) : NULL;
    if (c) {
        outcome o = execute(t, c, which, k, len, v, vlen);
        if (PQresultStatus(o.result) == PGRES_COMMAND_OK)
            rc = atoi(PQcmdTuples(o.result)) > 0;
        else
            rc = change_error(c, o);
        PQclear(o.result);
        sn_pool_give(&t->pool, c, o.broken);
    }
    free(v);
    free(k);
    return rc;
}

/* A cursor in one transaction is one snapshot, and needs memory for one portion only.
 */
static int scan_with(sql_table *t, PGconn *c, const char *declare,
                     int (*each)(void *, const void *, size_t), void *arg)
{
    int rows = 1, rc = run(c, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    if (rc == 0)
        rc = run(c, "SET LOCAL statement_timeout = 0");
    if (rc == 0)
        rc = run(c, declare);
    while (rc == 0 && rows > 0) {
        PGresult *r = PQexecParams(c, "FETCH 5000 FROM seen_scan", 0, NULL, NULL, NULL,
                                   NULL, t->binary);
        if (PQresultStatus(r) != PGRES_TUPLES_OK)
            rc = failed(SEEN_EIO, PQerrorMessage(c));
        rows = rc == 0 ? PQntuples(r) : 0;
        for (int i = 0; i < rows && rc == 0; i++)
            if (!PQgetisnull(r, i, 0))
                rc = each(arg, PQgetvalue(r, i, 0), (size_t)PQgetlength(r, i, 0));
        PQclear(r);
    }
    return rc;
}

static int scan(void *ctx, int (*each)(void *, const void *, size_t), void *arg)
{
    sql_table *t = ctx;
    int rc;
    char *declare;
    if (asprintf(&declare, "DECLARE seen_scan NO SCROLL CURSOR FOR %s",
                 t->sql[SQL_SCAN]) < 0)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    PGconn *c = sn_pool_take_or(&t->pool, &rc);
    if (c) {
        rc = scan_with(t, c, declare, each, arg);
        int ended = run(c, rc == 0 ? "COMMIT" : "ROLLBACK");
        sn_pool_give(&t->pool, c, ended < 0);
        rc = rc == 0 ? ended : rc;
    }
    free(declare);
    return rc;
}

int seen_guard_postgres(const char *conninfo, const seen_guard_sql *sql,
                        unsigned connections, seen_guard_db *out)
{
    static const sql_kind postgres = {
        connect_postgres, disconnect, abandon, identify, get, change, scan};
    return sn_sql_table_open(&postgres, conninfo, sql, connections, out);
}
