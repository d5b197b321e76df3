/* seen_postgres.c - filters in PostgreSQL: the type `seen` and its functions.
 *
 * A value is the bytes of a native filter file in a varlena, toasted like others. It is
 * checked on input; a WHERE clause opens it once a query. Memory is palloc'd, so that
 * an error anywhere frees it. */
#include "sql_filter.h"
#include <seen_sketch.h>

#include <postgres.h>

#include <access/detoast.h>
#include <catalog/pg_authid.h>
#include <catalog/pg_type.h>
#include <datatype/timestamp.h>
#include <fmgr.h>
#include <mb/pg_wchar.h>
#include <miscadmin.h>
#include <utils/acl.h>
#include <utils/builtins.h>
#include <utils/date.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>
#include <utils/timestamp.h>
#if PG_VERSION_NUM >= 160000
#include <varatt.h>
#endif

PG_MODULE_MAGIC;

/* ---- memory and errors
 * --------------------------------------------------------------- */

/* Never raises an error: the library is on the stack and expects NULL. */
static void *plain(void *context, size_t size)
{
    return MemoryContextAllocExtended(
        context, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM | MCXT_ALLOC_ZERO);
}

static void *allocate(void *context, size_t size, size_t align)
{
    return sql_align(plain, context, size, align);
}

static void release(void *context, void *p, size_t size)
{
    pfree(sql_unalign(p));
}

static seen_allocator memory_of(MemoryContext context)
{
    return (seen_allocator){allocate, release, context};
}

static void check(int code)
{
    if (code >= 0)
        return;
    int state = code == SEEN_ENOMEM                             ? ERRCODE_OUT_OF_MEMORY
                : code == SEEN_EFORMAT || code == SEEN_EDAMAGED ? ERRCODE_DATA_CORRUPTED
                : code == SEEN_EIO                              ? ERRCODE_IO_ERROR
                : code == SEEN_ETOOBIG ? ERRCODE_PROGRAM_LIMIT_EXCEEDED
                                       : ERRCODE_INVALID_PARAMETER_VALUE;
    ereport(ERROR, errcode(state), errmsg("%s", sql_reason(code)),
            code == SEEN_EMISMATCH && strstr(sql_reason(code), "this filter holds")
                ? errhint("Cast the key: seen_info(filter) names the type of its keys.")
                : 0);
}

/* ---- keys
 * -------------------------------------------------------------------------------- */

#define TO_1970_DAYS (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)

/* Text as UTF-8; in a database without an encoding, its bytes. */
static void text_key(sql_key *key)
{
    char *utf8 = pg_server_to_any(key->data, (int)key->len, PG_UTF8);
    if (utf8 == key->data) /* nothing was converted, nor is there a NUL behind it */
        return;
    key->data = utf8;
    key->len = strlen(utf8);
}

/* A finite date or timestamp, counted from 2000 on in steps of which there are 30 years
 * of STEPS before. */
static void time_key(sql_key *key, seen_keys type, bool finite, int64 x, int64 steps)
{
    if (!finite || x > PG_INT64_MAX - steps)
        ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                errmsg("infinity is not a key"));
    sql_integer_key(key, type, x + steps);
}

/* The key in argument N; the call site has its type. */
static void key_of(FunctionCallInfo fcinfo, int n, sql_key *key)
{
    Oid type = get_fn_expr_argtype(fcinfo->flinfo, n);
    Datum d = PG_GETARG_DATUM(n);
    if (OidIsValid(type))
        type = getBaseType(type);
    switch (type) {
    case INT2OID:
        sql_integer_key(key, SEEN_KEYS_INT64, DatumGetInt16(d));
        return;
    case INT4OID:
        sql_integer_key(key, SEEN_KEYS_INT64, DatumGetInt32(d));
        return;
    case INT8OID:
        sql_integer_key(key, SEEN_KEYS_INT64, DatumGetInt64(d));
        return;
    case FLOAT4OID:
        sql_real_key(key, DatumGetFloat4(d));
        return;
    case FLOAT8OID:
        sql_real_key(key, DatumGetFloat8(d));
        return;
    case DATEOID:
        time_key(key, SEEN_KEYS_DATE, !DATE_NOT_FINITE(DatumGetDateADT(d)),
                 DatumGetDateADT(d), TO_1970_DAYS);
        return;
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
        time_key(key, SEEN_KEYS_TIMESTAMP, !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(d)),
                 DatumGetTimestamp(d), TO_1970_DAYS * USECS_PER_DAY);
        return;
    case UUIDOID: /* sixteen bytes, by reference */
        key->type = SEEN_KEYS_UUID;
        key->data = DatumGetPointer(d), key->len = 16;
        return;
    case TEXTOID:
    case VARCHAROID:
    case BYTEAOID: {
        struct varlena *v = PG_DETOAST_DATUM_PACKED(d);
        key->type = type == BYTEAOID ? SEEN_KEYS_BYTES : SEEN_KEYS_TEXT;
        key->data = VARDATA_ANY(v), key->len = VARSIZE_ANY_EXHDR(v);
        if (type != BYTEAOID && GetDatabaseEncoding() != PG_UTF8)
            text_key(key);
        return;
    }
    default:
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("a key is an integer, a float, text, bytea, uuid, date or "
                       "timestamp, not %s",
                       OidIsValid(type) ? format_type_be(type) : "of an unknown type"),
                errhint("Cast it: key::text"));
    }
}

/* ---- filters as values
 * --------------------------------------------------------------------- */

/* F as a value in the current memory. */
static Datum value_of(const seen_filter *f)
{
    seen_allocator a = memory_of(CurrentMemoryContext);
    void *bytes;
    size_t len, room;
    check(sql_bytes(f, &a, VARHDRSZ, &bytes, &len, &room));
    if (len > MaxAllocSize - VARHDRSZ)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("a filter of %zu bytes does not fit into a value of 1 GB", len),
                errhint("Choose a larger error, or keep the filter in a file."));
    SET_VARSIZE(bytes, VARHDRSZ + len);
    PG_RETURN_POINTER(bytes);
}

/* Opens a value from outside once, to check it. */
static Datum checked(Datum d)
{
    struct varlena *v = PG_DETOAST_DATUM_PACKED(d);
    seen_allocator a = memory_of(CurrentMemoryContext);
    sql_kept kept = {0};
    const seen_filter *f;
    check(sql_open(&kept, &a, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v), &f));
    sql_forget(&kept);
    return PointerGetDatum(v);
}

PG_FUNCTION_INFO_V1(seen_in);
Datum seen_in(PG_FUNCTION_ARGS)
{
    return checked(DirectFunctionCall1(byteain, PG_GETARG_DATUM(0)));
}

PG_FUNCTION_INFO_V1(seen_out);
Datum seen_out(PG_FUNCTION_ARGS)
{
    return DirectFunctionCall1(byteaout, PG_GETARG_DATUM(0));
}

PG_FUNCTION_INFO_V1(seen_recv);
Datum seen_recv(PG_FUNCTION_ARGS)
{
    return checked(DirectFunctionCall1(bytearecv, PG_GETARG_DATUM(0)));
}

PG_FUNCTION_INFO_V1(seen_send);
Datum seen_send(PG_FUNCTION_ARGS)
{
    return DirectFunctionCall1(byteasend, PG_GETARG_DATUM(0));
}

PG_FUNCTION_INFO_V1(seen_from_bytea);
Datum seen_from_bytea(PG_FUNCTION_ARGS)
{
    return checked(PG_GETARG_DATUM(0));
}

/* ---- asking
 * --------------------------------------------------------------------------------- */

/* State of a call site between rows: the last value opened, and its TOAST pointer if it
 * has one, so that it need not even be read again. */
typedef struct {
    sql_kept kept;
    struct varatt_external toast;
    bool toasted;
} site;

static const seen_filter *filter_of(FunctionCallInfo fcinfo, int n)
{
    site *s = fcinfo->flinfo->fn_extra;
    if (!s)
        s = fcinfo->flinfo->fn_extra =
            MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *s);
    struct varlena *v = (struct varlena *)PG_GETARG_POINTER(n), *whole;
    struct varatt_external toast;
    bool toasted = VARATT_IS_EXTERNAL_ONDISK(v);
    if (toasted) {
        VARATT_EXTERNAL_GET_POINTER(toast, v);
        if (s->toasted && s->kept.f && !memcmp(&toast, &s->toast, sizeof toast))
            return s->kept.f;
    }
    whole = PG_DETOAST_DATUM_PACKED(PointerGetDatum(v));
    seen_allocator a = memory_of(fcinfo->flinfo->fn_mcxt);
    const seen_filter *f;
    s->toasted = false;
    check(sql_open(&s->kept, &a, VARDATA_ANY(whole), VARSIZE_ANY_EXHDR(whole), &f));
    if (toasted)
        s->toast = toast, s->toasted = true;
    if (whole != v)
        pfree(whole);
    return f;
}

PG_FUNCTION_INFO_V1(seen_pg_has);
Datum seen_pg_has(PG_FUNCTION_ARGS)
{
    sql_key key;
    const seen_filter *f = filter_of(fcinfo, 0);
    key_of(fcinfo, 1, &key);
    int found = sql_has(f, &key);
    check(found);
    PG_RETURN_BOOL(found);
}

PG_FUNCTION_INFO_V1(seen_pg_info);
Datum seen_pg_info(PG_FUNCTION_ARGS)
{
    char json[512];
    int n = sql_info(filter_of(fcinfo, 0), json, sizeof json);
    PG_RETURN_TEXT_P(cstring_to_text_with_len(json, n));
}

/* ---- files
 * -----------------------------------------------------------------------------------
 */

static void may_read_files(void)
{
    if (!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
        ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                errmsg("only members of pg_read_server_files may use filter files"));
}

PG_FUNCTION_INFO_V1(seen_pg_file);
Datum seen_pg_file(PG_FUNCTION_ARGS)
{
    may_read_files();
    seen_allocator a = memory_of(CurrentMemoryContext);
    seen_filter *f;
    check(seen_open_with(text_to_cstring(PG_GETARG_TEXT_PP(0)), SEEN_LOAD, &a, &f));
    return value_of(f);
}

/* A mapped file, kept while the call site asks for the same name. */
typedef struct {
    sql_file file;
    MemoryContextCallback end;
} file_site;

static void unmap(void *s)
{
    sql_file_close(&((file_site *)s)->file);
}

PG_FUNCTION_INFO_V1(seen_pg_file_has);
Datum seen_pg_file_has(PG_FUNCTION_ARGS)
{
    file_site *s = fcinfo->flinfo->fn_extra;
    char *path = text_to_cstring(PG_GETARG_TEXT_PP(0));
    const seen_filter *f;
    sql_key key;
    key_of(fcinfo, 1, &key);
    may_read_files();
    if (!s) {
        s = fcinfo->flinfo->fn_extra =
            MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof *s);
        s->end = (MemoryContextCallback){.func = unmap, .arg = s};
        MemoryContextRegisterResetCallback(fcinfo->flinfo->fn_mcxt, &s->end);
    }
    check(sql_file_open(&s->file, path, &f));
    int found = sql_has(f, &key);
    check(found);
    PG_RETURN_BOOL(found);
}

/* ---- seen_build
 * -------------------------------------------------------------------------------- */

static MemoryContext aggregate_memory(FunctionCallInfo fcinfo)
{
    MemoryContext context;
    if (!AggCheckCallContext(fcinfo, &context))
        elog(ERROR, "called outside an aggregate");
    return context;
}

static sql_build *start(FunctionCallInfo fcinfo, double error, int64_t keys)
{
    MemoryContext context = aggregate_memory(fcinfo);
    seen_allocator a = memory_of(context);
    sql_build *b = MemoryContextAllocZero(context, sizeof *b);
    check(sql_build_start(b, &a, error, keys));
    return b;
}

PG_FUNCTION_INFO_V1(seen_build_step);
Datum seen_build_step(PG_FUNCTION_ARGS)
{
    sql_build *b = PG_ARGISNULL(0) ? NULL : (sql_build *)PG_GETARG_POINTER(0);
    sql_key key;
    if (!b)
        b = start(fcinfo, PG_NARGS() > 2 && !PG_ARGISNULL(2) ? PG_GETARG_FLOAT8(2) : 0,
                  PG_NARGS() > 3 && !PG_ARGISNULL(3) ? PG_GETARG_INT64(3) : 0);
    if (!PG_ARGISNULL(1)) {
        key_of(fcinfo, 1, &key);
        check(sql_build_add(b, &key));
    }
    PG_RETURN_POINTER(b);
}

PG_FUNCTION_INFO_V1(seen_build_combine);
Datum seen_build_combine(PG_FUNCTION_ARGS)
{
    sql_build *a = PG_ARGISNULL(0) ? NULL : (sql_build *)PG_GETARG_POINTER(0),
              *b = PG_ARGISNULL(1) ? NULL : (sql_build *)PG_GETARG_POINTER(1);
    if (!b) {
        if (!a)
            PG_RETURN_NULL();
        PG_RETURN_POINTER(a);
    }
    if (!a)
        a = start(fcinfo, b->error, (int64_t)b->keys);
    check(sql_build_combine(a, b));
    PG_RETURN_POINTER(a);
}

/* The state as bytes, for other processes: error, number of keys, the set. */
PG_FUNCTION_INFO_V1(seen_build_serialize);
Datum seen_build_serialize(PG_FUNCTION_ARGS)
{
    const sql_build *b = (sql_build *)PG_GETARG_POINTER(0);
    seen_allocator a = memory_of(CurrentMemoryContext);
    void *bytes;
    size_t len, room;
    check(sql_bytes(b->set, &a, VARHDRSZ + 16, &bytes, &len, &room));
    if (len > MaxAllocSize - VARHDRSZ - 16)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("a worker has gathered more than 1 GB of fingerprints"),
                errhint("SET max_parallel_workers_per_gather = 0"));
    memcpy((char *)bytes + VARHDRSZ, &b->error, 8);
    memcpy((char *)bytes + VARHDRSZ + 8, &b->keys, 8);
    SET_VARSIZE(bytes, VARHDRSZ + 16 + len);
    PG_RETURN_BYTEA_P(bytes);
}

PG_FUNCTION_INFO_V1(seen_build_deserialize);
Datum seen_build_deserialize(PG_FUNCTION_ARGS)
{
    bytea *v = PG_GETARG_BYTEA_PP(0);
    MemoryContext context = aggregate_memory(fcinfo);
    seen_allocator a = memory_of(context);
    sql_build *b = MemoryContextAllocZero(context, sizeof *b);
    sql_kept kept = {0};
    const seen_filter *f;
    if (VARSIZE_ANY_EXHDR(v) < 16)
        elog(ERROR, "a state of seen_build is too short");
    memcpy(&b->error, VARDATA_ANY(v), 8);
    memcpy(&b->keys, VARDATA_ANY(v) + 8, 8);
    check(sql_open(&kept, &a, VARDATA_ANY(v) + 16, VARSIZE_ANY_EXHDR(v) - 16, &f));
    check(seen_copy(f, &b->set));
    sql_forget(&kept);
    PG_RETURN_POINTER(b);
}

PG_FUNCTION_INFO_V1(seen_build_final);
Datum seen_build_final(PG_FUNCTION_ARGS)
{
    seen_allocator a = memory_of(CurrentMemoryContext);
    const sql_build *b =
        PG_ARGISNULL(0) ? start(fcinfo, 0, 0) : (sql_build *)PG_GETARG_POINTER(0);
    seen_filter *f;
    check(sql_build_finish(b, &a, &f));
    CHECK_FOR_INTERRUPTS();
    Datum d = value_of(f);
    seen_free(f);
    return d;
}

/* ---- seen_merge
 * --------------------------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(seen_merge_step);
Datum seen_merge_step(PG_FUNCTION_ARGS)
{
    seen_filter *sum = PG_ARGISNULL(0) ? NULL : (seen_filter *)PG_GETARG_POINTER(0);
    MemoryContext context = aggregate_memory(fcinfo);
    if (!PG_ARGISNULL(1)) {
        struct varlena *v = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(1));
        seen_allocator a = memory_of(context);
        sql_kept kept = {0};
        const seen_filter *f;
        check(sql_open(&kept, &a, VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v), &f));
        check(sum ? seen_merge(sum, f) : seen_copy(f, &sum));
        sql_forget(&kept);
    }
    if (!sum)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(sum);
}

PG_FUNCTION_INFO_V1(seen_merge_final);
Datum seen_merge_final(PG_FUNCTION_ARGS)
{
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    return value_of((seen_filter *)PG_GETARG_POINTER(0));
}

/* ---- seen_distinct
 * -------------------------------------------------------------------------------- */

static seen_distinct *new_counter(FunctionCallInfo fcinfo)
{
    seen_allocator a = memory_of(aggregate_memory(fcinfo));
    seen_distinct *d;
    check(seen_distinct_new(14, 0, &a, &d));
    return d;
}

PG_FUNCTION_INFO_V1(seen_distinct_step);
Datum seen_distinct_step(PG_FUNCTION_ARGS)
{
    seen_distinct *d =
        PG_ARGISNULL(0) ? new_counter(fcinfo) : (seen_distinct *)PG_GETARG_POINTER(0);
    sql_key key;
    if (!PG_ARGISNULL(1)) {
        key_of(fcinfo, 1, &key);
        seen_distinct_add(d, key.data, key.len);
    }
    PG_RETURN_POINTER(d);
}

PG_FUNCTION_INFO_V1(seen_distinct_combine);
Datum seen_distinct_combine(PG_FUNCTION_ARGS)
{
    seen_distinct *a = PG_ARGISNULL(0) ? NULL : (seen_distinct *)PG_GETARG_POINTER(0),
                  *b = PG_ARGISNULL(1) ? NULL : (seen_distinct *)PG_GETARG_POINTER(1);
    if (b) {
        if (!a)
            a = new_counter(fcinfo);
        check(seen_distinct_merge(a, b));
    }
    if (!a)
        PG_RETURN_NULL();
    PG_RETURN_POINTER(a);
}

PG_FUNCTION_INFO_V1(seen_distinct_serialize);
Datum seen_distinct_serialize(PG_FUNCTION_ARGS)
{
    const seen_distinct *d = (seen_distinct *)PG_GETARG_POINTER(0);
    size_t len = seen_distinct_write(d, NULL, 0);
    bytea *v = palloc(VARHDRSZ + len);
    seen_distinct_write(d, VARDATA(v), len);
    SET_VARSIZE(v, VARHDRSZ + len);
    PG_RETURN_BYTEA_P(v);
}

PG_FUNCTION_INFO_V1(seen_distinct_deserialize);
Datum seen_distinct_deserialize(PG_FUNCTION_ARGS)
{
    bytea *v = PG_GETARG_BYTEA_PP(0);
    seen_allocator a = memory_of(aggregate_memory(fcinfo));
    seen_distinct *d;
    check(seen_distinct_read(VARDATA_ANY(v), VARSIZE_ANY_EXHDR(v), 1 << 20, &a, &d));
    PG_RETURN_POINTER(d);
}

PG_FUNCTION_INFO_V1(seen_distinct_final);
Datum seen_distinct_final(PG_FUNCTION_ARGS)
{
    if (PG_ARGISNULL(0))
        PG_RETURN_INT64(0);
    PG_RETURN_INT64(
        (int64)(seen_distinct_count((seen_distinct *)PG_GETARG_POINTER(0)) + 0.5));
}
