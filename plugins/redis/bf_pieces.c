/* bf_pieces.c - a filter over several keys of one slot. */
#include "bf_pieces.h"
#include "settings.h"
#include "error_texts.h"
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "seenBP1\n"
/* No piece grows beyond what can be moved. */
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

void pieces_unlink(rm_ctx *ctx, const bf_pieces *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        value_key k = piece_open(ctx, p, i, RM_READ | RM_WRITE);
        if (bf_of(&k).fast)
            RM_UnlinkKey ? RM_UnlinkKey(k.key) : RM_DeleteKey(k.key);
        value_close(&k);
    }
}

const char *pieces_make(rm_ctx *ctx, rm_str *name, const bf_options *o, bf_pieces **out)
{
    size_t len;
    const char *text = RM_StringPtrLen(name, &len);
    bf_pieces *p = pieces_new(text, len, o->pieces);
    if (!p)
        return SAY_PIECE_NAME;
    p->seed = o->spec.seed;
    p->capacity = o->spec.capacity;
    bloom_spec each = o->spec;
    /* Items fall into pieces at random: each is made for four deviations more. */
    double mean = (double)o->spec.capacity / o->pieces;
    each.capacity = (uint64_t)ceil(mean + 4 * sqrt(mean));
    bloom_layer l;
    const char *bad = NULL;
    if (!bloom_shape_first(&each, &l) || l.bytes > MOST_BYTES)
        bad = SAY_PIECE_SIZE;
    else if (l.bytes * o->pieces > memory_limit(ctx))
        bad = SAY_OVER_LIMIT;
    bloom_limit lim = limit_for(ctx);
    uint32_t n = p->n, i = 0;
    for (; i < n && !bad; i++) {
        value_key k = piece_open(ctx, p, i, RM_READ | RM_WRITE);
        bf made = {0};
        if (k.state == KEY_WRONG)
            bad = SAY_WRONGTYPE;
        else if (bloom_new(&each, o->born, &lim, &made.fast) != BLOOM_OK)
            bad = SAY_NO_MEMORY;
        else {
            /* What an older filter of this name left behind. */
            if (k.state == KEY_FOUND)
                RM_DeleteKey(k.key);
            bf_put(&k, made);
        }
        value_close(&k);
    }
    if (bad) {
        p->n = i ? i - 1 : 0; /* those that were made */
        pieces_unlink(ctx, p);
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
    uint32_t *part = RM_Alloc(n * sizeof *part);
    for (size_t i = 0; i < n; i++) {
        /* Not the hash that the pieces use: their lines would be chosen by it again. */
        uint64_t h =
            seen_hash_seeded(p->seed ^ 0x9e3779b97f4a7c15u, keys[i].data, keys[i].len);
        part[i] = (uint32_t)(((unsigned __int128)h * p->n) >> 64);
        s.first[part[i] + 2]++;
    }
    for (uint32_t i = 2; i < p->n + 2; i++)
        s.first[i] += s.first[i - 1];
    for (size_t i = 0; i < n; i++) {
        uint32_t to = s.first[part[i] + 1]++;
        s.at[to] = (uint32_t)i;
        s.keys[to] = keys[i];
    }
    RM_Free(part);
    return s;
}

static void sorted_free(sorted *s)
{
    RM_Free(s->at);
    RM_Free(s->first);
    RM_Free(s->keys);
    RM_Free(s->answer);
}

/* Whether every piece that has items is here: nothing is added before that is known. */
static bool all_here(rm_ctx *ctx, const bf_pieces *p, const sorted *s)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (s->first[i] == s->first[i + 1])
            continue;
        value_key k = piece_open(ctx, p, i, RM_READ);
        bool here = bf_of(&k).fast;
        value_close(&k);
        if (!here)
            return false;
    }
    return true;
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
    const char *bad = all_here(ctx, p, &s) ? NULL : lost(ctx);
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
    const char *bad = NULL;
    for (uint32_t i = 0; i < p->n && !bad; i++) {
        uint32_t from = s.first[i], m = s.first[i + 1] - from;
        if (!m)
            continue;
        value_key k = piece_open(ctx, p, i, RM_READ);
        if (bf_of(&k).fast)
            bloom_has_many(bf_of(&k).fast, s.keys + from, m, 0, s.answer + from);
        else
            bad = lost(ctx);
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
    for (uint32_t i = 0; i < p->n; i++) {
        value_key k = piece_open(ctx, p, i, RM_READ);
        if (!bf_of(&k).fast) {
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

enum { FIXED = 32, SUM = 8 };

bool pieces_is_header(const void *bytes, size_t len)
{
    return len >= 8 && !memcmp(bytes, MAGIC, 8);
}

size_t pieces_bytes(const bf_pieces *p, void *buf, size_t size)
{
    size_t name = strlen(p->prefix), need = FIXED + name + SUM;
    if (size < need)
        return need;
    uint8_t *b = buf;
    uint64_t v[3] = {htole64(p->n), htole64(p->seed), htole64(p->capacity)};
    memcpy(b, MAGIC, 8);
    memcpy(b + 8, v, sizeof v);
    memcpy(b + FIXED, p->prefix, name);
    uint64_t sum = htole64(seen_hash_seeded(0, buf, need - SUM));
    memcpy(b + need - SUM, &sum, 8);
    return need;
}

bf_pieces *pieces_load(const void *bytes, size_t len)
{
    const uint8_t *b = bytes;
    uint64_t v[3], sum;
    if (!pieces_is_header(bytes, len) || len < FIXED + 2 + SUM || len > 1100)
        return NULL;
    memcpy(&sum, b + len - SUM, 8);
    memcpy(v, b + 8, sizeof v);
    size_t name = len - FIXED - SUM;
    if (le64toh(sum) != seen_hash_seeded(0, bytes, len - SUM) || le64toh(v[0]) < 2 ||
        le64toh(v[0]) > MAX_PIECES || memchr(b + FIXED, 0, name))
        return NULL;
    bf_pieces *p = RM_Calloc(1, sizeof *p + name + 1);
    p->n = (uint32_t)le64toh(v[0]);
    p->seed = le64toh(v[1]);
    p->capacity = le64toh(v[2]);
    memcpy(p->prefix, b + FIXED, name);
    return p;
}
