/* bf_pieces.c - a filter over several keys of one slot. */
#include "bf/bf_pieces.h"
#include "server/acl_categories.h"
#include "server/settings.h"
#include "server/error_texts.h"
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "seenBP3\n"
#define XXH3_MAGIC "seenBP2\n" /* without a second word of the secret */
#define OLD_MAGIC "seenBP1\n"  /* nor an id */
/* A larger piece could not be moved. */
#define MOST_BYTES ((uint64_t)480 << 20)

static const char *lost(rm_ctx *ctx)
{
    return RM_GetContextFlags(ctx) & RM_FLAG_CLUSTER ? SAY_PIECE_AGAIN : SAY_PIECE_LOST;
}

/* ---- keys of pieces ---------------------------------------------------------- */

static rm_str *piece_name(rm_ctx *ctx, const bf_pieces *p, uint32_t i)
{
    char name[1200];
    int n = snprintf(name, sizeof name, "%s%u", p->prefix, i);
    return RM_CreateString(ctx, name, (size_t)n);
}

static value_key piece_open(rm_ctx *ctx, const bf_pieces *p, uint32_t i, int mode)
{
    rm_str *name = piece_name(ctx, p, i);
    value_key k = bf_open(ctx, name, mode);
    RM_FreeString(ctx, name);
    return k;
}

/* The filter in K if it is a piece of P, else NULL. */
static bloom *piece_in(const value_key *k, const bf_pieces *p)
{
    bloom *b = bf_of(k).fast;
    return b && b->owner == p->id ? b : NULL;
}

/* Whether the user may touch pieces FROM .. TO of P as FLAGS says: RM_SPEC_... */
static bool may_touch(rm_ctx *ctx, const bf_pieces *p, uint32_t from, uint32_t to,
                      int flags)
{
    rm_user *u = acl_user(ctx);
    bool may = true;
    for (uint32_t i = from; u && i < to && may; i++) {
        rm_str *name = piece_name(ctx, p, i);
        may = RM_ACLCheckKeyPermissions(u, name, flags) == RM_OK;
        RM_FreeString(ctx, name);
    }
    if (u)
        RM_FreeModuleUser(u);
    return may;
}

/* The prefix puts the pieces into the slot of NAME: by its own {tag}, or by NAME as the
 * tag. NULL if neither can be. */
static bf_pieces *pieces_new(const char *name, size_t len, uint32_t n)
{
    const char *open = memchr(name, '{', len);
    const char *close = open ? memchr(open, '}', len - (size_t)(open - name)) : NULL;
    bool tagged = close && close > open + 1;
    if (!len || len > 1000 || memchr(name, 0, len) ||
        (!tagged && memchr(name, '}', len)) || (!tagged && open))
        return NULL;
    bf_pieces *p = RM_Calloc(1, sizeof *p + len + 16);
    p->n = n;
    sprintf(p->prefix, tagged ? "%.*s/" : "{%.*s}/", (int)len, name);
    return p;
}

void pieces_free(bf_pieces *p)
{
    RM_Free(p);
}

static void unlink_all(rm_ctx *ctx, const bf_pieces *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        value_key k = piece_open(ctx, p, i, RM_READ | RM_WRITE);
        if (piece_in(&k, p))
            RM_UnlinkKey ? RM_UnlinkKey(k.key) : RM_DeleteKey(k.key);
        value_close(&k);
    }
}

const char *pieces_unlink(rm_ctx *ctx, const bf_pieces *p)
{
    if (!may_touch(ctx, p, 0, p->n, RM_SPEC_DELETE))
        return SAY_PIECE_DENIED;
    unlink_all(ctx, p);
    return NULL;
}

/* What to reply if the pieces of P cannot be created where they belong; NULL if they
 * can. */
static const char *occupied(rm_ctx *ctx, const bf_pieces *p)
{
    static char text[1400];
    if (!may_touch(ctx, p, 0, p->n, RM_SPEC_INSERT))
        return SAY_PIECE_DENIED;
    for (uint32_t i = 0; i < p->n; i++) {
        value_key k = piece_open(ctx, p, i, RM_READ);
        bool there = k.state != KEY_MISSING;
        value_close(&k);
        if (there) {
            snprintf(text, sizeof text,
                     "ERR key %s%u exists and a piece needs it: delete it, or choose "
                     "another name",
                     p->prefix, i);
            return text;
        }
    }
    return NULL;
}

/* Another hash than the pieces use, or all items of a piece would share their lines. */
static void ready_hasher(bf_pieces *p)
{
    secret_hasher(p->secret, 0x9e3779b97f4a7c15u, &p->hasher);
}

const char *pieces_make(rm_ctx *ctx, rm_str *name, const bf_options *o, bf_pieces **out)
{
    size_t len;
    const char *text = RM_StringPtrLen(name, &len);
    bf_pieces *p = pieces_new(text, len, o->pieces);
    if (!p)
        return SAY_PIECE_NAME;
    p->secret = o->spec.secret;
    ready_hasher(p);
    p->capacity = o->spec.capacity;
    p->id = o->id;
    bloom_spec each = o->spec;
    /* Items fall into pieces at random: each has room for four standard deviations
     * more. */
    double mean = (double)o->spec.capacity / o->pieces;
    each.capacity = (uint64_t)ceil(mean + 4 * sqrt(mean));
    bloom_layer l;
    const char *bad = occupied(ctx, p);
    if (!bad && (!bloom_shape_first(&each, &l) || l.bytes > MOST_BYTES))
        bad = SAY_PIECE_SIZE;
    else if (!bad && l.bytes * o->pieces > memory_limit(ctx))
        bad = SAY_OVER_LIMIT;
    bloom_limit lim = limit_for(ctx);
    for (uint32_t i = 0; i < p->n && !bad; i++) {
        bf made = {0};
        if (bloom_new(&each, o->born, &lim, &made.fast) != BLOOM_OK) {
            bad = SAY_NO_MEMORY;
            unlink_all(ctx, p); /* those of its id, which were just created */
            break;
        }
        made.fast->owner = p->id;
        value_key k = piece_open(ctx, p, i, RM_READ | RM_WRITE);
        bf_put(&k, made);
        value_close(&k);
    }
    if (bad) {
        pieces_free(p);
        return bad;
    }
    *out = p;
    return NULL;
}

/* ---- items ------------------------------------------------------------------- */

/* Items sorted by piece; in each piece in their order. */
typedef struct sorted {
    uint32_t *at;    /* numbers of items */
    uint32_t *first; /* of piece i; n + 1 of them */
    seen_key *keys;  /* in sorted order */
    bool *answer;
} sorted;

static sorted sort_items(const bf_pieces *p, const seen_key *keys, size_t n)
{
    sorted s = {RM_Alloc(n * sizeof *s.at), RM_Calloc(p->n + 2, sizeof *s.first),
                RM_Alloc(n * sizeof *s.keys), RM_Alloc(n)};
    uint32_t *piece = RM_Alloc(n * sizeof *piece);
    for (size_t i = 0; i < n; i++) {
        uint64_t h = seen_hasher_hash(&p->hasher, keys[i].data, keys[i].len);
        piece[i] = (uint32_t)(((unsigned __int128)h * p->n) >> 64);
        s.first[piece[i] + 2]++;
    }
    for (uint32_t i = 2; i < p->n + 2; i++)
        s.first[i] += s.first[i - 1];
    for (size_t i = 0; i < n; i++) {
        uint32_t to = s.first[piece[i] + 1]++;
        s.at[to] = (uint32_t)i;
        s.keys[to] = keys[i];
    }
    RM_Free(piece);
    return s;
}

static void sorted_free(sorted *s)
{
    RM_Free(s->at);
    RM_Free(s->first);
    RM_Free(s->keys);
    RM_Free(s->answer);
}

/* What to reply if a piece that has items is not here or not the user's to touch; NULL
 * if all are. Nothing is added before that is known. */
static const char *unreachable(rm_ctx *ctx, const bf_pieces *p, const sorted *s,
                               int flags)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (s->first[i] == s->first[i + 1])
            continue;
        if (!may_touch(ctx, p, i, i + 1, flags))
            return SAY_PIECE_DENIED;
        value_key k = piece_open(ctx, p, i, RM_READ);
        bool here = piece_in(&k, p);
        value_close(&k);
        if (!here)
            return lost(ctx);
    }
    return NULL;
}

static uint64_t piece_limit(void *ctx)
{
    uint64_t all = memory_limit(ctx);
    return all < MOST_BYTES || all == UINT64_MAX ? all : MOST_BYTES;
}

const char *pieces_add(rm_ctx *ctx, const bf_pieces *p, const seen_key *keys, size_t n,
                       bool *fresh, bool *taken, bool *changed)
{
    sorted s = sort_items(p, keys, n);
    const char *bad = unreachable(ctx, p, &s, RM_SPEC_INSERT | RM_SPEC_UPDATE);
    bloom_limit lim = {piece_limit, ctx};
    memset(taken, 0, n);
    for (uint32_t i = 0; i < p->n && !bad; i++) {
        uint32_t from = s.first[i], m = s.first[i + 1] - from;
        if (!m)
            continue;
        value_key k = piece_open(ctx, p, i, RM_READ | RM_WRITE);
        int why = BLOOM_OK;
        size_t done = bloom_add_many(bf_of(&k).fast, s.keys + from, m, 0, &lim,
                                     s.answer + from, changed, &why);
        value_recount(k.value);
        value_close(&k);
        for (size_t j = 0; j < done; j++) {
            taken[s.at[from + j]] = true;
            fresh[s.at[from + j]] = s.answer[from + j];
        }
        if (done < m)
            bad = why == BLOOM_FULL     ? SAY_FULL
                  : why == BLOOM_TOOBIG ? SAY_OVER_LIMIT
                                        : SAY_PROBLEM;
    }
    sorted_free(&s);
    return bad;
}

const char *pieces_has(rm_ctx *ctx, const bf_pieces *p, const seen_key *keys, size_t n,
                       bool *found)
{
    sorted s = sort_items(p, keys, n);
    const char *bad = unreachable(ctx, p, &s, RM_SPEC_ACCESS);
    for (uint32_t i = 0; i < p->n && !bad; i++) {
        uint32_t from = s.first[i], m = s.first[i + 1] - from;
        if (!m)
            continue;
        value_key k = piece_open(ctx, p, i, RM_READ);
        bloom_has_many(bf_of(&k).fast, s.keys + from, m, 0, s.answer + from);
        value_close(&k);
        for (uint32_t j = 0; j < m; j++)
            found[s.at[from + j]] = s.answer[from + j];
    }
    sorted_free(&s);
    return bad;
}

const char *pieces_facts(rm_ctx *ctx, const bf_pieces *p, bf_facts *out)
{
    *out = (bf_facts){0};
    if (!may_touch(ctx, p, 0, p->n, RM_SPEC_ACCESS))
        return SAY_PIECE_DENIED;
    for (uint32_t i = 0; i < p->n; i++) {
        value_key k = piece_open(ctx, p, i, RM_READ);
        if (!piece_in(&k, p)) {
            value_close(&k);
            return lost(ctx);
        }
        bf_facts f = bf_get_facts(bf_of(&k));
        value_close(&k);
        out->capacity += f.capacity;
        out->size += f.size;
        out->layers += f.layers;
        out->items += f.items;
        out->error = f.error;
        out->expansion = f.expansion;
        out->fixed = f.fixed;
    }
    return NULL;
}

/* ---- bytes ------------------------------------------------------------------- */

/* Magic, n, seed, capacity, id, the high half of the seed; then the prefix and a
 * checksum. */
enum { FIXED = 48, SUM = 8, FIELDS = 5 };

/* The bytes before the prefix; 0 if it is not a header. */
static size_t fixed_bytes(const void *bytes, size_t len)
{
    return len < 8                         ? 0
           : !memcmp(bytes, MAGIC, 8)      ? FIXED
           : !memcmp(bytes, XXH3_MAGIC, 8) ? FIXED - 8
           : !memcmp(bytes, OLD_MAGIC, 8)  ? FIXED - 16
                                           : 0;
}

bool pieces_is_header(const void *bytes, size_t len)
{
    return fixed_bytes(bytes, len) > 0;
}

size_t pieces_bytes(const bf_pieces *p, void *buf, size_t size)
{
    const char *magic = p->secret.keyed ? MAGIC : p->id ? XXH3_MAGIC : OLD_MAGIC;
    size_t name = strlen(p->prefix), fixed = fixed_bytes(magic, 8);
    size_t need = fixed + name + SUM;
    if (size < need)
        return need;
    uint8_t *b = buf;
    uint64_t v[FIELDS] = {htole64(p->n), htole64(p->secret.low), htole64(p->capacity),
                          htole64(p->id), htole64(p->secret.high)};
    memcpy(b, magic, 8);
    memcpy(b + 8, v, fixed - 8);
    memcpy(b + fixed, p->prefix, name);
    uint64_t sum = htole64(seen_hash_seeded(0, buf, need - SUM));
    memcpy(b + need - SUM, &sum, 8);
    return need;
}

bf_pieces *pieces_load(const void *bytes, size_t len)
{
    const uint8_t *b = bytes;
    uint64_t v[FIELDS] = {0}, sum;
    size_t fixed = fixed_bytes(bytes, len);
    if (!fixed || len < fixed + 2 + SUM || len > 1100)
        return NULL;
    bool old = fixed == FIXED - 16;
    size_t name = len - fixed - SUM;
    memcpy(&sum, b + len - SUM, 8);
    memcpy(v, b + 8, fixed - 8);
    if (le64toh(sum) != seen_hash_seeded(0, bytes, len - SUM) || le64toh(v[0]) < 2 ||
        le64toh(v[0]) > MAX_PIECES || memchr(b + fixed, 0, name) || (!old && !v[3]))
        return NULL;
    bf_pieces *p = RM_Calloc(1, sizeof *p + name + 1);
    p->n = (uint32_t)le64toh(v[0]);
    p->secret = (filter_secret){le64toh(v[1]), le64toh(v[4]), fixed == FIXED};
    ready_hasher(p);
    secret_loaded(p->secret);
    p->capacity = le64toh(v[2]);
    p->id = le64toh(v[3]);
    memcpy(p->prefix, b + fixed, name);
    return p;
}
