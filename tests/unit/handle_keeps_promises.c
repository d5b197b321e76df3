/* handle_keeps_promises.c - the handle's promises: new and seen again, batches, full,
 * copy, merge. */
#include "seen.h"
#include "test_keys.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

static seen_filter *make(seen_spec spec)
{
    seen_filter *f = NULL;
    if (seen_new(&spec, &f) < 0)
        printf("# %s\n", seen_reason());
    return f;
}

static void first_steps(void)
{
    seen_filter *f = make((seen_spec){0});
    ok(f != NULL, "a specification of zeros makes a filter");
    ok(!seen_has_str(f, "apple"), "an empty filter has nothing");
    ok(seen_add_str(f, "apple") == SEEN_NEW, "the first add is new");
    ok(seen_add_str(f, "apple") == SEEN_DUP, "the second add is a duplicate");
    ok(seen_has_str(f, "apple"), "what was added is found");
    ok(seen_add(f, "", 0) == SEEN_NEW && seen_has(f, "", 0), "the empty key is a key");
    ok(seen_add(f, "a\0b", 3) == SEEN_NEW && !seen_has(f, "a", 1), "NUL bytes count");
    ok(seen_add_u64(f, 42) == SEEN_NEW && seen_has_u64(f, 42) && !seen_has_u64(f, 43),
       "integers are keys");
    ok(seen_added(f) == 4, "four keys are counted once each");
    char line[300];
    int n = seen_describe(f, line, sizeof line);
    ok(n > 0 && n < (int)sizeof line && strstr(line, "4 of 14 keys"),
       "it describes itself: %s", line);
    ok(seen_describe(f, NULL, 0) == n,
       "the length of the description can be asked for");
    ok(seen_clear(f) == 0 && !seen_has_str(f, "apple") && seen_added(f) == 0,
       "clear forgets every key");
    seen_free(f);
    seen_free(NULL);
}

static void batches(seen_kind kind)
{
    seen_filter *f = make((seen_spec){.kind = kind, .keys = 1000});
    seen_key twins[2] = {{"twin", 4}, {"twin", 4}};
    bool dup[100];
    ok(seen_add_many(f, twins, 2, dup, NULL) == 0 && !dup[0] && dup[1],
       "%s: of two equal keys in one batch, only the first is new",
       seen_kind_name(kind));
    char text[100][8];
    seen_key keys[100];
    for (int i = 0; i < 100; i++)
        keys[i] = (seen_key){text[i], (size_t)snprintf(text[i], 8, "k%d", i % 50)};
    seen_add_many(f, keys, 100, dup, NULL);
    int wrong = 0;
    for (int i = 0; i < 100; i++)
        wrong += dup[i] != (i >= 50);
    ok(wrong <= 2, "%s: a batch longer than the window keeps its order",
       seen_kind_name(kind));
    bool found[100];
    seen_has_many(f, keys, 100, found);
    int all = 1;
    for (int i = 0; i < 100; i++)
        all &= found[i];
    ok(all, "%s: every key of a batch is found", seen_kind_name(kind));
    seen_hasher hasher;
    uint64_t h = seen_hash(f, "twin", 4);
    ok(seen_has_hash(f, h) && seen_add_hash(f, h) == SEEN_DUP &&
           seen_get_hasher(f, &hasher) == 0 &&
           h == seen_hasher_hash(&hasher, "twin", 4),
       "%s: hashes are as good as keys", seen_kind_name(kind));
    seen_free(f);
}

static int bytes_equal(void *ctx, const void *p, size_t len)
{
    const uint8_t **at = ctx;
    int rc = memcmp(*at, p, len) ? -1 : 0;
    *at += len;
    return rc;
}

static uint8_t *copy_to;
static int bytes_copy(void *ctx, const void *p, size_t len)
{
    size_t *at = ctx;
    copy_to = realloc(copy_to, *at + len);
    memcpy(copy_to + *at, p, len);
    *at += len;
    return 0;
}

/* Large filters fetch ahead and, larger still, add by region: the same bits and answers
 * as key by key. */
static void large(seen_kind kind, uint64_t memory, uint64_t n, bool bulk)
{
    seen_spec spec = {.kind = kind, .keys = n, .memory = memory};
    seen_filter *one = make(spec), *many = make(spec);
    uint64_t *x = malloc(n * 8), wrong = 0, i = 0;
    seen_key *keys = malloc(n * sizeof *keys);
    bool *dup = malloc(n), *found = malloc(n);
    for (i = 0; i < n; i++) {
        x[i] = i % 7 ? i : i / 3;
        keys[i] = (seen_key){&x[i], 8};
    }
    if (bulk) {
        wrong += seen_add_many(many, keys, n, NULL, NULL) != 0;
    } else {
        size_t step = 1;
        for (i = 0; i < n; i += step, step = step * 3 % 1009 + 1) {
            size_t m = n - i < step ? n - i : step;
            wrong += seen_add_many(many, keys + i, m, dup + i, NULL) != 0;
        }
    }
    for (i = 0; i < n; i++) {
        bool d = seen_add(one, &x[i], 8) == SEEN_DUP;
        wrong += !bulk && d != dup[i];
    }
    ok(wrong == 0 && seen_added(one) == seen_added(many),
       "%s of %llu MB: %s says the same as key by key", seen_kind_name(kind),
       (unsigned long long)memory >> 20, bulk ? "a bulk add" : "a batch of any length");
    size_t len = 0;
    seen_name_by_content(one);
    seen_name_by_content(many);
    seen_write(one, bytes_copy, &len);
    const uint8_t *at = copy_to;
    ok(seen_write(many, bytes_equal, &at) == 0, "and sets the same bits");
    free(copy_to);
    copy_to = NULL;
    for (i = 0; i < n; i++)
        x[i] = i * 3;
    seen_has_many(many, keys, n, found);
    wrong = 0;
    for (i = 0; i < n; i += 11)
        wrong += found[i] != seen_has(one, &x[i], 8);
    ok(wrong == 0, "and finds the same");
    free(x), free(keys), free(dup), free(found);
    seen_free(one), seen_free(many);
}

static void fixed(void)
{
    seen_filter *f = make((seen_spec){.keys = 100, .error = 1e-6, .flags = SEEN_FIXED});
    int full = 0;
    uint64_t i = 0;
    for (; i < 200 && !full; i++)
        full = seen_add_u64(f, i) == SEEN_EFULL;
    ok(full && i == 101, "a fixed filter refuses the key after the last (%d)", (int)i);
    ok(strstr(seen_reason(), "100 keys"), "and says why: %s", seen_reason());
    ok(!seen_has_u64(f, 100), "the refused key is not in");
    ok(seen_add_u64(f, 5) == SEEN_DUP, "a full filter still knows its keys");
    uint64_t h[10];
    bool dup[10];
    for (int j = 0; j < 10; j++)
        h[j] = seen_hash(f, j == 4 ? "x" : "y", 1);
    uint64_t le = 7;
    h[0] = h[1] = h[2] = h[3] = seen_hash(f, LE8(le));
    size_t taken = 99;
    ok(seen_add_hashes(f, h, 10, dup, &taken) == SEEN_EFULL && taken == 4 && dup[3],
       "a batch stops where it is full, with a code and a count");
    seen_free(f);
}

/* A budget says how many bytes; SEEN_FIXED besides, that no more keys are taken. */
static void fixed_budget(void)
{
    seen_filter *f =
        make((seen_spec){.keys = 100, .memory = 4096, .flags = SEEN_FIXED});
    uint64_t i = 0;
    while (i < 200 && seen_add_u64(f, i) >= 0)
        i++;
    ok(i == 100, "a fixed filter of 4096 bytes for 100 keys refuses the next (%d)",
       (int)i);
    seen_free(f);
    f = make((seen_spec){.keys = 100, .memory = 4096});
    for (i = 0; i < 200 && seen_add_u64(f, i) >= 0;)
        i++;
    ok(i == 200, "without the flag it takes what comes");
    seen_free(f);
}

static void copy_and_merge(seen_kind kind)
{
    seen_spec spec = {.kind = kind, .keys = 5000, .flags = SEEN_FIXED};
    seen_filter *a = make(spec), *b = make(spec), *c;
    for (uint64_t i = 0; i < 2000; i++) {
        seen_add_u64(a, i);
        seen_add_u64(b, i + 1000);
    }
    ok(seen_copy(a, &c) == 0 && seen_added(c) == seen_added(a),
       "%s: a copy has the keys", seen_kind_name(kind));
    ok(seen_merge(c, b) == 0, "%s: equal shapes merge", seen_kind_name(kind));
    int all = 1;
    for (uint64_t i = 0; i < 3000; i++)
        all &= seen_has_u64(c, i);
    ok(all, "%s: the union has both", seen_kind_name(kind));
    double n = (double)seen_added(c);
    ok(n > 2850 && n < 3150, "%s: the union's count is estimated from its bits (%.0f)",
       seen_kind_name(kind), n);
    int before = seen_has_u64(a, 2999);
    ok(!before, "%s: the original of a copy is not touched", seen_kind_name(kind));
    seen_filter *other =
        make((seen_spec){.kind = kind, .keys = 6000, .flags = SEEN_FIXED});
    ok(seen_merge(c, other) == SEEN_EMISMATCH && strstr(seen_reason(), "differs"),
       "%s: other shapes are refused: %s", seen_kind_name(kind), seen_reason());
    spec.seed = 7;
    seen_filter *seeded = make(spec);
    ok(seen_merge(c, seeded) == SEEN_EMISMATCH && strstr(seen_reason(), "seed"),
       "%s: other seeds are refused: %s", seen_kind_name(kind), seen_reason());
    seen_free(a), seen_free(b), seen_free(c), seen_free(other), seen_free(seeded);
}

static void *never(void *ctx, size_t size, size_t align)
{
    ok(false, "an allocator without free is not asked");
    return NULL;
}

static void nonsense(void)
{
    static const struct {
        seen_spec spec;
        int code;
        const char *what;
    } bad[] = {
        {{.error = 1}, SEEN_EINVAL, "error 1"},
        {{.error = -0.1}, SEEN_EINVAL, "a negative error"},
        {{.error = 2}, SEEN_EINVAL, "error 2"},
        {{.error = __builtin_nan("")}, SEEN_EINVAL, "error NaN"},
        {{.keys = UINT64_MAX}, SEEN_EINVAL, "2^64 keys"},
        {{.keys = 1000000000000000, .error = 1e-4}, SEEN_ENOMEM, "petabytes"},
        {{.kind = SEEN_SPLIT, .keys = 1000000000000, .error = 1e-4},
         SEEN_ETOOBIG,
         "more than can be addressed"},
        {{.keys = 1000000000, .error = 1e-12},
         SEEN_EINVAL,
         "an error below that of the hash"},
        {{.error = 1e-300}, SEEN_EINVAL, "an error of nothing"},
        {{.keys = 100, .error = 0.1, .memory = 10}, SEEN_EINVAL, "error and memory"},
        {{.flags = 0x8000}, SEEN_EINVAL, "a flag of the future"},
        {{.reserved = {[3] = 1}}, SEEN_EINVAL, "a field of the future"},
        {{.alloc = {.alloc = never}}, SEEN_EINVAL, "half an allocator"},
        {{.kind = (seen_kind)99}, SEEN_EKIND, "kind 99"},
        {{.memory = 1000}, SEEN_EINVAL, "a budget without keys"},
        {{.memory = 1, .keys = 10}, SEEN_EINVAL, "a budget of one byte"},
        {{.bits = UINT64_MAX, .probes = 3}, SEEN_EINVAL, "2^64 bits"},
        {{.bits = 100, .probes = 1000}, SEEN_EINVAL, "1000 probes"},
        {{.kind = SEEN_SPLIT, .keys = 10, .probes = 5},
         SEEN_EINVAL,
         "5 probes a block"},
        {{.bits = 1000, .keys = UINT64_MAX}, SEEN_EINVAL, "2^64 keys in 1000 bits"},
        {{.kind = SEEN_BLOCKED, .keys = 10, .flags = SEEN_REMOVES},
         SEEN_EKIND,
         "lines that remove"},
        {{.bits = 1000, .flags = SEEN_REMOVES}, SEEN_EKIND, "plain bits that remove"},
        {{.kind = SEEN_BLOCKED, .keys = 10, .probes = 17},
         SEEN_ETOOBIG,
         "17 probes a line"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        seen_filter *f = (seen_filter *)&f;
        int rc = seen_new(&bad[i].spec, &f);
        ok(rc == bad[i].code || (bad[i].code == SEEN_ENOMEM && rc == SEEN_ETOOBIG),
           "%s: %s (%s)", bad[i].what, seen_strerror(rc), rc < 0 ? seen_reason() : "");
        ok(f == NULL, "%s: nothing is made", bad[i].what);
        seen_free(f);
    }
}

/* An allocator that counts and can refuse. */
static size_t in_use;
static int refuse, refuse_once;
static void *counting_alloc(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    if (refuse || (refuse_once && refuse_once--))
        return NULL;
    void *p = aligned_alloc(align, (size + align - 1) / align * align);
    if (p)
        memset(p, 0, size);
    in_use += size;
    return p;
}
static void counting_free(void *ctx, void *p, size_t size)
{
    (void)ctx;
    in_use -= size;
    free(p);
}

static void own_memory(void)
{
    seen_spec spec = {.alloc = {counting_alloc, counting_free, NULL}};
    seen_filter *f = make(spec);
    ok(in_use >= seen_bytes(f), "the caller's allocator is used");
    for (uint64_t i = 0; i < 60000; i++)
        seen_add_u64(f, i);
    refuse = 1;
    int rc = 0;
    uint64_t i = 60000;
    for (; i < 200000 && rc >= 0; i++)
        rc = seen_add_u64(f, i);
    ok(rc == SEEN_ENOMEM, "a layer that cannot be allocated is out of memory: %s",
       seen_reason());
    ok(!seen_has_u64(f, i - 1) && seen_has_u64(f, 59999), "and nothing has changed");
    refuse = 0;
    ok(seen_add_u64(f, i - 1) == SEEN_NEW, "with memory again it goes on");
    seen_free(f);
    ok(in_use == 0, "all of it is given back");
}

/* Memory that is short for a moment: what an add says is true all the same. */
static void short_of_memory(void)
{
    seen_spec spec = {.alloc = {counting_alloc, counting_free, NULL}};
    seen_filter *f = make(spec);
    uint64_t wrong = 0, failed = 0;
    for (uint64_t i = 0; i < 200000; i++) {
        uint64_t bytes = seen_bytes(f);
        refuse_once = 1;
        int rc = seen_add_u64(f, i);
        failed += rc < 0 || seen_bytes(f) != bytes;
        wrong += rc >= 0 && !seen_has_u64(f, i);
    }
    refuse_once = 0;
    ok(failed > 0 && wrong == 0,
       "a key that was taken is in, also when growing failed first "
       "(%d keys lost)",
       (int)wrong);
    seen_free(f);
    /* Codes of what is made of adds. */
    seen_filter *a, *b, *c;
    seen_spec set = {.kind = SEEN_SET, .keys = 10, .alloc = spec.alloc};
    a = make(set), b = make(set);
    for (uint64_t i = 0; i < 5000; i++)
        seen_add_u64(b, i);
    refuse = 1;
    ok(seen_merge(a, b) == SEEN_ENOMEM, "a merge that has no memory says so: %s",
       seen_reason());
    refuse = 0;
    seen_free(a);
    set.flags = SEEN_FIXED;
    set.keys = 5500;
    a = make(set);
    for (uint64_t i = 4000; i < 5000; i++)
        seen_add_u64(a, i);
    ok(seen_merge(a, b) == 0 && seen_added(a) == 5000,
       "sets that share keys fit together");
    seen_free(a);
    a = make(set);
    for (uint64_t i = 10000; i < 11000; i++)
        seen_add_u64(a, i);
    ok(seen_merge(a, b) == SEEN_EFULL && seen_added(a) == 1000,
       "a merge for which there is no room changes nothing: %s", seen_reason());
    spec = (seen_spec){.kind = SEEN_BLOCKED, .keys = 100, .flags = SEEN_FIXED};
    ok(seen_rebuild(b, &spec, &c) == SEEN_EFULL && c == NULL, "nor does a rebuild: %s",
       seen_reason());
    seen_free(a), seen_free(b);
    ok(in_use == 0, "all of it is given back");
}

/* The hash 0 is a hash like any other, at every stage of a growing filter. */
static void hash_zero(void)
{
    seen_filter *f = make((seen_spec){.keys = 0}), *g;
    seen_add_hash(f, 0);
    for (uint64_t i = 1; i < 14; i++)
        seen_add_u64(f, i);
    seen_spec spec = {.kind = SEEN_BLOCKED, .keys = 1000, .error = 1e-6};
    ok(seen_rebuild(f, &spec, &g) == 0 && seen_has_hash(g, 0),
       "a rebuilt filter has the hash 0");
    seen_free(g);
    for (uint64_t i = 14; i < 200000; i++)
        seen_add_u64(f, i);
    ok(seen_kind_of(f) != SEEN_SET && seen_has_hash(f, 0),
       "so has one that outgrew its hashes");
    seen_free(f);
}

/* What is made like a filter can be merged with it, whatever its hash and its layers.
 */
static void like_another(void)
{
    static const seen_spec specs[] = {{.keys = 1000, .error = 0.001},
                                      {.kind = SEEN_SET, .hash = SEEN_HASH_KEYED},
                                      {.kind = SEEN_CUCKOO, .keys = 500},
                                      {.keys = 100, .hash = SEEN_HASH_KEYED,
                                       .seed = 5, .seed_high = 6},
                                      {.kind = SEEN_CLASSIC, .keys = 1000}};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        seen_filter *f, *g;
        seen_hasher a, b;
        seen_new(&specs[i], &f);
        for (uint64_t x = 0; x < 700; x++)
            seen_add_u64(f, x);
        ok(seen_new_like(f, &g) == 0 && seen_added(g) == 0 && !seen_has_u64(g, 1),
           "an empty filter like another");
        seen_get_hasher(f, &a);
        seen_get_hasher(g, &b);
        ok(!memcmp(&a, &b, sizeof a) && seen_kind_of(f) == seen_kind_of(g),
           "has its kind and its hash");
        seen_add_str(g, "only here");
        unsigned lost = 0;
        int rc = seen_merge(f, g);
        if (seen_kind_can(seen_kind_of(f)) & SEEN_CAN_MERGE) {
            for (uint64_t x = 0; x < 700; x++)
                lost += !seen_has_u64(f, x);
            ok(rc == 0 && !lost && seen_has_str(f, "only here"), "and can be merged");
        } else {
            ok(rc == SEEN_EKIND, "but this kind is not merged");
        }
        seen_free(g);
        seen_free(f);
    }
    seen_filter *f, *g;
    seen_new(&(seen_spec){.keys = 10, .hash = SEEN_HASH_KEYED, .seed = 1}, &f);
    seen_new(
        &(seen_spec){.keys = 10, .hash = SEEN_HASH_KEYED, .seed = 1, .seed_high = 1},
        &g);
    ok(seen_merge(f, g) == SEEN_EMISMATCH && strstr(seen_reason(), "--like"),
       "other seeds do not merge: %s", seen_reason());
    seen_free(g);
    seen_free(f);
}

/* Looking ahead changes no answer and gives the hash that later calls take. */
static void prefetched(void)
{
    static const seen_spec specs[] = {
        {.kind = SEEN_CLASSIC, .keys = 900000}, {.kind = SEEN_BLOCKED, .keys = 900000},
        {.kind = SEEN_SPLIT, .keys = 900000},   {.kind = SEEN_CUCKOO, .keys = 900000},
        {.kind = SEEN_SET, .keys = 900000},     {.kind = SEEN_BLOCKED, .keys = 3},
    };
    bool hashes = true, answers = true, held = true;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        seen_filter *f = make(specs[i]);
        for (uint64_t x = 0; x < 20000; x++)
            held &= seen_add_hash(f, seen_prefetch(f, LE8(x))) >= 0;
        uint64_t added = seen_added(f);
        for (uint64_t x = 0; x < 40000; x++) {
            uint64_t h = seen_prefetch(f, LE8(x));
            seen_prefetch_hash(f, h);
            hashes &= h == seen_hash(f, LE8(x));
            answers &= seen_has_hash(f, h) == seen_has(f, LE8(x));
            held &= x >= 20000 || seen_has_hash(f, h) == 1;
        }
        held &= seen_added(f) == added;
        seen_free(f);
    }
    ok(hashes, "seen_prefetch returns the hash of the key");
    ok(answers && held, "and changes no answer, in any kind, with one layer or many");
}

int main(void)
{
    first_steps();
    static const seen_kind kinds[] = {SEEN_CLASSIC, SEEN_BLOCKED, SEEN_SPLIT};
    for (int i = 0; i < 3; i++) {
        batches(kinds[i]);
        copy_and_merge(kinds[i]);
    }
    large(SEEN_BLOCKED, 1 << 20, 200000, false);
    large(SEEN_SPLIT, 1 << 20, 200000, false);
    large(SEEN_CLASSIC, 1 << 20, 100000, false);
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) /* not emulated */
    large(SEEN_BLOCKED, 257 << 20, 5000000, true);
#endif
    fixed();
    fixed_budget();
    nonsense();
    own_memory();
    short_of_memory();
    hash_zero();
    ok(strcmp(seen_strerror(-999), "unknown error") == 0,
       "an unknown code has words too");
    ok(strcmp(seen_version(), SEEN_VERSION) == 0,
       "header and library agree on the version");
    like_another();
    prefetched();
    return done();
}
