/* bf_value.c - BF keys to the server: RDB, append-only file, digest, copy, free. */
#include "bf_value.h"
#include "bf_parts.h"
#include "bloom_bytes.h"
#include "server_memory.h"
#include "words.h"
#include <stdatomic.h>

static rm_type *fast_type, *compat_type, *parts_type;

/* ---- INFO -------------------------------------------------------------------- */

static atomic_llong n_objects, n_layers, n_items, n_capacity, n_bytes;

void bf_account(const bf_facts *before, const bf_facts *after)
{
    static const bf_facts none;
    n_objects += (after != NULL) - (before != NULL);
    before = before ? before : &none;
    after = after ? after : &none;
    n_layers += (long long)(after->layers - before->layers);
    n_items += (long long)(after->items - before->items);
    n_capacity += (long long)(after->capacity - before->capacity);
    n_bytes += (long long)(after->bytes - before->bytes);
}

void bf_info(rm_info *info)
{
    RM_InfoAddSection(info, "bloom_core_metrics");
    RM_InfoAddFieldULongLong(info, "bloom_total_memory_bytes", n_bytes);
    RM_InfoAddFieldULongLong(info, "bloom_num_objects", n_objects);
    RM_InfoAddFieldULongLong(info, "bloom_num_filters_across_objects", n_layers);
    RM_InfoAddFieldULongLong(info, "bloom_num_items_across_objects", n_items);
    RM_InfoAddFieldULongLong(info, "bloom_capacity_across_objects", n_capacity);
}

bf_facts bf_get_facts(bf v)
{
    if (v.fast) {
        const bloom *b = v.fast;
        return (bf_facts){
            .capacity = b->spec.window ? b->spec.capacity : bloom_capacity(b),
            .size = bloom_memory(b),
            .layers = b->nlayers,
            .items = b->items,
            .bytes = bloom_memory(b),
            .error = b->spec.error,
            .expansion = b->spec.expansion,
            .fixed = b->spec.fixed,
        };
    }
    if (v.parts) /* its pieces speak for themselves */
        return (bf_facts){.size = sizeof *v.parts, .bytes = sizeof *v.parts};
    seen_bf_info i;
    seen_bf_link first;
    seen_bf_get_info(v.compat, &i);
    bool fixed = (i.options & SEEN_BF_NOSCALING) || !i.expansion;
    double error = 0;
    if (seen_bf_get_link(v.compat, 0, &first) == SEEN_OK)
        error = fixed ? first.error : first.error * 2;
    return (bf_facts){
        .capacity = i.capacity,
        .size = i.size,
        .layers = i.links,
        .items = i.items,
        .bytes = i.size,
        .error = error,
        .expansion = i.expansion,
        .fixed = fixed,
    };
}

/* ---- keys -------------------------------------------------------------------- */

bf_key bf_open(rm_ctx *ctx, rm_str *name, int mode)
{
    bf_key k = {.key = RM_OpenKey(ctx, name, mode), .state = BF_MISSING};
    if (!k.key || RM_KeyType(k.key) == RM_KEY_EMPTY)
        return k;
    k.state = BF_WRONG;
    if (RM_KeyType(k.key) != RM_KEY_MODULE)
        return k;
    rm_type *t = RM_ModuleTypeGetType(k.key);
    if (t == fast_type)
        k.value.fast = RM_ModuleTypeGetValue(k.key);
    else if (t == compat_type)
        k.value.compat = RM_ModuleTypeGetValue(k.key);
    else if (t == parts_type)
        k.value.parts = RM_ModuleTypeGetValue(k.key);
    else
        return k;
    k.state = BF_FOUND;
    return k;
}

void bf_close(bf_key *k)
{
    if (k->key)
        RM_CloseKey(k->key);
    k->key = NULL;
}

int bf_refuse(rm_ctx *ctx, bf_key *k, const char *why)
{
    bf_close(k);
    return RM_ReplyWithError(ctx, why);
}

const char *bf_state_error(const bf_key *k)
{
    return k->state == BF_WRONG ? SAY_WRONGTYPE : SAY_NOT_FOUND;
}

void bf_set(bf_key *k, bf value)
{
    if (value.parts)
        RM_ModuleTypeSetValue(k->key, parts_type, value.parts);
    else
        RM_ModuleTypeSetValue(k->key, value.fast ? fast_type : compat_type,
                              value.fast ? (void *)value.fast : (void *)value.compat);
    k->value = value;
    k->state = BF_FOUND;
    bf_facts now = bf_get_facts(value);
    bf_account(NULL, &now);
}

void bf_release(bf v)
{
    bloom_free(v.fast);
    if (v.parts)
        parts_free(v.parts);
    if (v.compat)
        seen_bf_free(v.compat);
}

/* ---- all types --------------------------------------------------------------- */

/* Runs in any thread. */
static void free_counted(bf v)
{
    bf_facts last = bf_get_facts(v);
    bf_account(&last, NULL);
    bf_release(v);
}

static void *counted(void *value, bf v)
{
    if (value) {
        bf_facts now = bf_get_facts(v);
        bf_account(NULL, &now);
    }
    return value;
}

value_bytes bf_bytes(bf v)
{
    value_bytes b;
    if (v.fast) {
        b = value_bytes_new(bloom_header(v.fast, NULL, 0), v.fast->nlayers);
        bloom_header(v.fast, b.header, b.len);
        for (uint32_t i = 0; i < b.n; i++) {
            const bloom_layer *l = &v.fast->layers[i];
            b.bodies[i] = (struct value_body){(char *)l->body, l->bytes};
        }
    } else if (v.parts) {
        b = value_bytes_new(parts_bytes(v.parts, NULL, 0), 0);
        parts_bytes(v.parts, b.header, b.len);
    } else {
        seen_bf_info info;
        seen_bf_link l;
        seen_bf_get_info(v.compat, &info);
        b = value_bytes_new(seen_bf_header(v.compat, NULL, 0), info.links);
        seen_bf_header(v.compat, b.header, b.len);
        for (uint32_t i = 0; seen_bf_get_link(v.compat, i, &l) == SEEN_OK; i++)
            b.bodies[i] = (struct value_body){(char *)l.data, l.bytes};
    }
    return b;
}

static void aof(rm_io *io, rm_str *key, bf v)
{
    value_bytes_aof(io, key, "BF.LOADCHUNK", bf_bytes(v));
}

/* ---- fast -------------------------------------------------------------------- */

static void fast_save(rm_io *io, void *value)
{
    value_bytes_save(io, bf_bytes((bf){.fast = value}));
}

static void *fast_load(rm_io *io, int encver)
{
    bloom *b = NULL;
    size_t len;
    if (encver != 1)
        return NULL;
    char *header = RM_LoadStringBuffer(io, &len);
    int rc = header ? bloom_load(header, len, UINT64_MAX, &b) : SEEN_EIO;
    RM_Free(header);
    if (rc != SEEN_OK) {
        RM_LogIOError(io, "warning", "filter header refused: %s", seen_strerror(rc));
        return NULL;
    }
    if (!value_bytes_load(io, bf_bytes((bf){.fast = b}))) {
        RM_LogIOError(io, "warning", "filter body is short or damaged");
        bloom_free(b);
        return NULL;
    }
    return counted(b, (bf){.fast = b});
}

static void fast_aof(rm_io *io, rm_str *key, void *value)
{
    aof(io, key, (bf){.fast = value});
}
static void fast_digest(rm_digest *md, void *value)
{
    value_bytes_digest(md, bf_bytes((bf){.fast = value}));
}
static size_t fast_usage(const void *value)
{
    return bloom_memory(value);
}
static void fast_free(void *value)
{
    free_counted((bf){.fast = value});
}
static size_t fast_effort(rm_str *key, const void *v)
{
    return free_effort(bloom_bytes(v));
}

static void *fast_copy(rm_str *from, rm_str *to, const void *value)
{
    bloom *b = bloom_copy(value);
    return counted(b, (bf){.fast = b});
}

/* ---- compat ------------------------------------------------------------------ */

static void compat_save(rm_io *io, void *value)
{
    seen_bf_info i;
    seen_bf_get_info(value, &i);
    RM_SaveUnsigned(io, i.items);
    RM_SaveUnsigned(io, i.links);
    RM_SaveUnsigned(io, i.options);
    RM_SaveUnsigned(io, i.expansion);
    seen_bf_link l;
    for (uint32_t n = 0; seen_bf_get_link(value, n, &l) == SEEN_OK; n++) {
        RM_SaveUnsigned(io, l.entries);
        RM_SaveDouble(io, l.error);
        RM_SaveUnsigned(io, l.hashes);
        RM_SaveDouble(io, l.bpe);
        RM_SaveUnsigned(io, l.bits);
        RM_SaveUnsigned(io, l.n2);
        RM_SaveStringBuffer(io, l.data, l.bytes);
        RM_SaveUnsigned(io, l.size);
    }
}

static void *compat_load(rm_io *io, int encver)
{
    enum { MAX_LINKS = 65536 };
    if (encver < 1 || encver > 4)
        return NULL;
    uint64_t items = RM_LoadUnsigned(io), n = RM_LoadUnsigned(io);
    uint64_t options = encver >= 2 ? RM_LoadUnsigned(io) : 0;
    uint64_t growth = encver >= 4 ? RM_LoadUnsigned(io) : 2;
    if (RM_IsIOError(io) || n < 1 || n > MAX_LINKS || options > 15 ||
        growth > UINT32_MAX)
        return NULL;
    seen_bf_link *links = RM_Calloc(n, sizeof *links);
    uint64_t done = 0, sum = 0;
    bool good = true;
    while (done < n && good) {
        seen_bf_link *l = &links[done++];
        size_t len;
        l->entries = RM_LoadUnsigned(io);
        l->error = RM_LoadDouble(io);
        uint64_t hashes = RM_LoadUnsigned(io);
        l->bpe = RM_LoadDouble(io);
        l->bits = RM_LoadUnsigned(io);
        uint64_t n2 = RM_LoadUnsigned(io);
        good = !RM_IsIOError(io) && hashes <= UINT32_MAX && n2 <= 63;
        l->hashes = (uint32_t)hashes;
        l->n2 = (uint8_t)n2;
        if (!good)
            break;
        l->data = RM_LoadStringBuffer(io, &len);
        l->size = RM_LoadUnsigned(io);
        good = l->data && !RM_IsIOError(io);
        /* Rounded links of old versions store 0 bits: the array tells. */
        l->bits = l->bits ? l->bits : (uint64_t)len * 8;
        good = good && l->bits == (uint64_t)len * 8;
        l->bytes = len;
        sum += l->size;
    }
    seen_bf *f = NULL;
    if (good && sum == items &&
        seen_bf_make((uint32_t)options, (uint32_t)growth, links, (uint32_t)n,
                     UINT64_MAX, &server_allocator, &f) != SEEN_OK) {
        RM_LogIOError(io, "warning", "filter refused: %s", seen_reason());
        f = NULL;
    }
    for (uint64_t i = 0; i < done; i++)
        RM_Free((void *)links[i].data);
    RM_Free(links);
    return counted(f, (bf){.compat = f});
}

static void compat_aof(rm_io *io, rm_str *key, void *value)
{
    aof(io, key, (bf){.compat = value});
}
static void compat_digest(rm_digest *md, void *value)
{
    value_bytes_digest(md, bf_bytes((bf){.compat = value}));
}

static size_t compat_usage(const void *value)
{
    /* BF.INFO's Size is RedisBloom's figure; what it takes here is a little more. */
    bf_facts f = bf_get_facts((bf){.compat = (seen_bf *)value});
    return f.bytes + 112 + 72 * f.layers;
}

static void compat_free(void *value)
{
    free_counted((bf){.compat = value});
}

static size_t compat_effort(rm_str *key, const void *value)
{
    return free_effort(compat_usage(value));
}

static void *compat_copy(rm_str *from, rm_str *to, const void *value)
{
    seen_bf *f = NULL;
    if (seen_bf_copy(value, &server_allocator, &f) != SEEN_OK)
        return NULL;
    return counted(f, (bf){.compat = f});
}

/* ---- pieces ------------------------------------------------------------------ */

static void parts_save(rm_io *io, void *value)
{
    value_bytes_save(io, bf_bytes((bf){.parts = value}));
}

static void *parts_load_rdb(rm_io *io, int encver)
{
    size_t len;
    char *header = encver == 1 ? RM_LoadStringBuffer(io, &len) : NULL;
    bf_parts *p = header ? parts_load(header, len) : NULL;
    RM_Free(header);
    return counted(p, (bf){.parts = p});
}

static void parts_aof(rm_io *io, rm_str *key, void *value)
{
    aof(io, key, (bf){.parts = value});
}
static void parts_digest(rm_digest *md, void *value)
{
    value_bytes_digest(md, bf_bytes((bf){.parts = value}));
}
static size_t parts_usage(const void *value)
{
    return sizeof(bf_parts) + 64;
}
static void parts_release(void *value)
{
    free_counted((bf){.parts = value});
}

/* ---- registration ------------------------------------------------------------ */

int bf_types(rm_ctx *ctx)
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
    /* No copy: the copy would share the pieces. */
    rm_methods parts = {
        .version = 3,
        .rdb_load = parts_load_rdb,
        .rdb_save = parts_save,
        .aof_rewrite = parts_aof,
        .mem_usage = parts_usage,
        .digest = parts_digest,
        .free = parts_release,
    };
    fast_type = RM_CreateDataType(ctx, "seenbloom", 1, &fast);
    compat_type = RM_CreateDataType(ctx, "MBbloom--", 4, &compat);
    parts_type = RM_CreateDataType(ctx, "seenparts", 1, &parts);
    return fast_type && compat_type && parts_type ? RM_OK : RM_ERR;
}
