/* sql_store.c - see sql_store.h. */
#include "sql_store.h"
#include "guard_inside.h"

#include <stdlib.h>
#include <string.h>

static int insert(void *ctx, const void *key, size_t len, const void *value,
                  size_t vlen)
{
    sql_store *s = ctx;
    return s->kind->change(s, SQL_INSERT, key, len, value, vlen);
}

static int erase(void *ctx, const void *key, size_t len)
{
    sql_store *s = ctx;
    return s->kind->change(s, SQL_ERASE, key, len, NULL, 0);
}

static void store_close(void *ctx)
{
    sql_store *s = ctx;
    if (s->pool.conn)
        sn_pool_destroy(&s->pool);
    for (int i = 0; i < SQL_STATEMENTS; i++)
        free(s->sql[i]);
    free(s->where);
    free(s);
}

int sn_sql_open(const sql_kind *kind, const char *where, const seen_guard_sql *sql,
                unsigned connections, seen_guard_db *out)
{
    const char *text[SQL_STATEMENTS] = {sql->get, sql->insert, sql->erase, sql->scan};
    sql_store *s = calloc(1, sizeof *s);
    memset(out, 0, sizeof *out);
    if (!s || !sql->get || !sql->scan) {
        free(s);
        return sn_guard_fail(SEEN_EINVAL, "statements to get and to scan are needed");
    }
    s->kind = kind;
    s->where = strdup(where);
    s->binary = sql->binary;
    for (int i = 0; i < SQL_STATEMENTS; i++)
        s->sql[i] = text[i] ? strdup(text[i]) : NULL;
    void *c = NULL;
    if (sn_pool_init(&s->pool, connections, kind->connect, kind->disconnect, s) == 0)
        c = sn_pool_take(&s->pool);
    if (!c) {
        store_close(s);
        return SEEN_EIO;
    }
    sn_pool_give(&s->pool, c, false);
    *out = (seen_guard_db){.ctx = s,
                           .get = kind->get,
                           .insert = sql->insert ? insert : NULL,
                           .erase = sql->erase ? erase : NULL,
                           .scan = kind->scan,
                           .close = store_close};
    return 0;
}
