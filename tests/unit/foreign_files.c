/* foreign_files.c - other systems' filters as files: mapped, changed in place, loaded,
 * saved; types of keys; and every wrong header named by its field. */
#include "tap.h"
#include "golden/golden.h"
#include "base/bytes.h"
#include "foreign/keytype.h"
#include "base/modulo.h"
#include "foreign/snappy.h"
#include "hash/murmur3.h"
#include "seen.h"
#include <math.h>
#include <unistd.h>

static char dir[] = "/tmp/seen-foreign-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[4][200];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", dir, name);
    return p;
}

static seen_filter *make(const char *format, seen_params p)
{
    seen_filter *f = NULL;
    if (seen_new_foreign(format, &p, &f) < 0)
        note("%s: %s", format, seen_reason());
    return f;
}

static void in_place(void)
{
    seen_filter *f = make("dcso", (seen_params){.keys = 100, .error = 0.01});
    const char *path = path_of("dcso");
    ok(seen_kind_of(f) == SEEN_FOREIGN, "its kind is foreign");
    ok(seen_add_str(f, "one") == SEEN_NEW && seen_save(f, path) == 0, "saved");
    seen_free(f);
    ok(seen_open_foreign(path, NULL, NULL, SEEN_READ, &f) == 0 &&
           seen_has_str(f, "one"),
       "mapped and recognised");
    ok(seen_add_str(f, "two") == SEEN_EREADONLY, "read-only takes no keys");
    seen_stats st;
    seen_get_stats(f, &st);
    ok(st.mapped && !st.writable && st.kind == SEEN_FOREIGN && st.added == 1 &&
           st.capacity == 100,
       "its header is read: 1 of 100 keys");
    seen_free(f);
    ok(seen_open_foreign(path, "dcso", NULL, SEEN_WRITE, &f) == 0 &&
           seen_add_str(f, "two") == SEEN_NEW && seen_add_str(f, "two") == SEEN_DUP,
       "added to in place");
    ok(seen_flush(f) == 0, "flushed");
    seen_free(f);
    seen_open_foreign(path, NULL, NULL, SEEN_LOAD, &f);
    ok(seen_has_str(f, "two") && seen_added(f) == 2, "the file has bit and count");
    ok(seen_clear(f) == 0 && !seen_has_str(f, "two") && seen_added(f) == 0, "cleared");
    seen_free(f);
    ok(seen_open_foreign(path_of("none"), NULL, NULL, 0, &f) == SEEN_EIO &&
           strstr(seen_reason(), "none"),
       "a missing file: %s", seen_reason());
    ok(seen_open_foreign(dir, NULL, NULL, 0, &f) == SEEN_EIO, "a folder: %s",
       seen_reason());
}

/* What would lengthen a mapped file is refused, and works when loaded. */
static void growth(void)
{
    const char *path = path_of("bf");
    seen_filter *f = make("redisbloom", (seen_params){.keys = 10, .error = 0.01});
    seen_save(f, path);
    seen_free(f);
    int rc = seen_open_foreign(path, NULL, NULL, SEEN_WRITE, &f), n = 0;
    for (; rc >= 0 && n < 50; n++)
        rc = seen_add_u64(f, (uint64_t)n);
    ok(rc == SEEN_EFULL && n == 11, "a mapped chain takes its 10 keys, then: %s",
       seen_reason());
    seen_free(f);
    rc = seen_open_foreign(path, NULL, NULL, SEEN_LOAD, &f);
    for (n = 0; rc >= 0 && n < 50; n++)
        rc = seen_add_u64(f, (uint64_t)n);
    seen_stats st;
    seen_get_stats(f, &st);
    /* so small a chain calls about one key in 80 old: 0.6 of 50, six sigma are 5 */
    ok(rc >= 0 && st.added >= 44 && st.layers == 3,
       "loaded it keeps the 10 and grows: %llu keys in %u layers",
       (unsigned long long)st.added, st.layers);
    seen_save(f, path);
    seen_free(f);
    rc = seen_open_foreign(path, NULL, NULL, SEEN_READ, &f);
    unsigned lost = 0;
    for (n = 0; rc == 0 && n < 50; n++)
        lost += !seen_has_u64(f, (uint64_t)n);
    ok(rc == 0 && lost == 0, "and is found whole when saved");
    seen_free(f);

    path = path_of("cf");
    f = make("rediscuckoo", (seen_params){.keys = 8});
    seen_save(f, path);
    seen_free(f);
    ok(seen_open_foreign(path, NULL, NULL, SEEN_WRITE, &f) == SEEN_EKIND && !f,
       "a cuckoo filter is not written in place: %s", seen_reason());
    seen_open_foreign(path, NULL, NULL, SEEN_READ, &f);
    ok(seen_remove(f, "x", 1) == SEEN_EREADONLY, "and removes nothing there");
    seen_free(f);
    seen_open_foreign(path, NULL, NULL, SEEN_LOAD, &f);
    seen_add_str(f, "gone");
    ok(seen_remove(f, "gone", 4) == 1 && !seen_has_str(f, "gone"), "loaded it removes");
    seen_free(f);

    path = path_of("bitmap");
    uint32_t seeds[] = {1, 2, 3};
    seen_params p = {.bits = 1000, .seeds = seeds, .seeds_n = 3};
    f = make("redis-bitmap", p);
    ok(seen_save(f, path) == 0 && seen_bytes(f) == 0,
       "an empty Redis string is an empty file");
    seen_free(f);
    ok(seen_open_foreign(path, "redis-bitmap", &p, SEEN_WRITE, &f) == 0 &&
           seen_add_str(f, "a") == SEEN_EFULL,
       "which cannot grow in place");
    seen_free(f);
    ok(seen_open_foreign(path, "redis-bitmap", &p, SEEN_LOAD, &f) == 0 &&
           seen_add_str(f, "a") == SEEN_NEW && seen_has_str(f, "a") &&
           !seen_has_str(f, "b"),
       "but loaded");
    seen_free(f);

    path = path_of("json");
    f = make("bits-and-blooms-json", (seen_params){.bits = 100, .probes = 3});
    seen_save(f, path);
    seen_free(f);
    p = (seen_params){.probes = 4};
    ok(seen_open_foreign(path, NULL, &p, SEEN_LOAD, &f) == SEEN_EINVAL,
       "JSON that has another k than was said: %s", seen_reason());
    ok(seen_open_foreign(path, NULL, NULL, SEEN_LOAD, &f) == 0, "JSON is loaded");
    seen_free(f);
    ok(seen_open_foreign(path, NULL, NULL, SEEN_WRITE, &f) == SEEN_EKIND,
       "JSON is not written in place: %s", seen_reason());
}

static void parquet_groups(void)
{
    static const char file[] = "tests/golden/parquet/two-groups.parquet";
    seen_filter *f, *g;
    seen_params p = {.column = "id"};
    ok(seen_open_foreign(file, NULL, NULL, 0, &f) == SEEN_EINVAL &&
           strstr(seen_reason(), "id, a.b"),
       "two columns have filters: %s", seen_reason());
    ok(seen_open_foreign(file, NULL, &p, 0, &f) == 0, "one is named");
    unsigned lost = 0, wrong = 0;
    for (int i = 0; i < 1100; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        bool has = seen_has_str(f, text);
        lost += i < 100 && !has;
        wrong += i >= 100 && has;
    }
    /* 1.7% of 1000 expected; 6 sigma above is 4.2% */
    ok(lost == 0 && wrong < 42, "its integers are asked as text, in both row groups");
    ok(!seen_has_str(f, "no number"), "text that is not an integer is absent");
    ok(seen_convert(f, "parquet", &g) == SEEN_EKIND, "two filters are not one");
    seen_free(f);
    p.row_group = 2;
    ok(seen_open_foreign(file, NULL, &p, 0, &f) == 0 && seen_has_str(f, "77"),
       "one row group alone");
    ok(seen_convert(f, "parquet", &g) == 0 && seen_has_str(g, "77") &&
           !seen_has_str(g, "x"),
       "its filter taken out keeps the type");
    seen_filter *none;
    ok(seen_convert(f, "native", &none) == SEEN_EKIND,
       "integers do not become native: %s", seen_reason());
    seen_free(f);
    seen_free(g);
    p = (seen_params){.column = "x"};
    ok(seen_open_foreign(file, NULL, &p, 0, &f) == SEEN_EFORMAT &&
           strstr(seen_reason(), "no filter"),
       "a column without: %s", seen_reason());
    p = (seen_params){.row_group = 99};
    ok(seen_open_foreign(file, NULL, &p, 0, &f) == SEEN_EINVAL &&
           strstr(seen_reason(), "row group 99"),
       "a row group too far: %s", seen_reason());
    p = (seen_params){.column = "a.b"};
    ok(seen_open_foreign(file, "parquet-file", &p, 0, &f) == 0 &&
           seen_has_str(f, "t7") && seen_has_str(f, "u7"),
       "a nested column of text");
    seen_free(f);
}

/* ---- a Parquet file made by hand: footers as writers of other systems make them ----
 */

typedef struct blob {
    uint8_t p[8192];
    size_t n;
} blob;

static int blob_put(void *ctx, const void *p, size_t len)
{
    blob *b = ctx;
    memcpy(b->p + b->n, p, len);
    b->n += len;
    return 0;
}

static void put_bytes(blob *b, const char *hex)
{
    for (; *hex; hex += 2)
        b->p[b->n++] = (uint8_t)strtoul((char[3]){hex[0], hex[1], 0}, NULL, 16);
}

static void put_zigzag(blob *b, uint64_t x)
{
    for (x <<= 1; x >= 128; x >>= 7)
        b->p[b->n++] = (uint8_t)(x | 128);
    b->p[b->n++] = (uint8_t)x;
}

/* A column chunk whose path is PATH, of one or two names; OFFSET 0: no filter. */
static void put_column(blob *b, const char *const path[2], uint64_t offset)
{
    put_bytes(b, "3c150c29"); /* metadata: type BYTE_ARRAY, path */
    b->p[b->n++] = path[1] ? 0x28 : 0x18;
    for (int i = 0; i < 2 && path[i]; i++) {
        b->p[b->n++] = (uint8_t)strlen(path[i]);
        blob_put(b, path[i], strlen(path[i]));
    }
    if (offset) {
        put_bytes(b, "b6");
        put_zigzag(b, offset);
    }
    put_bytes(b, "0000");
}

/* Row groups of one column each; OFFSET[i] 0: no filter, ROWS[i] its rows. */
static void parquet_of(blob *b, const char *const *const *path, const uint64_t *offset,
                       const uint64_t *rows, size_t groups)
{
    seen_filter *f = make("parquet", (seen_params){.keys = 20, .error = 0.01});
    seen_add_str(f, "here");
    b->n = 0;
    put_bytes(b, "50415231"); /* PAR1 */
    seen_write(f, blob_put, b);
    seen_free(f);
    size_t footer = b->n;
    b->p[b->n++] = 0x49;
    b->p[b->n++] = (uint8_t)(groups << 4 | 0xc);
    for (size_t i = 0; i < groups; i++) {
        put_bytes(b, "191c");
        put_column(b, path[i], offset[i]);
        put_bytes(b, "26");
        put_zigzag(b, rows[i]);
        put_bytes(b, "00");
    }
    put_bytes(b, "00");
    uint32_t len = (uint32_t)(b->n - footer);
    for (int i = 0; i < 4; i++)
        b->p[b->n++] = (uint8_t)(len >> 8 * i);
    put_bytes(b, "50415231");
}

static void parquet_without_filters(void)
{
    static const char *const id[2] = {"id"}, *const nested[2] = {"a", "b"},
                            *const dotted[2] = {"a.b"};
    static blob b;
    seen_filter *f;
    seen_params p = {0};
    char line[300];
    parquet_of(&b, (const char *const *const[]){id, id}, (uint64_t[]){4, 0},
               (uint64_t[]){10, 10}, 2);
    ok(seen_open_foreign_bytes(b.p, b.n, NULL, &p, 0, &f) == 0 &&
           seen_has_str(f, "here") && seen_has_str(f, "in the other row group"),
       "a row group without a filter may hold any key");
    seen_describe(f, line, sizeof line);
    seen_stats st;
    seen_get_stats(f, &st);
    ok(strstr(line, "1 row group without a filter") && st.error_now == 1,
       "and the filter says so: %s", line);
    seen_filter *g;
    ok(seen_convert(f, "parquet", &g) == SEEN_EKIND,
       "it is not the filter of one group");
    seen_free(f);
    p.column = "id";
    ok(seen_open_foreign_bytes(b.p, b.n, NULL, &p, 0, &f) == 0 &&
           seen_has_str(f, "in the other row group"),
       "the same with the column named");
    seen_free(f);
    p.row_group = 1;
    ok(seen_open_foreign_bytes(b.p, b.n, NULL, &p, 0, &f) == 0 &&
           seen_has_str(f, "here") && !seen_has_str(f, "in the other row group"),
       "but the row group that has one answers for itself");
    seen_free(f);
    p.row_group = 2;
    ok(seen_open_foreign_bytes(b.p, b.n, NULL, &p, 0, &f) == SEEN_EFORMAT,
       "and the other has none: %s", seen_reason());
    parquet_of(&b, (const char *const *const[]){id, id}, (uint64_t[]){4, 0},
               (uint64_t[]){10, 0}, 2);
    p = (seen_params){0};
    ok(seen_open_foreign_bytes(b.p, b.n, NULL, &p, 0, &f) == 0 &&
           !seen_has_str(f, "nowhere"),
       "a row group without rows needs no filter");
    seen_free(f);
    parquet_of(&b, (const char *const *const[]){nested, dotted}, (uint64_t[]){4, 4},
               (uint64_t[]){0, 0}, 2);
    ok(seen_open_foreign_bytes(b.p, b.n, NULL, NULL, 0, &f) == SEEN_EINVAL &&
           strstr(seen_reason(), "a.b, a\\.b"),
       "a.b inside a and a column called a.b are two: %s", seen_reason());
    p.column = "a\\.b";
    ok(seen_open_foreign_bytes(b.p, b.n, NULL, &p, 0, &f) == 0, "each can be named");
    seen_free(f);
}

/* Parquet's withdrawn form, made here word by word as its description has it. */
static void withdrawn(void)
{
    static const uint32_t salt[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                     0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    uint8_t file[12 + 4 * 32] = {4 * 32};
    for (int i = 0; i < 20; i++) {
        char key[16];
        uint64_t h[2];
        int n = snprintf(key, sizeof key, "old %d", i);
        sn_murmur3_128(key, (size_t)n, 1361930890, h);
        uint8_t *block = file + 12 + 32 * (h[0] >> 32 & 3);
        for (int j = 0; j < 8; j++) {
            uint32_t word = sn_le32(block + 4 * j);
            sn_put32(block + 4 * j, word | 1u << ((uint32_t)h[0] * salt[j] >> 27));
        }
    }
    seen_filter *f;
    const seen_format *format = seen_recognise(file, sizeof file);
    ok(format && !strcmp(format->name, "parquet-v0") &&
           seen_open_foreign_bytes(file, sizeof file, NULL, NULL, 0, &f) == 0,
       "Parquet's withdrawn form is recognised");
    unsigned there = 0, wrong = 0;
    for (int i = 0; i < 220; i++) {
        char key[16];
        snprintf(key, sizeof key, "old %d", i);
        bool has = seen_has_str(f, key);
        there += i < 20 && has;
        wrong += i >= 20 && has;
    }
    ok(there == 20 && wrong < 5, "its keys are found, %u of 200 others", wrong);
    ok(seen_add_str(f, "x") == SEEN_EKIND, "and none is added: %s", seen_reason());
    seen_free(f);
}

/* ---- keys ----------------------------------------------------------------------- */

static bool turns(sn_keytype t, const char *text, size_t len, const char *want,
                  size_t n)
{
    uint8_t out[100];
    size_t got;
    return sn_keytype_convert(t, text, len, out, &got) == 0 && got == n &&
           !memcmp(out, want, n);
}

static void types(void)
{
    uint8_t out[100];
    size_t n;
    ok(turns(SN_KEY_INT32, "-2", 2, "\xfe\xff\xff\xff", 4) &&
           turns(SN_KEY_INT32, "4294967294", 10, "\xfe\xff\xff\xff", 4),
       "int32, also written unsigned");
    ok(turns(SN_KEY_INT64, "-9223372036854775808", 20, "\0\0\0\0\0\0\0\x80", 8),
       "int64");
    ok(turns(SN_KEY_DOUBLE, "1.5", 3, "\0\0\0\0\0\0\xf8\x3f", 8) &&
           turns(SN_KEY_FLOAT, "1.5", 3, "\0\0\xc0\x3f", 4),
       "double and float");
    static const char *const bad[] = {
        "",           "x",           "1x", "--1", "+",
        "4294967296", "-2147483649", "1 ", " 1",  "99999999999999999999999"};
    unsigned taken = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        taken += sn_keytype_convert(SN_KEY_INT32, bad[i], strlen(bad[i]), out, &n) == 0;
    ok(taken == 0, "a key that is not an int32 is refused");
    ok(turns(SN_KEY_UTF16, "a\xc3\xa4\xf0\x9f\x94\x91", 7, "a\0\xe4\0\x3d\xd8\x11\xdd",
             8),
       "UTF-16 with a surrogate pair");
    ok(turns(SN_KEY_UTF16, "\xed\xa0\x80", 3, "\0\xd8", 2) &&
           turns(SN_KEY_UTF8, "\xed\xa0\x80x", 4, "?x", 2),
       "a lone surrogate stays in UTF-16 and is ? in UTF-8");
    ok(turns(SN_KEY_UTF16, "\xff", 1, "\xfd\xff", 2) &&
           turns(SN_KEY_UTF16, "\xc3", 1, "\xfd\xff", 2) &&
           turns(SN_KEY_UTF16, "\xc0\x80", 2, "\xfd\xff\xfd\xff", 4),
       "invalid UTF-8 becomes U+FFFD");
    char *big = malloc(300000);
    memset(big, 'k', 300000);
    seen_filter *f = make("guava", (seen_params){.keys = 10, .type = "utf16"});
    ok(seen_add(f, big, 300000) == SEEN_NEW && seen_has(f, big, 300000) &&
           !seen_has(f, big, 299999),
       "long keys are converted too");
    seen_free(f);
    free(big);
    f = make("guava", (seen_params){.keys = 10, .type = "int64"});
    seen_add_str(f, "42");
    seen_key asked[3] = {{"42", 2}, {"forty", 5}, {"43", 2}};
    bool found[3];
    ok(seen_ask(f, "42", 2) == 1 && seen_ask(f, "43", 2) == 0 &&
           seen_ask(f, "forty", 5) == SEEN_EINVAL,
       "a question that makes no sense is told from a no: %s", seen_reason());
    ok(seen_ask_many(f, asked, 3, found) == SEEN_EINVAL && found[0] && !found[1] &&
           !found[2],
       "in a batch the others are answered");
    seen_free(f);
}

static void modulo(void)
{
    uint64_t x = 1, bad = 0, tried = 0;
    for (int bits = 1; bits < 63; bits++)
        for (int i = 0; i < 4000; i++, tried++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            uint64_t m = (x >> (64 - bits)) | 1, n = x * 0x9e3779b97f4a7c15u;
            m = i % 3 ? m : (uint64_t)1 << (bits - 1); /* powers of two, too */
            n = i % 5 == 0   ? UINT64_MAX - (uint64_t)(i / 5)
                : i % 5 == 1 ? m * (n % 9) - 1
                             : n;
            bad += sn_modulo(n, m, sn_inverse(m)) != n % m;
        }
    ok(bad == 0, "the remainder by multiplication is exact in %llu cases",
       (unsigned long long)tried);
}

static void snappy(void)
{
    /* "abcd", then 60 bytes from 4 back, then a literal of one byte */
    static const uint8_t good[] = {65,          3 << 2, 'a', 'b', 'c', 'd',
                                   59 << 2 | 2, 4,      0,   0,   '!'};
    uint8_t out[65];
    ok(sn_snappy_len(good, sizeof good) == 65 &&
           sn_snappy_unpack(good, sizeof good, out, 65) == 0 &&
           !memcmp(out, "abcdabcd", 8) && out[63] == 'd' && out[64] == '!',
       "literals and overlapping copies unpack");
    unsigned bad = 0;
    for (size_t n = 0; n < sizeof good; n++)
        bad += sn_snappy_unpack(good, n, out, 65) == 0;
    ok(bad == 0, "no part of it does");
    static const uint8_t lie[] = {0xff, 0xff, 0xff, 0xff, 0x0f, 0};
    ok(sn_snappy_len(lie, sizeof lie) == UINT64_MAX,
       "a length that cannot be is refused");
}

/* ---- bad headers ---------------------------------------------------------------- */

typedef struct wrong {
    const char *format, *vector;
    size_t at;
    uint8_t value;
    const char *field;
} wrong;

static const wrong headers[] = {
    {"guava", "guava/int-64", 0, 2, "strategy"},
    {"guava", "guava/int-64", 1, 0, "k is 0"},
    {"guava", "guava/int-64", 2, 0x80, "number of words"},
    {"guava", "guava/int-64", 2, 0x7f, "words do not fit"},
    {"guava", "guava/int-64", 5, 0, "number of words is 0"},
    {"dcso", "dcso/n50", 0, 2, "version"},
    {"dcso", "dcso/n50", 24, 0, "k is 0"},
    {"dcso", "dcso/n50", 31, 0x7f, "k is"},
    {"dcso", "dcso/n50", 39, 0xff, "m is"},
    {"dcso", "dcso/n50", 36, 1, "m = "},
    {"dcso", "dcso/n50", 23, 0x7f, "p is"},
    {"bits-and-blooms", "bits-and-blooms/est", 0, 0xff, "m is"},
    {"bits-and-blooms", "bits-and-blooms/est", 8, 1, "k is"},
    {"bits-and-blooms", "bits-and-blooms/est", 15, 0, "k is 0"},
    {"bits-and-blooms", "bits-and-blooms/est", 22, 0, "length"},
    {"bits-and-blooms", "bits-and-blooms/est", 16, 0x40, "length"},
    {"libbloom", "libbloom/v2", 0, 'x', "magic"},
    {"libbloom", "libbloom/v2", 9, 63, "structure size"},
    {"libbloom", "libbloom/v2", 11 + 8, 0, "bytes is"},
    {"libbloom", "libbloom/v2", 11 + 15, 0xff, "m is"},
    {"libbloom", "libbloom/v2", 11 + 16, 0, "bytes is"},
    {"libbloom", "libbloom/v2", 11 + 24, 0, "k is 0"},
    {"libbloom", "libbloom/v2", 11 + 39, 0x7f, "error is"},
    {"libbloom", "libbloom/v2", 11 + 41, 3, "major"},
    {"parquet", "parquet/bytes-3blocks", 0, 0x16, "header lacks numBytes"},
    {"parquet", "parquet/bytes-3blocks", 1, 0x80 | 0x42, "numBytes"},
    {"parquet", "parquet/bytes-3blocks", 4, 0x2c, "algorithm"},
    {"parquet", "parquet/bytes-3blocks", 8, 0x2c, "hash"},
    {"parquet", "parquet/bytes-3blocks", 12, 0x2c, "compression"},
    {"parquet", "parquet/bytes-3blocks", 15, 0x1f, "header"},
    {"redisbloom", "redisbloom/scale-x2", 8, 9, "nfilters"},
    {"redisbloom", "redisbloom/scale-x2", 11, 0xff, "nfilters"},
    {"redisbloom", "redisbloom/scale-x2", 12, 0x25, "options"},
    {"redisbloom", "redisbloom/scale-x2", 0, 0, "size"},
    {"redisbloom", "redisbloom/scale-x2", 20, 1, "bytes"},
    {"redisbloom", "redisbloom/scale-x2", 20 + 15, 0x7f, "bits"},
    {"redisbloom", "redisbloom/scale-x2", 20 + 52, 64, "n2"},
};

static void bad_headers(void)
{
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const wrong *w = &headers[i];
        char folder[200];
        seen_filter *f;
        snprintf(folder, sizeof folder, "tests/golden/%s", w->vector);
        golden_blob b = golden_read(folder, "filter.bin");
        if (!ok(b.p != NULL, "%s is there", w->vector))
            continue;
        b.p[w->at] = w->value;
        int rc = seen_open_foreign_bytes(b.p, b.len, w->format, NULL, 0, &f);
        ok(rc == SEEN_EFORMAT && strstr(seen_reason(), w->field), "%s, byte %zu: %s",
           w->format, w->at, rc ? seen_reason() : "taken");
        if (rc == 0)
            seen_free(f);
        free(b.p);
    }
}

/* Every shorter file is refused, by name, or opens without harm where any length does.
 */
static void cut_short(void)
{
    static const char *const all[][2] = {{"guava", "guava/int-64"},
                                         {"dcso", "dcso/n50"},
                                         {"libbloom", "libbloom/v2"},
                                         {"bits-and-blooms", "bits-and-blooms/est"},
                                         {"parquet", "parquet/bytes-3blocks"},
                                         {"redisbloom", "redisbloom/scale-x2"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char folder[200];
        unsigned taken = 0;
        snprintf(folder, sizeof folder, "tests/golden/%s", all[i][1]);
        golden_blob b = golden_read(folder, "filter.bin");
        for (size_t n = 0; n < b.len; n++) {
            seen_filter *f;
            uint8_t *p = malloc(n ? n : 1);
            memcpy(p, b.p, n);
            if (seen_open_foreign_bytes(p, n, all[i][0], NULL, 0, &f) == 0) {
                taken++;
                seen_free(f);
            }
            /* a magic number is enough to be recognised */
            taken += strcmp(all[i][0], "libbloom") && seen_recognise(p, n) != NULL;
            free(p);
        }
        ok(taken == 0, "%s: every file cut short is refused and not recognised",
           all[i][0]);
        free(b.p);
    }
}

static void arguments(void)
{
    seen_filter *f = NULL;
    seen_params p = {.bits = UINT64_MAX, .probes = 3};
    ok(seen_new_foreign("fnv-split", &p, &f) == SEEN_EINVAL &&
           strstr(seen_reason(), "m is"),
       "m of 2^64-1: %s", seen_reason());
    p = (seen_params){.bits = 1000, .probes = 100000};
    ok(seen_new_foreign("fnv-split", &p, &f) == SEEN_EINVAL &&
           strstr(seen_reason(), "k is"),
       "k of 100000: %s", seen_reason());
    p = (seen_params){.keys = 1000, .error = NAN};
    ok(seen_new_foreign("dcso", &p, &f) == SEEN_EINVAL, "an error that is NaN");
    p = (seen_params){.keys = UINT64_MAX, .error = 1e-9};
    ok(seen_new_foreign("bits-and-blooms", &p, &f) == SEEN_ETOOBIG, "2^64 keys: %s",
       seen_reason());
    p = (seen_params){.keys = UINT64_MAX, .bits_per_key = 100};
    ok(seen_new_foreign("leveldb", &p, &f) == SEEN_ETOOBIG, "LevelDB: %s",
       seen_reason());
    ok(seen_new_foreign("parquet-file", NULL, &f) == SEEN_EKIND,
       "read-only formats: %s", seen_reason());
    ok(seen_new_foreign("nobody", NULL, &f) == SEEN_EINVAL && f == NULL,
       "unknown ones: %s", seen_reason());
    ok(seen_open_foreign_bytes("", 0, NULL, NULL, 0, &f) == SEEN_EFORMAT,
       "no bytes at all");
    p = (seen_params){.keys = 1000, .error = 0.01};
    seen_filter *g = make("guava", p), *h;
    bool both[2] = {false, false};
    ok(seen_add_hash(g, 1) == SEEN_EKIND &&
           seen_rebuild(g, &(seen_spec){.keys = 1}, &h) == SEEN_EKIND &&
           seen_has_hash(g, 1) == SEEN_EKIND && seen_hash(g, "x", 1) == 0 &&
           seen_prefetch(g, "x", 1) == 0 &&
           seen_has_hashes(g, (uint64_t[2]){1, 2}, 2, both) == SEEN_EKIND && both[0] &&
           both[1] && seen_add_hashes(g, (uint64_t[1]){1}, 1, NULL, NULL) == SEEN_EKIND,
       "hashes and rebuild are not for them: %s", seen_reason());
    seen_free(g);
}

/* A union is the OR of the bits, wherever both go by the same rule. */
static void unions(void)
{
    static const char *const formats[] = {"guava",    "dcso",    "bits-and-blooms",
                                          "libbloom", "parquet", "mmh3-17"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        seen_params p = {.keys = 1000, .error = 0.01};
        seen_filter *a = make(formats[i], p), *b = make(formats[i], p);
        p.keys = 3000;
        seen_filter *c = make(formats[i], p);
        for (uint64_t j = 0; j < 400; j++) {
            seen_add_u64(a, j);
            seen_add_u64(b, j + 1000);
        }
        unsigned lost = 0;
        int rc = seen_merge(a, b);
        for (uint64_t j = 0; j < 400; j++)
            lost += !seen_has_u64(a, j) + !seen_has_u64(a, j + 1000);
        ok(rc == 0 && lost == 0, "%s: the union has the keys of both", formats[i]);
        ok(seen_merge(a, c) == SEEN_EMISMATCH, "%s: another size: %s", formats[i],
           seen_reason());
        seen_free(a), seen_free(b), seen_free(c);
    }
    seen_params p = {.bits = 1000, .probes = 3};
    seen_filter *a = make("redis-bitmap", p), *b = make("redis-bitmap", p);
    for (uint64_t j = 0; j < 50; j++)
        seen_add_u64(b, j);
    ok(seen_merge(a, b) == 0 && seen_has_u64(a, 49),
       "an empty bitmap takes a full one");
    seen_filter *n = NULL, *cf = make("rediscuckoo", (seen_params){0});
    seen_new(NULL, &n);
    ok(seen_merge(n, a) == SEEN_EKIND && seen_merge(cf, cf) == SEEN_EKIND,
       "native and foreign are not merged, nor are cuckoo filters");
    seen_free(a), seen_free(b), seen_free(n), seen_free(cf);
}

/* A Parquet filter is a native split layer: the same bits, under one header or another.
 */
static void parquet_native(void)
{
    seen_filter *f = make("parquet", (seen_params){.keys = 1000, .error = 0.01}), *g,
                *h;
    for (uint64_t i = 0; i < 1000; i++)
        seen_add_u64(f, i);
    const char *path = path_of("native");
    ok(seen_convert(f, "native", &g) == 0 && seen_save(g, path) == 0,
       "to native, saved");
    seen_free(g);
    ok(seen_open(path, SEEN_READ | SEEN_VERIFY, &g) == 0, "opened again");
    unsigned differ = 0;
    for (uint64_t i = 0; i < 100000; i++)
        differ += seen_has_u64(f, i) != seen_has_u64(g, i);
    ok(differ == 0, "100000 answers stay");
    ok(seen_hash(g, "x", 1) != seen_hash_seeded(0, "x", 1), "its hash is Parquet's");
    ok(seen_convert(g, "parquet", &h) == 0, "and back");
    ok(seen_save(f, path_of("1")) == 0 && seen_save(h, path_of("2")) == 0,
       "both saved");
    golden_blob a = golden_read(path_of("1"), ""), b = golden_read(path_of("2"), "");
    ok(a.len == b.len && !memcmp(a.p, b.p, a.len), "the same bytes");
    free(a.p), free(b.p);
    seen_free(h);
    seen_spec spec = {.kind = SEEN_SPLIT, .keys = 1000};
    seen_new(&spec, &h);
    seen_filter *none = NULL;
    ok(seen_convert(h, "parquet", &none) == SEEN_EKIND && none == NULL,
       "an ordinary native split filter hashes otherwise: %s", seen_reason());
    ok(seen_merge(h, g) == SEEN_EMISMATCH, "and is not merged with it");
    seen_free(f), seen_free(g), seen_free(h);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    in_place();
    growth();
    parquet_groups();
    parquet_without_filters();
    withdrawn();
    types();
    modulo();
    snappy();
    bad_headers();
    cut_short();
    arguments();
    unions();
    parquet_native();
    char rm[300];
    snprintf(rm, sizeof rm, "rm -rf %s", dir);
    return system(rm) ? 1 : done();
}
