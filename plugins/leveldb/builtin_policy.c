/* builtin_policy.c - a filter policy that writes LevelDB's builtin encoding.
 *
 * The library knows the format (it reads it from table files); this file only passes it
 * on block by block. If memory runs out, the filter's last byte is one that the format
 * reserves: every reader then answers "maybe". */
#include "seen_leveldb.h"

#include <seen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct bytes {
    char *at;
    size_t len;
} bytes;

static int append(void *ctx, const void *p, size_t len)
{
    bytes *b = ctx;
    char *more = realloc(b->at, b->len + len);
    if (!more)
        return SEEN_ENOMEM;
    memcpy(more + b->len, p, len);
    b->at = more;
    b->len += len;
    return 0;
}

/* One filter for N keys; false if there was not enough memory. */
static bool encode(unsigned bits, const char *const *keys, const size_t *lens, size_t n,
                   bytes *out)
{
    seen_params params = {.keys = n, .bits_per_key = bits};
    seen_key *all = malloc(n * sizeof *all);
    seen_filter *f = NULL;
    bool done = false;
    if (bits == 0) { /* the builtin accepts 0, too */
        params.bits = 64;
        params.probes = 1;
    }
    if (all && seen_new_foreign("leveldb", &params, &f) == 0) {
        for (size_t i = 0; i < n; i++)
            all[i] = (seen_key){keys[i], lens[i]};
        done = seen_add_many(f, all, n, NULL, NULL) == 0 &&
               seen_write(f, append, out) == 0;
    }
    seen_free(f);
    free(all);
    return done;
}

static char *builtin_create(void *state, const char *const *keys, const size_t *lens,
                            int n, size_t *out_len)
{
    bytes out = {NULL, 0};
    if (!encode(*(const unsigned *)state, keys, lens, (size_t)n, &out)) {
        free(out.at);
        while (!(out.at = malloc(2)))
            usleep(1000);
        memcpy(out.at, "\0\xff", 2);
        out.len = 2;
    }
    *out_len = out.len;
    return out.at;
}

static uint8_t builtin_match(void *state, const char *key, size_t len,
                             const char *filter, size_t filter_len)
{
    (void)state;
    return seen_leveldb_match(filter, filter_len, key, len);
}

static const char *builtin_name(void *state)
{
    (void)state;
    return "leveldb.BuiltinBloomFilter2";
}

leveldb_filterpolicy_t *seen_leveldb_policy_builtin(int bits_per_key)
{
    unsigned *bits = malloc(sizeof *bits);
    if (!bits)
        return NULL;
    *bits = bits_per_key < 0 ? 0 : (unsigned)bits_per_key;
    return leveldb_filterpolicy_create(bits, free, builtin_create, builtin_match,
                                       builtin_name);
}
