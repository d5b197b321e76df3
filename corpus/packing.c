/* packing.c - packs blocks one by one. */
#include "packing.h"
#include "compression.h"
#include "messages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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
#ifdef SEEN_LIBDEFLATE
#include <libdeflate.h>
enum { GZIP_MOST = 12 };
#else
enum { GZIP_MOST = 9 };
#endif

/* By the names of kit/compression.c, which recognises and unpacks them. */
static const struct {
    const char *name, *suffix;
    int level, most;
    double ratio; /* bytes of text in a packed byte, roughly */
} kinds[] = {
    [PACK_PLAIN] = {"plain", "", 0, 0, 1},
    [PACK_GZIP] = {"gzip", ".gz", 5, GZIP_MOST, 2.6},
    [PACK_ZSTD] = {"zstd", ".zst", 3, 22, 3},
    [PACK_BZ2] = {"bzip2", ".bz2", 9, 9, 3.5},
    [PACK_XZ] = {"xz", ".xz", 6, 9, 3.7},
    [PACK_LZ4] = {"lz4", ".lz4", 1, 12, 1.8},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const bool can_pack[KINDS] = {
    [PACK_PLAIN] = true, [PACK_GZIP] = true, [PACK_ZSTD] = true,
#ifdef KIT_BZIP2
    [PACK_BZ2] = true,
#endif
#ifdef KIT_XZ
    [PACK_XZ] = true,
#endif
#ifdef KIT_LZ4
    [PACK_LZ4] = true,
#endif
};

struct packer {
    enum packing packing;
    int level;
#ifdef SEEN_LIBDEFLATE
    struct libdeflate_compressor *deflate;
#endif
    z_stream z;
    bool z_made;
    ZSTD_CCtx *zstd;
};

bool packing_named(const char *name, enum packing *out)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(name, kinds[i].name) == 0) {
            *out = (enum packing)i;
            return true;
        }
    return false;
}

enum packing packing_of(const char *path)
{
    unsigned char first[16];
    bool sure;
    enum packing found;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t n = fd >= 0 ? read(fd, first, sizeof first) : -1;
    if (fd >= 0)
        close(fd);
    const kit_format *f = n > 0 ? kit_format_of(first, (size_t)n, &sure) : NULL;
    return f && sure && packing_named(f->name, &found) ? found : PACK_PLAIN;
}

double packing_ratio(enum packing p)
{
    return kinds[p].ratio;
}

const char *packing_suffix(enum packing p)
{
    return kinds[p].suffix;
}

void packing_check(enum packing p, int level)
{
    if (!can_pack[p])
        kit_die("this build cannot pack %s: give --pack", kinds[p].name);
    if (p != PACK_PLAIN && level > kinds[p].most)
        kit_die("--level %d: %s has levels 1 to %d", level, kinds[p].name,
                kinds[p].most);
}

packer *packer_new(enum packing packing, int level)
{
    packing_check(packing, level);
    packer *p = kit_alloc(sizeof *p);
    p->packing = packing;
    p->level = level ? level : kinds[packing].level;
#ifdef SEEN_LIBDEFLATE
    if (packing == PACK_GZIP && !(p->deflate = libdeflate_alloc_compressor(p->level)))
        kit_die("out of memory for packing");
#else
    if (packing == PACK_GZIP) {
        if (deflateInit2(&p->z, p->level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
            Z_OK)
            kit_die("out of memory for packing");
        p->z_made = true;
    }
#endif
    if (packing == PACK_ZSTD && !(p->zstd = ZSTD_createCCtx()))
        kit_die("out of memory for packing");
    return p;
}

void packer_free(packer *p)
{
    if (!p)
        return;
#ifdef SEEN_LIBDEFLATE
    libdeflate_free_compressor(p->deflate);
#endif
    if (p->z_made)
        deflateEnd(&p->z);
    ZSTD_freeCCtx(p->zstd);
    free(p);
}

size_t packer_bound(packer *p, size_t len)
{
    switch (p->packing) {
    case PACK_GZIP:
#ifdef SEEN_LIBDEFLATE
        return libdeflate_gzip_compress_bound(p->deflate, len);
#else
        return deflateBound(&p->z, len);
#endif
    case PACK_ZSTD:
        return ZSTD_compressBound(len);
    case PACK_BZ2:
        return len + len / 50 + 1024;
    case PACK_XZ:
    case PACK_LZ4: /* and 64 KiB, which its frames are counted in */
        return len + len / 50 + (128 << 10);
    default:
        return len;
    }
}

static size_t pack_gzip(packer *p, const void *in, size_t len, void *out, size_t room)
{
#ifdef SEEN_LIBDEFLATE
    return libdeflate_gzip_compress(p->deflate, in, len, out, room);
#else
    size_t taken = 0, put = 0;
    int rc = Z_OK;
    deflateReset(&p->z);
    while (rc == Z_OK) { /* lengths of zlib have 32 bits */
        size_t some = len - taken < 1u << 30 ? len - taken : 1u << 30;
        size_t space = room - put < 1u << 30 ? room - put : 1u << 30;
        p->z.next_in = (unsigned char *)in + taken;
        p->z.avail_in = (unsigned)some;
        p->z.next_out = (unsigned char *)out + put;
        p->z.avail_out = (unsigned)space;
        rc = deflate(&p->z, taken + some == len ? Z_FINISH : Z_NO_FLUSH);
        taken += some - p->z.avail_in;
        put += space - p->z.avail_out;
    }
    return rc == Z_STREAM_END ? put : 0;
#endif
}

static size_t pack_bz2(packer *p, const void *in, size_t len, void *out, size_t room)
{
    size_t put = 0;
#ifdef KIT_BZIP2
    size_t at = 0;
    do { /* lengths of libbz2 have 32 bits */
        unsigned some = (unsigned)(len - at < 1u << 30 ? len - at : 1u << 30);
        unsigned got = (unsigned)(room - put < 2u << 30 ? room - put : 2u << 30);
        if (BZ2_bzBuffToBuffCompress((char *)out + put, &got, (char *)in + at, some,
                                     p->level, 0, 0) != BZ_OK)
            return 0;
        put += got;
        at += some;
    } while (at < len);
#endif
    return put;
}

static size_t pack_xz(packer *p, const void *in, size_t len, void *out, size_t room)
{
    size_t put = 0;
#ifdef KIT_XZ
    if (lzma_easy_buffer_encode((uint32_t)p->level, LZMA_CHECK_CRC64, NULL, in, len,
                                out, &put, room) != LZMA_OK)
        return 0;
#endif
    return put;
}

static size_t pack_lz4(packer *p, const void *in, size_t len, void *out, size_t room)
{
#ifdef KIT_LZ4
    LZ4F_preferences_t how = {.compressionLevel = p->level};
    how.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    size_t n = LZ4F_compressFrame(out, room, in, len, &how);
    return LZ4F_isError(n) ? 0 : n;
#else
    return 0;
#endif
}

size_t packer_run(packer *p, const void *in, size_t len, void *out, size_t room)
{
    size_t n = 0;
    switch (p->packing) {
    case PACK_GZIP:
        n = pack_gzip(p, in, len, out, room);
        break;
    case PACK_ZSTD:
        n = ZSTD_compressCCtx(p->zstd, out, room, in, len, p->level);
        if (ZSTD_isError(n))
            n = 0;
        break;
    case PACK_BZ2:
        n = pack_bz2(p, in, len, out, room);
        break;
    case PACK_XZ:
        n = pack_xz(p, in, len, out, room);
        break;
    case PACK_LZ4:
        n = pack_lz4(p, in, len, out, room);
        break;
    default:
        memcpy(out, in, len);
        return len;
    }
    if (!n && len)
        kit_die("packing failed");
    return n;
}
