/* filter.c - the handle: makes, copies, clears, merges and frees filters. */
#include "filter/batch.h"
#include "filter/exceptions.h"
#include "filter/growth.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/map.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

seen_filter *sn_filter_alloc(const seen_allocator *a)
{
    seen_filter *f = sn_alloc(a, sizeof *f);
    if (!f)
        return NULL;
    f->alloc = *a;
    f->writable = true;
    f->lock = -1;
    if (sn_make_room(f, 1) < 0) {
        sn_free(a, f, sizeof *f);
        return NULL;
    }
    return f;
}

uint64_t seen_random_seed(void)
{
    uint64_t seed = 0;
    return seen_random_bytes(&seed, sizeof seed) < 0 ? 0 : seed;
}

int sn_refuse_static(const char *kind)
{
    return sn_fail(SEEN_EKIND, "a %s filter is static: build it from all its keys",
                   kind);
}

int seen_new(const seen_spec *spec, seen_filter **out)
{
    static const seen_spec zero;
    sn_shape shape;
    *out = NULL;
    if (!spec)
        spec = &zero;
    sn_hasher hasher;
    int rc = sn_shape_of_spec(spec, &shape);
    if (rc == 0)
        rc = sn_hasher_of(&hasher, spec->hasher, spec->hash, spec->seed,
                          spec->seed_high);
    if (rc < 0)
        return rc;
    if (!(seen_kind_can(shape.kind) & SEEN_CAN_ADD))
        return sn_refuse_static(seen_kind_name(shape.kind));
    if (spec->flags & SEEN_ATOMIC && !(seen_kind_can(shape.kind) & SEEN_CAN_ATOMIC))
        return sn_fail(SEEN_EKIND, "%s cannot take keys from many threads",
                       seen_kind_name(shape.kind));
    seen_filter *f = sn_filter_alloc(&spec->alloc);
    if (!f)
        return sn_no_memory("no memory for a filter");
    f->flags = spec->flags & (SEEN_FIXED | SEEN_ATOMIC | SEEN_SCALAR);
    if (spec->bits || spec->memory || spec->flags & SEEN_ATOMIC)
        f->flags |= SEEN_FIXED;
    f->kind = shape.kind;
    f->once = shape.own[SN_ONCE] && sn_kind_of(shape.kind)->multiset;
    f->probes = spec->probes;
    f->hasher = hasher;
    f->keys = spec->keys;
    f->error = spec->memory || spec->bits ? shape.error
               : spec->error == 0         ? 0.01
                                          : spec->error;
    bool unknown = !spec->keys && !(f->flags & SEEN_FIXED) &&
                   sn_begins_whole(sn_kind_of(f->kind), f->once);
    rc = unknown ? sn_append_hashes(f) : sn_append(f, &shape);
    if (rc < 0) {
        seen_free(f);
        return rc;
    }
    sn_new_identity(*out = f);
    return 0;
}

void seen_free(seen_filter *f)
{
    if (!f)
        return;
    if (sn_in_file(f) && f->writable && !f->shared)
        seen_flush(f);
    sn_exceptions_free(f);
    sn_foreign_free(f->foreign);
    for (uint32_t i = 0; i < f->layers && !f->map; i++)
        sn_body_free(&f->alloc, f->layer[i].body, f->layer[i].len);
    if (f->map_owned)
        sn_unmap(f->map, f->map_len, f->lock);
    if (f->path)
        sn_free(&f->alloc, f->path, strlen(f->path) + 1);
    seen_allocator a = f->alloc;
    sn_free(&a, f->layer, f->room * sizeof *f->layer);
    sn_free(&a, f, sizeof *f);
}

const void *seen_body(const seen_filter *f, uint32_t layer, size_t *len)
{
    *len = layer < f->layers ? f->layer[layer].len : 0;
    return layer < f->layers ? f->layer[layer].body : NULL;
}

int seen_body_to_write(seen_filter *f, uint32_t layer, void **body, size_t *len)
{
    *body = NULL;
    *len = 0;
    if (f->foreign)
        return sn_handle_foreign_refuse(f, "has no layers");
    if (layer >= f->layers)
        return sn_fail(SEEN_EINVAL, "there is no layer %u", layer);
    int rc = sn_may_change(f);
    if (rc < 0)
        return rc;
    *body = f->layer[layer].body;
    *len = f->layer[layer].len;
    return SEEN_OK;
}

int sn_may_change(seen_filter *f)
{
    if (!f->writable)
        return sn_fail(SEEN_EREADONLY, "the filter was opened read-only");
    return sn_in_file(f) && !__atomic_load_n(&f->dirty, __ATOMIC_ACQUIRE)
               ? sn_mark_dirty(f)
               : 0;
}

static int clear(seen_filter *f)
{
    if (f->foreign)
        return sn_handle_foreign_clear(f);
    if (!(sn_newest(f)->kind->can & SEEN_CAN_ADD))
        return sn_refuse_static(sn_newest(f)->kind->name);
    int rc = sn_may_change(f);
    if (rc == 0)
        rc = sn_refuse_kept(f, "that they were forgotten");
    if (rc < 0)
        return rc;
    if (sn_in_file(f)) { /* the file keeps its shape: all layers, now empty */
        for (uint32_t i = 0; i < f->layers; i++) {
            memset(f->layer[i].body, 0, f->layer[i].len);
            f->layer[i].added = 0;
        }
        return 0;
    }
    sn_layer *last = sn_newest(f);
    for (sn_layer *l = f->layer; l < last; l++)
        sn_body_free(&f->alloc, l->body, l->len);
    f->layer[0] = *last;
    f->layers = 1;
    memset(f->layer[0].body, 0, f->layer[0].len);
    f->layer[0].added = 0;
    for (int i = 0; f->layer->kind->grow && i < 4; i++) /* what it was before it grew */
        f->layer->shape.own[i] = i == SN_ONCE ? f->layer->shape.own[i] : 0;
    sn_choose_variants(f);
    return 0;
}

int seen_clear(seen_filter *f)
{
    int rc = clear(f);
    if (rc == 0) /* the filter finds nothing, so it has no exceptions */
        sn_exceptions_free(f);
    return rc;
}

void sn_snapshot(const seen_filter *f, void *to, const uint8_t *from, uint64_t len)
{
    if (!(f->flags & SEEN_ATOMIC)) {
        memcpy(to, from, len);
        return;
    }
    for (uint64_t i = 0; i < len; i += 8)
        sn_put64((uint8_t *)to + i, sn_peek64(from + i));
}

/* An empty filter with F's rules but without its layers. */
static seen_filter *same_rules(const seen_filter *f)
{
    seen_filter *g = sn_filter_alloc(&f->alloc);
    if (!g) {
        sn_no_memory("no memory for a filter");
        return NULL;
    }
    g->flags = f->flags;
    g->kind = f->kind;
    g->once = f->once;
    g->probes = f->probes;
    g->hasher = f->hasher;
    g->keys = f->keys;
    g->error = f->error;
    g->key_type = f->key_type;
    return g;
}

int seen_copy(const seen_filter *f, seen_filter **out)
{
    *out = NULL;
    if (f->foreign)
        return sn_handle_foreign_copy(f, out);
    seen_filter *g = same_rules(f);
    int rc = g ? 0 : SEEN_ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < f->layers; i++) {
        rc = sn_append(g, &f->layer[i].shape);
        if (rc == 0) {
            sn_snapshot(f, g->layer[i].body, f->layer[i].body, f->layer[i].len);
            g->layer[i].added = __atomic_load_n(&f->layer[i].added, __ATOMIC_RELAXED);
        }
    }
    if (rc == 0) {
        memcpy(g->id, f->id, sizeof g->id);
        g->generation = __atomic_load_n(&f->generation, __ATOMIC_RELAXED);
        g->no_identity = f->no_identity;
        g->late = f->late;
        g->modified = f->modified;
        g->content = f->content;
        rc = sn_exceptions_copy(g, f);
    }
    if (rc == 0)
        *out = g;
    else
        seen_free(g);
    return rc;
}

int seen_new_like(const seen_filter *f, seen_filter **out)
{
    *out = NULL;
    if (f->foreign) {
        seen_filter *g;
        int rc = sn_handle_foreign_copy(f, &g);
        if (rc == 0 && (rc = sn_handle_foreign_clear(g)) < 0)
            seen_free(g);
        else if (rc == 0)
            *out = g;
        return rc;
    }
    if (!(sn_newest(f)->kind->can & SEEN_CAN_ADD))
        return sn_refuse_static(sn_newest(f)->kind->name);
    seen_filter *g = same_rules(f);
    int rc = g ? 0 : SEEN_ENOMEM;
    for (uint32_t i = 0; rc == 0 && i < f->layers; i++)
        rc = sn_append(g, &f->layer[i].shape);
    if (rc == 0)
        sn_new_identity(*out = g);
    else
        seen_free(g);
    return rc;
}

static int same_shape(const seen_filter *a, const seen_filter *b)
{
    if (!sn_hasher_same(&a->hasher, &b->hasher))
        return sn_fail(SEEN_EMISMATCH,
                       "their hashes have different %s: make filters to be merged with "
                       "'seen new --like' or seen_new_like()",
                       a->hasher.id == b->hasher.id ? "seeds" : "functions");
    if (a->layers != b->layers)
        return sn_fail(SEEN_EMISMATCH, "one has %u layers, the other %u", a->layers,
                       b->layers);
    for (uint32_t i = 0; i < a->layers; i++) {
        const sn_shape *x = &a->layer[i].shape, *y = &b->layer[i].shape;
        if (x->kind != y->kind)
            return sn_fail(SEEN_EMISMATCH, "one is %s, the other %s",
                           seen_kind_name(x->kind), seen_kind_name(y->kind));
        if (x->units != y->units || x->k != y->k)
            return sn_fail(SEEN_EMISMATCH,
                           "layer %u differs: %llu bytes and k=%u, against "
                           "%llu and k=%u",
                           i + 1, (unsigned long long)a->layer[i].len, x->k,
                           (unsigned long long)b->layer[i].len, y->k);
        if (sn_keeps_copies(a->layer + i) != sn_keeps_copies(b->layer + i))
            return sn_fail(SEEN_EMISMATCH, "one can remove keys, the other cannot");
    }
    return 0;
}

/* The number of keys in a union is estimated from its bits. */
static void recount(sn_layer *l)
{
    sn_measure m;
    l->kind->measure(l, &m);
    l->added = m.keys < 9e18 ? (uint64_t)(m.keys + 0.5) : l->shape.capacity;
}

static int add_batch(void *into, const uint64_t *h, size_t n)
{
    return seen_add_hashes(into, h, n, NULL, NULL);
}

/* Hashes of one filter that another does not have. */
typedef struct absent {
    const seen_filter *from;
    uint64_t n;
} absent;

static int count_absent(void *ctx, const uint64_t *h, size_t n)
{
    absent *a = ctx;
    for (size_t i = 0; i < n; i++)
        a->n += !seen_has_hash(a->from, h[i]);
    return 0;
}

/* Fails: L has no room for the MORE keys of a merge. */
static int no_room(const sn_layer *l, uint64_t more)
{
    return sn_fail(SEEN_EFULL,
                   "%llu more keys, but room for only %llu of %llu: make the filters "
                   "for all keys of the union",
                   (unsigned long long)more, (unsigned long long)sn_room(l),
                   (unsigned long long)l->shape.capacity);
}

/* Adds all hashes of SRC; if DST is fixed and they do not fit, adds none. */
static int merge_hashes(seen_filter *dst, const seen_filter *src)
{
    absent a = {.from = dst};
    const sn_layer *into = sn_newest(dst), *end = src->layer + src->layers;
    int rc = 0;
    if (dst->flags & SEEN_FIXED || sn_in_file(dst))
        for (const sn_layer *l = src->layer; l < end; l++)
            l->kind->each_hash(l, count_absent, &a);
    if (a.n > sn_room(into))
        return no_room(into, a.n);
    for (const sn_layer *l = src->layer; rc == 0 && l < end; l++)
        rc = l->kind->each_hash(l, add_batch, dst);
    return rc;
}

/* True if F may get another layer. */
static bool may_append(const seen_filter *f)
{
    return !(f->flags & SEEN_FIXED) && !sn_in_file(f);
}

/* For a kind whose merge needs room: checks that there is enough if no layer can be
 * appended. Filters that remove get no new layer: a remove must not find a layer with
 * the shape of an older one (kind/cuckoo.h). */
static int room_for_union(const seen_filter *dst, const seen_filter *src)
{
    for (uint32_t i = 0; i < dst->layers; i++) {
        const sn_layer *d = dst->layer + i, *s = src->layer + i;
        if (!d->kind->merge_needs || (may_append(dst) && !sn_keeps_copies(d)))
            continue;
        uint64_t more = d->kind->merge_needs(d, s);
        if (more > sn_room(d))
            return no_room(d, more);
    }
    return 0;
}

/* Merges layer S of SRC into layer I of DST; if it does not fit, appends S to DST as a
 * layer. */
static int merge_layer(seen_filter *dst, uint32_t i, const sn_layer *s)
{
    sn_layer *d = dst->layer + i;
    int rc = d->kind->merge(d, s);
    if (rc != SEEN_EFULL || !may_append(dst) || sn_keeps_copies(d))
        return rc;
    rc = sn_append(dst, &s->shape);
    if (rc == 0) {
        memcpy(sn_newest(dst)->body, s->body, s->len);
        sn_newest(dst)->added = s->added;
    }
    return rc;
}

/* True if DST can absorb SRC of any size. */
static bool absorbs(const seen_filter *dst, const seen_filter *src)
{
    return dst->layers == 1 && src->layers == 1 &&
           dst->layer->kind == src->layer->kind &&
           dst->layer->kind->absorb && may_append(dst) &&
           sn_hasher_same(&src->hasher, &dst->hasher);
}

static int absorb(seen_filter *dst, const seen_filter *src)
{
    if (sn_keeps_copies(dst->layer) && !sn_keeps_copies(src->layer))
        return sn_fail(SEEN_EMISMATCH,
                       "keys can be removed from the first but not from "
                       "the second, where a copy may serve several");
    int rc = dst->layer->kind->absorb(dst->layer, src->layer, &dst->alloc);
    if (rc < 0)
        return rc;
    if (dst->error > 0 && dst->layer->shape.error > dst->error)
        dst->error = dst->layer->shape.error;
    sn_choose_variants(dst);
    return 0;
}

static int merge(seen_filter *dst, const seen_filter *src)
{
    if (dst->foreign && src->foreign)
        return sn_foreign_merge(dst->foreign, src->foreign);
    if (dst->foreign || src->foreign)
        return sn_handle_foreign_refuse(dst->foreign ? dst : src,
                                 "cannot be merged with a native one");
    if (!(sn_newest(dst)->kind->can & SEEN_CAN_MERGE))
        return sn_fail(SEEN_EKIND, "%s filters cannot be merged",
                       sn_newest(dst)->kind->name);
    int rc = sn_may_change(dst);
    if (rc == 0)
        rc = sn_refuse_kept(dst, "those of another filter");
    if (rc < 0 || dst == src)
        return rc;
    /* Whole hashes can be added to any filter of the same seed. */
    const sn_layer *last = sn_newest(dst);
    const sn_kind *into = last->kind;
    const sn_kind *of = src->layer[src->layers - 1].kind;
    bool same = sn_hasher_same(&src->hasher, &dst->hasher);
    if (same && of->each_hash && (into->each_hash || into->absorb))
        return merge_hashes(dst, src);
    if (same && of->absorb && dst->kind == of->id && into->id != of->id && !dst->map &&
        (rc = sn_unfold(dst)) < 0)
        return rc;
    if (absorbs(dst, src))
        return absorb(dst, src);
    rc = same_shape(dst, src);
    if (rc == 0)
        rc = room_for_union(dst, src);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < src->layers; i++) {
        sn_layer *d = dst->layer + i;
        const sn_layer *s = src->layer + i;
        if (d->kind->merge) {
            rc = merge_layer(dst, i, s);
            if (rc < 0)
                return rc;
            continue;
        }
        uint64_t *to = (uint64_t *)(void *)d->body;
        const uint64_t *from = (const uint64_t *)(const void *)s->body;
        for (uint64_t w = 0; w < d->len / 8; w++)
            to[w] |= from[w];
        if (s->added)
            recount(d);
    }
    return 0;
}

int seen_merge(seen_filter *dst, const seen_filter *src)
{
    seen_keys type;
    int rc = sn_keys_of_union(dst, src, &type);
    if (rc == 0)
        rc = merge(dst, src);
    if (rc == 0 && !dst->foreign)
        sn_keys_merged(dst, type);
    if (dst->exceptions && dst != src) /* also after a failure: some may be in */
        sn_exceptions_merged(dst, src);
    return rc;
}

/* ---- rebuild: from whole hashes to another kind ---------------------------------- */

static int build_batch(void *into, const uint64_t *h, size_t n)
{
    return seen_builder_add_hashes(into, h, n);
}

static int rebuild_static(const seen_filter *f, const seen_spec *spec,
                          seen_filter **out)
{
    seen_hasher hasher;
    seen_get_hasher(f, &hasher);
    seen_build_spec s = {
        .error = spec->error, .memory = spec->memory, .hasher = &hasher};
    seen_builder *b;
    int rc = seen_builder_new(&s, &b);
    for (uint32_t i = 0; rc == 0 && i < f->layers; i++)
        rc = f->layer[i].kind->each_hash(f->layer + i, build_batch, b);
    if (rc == 0)
        rc = seen_builder_finish(b, out);
    if (rc == 0)
        (*out)->key_type = f->key_type;
    seen_builder_free(b);
    return rc;
}

int seen_rebuild(const seen_filter *f, const seen_spec *spec, seen_filter **out)
{
    *out = NULL;
    if (f->foreign)
        return sn_handle_foreign_refuse(f,
                                        "does not hold its keys: rebuild it from them");
    for (uint32_t i = 0; i < f->layers; i++)
        if (!f->layer[i].kind->each_hash)
            return sn_fail(SEEN_EKIND,
                           "a %s filter does not hold its keys' hashes: rebuild "
                           "it from the keys",
                           f->layer[i].kind->name);
    if (sn_kind_of(spec->kind) && !(seen_kind_can(spec->kind) & SEEN_CAN_ADD))
        return rebuild_static(f, spec, out);
    seen_spec s = *spec;
    seen_hasher hasher; /* that made these hashes */
    seen_get_hasher(f, &hasher);
    s.hasher = &hasher;
    s.hash = 0;
    s.seed = s.seed_high = 0;
    seen_filter *g;
    int rc = seen_new(&s, &g);
    for (uint32_t i = 0; rc == 0 && i < f->layers; i++)
        rc = f->layer[i].kind->each_hash(f->layer + i, add_batch, g);
    if (rc < 0) {
        seen_free(g);
        return rc;
    }
    g->key_type = f->key_type;
    memcpy(g->id, f->id, sizeof g->id); /* the same keys, in another shape */
    g->generation = __atomic_load_n(&f->generation, __ATOMIC_RELAXED);
    *out = g;
    return 0;
}
