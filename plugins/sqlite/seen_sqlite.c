/* seen_sqlite.c - filters in SQLite: a loadable extension.
 *
 *   seen_build(key [, error [, keys]])   aggregate: a filter of all keys, as a blob
 *   seen_has(filter, key)                1 if the key was added, 0 if certainly not
 *   seen_merge(filter)                   aggregate: the union of filters of one size
 *   seen_info(filter)                    what a filter is, as JSON
 *   seen_distinct(key)                   aggregate: how many different keys, within
 * 0.8%
 *
 * A filter is a blob or, if the environment variable SEEN_SQLITE_FILES names a folder,
 * the name of a filter file in it. NULL is not a key: it is not added, and asking for
 * it gives NULL. Errors are SQL errors with the library's messages. */
#include "sql_filter.h"
#include <seen_sketch.h>
#include <errno.h>
#include <sqlite3ext.h>
#include <stdlib.h>
#include <string.h>
SQLITE_EXTENSION_INIT1

int sqlite3_seen_init(sqlite3 *db, char **why, const sqlite3_api_routines *api);

/* ---- memory: SQLite's, so that its limits hold --------------------------------------
 */

static void *plain(void *ctx, size_t size)
{
    void *p = sqlite3_malloc64(size);
    if (p)
        memset(p, 0, size);
    return p;
}

static void *allocate(void *ctx, size_t size, size_t align)
{
    return sql_align(plain, NULL, size, align);
}

static void release(void *ctx, void *p, size_t size)
{
    sqlite3_free(sql_unalign(p));
}

static const seen_allocator memory = {allocate, release, NULL};

/* ---- errors and values
 * ---------------------------------------------------------------- */

static void fail(sqlite3_context *c, int code)
{
    if (code == SEEN_ENOMEM)
        sqlite3_result_error_nomem(c);
    else
        sqlite3_result_error(c, sql_reason(code), -1);
}

/* The key in V; false for NULL. */
static bool key_of(sqlite3_value *v, sql_key *key)
{
    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        sql_integer_key(key, SEEN_KEYS_INT64, sqlite3_value_int64(v));
        return true;
    case SQLITE_FLOAT:
        sql_real_key(key, sqlite3_value_double(v));
        return true;
    case SQLITE_TEXT:
        key->type = SEEN_KEYS_TEXT;
        key->data = sqlite3_value_text(v);
        break;
    case SQLITE_BLOB:
        key->type = SEEN_KEYS_BYTES;
        key->data = sqlite3_value_blob(v);
        break;
    default:
        return false;
    }
    key->len = (size_t)sqlite3_value_bytes(v);
    if (!key->data)
        key->data = "";
    return true;
}

static void give_filter(sqlite3_context *c, const seen_filter *f)
{
    void *bytes;
    size_t len, room;
    int rc = sql_bytes(f, &memory, 0, &bytes, &len, &room);
    if (rc < 0) {
        fail(c, rc);
        return;
    }
    sqlite3_result_blob64(c, bytes, len, SQLITE_TRANSIENT);
    release(NULL, bytes, room);
}

/* ---- opening a filter argument
 * --------------------------------------------------------- */

/* What a connection keeps between rows and statements. */
typedef struct {
    sql_kept value;
    sql_file file;
} kept;

/* Opens a file below the folder of SEEN_SQLITE_FILES. Maps it, and keeps it while the
 * same name is asked for and the file is not replaced. */
static const seen_filter *from_file(sqlite3_context *c, sqlite3_value *v)
{
    const seen_filter *f;
    const char *folder = getenv("SEEN_SQLITE_FILES"),
               *name = (const char *)sqlite3_value_text(v);
    if (!name) {
        sqlite3_result_error_nomem(c);
        return NULL;
    }
    if (!folder || !*folder) {
        sqlite3_result_error(
            c,
            "a filter is a blob; for names of files set "
            "SEEN_SQLITE_FILES to their folder before the program starts",
            -1);
        return NULL;
    }
    if (*name == '/' || !*name || strstr(name, "..") ||
        strlen(name) != (size_t)sqlite3_value_bytes(v)) {
        sqlite3_result_error(c, "a filter's name is a path below the folder of "
                                "SEEN_SQLITE_FILES, without \"..\"", -1);
        return NULL;
    }
    char *path = sqlite3_mprintf("%s/%s", folder, name);
    if (!path) {
        sqlite3_result_error_nomem(c);
        return NULL;
    }
    int rc = sql_file_open(&((kept *)sqlite3_user_data(c))->file, path, &f);
    sqlite3_free(path);
    if (rc < 0)
        fail(c, rc);
    return rc < 0 ? NULL : f;
}

/* The filter in V, or NULL with an error set. The connection keeps the last blob
 * opened, because SQLite keeps nothing for the result of a subquery, and filters
 * usually come from one. */
static const seen_filter *filter_of(sqlite3_context *c, sqlite3_value *v)
{
    if (sqlite3_value_type(v) == SQLITE_TEXT)
        return from_file(c, v);
    if (sqlite3_value_type(v) != SQLITE_BLOB) {
        sqlite3_result_error(
            c, "a filter is a blob made by seen_build, or the name of a file", -1);
        return NULL;
    }
    const void *blob = sqlite3_value_blob(v);
    const seen_filter *f;
    int rc = sql_open(&((kept *)sqlite3_user_data(c))->value, &memory, blob ? blob : "",
                      (size_t)sqlite3_value_bytes(v), &f);
    if (rc < 0)
        fail(c, rc);
    return rc < 0 ? NULL : f;
}

/* ---- scalar functions
 * ---------------------------------------------------------------------- */

static void has(sqlite3_context *c, int n, sqlite3_value **arg)
{
    sql_key key;
    if (sqlite3_value_type(arg[0]) == SQLITE_NULL || !key_of(arg[1], &key))
        return; /* NULL */
    const seen_filter *f = filter_of(c, arg[0]);
    int found = f ? sql_has(f, &key) : 0;
    if (found < 0)
        fail(c, found);
    else if (f)
        sqlite3_result_int(c, found);
}

static void info(sqlite3_context *c, int n, sqlite3_value **arg)
{
    if (sqlite3_value_type(arg[0]) == SQLITE_NULL)
        return;
    const seen_filter *f = filter_of(c, arg[0]);
    char json[512];
    if (f)
        sqlite3_result_text(c, json, sql_info(f, json, sizeof json), SQLITE_TRANSIENT);
}

/* ---- seen_build
 * ------------------------------------------------------------------------------ */

/* Starts on the first row: the options are those of that row. */
static void build_step(sqlite3_context *c, int n, sqlite3_value **arg)
{
    sql_build *b = sqlite3_aggregate_context(c, sizeof *b);
    sql_key key;
    int rc = 0;
    if (!b) {
        sqlite3_result_error_nomem(c);
        return;
    }
    if (!b->set)
        rc = sql_build_start(b, &memory, n > 1 ? sqlite3_value_double(arg[1]) : 0,
                             n > 2 ? sqlite3_value_int64(arg[2]) : 0);
    if (rc == 0 && key_of(arg[0], &key))
        rc = sql_build_add(b, &key);
    if (rc < 0)
        fail(c, rc);
}

static void build_final(sqlite3_context *c)
{
    sql_build *b = sqlite3_aggregate_context(c, 0), none;
    int rc = 0;
    if (!b || !b->set) { /* no rows: a valid, empty filter */
        rc = sql_build_start(&none, &memory, 0, 0);
        b = &none;
    }
    seen_filter *f = NULL;
    if (rc == 0)
        rc = sql_build_finish(b, &memory, &f);
    if (rc < 0)
        fail(c, rc);
    else
        give_filter(c, f);
    seen_free(f);
    sql_build_free(b);
}

/* ---- seen_merge
 * ------------------------------------------------------------------------------ */

typedef struct {
    seen_filter *sum;
} union_state;

static void merge_step(sqlite3_context *c, int n, sqlite3_value **arg)
{
    union_state *u = sqlite3_aggregate_context(c, sizeof *u);
    if (!u) {
        sqlite3_result_error_nomem(c);
        return;
    }
    if (sqlite3_value_type(arg[0]) == SQLITE_NULL)
        return;
    const seen_filter *f = filter_of(c, arg[0]);
    if (!f)
        return;
    int rc = u->sum ? seen_merge(u->sum, f) : seen_copy(f, &u->sum);
    if (rc < 0)
        fail(c, rc);
}

static void merge_final(sqlite3_context *c)
{
    union_state *u = sqlite3_aggregate_context(c, 0);
    if (!u || !u->sum)
        return; /* no filters: NULL */
    give_filter(c, u->sum);
    seen_free(u->sum);
}

/* ---- seen_distinct
 * --------------------------------------------------------------------------- */

typedef struct {
    seen_distinct *d;
} distinct_state;

static void distinct_step(sqlite3_context *c, int n, sqlite3_value **arg)
{
    distinct_state *s = sqlite3_aggregate_context(c, sizeof *s);
    sql_key key;
    int rc = s ? 0 : SEEN_ENOMEM;
    if (s && !s->d)
        rc = seen_distinct_new(14, 0, &memory, &s->d);
    if (rc < 0)
        fail(c, rc);
    else if (key_of(arg[0], &key))
        seen_distinct_add(s->d, key.data, key.len);
}

static void distinct_final(sqlite3_context *c)
{
    distinct_state *s = sqlite3_aggregate_context(c, 0);
    sqlite3_result_int64(c, s && s->d ? (int64_t)(seen_distinct_count(s->d) + 0.5) : 0);
    if (s)
        seen_distinct_free(s->d);
}

/* ---- the extension
 * ----------------------------------------------------------------------------- */

static void free_kept(void *own)
{
    sql_forget(&((kept *)own)->value);
    sql_file_close(&((kept *)own)->file);
    sqlite3_free(own);
}

__attribute__((visibility("default"))) int
sqlite3_seen_init(sqlite3 *db, char **why, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    static const struct {
        const char *name;
        int args;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
        void (*step)(sqlite3_context *, int, sqlite3_value **);
        void (*final)(sqlite3_context *);
    } functions[] = {
        {"seen_has", 2, has, NULL, NULL},
        {"seen_info", 1, info, NULL, NULL},
        {"seen_build", 1, NULL, build_step, build_final},
        {"seen_build", 2, NULL, build_step, build_final},
        {"seen_build", 3, NULL, build_step, build_final},
        {"seen_merge", 1, NULL, merge_step, merge_final},
        {"seen_distinct", 1, NULL, distinct_step, distinct_final},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        kept *own = sqlite3_malloc64(sizeof *own);
        if (!own)
            return SQLITE_NOMEM;
        memset(own, 0, sizeof *own);
        int rc = sqlite3_create_function_v2(
            db, functions[i].name, functions[i].args,
            SQLITE_UTF8 | SQLITE_DETERMINISTIC, own, functions[i].call,
            functions[i].step, functions[i].final, free_kept);
        if (rc != SQLITE_OK)
            return rc;
    }
    return SQLITE_OK;
}
