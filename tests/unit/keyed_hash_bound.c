/* keyed_hash_bound.c - the keyed hash is the polynomial that lib/hash/keyed.h says, and
 * its bound holds: shown over all points of a small field, where the same construction
 * has 8-bit words, and by the hash itself on the pairs that XXH3 fails on. */
#include "hash/keyed.h"
#include "seen.h"
#include "tap.h"
#include "test_keys.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the construction, word for word, over GF(2^W) --------------------------------
 */

typedef struct field {
    unsigned bits;   /* of a word */
    uint64_t poly;   /* without its highest term */
    unsigned pairs;  /* of a block */
} field;

static const field real = {64, 0x1b, 8}, small = {8, 0x1b, 2};

static uint64_t mul(const field *f, uint64_t x, uint64_t y)
{
    uint64_t top = (uint64_t)1 << (f->bits - 1), z = 0;
    for (int i = (int)f->bits - 1; i >= 0; i--) {
        bool out = z & top;
        z = (z << 1 & (top | (top - 1))) ^ (out ? f->poly : 0);
        z ^= y >> i & 1 ? x : 0;
    }
    return z;
}

static uint64_t power(const field *f, uint64_t k, unsigned e)
{
    uint64_t z = 1;
    while (e--)
        z = mul(f, z, k);
    return z;
}

static uint64_t word(const field *f, const uint8_t *p)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < f->bits / 8; i++)
        x |= (uint64_t)p[i] << 8 * i;
    return x;
}

/* The value of a key at the point K. A key shorter than a pair is told by SHORT_PAIR.
 */
static uint64_t value(const field *f, uint64_t k, const uint8_t *p, size_t len,
                      void (*short_pair)(const uint8_t *, size_t, uint64_t *,
                                         uint64_t *))
{
    size_t w = f->bits / 8, pairs = len <= 2 * w ? 1 : (len + 2 * w - 1) / (2 * w);
    uint64_t sum = 0;
    unsigned step = 4 * f->pairs;
    for (size_t i = 0; i < pairs; i++) {
        unsigned at = (unsigned)(i % f->pairs) + 1;
        uint64_t a, b;
        const uint8_t *q = i + 1 < pairs ? p + 2 * w * i : p + len - 2 * w;
        if (len < 2 * w) {
            short_pair(p, len, &a, &b);
        } else {
            a = word(f, q);
            b = word(f, q + w);
        }
        if (i && at == 1)
            sum = mul(f, sum, power(f, k, step));
        sum ^= mul(f, a ^ power(f, k, 2 * at), b ^ power(f, k, 2 * at - 1));
    }
    return sum ^ len;
}

static uint64_t random_word(void)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
}

/* The library's own pair of short keys, with the words of the real field. */
static void library_pair(const uint8_t *p, size_t len, uint64_t *a, uint64_t *b)
{
    sn_keyed_short(p, len, a, b);
}

static void is_the_polynomial(void)
{
    uint8_t key[700];
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)random_word();
    sn_keyed s;
    sn_keyed_init(&s, 3, 4);
    uint64_t k = s.power[1], wrong = 0, twins = 0;
    const sn_keyed_variant *fast = sn_keyed_clmul();
    for (size_t len = 0; len <= sizeof key; len += len < 300 ? 1 : 37) {
        uint64_t want =
            sn_keyed_finish(&s, value(&real, k, key, len, library_pair) ^ len, len);
        wrong += sn_keyed_portable.one(&s, key, len) != want;
        twins += fast && fast->one(&s, key, len) != want;
    }
    ok(wrong == 0, "the hash is the polynomial that its header states");
    ok(twins == 0, "and its twin is the same (%s)",
       fast ? "clmul" : "there is none here");
    ok(s.power[0] == mul(&real, k, k) && s.power[15] == power(&real, k, 15) &&
           s.step == power(&real, k, 32),
       "the powers of the point are kept");
}

/* ---- the bound, over every point of the small field --------------------------------
 */

static void small_pair(const uint8_t *p, size_t len, uint64_t *a, uint64_t *b)
{
    *a = len ? p[0] : 0;
    *b = 0;
}

/* Points at which two keys have values that differ by some constant, at most. */
static unsigned most_roots(const uint8_t *x, size_t xlen, const uint8_t *y, size_t ylen)
{
    unsigned count[256] = {0}, most = 0;
    for (unsigned k = 0; k < 256; k++)
        count[value(&small, k, x, xlen, small_pair) ^
              value(&small, k, y, ylen, small_pair)]++;
    for (int c = 0; c < 256; c++)
        most = count[c] > most ? count[c] : most;
    return most;
}

static void bound_holds(void)
{
    unsigned over = 0, tried = 0, largest = 0, never = 0;
    uint8_t x[24], y[24];
    for (unsigned n = 0; n < WORK(6000); n++) {
        size_t xlen = random_word() % 17, ylen = n % 3 ? xlen : random_word() % 17;
        for (size_t i = 0; i < sizeof x; i++) {
            x[i] = (uint8_t)(random_word() >> 60);
            y[i] = random_word() % 4 ? x[i] : (uint8_t)(random_word() >> 60);
        }
        if (xlen == ylen && !memcmp(x, y, xlen))
            continue;
        size_t longer = xlen > ylen ? xlen : ylen;
        unsigned blocks = (unsigned)((longer + 3) / 4 ? (longer + 3) / 4 : 1);
        unsigned roots = most_roots(x, xlen, y, ylen), bound = 4 * small.pairs * blocks;
        /* D + c = 0 has at most deg D roots unless D is the constant c, when the two
         * keys differ by c at every point: then they never collide. */
        if (roots == 256) {
            never++;
            over += value(&small, 7, x, xlen, small_pair) ==
                    value(&small, 7, y, ylen, small_pair);
            continue;
        }
        tried++;
        over += roots > bound;
        largest = roots > largest ? roots : largest;
    }
    ok(over == 0 && tried > 100,
       "%u pairs of keys, every point: never more roots than the degree (at most %u)",
       tried, largest);
    ok(never < tried / 10, "%u of them differ in length alone, at every point", never);
}

/* With a point that is known, such as 1, pairs can be made: this test can fail. */
static void a_known_point_fails(void)
{
    uint8_t x[4] = {1, 2, 3, 4}, y[4] = {3, 4, 1, 2};
    ok(value(&small, 1, x, 4, small_pair) == value(&small, 1, y, 4, small_pair),
       "at the point 1 two swapped pairs collide");
}

/* ---- the hash itself
 * ----------------------------------------------------------------- */

/* Keys that differ in one or two words at any place, over random secrets. */
static void no_fixed_pair_collides(void)
{
    uint64_t equal = 0, tried = 0, low = 0;
    uint8_t x[96], y[96];
    for (size_t i = 0; i < sizeof x; i++)
        x[i] = (uint8_t)random_word();
    for (uint64_t n = 0; n < WORK(200000); n++) {
        seen_hasher h;
        seen_hasher_init(&h, SEEN_HASH_KEYED, random_word(), random_word());
        size_t len = 8 + n % 89;
        memcpy(y, x, sizeof x);
        size_t at = random_word() % (len - 7), two = random_word() % (len - 7);
        for (int i = 0; i < 8; i++)
            y[at + i] ^= 0xff;
        if (n & 1)
            for (int i = 0; i < 8; i++)
                y[two + i] ^= (uint8_t)(n >> 8 * i);
        if (!memcmp(x, y, len))
            continue;
        uint64_t a = seen_hasher_hash(&h, x, len), b = seen_hasher_hash(&h, y, len);
        equal += a == b;
        low += (a ^ b) >> 52 == 0;
        tried++;
    }
    ok(equal == 0, "%llu pairs that differ in one or two words, each under its own "
                   "secret: none collides",
       (unsigned long long)tried);
    double want = (double)tried / 4096;
    ok(low < want + 6 * sqrt(want) && (double)low > want - 6 * sqrt(want),
       "12 bits of their hashes agree as often as by chance (%llu, %.0f expected)",
       (unsigned long long)low, want);
}

/* Bits of the hash on keys that are as alike as keys can be: none is stuck, and the
 * top ones, which choose a place, spread evenly. */
static void spreads(void)
{
    enum { CELLS = 1024 };
    static uint32_t cell[CELLS];
    seen_hasher h;
    uint64_t n = WORK(400000), ones[64] = {0};
    double chi = 0;
    seen_hasher_init(&h, SEEN_HASH_KEYED, 1, 0);
    for (uint64_t i = 0; i < n; i++) {
        char text[24];
        int len = snprintf(text, sizeof text, "%llu", (unsigned long long)i);
        uint64_t x = i & 1 ? seen_hasher_hash(&h, &i, 8)
                           : seen_hasher_hash(&h, text, (size_t)len);
        cell[x >> 54]++;
        for (int b = 0; b < 64; b++)
            ones[b] += x >> b & 1;
    }
    double want = (double)n / CELLS, sigma = sqrt((double)n) / 2;
    for (int i = 0; i < CELLS; i++)
        chi += (cell[i] - want) * (cell[i] - want) / want;
    ok(fabs(chi - CELLS) < 6 * sqrt(2.0 * CELLS),
       "integers and their digits fall evenly into %d cells (chi-square %.0f)", CELLS,
       chi);
    int stuck = 0;
    for (int b = 0; b < 64; b++)
        stuck += fabs((double)ones[b] - (double)n / 2) > 6 * sigma;
    ok(stuck == 0, "every bit is set half of the time");
}

/* Keys that differ in their length alone: the proof says that their hashes differ, and
 * nothing of some of the bits. Those are measured: six sigma around 2^-T. */
static void alike_keys(void)
{
    static const struct {
        const char *a, *b;
        size_t m, n;
    } pairs[] = {{"", "\0", 0, 1},       {"", "\0\0\0", 0, 3},
                 {"aaaa", "aaaaa", 4, 5}, {"aaaaaaaa", "aaaaaaaaaaaaaaa", 8, 15}};
    enum { SECRETS = WORK(200000) };
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        unsigned equal = 0, low = 0, high = 0;
        for (uint64_t i = 0; i < SECRETS; i++) {
            seen_hasher h;
            seen_hasher_init(&h, SEEN_HASH_KEYED, mix(i), mix(~i));
            uint64_t d = seen_hasher_hash(&h, pairs[p].a, pairs[p].m) ^
                         seen_hasher_hash(&h, pairs[p].b, pairs[p].n);
            equal += d == 0;
            low += (d & 255) == 0;
            high += d >> 56 == 0;
        }
        double mean = SECRETS / 256., room = 6 * sqrt(mean) + 1;
        ok(equal == 0 && fabs(low - mean) <= room && fabs(high - mean) <= room,
           "%zu and %zu equal bytes: never one hash, eight bits agree %u and %u times "
           "of "
           "%.0f",
           pairs[p].m, pairs[p].n, low, high, mean);
    }
}

int main(void)
{
    alike_keys();
    is_the_polynomial();
    bound_holds();
    a_known_point_fails();
    no_fixed_pair_collides();
    spreads();
    seen_hasher h;
    seen_hasher_init(&h, SEEN_HASH_KEYED, 1, 2);
    ok(seen_hasher_hash(&h, "", 0) == 0x5bb901665e95a443u &&
           seen_hasher_hash(&h, "abc", 3) == 0x204d51beca563efau &&
           seen_hasher_hash(&h, "http://example.org/", 19) == 0x9ed51efbd5a4724du,
       "files of other days and machines have the same hashes");
    return done();
}
