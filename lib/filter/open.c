/* open.c - makes a filter from bytes: every number is checked before it is used.
 *
 * A file is hostile until proven otherwise: opening reads only the header, computes the
 * length of each body from its shape, and refuses anything that does not match; bodies
 * are checked against their sums on demand. */
#include "filter/exceptions.h"
#include "filter/file.h"
#include "filter/growth.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/map.h"
#include "hash/hash.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define REFUSE(...) return sn_fail(SEEN_EFORMAT, __VA_ARGS__)
/* For what no version up to this one writes, in a header whose checksum is right. */
#define NEWER(what, ...)                                                               \
    return sn_fail(SEEN_EVERSION, "made by a newer version of seen: " what             \
                                  " is unknown to this one",                           \
                   __VA_ARGS__)

/* Whether this library reads the file of LEN bytes at P; *COMPACT: in its short form.
 */
static int check_version(const uint8_t *p, uint64_t len, bool *compact)
{
    if (len < 8 || memcmp(p, SN_MAGIC, 8) != 0)
        REFUSE("not a filter file of seen");
    if (len < SN_PREAMBLE)
        REFUSE("the preamble has %d bytes, but there are %llu: cut short", SN_PREAMBLE,
               (unsigned long long)len);
    uint32_t version = sn_le32(p + SN_AT_VERSION);
    if (version > SN_FILE_VERSION)
        NEWER("file format %u", version);
    if (version == 0)
        REFUSE("version is 0");
    *compact = version == SN_COMPACT_VERSION;
    return 0;
}

/* The preamble: SEEN_OK if the header's length and sum can be trusted. */
static int check_preamble(const uint8_t *p, uint64_t len)
{
    uint64_t header = sn_le64(p + SN_AT_HEADER_LEN), file = sn_le64(p + SN_AT_FILE_LEN);
    if (file != len)
        REFUSE("file_len says %llu bytes, but there are %llu: cut short or extended",
               (unsigned long long)file, (unsigned long long)len);
    if (header < SN_PAGE || header > len || header % SN_PAGE)
        REFUSE("header_len %llu does not fit", (unsigned long long)header);
    uint32_t layers = sn_le32(p + SN_AT_LAYERS);
    bool fits = layers >= 1 && layers <= SN_MAX_LAYERS && sn_sums_at(layers) <= header;
    uint64_t sum = sn_le64(p + SN_AT_SUM);
    bool dirty = sn_le32(p + SN_AT_DIRTY) != 0;
    if (sn_header_sum(p, header) != sum &&
        !(dirty && fits && sn_header_sum_dirty(p, layers) == sum))
        return sn_fail(SEEN_EDAMAGED,
                       "the header's checksum does not fit: it was damaged");
    return fits ? 0 : sn_fail(SEEN_EFORMAT, "%u layers do not fit", layers);
}

/* The other numbers of the preamble. */
static int check_numbers(const uint8_t *p)
{
    uint32_t hash = sn_le32(p + SN_AT_HASH), type = sn_le32(p + SN_AT_KEY_TYPE),
             new_flags = sn_le32(p + SN_AT_FLAGS) & ~(SEEN_FIXED | SEEN_ATOMIC);
    bool identified = sn_le32(p + SN_AT_VERSION) >= SN_COMPACT_VERSION;
    uint64_t zeroes = identified ? SN_AT_RESERVED : SN_AT_ID;
    if (new_flags)
        NEWER("flag 0x%x", new_flags);
    if (hash != SEEN_HASH_XXH3 && hash != SEEN_HASH_XXH64 && hash != SEEN_HASH_KEYED)
        NEWER("hash %u", hash);
    if (identified && !seen_keys_name((seen_keys)type))
        NEWER("type %u of keys", type);
    if (!sn_all_zero(p + zeroes, SN_PREAMBLE - zeroes))
        NEWER("byte %d of its header or one after it", (int)zeroes);
    if (hash != SEEN_HASH_KEYED && sn_le64(p + SN_AT_SEED_HIGH))
        REFUSE("seed_high is given, but hash %u has a seed of 64 bits", hash);
    if (sn_le32(p + SN_AT_PIECE) != SN_PIECE_LOG2)
        NEWER("piece_log2 %u", sn_le32(p + SN_AT_PIECE));
    double error = sn_le_double(p + SN_AT_ERROR);
    if (!(error >= 0 && error <= 1))
        REFUSE("error is %g", error);
    return 0;
}

/* Bytes that a body of LEN takes in the file. */
static uint64_t padded(const uint8_t *header, uint64_t len)
{
    return sn_le64(header + SN_AT_HEADER_LEN) == SN_COMPACT ? len : sn_page_up(len);
}

/* One record of HEADER to a layer over BASE; *FREE is the first byte no body has taken.
 */
static int read_record(sn_layer *l, const uint8_t *header, uint8_t *base, uint64_t len,
                       uint32_t i, uint64_t *taken)
{
    const uint8_t *r = header + SN_PREAMBLE + (uint64_t)i * SN_RECORD;
    sn_shape *s = &l->shape;
    s->kind = (seen_kind)sn_le32(r + SN_IN_KIND);
    s->k = sn_le32(r + SN_IN_K);
    s->units = sn_le64(r + SN_IN_UNITS);
    s->capacity = sn_le64(r + SN_IN_CAPACITY);
    s->error = sn_le_double(r + SN_IN_ERROR);
    for (int j = 0; j < 4; j++)
        s->own[j] = sn_le64(r + SN_IN_OWN + 8 * j);
    l->added = sn_le64(r + SN_IN_ADDED);
    l->kind = sn_kind_of(s->kind);
    if (!l->kind)
        NEWER("kind %d of layer %u", (int)s->kind, i + 1);
    if (!sn_all_zero(r + SN_IN_LEN + 8, SN_RECORD - SN_IN_LEN - 8))
        NEWER("byte %d or a later one of the record of layer %u", SN_IN_LEN + 8, i + 1);
    if (!(s->error >= 0 && s->error <= 1))
        REFUSE("layer %u: error is %g", i + 1, s->error);
    l->len = l->kind->body_len(s);
    if (!l->len)
        NEWER("this shape of a %s filter, layer %u,", l->kind->name, i + 1);
    if (l->len != sn_le64(r + SN_IN_LEN))
        REFUSE("layer %u: len does not follow from its shape", i + 1);
    uint64_t at = sn_le64(r + SN_IN_OFFSET);
    if (at != *taken || at > len || l->len > len - at)
        REFUSE("layer %u: its body lies outside the file", i + 1);
    *taken = at + padded(header, l->len);
    l->body = base + at;
    return 0;
}

static bool may_begin_whole(seen_kind kind)
{
    return sn_begins_whole(sn_kind_of(kind), true);
}

static int read_layers(seen_filter *f, const uint8_t *p, uint8_t *base, uint64_t len)
{
    uint64_t taken = sn_le64(p + SN_AT_HEADER_LEN);
    uint32_t layers = sn_le32(p + SN_AT_LAYERS);
    int room = sn_make_room(f, layers);
    if (room < 0)
        return room;
    for (uint32_t i = 0; i < layers; i++) {
        int rc = read_record(f->layer + i, p, base, len, i, &taken);
        if (rc < 0)
            return rc;
    }
    f->layers = layers;
    for (uint32_t i = 0; i < layers; i++)
        if (sn_le32(p + SN_AT_FLAGS) & SEEN_ATOMIC &&
            !(f->layer[i].kind->can & SEEN_CAN_ATOMIC))
            REFUSE("flags say atomic, which %s is not", f->layer[i].kind->name);
    f->header_len = sn_le64(p + SN_AT_HEADER_LEN);
    if (taken != len ||
        (f->header_len != SN_COMPACT && sn_header_len(f) != f->header_len))
        REFUSE("the bodies do not fill the file");
    for (const sn_layer *l = f->layer; l < f->layer + layers; l++)
        if (!sn_all_zero(l->body + l->len, padded(p, l->len) - l->len))
            return sn_fail(SEEN_EDAMAGED, "the padding after layer %d is not zero",
                           (int)(l - f->layer) + 1);
    f->flags |= sn_le32(p + SN_AT_FLAGS);
    sn_hasher_init(&f->hasher, sn_le32(p + SN_AT_HASH), sn_le64(p + SN_AT_SEED),
                   sn_le64(p + SN_AT_SEED_HIGH));
    f->error = sn_le_double(p + SN_AT_ERROR);
    f->keys = sn_le64(p + SN_AT_KEYS);
    f->kind = (seen_kind)sn_le32(p + SN_AT_KIND);
    if (f->kind != f->layer[layers - 1].shape.kind &&
        (layers > 1 || f->layer->kind != sn_kind_whole() || !may_begin_whole(f->kind)))
        REFUSE("kind %d does not go with its layers", (int)f->kind);
    const sn_kind *own = sn_kind_of(f->kind);
    f->once = own && own->multiset && !sn_keeps_copies(f->layer);
    for (uint32_t i = 0; i < layers; i++)
        if (f->layer[i].kind != f->layer->kind ||
            sn_keeps_copies(f->layer + i) != sn_keeps_copies(f->layer))
            REFUSE("layer %u is of another kind than the first", i + 1);
    if (f->once && sn_le32(p + SN_AT_VERSION) < 2)
        REFUSE("version 1 has no layers that keep keys once");
    if (f->flags & SEEN_ATOMIC && !(f->flags & SEEN_FIXED))
        REFUSE("atomic adds need a fixed shape");
    f->probes = sn_le32(p + SN_AT_PROBES);
    f->dirty = sn_le32(p + SN_AT_DIRTY) != 0;
    sn_read_identity(f, p);
    for (uint32_t i = 0; i < layers; i++) {
        int rc = f->layer[i].kind->check ? f->layer[i].kind->check(f->layer + i) : 0;
        if (rc < 0)
            return rc;
    }
    /* The counts of a file that was not closed are out of date; its bits are not. */
    for (uint32_t i = 0; f->dirty && i < layers; i++) {
        sn_measure m;
        f->layer[i].kind->measure(f->layer + i, &m);
        if (m.keys > (double)f->layer[i].added && m.keys < 9e18)
            f->layer[i].added = (uint64_t)m.keys;
    }
    sn_choose_variants(f);
    return 0;
}

/* Makes a filter over LEN bytes at P; on failure the caller still owns P. */
static int open_at(uint8_t *p, uint64_t len, const seen_allocator *a, seen_filter **out)
{
    uint8_t unpacked[SN_PREAMBLE + SN_RECORD];
    const uint8_t *header = p;
    bool compact = false;
    int rc = check_version(p, len, &compact);
    if (rc == 0)
        rc = compact ? sn_compact_check(p, len) : check_preamble(p, len);
    if (rc == 0 && compact) {
        sn_compact_unpack(p, unpacked);
        header = unpacked;
    }
    if (rc == 0)
        rc = check_numbers(header);
    if (rc < 0)
        return rc;
    seen_filter *f = sn_filter_alloc(a);
    if (!f)
        return sn_no_memory("no memory for a filter");
    f->map = p;
    f->map_len = len;
    f->writable = false;
    rc = read_layers(f, header, p, len);
    if (rc < 0) {
        seen_free(f);
        return rc;
    }
    *out = f;
    return 0;
}

/* Replaces *F, opened in place, by a copy in memory. */
static int load(seen_filter **f)
{
    seen_filter *copy;
    int rc = seen_copy(*f, &copy);
    if (rc == 0) {
        seen_free(*f);
        *f = copy;
    }
    return rc;
}

int seen_open_bytes(const void *bytes, size_t len, unsigned mode,
                    const seen_allocator *a, seen_filter **out)
{
    static const seen_allocator system;
    *out = NULL;
    if (mode & ~(unsigned)(SEEN_LOAD | SEEN_VERIFY))
        return sn_fail(SEEN_EINVAL, "bytes in memory are read in place or loaded, "
                                    "not opened with mode 0x%x",
                       mode);
    int rc = sn_check_allocator(a);
    if (rc < 0)
        return rc;
    if ((uintptr_t)bytes % 64)
        return sn_fail(SEEN_EINVAL, "the bytes of a filter must be aligned to 64");
    seen_filter *f;
    rc = open_at((uint8_t *)(uintptr_t)bytes, len, a ? a : &system, &f);
    if (rc < 0)
        return rc;
    if (mode)
        rc = seen_verify(f);
    if (rc == 0 && mode & SEEN_LOAD)
        rc = load(&f);
    if (rc < 0)
        seen_free(f);
    else
        *out = f;
    return rc;
}

/* Whether the bodies are such as a writer leaves, whatever their sums. */
static int check_bodies(const seen_filter *f)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < f->layers; i++)
        if (f->layer[i].kind->check_body)
            rc = f->layer[i].kind->check_body(f->layer + i);
    return rc;
}

int seen_verify(const seen_filter *f)
{
    if (!f->map || f->foreign)
        return 0;
    int rc = check_bodies(f);
    if (rc < 0 || f->dirty)
        return rc; /* nothing vouches for the bits of a dirty file */
    if (f->header_len == SN_COMPACT)
        return sn_compact_check(f->map, f->map_len);
    const uint8_t *sum = f->map + sn_sums_at(f->layers);
    for (uint32_t i = 0; i < f->layers; i++) {
        const sn_layer *l = f->layer + i;
        for (uint64_t o = 0; o < l->len; o += SN_PIECE, sum += 8) {
            uint64_t n = sn_piece_len(l, o);
            if (sn_checksum(l->body + o, n) != sn_le64(sum))
                return sn_fail(SEEN_EDAMAGED,
                               "layer %u is damaged between bytes %llu and "
                               "%llu of the file",
                               i + 1, (unsigned long long)(l->body - f->map) + o,
                               (unsigned long long)(l->body - f->map) + o + n);
        }
    }
    return 0;
}

/* ---- files ----------------------------------------------------------------------- */

int sn_check_mode(unsigned mode)
{
    const unsigned known = SEEN_WRITE | SEEN_LOAD | SEEN_SHARED | SEEN_VERIFY;
    if (mode & ~known)
        return sn_fail(SEEN_EINVAL, "unknown bits 0x%x in the mode", mode & ~known);
    if (mode & SEEN_LOAD && mode & (SEEN_WRITE | SEEN_SHARED))
        return sn_fail(SEEN_EINVAL, "a file is loaded or written in place, not both");
    return SEEN_OK;
}

int seen_open(const char *path, unsigned mode, seen_filter **out)
{
    return seen_open_with(path, mode, NULL, out);
}

int seen_open_with(const char *path, unsigned mode, const seen_allocator *a,
                   seen_filter **out)
{
    static const seen_allocator system;
    uint8_t *p = NULL;
    uint64_t len = 0, modified;
    int lock;
    enum sn_writing write = mode & SEEN_SHARED  ? SN_WRITES_TOO
                            : mode & SEEN_WRITE ? SN_WRITES_ALONE
                                                : SN_READS;
    *out = NULL;
    int rc = sn_check_mode(mode);
    if (rc == 0)
        rc = sn_check_allocator(a);
    if (rc < 0)
        return rc;
    rc = sn_map(path, write, &p, &len, &lock, &modified);
    if (rc < 0)
        return rc;
    seen_filter *f;
    rc = open_at(p, len, a ? a : &system, &f);
    if (rc < 0) {
        sn_unmap(p, len, lock);
        return sn_fail_named(rc, path);
    }
    f->map_owned = true;
    f->lock = lock;
    f->modified = modified;
    f->path = sn_alloc(&f->alloc, strlen(path) + 1);
    if (f->path)
        strcpy(f->path, path);
    if (!f->dirty && write != SN_WRITES_TOO &&
        !(f->flags & SEEN_ATOMIC && mode & (SEEN_WRITE | SEEN_LOAD))) {
        f->content =
            sn_le64(p + (f->header_len == SN_COMPACT ? SN_COMPACT_SUM : SN_AT_SUM));
        int listed = sn_exceptions_load(f, path);
        rc = listed < 0 ? listed : 0;
    }
    /* A writer will write new sums for the whole file, so the old ones must match. */
    if (rc == 0 && (mode & (SEEN_VERIFY | SEEN_LOAD) || write == SN_WRITES_ALONE))
        rc = seen_verify(f);
    if (rc == 0 && mode & SEEN_LOAD && (rc = load(&f)) == 0) {
        if (f->no_identity)
            sn_new_identity(f);
        *out = f;
        return 0;
    }
    if (rc == 0 && mode & SEEN_SHARED && !(f->flags & SEEN_ATOMIC))
        rc =
            sn_fail(SEEN_EKIND, "not made with SEEN_ATOMIC: processes cannot share it");
    if (rc < 0) {
        seen_free(f);
        return sn_fail_named(rc, path);
    }
    if (write) {
        f->writable = true;
        f->shared = mode & SEEN_SHARED;
        if (!f->shared || !f->dirty) /* others that share it may have marked it */
            rc = sn_mark_dirty(f);
        if (rc < 0) {
            f->writable = false;
            seen_free(f);
            return rc;
        }
    } else {
        madvise(p, len, MADV_RANDOM);
    }
    *out = f;
    return 0;
}
