/* sql_table.c - opens a table for the guard: copies the statements, connects once, and
 * learns which database it is. */
#include "sql_table.h"
#include "guard_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int insert(void *ctx, const void *key, size_t len, const void *value,
                  size_t vlen)
{
    sql_table *t = ctx;
    return t->kind->change(t, SQL_INSERT, key, len, value, vlen);
}

static int erase(void *ctx, const void *key, size_t len)
{
    sql_table *t = ctx;
    return t->kind->change(t, SQL_ERASE, key, len, NULL, 0);
}

static void close_table(void *ctx)
{
    sql_table *t = ctx;
    if (t->pool.conn)
        sn_pool_destroy(&t->pool);
    for (int i = 0; i < SQL_STATEMENTS; i++)
        free(t->sql[i]);
    free(t->where);
    free(t->identity);
    free(t);
}

/* Every connection must lead to the same database as the first: the filter describes
 * that one, even if the address now leads elsewhere. */
static void *connect_checked(void *ctx)
{
    sql_table *t = ctx;
    void *conn = t->kind->connect(t);
    char *identity = conn ? t->kind->identify(t, conn) : NULL;
    if (identity && !t->identity) { /* the first, before there are threads */
        t->identity = identity;
        return conn;
    }
    bool same = identity && strcmp(identity, t->identity) == 0;
    if (identity && !same)
        sn_guard_fail(SEEN_EMISMATCH,
                      "%s is another database than before: close the guard and open it "
                      "again",
                      t->where);
    free(identity);
    if (conn && !same) {
        t->kind->disconnect(conn);
        conn = NULL;
    }
    return conn;
}

int sn_sql_value(const void *p, size_t len, seen_guard_bytes *value)
{
    value->len = len;
    value->data = malloc(len + 1);
    if (!value->data)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    if (len)
        memcpy(value->data, p, len);
    return 1;
}

int sn_sql_table_open(const sql_kind *kind, const char *where,
                      const seen_guard_sql *sql, unsigned connections,
                      seen_guard_db *out)
{
    const char *text[SQL_STATEMENTS] = {sql->get, sql->insert, sql->erase, sql->scan};
    memset(out, 0, sizeof *out);
    if (!sql->get || !sql->scan)
        return sn_guard_fail(SEEN_EINVAL, "the statements .get and .scan are needed");
    sql_table *t = calloc(1, sizeof *t);
    if (!t)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    t->kind = kind;
    t->where = strdup(where);
    t->binary = sql->binary;
    t->query_ms = sql->query_ms ? sql->query_ms : 5000;
    bool copied = t->where != NULL;
    for (int i = 0; i < SQL_STATEMENTS; i++)
        copied &= !text[i] || (t->sql[i] = strdup(text[i]));
    void *conn = NULL;
    if (!copied)
        sn_guard_fail(SEEN_ENOMEM, "no memory");
    else if (sn_pool_init(&t->pool, connections, connect_checked, kind->disconnect,
                          t) == 0) {
        t->pool.abandon = kind->abandon;
        if (sql->wait_ms)
            t->pool.wait_ms = sql->wait_ms;
        conn = sn_pool_take(&t->pool);
    }
    if (!conn) {
        close_table(t);
        return SEEN_EIO;
    }
    sn_pool_give(&t->pool, conn, false);
    *out = (seen_guard_db){.ctx = t,
                           .get = kind->get,
                           .insert = sql->insert ? insert : NULL,
                           .erase = sql->erase ? erase : NULL,
                           .scan = kind->scan,
                           .close = close_table,
                           .identity = t->identity};
    return 0;
}
