/* bloom.c - the chain of layers: growth, batches, generations, union.
 *
 * The bits are the library's, and so is the calculation of growth (seen_growth), with
 * numbers of our own. The chain is not the library's growing filter: it must take what
 * RedisBloom and valkey-bloom let users choose (capacity, expansion, tightening, never
 * growing), forget whole generations, unite with other chains, and keep its layers in a
 * form that every version of the module reads; and the memory of a layer must be known
 * before it is taken. So layers here are plain filters of fixed size, asked and added
 * to by hash.
 */
#include "bf/bloom.h"
#include "bf/blocked_sizes.h"
#include "bf/merge_layers.h"
#include "server/server_memory.h"
#include <string.h>

/* Generations of a window. One more is alive while the oldest fades. */
enum { GENERATIONS = 4 };

/* ---- shape ------------------------------------------------------------------- */

/* Layers of fewer keys than this are small. */
#define SMALL_KEYS 65536

/* Layers of fewer keys than this are not large. */
#define MIDDLE_KEYS 300000

/* A filter that nobody gave an expansion grows fourfold while it is small, so that few
 * layers are behind it when it is large, then by a fifth, so that little of the newest
 * is empty, and when it is large by half: there each layer more costs time and bits.
 * The error is divided likewise: each of the at most nine small layers takes 1% of it,
 * which costs nothing in so few keys, and the others share the rest, 20% of what is
 * left each. If the capacity was chosen, it is likely to be right, and the first layer
 * has a large share of its own.
 *
 * Bytes a key from 100 keys on, error 1%, by the numbers of keys it is asked at:
 *
 *                            at 1M   mean of 0.3-1M   1-3M   3-10M   10-100M   layers
 * at 10M a fifth, then half      2.13             2.32   2.52    2.91      3.41 18 half
 * throughout         2.77             2.63   2.55    2.80      3.10              15
 *
 * Doubling with tightening errors takes 4.1 at a million. */
static const seen_growth automatic = {
    .step = {{SMALL_KEYS, 4, 1}, {MIDDLE_KEYS, 6, 5}, {(uint64_t)1 << 60, 3, 2}, {0}},
    .small = SMALL_KEYS,
    .small_most = 9,
    .small_share = 0.01,
    .asked = 0.6,
    .asked_small = 0.3,
    .ratio = 0.8};

/* What the user chose, or what serves one who did not. */
static seen_growth growth_of(const bloom_spec *spec)
{
    return spec->automatic ? automatic
                           : (seen_growth){.step = {{0, spec->expansion, 1}},
                                           .ratio = spec->tightening};
}

static uint64_t first_capacity(const bloom_spec *spec)
{
    return spec->window ? (spec->capacity + GENERATIONS - 1) / GENERATIONS
                        : spec->capacity;
}

/* The error of layer number I. The sum over all layers stays below the error that was
 * asked for. */
static double layer_error(const bloom_spec *spec, uint32_t i)
{
    double whole = spec->error;
    if (spec->window)
        whole /= GENERATIONS + 1;
    if (spec->fixed)
        return whole;
    seen_growth g = growth_of(spec);
    return whole * seen_growth_share(&g, first_capacity(spec),
                                     spec->automatic && spec->known, i);
}

static bool shape_for(uint64_t capacity, double error, bloom_layer *out)
{
    *out = (bloom_layer){.error = error, .capacity = capacity};
    if (!(error > 0 && error < 1) || !capacity)
        return false;
    /* One cache line per key is the fastest; far below one error in ten thousand that
     * costs several times the bits, and the classic filter is the better one. */
    if (error >= 1e-5) {
        if (!blocked_size(capacity, error, &out->bits, &out->probes))
            return false;
        out->kind = SEEN_BLOCKED;
        out->bytes = out->bits / 8;
        return true;
    }
    /* RedisBloom takes any error; keys of one 64-bit hash, and as many that share their
     * bits, leave this one. */
    double least = (double)capacity * 0x1p-63;
    seen_size s = {
        .kind = SEEN_CLASSIC, .keys = capacity, .error = error > least ? error : least};
    if (seen_solve(&s) < 0)
        return false;
    out->kind = s.kind;
    out->bits = s.bits;
    out->bytes = s.bytes;
    out->probes = s.probes;
    return true;
}

bool bloom_shape_first(const bloom_spec *spec, bloom_layer *out)
{
    return shape_for(first_capacity(spec), layer_error(spec, 0), out);
}

/* How many layers the newest generation has. */
static uint32_t generation_size(const bloom *b)
{
    uint32_t n = 1;
    while (n < b->nlayers &&
           b->layers[b->nlayers - 1 - n].born == b->layers[b->nlayers - 1].born)
        n++;
    return b->spec.window ? n : b->nlayers;
}

bool bloom_shape_after(const bloom_spec *spec, uint32_t i, uint64_t capacity,
                       bloom_layer *out)
{
    seen_growth g = growth_of(spec);
    return shape_for(seen_growth_next(&g, capacity), layer_error(spec, i), out);
}

uint64_t bloom_bytes(const bloom *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->nlayers; i++)
        sum += b->layers[i].bytes;
    return sum;
}

uint64_t bloom_memory(const bloom *b)
{
    uint64_t each = sizeof(bloom_layer) + 384; /* and libseen's handle of it */
    return sizeof *b + b->nlayers * each + bloom_bytes(b);
}

uint64_t bloom_capacity(const bloom *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->nlayers; i++)
        sum += b->layers[i].capacity;
    return sum;
}

/* ---- life -------------------------------------------------------------------- */

static void layer_free(bloom_layer *l)
{
    seen_free(l->filter);
    l->filter = NULL;
    l->body = NULL;
}

/* Gives L, whose shape is set, an empty body. */
static int layer_make(const bloom_spec *spec, bloom_layer *l)
{
    l->filter = NULL;
    if (l->kind != SEEN_BLOCKED && l->kind != SEEN_CLASSIC && l->kind != SEEN_SPLIT)
        return BLOOM_DIFFER;
    seen_hasher hasher;
    secret_hasher(spec->secret, 0, &hasher);
    /* Bits and probes but no keys: the filter is never full, since the chain counts. */
    seen_spec want = {.kind = (seen_kind)l->kind,
                      .bits = l->bits,
                      .probes = l->probes,
                      .hasher = &hasher,
                      .alloc = server_allocator};
    int rc = seen_new(&want, &l->filter);
    if (rc < 0)
        return rc == SEEN_ENOMEM ? BLOOM_NOMEM : BLOOM_DIFFER;
    size_t len;
    void *body;
    rc = seen_body_to_write(l->filter, 0, &body, &len);
    l->body = body;
    if (rc == 0 && len == l->bytes)
        return BLOOM_OK;
    layer_free(l);
    return BLOOM_DIFFER;
}

bloom *bloom_shell(const bloom_spec *spec)
{
    bloom *b = RM_Calloc(1, sizeof *b);
    b->spec = *spec;
    return b;
}

int bloom_append(bloom *b, const bloom_layer *l)
{
    bloom_layer made = *l;
    int rc = layer_make(&b->spec, &made);
    if (rc != BLOOM_OK)
        return rc;
    b->layers = RM_Realloc(b->layers, (b->nlayers + 1) * sizeof *b->layers);
    b->layers[b->nlayers++] = made;
    return BLOOM_OK;
}

static int append_within(bloom *b, const bloom_layer *l, const bloom_limit *lim)
{
    if (bloom_bytes(b) + l->bytes > lim->max_bytes(lim->ctx))
        return BLOOM_TOOBIG;
    return bloom_append(b, l);
}

int bloom_new(const bloom_spec *spec, int64_t now, const bloom_limit *lim, bloom **out)
{
    bloom_layer first;
    if (!bloom_shape_first(spec, &first))
        return BLOOM_TOOBIG;
    bloom *b = bloom_shell(spec);
    first.born = spec->window ? now : 0;
    int rc = append_within(b, &first, lim);
    if (rc == BLOOM_OK)
        *out = b;
    else
        bloom_free(b);
    return rc;
}

void bloom_free(bloom *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->nlayers; i++)
        layer_free(&b->layers[i]);
    RM_Free(b->layers);
    RM_Free(b);
}

static int append_copy(bloom *b, const bloom_layer *l)
{
    int rc = bloom_append(b, l);
    if (rc == BLOOM_OK)
        memcpy(b->layers[b->nlayers - 1].body, l->body, l->bytes);
    return rc;
}

bloom *bloom_copy(const bloom *b)
{
    bloom *c = bloom_shell(&b->spec);
    c->items = b->items;
    for (uint32_t i = 0; i < b->nlayers; i++)
        if (append_copy(c, &b->layers[i]) != BLOOM_OK) {
            bloom_free(c);
            return NULL;
        }
    return c;
}

/* ---- asking ------------------------------------------------------------------ */

/* Keys of one round: their hashes and where their answers go. A key leaves the round
 * when a layer has it. */
enum { ROUND = 256 };
typedef struct round {
    uint64_t h[ROUND];
    uint16_t at[ROUND];
    size_t n;
} round_t;

static void round_start(round_t *r, const bloom *b, const seen_key *keys, size_t n)
{
    seen_hasher hasher; /* the layers have it ready */
    seen_get_hasher(b->layers[0].filter, &hasher);
    seen_hasher_many(&hasher, keys, n, r->h);
    for (size_t i = 0; i < n; i++)
        r->at[i] = (uint16_t)i;
    r->n = n;
}

/* Removes the entries from FROM on whose GONE is set. */
static void round_keep(round_t *r, size_t from, const bool *gone)
{
    size_t kept = from;
    for (size_t i = from; i < r->n; i++)
        if (!gone[i - from]) {
            r->h[kept] = r->h[i];
            r->at[kept++] = r->at[i];
        }
    r->n = kept;
}

/* Asks layer L for all keys of R, notes the found ones and removes them. */
static void round_ask(round_t *r, const bloom_layer *l, bool *found)
{
    bool in[ROUND];
    seen_has_hashes(l->filter, r->h, r->n, in);
    for (size_t i = 0; i < r->n; i++)
        found[r->at[i]] |= in[i];
    round_keep(r, 0, in);
}

static int64_t generation_length(const bloom *b)
{
    return (int64_t)(b->spec.window / GENERATIONS);
}

/* Whether layer I may still hold keys added less than a window ago. */
static bool alive(const bloom *b, uint32_t i, int64_t now)
{
    if (!b->spec.window)
        return true;
    int64_t end = b->layers[i].born + generation_length(b);
    for (uint32_t j = i + 1; j < b->nlayers; j++)
        if (b->layers[j].born != b->layers[i].born) {
            if (b->layers[j].born < end)
                end = b->layers[j].born;
            break;
        }
    return end + (int64_t)b->spec.window > now;
}

void bloom_has_many(const bloom *b, const seen_key *keys, size_t n, int64_t now,
                    bool *found)
{
    memset(found, 0, n);
    for (size_t at = 0; at < n; at += ROUND) {
        round_t r;
        round_start(&r, b, keys + at, n - at < ROUND ? n - at : ROUND);
        for (uint32_t i = b->nlayers; i-- > 0 && r.n;)
            if (alive(b, i, now))
                round_ask(&r, &b->layers[i], found + at);
    }
}

/* ---- adding ------------------------------------------------------------------ */

static int grow(bloom *b, const bloom_limit *lim)
{
    bloom_layer next;
    if (b->spec.fixed)
        return BLOOM_FULL;
    if (!bloom_shape_after(&b->spec, generation_size(b),
                           b->layers[b->nlayers - 1].capacity, &next))
        return BLOOM_TOOBIG;
    next.born = b->layers[b->nlayers - 1].born;
    return append_within(b, &next, lim);
}

/* Adds one round. Returns how many of its N keys were taken. */
static size_t add_round(bloom *b, const seen_key *keys, size_t n, int64_t now,
                        const bloom_limit *lim, bool *fresh, bool *changed, int *why)
{
    round_t r;
    bool there[ROUND] = {false}, past[ROUND] = {false}, dup[ROUND];
    round_start(&r, b, keys, n);
    uint32_t older = b->nlayers - generation_size(b);
    for (uint32_t i = b->nlayers - 1; i-- > older && r.n;)
        round_ask(&r, &b->layers[i], there);
    /* A key of an earlier generation is not new, but is added again: that keeps it
     * alive. */
    if (older) {
        round_t p = r;
        for (uint32_t i = older; i-- > 0 && p.n;)
            if (alive(b, i, now))
                round_ask(&p, &b->layers[i], past);
    }
    size_t taken = n, next = 0;
    while (next < r.n) {
        bloom_layer *top = &b->layers[b->nlayers - 1];
        uint64_t room = top->capacity > top->count ? top->capacity - top->count : 0;
        if (!room) {
            seen_has_hashes(top->filter, r.h + next, r.n - next, dup);
            for (size_t i = next; i < r.n; i++)
                there[r.at[i]] |= dup[i - next];
            round_keep(&r, next, dup);
            if (next == r.n)
                break;
            int rc = grow(b, lim);
            if (rc != BLOOM_OK) {
                *why = rc;
                taken = r.at[next];
                break;
            }
            *changed = true;
            continue;
        }
        size_t m = r.n - next < room ? r.n - next : (size_t)room;
        uint64_t new = 0;
        seen_add_hashes(top->filter, r.h + next, m, dup, NULL);
        for (size_t i = 0; i < m; i++) {
            there[r.at[next + i]] |= dup[i];
            new += !dup[i];
        }
        top->count += new;
        b->items += new;
        *changed |= new > 0;
        next += m;
    }
    for (size_t i = 0; i < taken; i++)
        fresh[i] = !there[i] && !past[i];
    return taken;
}

size_t bloom_add_many(bloom *b, const seen_key *keys, size_t n, int64_t now,
                      const bloom_limit *lim, bool *fresh, bool *changed, int *why)
{
    size_t at = 0;
    while (at < n) {
        size_t m = n - at < ROUND ? n - at : ROUND;
        size_t taken = add_round(b, keys + at, m, now, lim, fresh + at, changed, why);
        at += taken;
        if (taken < m)
            break;
    }
    return at;
}

/* ---- forgetting -------------------------------------------------------------- */

bool bloom_due(const bloom *b, int64_t now)
{
    return b->spec.window &&
           now - b->layers[b->nlayers - 1].born >= generation_length(b);
}

int bloom_rotate(bloom *b, int64_t now)
{
    bloom_layer fresh;
    if (!b->spec.window || !bloom_shape_first(&b->spec, &fresh))
        return BLOOM_DIFFER;
    uint32_t gone = 0;
    while (gone < b->nlayers && !alive(b, gone, now)) {
        b->items -= b->layers[gone].count;
        layer_free(&b->layers[gone++]);
    }
    b->nlayers -= gone;
    memmove(b->layers, b->layers + gone, b->nlayers * sizeof *b->layers);
    fresh.born = now;
    return bloom_append(b, &fresh);
}

/* ---- union ------------------------------------------------------------------- */

static layer_view view_of(const bloom_layer *l)
{
    return (layer_view){.body = l->body,
                        .bits = l->bytes * 8,
                        .keys = l->count,
                        .capacity = l->capacity,
                        .probes = l->probes,
                        .kind = l->kind};
}

static int merge_layer(bloom *dst, const bloom_layer *l, const bloom_limit *lim)
{
    layer_view *have = RM_Alloc(dst->nlayers * sizeof *have), add = view_of(l);
    for (uint32_t i = 0; i < dst->nlayers; i++)
        have[i] = view_of(&dst->layers[i]);
    merge_step step = merge_step_for(have, dst->nlayers, &add);
    RM_Free(have);
    if (step.how == MERGE_NOTHING)
        return BLOOM_OK;
    if (step.how == MERGE_APPEND) {
        if (bloom_bytes(dst) + l->bytes > lim->max_bytes(lim->ctx))
            return BLOOM_TOOBIG;
        int rc = append_copy(dst, l);
        if (rc != BLOOM_OK)
            return rc;
        dst->items += l->count;
        /* The newest layer stays the newest: it is the one that is added to. */
        bloom_layer *top = &dst->layers[dst->nlayers - 1], appended = *top;
        *top = top[-1];
        top[-1] = appended;
        return BLOOM_OK;
    }
    bloom_layer *to = &dst->layers[step.at];
    bits_unite(to->body, l->body, l->bytes);
    dst->items += step.keys - to->count;
    to->count = step.keys;
    return BLOOM_OK;
}

int bloom_merge(bloom *dst, const bloom *src, const bloom_limit *lim)
{
    const bloom_spec *x = &dst->spec, *y = &src->spec;
    if (!secret_same(x->secret, y->secret) || x->window || y->window)
        return BLOOM_DIFFER;
    uint32_t most = dst->nlayers > src->nlayers ? dst->nlayers : src->nlayers;
    int rc = BLOOM_OK;
    for (uint32_t i = 0; i < src->nlayers && rc == BLOOM_OK; i++)
        rc = merge_layer(dst, &src->layers[i], lim);
    if (rc == BLOOM_OK && dst->nlayers > most && dst->nlayers > BLOOM_MERGE_LAYERS)
        rc = BLOOM_LAYERS;
    return rc;
}
