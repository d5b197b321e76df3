/* vectors_static_stay.c - cuckoo and ribbon files read again from docs/format.md alone:
 * the same answers, word by word and without the library's kinds; and their bytes for
 * fixed keys, written down as sums, so that files written today are read for ever. */
#include "test_keys.h"
#include "vectors.h"

static uint64_t le(const uint8_t *p, int n)
{
    uint64_t x = 0;
    while (n-- > 0)
        x = x << 8 | p[n];
    return x;
}

/* The first layer of the file in `bytes`. */
static uint64_t k, units, own[4], body_len;
static const uint8_t *body;

static void parse(const seen_filter *f)
{
    len = 0;
    seen_write(f, collect, NULL);
    if (le(bytes + 8, 4) == 3) { /* a compact file */
        k = bytes[20];
        units = le(bytes + 24, 4);
        own[3] = 0;
        for (int i = 0; i < 3; i++)
            own[i] = le(bytes + 80 + 8 * i, 8);
        body = bytes + 128;
        body_len = le(bytes + 16, 4) - 128;
        return;
    }
    const uint8_t *r = bytes + 128;
    k = le(r + 4, 4);
    units = le(r + 8, 8);
    for (int i = 0; i < 4; i++)
        own[i] = le(r + 32 + 8 * i, 8);
    body = bytes + le(r + 72, 8);
    body_len = le(r + 80, 8);
}

static uint64_t word(uint64_t i)
{
    return le(body + 8 * i, 8);
}

/* ---- ribbon ------------------------------------------------------------------- */

/* The byte of a level at which segment SEG begins, if there are trits. */
static uint64_t segment_at(uint64_t seg, uint64_t W, uint64_t e)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < seg; i++) {
        at += 8 * (k + (i + 1 < W ? 0 : e));
        at += i < W ? 64 * (i + 1) / 5 - 64 * i / 5 : 0;
    }
    return at;
}

static bool trits_have(uint64_t slots, uint64_t s, uint64_t W, uint64_t e, uint64_t g,
                       uint64_t subset)
{
    uint64_t seg = s / 64, o = s % 64;
    uint64_t here = 8 * slots + segment_at(seg, W, e);
    uint64_t next = 8 * slots + segment_at(seg + 1, W, e);
    bool rich = seg + 1 < W;
    unsigned total = 0;
    for (unsigned j = 0; j < k + (rich ? 0 : e); j++) {
        uint64_t x = le(body + here + 8 * j, 8) & subset << o;
        x ^= le(body + next + 8 * j, 8) & (o ? subset >> (64 - o) : 0);
        if ((uint64_t)__builtin_parityll(x) != (g >> (31 + j) & 1))
            return false;
    }
    for (unsigned i = 0; rich && i < 64; i++) {
        static const unsigned power[5] = {1, 3, 9, 27, 81};
        uint64_t slot = s / 5 * 5 + i, byte = slot / 5, in = (5 * byte + 4) / 64;
        uint64_t words = k + (in + 1 < W ? 0 : e);
        uint64_t at = 8 * slots + segment_at(in, W, e) + 8 * words + byte - 64 * in / 5;
        total += (subset >> i & 1) ? body[at] / power[slot % 5] % 3 : 0;
    }
    return !rich || total % 3 == (g & 0x7fffffff) * 3 >> 31;
}

static bool ribbon_has(uint64_t h)
{
    static const unsigned thresholds[4] = {0, 16, 40, 128};
    unsigned b = (unsigned)__builtin_ctzll(units), r = (unsigned)k;
    uint64_t extra = own[1] >> 32;
    uint64_t m = remix(h), shard = b ? m >> (64 - b) : 0;
    uint64_t e = own[0] - 8 * units + 8 * shard, salt = word(e + 6);
    uint64_t M = salt ? remix(remix(m ^ salt)) : m, g = remix(M);
    uint64_t print = g >> 31, subset = remix(g) | 1, place = salt ? M : m << b;
    uint64_t slots = word(e), meta = word(e + 1), z = subset ^ print;
    for (unsigned level = 1; level <= 4; level++, place = z) {
        uint64_t S = word(e + 1 + level) & 0xffffffff, W = word(e + 1 + level) >> 32;
        uint64_t metas = level < 4 ? (S + 63) / 64 : 0;
        z = remix(z);
        if (!S)
            continue;
        if (level > 1)
            meta = slots, slots += metas;
        uint64_t s = mulhi(place, 64 * S), seg = s / 64, o = s % 64, bucket = s / 128;
        if (level == 4 ||
            s % 128 >=
                thresholds[word(meta + bucket / 32) >> (2 * (bucket % 32)) & 3]) {
            if (extra)
                return trits_have(slots, s, W, extra, g, subset);
            uint64_t here = slots + seg * r + (seg < W ? seg : W);
            uint64_t next = slots + (seg + 1) * r + (seg + 1 < W ? seg + 1 : W);
            for (unsigned j = 0; j < r + (seg + 1 < W); j++) {
                uint64_t x = word(here + j) & subset << o;
                x ^= word(next + j) & (o ? subset >> (64 - o) : 0);
                if ((uint64_t)__builtin_parityll(x) != (print >> j & 1))
                    return false;
            }
            return true;
        }
        slots += extra ? (segment_at(S + 1, W, extra) + 7) / 8 : (S + 1) * r + W;
    }
    return false;
}

/* ---- cuckoo ------------------------------------------------------------------- */

static uint64_t choose(uint64_t n, uint64_t of)
{
    uint64_t c = 1;
    for (uint64_t i = 0; i < of; i++)
        c = n < of ? 0 : c * (n - i) / (i + 1);
    return c;
}

/* Whether bucket B holds V: looks for nibbles whose rank is the one stored. */
static bool bucket_has(uint64_t b, uint64_t v)
{
    unsigned low = (unsigned)k - 3;
    const uint8_t *p = body + 64 + 16 * 16;
    uint8_t bit[128];
    uint64_t nibble[4], left = 0;
    for (uint64_t i = 0, at = 4 * k * b; i < 4 * k; i++, at++)
        bit[i] = p[at / 8] >> (at % 8) & 1;
    for (unsigned i = 12; i-- > 0;)
        left = left << 1 | bit[i];
    for (int i = 3; i >= 0; i--) { /* the largest first */
        nibble[i] = 15;
        while (choose(nibble[i] + (uint64_t)i, (uint64_t)i + 1) > left)
            nibble[i]--;
        left -= choose(nibble[i] + (uint64_t)i, (uint64_t)i + 1);
    }
    for (unsigned i = 0; i < 4; i++) {
        uint64_t x = nibble[i];
        for (unsigned j = low; j-- > 0;)
            x = x << 1 | bit[12 + i * low + j];
        if (x == v)
            return true;
    }
    return false;
}

static bool cuckoo_has(uint64_t h)
{
    uint64_t j = own[0], n = units >> j, v = remix(h) >> (63 - k), v0;
    v = v ? v : 1;
    v0 = v >> (k - own[1]);
    v0 = v0 ? v0 : 1;
    uint64_t H = (mulhi(remix(remix(v0)), n) << j) + ((uint64_t)1 << j) - 1;
    uint64_t b = mulhi(h, units), alt = H >= b ? H - b : H + units - b;
    for (uint64_t i = 0; i < le(body + 8, 4); i++) {
        uint64_t at = le(body + 64 + 16 * i, 8);
        if (le(body + 72 + 16 * i, 8) == v && (at == b || at == alt))
            return true;
    }
    return bucket_has(b, v) || bucket_has(alt, v);
}

/* ---- both --------------------------------------------------------------------- */

/* FNV-1a of the body: simple enough to be written down anywhere. */
static uint64_t sum(void)
{
    uint64_t x = 0xcbf29ce484222325u;
    for (uint64_t i = 0; i < body_len; i++)
        x = (x ^ body[i]) * 0x100000001b3u;
    return x;
}

static void same(const char *name, const seen_filter *f, uint64_t n,
                 bool (*has)(uint64_t), uint64_t expected)
{
    parse(f);
    bool members = true, equal = true;
    uint64_t yes = 0;
    for (uint64_t i = 0; i < n; i++)
        members &= has(seen_hash_seeded(11, LE8(i)));
    for (uint64_t i = n; i < n + 20000; i++) {
        uint64_t h = seen_hash_seeded(11, LE8(i));
        equal &= has(h) == seen_has_hash(f, h);
        yes += has(h);
    }
    ok(members, "%s: every member is found as docs/format.md says", name);
    ok(equal, "%s: absent keys get the same answer (%d of 20000 yes)", name, (int)yes);
    ok(sum() == expected, "%s: the bytes are those written down (%#llx)", name,
       (unsigned long long)sum());
}

static void ribbon(const char *name, uint64_t n, double error, uint64_t expected)
{
    seen_build_spec spec = {.error = error, .seed = 11};
    seen_builder *b;
    seen_filter *f = NULL;
    seen_builder_new(&spec, &b);
    for (uint64_t i = 0; i < n; i++)
        seen_builder_add_hashes(b, &(uint64_t){seen_hash_seeded(11, LE8(i))}, 1);
    seen_builder_finish(b, &f);
    seen_builder_free(b);
    same(name, f, n, ribbon_has, expected);
    seen_free(f);
}

static void cuckoo(const char *name, uint32_t bits, uint64_t n, uint64_t expected)
{
    seen_spec spec = {.kind = SEEN_CUCKOO,
                      .probes = bits,
                      .keys = n,
                      .error = 0.5,
                      .seed = 11,
                      .flags = SEEN_FIXED};
    seen_filter *f;
    seen_new(&spec, &f);
    for (uint64_t i = 0; i < n; i++)
        seen_add_hash(f, seen_hash_seeded(11, LE8(i)));
    same(name, f, n, cuckoo_has, expected);
    seen_free(f);
}

int main(void)
{
    ribbon("ribbon of 100 keys, 8 bits", 100, 1.0 / 256, 0x39a297c1392069b2u);
    ribbon("ribbon of 30000 keys, 1e-4", 30000, 1e-4, 0x98dc6c1bac3558afu);
    ribbon("ribbon of 9000 keys, 1%", 9000, 0.01, 0x09a81fa487284edbu);
    ribbon("ribbon of 3000 keys, 35%", 3000, 0.35, 0x0d31d5fdfd6dc87bu);
    ribbon("ribbon of 1.5 million keys, 2 bits", 1500000, 0.25, 0x317b4f4babaa2003u);
    cuckoo("cuckoo8", 8, 3000, 0x89c8d6454e737313u);
    cuckoo("cuckoo12", 12, 3000, 0xd7f0c7e3f7bc5b29u);
    cuckoo("cuckoo16", 16, 3000, 0xda17d0ee80031a83u);
    cuckoo("cuckoo24", 24, 3000, 0x13e658ea2396541bu);
    cuckoo("cuckoo32", 32, 3000, 0x0c12dfd96830afc6u);
    cuckoo("cuckoo4", 4, 3000, 0xf985fb08a3c653d3u);
    cuckoo("cuckoo5", 5, 3000, 0xf9006e85947b6315u);
    cuckoo("cuckoo9", 9, 3000, 0x74bb573b1f8b016au);
    cuckoo("cuckoo22", 22, 3000, 0x183fe1749ddc04efu);
    cuckoo("cuckoo31", 31, 3000, 0x7c39f034ff74b579u);
    free(bytes);
    return done();
}
