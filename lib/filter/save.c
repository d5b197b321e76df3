/* save.c - writes a filter as bytes: header with checksums, then the bodies
 * unchanged. */
#include "filter/exceptions.h"
#include "filter/file.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/replace.h"
#include "hash/hash.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t sn_header_len(const seen_filter *f)
{
    uint64_t pieces = 0;
    for (uint32_t i = 0; i < f->layers; i++)
        pieces += sn_pieces(f->layer[i].len);
    return sn_page_up(sn_sums_at(f->layers) + 8 * pieces);
}

static const uint8_t nothing[16]; /* SN_AT_DIRTY .. SN_AT_SUM + 8, for one */

/* Hashes the header up to its own sum, with the sum and the dirty mark as zero. */
static void begin_sum(XXH3_state_t *s, const uint8_t *header)
{
    XXH3_64bits_reset(s);
    XXH3_64bits_update(s, header, SN_AT_DIRTY);
    XXH3_64bits_update(s, nothing, SN_AT_SUM + 8 - SN_AT_DIRTY);
}

uint64_t sn_header_sum(const uint8_t *header, uint64_t len)
{
    XXH3_state_t s;
    begin_sum(&s, header);
    XXH3_64bits_update(&s, header + SN_AT_SUM + 8, len - SN_AT_SUM - 8);
    return XXH3_64bits_digest(&s);
}

uint64_t sn_header_sum_dirty(const uint8_t *header, uint32_t layers)
{
    XXH3_state_t s;
    begin_sum(&s, header);
    XXH3_64bits_update(&s, header + SN_AT_SUM + 8, SN_AT_GENERATION - SN_AT_SUM - 8);
    XXH3_64bits_update(&s, nothing, SN_AT_RESERVED - SN_AT_GENERATION);
    for (uint64_t at = SN_AT_RESERVED, i = 0; i <= layers; i++) {
        uint64_t added = SN_PREAMBLE + i * SN_RECORD + SN_IN_ADDED;
        uint64_t to = i < layers ? added : sn_sums_at(layers);
        XXH3_64bits_update(&s, header + at, to - at);
        if (i < layers)
            XXH3_64bits_update(&s, nothing, 8);
        at = added + 8;
    }
    return XXH3_64bits_digest(&s);
}

uint64_t sn_piece_len(const sn_layer *l, uint64_t at)
{
    return l->len - at < SN_PIECE ? l->len - at : SN_PIECE;
}

/* Fills a zeroed header, except for the sums. */
static void fill_header(const seen_filter *f, uint8_t *p)
{
    uint64_t len = sn_header_len(f), at = len;
    memcpy(p, SN_MAGIC, 8);
    sn_put32(p + SN_AT_VERSION, SN_FILE_VERSION);
    sn_put32(p + SN_AT_FLAGS, f->flags & (SEEN_FIXED | SEEN_ATOMIC));
    sn_put64(p + SN_AT_HEADER_LEN, len);
    sn_put64(p + SN_AT_SEED, f->hasher.seed);
    sn_put64(p + SN_AT_SEED_HIGH, f->hasher.seed_high);
    sn_put32(p + SN_AT_HASH, f->hasher.id);
    sn_put32(p + SN_AT_LAYERS, f->layers);
    sn_put_double(p + SN_AT_ERROR, f->error);
    sn_put64(p + SN_AT_KEYS, f->keys);
    sn_put32(p + SN_AT_KIND, f->kind);
    sn_put32(p + SN_AT_PROBES, f->probes);
    sn_put32(p + SN_AT_PIECE, SN_PIECE_LOG2);
    for (uint32_t i = 0; i < f->layers; i++) {
        const sn_layer *l = f->layer + i;
        uint8_t *r = p + SN_PREAMBLE + (uint64_t)i * SN_RECORD;
        sn_put32(r + SN_IN_KIND, l->shape.kind);
        sn_put32(r + SN_IN_K, l->shape.k);
        sn_put64(r + SN_IN_UNITS, l->shape.units);
        sn_put64(r + SN_IN_CAPACITY, l->shape.capacity);
        sn_put_double(r + SN_IN_ERROR, l->shape.error);
        for (int j = 0; j < 4; j++)
            sn_put64(r + SN_IN_OWN + 8 * j, l->shape.own[j]);
        sn_put64(r + SN_IN_ADDED, __atomic_load_n(&l->added, __ATOMIC_RELAXED));
        sn_put64(r + SN_IN_OFFSET, at);
        sn_put64(r + SN_IN_LEN, l->len);
        at += sn_page_up(l->len);
    }
    sn_put64(p + SN_AT_FILE_LEN, at);
}

/* Puts into HEADER what follows from all its other numbers and the sums of pieces. */
static void seal_header(const seen_filter *f, uint8_t *header, uint64_t len,
                        uint64_t generation)
{
    uint64_t at = sn_sums_at(f->layers);
    sn_put_identity(f, header, generation, sn_checksum(header + at, len - at));
    sn_put64(header + SN_AT_SUM, sn_header_sum(header, len));
}

/* Makes the header of F from its current bodies; no other thread may add. */
static uint8_t *make_header(const seen_filter *f, uint64_t len, uint64_t generation)
{
    uint8_t *header = sn_alloc(&f->alloc, len);
    if (!header) {
        sn_no_memory("no memory for a header of %llu bytes", (unsigned long long)len);
        return NULL;
    }
    fill_header(f, header);
    uint8_t *sum = header + sn_sums_at(f->layers);
    for (const sn_layer *l = f->layer; l < f->layer + f->layers; l++)
        for (uint64_t at = 0; at < l->len; at += SN_PIECE, sum += 8)
            sn_put64(sum, sn_checksum(l->body + at, sn_piece_len(l, at)));
    seal_header(f, header, len, generation);
    return header;
}

static const uint8_t zero_page[SN_PAGE];

/* The compact header of F, if it can have one; nobody adds meanwhile. */
static bool compact_header(const seen_filter *f, uint64_t generation, uint8_t *out)
{
    uint8_t header[SN_PREAMBLE + SN_RECORD] = {0};
    if (f->layers != 1)
        return false;
    if (f->layer->len > SN_COMPACT_BODY || f->flags & SEEN_ATOMIC) /* others may add */
        return false;
    fill_header(f, header);
    sn_put_identity(f, header, generation,
                    sn_checksum(f->layer->body, f->layer->len));
    return sn_compact_pack(header, f->layer->body, out);
}

static bool is_compact(const seen_filter *f)
{
    return f->map && f->header_len == SN_COMPACT;
}

/* seen_write with the GENERATION that the bytes get. */
static int write_as(const seen_filter *f, uint64_t generation,
                    int (*sink)(void *ctx, const void *p, size_t len), void *ctx)
{
    int rc;
    if (f->flags & SEEN_ATOMIC && !f->still) {
        /* The sums come before the bodies and others may add, so a copy is written. */
        seen_filter *copy;
        rc = seen_copy(f, &copy);
        if (rc < 0)
            return rc;
        copy->still = true;
        rc = write_as(copy, generation, sink, ctx);
        seen_free(copy);
        return rc;
    }
    uint8_t small[SN_COMPACT];
    if (compact_header(f, generation, small)) {
        rc = sink(ctx, small, SN_COMPACT);
        return rc < 0 ? rc : sink(ctx, f->layer->body, f->layer->len);
    }
    uint64_t len = sn_header_len(f);
    uint8_t *header = make_header(f, len, generation);
    if (!header)
        return SEEN_ENOMEM;
    rc = sink(ctx, header, len);
    sn_free(&f->alloc, header, len);
    for (uint32_t i = 0; rc == 0 && i < f->layers; i++) {
        const sn_layer *l = f->layer + i;
        rc = sink(ctx, l->body, l->len);
        if (rc == 0 && l->len % SN_PAGE)
            rc = sink(ctx, zero_page, SN_PAGE - l->len % SN_PAGE);
    }
    return rc;
}

int seen_write(const seen_filter *f, int (*sink)(void *ctx, const void *p, size_t len),
               void *ctx)
{
    return f->foreign ? sn_foreign_write(f->foreign, &(sn_sink){sink, ctx})
                      : write_as(f, sn_generation_to_write(f), sink, ctx);
}

/* ---- files ----------------------------------------------------------------------- */

/* A file written from its start, and the checksum of its bytes. */
typedef struct summed_file {
    sn_replace *to;
    XXH3_state_t sum;
} summed_file;

static int to_file(void *ctx, const void *p, size_t len)
{
    summed_file *s = ctx;
    XXH3_64bits_update(&s->sum, p, len);
    return sn_replace_write(s->to, p, len);
}

static int write_stream(const seen_filter *f, uint64_t generation, sn_replace *to,
                        uint64_t *content)
{
    summed_file s = {.to = to};
    XXH3_64bits_reset(&s.sum);
    int rc = f->foreign ? seen_write(f, to_file, &s)
                        : write_as(f, generation, to_file, &s);
    *content = XXH3_64bits_digest(&s.sum);
    return rc;
}

/* Appends the body of L to the file and writes the sums of its pieces to SUM. A sum is
 * that of the bytes written, even if other threads add meanwhile, because each piece is
 * copied first. */
static int write_body(const seen_filter *f, const sn_layer *l, sn_replace *to,
                      uint8_t *piece, uint8_t *sum)
{
    int rc = 0;
    for (uint64_t at = 0; rc == 0 && at < l->len; at += SN_PIECE, sum += 8) {
        uint64_t len = sn_piece_len(l, at);
        sn_snapshot(f, piece, l->body + at, len);
        sn_put64(sum, sn_checksum(piece, len));
        rc = sn_replace_write(to, piece, len);
    }
    if (rc == 0 && l->len % SN_PAGE)
        rc = sn_replace_write(to, zero_page, SN_PAGE - l->len % SN_PAGE);
    return rc;
}

/* Writes the bodies first, then, at the start, the header with their sums; its own sum
 * is the CONTENT of the file. */
static int write_file(const seen_filter *f, uint64_t generation, sn_replace *to,
                      uint64_t *content)
{
    uint8_t small[SN_COMPACT];
    if (compact_header(f, generation, small)) {
        *content = sn_le64(small + SN_COMPACT_SUM);
        int done = sn_replace_write(to, small, SN_COMPACT);
        return done < 0 ? done : sn_replace_write(to, f->layer->body, f->layer->len);
    }
    uint64_t len = sn_header_len(f);
    uint8_t *header = sn_alloc(&f->alloc, len),
            *piece = header ? sn_body_alloc(&f->alloc, SN_PIECE) : NULL;
    int rc = piece ? 0
                   : sn_no_memory("no memory for a header of %llu bytes",
                                  (unsigned long long)len);
    if (rc == 0)
        rc = sn_replace_write(to, header, len); /* reserves its place */
    uint8_t *sum = header + sn_sums_at(f->layers);
    for (uint32_t i = 0; rc == 0 && i < f->layers; i++) {
        rc = write_body(f, f->layer + i, to, piece, sum);
        sum += 8 * sn_pieces(f->layer[i].len);
    }
    if (rc == 0) {
        fill_header(f, header);
        seal_header(f, header, len, generation);
        *content = sn_le64(header + SN_AT_SUM);
        rc = sn_replace_rewind(to);
    }
    if (rc == 0)
        rc = sn_replace_write(to, header, len);
    sn_body_free(&f->alloc, piece, SN_PIECE);
    sn_free(&f->alloc, header, len);
    return rc;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Keeps other writers away from the file now at PATH: *LOCK holds the lock until it is
 * closed, or is -1 if there is no file or there are no locks. F may replace the file of
 * which it is the only writer. */
static int keep_others_out(const seen_filter *f, const char *path, int *lock)
{
    for (;;) {
        struct stat now, own, st;
        *lock = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (*lock < 0 || fstat(*lock, &st) < 0 || !S_ISREG(st.st_mode))
            return 0;
        bool locked = flock(*lock, LOCK_EX | LOCK_NB) == 0;
        bool busy = !locked && errno == EWOULDBLOCK;
        bool mine = f->lock >= 0 && !f->shared && fstat(f->lock, &own) == 0 &&
                    same_file(&own, &st);
        if (!busy || mine) {
            /* The previous owner of the lock may have replaced the file. */
            if (stat(path, &now) < 0 || same_file(&now, &st))
                return 0;
            close(*lock);
            continue;
        }
        close(*lock);
        *lock = -1;
        errno = EWOULDBLOCK;
        return sn_fail(SEEN_EBUSY, "another process is writing to %s", path);
    }
}

static int save_beside(const seen_filter *f, const char *path)
{
    sn_replace r;
    int rc = sn_replace_begin(&r, path, 0666);
    if (rc < 0)
        return rc;
    uint64_t content, generation = sn_generation_to_save(f);
    rc = f->foreign || r.direct ? write_stream(f, generation, &r, &content)
                                : write_file(f, generation, &r, &content);
    if (rc == 0 && !r.direct)
        rc = sn_exceptions_save(f, path, r.fd, content);
    if (rc == 0)
        return sn_replace_commit(&r);
    sn_replace_abort(&r);
    return rc;
}

int seen_save(const seen_filter *f, const char *path)
{
    int lock, rc = keep_others_out(f, path, &lock);
    if (rc == 0)
        rc = save_beside(f, path);
    int e = errno;
    if (lock >= 0)
        close(lock);
    errno = e;
    return rc;
}

static int unsynchronised(const seen_filter *f)
{
    return sn_fail(SEEN_EIO, "cannot synchronise %s: %s",
                   f->path ? f->path : "the filter", strerror(errno));
}

/* The low byte of the mark "dirty". */
static uint8_t *mark(const seen_filter *f)
{
    return f->map + (is_compact(f) ? SN_COMPACT_DIRTY : SN_AT_DIRTY);
}

static void put_generation(const seen_filter *f)
{
    if (!f->no_identity)
        sn_put64(f->map + (is_compact(f) ? SN_COMPACT_GENERATION : SN_AT_GENERATION),
                 f->generation);
}

/* The header's sum is always one that open.c accepts: sets dirty first, then the
 * matching sum, which leaves the generation out; clearing goes in the other order. */
int sn_mark_dirty(seen_filter *f)
{
    __atomic_store_n(mark(f), 1, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (is_compact(f))
        sn_put64(f->map + SN_COMPACT_SUM, sn_compact_sum(f->map, NULL, 0));
    else
        sn_put64(f->map + SN_AT_SUM, sn_header_sum_dirty(f->map, f->layers));
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    f->generation = sn_generation_to_write(f);
    put_generation(f);
    if (msync(f->map, SN_PAGE, MS_SYNC) < 0)
        return unsynchronised(f);
    __atomic_store_n(&f->dirty, true, __ATOMIC_RELEASE);
    return 0;
}

/* Writes the counts and sums of F to its file, all but the header's own SUM. */
static int put_header(seen_filter *f, uint64_t *sum)
{
    uint64_t len = f->header_len;
    uint8_t *header = make_header(f, len, f->generation);
    if (!header)
        return SEEN_ENOMEM;
    f->generation = sn_le64(header + SN_AT_GENERATION);
    put_generation(f);
    memcpy(f->map + SN_PREAMBLE, header + SN_PREAMBLE, len - SN_PREAMBLE);
    *sum = sn_header_sum(f->map, len);
    sn_free(&f->alloc, header, len);
    return 0;
}

static int put_compact(seen_filter *f, uint64_t *sum)
{
    uint64_t content = sn_checksum(f->layer->body, f->layer->len);
    f->generation |= content & UINT32_MAX;
    put_generation(f);
    sn_put32(f->map + SN_COMPACT_ADDED, (uint32_t)f->layer->added);
    *sum = sn_compact_sum(f->map, f->layer->body, f->layer->len);
    return 0;
}

/* Bodies first, then the counts and sums that vouch for them, then that they do. */
int seen_flush(seen_filter *f)
{
    if (f->foreign)
        return sn_handle_foreign_flush(f);
    if (!f->map || !f->writable || !f->dirty)
        return 0;
    if (msync(f->map, f->map_len, MS_SYNC) < 0)
        return unsynchronised(f);
    if (f->shared)
        return 0;
    uint64_t sum;
    int rc = is_compact(f) ? put_compact(f, &sum) : put_header(f, &sum);
    if (rc < 0)
        return rc;
    if (msync(f->map, f->header_len, MS_SYNC) < 0)
        return unsynchronised(f);
    sn_put64(f->map + (is_compact(f) ? SN_COMPACT_SUM : SN_AT_SUM), sum);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(mark(f), 0, __ATOMIC_RELEASE);
    if (msync(f->map, SN_PAGE, MS_SYNC) < 0)
        return unsynchronised(f);
    f->dirty = false;
    f->content = sum;
    return f->exceptions ? sn_exceptions_flush(f) : 0;
}
