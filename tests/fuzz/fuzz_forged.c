/* fuzz_forged.c - native files whose checksums are right and whose numbers are not:
 * what seen_verify calls good, every later call can rely on.
 *
 * The mutator repairs the sums after each change, so that files get behind them. A file
 * that opens and is called good is asked, added to until it grows, merged, removed
 * from, written and opened again; no key that was added here may be denied.
 * FORGED_KIND, a number below KINDS, restricts the filters that mutations begin with to
 * one kind.
 *
 * Input: OPS bytes that say what is done, then the file. */
#include "filter/file.h"
#include "base/bytes.h"
#include "hash/hash.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPS = 8, MOST = 1 << 20, KEYS = 300 };

static const struct {
    seen_spec spec;
    unsigned keys;
} kinds[] = {
    {{.kind = SEEN_CLASSIC, .keys = 100}, 90},
    {{.kind = SEEN_BLOCKED, .keys = 100}, 90},
    {{.kind = SEEN_SPLIT, .keys = 100}, 90},
    {{.kind = SEEN_SET}, 60},
    {{.kind = SEEN_CUCKOO, .keys = 60}, 50},
    {{.kind = SEEN_CUCKOO, .keys = 60, .flags = SEEN_ONCE}, 50},
    {{.kind = SEEN_RIBBON}, 200},
    {{.kind = SEEN_QUOTIENT}, 100},
    {{.kind = SEEN_QUOTIENT, .keys = 60, .flags = SEEN_REMOVES}, 90},
    {{.kind = SEEN_CLASSIC, .keys = 100, .flags = SEEN_ATOMIC}, 50},
    {{.kind = SEEN_BLOCKED, .keys = 100, .flags = SEEN_ATOMIC}, 50},
    {{.kind = SEEN_SPLIT, .keys = 100, .flags = SEEN_ATOMIC}, 50},
    {{.kind = SEEN_BLOCKED, .keys = 10}, 200},
    {{.kind = SEEN_CUCKOO, .keys = 10}, 200},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* A file in memory. */
typedef struct bytes {
    uint8_t *p;
    size_t len;
} bytes;

static int append(void *ctx, const void *p, size_t len)
{
    bytes *b = ctx;
    uint8_t *more = aligned_alloc(64, (b->len + len + 64) / 64 * 64);
    if (b->len)
        memcpy(more, b->p, b->len);
    memcpy(more + b->len, p, len);
    free(b->p);
    b->p = more;
    b->len += len;
    return 0;
}

/* Memory for a filter, but not as much as a forged number of keys may ask for. */
static void *get(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    void *p = size > 4 * MOST
                  ? NULL
                  : aligned_alloc(align, (size + align - 1) / align * align);
    return p ? memset(p, 0, size) : NULL;
}

static void put(void *ctx, void *p, size_t size)
{
    (void)ctx, (void)size;
    free(p);
}

static const seen_allocator little = {get, put, NULL};

static uint64_t hash(uint64_t i)
{
    return sn_remix(i + 1);
}

/* ---- the mutator ----------------------------------------------------------------- */

static bytes begin_with(unsigned kind)
{
    bytes b = {0};
    seen_filter *f = NULL;
    if (kinds[kind].spec.kind == SEEN_RIBBON) {
        seen_builder *to;
        if (seen_builder_new(&(seen_build_spec){.threads = 1}, &to) == 0) {
            for (unsigned i = 0; i < kinds[kind].keys; i++)
                seen_builder_add_hashes(to, (uint64_t[]){hash(i)}, 1);
            seen_builder_finish(to, &f);
            seen_builder_free(to);
        }
    } else if (seen_new(&kinds[kind].spec, &f) == 0) {
        for (unsigned i = 0; i < kinds[kind].keys; i++)
            seen_add_hash(f, hash(i));
    }
    if (f)
        seen_write(f, append, &b);
    seen_free(f);
    if (b.len >=
        SN_PREAMBLE) /* the identity is random, and the same inputs come again */
        memset(
            b.p + (sn_le32(b.p + SN_AT_VERSION) == SN_COMPACT_VERSION ? 104 : SN_AT_ID),
            1, 16);
    return b;
}

/* Makes the sums fit again, where they are where they should be. */
static void repair(uint8_t *p, size_t len)
{
    if (len < SN_PREAMBLE)
        return;
    if (sn_le32(p + SN_AT_VERSION) == SN_COMPACT_VERSION) {
        sn_put32(p + SN_COMPACT_FILE_LEN, (uint32_t)len);
        sn_put64(p + SN_COMPACT_SUM,
                 sn_compact_sum(p, p + SN_COMPACT, len - SN_COMPACT));
        return;
    }
    uint64_t header = sn_le64(p + SN_AT_HEADER_LEN);
    uint32_t layers = sn_le32(p + SN_AT_LAYERS);
    sn_put64(p + SN_AT_FILE_LEN, len);
    if (header < SN_PREAMBLE || header > len)
        return;
    uint64_t at = sn_sums_at(layers < 100 ? layers : 0);
    for (uint32_t i = 0; layers < 100 && i < layers && at < header; i++) {
        const uint8_t *r = p + SN_PREAMBLE + i * SN_RECORD;
        if (SN_PREAMBLE + (uint64_t)(i + 1) * SN_RECORD > header)
            break;
        uint64_t from = sn_le64(r + SN_IN_OFFSET), n = sn_le64(r + SN_IN_LEN);
        if (from > len || n > len - from)
            continue;
        for (uint64_t done = 0; done < n && at + 8 <= header; done += SN_PIECE, at += 8)
            sn_put64(p + at, XXH3_64bits(p + from + done,
                                         n - done < SN_PIECE ? n - done : SN_PIECE));
    }
    sn_put64(p + SN_AT_SUM, sn_header_sum(p, header));
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    const char *only = getenv("FORGED_KIND");
    if (size < OPS + SN_PREAMBLE || seed % 64 == 0) {
        bytes b = begin_with(only ? (unsigned)atoi(only) % KINDS : seed / 64 % KINDS);
        if (OPS + b.len > most) {
            free(b.p);
            return LLVMFuzzerMutate(data, size, most);
        }
        memset(data, (int)(seed >> 8 & 255), OPS);
        memcpy(data + OPS, b.p, b.len);
        size = OPS + b.len;
        free(b.p);
    }
    /* Mostly numbers of the header, which a change anywhere would seldom meet. */
    uint8_t *file = data + OPS;
    size_t len = size - OPS, at;
    static const uint8_t steps[] = {1, 2, 4, 8, 16, 32, 64, 128, 255};
    switch (seed >> 6 & 7) {
    case 0:
    case 1:
    case 2:
        size = LLVMFuzzerMutate(data, size, most);
        break;
    case 3:
    case 4:
        at = (seed >> 9) % (len < 256 ? len : 256);
        file[at] = (uint8_t)(file[at] + steps[(seed >> 20) % sizeof steps]);
        break;
    case 5:
        LLVMFuzzerMutate(file + SN_PREAMBLE / 8 * ((seed >> 9) % 16), 8, 8);
        break;
    case 6:
        at = (seed >> 9) % len;
        LLVMFuzzerMutate(file + at, len - at < 8 ? len - at : 8,
                         len - at < 8 ? len - at : 8);
        break;
    default:
        LLVMFuzzerMutate(data, OPS, OPS);
    }
    if (size > OPS)
        repair(data + OPS, size - OPS);
    return size;
}

/* ---- what is done with a file -------------------------------------------------- */

typedef struct known {
    uint64_t h[4 * KEYS];
    unsigned n;
} known;

static void all_found(const seen_filter *f, const known *k)
{
    bool found[4 * KEYS];
    seen_has_hashes(f, k->h, k->n, found);
    for (unsigned i = 0; i < k->n; i++)
        if (!found[i] || !seen_has_hash(f, k->h[i])) {
            fprintf(stderr, "key %u of %u is denied\n", i, k->n);
            abort();
        }
}

static void add(seen_filter *f, known *k, unsigned n, uint64_t salt)
{
    for (unsigned i = 0; i < n && k->n < 4 * KEYS; i++) {
        k->h[k->n] = hash(salt << 32 | i);
        if (seen_add_hash(f, k->h[k->n]) < 0)
            break; /* a size that cannot be had is computed again each time */
        k->n++;
    }
}

/* Removes the last of the keys that were added here. */
static void take_away(seen_filter *f, known *k, unsigned n)
{
    while (n-- && k->n && seen_remove_hash(f, k->h[k->n - 1]) == 1)
        k->n--;
}

static void merge(seen_filter *f, known *k, uint64_t salt)
{
    seen_filter *g;
    known more = {.n = 0};
    if (seen_new_like(f, &g) < 0)
        return;
    add(g, &more, 40, salt);
    if (seen_merge(f, g) == 0)
        for (unsigned i = 0; i < more.n && k->n < 4 * KEYS; i++)
            k->h[k->n++] = more.h[i];
    seen_free(g);
}

/* A copy of F, through a file. */
static seen_filter *written(seen_filter *f)
{
    bytes b = {0};
    seen_filter *g = NULL;
    if (seen_bytes(f) < MOST && seen_write(f, append, &b) == 0 &&
        seen_open_bytes(b.p, b.len, SEEN_LOAD | SEEN_VERIFY, &little, &g) < 0) {
        fprintf(stderr, "what was written is refused: %s\n", seen_reason());
        abort();
    }
    free(b.p);
    if (!g)
        return f;
    seen_free(f);
    return g;
}

static void state(const seen_filter *f)
{
    char line[300];
    double low, high;
    seen_stats st;
    if (f->layers > 2)
        return; /* that takes seconds with sanitizers */
    seen_get_stats(f, &st);
    seen_describe(f, line, sizeof line);
    seen_lost_range(f, 0, &low, &high);
    seen_error_predicted(f);
}

static seen_filter *use(seen_filter *f, const uint8_t *ops)
{
    known k = {.n = 0};
    seen_filter *same;
    for (int i = 0; i < OPS && seen_bytes(f) < MOST; i++) {
        switch (ops[i] % 8) {
        case 0:
            add(f, &k, 1 + ops[i] / 8, (uint64_t)i + 1);
            break;
        case 1:
            add(f, &k, KEYS, (uint64_t)i + 1);
            break;
        case 2:
            take_away(f, &k, ops[i] / 8);
            break;
        case 3:
            merge(f, &k, (uint64_t)i + 100);
            break;
        case 4:
            f = written(f);
            break;
        case 5:
            if (seen_copy(f, &same) == 0) {
                seen_merge(f, same);
                all_found(same, &k);
                seen_free(same);
            }
            break;
        case 6:
            state(f);
            break;
        default:
            if (ops[i] > 240 && seen_clear(f) == 0)
                k.n = 0;
        }
        all_found(f, &k);
    }
    f = written(f);
    all_found(f, &k);
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    seen_filter *f;
    if (size < OPS)
        return 0;
    size_t len = size - OPS;
    uint8_t *p = aligned_alloc(64, (len + 64) / 64 * 64);
    memcpy(p, data + OPS, len);
    if (seen_open_bytes(p, len, 0, NULL, &f) == 0) { /* mapped: it may be forged */
        bool found[64];
        uint64_t h[64];
        for (unsigned i = 0; i < 64; i++)
            h[i] = hash(i);
        seen_has_hashes(f, h, 64, found);
        if (data[0] % 16 == 0)
            state(f);
        seen_verify(f);
        seen_free(f);
    }
    if (seen_open_bytes(p, len, SEEN_LOAD, &little, &f) == 0) { /* which verifies */
        if (seen_bytes(f) < MOST)
            f = use(f, data);
        seen_free(f);
    }
    free(p);
    return 0;
}
