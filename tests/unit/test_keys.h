/* test_keys.h - families of keys for tests: number i of each, always the same bytes. */
#ifndef KEYS_H
#define KEYS_H
#include <endian.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum family { SEQUENTIAL, RANDOM, URLS, ONE_BYTE, FAMILIES };
static const char *const family_name[] = {"sequential integers", "random bytes",
                                          "URLs with long common prefixes",
                                          "one-byte-different keys"};

/* A number as the eight bytes that seen_add_u64 takes of it, and their length. */
#define LE8(x) ((uint64_t[]){htole64(x)}), 8

static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Writes key I into BUF (at least 96 bytes); returns its length. */
static inline size_t key_of(enum family fam, uint64_t i, char *buf)
{
    switch (fam) {
    case SEQUENTIAL:
        memcpy(buf, LE8(i));
        return 8;
    case RANDOM: {
        uint64_t w[3] = {htole64(mix(i)), htole64(mix(~i)), htole64(mix(i * 3 + 1))};
        memcpy(buf, w, 24);
        return 8 + i % 17;
    }
    case URLS: {
        static const char base[] =
            "https://www.example.com/shop/catalogue/items/page?id=";
        memcpy(buf, base, sizeof base - 1);
        char *p = buf + sizeof base - 1;
        for (int d = 11; d >= 0; d--) {
            p[d] = (char)('0' + i % 10);
            i /= 10;
        }
        return sizeof base - 1 + 12;
    }
    default: { /* a base text for each i/8192, then one byte of 32 set to one of 256 */
        memset(buf, 'a', 32);
        uint64_t base = i / 8192;
        memcpy(buf + 32, LE8(base));
        buf[i % 32] = (char)(i / 32 % 256);
        return 40;
    }
    }
}

/* Statistical tests do less under sanitizers and emulators, which look for other
 * things. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                   \
    defined(SEEN_LESS_WORK)
#define WORK(n) ((n) / 20 + 1)
#else
#define WORK(n) (n)
#endif
#endif
