/* counted_reads.h - a LevelDB database whose file reads are counted.
 *
 * LevelDB maps its tables by default and is then read without any call; here the
 * number of mapped files is set to 0, so that every block costs one pread, and this
 * file brings the pread that counts. No block cache, no compression: what is
 * counted is what the filter let through. */
#ifndef COUNTED_READS_H
#define COUNTED_READS_H
#include <endian.h>
#include <leveldb/c.h>
#include <seen.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint64_t reads_counted;

/* By its bare name: with 64-bit offsets the header would call it pread64. */
ssize_t counting_pread(int fd, void *buf, size_t n, long at) __asm__("pread");
__attribute__((visibility("default"))) ssize_t counting_pread(int fd, void *buf,
                                                              size_t n, long at)
{
    reads_counted++;
    return syscall(SYS_pread64, fd, buf, n, at);
}

/* C++'s leveldb::EnvPosixTestHelper::SetReadOnlyMMapLimit(int), once, before the
 * first database is opened. */
void set_mmap_limit(int) __asm__(
    "_ZN7leveldb18EnvPosixTestHelper20SetReadOnlyMMapLimitEi");

/* 0: LevelDB's own. With room for all keys, tables are written by compactions only,
 * and the same keys give the same tables however slow the machine. */
static size_t store_buffer;

typedef struct store {
    leveldb_options_t *options;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *policy; /* owned */
    leveldb_readoptions_t *get;
    leveldb_writeoptions_t *put;
    leveldb_t *db;
} store;

static void die_if(char *err, const char *what)
{
    if (!err)
        return;
    fprintf(stderr, "%s: %s\n", what, err);
    exit(2);
}

/* Opens (or makes) the database at PATH with POLICY, which may be NULL. */
__attribute__((unused)) static void store_open(store *s, const char *path,
                                               leveldb_filterpolicy_t *policy)
{
    char *err = NULL;
    memset(s, 0, sizeof *s);
    s->options = leveldb_options_create();
    s->cache = leveldb_cache_create_lru(0);
    s->policy = policy;
    s->get = leveldb_readoptions_create();
    s->put = leveldb_writeoptions_create();
    leveldb_options_set_create_if_missing(s->options, 1);
    leveldb_options_set_compression(s->options, leveldb_no_compression);
    leveldb_options_set_cache(s->options, s->cache);
    if (store_buffer)
        leveldb_options_set_write_buffer_size(s->options, store_buffer);
    if (policy)
        leveldb_options_set_filter_policy(s->options, policy);
    s->db = leveldb_open(s->options, path, &err);
    die_if(err, path);
}

__attribute__((unused)) static void store_close(store *s)
{
    leveldb_close(s->db);
    leveldb_writeoptions_destroy(s->put);
    leveldb_readoptions_destroy(s->get);
    if (s->policy)
        leveldb_filterpolicy_destroy(s->policy);
    leveldb_cache_destroy(s->cache);
    leveldb_options_destroy(s->options);
}

/* What keys look like; the names are for tables. */
enum {
    SHAPE_DECIMAL,
    SHAPE_HASHED,
    SHAPE_BIG_ENDIAN,
    SHAPE_LITTLE_ENDIAN,
    SHAPE_DATE,
    SHAPE_URL,
    SHAPE_RANDOM,
    SHAPES
};
__attribute__((unused)) static const char *const shape_name[SHAPES] = {
    "user%012d",           "hashed hex",
    "8 bytes, big-endian", "8 bytes, little-endian",
    "date and number",     "URL with number",
    "16 random bytes"};

/* Key number I of SHAPE. */
__attribute__((unused)) static size_t make_key(char key[64], uint64_t i, int shape)
{
    unsigned long long n = i;
    uint64_t word = shape == SHAPE_BIG_ENDIAN ? htobe64(i) : htole64(i);
    switch (shape) {
    case SHAPE_HASHED:
        return (size_t)sprintf(key, "%016llx",
                               (unsigned long long)seen_hash_seeded(7, &i, sizeof i));
    case SHAPE_BIG_ENDIAN:
    case SHAPE_LITTLE_ENDIAN:
        memcpy(key, &word, 8);
        return 8;
    case SHAPE_DATE:
        return (size_t)sprintf(key, "2026-%02llu-%02llu/%06llu", n / 40000 % 12 + 1,
                               n / 1000 % 28 + 1, n);
    case SHAPE_URL:
        return (size_t)sprintf(key, "https://example.com/item/%llu?lang=en", n);
    case SHAPE_RANDOM:
        word = seen_hash_seeded(8, &i, sizeof i);
        memcpy(key, &word, 8);
        word = seen_hash_seeded(9, &i, sizeof i);
        memcpy(key + 8, &word, 8);
        return 16;
    default:
        return (size_t)sprintf(key, "user%012llu", n);
    }
}

/* Puts keys FROM, FROM + 2, ... N of them, with values of 100 bytes. */
__attribute__((unused)) static void store_fill(store *s, uint64_t from, uint64_t n,
                                               int shape)
{
    char key[64], value[100], *err = NULL;
    memset(value, 'v', sizeof value);
    for (uint64_t i = 0; i < n; i++) {
        size_t len = make_key(key, from + 2 * i, shape);
        memcpy(value, key, len);
        leveldb_put(s->db, s->put, key, len, value, sizeof value, &err);
        die_if(err, "put");
    }
}

/* Gets keys FROM, FROM + 2, ...: N of them spread over the first SPAN. Returns how
 * many were found; *READS is what they cost. Every table is opened before. */
__attribute__((unused)) static uint64_t store_ask(store *s, uint64_t from, uint64_t n,
                                                  uint64_t span, int shape,
                                                  uint64_t *reads)
{
    char key[64], *err = NULL;
    uint64_t found = 0, step = span / n ? span / n : 1, before = 0;
    for (int round = 0; round < 2; round++) {
        before = reads_counted;
        found = 0;
        for (uint64_t i = 0; i < n; i++) {
            size_t vlen, len = make_key(key, from + 2 * (i * step % span), shape);
            char *v = leveldb_get(s->db, s->get, key, len, &vlen, &err);
            die_if(err, "get");
            found += v && vlen == 100 && !memcmp(v, key, len);
            leveldb_free(v);
        }
    }
    *reads = reads_counted - before;
    return found;
}

/* The bytes of all table files, by their names. */
__attribute__((unused)) static long store_bytes(const char *path)
{
    char cmd[400];
    long bytes = -1;
    snprintf(cmd, sizeof cmd, "cat '%s'/*.ldb | wc -c", path);
    FILE *p = popen(cmd, "r");
    if (p && fscanf(p, "%ld", &bytes) != 1)
        bytes = -1;
    if (p)
        pclose(p);
    return bytes;
}
#endif
