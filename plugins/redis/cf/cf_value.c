/* cf_value.c - the types of CF keys: their facts, their bytes, and how they load. */
#include "cf/cf_value.h"
#include "cf/cuckoo_bytes.h"
#include "server/server_memory.h"
#include "server/settings.h"
#include <string.h>

static value_type fast_type, compat_type;

value_family cuckoo_family = {
    .name = "cuckoo",
    .types = {&fast_type, &compat_type},
};

/* ---- keys -------------------------------------------------------------------- */

value_key cf_open(rm_ctx *ctx, rm_str *name, int mode)
{
    return value_open(ctx, name, mode, &cuckoo_family);
}

cf cf_of(const value_key *k)
{
    return (cf){.fast = value_body_of(k, &fast_type),
                .compat = value_body_of(k, &compat_type)};
}

void cf_put(value_key *k, cf v)
{
    if (v.fast)
        value_put(k, &fast_type, v.fast);
    else
        value_put(k, &compat_type, v.compat);
}

cf_facts cf_get_facts(cf v)
{
    if (v.fast) {
        const cuckoo *c = v.fast;
        uint64_t buckets = 0;
        for (uint32_t i = 0; i < c->nsubs; i++)
            buckets += c->subs[i].buckets;
        return (cf_facts){
            .size = cuckoo_memory(c),
            .buckets = buckets,
            .first_buckets = c->buckets,
            .filters = c->nsubs,
            .items = c->items,
            .deletes = c->deletes,
            .bucket_size = c->bucket_size,
            .expansion = c->expansion,
            .max_iterations = c->max_iterations,
        };
    }
    sn_cf_info i;
    sn_cf_get_info(v.compat, &i);
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
    };
}

/* The facts INFO adds up; the capacity is every slot. */
static value_facts summed(cf v, uint64_t slots)
{
    cf_facts f = cf_get_facts(v);
    return (value_facts){f.filters, f.items, slots, f.size};
}

/* ---- fast -------------------------------------------------------------------- */

static value_bytes fast_bytes(const void *body)
{
    const cuckoo *c = body;
    value_bytes b = value_bytes_new(cuckoo_header(c, NULL, 0), c->nsubs);
    cuckoo_header(c, b.header, b.len);
    for (uint32_t i = 0; i < b.n; i++) {
        const cuckoo_sub *s = &c->subs[i];
        b.bodies[i] = (struct value_body){(char *)s->slots, cuckoo_sub_bytes(c, s)};
    }
    return b;
}

static void *fast_load(rm_io *io, int version)
{
    cuckoo *c = NULL;
    size_t len;
    if (version != 1)
        return NULL;
    char *header = RM_LoadStringBuffer(io, &len);
    int rc = header ? cuckoo_load(header, len, memory_limit_io(io), &c) : SEEN_EIO;
    RM_Free(header);
    if (rc != SEEN_OK) {
        RM_LogIOError(io, "warning", "filter header refused: %s", seen_strerror(rc));
        return NULL;
    }
    if (!value_bytes_load(io, fast_bytes(c))) {
        RM_LogIOError(io, "warning", "filter body is short or damaged");
        cuckoo_free(c);
        return NULL;
    }
    uint64_t end = 0;
    for (uint32_t i = 0; i < c->nsubs; i++)
        cuckoo_loaded(c, end += cuckoo_sub_bytes(c, &c->subs[i]));
    return value_new(&fast_type, c);
}

static value_facts fast_facts(const void *body)
{
    cuckoo *c = (cuckoo *)body;
    return summed((cf){.fast = c}, cuckoo_bytes(c) / 2);
}
static void *fast_copy(const void *body)
{
    return cuckoo_copy(body);
}
static void fast_free(void *body)
{
    cuckoo_free(body);
}

static value_type fast_type = {
    .name = "seencucko",
    .version = 1,
    .family = &cuckoo_family,
    .load = fast_load,
    .load_command = "CF.LOADCHUNK",
    .bytes = fast_bytes,
    .facts = fast_facts,
    .copy = fast_copy,
    .free = fast_free,
};

/* ---- compat ------------------------------------------------------------------ */

static value_bytes compat_bytes(const void *body)
{
    sn_cf_info info;
    const void *data;
    uint64_t bytes;
    sn_cf_get_info(body, &info);
    value_bytes b = value_bytes_new(SN_CF_HEADER, info.filters);
    sn_cf_header(body, b.header);
    for (uint32_t i = 0; sn_cf_get_filter(body, i, &data, &bytes) == SEEN_OK; i++)
        b.bodies[i] = (struct value_body){(char *)data, bytes};
    return b;
}

static void compat_save(rm_io *io, const void *body)
{
    sn_cf_info i;
    sn_cf_get_info(body, &i);
    RM_SaveUnsigned(io, i.filters);
    RM_SaveUnsigned(io, i.buckets);
    RM_SaveUnsigned(io, i.items);
    RM_SaveUnsigned(io, i.deletes);
    RM_SaveUnsigned(io, i.bucket_size);
    RM_SaveUnsigned(io, i.max_iterations);
    RM_SaveUnsigned(io, i.expansion);
    const void *data;
    uint64_t bytes;
    for (uint32_t n = 0; sn_cf_get_filter(body, n, &data, &bytes) == SEEN_OK; n++) {
        RM_SaveUnsigned(io, bytes / i.bucket_size);
        RM_SaveStringBuffer(io, data, bytes);
    }
}

static void pack(uint8_t *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

/* Reads the fields into the header of a dump, which sn_cf_load checks. */
static bool load_header(rm_io *io, uint8_t header[SN_CF_HEADER])
{
    uint64_t filters = RM_LoadUnsigned(io), buckets = RM_LoadUnsigned(io);
    uint64_t items = RM_LoadUnsigned(io), deletes = RM_LoadUnsigned(io);
    uint64_t bucket_size = RM_LoadUnsigned(io), iterations = RM_LoadUnsigned(io);
    uint64_t expansion = RM_LoadUnsigned(io);
    if (RM_IsIOError(io) || bucket_size > UINT16_MAX || iterations > UINT16_MAX ||
        expansion > UINT16_MAX || bucket_size < 1)
        return false;
    pack(header, items, 8);
    pack(header + 8, buckets, 8);
    pack(header + 16, deletes, 8);
    pack(header + 24, filters, 8);
    pack(header + 32, bucket_size, 2);
    pack(header + 34, iterations, 2);
    pack(header + 36, expansion, 2);
    return true;
}

static void *compat_load(rm_io *io, int version)
{
    uint8_t header[SN_CF_HEADER];
    sn_cf *f = NULL;
    if (version != 4 || !load_header(io, header))
        return NULL;
    if (sn_cf_load(header, sizeof header, memory_limit_io(io), &server_allocator, &f) !=
        SEEN_OK) {
        RM_LogIOError(io, "warning", "filter refused: %s", seen_reason());
        return NULL;
    }
    sn_cf_info info;
    sn_cf_get_info(f, &info);
    value_bytes b = compat_bytes(f);
    bool good = true;
    for (uint32_t i = 0; i < b.n && good; i++) {
        uint64_t buckets = RM_LoadUnsigned(io);
        size_t len = 0;
        char *read = RM_IsIOError(io) ? NULL : RM_LoadStringBuffer(io, &len);
        good = read && !RM_IsIOError(io) && len == b.bodies[i].len &&
               buckets == len / info.bucket_size;
        if (good)
            memcpy(b.bodies[i].p, read, len);
        RM_Free(read);
    }
    value_bytes_free(b);
    if (!good) {
        sn_cf_free(f);
        f = NULL;
    }
    return value_new(&compat_type, f);
}

static value_facts compat_facts(const void *body)
{
    sn_cf_info i;
    sn_cf_get_info(body, &i);
    return summed((cf){.compat = (sn_cf *)body}, i.bytes);
}

static void *compat_copy(const void *body)
{
    sn_cf *f = NULL;
    return sn_cf_copy(body, &server_allocator, &f) == SEEN_OK ? f : NULL;
}
static void compat_free(void *body)
{
    sn_cf_free(body);
}

static value_type compat_type = {
    .name = "MBbloomCF",
    .version = 4,
    .family = &cuckoo_family,
    .load = compat_load,
    .save = compat_save,
    .load_command = "CF.LOADCHUNK",
    .bytes = compat_bytes,
    .facts = compat_facts,
    .copy = compat_copy,
    .free = compat_free,
};
