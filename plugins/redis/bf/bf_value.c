/* bf_value.c - the types of BF keys: their facts, their bytes, and how they load. */
#include "bf/bf_value.h"
#include "bf/bf_pieces.h"
#include "bf/bloom_bytes.h"
#include "server/server_memory.h"
#include "server/settings.h"

static value_type fast_type, compat_type, pieces_type;

value_family bloom_family = {
    .name = "bloom",
    .types = {&fast_type, &compat_type, &pieces_type},
};

/* ---- keys -------------------------------------------------------------------- */

value_key bf_open(rm_ctx *ctx, rm_str *name, int mode)
{
    return value_open(ctx, name, mode, &bloom_family);
}

bf bf_of(const value_key *k)
{
    return (bf){.fast = value_body_of(k, &fast_type),
                .compat = value_body_of(k, &compat_type),
                .pieces = value_body_of(k, &pieces_type)};
}

void bf_put(value_key *k, bf v)
{
    if (v.fast)
        value_put(k, &fast_type, v.fast);
    else if (v.compat)
        value_put(k, &compat_type, v.compat);
    else
        value_put(k, &pieces_type, v.pieces);
}

void bf_free(bf v)
{
    bloom_free(v.fast);
    sn_bf_free(v.compat);
    pieces_free(v.pieces);
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
            .error = b->spec.error,
            .expansion = b->spec.expansion,
            .fixed = b->spec.fixed,
        };
    }
    if (v.pieces) /* its pieces are keys of their own, and count themselves */
        return (bf_facts){.size = sizeof *v.pieces};
    sn_bf_info i;
    sn_bf_link_info first;
    sn_bf_get_info(v.compat, &i);
    bool fixed = (i.options & SN_BF_NOSCALING) || !i.expansion;
    double error = 0;
    if (sn_bf_get_link(v.compat, 0, &first) == SEEN_OK)
        error = fixed ? first.error : first.error * 2;
    return (bf_facts){
        .capacity = i.capacity,
        .size = i.size,
        .layers = i.links,
        .items = i.items,
        .error = error,
        .expansion = i.expansion,
        .fixed = fixed,
    };
}

bool bf_is_allowed(bf v, uint64_t limit)
{
    if (limit == UINT64_MAX || v.pieces)
        return true;
    bf_facts f = bf_get_facts(v);
    uint64_t first = 0;
    sn_bf_link_info link;
    if (v.fast)
        first = v.fast->spec.capacity;
    else if (sn_bf_get_link(v.compat, 0, &link) == SEEN_OK)
        first = link.entries;
    return f.expansion <= MAX_EXPANSION && first <= (uint64_t)MAX_CAPACITY;
}

/* The facts INFO adds up; BYTES is the memory of all of V. */
static value_facts summed(bf v, uint64_t bytes)
{
    bf_facts f = bf_get_facts(v);
    return (value_facts){f.layers, f.items, f.capacity, bytes};
}

/* ---- fast -------------------------------------------------------------------- */

static value_bytes fast_bytes(const void *body)
{
    const bloom *f = body;
    value_bytes b = value_bytes_new(bloom_header(f, NULL, 0), f->nlayers);
    bloom_header(f, b.header, b.len);
    for (uint32_t i = 0; i < b.n; i++)
        b.bodies[i] =
            (struct value_body){(char *)f->layers[i].body, f->layers[i].bytes};
    return b;
}

static void *fast_load(rm_io *io, int version)
{
    bloom *b = NULL;
    size_t len;
    if (version != 1)
        return NULL;
    char *header = RM_LoadStringBuffer(io, &len);
    uint64_t limit = memory_limit_io(io);
    int rc = header ? bloom_load(header, len, limit, &b) : SEEN_EIO;
    RM_Free(header);
    if (rc == SEEN_OK && !bf_is_allowed((bf){.fast = b}, limit)) {
        bloom_free(b);
        rc = SEEN_ETOOBIG;
    }
    if (rc != SEEN_OK) {
        RM_LogIOError(io, "warning", "filter header refused: %s", seen_strerror(rc));
        return NULL;
    }
    if (!value_bytes_load(io, fast_bytes(b))) {
        RM_LogIOError(io, "warning", "filter body is short or damaged");
        bloom_free(b);
        return NULL;
    }
    return value_new(&fast_type, b);
}

static value_facts fast_facts(const void *body)
{
    return summed((bf){.fast = (bloom *)body}, bloom_memory(body));
}
static void *fast_copy(const void *body)
{
    return bloom_copy(body);
}
static void fast_free(void *body)
{
    bloom_free(body);
}

static value_type fast_type = {
    .name = "seenbloom",
    .version = 1,
    .family = &bloom_family,
    .load = fast_load,
    .load_command = "BF.LOADCHUNK",
    .bytes = fast_bytes,
    .facts = fast_facts,
    .copy = fast_copy,
    .free = fast_free,
};

/* ---- compat ------------------------------------------------------------------ */

static value_bytes compat_bytes(const void *body)
{
    sn_bf_info info;
    sn_bf_link_info l;
    sn_bf_get_info(body, &info);
    value_bytes b = value_bytes_new(sn_bf_header(body, NULL, 0), info.links);
    sn_bf_header(body, b.header, b.len);
    for (uint32_t i = 0; sn_bf_get_link(body, i, &l) == SEEN_OK; i++)
        b.bodies[i] = (struct value_body){(char *)l.data, l.bytes};
    return b;
}

static void compat_save(rm_io *io, const void *body)
{
    sn_bf_info i;
    sn_bf_get_info(body, &i);
    RM_SaveUnsigned(io, i.items);
    RM_SaveUnsigned(io, i.links);
    RM_SaveUnsigned(io, i.options);
    RM_SaveUnsigned(io, i.expansion);
    sn_bf_link_info l;
    for (uint32_t n = 0; sn_bf_get_link(body, n, &l) == SEEN_OK; n++) {
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

/* Reads one link; its array belongs to the caller. False for bad data. */
static bool load_link(rm_io *io, sn_bf_link_info *l)
{
    size_t len;
    l->entries = RM_LoadUnsigned(io);
    l->error = RM_LoadDouble(io);
    uint64_t hashes = RM_LoadUnsigned(io);
    l->bpe = RM_LoadDouble(io);
    l->bits = RM_LoadUnsigned(io);
    uint64_t n2 = RM_LoadUnsigned(io);
    if (RM_IsIOError(io) || hashes > UINT32_MAX || n2 > 63)
        return false;
    l->hashes = (uint32_t)hashes;
    l->n2 = (uint8_t)n2;
    l->data = RM_LoadStringBuffer(io, &len);
    l->size = RM_LoadUnsigned(io);
    if (!l->data || RM_IsIOError(io))
        return false;
    /* Old versions store 0 bits for rounded links; the array's length says how many. */
    l->bits = l->bits ? l->bits : (uint64_t)len * 8;
    l->bytes = len;
    return l->bits == (uint64_t)len * 8;
}

static void *compat_load(rm_io *io, int version)
{
    enum { MAX_LINKS = 65536 };
    if (version < 1 || version > 4)
        return NULL;
    uint64_t items = RM_LoadUnsigned(io), n = RM_LoadUnsigned(io);
    uint64_t options = version >= 2 ? RM_LoadUnsigned(io) : 0;
    uint64_t growth = version >= 4 ? RM_LoadUnsigned(io) : 2;
    if (RM_IsIOError(io) || n < 1 || n > MAX_LINKS || options > 15 ||
        growth > UINT32_MAX)
        return NULL;
    sn_bf_link_info *links = RM_Calloc(n, sizeof *links);
    uint64_t done = 0, sum = 0;
    bool good = true;
    while (done < n && good) {
        good = load_link(io, &links[done]);
        sum += links[done++].size;
    }
    sn_bf *f = NULL;
    uint64_t limit = memory_limit_io(io);
    if (good && sum == items &&
        sn_bf_make((uint32_t)options, (uint32_t)growth, links, (uint32_t)n, limit,
                   &server_allocator, &f) != SEEN_OK) {
        RM_LogIOError(io, "warning", "filter refused: %s", seen_reason());
        f = NULL;
    }
    if (f && !bf_is_allowed((bf){.compat = f}, limit)) {
        RM_LogIOError(io, "warning", "filter refused: beyond the limits of BF.RESERVE");
        sn_bf_free(f);
        f = NULL;
    }
    for (uint64_t i = 0; i < done; i++)
        RM_Free((void *)links[i].data);
    RM_Free(links);
    return value_new(&compat_type, f);
}

static value_facts compat_facts(const void *body)
{
    /* BF.INFO's Size is RedisBloom's figure; the chain here takes a little more. */
    bf v = {.compat = (sn_bf *)body};
    bf_facts f = bf_get_facts(v);
    return summed(v, f.size + 112 + 72 * f.layers);
}

static void *compat_copy(const void *body)
{
    sn_bf *f = NULL;
    return sn_bf_copy(body, &server_allocator, &f) == SEEN_OK ? f : NULL;
}
static void compat_free(void *body)
{
    sn_bf_free(body);
}

static value_type compat_type = {
    .name = "MBbloom--",
    .version = 4,
    .family = &bloom_family,
    .load = compat_load,
    .save = compat_save,
    .load_command = "BF.LOADCHUNK",
    .bytes = compat_bytes,
    .facts = compat_facts,
    .copy = compat_copy,
    .free = compat_free,
};

/* ---- pieces ------------------------------------------------------------------ */

static value_bytes piece_bytes(const void *body)
{
    value_bytes b = value_bytes_new(pieces_bytes(body, NULL, 0), 0);
    pieces_bytes(body, b.header, b.len);
    return b;
}

static void *piece_load(rm_io *io, int version)
{
    size_t len;
    char *header = version == 1 ? RM_LoadStringBuffer(io, &len) : NULL;
    bf_pieces *p = header ? pieces_load(header, len) : NULL;
    RM_Free(header);
    return value_new(&pieces_type, p);
}

static value_facts piece_facts(const void *body)
{
    return (value_facts){.bytes = sizeof(bf_pieces) + 64};
}
static void piece_free(void *body)
{
    pieces_free(body);
}

/* No copy: the copy would share the pieces. */
static value_type pieces_type = {
    .name = "seenparts",
    .version = 1,
    .family = &bloom_family,
    .load = piece_load,
    .load_command = "BF.LOADCHUNK",
    .bytes = piece_bytes,
    .facts = piece_facts,
    .free = piece_free,
};
