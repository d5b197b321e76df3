/* rebuilt.c - a filter that is made again, larger, from the hashes of its keys.
 *
 * Somebody else keeps them (seen_grow_from), eight bytes a key. The order of things
 * makes the answers those of any filter: room is made first, then the hashes are given
 * away, then they are added, so that what is given back was added before. */
#include "filter/batch.h"
#include "filter/growth.h"
#include "base/fail.h"
#include <string.h>

#define CHUNK 1024 /* hashes that are given away at once */

int sn_refuse_kept(const seen_filter *f, const char *what)
{
    return f->source.again
               ? sn_fail(SEEN_EKIND,
                         "the filter is made again from the hashes that were added, "
                         "which do not include %s",
                         what)
               : SEEN_OK;
}

/* The best shape of a layer for KEYS of F, of a kind that adds at the speed of memory.
 */
static int fast_shape(const seen_filter *f, uint64_t keys, sn_shape *s)
{
    seen_filter goal = *f;
    goal.keys = keys;
    *s = (sn_shape){.kind = SEEN_AUTO};
    sn_layer_goal(&goal, 0, &s->capacity, &s->error);
    int rc = sn_choose_shape(SEEN_AUTO, s, (double)keys, s->error, 0, 0);
    if (rc == 0 &&
        !(sn_kind_of(s->kind)->ordered && seen_kind_can(s->kind) & SEEN_CAN_ATOMIC))
        rc = sn_fail(SEEN_EKIND, "%s filters are made again too slowly",
                     seen_kind_name(s->kind));
    return rc;
}

int seen_grow_from(seen_filter *f, const seen_hash_source *source)
{
    if (f->foreign)
        return sn_handle_foreign_refuse(f, "does not grow so");
    if (!source->keep || !source->again)
        return sn_fail(SEEN_EINVAL, "a source keeps hashes and gives them again");
    if (f->keys || f->map || f->layers > 1 || seen_added(f) ||
        f->flags & (SEEN_FIXED | SEEN_ATOMIC) || sn_keeps_copies(f->layer))
        return sn_fail(SEEN_EINVAL,
                       "only an empty filter that was made for no number of "
                       "keys grows from a source");
    sn_shape s;
    int rc = fast_shape(f, (uint64_t)1 << 24, &s);
    if (rc < 0)
        return rc;
    f->kind = s.kind;
    f->once = false;
    f->source = *source;
    return SEEN_OK;
}

static int give(void *to, const uint64_t *h, size_t n)
{
    return seen_add_hashes(to, h, n, NULL, NULL);
}

/* Makes F again in a layer of SHAPE; the old ones go before the new one is filled, so
 * that there is never memory for two. Should the source fail now, then every key is
 * found ever after: that is wrong, but not a false "no". */
static int make_again(seen_filter *f, const sn_shape *shape)
{
    seen_hash_source source = f->source;
    uint64_t told = seen_added(f);
    int rc = sn_append(f, shape);
    if (rc < 0)
        return rc;
    sn_layer made = *sn_newest(f);
    for (uint32_t i = 0; i + 1 < f->layers; i++)
        sn_body_free(&f->alloc, f->layer[i].body, f->layer[i].len);
    f->layer[0] = made;
    f->layers = 1;
    sn_choose_variants(f);
    f->source = (seen_hash_source){0};
    if (!made.kind->grow)
        f->layer->shape.capacity = 0; /* whatever comes, it has been counted */
    rc = source.again(source.ctx, give, f);
    if (!made.kind->grow)
        f->layer->shape.capacity = shape->capacity;
    if (rc < 0) {
        if (!made.kind->grow)
            memset(f->layer->body, 0xff, f->layer->len);
        return rc;
    }
    f->source = source;
    f->late += (int64_t)(seen_added(f) - told);
    return SEEN_OK;
}

static int make_larger(seen_filter *f)
{
    const sn_growth *g = sn_growth_of(f);
    if (!f->keys && sn_newest(f)->len < g->whole)
        return sn_grow(f);
    uint64_t keys = seen_growth_next(&g->series, f->keys ? f->keys : g->first);
    sn_shape s;
    int rc = fast_shape(f, keys, &s);
    if (rc < 0)
        return rc;
    f->keys = keys;
    f->kind = s.kind;
    return make_again(f, &s);
}

/* The source keeps no more. What it has goes to a kind that grows in place. */
static int go_on_alone(seen_filter *f)
{
    const sn_kind *kind = sn_kind_growing();
    if (!kind) { /* by layers, then */
        f->source = (seen_hash_source){0};
        return SEEN_OK;
    }
    uint64_t n = seen_added(f) + seen_added(f) / 4 + 1;
    sn_shape s = {
        .kind = kind->id, .capacity = n, .error = f->error, .own[SN_ONCE] = 1};
    int rc = sn_shape_for(&s, NULL, (double)n, f->error);
    if (rc < 0)
        return rc;
    f->keys = 0;
    f->kind = kind->id;
    f->once = true;
    rc = make_again(f, &s);
    f->source = (seen_hash_source){0};
    return rc;
}

/* Adds up to CHUNK; the room is made. */
static size_t add_some(seen_filter *f, const uint64_t *h, size_t n, bool *dup, int *why)
{
    seen_hash_source source = f->source;
    f->source = (seen_hash_source){0}; /* it has them */
    size_t taken = 0;
    *why = seen_add_hashes(f, h, n, dup, &taken);
    f->source = source;
    return taken;
}

size_t sn_add_kept(seen_filter *f, const seen_key *keys, const uint64_t *h, size_t n,
                   bool *dup, int *why)
{
    uint64_t own[CHUNK];
    bool ignored[CHUNK];
    size_t done = 0;
    while (done < n) {
        size_t m = n - done < CHUNK ? n - done : CHUNK;
        /* Once the source has failed, the filter makes room by itself. */
        if (f->source.again) {
            uint64_t room = sn_room(f->layer);
            if (!room) {
                if ((*why = make_larger(f)) < 0)
                    return done;
                continue;
            }
            m = m < room ? m : (size_t)room;
        }
        if (keys)
            sn_key_hashes(f, keys + done, m, own);
        const uint64_t *some = keys ? own : h + done;
        if (f->source.again && f->source.keep(f->source.ctx, some, m) < 0 &&
            (*why = go_on_alone(f)) < 0)
            return done;
        size_t taken = add_some(f, some, m, dup ? dup + done : ignored, why);
        done += taken;
        if (taken < m)
            return done;
    }
    return n;
}
