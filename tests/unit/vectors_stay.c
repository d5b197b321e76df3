/* vectors_stay.c - fixed keys set fixed bits: files written today are read for ever.
 *
 * The bits are computed here again from docs/format.md, word by word and without the
 * library's kinds, and some are written down as numbers. */
#include "vectors.h"

static void expect(const char *name, seen_spec spec,
                   void (*set)(uint8_t *, uint64_t, seen_size))
{
    seen_filter *f;
    seen_size size;
    seen_new(&spec, &f);
    seen_choose(&spec, &size);
    uint8_t *body = calloc(1, size.bytes);
    for (uint64_t i = 0; i < 500; i++) {
        char key[32];
        int n = snprintf(key, sizeof key, "key-%llu", (unsigned long long)i);
        seen_add(f, key, (size_t)n);
        set(body, seen_hash_seeded(spec.seed, key, (size_t)n), size);
    }
    len = 0;
    seen_write(f, collect, NULL);
    ok(len >= 128 + size.bytes && memcmp(bytes + 128, body, size.bytes) == 0,
       "%s: the bits are those of docs/format.md", name);
    free(body);
    seen_free(f);
}

static void classic(uint8_t *b, uint64_t h, seen_size s)
{
    for (uint32_t j = 0; j < s.probes; j++, h = remix(h))
        b[mulhi(h, s.bits) / 8] |= (uint8_t)(1 << mulhi(h, s.bits) % 8);
}

static void line(uint8_t *b, uint64_t h, seen_size s)
{
    uint8_t *p = b + 64 * mulhi(h, s.bits / 512);
    uint64_t g = remix(h), r = g >> 61;
    for (uint32_t j = 0; j < s.probes; j++) {
        if (j == 8)
            g = remix(g);
        uint64_t lane = (r + j) % 8, bit = (g >> (6 * lane)) % 64;
        p[8 * lane + bit / 8] |= (uint8_t)(1 << bit % 8);
    }
}

static void block(uint8_t *b, uint64_t h, seen_size s)
{
    static const uint32_t salt[8] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                     0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
    uint8_t *p = b + 32 * (((h >> 32) * (s.bits / 256)) >> 32);
    for (int i = 0; i < 8; i++) {
        uint32_t bit = ((uint32_t)h * salt[i]) >> 27;
        p[4 * i + bit / 8] |= (uint8_t)(1 << bit % 8);
    }
}

int main(void)
{
    ok(seen_hash_seeded(0, "", 0) == 0x2d06800538d394c2u, "XXH3 of nothing");
    ok(seen_hash_seeded(0, "abc", 3) == 0x78af5f94892f3950u, "XXH3 of abc");
    ok(seen_hash_seeded(1, "abc", 3) != seen_hash_seeded(0, "abc", 3),
       "the seed matters");
    expect("classic",
           (seen_spec){.hash = SEEN_HASH_XXH3,
                       .kind = SEEN_CLASSIC,
                       .keys = 500,
                       .flags = SEEN_FIXED},
           classic);
    expect("classic, m and k",
           (seen_spec){.hash = SEEN_HASH_XXH3, .bits = 4801, .probes = 5, .seed = 9},
           classic);
    expect("blocked",
           (seen_spec){.hash = SEEN_HASH_XXH3,
                       .kind = SEEN_BLOCKED,
                       .keys = 500,
                       .flags = SEEN_FIXED},
           line);
    expect("blocked, k=11",
           (seen_spec){.hash = SEEN_HASH_XXH3, .kind = SEEN_BLOCKED,
                       .keys = 500,
                       .probes = 11,
                       .seed = 77,
                       .flags = SEEN_FIXED},
           line);
    expect("split",
           (seen_spec){.hash = SEEN_HASH_XXH3,
                       .kind = SEEN_SPLIT,
                       .keys = 500,
                       .flags = SEEN_FIXED},
           block);
    free(bytes);
    return done();
}
