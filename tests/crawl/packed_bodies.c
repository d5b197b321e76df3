/* packed_bodies.c - a packed body comes out as it went in, however it is cut; one that
 * ends too early is not complete. */
#include "net/unpack.h"
#include "tap.h"

#include <brotli/encode.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { BODY = 200000 };
static char body[BODY], got[BODY + 1];
static size_t got_len;

static bool keep(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    if (got_len + n > BODY)
        return false;
    memcpy(got + got_len, p, n);
    got_len += n;
    return true;
}

static size_t deflate_body(uint8_t *out, size_t room, int bits)
{
    z_stream z = {0};
    deflateInit2(&z, 6, Z_DEFLATED, bits, 8, 0);
    z.next_in = (Bytef *)body;
    z.avail_in = BODY;
    z.next_out = out;
    z.avail_out = (uInt)room;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return room - z.avail_out;
}

int main(void)
{
    static uint8_t out[BODY * 2];
    unpack u = {0};
    unsigned x = 1;
    for (size_t i = 0; i < BODY; i++)
        body[i] = "abcdefgh <>/\n"[(x = x * 1103515245 + 12345) >> 16 & 7];
    for (int i = 0; i < 6; i++) {
        static const char *const names[] = {"gzip", "deflate", "deflate",
                                            "BR",   "zstd",    "identity"};
        size_t n = sizeof out;
        if (i < 3)
            n = deflate_body(out, n, i == 0 ? 31 : i == 1 ? 15 : -15);
        else if (i == 3)
            BrotliEncoderCompress(5, 22, BROTLI_MODE_TEXT, BODY, (uint8_t *)body, &n,
                                  out);
        else if (i == 4)
            n = ZSTD_compress(out, n, body, BODY, 3);
        else
            memcpy(out, body, n = BODY);
        bool good = true;
        for (size_t step = 1; step <= n; step = step * 7 + 3) {
            got_len = 0;
            good = good && unpack_begin(&u, names[i], strlen(names[i]));
            for (size_t at = 0; at < n; at += step)
                good = good && unpack_feed(&u, out + at, at + step > n ? n - at : step,
                                           keep, NULL) == UNPACK_MORE;
            good = good && unpack_complete(&u) && got_len == BODY &&
                   !memcmp(got, body, BODY);
        }
        ok(good, "%s (%d): the same bytes in pieces of any size", names[i], i);
        got_len = 0;
        unpack_begin(&u, names[i], strlen(names[i]));
        unpack_feed(&u, out, n - 1, keep, NULL);
        ok(unpack_complete(&u) == (i == 5), "%s (%d): without its last byte it is %s",
           names[i], i, i == 5 ? "complete as far as one can tell" : "not complete");
        unpack_begin(&u, names[i], strlen(names[i]));
        ok(unpack_complete(&u), "%s (%d): an empty body is complete", names[i], i);
        if (i < 5) {
            memset(out + n / 2, 0xa5, n / 4);
            got_len = 0;
            unpack_begin(&u, names[i], strlen(names[i]));
            int rc = unpack_feed(&u, out, n, keep, NULL);
            ok(rc == UNPACK_BAD || !unpack_complete(&u) || memcmp(got, body, BODY),
               "%s (%d): damaged in the middle it is not taken for the body", names[i],
               i);
        }
    }
    ok(!unpack_begin(&u, "compress", 8) && !unpack_begin(&u, "gzip, gzip", 10),
       "unknown codings and chains of them are refused");
    got_len = 0;
    size_t n = deflate_body(out, sizeof out, 31);
    unpack_begin(&u, "gzip", 4);
    got_len = BODY - 100;
    ok(unpack_feed(&u, out, n, keep, NULL) == UNPACK_ENOUGH,
       "who wants no more gets no more");
    unpack_free(&u);
    return done();
}
