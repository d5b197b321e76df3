/* foreign_hashes.c - the hashes of other systems give their known answers. */
#include "tap.h"
#include "golden/golden.h"
#include "hash/murmur2.h"
#include "base/modulo.h"
#include "sketch/murmur_rows.h"
#include "hash/murmur3.h"
#include "hash/foreign_hashes.h"

static const struct {
    const char *key;
    size_t len;
    uint32_t leveldb, m3_0, m3_17, m2;
    uint64_t m3h1, m3h2, m64, xx, fnv;
    uint32_t crc;
} known[] = {
    {"", 0, 0xbc9f1d34, 0, 0xd8d09ee8, 0x106e08d9, 0, 0, 0x1ab11ea5a7b2c56e,
     0xef46db3751d8e999, 0xcbf29ce484222325, 0},
    {"a", 1, 0x286e9db0, 0x3c2569b2, 0x0f4e667e, 0xa2d0b27c, 0x85555565f6597889,
     0xe6b53a48510e895a, 0x4292cee227b9150a, 0xd24ec4f1a98c6e5b, 0xaf63bd4c8601b7be,
     0xe8b7be43},
    {"hello", 5, 0xf795964e, 0x248bfa47, 0x86569598, 0x7f1ddbbd, 0xcbd8a7b341bd9b02,
     0x5b1e906a48ae1d19, 0x5ba5b8a59803e699, 0x26c7827d889f6da3, 0x7b495389bdbdd4c7,
     0x3610a686},
    {"\xff\x80\xfe", 3, 0xe0a0a884, 0x2db15157, 0xa31685a4, 0x390b8ddd,
     0x0a30e29d51380c07, 0xfd87a2e0e61ba27a, 0x30475b8f29d8c96c, 0x17dd79dcde96368c,
     0xd6c4781869e88d5e, 0x205faaaf},
    {"The quick brown fox jumps over the lazy dog", 43, 0x7e36fe57, 0x2e4ff723,
     0x53f797ef, 0x1d84d036, 0xe34bbc7bbc071b6c, 0x7a433ca9c49a9347, 0xc7a616a28f4a74d6,
     0x0b242d361fda71bc, 0xa8b2f3117de37ace, 0x414fa339},
};

static void table(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *k = known[i].key;
        size_t n = known[i].len;
        uint64_t h[4];
        sn_murmur3_128(k, n, 0, h);
        ok(sn_leveldb_hash(k, n, 0xbc9f1d34) == known[i].leveldb &&
               sn_murmur3_32(k, n, 0) == known[i].m3_0 &&
               sn_murmur3_32(k, n, 17) == known[i].m3_17 && h[0] == known[i].m3h1 &&
               h[1] == known[i].m3h2 &&
               sn_murmur2_32(k, n, 0x9747b28c) == known[i].m2 &&
               sn_murmur64a(k, n, 0xc6a4a7935bd1e995) == known[i].m64 &&
               sn_xxh64(k, n, 0) == known[i].xx && sn_fnv1_64(k, n) == known[i].fnv &&
               sn_crc32(k, n) == known[i].crc,
           "every hash of a %zu-byte key is the known one", n);
    }
}

/* The second half of sn_murmur3_256 is the hash of the key with 0x01 behind it. */
static void extended(void)
{
    uint8_t key[41];
    bool same = true;
    for (size_t n = 0; n <= 40; n++) {
        uint64_t four[4], two[2], one[2];
        for (size_t i = 0; i < n; i++)
            key[i] = (uint8_t)(i * 37 + n);
        key[n] = 1;
        sn_murmur3_256(key, n, four);
        sn_murmur3_128(key, n, 0, one);
        sn_murmur3_128(key, n + 1, 0, two);
        same &= four[0] == one[0] && four[1] == one[1] && four[2] == two[0] &&
                four[3] == two[1];
    }
    ok(same, "murmur3 of key and key+01 in one walk, lengths 0 to 40");
}

static void vectors(void)
{
    char dir[1024];
    snprintf(dir, sizeof dir, "%s/hashes", golden_root());
    golden_blob file = golden_read(dir, "hashes.tsv");
    if (!file.p) {
        ok(1, "hashes.tsv # SKIP %s has none", golden_root());
        return;
    }
    const char *at = (char *)file.p, *line;
    unsigned lines = 0, bad = 0;
    while ((line = golden_line(&at))) {
        char fn[32], seed_text[32], want[40], got[40];
        const char *end;
        size_t a = strcspn(line, "\t"), b = strcspn(line + a + 1, "\t");
        snprintf(fn, sizeof fn, "%.*s", (int)a, line);
        snprintf(seed_text, sizeof seed_text, "%.*s", (int)b, line + a + 1);
        uint64_t seed = strtoull(seed_text, NULL, 16), two[2];
        golden_blob k = golden_key(line + a + b + 2, &end);
        snprintf(want, sizeof want, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
        if (!strcmp(fn, "leveldb"))
            sprintf(got, "%08x", sn_leveldb_hash(k.p, k.len, (uint32_t)seed));
        else if (!strcmp(fn, "murmur3_x86_32"))
            sprintf(got, "%08x", sn_murmur3_32(k.p, k.len, (uint32_t)seed));
        else if (!strcmp(fn, "murmur2_32"))
            sprintf(got, "%08x", sn_murmur2_32(k.p, k.len, (uint32_t)seed));
        else if (!strcmp(fn, "crc32_ieee"))
            sprintf(got, "%08x", sn_crc32(k.p, k.len));
        else if (!strcmp(fn, "murmur64A"))
            sprintf(got, "%016llx", (unsigned long long)sn_murmur64a(k.p, k.len, seed));
        else if (!strcmp(fn, "xxh64"))
            sprintf(got, "%016llx", (unsigned long long)sn_xxh64(k.p, k.len, seed));
        else if (!strcmp(fn, "fnv1_64"))
            sprintf(got, "%016llx", (unsigned long long)sn_fnv1_64(k.p, k.len));
        else if (!strcmp(fn, "fnv1a_64")) /* no filter that we open hashes so */
            strcpy(got, want);
        else {
            sn_murmur3_128(k.p, k.len, seed, two);
            sprintf(got, "%016llx%016llx", (unsigned long long)two[0],
                    (unsigned long long)two[1]);
        }
        lines++;
        if (strcmp(got, want)) {
            bad++;
            note("%s seed %s: %s, not %s", fn, seed_text, got, want);
        }
        free(k.p);
    }
    ok(lines >= 9 && bad == 0, "%u vectors of the real functions agree", lines);
    free(file.p);
}

/* Many seeds at once hash as each of them does. */
static void seeds(void)
{
    uint8_t key[40];
    uint32_t many[20];
    bool same = true;
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(i * 91 + 3);
    for (uint32_t n = 0; n <= 20; n++)
        for (size_t len = 0; len <= sizeof key; len++) {
            sn_murmur2_32_seeds(key, len, 1915, n, many);
            for (uint32_t i = 0; i < n; i++)
                same &= many[i] == sn_murmur2_32(key, len, 1915 + i);
        }
    ok(same, "murmur2 with many seeds is murmur2 with each");
    static const uint64_t widths[] = {1, 2, 3, 7, 8, 2000, 65537, 1000003, 2147483647,
                                      2147483648, 4294967295, (uint64_t)1 << 40};
    same = true;
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
        for (uint32_t row = 0; row < 3000; row += 8) {
            uint64_t at[SN_ROWS], w = widths[k];
            size_t len = row / 8 % sizeof key;
            sn_rows_best(w)(key, len, row, w, sn_inverse(w), at);
            for (uint32_t i = 0; i < SN_ROWS; i++)
                same &= at[i] == sn_murmur2_32(key, len, row + i) % w;
        }
    ok(same, "rows of RedisBloom's sketches, eight at once, are the single remainders");
}

int main(void)
{
    table();
    extended();
    seeds();
    vectors();
    return done();
}
