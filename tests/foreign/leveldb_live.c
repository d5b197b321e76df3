/* leveldb_live.c - a real LevelDB with our filter bytes under the builtin's name.
 *
 *     leveldb_live ours|theirs write DIR N    a database of N keys, compacted
 *     leveldb_live ours|theirs read DIR N     all keys there? absent ones not?
 *
 * "ours" gives LevelDB a policy whose filters are made and asked by libseen; "theirs"
 * is the builtin. Prints what was found. */
#include "seen.h"
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long asked, refused;

static void no_destroy(void *state) {}

static const char *name(void *state)
{
    return "leveldb.BuiltinBloomFilter2";
}

typedef struct bytes {
    char *p;
    size_t len;
} bytes;

static int collect(void *ctx, const void *p, size_t len)
{
    bytes *b = ctx;
    b->p = realloc(b->p, b->len + len);
    memcpy(b->p + b->len, p, len);
    b->len += len;
    return 0;
}

static char *create(void *state, const char *const *keys, const size_t *lens, int n,
                    size_t *len)
{
    seen_params p = {.keys = (uint64_t)n, .bits_per_key = 10};
    seen_filter *f;
    bytes b = {0};
    if (seen_new_foreign("leveldb", &p, &f) < 0)
        exit(3);
    for (int i = 0; i < n; i++)
        seen_add(f, keys[i], lens[i]);
    seen_write(f, collect, &b);
    seen_free(f);
    *len = b.len;
    return b.p;
}

static unsigned char match(void *state, const char *key, size_t klen,
                           const char *filter, size_t len)
{
    seen_filter *f;
    if (seen_open_foreign_bytes(filter, len, "leveldb", NULL, SEEN_READ, &f) < 0)
        exit(3);
    bool yes = seen_has(f, key, klen);
    seen_free(f);
    asked++;
    refused += !yes;
    return yes;
}

static void check(char *err)
{
    if (err) {
        fprintf(stderr, "%s\n", err);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    int n = atoi(argv[4]);
    bool ours = !strcmp(argv[1], "ours");
    char *err = NULL;
    leveldb_options_t *o = leveldb_options_create();
    leveldb_filterpolicy_t *policy =
        ours ? leveldb_filterpolicy_create(NULL, no_destroy, create, match, name)
             : leveldb_filterpolicy_create_bloom(10);
    leveldb_options_set_filter_policy(o, policy);
    leveldb_options_set_create_if_missing(o, 1);
    leveldb_t *db = leveldb_open(o, argv[3], &err);
    check(err);
    char key[64], value[64];
    if (!strcmp(argv[2], "write")) {
        leveldb_writeoptions_t *w = leveldb_writeoptions_create();
        for (int i = 0; i < n; i++) {
            int k =
                snprintf(key, sizeof key, "https://example.org/%d", i * 7919 % 1000003);
            int v = snprintf(value, sizeof value, "value of number %d", i);
            leveldb_put(db, w, key, (size_t)k, value, (size_t)v, &err);
            check(err);
        }
        leveldb_writeoptions_destroy(w);
        leveldb_compact_range(db, NULL, 0, NULL, 0);
    } else {
        leveldb_readoptions_t *r = leveldb_readoptions_create();
        int there = 0, absent = 0;
        for (int i = 0; i < 2 * n; i++) {
            size_t len;
            int k =
                snprintf(key, sizeof key,
                         i < n ? "https://example.org/%d" : "https://example.org/%d/no",
                         i % n * 7919 % 1000003);
            char *v = leveldb_get(db, r, key, (size_t)k, &len, &err);
            check(err);
            if (i < n)
                there += v != NULL;
            else
                absent += v == NULL;
            free(v);
        }
        printf("%d there, %d absent, %s\n", there, absent,
               !ours                                 ? "by the builtin"
               : refused > (unsigned long)n * 9 / 10 ? "filter asked and refusing"
                                                     : "filter of little use");
        leveldb_readoptions_destroy(r);
    }
    leveldb_close(db);
    leveldb_options_destroy(o);
    leveldb_filterpolicy_destroy(policy);
    return 0;
}
