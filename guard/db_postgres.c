/* db_postgres.c - a table in PostgreSQL as the guard's database, through libpq. */
#include "guard_inside.h"
#include "sql_store.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

static const char *const prepared[] = {"seen_get", "seen_insert", "seen_erase"};

static void disconnect(void *conn)
{
    PQfinish(conn);
}

static int failed(const char *what)
{
    char line[300];
    snprintf(line, sizeof line, "%s", what);
    line[strcspn(line, "\n")] = 0;
    return sn_guard_fail(SEEN_EIO, "postgresql: %s", line);
}

static void no_notice(void *arg, const PGresult *res)
{
    (void)arg;
    (void)res;
}

static void *connect_postgres(void *ctx)
{
    sql_store *s = ctx;
    PGconn *c = PQconnectdb(s->where);
    bool good = c && PQstatus(c) == CONNECTION_OK;
    if (good)
        PQsetNoticeReceiver(c, no_notice, NULL);
    for (int i = 0; good && i < SQL_SCAN; i++)
        if (s->sql[i]) {
            PGresult *r = PQprepare(c, prepared[i], s->sql[i], 0, NULL);
            good = PQresultStatus(r) == PGRES_COMMAND_OK;
            PQclear(r);
        }
    if (!good) {
        failed(c ? PQerrorMessage(c) : "no memory");
        PQfinish(c);
        return NULL;
    }
    return c;
}

/* No text in PostgreSQL holds a NUL. */
static bool possible(const sql_store *s, const void *p, size_t len)
{
    return s->binary || !len || !memchr(p, 0, len);
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

/* Runs a prepared statement with key and value. NULL if it could not be asked at all;
 * *BROKEN if the connection was lost on the way. */
static PGresult *execute(sql_store *s, PGconn *c, int which, const char *key,
                         size_t len, const char *value, size_t vlen, int n,
                         bool *broken)
{
    const char *values[] = {key, value};
    int lens[] = {(int)len, (int)vlen}, formats[] = {s->binary, s->binary};
    PGresult *r =
        PQexecPrepared(c, prepared[which], n, values, lens, formats, s->binary);
    *broken = PQstatus(c) != CONNECTION_OK;
    return r;
}

static int get_once(sql_store *s, const char *key, size_t len, seen_guard_bytes *value,
                    bool *again)
{
    PGconn *c = sn_pool_take(&s->pool);
    bool broken;
    int rc;
    if (!c)
        return SEEN_EIO;
    PGresult *r = execute(s, c, SQL_GET, key, len, NULL, 0, 1, &broken);
    if (PQresultStatus(r) != PGRES_TUPLES_OK) {
        rc = failed(PQerrorMessage(c));
        *again = broken;
    } else if (PQnfields(r) < 1) {
        rc = failed("the query for a value has no column");
    } else if (PQntuples(r) == 0) {
        rc = 0;
    } else {
        value->len = (size_t)PQgetlength(r, 0, 0);
        value->data = malloc(value->len + 1);
        if (value->data)
            memcpy(value->data, PQgetvalue(r, 0, 0), value->len);
        rc = value->data ? 1 : sn_guard_fail(SEEN_ENOMEM, "no memory");
    }
    PQclear(r);
    sn_pool_give(&s->pool, c, broken);
    return rc;
}

/* A connection that the server closed while it was idle is noticed only when it is
 * used: a read is then tried once more. */
static int get(void *ctx, const void *key, size_t len, seen_guard_bytes *value)
{
    sql_store *s = ctx;
    bool again = false;
    if (!possible(s, key, len))
        return 0;
    char *k = parameter(key, len);
    if (!k)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    int rc = get_once(s, k, len, value, &again);
    if (again)
        rc = get_once(s, k, len, value, &again);
    free(k);
    return rc;
}

static int change(sql_store *s, int which, const void *key, size_t len,
                  const void *value, size_t vlen)
{
    if (!possible(s, key, len) || !possible(s, value, vlen))
        return sn_guard_fail(SEEN_EINVAL, "a NUL in a text key or value");
    char *k = parameter(key, len), *v = parameter(value, vlen);
    PGconn *c = k && v ? sn_pool_take(&s->pool) : NULL;
    bool broken;
    int rc = SEEN_EIO;
    if (c) {
        PGresult *r =
            execute(s, c, which, k, len, v, vlen, which == SQL_INSERT ? 2 : 1, &broken);
        if (PQresultStatus(r) == PGRES_COMMAND_OK) {
            rc = atoi(PQcmdTuples(r)) > 0;
        } else {
            /* Certain is only what the server itself says of the statement; not that
             * it, or the connection, is going down (57, 08, XX). */
            const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
            rc = failed(PQerrorMessage(c));
            if (state && strcmp(state, "23505") == 0)
                rc = 0; /* the key is there */
            else if (broken || !state || !strncmp(state, "57", 2) ||
                     !strncmp(state, "08", 2) || !strncmp(state, "XX", 2))
                rc = SEEN_GUARD_DOUBT;
        }
        PQclear(r);
        sn_pool_give(&s->pool, c, broken);
    }
    free(v);
    free(k);
    return rc;
}

static int run(PGconn *c, const char *sql)
{
    PGresult *r = PQexec(c, sql);
    int rc = PQresultStatus(r) == PGRES_COMMAND_OK ? 0 : failed(PQerrorMessage(c));
    PQclear(r);
    return rc;
}

/* A cursor in one transaction is one snapshot, and needs memory for one portion only.
 */
static int scan(void *ctx, int (*each)(void *, const void *, size_t), void *arg)
{
    sql_store *s = ctx;
    PGconn *c = sn_pool_take(&s->pool);
    static const char declare[] = "DECLARE seen_scan NO SCROLL CURSOR FOR ";
    char *sql = malloc(sizeof declare + strlen(s->sql[SQL_SCAN]));
    int rc = SEEN_EIO, rows = 1;
    if (c && sql) {
        strcpy(sql, declare);
        strcat(sql, s->sql[SQL_SCAN]);
        rc = run(c, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        if (rc == 0)
            rc = run(c, sql);
        while (rc == 0 && rows > 0) {
            PGresult *r = PQexecParams(c, "FETCH 5000 FROM seen_scan", 0, NULL, NULL,
                                       NULL, NULL, s->binary);
            if (PQresultStatus(r) != PGRES_TUPLES_OK)
                rc = failed(PQerrorMessage(c));
            rows = rc == 0 ? PQntuples(r) : 0;
            for (int i = 0; i < rows && rc == 0; i++)
                if (!PQgetisnull(r, i, 0))
                    rc = each(arg, PQgetvalue(r, i, 0), (size_t)PQgetlength(r, i, 0));
            PQclear(r);
        }
        int ended = run(c, rc == 0 ? "COMMIT" : "ROLLBACK");
        sn_pool_give(&s->pool, c, ended < 0);
        rc = rc == 0 ? ended : rc;
    } else if (c) {
        sn_pool_give(&s->pool, c, false);
    }
    free(sql);
    return rc;
}

int seen_guard_postgres(const char *conninfo, const seen_guard_sql *sql,
                        unsigned connections, seen_guard_db *out)
{
    static const sql_kind postgres = {connect_postgres, disconnect, get, change, scan};
    return sn_sql_open(&postgres, conninfo, sql, connections, out);
}
