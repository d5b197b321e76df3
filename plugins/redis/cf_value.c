/* cf_value.c - CF keys to the server: RDB, append-only file, digest, copy, free. */
#include "cf_value.h"
#include "bloom_bytes.h"
#include "server_memory.h"
#include <stdatomic.h>

static rm_type *fast_type, *compat_type;

/* ---- INFO -------------------------------------------------------------------- */

static atomic_llong n_objects, n_filters, n_items, n_bytes;

void cf_account(const cf_facts *before, const cf_facts *after)
{
    static const cf_facts none;
    n_objects += (after != NULL) - (before != NULL);
    before = before ? before : &none;
    after = after ? after : &none;
    n_filters += (long long)(after->filters - before->filters);
    n_items += (long long)(after->items - before->items);
    n_bytes += (long long)(after->bytes - before->bytes);
}

void cf_info(rm_info *info)
{
    RM_InfoAddSection(info, "cuckoo_core_metrics");
    RM_InfoAddFieldULongLong(info, "cuckoo_total_memory_bytes", n_bytes);
    RM_InfoAddFieldULongLong(info, "cuckoo_num_objects", n_objects);
    RM_InfoAddFieldULongLong(info, "cuckoo_num_filters_across_objects", n_filters);
    RM_InfoAddFieldULongLong(info, "cuckoo_num_items_across_objects", n_items);
}

static uint64_t fast_memory(const cuckoo *c)
{
    return sizeof *c + c->nsubs * (sizeof *c->subs + 72) + cuckoo_bytes(c);
}

cf_facts cf_get_facts(cf v)
{
    if (v.fast) {
        const cuckoo *c = v.fast;
        uint64_t buckets = 0;
        for (uint32_t i = 0; i < c->nsubs; i++)
            buckets += c->subs[i].buckets;
        return (cf_facts){
            .size = fast_memory(c),
            .buckets = buckets,
            .first_buckets = c->buckets,
            .filters = c->nsubs,
            .items = c->items,
            .deletes = c->deletes,
            .bucket_size = c->bucket_size,
            .expansion = c->expansion,
            .max_iterations = c->max_iterations,
            .bytes = fast_memory(c),
        };
    }
    seen_cf_info i;
    seen_cf_get_info(v.compat, &i);
    return (cf_facts){
        .size = i.size,
        .buckets = i.buckets,
        .first_buckets = i.buckets,
        .filters = i.filters,
        .items = i.items,
        .deletes = i.deletes,
        .bucket_size = i.bucket_size,
        .expansion = i.expansion,
        .max_iterations = i.max_iterations,
        .bytes = i.size,
    };
}

/* ---- keys -------------------------------------------------------------------- */

cf_key cf_open(rm_ctx *ctx, rm_str *name, int mode)
{
    cf_key k = {.key = RM_OpenKey(ctx, name, mode), .state = CF_MISSING};
    if (!k.key || RM_KeyType(k.key) == RM_KEY_EMPTY)
        return k;
    k.state = CF_WRONG;
    if (RM_KeyType(k.key) != RM_KEY_MODULE)
        return k;
    rm_type *t = RM_ModuleTypeGetType(k.key);
    if (t == fast_type)
        k.value.fast = RM_ModuleTypeGetValue(k.key);
    else if (t == compat_type)
        k.value.compat = RM_ModuleTypeGetValue(k.key);
    else
        return k;
    k.state = CF_FOUND;
    return k;
}

void cf_close(cf_key *k)
{
    if (k->key)
        RM_CloseKey(k->key);
    k->key = NULL;
}

static void *counted(void *value, cf v)
{
    if (value) {
        cf_facts now = cf_get_facts(v);
        cf_account(NULL, &now);
    }
    return value;
}

void cf_set(cf_key *k, cf value)
{
    void *p = value.fast ? (void *)value.fast : (void *)value.compat;
    RM_ModuleTypeSetValue(k->key, value.fast ? fast_type : compat_type, p);
    k->value = value;
    k->state = CF_FOUND;
    counted(p, value);
}

/* Runs in any thread. */
static void free_counted(cf v)
{
    cf_facts last = cf_get_facts(v);
    cf_account(&last, NULL);
    cuckoo_free(v.fast);
    if (v.compat)
        seen_cf_free(v.compat);
}

value_bytes cf_bytes(cf v)
{
    value_bytes b;
    if (v.fast) {
        b = value_bytes_new(cuckoo_header(v.fast, NULL, 0), v.fast->nsubs);
        cuckoo_header(v.fast, b.header, b.len);
        for (uint32_t i = 0; i < b.n; i++) {
            const cuckoo_sub *s = &v.fast->subs[i];
            b.bodies[i] =
                (struct value_body){(char *)s->slots, cuckoo_sub_bytes(v.fast, s)};
        }
    } else {
        seen_cf_info info;
        const void *data;
        uint64_t bytes;
        seen_cf_get_info(v.compat, &info);
        b = value_bytes_new(SEEN_CF_HEADER, info.filters);
        seen_cf_header(v.compat, b.header);
        for (uint32_t i = 0; seen_cf_get_filter(v.compat, i, &data, &bytes) == SEEN_OK;
             i++)
            b.bodies[i] = (struct value_body){(char *)data, bytes};
    }
    return b;
}

/* ---- fast -------------------------------------------------------------------- */

static void fast_save(rm_io *io, void *value)
{
    value_bytes_save(io, cf_bytes((cf){.fast = value}));
}

static void *fast_load(rm_io *io, int encver)
{
    cuckoo *c = NULL;
    size_t len;
    if (encver != 1)
        return NULL;
    char *header = RM_LoadStringBuffer(io, &len);
    int rc = header ? cuckoo_load(header, len, UINT64_MAX, &c) : SEEN_EIO;
    RM_Free(header);
    if (rc != SEEN_OK) {
        RM_LogIOError(io, "warning", "filter header refused: %s", seen_strerror(rc));
        return NULL;
    }
    if (!value_bytes_load(io, cf_bytes((cf){.fast = c}))) {
        RM_LogIOError(io, "warning", "filter body is short or damaged");
        cuckoo_free(c);
        return NULL;
    }
    for (uint32_t i = 0; i < c->nsubs; i++)
        cuckoo_recount(c, &c->subs[i]);
    return counted(c, (cf){.fast = c});
}

static void fast_aof(rm_io *io, rm_str *key, void *value)
{
    value_bytes_aof(io, key, "CF.LOADCHUNK", cf_bytes((cf){.fast = value}));
}
static void fast_digest(rm_digest *md, void *value)
{
    value_bytes_digest(md, cf_bytes((cf){.fast = value}));
}
static size_t fast_usage(const void *value)
{
    return fast_memory(value);
}
static void fast_free(void *value)
{
    free_counted((cf){.fast = value});
}
static size_t fast_effort(rm_str *key, const void *v)
{
    return free_effort(cuckoo_bytes(v));
}

static void *fast_copy(rm_str *from, rm_str *to, const void *value)
{
    cuckoo *c = cuckoo_copy(value);
    return counted(c, (cf){.fast = c});
}

/* ---- compat ------------------------------------------------------------------ */

static void compat_save(rm_io *io, void *value)
{
    seen_cf_info i;
    seen_cf_get_info(value, &i);
    RM_SaveUnsigned(io, i.filters);
    RM_SaveUnsigned(io, i.buckets);
    RM_SaveUnsigned(io, i.items);
    RM_SaveUnsigned(io, i.deletes);
    RM_SaveUnsigned(io, i.bucket_size);
    RM_SaveUnsigned(io, i.max_iterations);
    RM_SaveUnsigned(io, i.expansion);
    const void *data;
    uint64_t bytes;
    for (uint32_t n = 0; seen_cf_get_filter(value, n, &data, &bytes) == SEEN_OK; n++) {
        RM_SaveUnsigned(io, bytes / i.bucket_size);
        RM_SaveStringBuffer(io, data, bytes);
    }
}

/* The fields as the header of a dump, which seen_cf_load checks. */
static void pack(uint8_t *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static void *compat_load(rm_io *io, int encver)
{
    if (encver != 4)
        return NULL;
    uint64_t filters = RM_LoadUnsigned(io), buckets = RM_LoadUnsigned(io);
    uint64_t items = RM_LoadUnsigned(io), deletes = RM_LoadUnsigned(io);
    uint64_t bucket_size = RM_LoadUnsigned(io), iterations = RM_LoadUnsigned(io);
    uint64_t expansion = RM_LoadUnsigned(io);
    if (RM_IsIOError(io) || bucket_size > UINT16_MAX || iterations > UINT16_MAX ||
        expansion > UINT16_MAX || bucket_size < 1)
        return NULL;
    uint8_t header[SEEN_CF_HEADER];
    pack(header, items, 8);
    pack(header + 8, buckets, 8);
    pack(header + 16, deletes, 8);
    pack(header + 24, filters, 8);
    pack(header + 32, bucket_size, 2);
    pack(header + 34, iterations, 2);
    pack(header + 36, expansion, 2);
    seen_cf *f = NULL;
    if (seen_cf_load(header, sizeof header, UINT64_MAX, &server_allocator, &f) !=
        SEEN_OK) {
        RM_LogIOError(io, "warning", "filter refused: %s", seen_reason());
        return NULL;
    }
    uint64_t iter = 1, bytes;
    const void *place;
    for (uint32_t n = 0; seen_cf_get_filter(f, n, &place, &bytes) == SEEN_OK; n++) {
        uint64_t here = RM_LoadUnsigned(io);
        size_t len = 0;
        char *piece = RM_IsIOError(io) ? NULL : RM_LoadStringBuffer(io, &len);
        bool good =
            piece && !RM_IsIOError(io) && len == bytes && here == bytes / bucket_size;
        iter += bytes;
        good = good && seen_cf_load_chunk(f, iter, piece, len) == SEEN_OK;
        RM_Free(piece);
        if (!good) {
            seen_cf_free(f);
            return NULL;
        }
    }
    return counted(f, (cf){.compat = f});
}

static void compat_aof(rm_io *io, rm_str *key, void *value)
{
    value_bytes_aof(io, key, "CF.LOADCHUNK", cf_bytes((cf){.compat = value}));
}
static void compat_digest(rm_digest *md, void *value)
{
    value_bytes_digest(md, cf_bytes((cf){.compat = value}));
}

static size_t compat_usage(const void *value)
{
    return cf_get_facts((cf){.compat = (seen_cf *)value}).bytes;
}

static void compat_free(void *value)
{
    free_counted((cf){.compat = value});
}

static size_t compat_effort(rm_str *key, const void *value)
{
    return free_effort(compat_usage(value));
}

static void *compat_copy(rm_str *from, rm_str *to, const void *value)
{
    seen_cf *f = NULL;
    if (seen_cf_copy(value, &server_allocator, &f) != SEEN_OK)
        return NULL;
    return counted(f, (cf){.compat = f});
}

/* ---- registration ------------------------------------------------------------ */

int cf_types(rm_ctx *ctx)
{
    rm_methods fast = {
        .version = 3,
        .rdb_load = fast_load,
        .rdb_save = fast_save,
        .aof_rewrite = fast_aof,
        .mem_usage = fast_usage,
        .digest = fast_digest,
        .free = fast_free,
        .free_effort = fast_effort,
        .copy = fast_copy,
    };
    rm_methods compat = {
        .version = 3,
        .rdb_load = compat_load,
        .rdb_save = compat_save,
        .aof_rewrite = compat_aof,
        .mem_usage = compat_usage,
        .digest = compat_digest,
        .free = compat_free,
        .free_effort = compat_effort,
        .copy = compat_copy,
    };
    fast_type = RM_CreateDataType(ctx, "seencucko", 1, &fast);
    compat_type = RM_CreateDataType(ctx, "MBbloomCF", 4, &compat);
    return fast_type && compat_type ? RM_OK : RM_ERR;
}
