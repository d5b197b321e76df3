/* fingerprint.c - a page's text, cut at its tags, as a hash and a simhash.
 *
 * The simhash is Charikar's: each bit is the majority of that bit over the hashes of
 * all pieces. Pieces are the runs of text between tags; a page of few runs is cut into
 * words in which all digits are one, so that "page 17 of 90" and "page 18 of 90" are
 * alike. */
#include "fingerprint.h"
#include "seen.h"

#include <string.h>

enum { PLANES = 24, FEW_RUNS = 64 };

/* 64 counters, bit K of each in plane K. Eight hashes are added at a time: seven full
 * adders (Harley and Seal) make one carry of them, for the planes above the third. */
typedef struct votes {
    uint64_t plane[PLANES];
    uint64_t wait[8];
    unsigned waiting;
    uint64_t total;
} votes;

/* A full adder of 64 bits at once: *SUM gets the sum, the carries are returned. */
static uint64_t full_add(uint64_t *sum, uint64_t a, uint64_t b)
{
    uint64_t c = *sum, u = a ^ b;
    *sum = u ^ c;
    return (a & b) | (u & c);
}

static void add_waiting(votes *v)
{
    uint64_t *w = v->wait, *one = v->plane, *two = one + 1, *four = one + 2;
    while (v->waiting < 8)
        w[v->waiting++] = 0;
    uint64_t a = full_add(one, w[0], w[1]), b = full_add(one, w[2], w[3]);
    uint64_t c = full_add(two, a, b);
    a = full_add(one, w[4], w[5]);
    b = full_add(one, w[6], w[7]);
    uint64_t carry = full_add(four, c, full_add(two, a, b));
    for (int k = 3; carry && k < PLANES; k++) {
        uint64_t next = v->plane[k] & carry;
        v->plane[k] ^= carry;
        carry = next;
    }
    v->waiting = 0;
}

static void add_vote(votes *v, uint64_t h)
{
    v->total++;
    v->wait[v->waiting++] = h;
    if (v->waiting == 8)
        add_waiting(v);
}

static uint64_t majority(votes *v)
{
    uint64_t out = 0;
    add_waiting(v);
    /* All counters are compared with half of the votes at once, from the highest bit
     * on: OUT has those that are larger, SAME those that are equal so far. */
    uint64_t half = v->total / 2, same = ~0ull;
    for (int k = PLANES - 1; k >= 0; k--) {
        uint64_t bit = half >> k & 1 ? ~0ull : 0;
        out |= same & v->plane[k] & ~bit;
        same &= ~(v->plane[k] ^ bit);
    }
    return out;
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

static void add_words(votes *v, const char *p, size_t n)
{
    uint64_t h = 0;
    for (size_t i = 0; i <= n; i++) {
        unsigned char c = i < n ? (unsigned char)p[i] : ' ';
        if (c >= '0' && c <= '9')
            c = '0';
        bool letter = c >= 0x80 || c == '0' || ((c | 32) >= 'a' && (c | 32) <= 'z');
        if (letter && !(c == '0' && (h & 0xff) == '0')) {
            h = (h ^ (c | (c < 0x80 ? 32 : 0))) * 0x9e3779b97f4a7c15u;
            h = (h & ~0xffull) | c; /* a run of digits is one digit */
        } else if (!letter && h) {
            add_vote(v, mix(h));
            h = 0;
        }
    }
}

/* The run of text at *P up to the next tag, without white space at its ends; moves *P
 * behind the tag. False at the end of the page. */
static bool next_run(const char **p, const char *end, const char **run, size_t *n)
{
    if (*p >= end)
        return false;
    const char *from = *p;
    const char *lt = *from == '<' ? from : memchr(from, '<', (size_t)(end - from));
    const char *gt = lt ? memchr(lt, '>', (size_t)(end - lt)) : NULL,
               *stop = lt ? lt : end;
    *p = gt ? gt + 1 : end;
    while (from < stop && (unsigned char)*from <= ' ')
        from++;
    while (from < stop && (unsigned char)stop[-1] <= ' ')
        stop--;
    *run = from;
    *n = (size_t)(stop - from);
    return true;
}

fingerprint fingerprint_of(const char *page, size_t len)
{
    const char *p = page, *end = page + len, *run;
    fingerprint f = {0x5eed, 0};
    votes v = {.total = 0};
    size_t n;
    while (next_run(&p, end, &run, &n))
        if (n) {
            uint64_t h = seen_hash_seeded(0, run, n);
            f.hash = mix(f.hash ^ h);
            add_vote(&v, h);
        }
    if (v.total < FEW_RUNS) {
        memset(&v, 0, sizeof v);
        for (p = page; next_run(&p, end, &run, &n);)
            add_words(&v, run, n);
    }
    f.simhash = majority(&v);
    f.hash += !f.hash;
    f.simhash += !f.simhash;
    return f;
}
