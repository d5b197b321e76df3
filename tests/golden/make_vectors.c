/* make_vectors.c - writes the small vectors of tests/golden with this library.
 *
 * They are worth something because foreign_golden.t compares this library with the real
 * ones where their vectors are at hand. To make them anew, from the top of the tree:
 *
 *     make && cc -Iinclude -o build/make_vectors tests/golden/make_vectors.c \
 *         build/libseen.a -lm -lpthread && build/make_vectors tests/golden
 */
#include "seen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const uint32_t primes[] = {2, 3, 5, 7};

static const struct {
    const char *folder, *format, *json;
    seen_params params;
    int keys;
    int numbers; /* keys are integers */
} all[] = {
    {"bits-and-blooms/est",
     "bits-and-blooms",
     "\"format\": \"bits-and-blooms\", \"m\": 480, \"k\": 7",
     {.bits = 480, .probes = 7},
     50,
     0},
    {"dcso/n50",
     "dcso",
     "\"format\": \"dcso-v1\", \"n\": 50, \"p\": 0.02",
     {.keys = 50, .error = 0.02},
     50,
     0},
    {"go-crc32-shift16/n50",
     "crc32-shift",
     "\"format\": \"go-crc32-shift16\", \"n\": 50, \"p\": 0.05",
     {.keys = 50, .error = 0.05},
     50,
     0},
    {"go-fnv64-split/m400-k5",
     "fnv-split",
     "\"format\": \"go-fnv64-split\", \"m\": 400, \"k\": 5",
     {.bits = 400, .probes = 5},
     50,
     0},
    {"guava/int-64",
     "guava",
     "\"format\": \"guava\", \"funnel\": \"int\", \"strategy_byte\": 1, "
     "\"expected_insertions\": 50, \"fpp\": 0.05",
     {.keys = 50, .error = 0.05, .type = "int32"},
     50,
     1},
    {"guava/chars-64",
     "guava",
     "\"format\": \"guava\", \"funnel\": \"chars\", \"strategy_byte\": 1, "
     "\"expected_insertions\": 50, \"fpp\": 0.05",
     {.keys = 50, .error = 0.05, .type = "utf16"},
     50,
     0},
    {"guava/bytes-32",
     "guava-32",
     "\"format\": \"guava\", \"funnel\": \"bytes\", \"strategy_byte\": 0, "
     "\"expected_insertions\": 50, \"fpp\": 0.05",
     {.keys = 50, .error = 0.05},
     50,
     0},
    {"leveldb/b10",
     "leveldb",
     "\"format\": \"leveldb\", \"bits_per_key\": 10",
     {.keys = 50, .bits_per_key = 10},
     50,
     0},
    {"libbloom/v1",
     "libbloom1",
     "\"format\": \"libbloom\", \"version\": 1, \"entries\": 1000, \"error\": 0.3",
     {.keys = 1000, .error = 0.3},
     200,
     0},
    {"libbloom/v2",
     "libbloom",
     "\"format\": \"libbloom\", \"version\": 2, \"entries\": 1000, \"error\": 0.3",
     {.keys = 1000, .error = 0.3},
     200,
     0},
    {"parquet/bytes-3blocks",
     "parquet",
     "\"format\": \"parquet-sbbf\", \"physical_type\": \"bytes\", \"bitset_bytes\": 96",
     {.bits = 768},
     60,
     0},
    {"parquet/int64-64",
     "parquet",
     "\"format\": \"parquet-sbbf\", \"physical_type\": \"int64\", \"bitset_bytes\": 64",
     {.bits = 512, .type = "int64"},
     50,
     1},
    {"py-mmh3-seed17/n50",
     "mmh3-17",
     "\"format\": \"py-mmh3-seed17\", \"n\": 50, \"p\": 0.05",
     {.keys = 50, .error = 0.05},
     50,
     0},
    {"redis-setbit-mmh3/m500",
     "redis-bitmap",
     "\"format\": \"redis-setbit-mmh3\", \"m\": 500, \"seeds\": [2, 3, 5, 7]",
     {.bits = 500, .seeds = primes, .seeds_n = 4},
     50,
     0},
    {"scrapy-redis-bloomfilter/bit9",
     "scrapy-redis",
     "\"format\": \"scrapy-redis-bloomfilter\", \"m\": 512, \"hash_number\": 4",
     {.bits = 512, .probes = 4},
     50,
     0},
    {"redisbloom/scale-x2",
     "redisbloom",
     "\"format\": \"redisbloom-scandump\", \"first_link_requested_entries\": 50, "
     "\"first_link_error\": 0.025, \"options\": 5, \"growth\": 2",
     {.keys = 50, .error = 0.05, .expansion = 2},
     120,
     0},
};

static FILE *create(const char *dir, const char *name)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(1);
    }
    return f;
}

/* Key I of a set, and its token. */
static size_t key(char *text, char *token, int i, int numbers, const char *set)
{
    size_t n;
    if (numbers) {
        n = (size_t)sprintf(text, "%lld",
                            ((long long)i - 20) * 7919 * (*set == 'm' ? 1 : 3) +
                                (*set == 'p'));
        sprintf(token, "i:%s", text);
        return n;
    }
    n = (size_t)sprintf(text, i % 3 ? "%s-%d" : "https://example.org/%s/\xc3\xa4/%d",
                        set, i);
    n = i == 5 && *set == 'm' ? 1 : n;
    token += sprintf(token, "t:");
    for (size_t j = 0; j < n; j++)
        token += sprintf(token, "%02x", (unsigned char)text[j]);
    return n;
}

int main(int argc, char **argv)
{
    const char *root = argc > 1 ? argv[1] : "tests/golden";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char dir[600], text[200], token[500], path[700];
        seen_filter *f;
        snprintf(dir, sizeof dir, "%s/%s", root, all[i].folder);
        *strrchr(dir, '/') = 0;
        mkdir(dir, 0777);
        dir[strlen(dir)] = '/';
        mkdir(dir, 0777);
        if (seen_new_foreign(all[i].format, &all[i].params, &f) < 0) {
            fprintf(stderr, "%s: %s\n", dir, seen_reason());
            return 1;
        }
        FILE *params = create(dir, "params.json"), *keys = create(dir, "keys.tsv");
        FILE *probes = create(dir, "probes.tsv");
        fprintf(params, "{%s, \"keys\": %d}\n", all[i].json, all[i].keys);
        for (int j = 0; j < all[i].keys; j++) {
            size_t n = key(text, token, j, all[i].numbers, "member");
            if (seen_add(f, text, n) < 0)
                fprintf(stderr, "%s: %s\n", dir, seen_reason());
            fprintf(keys, "%s\n", token);
        }
        for (int j = 0; j < 60; j++) {
            size_t n = key(text, token, j, all[i].numbers, "probe");
            fprintf(probes, "%s\t%d\n", token, seen_has(f, text, n));
        }
        fclose(params), fclose(keys), fclose(probes);
        snprintf(path, sizeof path, "%s/filter.bin", dir);
        if (seen_save(f, path) < 0) {
            fprintf(stderr, "%s\n", seen_reason());
            return 1;
        }
        seen_free(f);
    }
    return 0;
}
