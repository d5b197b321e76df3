/* sketch_types.c - the types of sketches: their fields in RedisBloom's order, checked
 * when they come in.
 *
 * What a load allocates is bounded by the bytes it has read, whatever they claim. */
#include "sketches/sketch_types.h"
#include "server/dump_payload.h"
#include "foreign/redisbloom/redisbloom.h"
#include "server/server_memory.h"
#include "server/settings.h"
#include <string.h>

/* ---- what the three have in common ------------------------------------------- */

typedef void put_fields(field_sink *s, const void *body);

static void save_fields(rm_io *io, put_fields *put, const void *body)
{
    field_sink s = {.io = io};
    put(&s, body);
}

static void restore_command(rm_io *io, rm_str *key, const value_type *t,
                            put_fields *put, const void *body)
{
    field_sink s = payload_begin(t->name, t->version);
    put(&s, body);
    payload_end(&s);
    RM_EmitAOF(io, "RESTORE", "slb", key, 0LL, s.bytes, s.len);
    RM_Free(s.bytes);
}

static value_bytes field_bytes(const value_type *t, put_fields *put, const void *body)
{
    field_sink s = payload_begin(t->name, t->version);
    put(&s, body);
    value_bytes b = value_bytes_new(s.len, 0);
    memcpy(b.header, s.bytes, s.len);
    RM_Free(s.bytes);
    return b;
}

static void *refused(rm_io *io, const char *what)
{
    RM_LogIOError(io, "warning",
                  "%s refused: its fields are cut short, contradict each "
                  "other or exceed the memory limit",
                  what);
    return NULL;
}

/* A string of the RDB, which RM_Free frees; NULL if it is not there. */
static char *load_string(rm_io *io, size_t *len)
{
    *len = 0;
    char *p = RM_IsIOError(io) ? NULL : RM_LoadStringBuffer(io, len);
    if (p && RM_IsIOError(io)) {
        RM_Free(p);
        p = NULL;
    }
    return p;
}

/* Whether RESTORE may make a value of so many bytes, as the commands may. */
static bool within_limit(rm_io *io, uint64_t bytes)
{
    return bytes <= memory_limit_io(io);
}

/* ---- CMS --------------------------------------------------------------------- */

static void cms_put(field_sink *s, const void *body)
{
    seen_cms_info i;
    size_t len;
    seen_cms_get_info(body, &i);
    const void *cells = seen_cms_cells(body, &len);
    sink_unsigned(s, i.width);
    sink_unsigned(s, i.depth);
    sink_unsigned(s, i.total);
    sink_string(s, cells, len);
}

static void *cms_load(rm_io *io, int version)
{
    seen_cms_spec spec = {.hash = SEEN_CMS_REDISBLOOM, .alloc = server_allocator};
    seen_cms *c = NULL;
    if (version != 0)
        return NULL;
    spec.width = RM_LoadUnsigned(io);
    spec.depth = RM_LoadUnsigned(io);
    uint64_t total = RM_LoadUnsigned(io), n;
    size_t len;
    char *cells = load_string(io, &len);
    if (cells && !__builtin_mul_overflow(spec.width, spec.depth, &n) && n &&
        len % 4 == 0 && len / 4 == n && within_limit(io, len) &&
        seen_cms_new(&spec, &c) == SEEN_OK)
        seen_cms_set_cells(c, total, cells, len);
    RM_Free(cells);
    return c ? value_new(&cms_type, c) : refused(io, "count-min sketch");
}

static void cms_save(rm_io *io, const void *body)
{
    save_fields(io, cms_put, body);
}
static void cms_rewrite(rm_io *io, rm_str *key, const void *body)
{
    restore_command(io, key, &cms_type, cms_put, body);
}
static value_bytes cms_bytes(const void *body)
{
    return field_bytes(&cms_type, cms_put, body);
}
static value_facts cms_facts(const void *body)
{
    seen_cms_info i;
    seen_cms_get_info(body, &i);
    return (value_facts){i.depth, i.total, i.width * i.depth, i.bytes};
}
static void *cms_copy(const void *body)
{
    seen_cms *c;
    return seen_cms_copy(body, &c) == SEEN_OK ? c : NULL;
}
static void cms_free(void *body)
{
    seen_cms_free(body);
}

value_type cms_type = {
    .name = "CMSk-TYPE",
    .version = 0,
    .family = &cms_family,
    .load = cms_load,
    .save = cms_save,
    .rewrite = cms_rewrite,
    .bytes = cms_bytes,
    .facts = cms_facts,
    .copy = cms_copy,
    .free = cms_free,
};
value_family cms_family = {.name = "cms", .types = {&cms_type}};

/* ---- TOPK -------------------------------------------------------------------- */

/* Each item is saved with a zero byte behind it; an empty slot is that byte alone. */
static void topk_put(field_sink *s, const void *body)
{
    seen_hk_info i;
    size_t len, room = 256;
    seen_hk_get_info(body, &i);
    const void *buckets = seen_hk_buckets(body, &len);
    sink_unsigned(s, i.k);
    sink_unsigned(s, i.width);
    sink_unsigned(s, i.depth);
    sink_double(s, i.decay);
    sink_string(s, buckets, len);
    size_t heap_len = (size_t)i.k * SEEN_HK_HEAP_ENTRY;
    uint8_t *heap = RM_Alloc(heap_len);
    seen_hk_write_heap(body, heap);
    sink_string(s, heap, heap_len);
    RM_Free(heap);
    char *item = RM_Alloc(room);
    for (uint32_t n = 0; n < i.k; n++) {
        seen_key key = {0};
        uint32_t count;
        if (!seen_hk_item(body, n, &key, &count))
            key.len = 0;
        if (room < key.len + 1)
            item = RM_Realloc(item, room = key.len + 1);
        if (key.len)
            memcpy(item, key.data, key.len);
        item[key.len] = 0;
        sink_string(s, item, key.len + 1);
    }
    RM_Free(item);
}

static bool topk_load_items(rm_io *io, seen_hk *h, uint64_t k)
{
    bool good = true;
    for (uint32_t n = 0; n < k && good; n++) {
        size_t len;
        char *item = load_string(io, &len);
        good = item && len && seen_hk_set_item(h, n, item, len - 1) == SEEN_OK;
        RM_Free(item);
    }
    return good;
}

static void *topk_load(rm_io *io, int version)
{
    seen_hk *h = NULL;
    if (version != 0)
        return NULL;
    uint64_t k = RM_LoadUnsigned(io), width = RM_LoadUnsigned(io);
    uint64_t depth = RM_LoadUnsigned(io);
    double decay = RM_LoadDouble(io);
    size_t buckets_len, heap_len = 0;
    char *buckets = load_string(io, &buckets_len);
    char *heap = buckets ? load_string(io, &heap_len) : NULL;
    bool good = heap && k <= UINT32_MAX && width <= UINT32_MAX && depth <= UINT32_MAX &&
                heap_len == k * SEEN_HK_HEAP_ENTRY && buckets_len % 8 == 0 &&
                buckets_len / 8 == width * depth && within_limit(io, buckets_len) &&
                within_limit(io, heap_len) &&
                seen_hk_new((uint32_t)k, (uint32_t)width, (uint32_t)depth, decay,
                            &server_allocator, &h) == SEEN_OK &&
                seen_hk_set(h, buckets, buckets_len, heap, heap_len) == SEEN_OK &&
                topk_load_items(io, h, k);
    RM_Free(buckets);
    RM_Free(heap);
    if (good)
        return value_new(&topk_type, h);
    seen_hk_free(h);
    return refused(io, "top-k list");
}

static void topk_save(rm_io *io, const void *body)
{
    save_fields(io, topk_put, body);
}
static void topk_rewrite(rm_io *io, rm_str *key, const void *body)
{
    restore_command(io, key, &topk_type, topk_put, body);
}
static value_bytes topk_bytes(const void *body)
{
    return field_bytes(&topk_type, topk_put, body);
}
static value_facts topk_facts(const void *body)
{
    seen_hk_info i;
    seen_hk_get_info(body, &i);
    return (value_facts){i.depth, i.k, i.k, i.bytes};
}
static void *topk_copy(const void *body)
{
    seen_hk *h;
    return seen_hk_copy(body, &h) == SEEN_OK ? h : NULL;
}
static void topk_free(void *body)
{
    seen_hk_free(body);
}

value_type topk_type = {
    .name = "TopK-TYPE",
    .version = 0,
    .family = &topk_family,
    .load = topk_load,
    .save = topk_save,
    .rewrite = topk_rewrite,
    .bytes = topk_bytes,
    .facts = topk_facts,
    .copy = topk_copy,
    .free = topk_free,
};
value_family topk_family = {.name = "topk", .types = {&topk_type}};

/* ---- TDIGEST ----------------------------------------------------------------- */

/* A copy is compressed and saved: the value itself does not change under a reader. */
static void tdigest_put(field_sink *s, const void *body)
{
    seen_tdigest *t;
    seen_tdigest_info i;
    size_t n;
    bool copied = seen_tdigest_copy(body, &t) == SEEN_OK;
    if (!copied)
        t = (seen_tdigest *)body;
    const seen_tdigest_node *nodes = seen_tdigest_nodes(t, &n);
    seen_tdigest_get_info(t, &i);
    sink_double(s, (double)i.compression);
    sink_double(s, i.min);
    sink_double(s, i.max);
    sink_unsigned(s, i.capacity);
    sink_unsigned(s, n);
    sink_unsigned(s, 0); /* no node is unmerged */
    sink_unsigned(s, (uint64_t)i.compressions);
    sink_double(s, (double)i.merged_weight);
    sink_double(s, 0);
    for (size_t k = 0; k < n; k++)
        sink_double(s, nodes[k].mean);
    for (size_t k = 0; k < n; k++)
        sink_double(s, (double)nodes[k].weight);
    if (copied)
        seen_tdigest_free(t);
}

/* D as an integer of 0 .. 2^63 - 1; -1 if it is not one. */
static int64_t whole_number(double d)
{
    return d >= 0 && d < 0x1p63 && d == (double)(int64_t)d ? (int64_t)d : -1;
}

/* N nodes, means first; NULL if they are not there. Room grows with what was read. */
static seen_tdigest_node *tdigest_load_nodes(rm_io *io, uint64_t n)
{
    uint64_t room = 64;
    seen_tdigest_node *nodes = RM_Alloc(room * sizeof *nodes);
    for (uint64_t k = 0; k < n; k++) {
        if (k == room)
            nodes = RM_Realloc(nodes, (room *= 2) * sizeof *nodes);
        nodes[k].mean = RM_LoadDouble(io);
        if (RM_IsIOError(io))
            break;
    }
    for (uint64_t k = 0; k < n && !RM_IsIOError(io); k++)
        nodes[k].weight = whole_number(RM_LoadDouble(io));
    if (!RM_IsIOError(io))
        return nodes;
    RM_Free(nodes);
    return NULL;
}

static void *tdigest_load(rm_io *io, int version)
{
    seen_tdigest *t = NULL;
    seen_tdigest_info i = {0};
    if (version != 0)
        return NULL;
    int64_t compression = whole_number(RM_LoadDouble(io));
    i.compression = compression > 0 ? (uint64_t)compression : 0;
    i.min = RM_LoadDouble(io);
    i.max = RM_LoadDouble(io);
    i.capacity = RM_LoadUnsigned(io);
    i.merged = RM_LoadUnsigned(io);
    uint64_t unmerged = RM_LoadUnsigned(io);
    i.compressions = (int64_t)RM_LoadUnsigned(io);
    i.merged_weight = whole_number(RM_LoadDouble(io));
    int64_t unmerged_weight = whole_number(RM_LoadDouble(io));
    if (RM_IsIOError(io) || i.merged > i.capacity || i.capacity > INT32_MAX ||
        !within_limit(io, i.capacity * sizeof(seen_tdigest_node)))
        return refused(io, "t-digest");
    seen_tdigest_node *nodes = tdigest_load_nodes(io, i.merged);
    /* RedisBloom does not compress, and so does not save, a single value: it is both
     * ends. */
    bool single = !i.merged && unmerged == 1 && unmerged_weight == 1 && i.min == i.max;
    if (nodes && (single || (!unmerged && !unmerged_weight)))
        seen_tdigest_make(&i, nodes, SEEN_TDIGEST_REDISBLOOM, &server_allocator, &t);
    RM_Free(nodes);
    if (t && single && seen_tdigest_add(t, i.min, 1) != SEEN_OK) {
        seen_tdigest_free(t);
        t = NULL;
    }
    return t ? value_new(&tdigest_type, t) : refused(io, "t-digest");
}

static void tdigest_save(rm_io *io, const void *body)
{
    save_fields(io, tdigest_put, body);
}
static void tdigest_rewrite(rm_io *io, rm_str *key, const void *body)
{
    restore_command(io, key, &tdigest_type, tdigest_put, body);
}
static value_bytes tdigest_bytes(const void *body)
{
    return field_bytes(&tdigest_type, tdigest_put, body);
}
static value_facts tdigest_facts(const void *body)
{
    seen_tdigest_info i;
    seen_tdigest_get_info(body, &i);
    return (value_facts){1, (uint64_t)(i.merged_weight + i.unmerged_weight), i.capacity,
                         i.bytes};
}
static void *tdigest_copy(const void *body)
{
    seen_tdigest *t;
    return seen_tdigest_copy(body, &t) == SEEN_OK ? t : NULL;
}
static void tdigest_free(void *body)
{
    seen_tdigest_free(body);
}

value_type tdigest_type = {
    .name = "TDIS-TYPE",
    .version = 0,
    .family = &tdigest_family,
    .load = tdigest_load,
    .save = tdigest_save,
    .rewrite = tdigest_rewrite,
    .bytes = tdigest_bytes,
    .facts = tdigest_facts,
    .copy = tdigest_copy,
    .free = tdigest_free,
};
value_family tdigest_family = {.name = "tdigest", .types = {&tdigest_type}};
