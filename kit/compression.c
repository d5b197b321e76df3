/* compression.c - gzip, zstd, bzip2, xz and lz4 through their own libraries.
 *
 * zlib and libzstd are always there; the others if they were at build time (KIT_BZIP2,
 * KIT_XZ, KIT_LZ4, see kit/build.mk). With ISA-L (KIT_ISAL) gzip takes half the time. A
 * format that cannot be unpacked is still recognised, so that its bytes are never taken
 * for lines. */
#include "compression.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#ifdef KIT_BZIP2
#include <bzlib.h>
#endif
#ifdef KIT_XZ
#include <lzma.h>
#endif
#ifdef KIT_LZ4
#include <lz4frame.h>
#endif
#ifdef KIT_ISAL
#include <isa-l/igzip_lib.h>
#endif

/* Bytes that one call of zlib or bzip2 can take. */
static unsigned at_most(size_t n)
{
    return n < 1u << 30 ? (unsigned)n : 1u << 30;
}

/* ---- gzip ------------------------------------------------------------------------ */

#ifdef KIT_ISAL
/* isal_inflate reads headers too, but loses one that arrives in pieces. */
typedef struct gzip_member {
    struct inflate_state z;
    struct isal_gzip_header head;
    bool inside; /* behind the header */
} gzip_member;

static bool gzip_restart(void *state)
{
    gzip_member *m = state;
    isal_inflate_reset(&m->z);
    m->z.crc_flag = ISAL_GZIP_NO_HDR_VER;
    isal_gzip_header_init(&m->head);
    m->inside = false;
    return true;
}

static void *gzip_start(void)
{
    /* A damaged member may refer to bytes that were never written: they are zero. */
    gzip_member *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    isal_inflate_init(&m->z);
    gzip_restart(m);
    return m;
}

static kit_unpacked gzip_unpack(void *state, kit_piece *p)
{
    gzip_member *m = state;
    struct inflate_state *z = &m->z;
    unsigned in = at_most(p->in_len), out = at_most(p->out_len);
    z->next_in = (unsigned char *)(uintptr_t)p->in;
    z->avail_in = in;
    z->next_out = p->out;
    z->avail_out = out;
    int rc = ISAL_DECOMP_OK;
    if (!m->inside) {
        rc = isal_read_gzip_header(z, &m->head);
        m->inside = rc == ISAL_DECOMP_OK;
    }
    if (m->inside)
        rc = isal_inflate(z);
    p->in += in - z->avail_in;
    p->in_len -= in - z->avail_in;
    p->out += out - z->avail_out;
    p->out_len -= out - z->avail_out;
    if (rc < 0)
        return KIT_DAMAGED;
    if (!m->inside || z->block_state != ISAL_BLOCK_FINISH)
        return KIT_MORE;
    /* Give back the whole bytes that it has read past the end of the stream. */
    size_t back = (size_t)z->read_in_length / 8;
    p->in -= back;
    p->in_len += back;
    return KIT_ENDED;
}

static void gzip_end(void *state)
{
    free(state);
}
#else
static void *gzip_start(void)
{
    z_stream *z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, 15 + 16) != Z_OK) {
        free(z);
        z = NULL;
    }
    return z;
}

static kit_unpacked gzip_unpack(void *state, kit_piece *p)
{
    z_stream *z = state;
    unsigned in = at_most(p->in_len), out = at_most(p->out_len);
    z->next_in = (unsigned char *)(uintptr_t)p->in;
    z->avail_in = in;
    z->next_out = p->out;
    z->avail_out = out;
    int rc = inflate(z, Z_NO_FLUSH);
    p->in += in - z->avail_in;
    p->in_len -= in - z->avail_in;
    p->out += out - z->avail_out;
    p->out_len -= out - z->avail_out;
    return rc == Z_STREAM_END                ? KIT_ENDED
           : rc == Z_OK || rc == Z_BUF_ERROR ? KIT_MORE
           : rc == Z_MEM_ERROR               ? KIT_NO_MEMORY
                                             : KIT_DAMAGED;
}

static bool gzip_restart(void *state)
{
    return inflateReset(state) == Z_OK;
}

static void gzip_end(void *state)
{
    inflateEnd(state);
    free(state);
}
#endif

/* ---- zstd ------------------------------------------------------------------------ */

/* A window may be as large as zstd --long=31 makes it, 2 GiB: the memory is taken as it
 * is filled, and source.c looks at it before. */
enum { ZSTD_WINDOW_LOG = sizeof(void *) < 8 ? 30 : 31 };

static void *zstd_start(void)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    if (z)
        ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
    return z;
}

static size_t zstd_memory(const void *state)
{
    return ZSTD_sizeof_DStream(state);
}

static kit_unpacked zstd_unpack(void *state, kit_piece *p)
{
    ZSTD_inBuffer in = {p->in, p->in_len, 0};
    ZSTD_outBuffer out = {p->out, p->out_len, 0};
    size_t rc = ZSTD_decompressStream(state, &out, &in);
    p->in += in.pos;
    p->in_len -= in.pos;
    p->out += out.pos;
    p->out_len -= out.pos;
    if (ZSTD_isError(rc))
        return strstr(ZSTD_getErrorName(rc), "memory") ? KIT_NO_MEMORY : KIT_DAMAGED;
    return rc == 0 ? KIT_ENDED : KIT_MORE;
}

static bool zstd_restart(void *state)
{
    return !ZSTD_isError(ZSTD_DCtx_reset(state, ZSTD_reset_session_only));
}

static void zstd_end(void *state)
{
    ZSTD_freeDStream(state);
}

/* ---- bzip2 ----------------------------------------------------------------------- */

#ifdef KIT_BZIP2
static void *bzip2_start(void)
{
    bz_stream *z = calloc(1, sizeof *z);
    if (z && BZ2_bzDecompressInit(z, 0, 0) != BZ_OK) {
        free(z);
        z = NULL;
    }
    return z;
}

static kit_unpacked bzip2_unpack(void *state, kit_piece *p)
{
    bz_stream *z = state;
    unsigned in = at_most(p->in_len), out = at_most(p->out_len);
    z->next_in = (char *)(uintptr_t)p->in;
    z->avail_in = in;
    z->next_out = (char *)p->out;
    z->avail_out = out;
    int rc = BZ2_bzDecompress(z);
    p->in += in - z->avail_in;
    p->in_len -= in - z->avail_in;
    p->out += out - z->avail_out;
    p->out_len -= out - z->avail_out;
    return rc == BZ_STREAM_END  ? KIT_ENDED
           : rc == BZ_OK        ? KIT_MORE
           : rc == BZ_MEM_ERROR ? KIT_NO_MEMORY
                                : KIT_DAMAGED;
}

static bool bzip2_restart(void *state)
{
    BZ2_bzDecompressEnd(state);
    memset(state, 0, sizeof(bz_stream));
    return BZ2_bzDecompressInit(state, 0, 0) == BZ_OK;
}

static void bzip2_end(void *state)
{
    BZ2_bzDecompressEnd(state);
    free(state);
}
#define BZIP2 NULL, bzip2_start, bzip2_unpack, bzip2_restart, bzip2_end
#else
#define BZIP2 "libbz2-dev", NULL, NULL, NULL, NULL
#endif

/* ---- xz -------------------------------------------------------------------------- */

#ifdef KIT_XZ
/* A file may ask for a dictionary of any size; xz -9 takes 65 MB. */
enum { XZ_MEMORY = 1 << 30 };

static bool xz_restart(void *state)
{
    return lzma_stream_decoder(state, XZ_MEMORY, 0) == LZMA_OK;
}

static void *xz_start(void)
{
    static const lzma_stream fresh = LZMA_STREAM_INIT;
    lzma_stream *z = malloc(sizeof *z);
    if (!z)
        return NULL;
    *z = fresh;
    if (!xz_restart(z)) {
        free(z);
        z = NULL;
    }
    return z;
}

static kit_unpacked xz_unpack(void *state, kit_piece *p)
{
    lzma_stream *z = state;
    z->next_in = p->in;
    z->avail_in = p->in_len;
    z->next_out = p->out;
    z->avail_out = p->out_len;
    lzma_ret rc = lzma_code(z, LZMA_RUN);
    p->in = z->next_in;
    p->in_len = z->avail_in;
    p->out = z->next_out;
    p->out_len = z->avail_out;
    return rc == LZMA_STREAM_END                               ? KIT_ENDED
           : rc == LZMA_OK || rc == LZMA_BUF_ERROR             ? KIT_MORE
           : rc == LZMA_MEM_ERROR || rc == LZMA_MEMLIMIT_ERROR ? KIT_NO_MEMORY
                                                               : KIT_DAMAGED;
}

static void xz_end(void *state)
{
    lzma_end(state);
    free(state);
}
#define XZ NULL, xz_start, xz_unpack, xz_restart, xz_end
#else
#define XZ "liblzma-dev", NULL, NULL, NULL, NULL
#endif

/* ---- lz4 ------------------------------------------------------------------------- */

#ifdef KIT_LZ4
static void *lz4_start(void)
{
    LZ4F_dctx *z = NULL;
    return LZ4F_isError(LZ4F_createDecompressionContext(&z, LZ4F_VERSION)) ? NULL : z;
}

static kit_unpacked lz4_unpack(void *state, kit_piece *p)
{
    size_t in = p->in_len, out = p->out_len;
    size_t rc = LZ4F_decompress(state, p->out, &out, p->in, &in, NULL);
    p->in += in;
    p->in_len -= in;
    p->out += out;
    p->out_len -= out;
    if (LZ4F_isError(rc))
        return strstr(LZ4F_getErrorName(rc), "allocation") ? KIT_NO_MEMORY
                                                           : KIT_DAMAGED;
    return rc == 0 ? KIT_ENDED : KIT_MORE;
}

static bool lz4_restart(void *state)
{
    LZ4F_resetDecompressionContext(state);
    return true;
}

static void lz4_end(void *state)
{
    LZ4F_freeDecompressionContext(state);
}
#define LZ4 NULL, lz4_start, lz4_unpack, lz4_restart, lz4_end
#else
#define LZ4 "liblz4-dev", NULL, NULL, NULL, NULL
#endif

/* ---- all of them ----------------------------------------------------------------- */

#define MAGIC(s) s, sizeof(s) - 1

/* A row without functions is recognised only to be refused. bzip2's first three
 * letters could begin a text: the block after them has a magic of its own. */
static const kit_format formats[] = {
    {"gzip", MAGIC("\x1f\x8b\x08"), NULL, gzip_start, gzip_unpack, gzip_restart,
     gzip_end, true},
    {"zstd", MAGIC("\x28\xb5\x2f\xfd"), NULL, zstd_start, zstd_unpack, zstd_restart,
     zstd_end, false, zstd_memory},
    {"zstd", MAGIC("?\x2a\x4d\x18"), NULL, zstd_start, zstd_unpack, zstd_restart,
     zstd_end, false, zstd_memory}, /* a skippable frame in front: 0x50 to 0x5f */
    {"bzip2", MAGIC("BZh?\x31\x41\x59\x26\x53\x59"), BZIP2, false},
    {"bzip2", MAGIC("BZh?\x17\x72\x45\x38\x50\x90"), BZIP2, false}, /* empty */
    {"xz", MAGIC("\xfd\x37zXZ\0"), XZ, true},
    {"lz4", MAGIC("\x04\x22\x4d\x18"), LZ4, false},
    {"compress", MAGIC("\x1f\x9d"), NULL},
    {"zip", MAGIC("PK\x03\x04"), NULL},
    {"7z", MAGIC("7z\xbc\xaf\x27\x1c"), NULL},
    {"lzip", MAGIC("LZIP\x01"), NULL},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool begins_like(const kit_format *f, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n && i < f->magic_len; i++)
        if (p[i] != (unsigned char)f->magic[i] &&
            (f->magic[i] != '?' || (i == 0 && (p[0] & 0xf0) != 0x50)))
            return false;
    return true;
}

const kit_format *kit_format_of(const unsigned char *p, size_t n, bool *sure)
{
    const kit_format *perhaps = NULL;
    *sure = true;
    for (size_t i = 0; n && i < FORMATS; i++)
        if (begins_like(formats + i, p, n)) {
            if (n >= formats[i].magic_len)
                return formats + i;
            perhaps = formats + i;
        }
    *sure = !perhaps;
    return perhaps;
}

/* (lz4 has zstd's skippable frames, too.) */
bool kit_format_goes_on(const kit_format *format, const kit_format *f)
{
    return !strcmp(format->name, f->name) ||
           (*f->magic == '?' && !strcmp(format->name, "lz4"));
}

const char *kit_unpacks(void)
{
    static char names[80];
    if (*names)
        return names;
    for (size_t i = 0, at = 0; i < FORMATS; i++)
        if (formats[i].start && !strstr(names, formats[i].name))
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s",
                                   at ? ", " : "", formats[i].name);
    return names;
}
