/* fuzz_redis_module.c - any bytes as a value of the module: through the RDB loaders
 * and through LOADCHUNK's, in both layouts. What is accepted must bear every use.
 *
 * The server is played by a few functions below: loads read from the input, and memory
 * above 64 MB is refused. */
#include "plugins/redis/bf/bf_value.h"
#include "seen_sketch.h"
#include "plugins/redis/bf/bloom_bytes.h"
#include "plugins/redis/cf/cuckoo_bytes.h"
#include "plugins/redis/cf/cf_value.h"
#include "plugins/redis/server/server_memory.h"
#include "plugins/redis/sketches/sketch_types.h"
#include <stdlib.h>
#include <string.h>

struct rm_io {
    const uint8_t *p, *end;
    int bad;
};

enum { MOST = 64 << 20 };

static void *alloc(size_t n)
{
    return n > MOST ? NULL : calloc(1, n ? n : 1);
}
static void *zeroed(size_t n, size_t size)
{
    return alloc(n * size);
}
static void *grow(void *p, size_t n)
{
    return realloc(p, n ? n : 1);
}

static void take(rm_io *io, void *to, size_t n)
{
    memset(to, 0, n);
    if ((size_t)(io->end - io->p) < n) {
        io->bad = 1;
        io->p = io->end;
        return;
    }
    memcpy(to, io->p, n);
    io->p += n;
}

static uint64_t load_unsigned(rm_io *io)
{
    uint64_t v;
    take(io, &v, 8);
    return v;
}

static double load_double(rm_io *io)
{
    double d;
    take(io, &d, 8);
    return d;
}

/* Headers of ours are signed: sign them, or no input ever gets behind the checksum. */
static void sign(uint8_t *p, size_t len)
{
    if (len < 16 || memcmp(p, "seen", 4))
        return;
    uint64_t sum = seen_hash_seeded(0, p, len - 8);
    memcpy(p + len - 8, &sum, 8);
}

static char *load_string(rm_io *io, size_t *len)
{
    uint16_t n;
    take(io, &n, 2);
    *len = n;
    if (io->bad || (size_t)(io->end - io->p) < n) {
        io->bad = 1;
        return NULL;
    }
    uint8_t *p = malloc(n ? n : 1);
    memcpy(p, io->p, n);
    io->p += n;
    sign(p, n);
    return (char *)p;
}

static int io_error(rm_io *io)
{
    return io->bad;
}
static void log_io(rm_io *io, const char *level, const char *fmt, ...) {}
static void save_unsigned(rm_io *io, uint64_t v) {}
static void save_double(rm_io *io, double d) {}
static void save_string(rm_io *io, const char *p, size_t len)
{
    volatile char sum = 0;
    for (size_t i = 0; i < len; i += 4096)
        sum = (char)(sum + p[i]);
}
static rm_ctx *context_of(rm_io *io)
{
    return NULL;
}
static int flags(rm_ctx *ctx)
{
    return 0;
}

/* By name, so that the first byte of an input means the same for ever. */
enum { BF_FAST, BF_COMPAT, CF_FAST, CF_COMPAT, BF_PARTS, CMS, TOPK, TDIGEST, TYPES };
static const char *const type_name[TYPES] = {"seenbloom", "MBbloom--", "seencucko",
                                             "MBbloomCF", "seenparts", "CMSk-TYPE",
                                             "TopK-TYPE", "TDIS-TYPE"};
static rm_methods type[TYPES];
static bool started;

static rm_type *create(rm_ctx *ctx, const char *name, int encver, rm_methods *m)
{
    for (int i = 0; i < TYPES; i++)
        if (!strcmp(name, type_name[i])) {
            type[i] = *m;
            return (rm_type *)&type[i];
        }
    abort();
}

static int set_value(rm_key *key, rm_type *t, void *v)
{
    return RM_OK;
}

static void start(void)
{
    RM_ModuleTypeSetValue = set_value;
    RM_TryAlloc = alloc;
    RM_TryCalloc = zeroed;
    RM_Alloc = alloc;
    RM_Calloc = zeroed;
    RM_Realloc = grow;
    RM_Free = free;
    RM_LoadUnsigned = load_unsigned;
    RM_LoadDouble = load_double;
    RM_LoadStringBuffer = load_string;
    RM_IsIOError = io_error;
    RM_LogIOError = log_io;
    RM_SaveUnsigned = save_unsigned;
    RM_SaveDouble = save_double;
    RM_SaveStringBuffer = save_string;
    RM_GetContextFlags = flags;
    RM_GetContextFromIO = context_of;
    RM_CreateDataType = create;
    value_family_register(NULL, &bloom_family);
    value_family_register(NULL, &cuckoo_family);
    value_family_register(NULL, &cms_family);
    value_family_register(NULL, &topk_family);
    value_family_register(NULL, &tdigest_family);
}

static uint64_t most(void *ctx)
{
    return MOST / 4;
}

static void use_bf(bf v)
{
    static const seen_key keys[] = {{"a", 1}, {"", 0}, {"a", 1}, {"longer", 6}};
    bloom_limit lim = {most, NULL};
    bool answer[4], changed = false;
    int why = 0;
    if (v.fast) {
        bloom_has_many(v.fast, keys, 4, 1000, answer);
        bloom_add_many(v.fast, keys, 4, 1000, &lim, answer, &changed, &why);
        bloom *c = bloom_copy(v.fast);
        if (c && bloom_bytes(c) < MOST / 8)
            bloom_merge(c, v.fast, &lim);
        if (v.fast->spec.window)
            bloom_rotate(v.fast, 1 << 20);
        bloom_free(c);
    } else {
        sn_bf_has_many(v.compat, keys, 4, answer);
        sn_bf_add_many(v.compat, keys, 4, answer, &why);
    }
    bf_get_facts(v);
}

static void use_cf(cf v)
{
    static const seen_key keys[] = {{"a", 1}, {"", 0}, {"b", 1}};
    cuckoo_limits lim = {40, most, NULL};
    bool answer[3];
    if (v.fast) {
        cuckoo_has_many(v.fast, keys, 3, answer);
        for (int i = 0; i < 30; i++)
            cuckoo_add(v.fast, keys[i % 3], false, &lim);
        cuckoo_count(v.fast, keys[0]);
        cuckoo_remove(v.fast, keys[1]);
        cuckoo_compact(v.fast);
    } else {
        for (int i = 0; i < 3; i++)
            sn_cf_add(v.compat, keys[i].data, keys[i].len, 40);
        sn_cf_del(v.compat, "a", 1);
        if (cf_get_facts(v).size < 1 << 20)
            sn_cf_compact(v.compat);
    }
    cf_get_facts(v);
}

static void use_sketch(int which, void *body)
{
    static const double q[] = {0, 0.5, 1};
    const uint32_t *places;
    double out[3];
    seen_key expelled;
    if (which == CMS) {
        seen_cms_add(body, "a", 1, 5);
        seen_cms_count(body, "b", 1);
    } else if (which == TOPK) {
        for (uint32_t i = 0; i < 20; i++)
            seen_hk_add(body, &i, i % 4, i, &expelled);
        seen_hk_list(body, &places);
        seen_hk_count(body, "a", 1);
    } else {
        seen_tdigest_quantiles(body, q, 3, out);
        for (int i = 0; i < 20; i++)
            seen_tdigest_add(body, i, 1);
        seen_tdigest_rank(body, 3);
        seen_tdigest_trimmed_mean(body, 0.1, 0.9);
    }
}

static void rdb(int which, rm_io *io)
{
    static const int version[TYPES] = {1, 4, 1, 4, 1, 0, 0, 0};
    void *v = type[which].rdb_load(io, version[which]);
    if (!v)
        return;
    value_key k = {.value = v};
    if (which >= CMS)
        use_sketch(which, k.value->body);
    else if (which <= BF_COMPAT)
        use_bf(bf_of(&k));
    else if (which <= CF_COMPAT)
        use_cf(cf_of(&k));
    type[which].rdb_save(io, v);
    type[which].mem_usage(v);
    void *copy = type[which].copy ? type[which].copy(NULL, NULL, v) : NULL;
    if (copy)
        type[which].free(copy);
    type[which].free(v);
}

/* LOADCHUNK after LOADCHUNK into V, and SCANDUMP with the same iterators. */
static void chunks_into(rm_io *io, value *v)
{
    while (!io->bad) {
        uint64_t iter = load_unsigned(io);
        size_t len;
        char *p = load_string(io, &len);
        value_bytes bytes = value_to_bytes(v);
        if (p && value_bytes_put(&bytes, iter, p, len) == SEEN_OK &&
            v->type->family == &cuckoo_family)
            cuckoo_loaded(v->body, iter - 1);
        const char *data;
        uint64_t next;
        value_bytes_at(&bytes, iter, &data, &len, &next);
        value_bytes_free(bytes);
        free(p);
    }
}

static void chunks(int which, rm_io *io)
{
    size_t len;
    char *p = load_string(io, &len);
    bf b = {0};
    cf c = {0};
    if (p && which < 2 && bloom_load(p, len, MOST / 8, &b.fast) == SEEN_OK) {
        value_key k = {0};
        bf_put(&k, b);
        chunks_into(io, k.value);
        use_bf(b);
        type[BF_FAST].free(k.value);
    } else if (p && which >= 2 && cuckoo_load(p, len, MOST / 8, &c.fast) == SEEN_OK) {
        value_key k = {0};
        cf_put(&k, c);
        chunks_into(io, k.value);
        use_cf(c);
        type[CF_FAST].free(k.value);
    }
    free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!started)
        start();
    started = true;
    if (!size)
        return 0;
    rm_io io = {data + 1, data + size, 0};
    if (data[0] & 16)
        rdb(CMS + data[0] % 3, &io);
    else if (data[0] & 8)
        rdb(BF_PARTS, &io);
    else if (data[0] & 4)
        chunks(data[0] & 3, &io);
    else
        rdb(data[0] & 3, &io);
    return 0;
}
