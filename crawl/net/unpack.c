/* unpack.c - zlib, libbrotlidec and libzstd behind one call. */
#include "unpack.h"
#include "messages.h"

#include <brotli/decode.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

enum coding { NONE, GZIP, DEFLATE, BROTLI, ZSTANDARD };
enum { ROOM = 32 << 10 };

static int coding_of(const char *name, size_t n)
{
    static const struct {
        const char *name;
        int coding;
    } known[] = {{"gzip", GZIP}, {"x-gzip", GZIP},    {"deflate", DEFLATE},
                 {"br", BROTLI}, {"zstd", ZSTANDARD}, {"identity", NONE},
                 {"", NONE}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == n && !strncasecmp(known[i].name, name, n))
            return known[i].coding;
    return -1;
}

static void begin_zlib(unpack *u)
{
    if (u->z) {
        if (inflateReset2(u->z, 15 + 32) == Z_OK)
            return;
        kit_die("zlib: cannot start");
    }
    u->z = kit_alloc(sizeof(z_stream));
    if (inflateInit2((z_stream *)u->z, 15 + 32) != Z_OK)
        kit_die("zlib: out of memory");
}

bool unpack_begin(unpack *u, const char *name, size_t n)
{
    int coding = name ? coding_of(name, n) : NONE;
    u->begun = u->ended = false;
    u->coding = coding < 0 ? NONE : coding;
    switch (u->coding) {
    case GZIP:
    case DEFLATE:
        begin_zlib(u);
        break;
    case BROTLI:
        BrotliDecoderDestroyInstance(u->br); /* it cannot be reset */
        if (!(u->br = BrotliDecoderCreateInstance(NULL, NULL, NULL)))
            kit_die("brotli: out of memory");
        break;
    case ZSTANDARD:
        if (!u->zs && !(u->zs = ZSTD_createDStream()))
            kit_die("zstd: out of memory");
        ZSTD_DCtx_reset(u->zs, ZSTD_reset_session_only);
        ZSTD_DCtx_setParameter(u->zs, ZSTD_d_windowLogMax, 23); /* 8 MB, as RFC 9659 */
    }
    return coding >= 0;
}

typedef struct keeper {
    bool (*keep)(void *ctx, const void *p, size_t n);
    void *ctx;
} keeper;

static int feed_zlib(unpack *u, const void *p, size_t n, keeper to)
{
    z_stream *z = u->z;
    uint8_t out[ROOM];
    uint64_t before = z->total_in;
    if (!before)
        u->first = *(const uint8_t *)p;
    z->next_in = (Bytef *)(uintptr_t)p;
    z->avail_in = (uInt)n;
    for (;;) {
        z->next_out = out;
        z->avail_out = ROOM;
        int rc = inflate(z, Z_NO_FLUSH);
        /* Some servers send deflate without its header, which is two bytes long. */
        if (rc == Z_DATA_ERROR && before < 2 && u->coding == DEFLATE && !z->total_out) {
            inflateReset2(z, -15);
            if (before) {
                z->next_in = &u->first;
                z->avail_in = 1;
                inflate(z, Z_NO_FLUSH); /* less than a block: nothing comes out */
            }
            before = 2;
            z->next_in = (Bytef *)(uintptr_t)p;
            z->avail_in = (uInt)n;
            continue;
        }
        if (!to.keep(to.ctx, out, ROOM - z->avail_out))
            return UNPACK_ENOUGH;
        if (rc == Z_STREAM_END) {
            u->ended = true;
            return UNPACK_MORE;
        }
        if (rc != Z_OK && rc != Z_BUF_ERROR)
            return UNPACK_BAD;
        if (z->avail_out)
            return UNPACK_MORE;
    }
}

static int feed_brotli(unpack *u, const void *p, size_t n, keeper to)
{
    uint8_t out[ROOM];
    const uint8_t *in = p;
    for (;;) {
        uint8_t *o = out;
        size_t room = ROOM;
        BrotliDecoderResult rc =
            BrotliDecoderDecompressStream(u->br, &n, &in, &room, &o, NULL);
        if (!to.keep(to.ctx, out, ROOM - room))
            return UNPACK_ENOUGH;
        if (rc == BROTLI_DECODER_RESULT_ERROR)
            return UNPACK_BAD;
        if (rc == BROTLI_DECODER_RESULT_SUCCESS)
            u->ended = true;
        if (rc != BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT)
            return UNPACK_MORE;
    }
}

static int feed_zstd(unpack *u, const void *p, size_t n, keeper to)
{
    uint8_t out[ROOM];
    ZSTD_inBuffer in = {p, n, 0};
    for (;;) {
        ZSTD_outBuffer o = {out, ROOM, 0};
        size_t rc = ZSTD_decompressStream(u->zs, &o, &in);
        if (ZSTD_isError(rc))
            return UNPACK_BAD;
        if (!to.keep(to.ctx, out, o.pos))
            return UNPACK_ENOUGH;
        u->ended = rc == 0;
        if (o.pos < ROOM && in.pos == n)
            return UNPACK_MORE;
    }
}

int unpack_feed(unpack *u, const void *p, size_t n,
                bool (*keep)(void *ctx, const void *p, size_t n), void *ctx)
{
    keeper to = {keep, ctx};
    if (!n)
        return UNPACK_MORE;
    u->begun = true;
    switch (u->coding) {
    case GZIP:
    case DEFLATE: /* what follows the end is ignored, as browsers do */
        return u->ended ? UNPACK_MORE : feed_zlib(u, p, n, to);
    case BROTLI:
        return u->ended ? UNPACK_MORE : feed_brotli(u, p, n, to);
    case ZSTANDARD:
        return feed_zstd(u, p, n, to);
    }
    return keep(ctx, p, n) ? UNPACK_MORE : UNPACK_ENOUGH;
}

bool unpack_complete(const unpack *u)
{
    return u->coding == NONE || !u->begun || u->ended;
}

void unpack_free(unpack *u)
{
    if (u->z) {
        inflateEnd(u->z);
        free(u->z);
    }
    BrotliDecoderDestroyInstance(u->br);
    ZSTD_freeDStream(u->zs);
    *u = (unpack){0};
}
