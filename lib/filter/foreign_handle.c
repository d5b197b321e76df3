/* foreign_handle.c - the handle around another system's filter: files, copies, and
 * conversion from and to native filters. lib/foreign knows what the bits mean. */
#include "filter/exceptions.h"
#include "base/fail.h"
#include "base/map.h"
#include "base/memory.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

const seen_format *const *seen_formats(size_t *n)
{
    /* The public part is the first member of every table. */
    *n = sn_formats_n;
    return (const seen_format *const *)(const void *)sn_formats;
}

const seen_format *seen_recognise(const void *bytes, size_t len)
{
    const sn_format *f = sn_format_of(bytes, len);
    return f ? &f->pub : NULL;
}

const seen_format *seen_format_of(const seen_filter *f)
{
    return f->foreign ? &f->foreign->format->pub : NULL;
}

/* ---- a handle around it --------------------------------------------------------- */

static int wrap(sn_foreign *o, seen_filter **out)
{
    seen_filter *f = sn_filter_alloc(&o->alloc);
    if (!f)
        return sn_no_memory("no memory for a filter");
    f->kind = SEEN_FOREIGN;
    f->foreign = o;
    f->error = o->error;
    f->keys = o->capacity;
    f->writable = o->writable;
    *out = f;
    return SEEN_OK;
}

static const seen_allocator *alloc_of(const seen_params *params)
{
    static const seen_allocator system;
    return params ? &params->alloc : &system;
}

int seen_new_foreign(const char *format, const seen_params *params, seen_filter **out)
{
    sn_foreign *o;
    *out = NULL;
    if (!format)
        return sn_fail(SEEN_EINVAL, "which format?");
    int rc = sn_foreign_new(format, params, alloc_of(params), &o);
    if (rc == SEEN_OK && (rc = wrap(o, out)) < 0)
        sn_foreign_free(o);
    return rc;
}

/* Opens bytes that belong to the caller, or with LOAD a copy of them. */
static int open_bytes(uint8_t *bytes, uint64_t len, bool load, bool writable,
                      const char *format, const seen_params *params, seen_filter **out)
{
    const seen_allocator *a = alloc_of(params);
    sn_foreign *o;
    uint8_t *copy = NULL;
    if (load) {
        copy = sn_body_alloc(a, len);
        if (!copy)
            return sn_no_memory("no memory for %llu bytes", (unsigned long long)len);
        if (len)
            memcpy(copy, bytes, len);
        bytes = copy;
    }
    int rc = sn_foreign_open(bytes, len, load, writable || load, format, params, a, &o);
    if (rc < 0) {
        sn_body_free(a, copy, len);
        return rc;
    }
    rc = wrap(o, out);
    if (rc < 0)
        sn_foreign_free(o);
    return rc;
}

int seen_open_foreign_bytes(const void *bytes, size_t len, const char *format,
                            const seen_params *params, unsigned mode, seen_filter **out)
{
    *out = NULL;
    if (mode & ~(unsigned)(SEEN_LOAD | SEEN_VERIFY))
        return sn_fail(SEEN_EINVAL, "bytes in memory are read in place or loaded, "
                                    "not opened with mode 0x%x",
                       mode);
    return open_bytes((uint8_t *)(uintptr_t)bytes, len, mode & SEEN_LOAD, false, format,
                      params, out);
}

/* ---- files ---------------------------------------------------------------------- */

int seen_open_foreign(const char *path, const char *format, const seen_params *params,
                      unsigned mode, seen_filter **out)
{
    static uint8_t nothing[1];
    uint8_t *p = NULL;
    uint64_t len = 0, modified;
    seen_filter *f;
    *out = NULL;
    int lock;
    int rc = sn_check_mode(mode);
    if (rc == 0 && mode & SEEN_SHARED)
        rc = sn_fail(SEEN_EKIND, "other systems' filters have one writer at a time");
    if (rc < 0)
        return rc;
    rc = sn_map(path, mode & SEEN_WRITE ? SN_WRITES_ALONE : SN_READS, &p, &len, &lock,
                &modified);
    if (rc < 0)
        return rc;
    rc = open_bytes(p ? p : nothing, len, mode & SEEN_LOAD, mode & SEEN_WRITE, format,
                    params, &f);
    if (rc < 0) {
        sn_unmap(p, len, lock);
        return sn_fail_named(rc, path);
    }
    if (mode & SEEN_WRITE && f->foreign->file != p && len) {
        seen_free(f);
        sn_unmap(p, len, lock);
        return sn_fail(SEEN_EKIND,
                       "%s: this format cannot be written in place: load it, "
                       "add, and save",
                       path);
    }
    f->map = p;
    f->map_len = len;
    f->map_owned = true;
    f->lock = lock;
    f->modified = modified;
    f->path = sn_alloc(&f->alloc, strlen(path) + 1);
    if (f->path)
        strcpy(f->path, path);
    rc = sn_exceptions_load(f, path);
    rc = rc > 0 ? 0 : rc;
    if (mode & SEEN_LOAD) {
        sn_unmap(p, len, lock);
        f->map = NULL;
        f->map_owned = false;
        f->lock = -1;
    }
    if (rc < 0)
        seen_free(f);
    else
        *out = f;
    return rc;
}

int sn_handle_foreign_flush(seen_filter *f)
{
    sn_foreign *o = f->foreign;
    if (!f->map || !o->writable || (!o->dirty && !sn_exceptions_changed(f)))
        return SEEN_OK;
    if (o->format->sync)
        o->format->sync(o);
    if (msync(f->map, f->map_len, MS_SYNC) < 0)
        return sn_fail(SEEN_EIO, "cannot synchronise %s: %m",
                       f->path ? f->path : "a filter");
    o->dirty = false;
    f->content = 0; /* the bytes have changed */
    return f->exceptions ? sn_exceptions_flush(f) : SEEN_OK;
}

/* ---- keys ----------------------------------------------------------------------- */

size_t sn_handle_foreign_add(seen_filter *f, const seen_key *keys, size_t n, bool *dup,
                      int *why)
{
    bool ignored[64];
    size_t done = 0;
    if (dup)
        return sn_foreign_add(f->foreign, keys, n, dup, why);
    while (done < n) {
        size_t c = n - done < 64 ? n - done : 64;
        size_t taken = sn_foreign_add(f->foreign, keys + done, c, ignored, why);
        done += taken;
        if (taken < c)
            break;
    }
    return done;
}

int sn_handle_foreign_add_one(seen_filter *f, const void *key, size_t len)
{
    bool dup;
    int rc = SEEN_OK;
    seen_key k = {key, len};
    if (sn_foreign_add(f->foreign, &k, 1, &dup, &rc) == 0)
        return rc;
    if (f->exceptions)
        sn_exceptions_added(f, &k, NULL, 1, &dup);
    return dup ? SEEN_DUP : SEEN_NEW;
}

bool sn_handle_foreign_has_one(const seen_filter *f, const void *key, size_t len)
{
    bool found;
    seen_key k = {key, len};
    sn_foreign_has(f->foreign, &k, 1, &found);
    if (f->exceptions)
        sn_exceptions_sift(f, &k, NULL, 1, &found);
    return found;
}

int sn_handle_foreign_remove(seen_filter *f, const void *key, size_t len)
{
    return sn_foreign_remove(f->foreign, key, len);
}

int sn_handle_foreign_refuse(const seen_filter *f, const char *what)
{
    return sn_fail(SEEN_EKIND, "a %s filter %s", f->foreign->format->pub.name, what);
}

int sn_handle_foreign_clear(seen_filter *f)
{
    sn_foreign *o = f->foreign;
    int rc = SEEN_OK;
    if (!o->bits.m || !o->format->add)
        return sn_handle_foreign_refuse(f, "cannot be cleared: make a new one");
    if (!o->writable)
        return sn_fail(SEEN_EREADONLY, "the filter was opened read-only");
    memset(o->bits.at, 0, o->bits.have);
    o->added = 0;
    o->counted = o->dirty = true;
    o->format->add(o, NULL, 0, NULL, &rc); /* updates the counts in the header */
    return rc;
}

/* ---- copies --------------------------------------------------------------------- */

typedef struct heap {
    uint8_t *p;
    uint64_t at, len;
} heap;

static int count_put(void *ctx, const void *p, size_t len)
{
    ((heap *)ctx)->len += len;
    return SEEN_OK;
}

static int heap_put(void *ctx, const void *p, size_t len)
{
    heap *h = ctx;
    memcpy(h->p + h->at, p, len);
    h->at += len;
    return SEEN_OK;
}

int sn_handle_foreign_copy(const seen_filter *f, seen_filter **out)
{
    const sn_foreign *o = f->foreign;
    if (!o->format->add)
        return sn_handle_foreign_refuse(f, "is part of a file: copy that");
    heap h = {0};
    int rc = sn_foreign_write(o, &(sn_sink){count_put, &h});
    if (rc < 0)
        return rc;
    h.p = sn_body_alloc(&o->alloc, h.len);
    if (!h.p)
        return sn_no_memory("no memory for %llu bytes", (unsigned long long)h.len);
    sn_foreign_write(o, &(sn_sink){heap_put, &h});
    /* Parameters that are not in the bytes were given when it was opened. */
    seen_params params = {
        .keys = o->capacity,
        .error = o->error,
        .bits = o->bits.k ? o->bits.m : 0,
        .probes = o->bits.k,
        .seeds = o->nseeds ? o->seeds : NULL,
        .seeds_n = o->nseeds,
        .flags = (o->bits.flip_bit ? SEEN_BITS_MSB : SEEN_BITS_LSB) |
                 (o->rule == SN_RULE_MMH3_UNSIGNED ? SEEN_HASH_UNSIGNED : 0)};
    sn_foreign *copy;
    rc = sn_foreign_open(h.p, h.len, true, true, o->format->pub.name, &params,
                         &o->alloc, &copy);
    if (rc < 0) {
        sn_body_free(&o->alloc, h.p, h.len);
        return rc;
    }
    copy->type = o->type;
    copy->added = o->added;
    copy->counted = o->counted;
    copy->capacity = o->capacity;
    copy->error = o->error;
    rc = wrap(copy, out);
    if (rc < 0) {
        sn_foreign_free(copy);
        return rc;
    }
    (*out)->modified = f->modified;
    (*out)->content = f->content;
    rc = sn_exceptions_copy(*out, f);
    if (rc < 0) {
        seen_free(*out);
        *out = NULL;
    }
    return rc;
}

/* ---- conversion ----------------------------------------------------------------- */

/* A Parquet bitset as a native split filter that hashes as Parquet does. */
static int to_native(const sn_foreign *o, seen_filter **out)
{
    if (o->rule != SN_RULE_SBBF)
        return sn_fail(SEEN_EKIND,
                       "a %s filter cannot become a native filter: the same key sets "
                       "different bits",
                       o->format->pub.name);
    if (o->type > SN_KEY_UTF8)
        return sn_fail(SEEN_EKIND,
                       "a native filter hashes keys unchanged and would not "
                       "find numbers given as text: keep it as parquet");
    seen_stats s;
    sn_foreign_stats(o, &s);
    seen_filter *f = sn_filter_alloc(&o->alloc);
    if (!f)
        return sn_no_memory("no memory for a filter");
    sn_shape shape = {.kind = SEEN_SPLIT, .k = 8, .units = o->bits.have / 32};
    f->flags = SEEN_FIXED;
    f->kind = SEEN_SPLIT;
    sn_hasher_init(&f->hasher, SEEN_HASH_XXH64, 0, 0);
    int rc = sn_append(f, &shape);
    if (rc < 0) {
        seen_free(f);
        return rc;
    }
    memcpy(f->layer[0].body, o->bits.at, o->bits.have);
    f->layer[0].added = s.added;
    *out = f;
    return SEEN_OK;
}

static int to_parquet(const seen_filter *f, const char *format, seen_filter **out)
{
    if (strcmp(format, "parquet") || f->kind != SEEN_SPLIT || f->layers != 1 ||
        f->hasher.id != SEEN_HASH_XXH64 || f->hasher.seed)
        return sn_fail(SEEN_EKIND,
                       "this %s filter cannot become a %s filter: the same key sets "
                       "different bits",
                       seen_kind_name(f->kind), format);
    seen_params params = {.bits = f->layer[0].len * 8, .alloc = f->alloc};
    int rc = seen_new_foreign(format, &params, out);
    if (rc == SEEN_OK) {
        memcpy((*out)->foreign->bits.at, f->layer[0].body, f->layer[0].len);
        (*out)->foreign->added = f->layer[0].added;
    }
    return rc;
}

int seen_convert(const seen_filter *f, const char *format, seen_filter **out)
{
    *out = NULL;
    bool native = !strcmp(format, "native");
    if (!native && !sn_format_named(format))
        return sn_fail(SEEN_EINVAL, "no format \"%s\"; see the list of formats",
                       format);
    if (!f->foreign)
        return native ? seen_copy(f, out) : to_parquet(f, format, out);
    if (native)
        return to_native(f->foreign, out);
    /* The same format keeps its counts and everything else in its bytes. */
    if (!strcmp(format, f->foreign->format->pub.name))
        return seen_copy(f, out);
    sn_foreign *o;
    int rc = sn_foreign_convert(f->foreign, format, &o);
    if (rc == SEEN_OK && (rc = wrap(o, out)) < 0)
        sn_foreign_free(o);
    return rc;
}
