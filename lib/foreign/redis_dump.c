/* redis_dump.c - files of RedisBloom dumps: the SCANDUMP header and all chunks, one
 * after another. The chains of redisbloom.h work on the bytes of the file; links that
 * are appended later are in memory until the dump is written. */
#include "foreign/foreign.h"
#include "foreign/redisbloom/redis_chain.h"
#include "base/bytes.h"
#include "kind/kind.h"
#include <math.h>
#include <stdio.h>

/* ---- BF ------------------------------------------------------------------------- */

static void bf_close(sn_foreign *f)
{
    sn_bf_free(f->own);
    f->own = NULL;
}

static bool bf_recognises(const uint8_t *p, uint64_t len)
{
    static const seen_allocator system;
    sn_bf *bf;
    uint32_t n = len >= 73 ? sn_le32(p + 8) : 0;
    if (n < 1 || n > 1024 || sn_bf_over((uint8_t *)p, len, &system, &bf) < 0)
        return false;
    sn_bf_free(bf);
    return true;
}

static void bf_fill(sn_foreign *f)
{
    sn_bf_info info;
    sn_bf_get_info(f->own, &info);
    f->layers = info.links;
    f->capacity = info.capacity;
    f->added = info.items;
    f->counted = true;
}

/* The error of the whole chain is at most twice that of the first link, because each
 * next link has half the error of the one before. */
static int bf_open(sn_foreign *f, const seen_params *params)
{
    sn_bf *bf;
    sn_bf_link_info first;
    int rc = sn_bf_over(f->file, f->len, &f->alloc, &bf);
    if (rc < 0)
        return rc;
    f->own = bf;
    bf_fill(f);
    sn_bf_info info;
    sn_bf_get_info(bf, &info);
    sn_bf_get_link(bf, 0, &first);
    f->error = info.options & SN_BF_NOSCALING ? first.error : first.error * 2;
    return SEEN_OK;
}

static int bf_create(sn_foreign *f, const seen_params *params)
{
    sn_bf *bf;
    double error = params->error > 0 ? params->error : 0.01;
    int rc = sn_bf_new(error, params->keys ? params->keys : 100,
                         params->expansion ? params->expansion : 2,
                         params->flags & SEEN_NONSCALING, &f->alloc, &bf);
    if (rc < 0)
        return rc;
    f->own = bf;
    f->error = error;
    bf_fill(f);
    return SEEN_OK;
}

static void bf_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    for (size_t i = 0; i < n; i++)
        found[i] = sn_bf_has(f->own, keys[i].data, keys[i].len);
}

static size_t bf_add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc)
{
    for (size_t i = 0; i < n; i++) {
        /* A file mapped in place has no room for another link. */
        if (!f->owned && sn_bf_full(f->own) &&
            !sn_bf_has(f->own, keys[i].data, keys[i].len)) {
            *rc =
                sn_fail(SEEN_EFULL, "the newest link is full and the file cannot grow "
                                    "in place: load it, add, and save");
            return i;
        }
        int added = sn_bf_add(f->own, keys[i].data, keys[i].len);
        if (added < 0) {
            *rc = added;
            return i;
        }
        dup[i] = added == SEEN_DUP;
        if (added == SEEN_NEW) {
            f->dirty = true;
            sn_count_up(&f->added, 1);
        }
    }
    bf_fill(f);
    return n;
}

static int bf_write(const sn_foreign *f, const sn_sink *to)
{
    size_t head = sn_bf_header(f->own, NULL, 0);
    uint8_t *buf = sn_alloc(&f->alloc, head);
    sn_bf_info info;
    sn_bf_link_info l;
    sn_bf_get_info(f->own, &info);
    if (!buf)
        return sn_no_memory("no memory for a header of %zu bytes", head);
    sn_bf_header(f->own, buf, head);
    int rc = to->put(to->ctx, buf, head);
    sn_free(&f->alloc, buf, head);
    for (uint32_t i = 0; rc == SEEN_OK && i < info.links; i++) {
        sn_bf_get_link(f->own, i, &l);
        rc = to->put(to->ctx, l.data, l.bytes);
    }
    return rc;
}

/* Only counts change: the header keeps its length. */
static void bf_sync(sn_foreign *f)
{
    if (sn_bf_header(f->own, NULL, 0) < f->len)
        sn_bf_header(f->own, f->file, f->len);
}

static void bf_stats(const sn_foreign *f, seen_stats *out)
{
    sn_bf_info info;
    sn_bf_link_info l;
    double miss = 1;
    sn_bf_get_info(f->own, &info);
    out->bits = out->bits_set = out->bytes = 0;
    out->keys_estimate = 0;
    for (uint32_t i = 0; i < info.links; i++) {
        sn_bf_get_link(f->own, i, &l);
        uint64_t set = sn_bits_set(l.data, l.bytes);
        uint64_t m = l.n2 ? (uint64_t)1 << l.n2 : l.bits;
        double fill = fmin((double)set / (double)m, 1);
        miss *= 1 - pow(fill, l.hashes);
        out->keys_estimate += sn_keys_behind(fill, (double)m, l.hashes);
        out->bits += m;
        out->bits_set += set;
        out->bytes += l.bytes;
        out->probes = l.hashes;
    }
    out->error_now = 1 - miss;
    out->fill = (double)out->bits_set / (double)out->bits;
}

static int bf_describe(const sn_foreign *f, char *buf, size_t size)
{
    sn_bf_info info;
    sn_bf_get_info(f->own, &info);
    if (info.options & SN_BF_NOSCALING)
        return snprintf(buf, size, ", nonscaling%s",
                        info.options & SN_BF_FORCE64 ? "" : ", 32-bit hashes");
    return snprintf(buf, size, ", expansion %u%s", info.expansion,
                    info.options & SN_BF_FORCE64 ? "" : ", 32-bit hashes");
}

const sn_format sn_fmt_redisbloom = {
    .pub = {"redisbloom", "RedisBloom BF.SCANDUMP, header and chunks in one file", "",
            "keys, error, expansion",
            SEEN_FORMAT_KNOWN | SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .recognises = bf_recognises,
    .open = bf_open,
    .create = bf_create,
    .has = bf_has,
    .add = bf_add,
    .write = bf_write,
    .sync = bf_sync,
    .stats = bf_stats,
    .describe = bf_describe,
    .close = bf_close,
};

/* ---- CF ------------------------------------------------------------------------- */

static void cf_close(sn_foreign *f)
{
    sn_cf_free(f->own);
    f->own = NULL;
}

static bool cf_recognises(const uint8_t *p, uint64_t len)
{
    static const seen_allocator system;
    sn_cf *cf;
    if (sn_cf_over((uint8_t *)p, len, &system, &cf) < 0)
        return false;
    sn_cf_free(cf);
    return true;
}

static void cf_fill(sn_foreign *f)
{
    sn_cf_info info;
    sn_cf_get_info(f->own, &info);
    f->layers = info.filters;
    f->capacity = info.bytes;
    f->added = info.items;
    f->counted = true;
}

static int cf_open(sn_foreign *f, const seen_params *params)
{
    sn_cf *cf;
    /* An add moves fingerprints from slot to slot; if it is interrupted, one of them
     * has been removed and not put back. */
    if (f->writable && !f->owned)
        return sn_fail(SEEN_EKIND, "a cuckoo filter cannot be written in place without "
                                   "losing a key when it is killed: load it, add, and "
                                   "save");
    int rc = sn_cf_over(f->file, f->len, &f->alloc, &cf);
    if (rc < 0)
        return rc;
    f->own = cf;
    cf_fill(f);
    return SEEN_OK;
}

static int cf_create(sn_foreign *f, const seen_params *params)
{
    sn_cf *cf;
    int rc = sn_cf_new(params->keys ? params->keys : 1024, 2, 20,
                         params->expansion ? params->expansion : 1, &f->alloc, &cf);
    if (rc < 0)
        return rc;
    f->own = cf;
    cf_fill(f);
    return SEEN_OK;
}

static void cf_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    for (size_t i = 0; i < n; i++)
        found[i] = sn_cf_has(f->own, keys[i].data, keys[i].len);
}

/* CF.ADDNX: a key that is present is not stored again. */
static size_t cf_add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc)
{
    for (size_t i = 0; i < n; i++) {
        int added = sn_cf_addnx(f->own, keys[i].data, keys[i].len, 0);
        if (added < 0) {
            *rc = added;
            return i;
        }
        dup[i] = added == SEEN_DUP;
        f->dirty |= added == SEEN_NEW;
    }
    cf_fill(f);
    return n;
}

static int cf_remove(sn_foreign *f, const void *key, size_t len)
{
    if (!f->owned)
        return sn_fail(SEEN_EREADONLY, "removing may shorten the file, which cannot be "
                                       "done in place: load it, remove, and save");
    int rc = sn_cf_del(f->own, key, len);
    f->dirty |= rc == 1;
    cf_fill(f);
    return rc;
}

static int cf_write(const sn_foreign *f, const sn_sink *to)
{
    uint8_t head[SN_CF_HEADER];
    const void *data;
    uint64_t bytes;
    sn_cf_info info;
    sn_cf_get_info(f->own, &info);
    sn_cf_header(f->own, head);
    int rc = to->put(to->ctx, head, sizeof head);
    for (uint32_t i = 0; rc == SEEN_OK && i < info.filters; i++) {
        sn_cf_get_filter(f->own, i, &data, &bytes);
        rc = to->put(to->ctx, data, bytes);
    }
    return rc;
}

static void cf_sync(sn_foreign *f)
{
    if (f->len >= SN_CF_HEADER)
        sn_cf_header(f->own, f->file);
}

/* Slots count as bits here: each is a byte, and 255 of its values are fingerprints. */
static void cf_stats(const sn_foreign *f, seen_stats *out)
{
    sn_cf_info info;
    sn_cf_get_info(f->own, &info);
    double load = (double)info.items / (double)info.bytes;
    out->probes = 8;
    out->bits = info.bytes * 8;
    out->bits_set = info.items * 8;
    out->bytes = info.bytes;
    out->fill = load;
    out->keys_estimate = (double)info.items;
    out->error_now =
        1 - pow(1 - load / 255, 2.0 * info.bucket_size * (double)info.filters);
}

static int cf_describe(const sn_foreign *f, char *buf, size_t size)
{
    sn_cf_info info;
    sn_cf_get_info(f->own, &info);
    return snprintf(buf, size, ", buckets of %u, expansion %u", info.bucket_size,
                    info.expansion);
}

const sn_format sn_fmt_rediscuckoo = {
    .pub = {"rediscuckoo", "RedisBloom CF.SCANDUMP, header and chunks in one file", "",
            "keys, expansion",
            SEEN_FORMAT_KNOWN | SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE |
                SEEN_FORMAT_REMOVE},
    .recognises = cf_recognises,
    .open = cf_open,
    .create = cf_create,
    .has = cf_has,
    .add = cf_add,
    .remove = cf_remove,
    .write = cf_write,
    .sync = cf_sync,
    .stats = cf_stats,
    .describe = cf_describe,
    .close = cf_close,
};
