/* single_key.c - one key at a time. */
#include "filter/batch.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "filter/exceptions.h"
#include "filter/growth.h"
#include <string.h>

int sn_may_add(seen_filter *f)
{
    if (f->foreign)
        return sn_handle_foreign_refuse(f, "takes no hashes");
    if (!sn_newest(f)->variant->add)
        return sn_refuse_static(sn_newest(f)->kind->name);
    return sn_in_file(f) || !f->writable ? sn_may_change(f) : 0;
}

uint64_t seen_hash(const seen_filter *f, const void *key, size_t len)
{
    return f->foreign ? 0 : sn_key_hash(f, key, len);
}

int seen_get_hasher(const seen_filter *f, seen_hasher *out)
{
    memset(out, 0, sizeof *out);
    if (f->foreign)
        return sn_handle_foreign_refuse(f, "takes no hashes");
    memcpy(out->opaque, &f->hasher, sizeof f->hasher);
    return SEEN_OK;
}

/* Adds a hash; KEY is its key, NULL if unknown. */
static int add_hash(seen_filter *f, const seen_key *key, uint64_t h)
{
    bool dup;
    int rc = sn_may_add(f);
    if (rc < 0)
        return rc;
    if ((f->source.again ? sn_add_kept(f, NULL, &h, 1, &dup, &rc)
                         : sn_add_group(f, &h, 1, &dup, &rc)) == 0)
        return rc;
    if (f->exceptions)
        sn_exceptions_added(f, key, &h, 1, &dup);
    return dup ? SEEN_DUP : SEEN_NEW;
}

int seen_add_hash(seen_filter *f, uint64_t h)
{
    return add_hash(f, NULL, h);
}

/* True if a layer of a native filter has H. */
static bool layers_have(const seen_filter *f, uint64_t h)
{
    bool found = false;
    for (const sn_layer *l = sn_newest(f); !found && l >= f->layer; l--)
        if (l->variant->has_one)
            found = l->variant->has_one(l, h);
        else
            l->variant->has(l, &h, 1, &found);
    return found;
}

/* Most filters have one native layer and no exceptions. Then calls go straight to the
 * kind and do not branch on answers, so that several wait for memory in parallel: as
 * many as fit into the processor's window, so every instruction saved is a gain. */
static inline bool simple(const seen_filter *f)
{
    return f->has_one && !f->exceptions;
}

static __attribute__((noinline)) int has_hash(const seen_filter *f, uint64_t h)
{
    if (f->foreign)
        return sn_handle_foreign_refuse(f, "takes no hashes");
    bool found = layers_have(f, h);
    return f->exceptions ? found && !sn_exceptions_has(f, NULL, 0, h) : found;
}

int seen_has_hash(const seen_filter *f, uint64_t h)
{
    return simple(f) ? f->has_one(f->layer, h) : has_hash(f, h);
}

void seen_prefetch_hash(const seen_filter *f, uint64_t h)
{
    sn_prefetch(f, &h, 1);
}

uint64_t seen_prefetch(const seen_filter *f, const void *key, size_t len)
{
    uint64_t h = seen_hash(f, key, len);
    sn_prefetch(f, &h, 1);
    return h;
}

int seen_remove_hash(seen_filter *f, uint64_t h)
{
    if (f->foreign)
        return sn_handle_foreign_refuse(f, "takes no hashes");
    if (!sn_newest(f)->kind->remove)
        return sn_fail(SEEN_EKIND, "%s filters cannot remove keys",
                       sn_newest(f)->kind->name);
    if (sn_newest(f)->shape.own[SN_ONCE] && sn_newest(f)->kind->multiset)
        return sn_fail(SEEN_EKIND,
                       "this %s filter keeps each key once, and a copy may belong to "
                       "several keys: make one that removes (SEEN_REMOVES, "
                       "'seen new -r')",
                       sn_newest(f)->kind->name);
    int rc = sn_may_change(f);
    if (rc == 0)
        rc = sn_refuse_kept(f, "that they were removed");
    if (rc < 0)
        return rc;
    for (sn_layer *l = sn_newest(f); l >= f->layer; l--) {
        rc = l->kind->remove(l, h);
        if (rc)
            return rc;
    }
    f->missed++;
    return 0;
}

int seen_add(seen_filter *f, const void *key, size_t len)
{
    if (f->foreign)
        return sn_handle_foreign_add_one(f, key, len);
    return add_hash(f, &(seen_key){key, len}, sn_key_hash(f, key, len));
}

static __attribute__((noinline)) bool has_key(const seen_filter *f, const void *key,
                                              size_t len)
{
    if (f->foreign)
        return sn_handle_foreign_has_one(f, key, len);
    uint64_t h = sn_key_hash(f, key, len);
    if (simple(f))
        return f->has_one(f->layer, h);
    bool found = layers_have(f, h);
    return f->exceptions ? found && !sn_exceptions_has(f, key, len, h) : found;
}

bool seen_has(const seen_filter *f, const void *key, size_t len)
{
    if (!simple(f) || f->hasher.id != SEEN_HASH_KEYED)
        return has_key(f, key, len);
    uint64_t h = sn_keyed_hash(&f->hasher.keyed, key, len);
    return f->has_one(f->layer, h);
}

int seen_ask(const seen_filter *f, const void *key, size_t len)
{
    if (!f->foreign)
        return seen_has(f, key, len);
    bool found;
    int rc = seen_ask_many(f, &(seen_key){key, len}, 1, &found);
    return rc < 0 ? rc : found;
}

int seen_remove(seen_filter *f, const void *key, size_t len)
{
    if (f->foreign)
        return sn_handle_foreign_remove(f, key, len);
    return seen_remove_hash(f, sn_key_hash(f, key, len));
}

int seen_add_str(seen_filter *f, const char *s)
{
    return seen_add(f, s, strlen(s));
}
bool seen_has_str(const seen_filter *f, const char *s)
{
    return seen_has(f, s, strlen(s));
}

int seen_add_u64(seen_filter *f, uint64_t x)
{
    uint8_t le[8];
    sn_put64(le, x);
    return seen_add(f, le, 8);
}

bool seen_has_u64(const seen_filter *f, uint64_t x)
{
    uint8_t le[8];
    sn_put64(le, x);
    return seen_has(f, le, 8);
}
