/* sha1.c - FIPS 180-4, section 6.1. */
#include "sha1.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64 };

static uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void add_block(uint32_t h[5], const uint8_t *p)
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
               (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? (b & c) | (~b & d)
                     : i < 40 ? b ^ c ^ d
                     : i < 60 ? (b & c) | (b & d) | (c & d)
                              : b ^ c ^ d;
        uint32_t k = i < 20   ? 0x5a827999
                     : i < 40 ? 0x6ed9eba1
                     : i < 60 ? 0x8f1bbcdc
                              : 0xca62c1d6;
        uint32_t t = rotate(a, 5) + f + e + k + w[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = t;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void sha1_text(const void *p, size_t len, char out[SHA1_TEXT])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint8_t end[2 * BLOCK] = {0}, bytes[20];
    size_t whole = len / BLOCK * BLOCK, rest = len - whole;
    size_t last = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    for (size_t i = 0; i < whole; i += BLOCK)
        add_block(h, (const uint8_t *)p + i);
    if (rest)
        memcpy(end, (const uint8_t *)p + whole, rest);
    end[rest] = 0x80;
    for (int i = 0; i < 8; i++)
        end[last - 1 - i] = (uint8_t)((uint64_t)len * 8 >> (8 * i));
    for (size_t i = 0; i < last; i += BLOCK)
        add_block(h, end + i);
    for (int i = 0; i < 20; i++)
        bytes[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
    memcpy(out, "sha1:", 5);
    /* Five bytes are eight letters. */
    for (int i = 0; i < 32; i++) {
        int bit = 5 * i, at = bit / 8,
            pair = bytes[at] << 8 | (at + 1 < 20 ? bytes[at + 1] : 0);
        out[5 + i] = letters[pair >> (11 - bit % 8) & 31];
    }
    out[SHA1_TEXT - 1] = 0;
}
