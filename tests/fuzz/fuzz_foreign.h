/* fuzz_foreign.h - what every fuzz target of another system's filter does with its
 * bytes: open, ask, describe, copy, add, write, and open again, which must give the
 * answers it gave before. */
#ifndef FUZZ_FOREIGN_H
#define FUZZ_FOREIGN_H
#include "base/bytes.h"
#include "foreign/foreign.h"
#include "seen.h"
#include <stdlib.h>
#include <string.h>

#define FUZZ_KEYS 40
#define FUZZ_MOST ((size_t)8 << 20) /* what is longer is not written out */

typedef struct fuzz_bytes {
    uint8_t *p;
    size_t len;
} fuzz_bytes;

static int fuzz_put(void *ctx, const void *p, size_t len)
{
    fuzz_bytes *b = ctx;
    if (len > FUZZ_MOST - b->len)
        return SEEN_ETOOBIG;
    b->p = realloc(b->p, b->len + len + 1);
    memcpy(b->p + b->len, p, len);
    b->len += len;
    return 0;
}

static void fuzz_ask(const seen_filter *f, const seen_key *keys, bool *found)
{
    char line[600];
    seen_stats st;
    seen_has_many(f, keys, FUZZ_KEYS, found);
    for (int i = 0; i < FUZZ_KEYS; i++)
        if (found[i] != seen_has(f, keys[i].data, keys[i].len))
            abort();
    seen_get_stats(f, &st);
    seen_describe(f, line, sizeof line);
}

/* Adds keys; those must be in, and still be in what was written and read again. */
static void fuzz_change(seen_filter *f, const char *format, const seen_params *params,
                        const seen_key *keys)
{
    bool dup[FUZZ_KEYS], found[FUZZ_KEYS], again[FUZZ_KEYS];
    seen_filter *g;
    size_t taken;
    seen_add_many(f, keys, FUZZ_KEYS, dup, &taken);
    fuzz_ask(f, keys, found);
    for (size_t i = 0; i < taken; i++)
        if (!found[i] && (keys[i].len || strcmp(format, "scrapy-redis")))
            abort();
    seen_remove(f, keys[0].data, keys[0].len);
    seen_has_many(f, keys, FUZZ_KEYS, found);
    fuzz_bytes b = {0};
    if (seen_write(f, fuzz_put, &b) == 0) {
        uint8_t none[1];
        if (seen_open_foreign_bytes(b.p ? b.p : none, b.len, format, params, 0, &g) < 0)
            abort();
        fuzz_ask(g, keys, again);
        if (memcmp(found, again, sizeof found))
            abort();
        seen_free(g);
    }
    free(b.p);
}

static void fuzz_format(const char *format, const seen_params *params,
                        const uint8_t *data, size_t len)
{
    static const char text[] =
        "0123456789 12 -7 4294967295 \xc3\xa4\xed\xa0\x80 abcdefghijkl";
    seen_key keys[FUZZ_KEYS];
    bool found[FUZZ_KEYS], again[FUZZ_KEYS];
    seen_filter *f, *g;
    for (size_t i = 0; i < FUZZ_KEYS; i++)
        keys[i] = (seen_key){text + i, i % 7 * (i % 3)};
    /* A copy of exactly this length, so that every byte too many is noticed. */
    uint8_t *p = malloc(len ? len : 1);
    if (len)
        memcpy(p, data, len);
    seen_recognise(p, len);
    if (seen_open_foreign_bytes(p, len, format, params, SEEN_READ, &f) == 0) {
        fuzz_ask(f, keys, found);
        seen_add(f, "x", 1);
        if (seen_copy(f, &g) == 0) {
            fuzz_ask(g, keys, again);
            if (memcmp(found, again, sizeof found))
                abort();
            seen_free(g);
        }
        if (seen_convert(f, "native", &g) == 0)
            seen_free(g);
        seen_free(f);
    }
    if (seen_open_foreign_bytes(p, len, format, params, SEEN_LOAD, &f) == 0) {
        fuzz_change(f, format, params, keys);
        seen_clear(f);
        seen_free(f);
    }
    free(p);
}

/* A target whose bytes say everything; the first byte picks the type of the keys. */
#define FUZZ_FORMAT(...)                                                               \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                      \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                       \
    {                                                                                  \
        static const char *const names[] = {__VA_ARGS__};                              \
        static const char *const types[] = {NULL,    "utf8",  "utf16", "int32",        \
                                            "int64", "float", "double"};               \
        if (size < 1)                                                                  \
            return 0;                                                                  \
        seen_params params = {.type = types[data[0] % 7]};                             \
        const char *name = names[data[0] / 7 % (sizeof names / sizeof *names)];        \
        if (data[0] >= 0xf0)                                                           \
            params.probes = data[0] - 0xf0 + 1u;                                       \
        fuzz_format(name, &params, data + 1, size - 1);                                \
        return 0;                                                                      \
    }

/* A target whose numbers come from outside: the first 24 bytes are those. */
#define FUZZ_RAW(...)                                                                  \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                      \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                       \
    {                                                                                  \
        static const char *const names[] = {__VA_ARGS__};                              \
        uint32_t seeds[4];                                                             \
        if (size < 24)                                                                 \
            return 0;                                                                  \
        seen_params params = {.bits = sn_le32(data) & 0xffff,                          \
                              .probes = data[4] % 18,                                  \
                              .keys = sn_le32(data + 8) & 0x3fff,                      \
                              .error = data[12] / 256.0,                               \
                              .flags = data[13] & 7};                                  \
        for (uint32_t i = 0; i < 4; i++)                                               \
            seeds[i] = sn_le32(data + 16) + i * data[14];                              \
        if (data[15] & 1) {                                                            \
            params.seeds = seeds;                                                      \
            params.seeds_n = data[15] / 2 % 5;                                         \
        }                                                                              \
        if (data[4] == 255)                                                            \
            params.probes = sn_le32(data + 20);                                        \
        const char *name = names[data[5] % (sizeof names / sizeof *names)];            \
        if (!params.bits && !strcmp(name, "scrapy-redis"))                             \
            return 0; /* its own size, 128 MiB, is no business of a fuzzer */          \
        fuzz_format(name, &params, data + 24, size - 24);                              \
        return 0;                                                                      \
    }

#endif
