/* gzip_streams_come_whole.c - what zlib packs comes back byte for byte, however it is
 * cut into pieces, and nothing damaged or cut short passes. */
#include "compression.h"
#include "sample.h"
#include "source.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { ROOM = 1 << 20 };

static uint64_t state = 16;

static size_t chance(size_t below)
{
    state += 0x9e3779b97f4a7c15;
    return (size_t)(kit_mix(state) % below);
}

/* Text of LEN bytes that repeats itself as much as KIND says. */
static void make_text(unsigned char *p, size_t len, size_t kind)
{
    for (size_t i = 0; i < len; i++)
        p[i] = kind == 0 ? 'a' : (unsigned char)(chance(kind == 1 ? 256 : 8) + 'a');
    for (size_t i = 0; kind == 2 && i + 300 < len; i += chance(500) + 1) {
        size_t n = chance(299) + 1, from = chance(i + 1);
        memmove(p + i, p + from, n);
    }
}

/* One member with zlib's LEVEL, STRATEGY and WINDOW, with every field of the header if
 * FULL. */
static size_t pack(const unsigned char *in, size_t len, int level, int strategy,
                   int window, bool full, unsigned char *out)
{
    z_stream z = {0};
    gz_header head = {.text = 1,
                      .extra = (Bytef *)"ab\3\0xyz",
                      .extra_len = 7,
                      .name = (Bytef *)"a name",
                      .comment = (Bytef *)"a comment",
                      .hcrc = 1};
    deflateInit2(&z, level, Z_DEFLATED, window + 16, window - 8, strategy);
    if (full)
        deflateSetHeader(&z, &head);
    z.next_in = (Bytef *)(uintptr_t)in;
    z.avail_in = (unsigned)len;
    z.next_out = out;
    z.avail_out = ROOM;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return ROOM - z.avail_out;
}

/* Unpacks one member in pieces of up to IN and OUT bytes. Returns the last code; *TAKEN
 * of the input and *MADE are how far it came. */
static kit_unpacked unpack(const unsigned char *in, size_t len, size_t in_most,
                           size_t out_most, unsigned char *out, size_t *taken,
                           size_t *made)
{
    bool sure;
    const kit_format *f =
        kit_format_of((const unsigned char *)"\x1f\x8b\x08", 3, &sure);
    void *z = f->start();
    kit_unpacked rc = KIT_MORE;
    const unsigned char *p = in;
    *made = 0;
    for (bool moved = true; rc == KIT_MORE && (moved || p < in + len);) {
        size_t left = (size_t)(in + len - p), some = chance(in_most) + 1;
        kit_piece piece = {p, left < some ? left : some, out + *made,
                           chance(out_most) + 1};
        unsigned char *before = piece.out;
        rc = f->unpack(z, &piece);
        moved = piece.out != before || piece.in != p;
        p = piece.in;
        *made += (size_t)(piece.out - before);
        if (*made > ROOM - out_most - 1)
            break;
    }
    f->end(z);
    *taken = (size_t)(p - in);
    return rc;
}

int main(void)
{
    unsigned char *text = malloc(ROOM), *packed = malloc(2 * ROOM), *out = malloc(ROOM);
    size_t wrong = 0, members = 0, taken, made;
    for (size_t i = 0; i < 1200; i++, members++) {
        size_t len = chance(i % 10 ? 3000 : 200000), behind = chance(20);
        make_text(text, len, i % 3);
        size_t n = pack(text, len, (int)chance(10), (int)chance(5), i % 5 ? 15 : 9,
                        i & 1, packed);
        memset(packed + n, 0x1f, behind); /* the next member, say */
        size_t piece = i % 4 == 0 ? 1 : i % 4 == 1 ? 16 : 100000;
        kit_unpacked rc = unpack(packed, n + behind, piece, i % 8 < 4 ? piece : 50000,
                                 out, &taken, &made);
        wrong += rc != KIT_ENDED || taken != n || made != len || memcmp(out, text, len);
    }
    ok(!wrong,
       "%zu members come back whole, in pieces of any size, and end where they end",
       members);

    size_t passed = 0, cuts = 0;
    make_text(text, 2000, 2);
    size_t n = pack(text, 2000, 6, Z_DEFAULT_STRATEGY, 15, true, packed);
    for (size_t cut = 0; cut < n; cut++, cuts++)
        passed += unpack(packed, cut, 64, 4096, out, &taken, &made) == KIT_ENDED;
    ok(!passed, "a member cut short at any of %zu places never ends", cuts);

    passed = 0;
    for (size_t bit = 0; bit < 8 * n; bit++) {
        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        if (unpack(packed, n, 64, 4096, out, &taken, &made) == KIT_ENDED)
            passed += made != 2000 || memcmp(out, text, 2000);
        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    ok(!passed, "with any bit wrong no other text passes for whole");

    passed = 0;
    for (size_t bit = 8 * (n - 8); bit < 8 * n; bit++) {
        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        passed += unpack(packed, n, 64, 4096, out, &taken, &made) != KIT_DAMAGED;
        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    ok(!passed, "a wrong checksum or length is damage");

    /* A file of many small members, so that the reader's buffer ends at every place. */
    int fd = memfd_create("members", 0);
    size_t lines = 60000;
    char line[32], path[40];
    for (size_t i = 0, at = 0; i < lines; i++) {
        int len = sprintf(line, "line %zu\n", i);
        at +=
            pack((unsigned char *)line, (size_t)len, 6, 0, 9, i % 7 == 0, packed + at);
        memset(packed + at, 0, i % 5);
        at += i % 5;
        if (at > ROOM / 2 || i + 1 == lines) {
            if (write(fd, packed, at) != (ssize_t)at)
                return 2;
            at = 0;
        }
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    kit_source *s = kit_source_open(path);
    size_t next = 0, rest = 0;
    for (;;) {
        ssize_t got = kit_source_read(s, (char *)out + rest, chance(5000) + 1);
        if (got <= 0)
            break;
        char *p = (char *)out, *end = p + rest + got, *newline;
        while ((newline = memchr(p, '\n', (size_t)(end - p)))) {
            int len = sprintf(line, "line %zu\n", next);
            if (newline + 1 - p != len || memcmp(p, line, (size_t)len))
                break;
            next++;
            p = newline + 1;
        }
        rest = (size_t)(end - p);
        memmove(out, p, rest);
    }
    ok(next == lines && !rest && !*kit_source_error(s),
       "%zu members in a row, some with zeros between them, are one file", lines);
    kit_source_close(s);
    free(text);
    free(packed);
    free(out);
    return done();
}
