/* filter_knows_its_keys.c - the type of the keys and the identity of a filter: what is
 * said once stays, what cannot match is refused, and two states are told apart. */
#include "seen.h"
#include "filter/file.h"
#include "base/bytes.h"
#include "tap.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/seen-keys-XXXXXX", path[64], other[64];

/* Small ones have a compact header, large ones the long one. */
static seen_filter *made(uint64_t keys, unsigned flags)
{
    seen_filter *f = NULL;
    seen_new(&(seen_spec){.keys = keys, .kind = SEEN_BLOCKED, .flags = flags}, &f);
    return f;
}

static seen_filter *opened(const char *name, unsigned mode)
{
    seen_filter *f = NULL;
    if (seen_open(name, mode, &f) < 0)
        note("%s", seen_reason());
    return f;
}

static void types(void)
{
    seen_filter *f = made(100, 0);
    ok(seen_keys_of(f) == SEEN_KEYS_UNSAID, "a new filter has no type");
    ok(seen_check_keys(f, SEEN_KEYS_INT64) == 0 &&
           seen_keys_of(f) == SEEN_KEYS_UNSAID,
       "a question does not give it one");
    ok(seen_take_keys(f, SEEN_KEYS_INT64) == 0 && seen_keys_of(f) == SEEN_KEYS_INT64,
       "the first keys do");
    for (seen_keys t = 0; seen_keys_name(t); t++) {
        bool fits =
            t <= SEEN_KEYS_MIXED || t == SEEN_KEYS_INT64 || t == SEEN_KEYS_UINT64;
        ok(seen_check_keys(f, t) == (fits ? 0 : SEEN_EMISMATCH) &&
               seen_take_keys(f, t) == (fits ? 0 : SEEN_EMISMATCH) &&
               seen_keys_of(f) == SEEN_KEYS_INT64,
           "asked with %s: %s", seen_keys_name(t), fits ? "fine" : seen_reason());
    }
    ok(seen_check_keys(f, (seen_keys)99) == SEEN_EINVAL &&
           seen_set_keys(f, (seen_keys)-1) == SEEN_EINVAL,
       "an unknown type: %s", seen_reason());
    ok(seen_set_keys(f, SEEN_KEYS_TEXT) == SEEN_EMISMATCH, "it is said once: %s",
       seen_reason());
    ok(seen_set_keys(f, SEEN_KEYS_MIXED) == 0 &&
           seen_check_keys(f, SEEN_KEYS_TEXT) == 0,
       "only mixed can be said of any");
    seen_free(f);
    f = made(100, 0);
    seen_add_str(f, "a program that says nothing");
    ok(seen_keys_of(f) == SEEN_KEYS_MIXED && seen_take_keys(f, SEEN_KEYS_UUID) == 0 &&
           seen_keys_of(f) == SEEN_KEYS_MIXED,
       "keys of no type make it mixed, and typed ones do not change that");
    ok(seen_set_keys(f, SEEN_KEYS_TEXT) == 0 && seen_keys_of(f) == SEEN_KEYS_TEXT,
       "unless somebody vouches for them");
    seen_free(f);
}

static void travels(uint64_t keys)
{
    seen_filter *f = made(keys, 0), *g, *h;
    seen_take_keys(f, SEEN_KEYS_UUID);
    seen_add_str(f, "0123456789abcdef");
    ok(seen_save(f, path) == 0, "for %d keys", (int)keys);
    unsigned modes[] = {SEEN_READ, SEEN_LOAD, SEEN_WRITE};
    for (int i = 0; i < 3; i++) {
        g = opened(path, modes[i]);
        ok(seen_keys_of(g) == SEEN_KEYS_UUID, "a file keeps the type (mode %u)",
           modes[i]);
        seen_free(g);
    }
    g = opened(path, SEEN_READ);
    ok(seen_set_keys(g, SEEN_KEYS_MIXED) == 0 && seen_keys_of(g) == SEEN_KEYS_MIXED,
       "a read-only filter can be taken as mixed");
    seen_free(g);
    g = opened(path, SEEN_READ);
    ok(seen_keys_of(g) == SEEN_KEYS_UUID, "which its file does not notice");
    seen_copy(g, &h);
    ok(seen_keys_of(h) == SEEN_KEYS_UUID, "a copy has it");
    seen_free(g);
    seen_new_like(h, &g);
    ok(seen_keys_of(g) == SEEN_KEYS_UUID, "and a filter like it");
    seen_free(g), seen_free(h), seen_free(f);

    f = made(keys, 0);
    seen_save(f, path);
    seen_free(f);
    f = opened(path, SEEN_WRITE);
    ok(seen_take_keys(f, SEEN_KEYS_TEXT) == 0, "a type said in a file opened to write");
    seen_add_str(f, "key");
    ok(seen_flush(f) == 0 && (g = opened(path, SEEN_VERIFY)) &&
           seen_keys_of(g) == SEEN_KEYS_TEXT && seen_has_str(g, "key"),
       "is in the file after a flush");
    seen_free(g), seen_free(f);
}

/* A process that dies at once after it said a type and added a key. */
static void killed(uint64_t keys)
{
    seen_filter *f = made(keys, 0), *g;
    seen_save(f, path);
    seen_free(f);
    pid_t child = fork();
    if (!child) {
        f = opened(path, SEEN_WRITE);
        seen_take_keys(f, SEEN_KEYS_INT64);
        seen_add_u64(f, 7);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    g = opened(path, SEEN_READ);
    ok(g && seen_keys_of(g) == SEEN_KEYS_INT64 && seen_has_u64(g, 7),
       "killed before the flush, the file has key and type (%d keys)", (int)keys);
    seen_free(g);
}

static void merges(void)
{
    seen_filter *a = made(100, 0), *b = made(100, 0);
    seen_take_keys(b, SEEN_KEYS_TEXT);
    seen_add_str(b, "b");
    ok(seen_merge(a, b) == 0 && seen_keys_of(a) == SEEN_KEYS_TEXT,
       "an empty filter takes the type of what it merges");
    seen_clear(b);
    seen_filter *c = made(100, 0);
    seen_take_keys(c, SEEN_KEYS_INT64);
    seen_add_u64(c, 1);
    ok(seen_merge(a, c) == SEEN_EMISMATCH && !seen_has_u64(a, 1),
       "two types do not merge: %s", seen_reason());
    ok(seen_set_keys(a, SEEN_KEYS_MIXED) == 0 && seen_merge(a, c) == 0 &&
           seen_has_u64(a, 1),
       "unless the result is mixed");
    seen_filter *d = made(100, 0);
    seen_add_str(d, "of an older file");
    ok(seen_merge(c, d) == 0 && seen_keys_of(c) == SEEN_KEYS_MIXED,
       "with keys of no type it becomes mixed");
    seen_filter *e = made(100, 0), *other_shape = made(5000, 0);
    seen_take_keys(e, SEEN_KEYS_TEXT);
    seen_add_str(other_shape, "mixed");
    ok(seen_merge(e, other_shape) == SEEN_EMISMATCH &&
           seen_keys_of(e) == SEEN_KEYS_TEXT,
       "a merge that fails leaves the type");
    seen_free(e), seen_free(other_shape);
    seen_free(a), seen_free(b), seen_free(c), seen_free(d);
}

static seen_identity identity(const char *name)
{
    seen_identity id = {{0}, 0};
    seen_filter *f = opened(name, SEEN_READ);
    if (!seen_get_identity(f, &id))
        memset(&id, 0, sizeof id);
    seen_free(f);
    return id;
}

static bool same_id(const seen_identity *a, const seen_identity *b)
{
    return memcmp(a->id, b->id, sizeof a->id) == 0;
}

static void identities(uint64_t keys)
{
    seen_filter *f = made(keys, 0), *g = made(keys, 0);
    seen_save(f, path);
    seen_save(g, other);
    seen_identity a = identity(path), b = identity(other), c, zero = {{0}, 0};
    ok(!same_id(&a, &zero) && !same_id(&a, &b), "two filters have two ids");
    seen_free(g);
    seen_add_str(f, "x");
    seen_save(f, path);
    c = identity(path);
    ok(same_id(&a, &c) && c.generation >> 32 > a.generation >> 32,
       "a later state has the same id and a higher generation");
    seen_free(f);
    f = opened(path, SEEN_LOAD);
    seen_add_str(f, "y");
    seen_save(f, other);
    seen_free(f);
    f = opened(path, SEEN_LOAD);
    seen_add_str(f, "z");
    seen_save(f, path);
    seen_free(f);
    a = identity(path), b = identity(other);
    ok(same_id(&a, &b) && a.generation != b.generation,
       "copies that were changed apart have two generations");
    f = opened(path, SEEN_WRITE);
    ok(!seen_get_identity(f, &c), "a file open for writing stands for nothing");
    g = opened(path, SEEN_READ);
    ok(!seen_get_identity(g, &c), "also to those who read it");
    seen_free(g);
    seen_add_str(f, "w");
    seen_flush(f);
    b = identity(path);
    ok(same_id(&a, &b) && b.generation >> 32 > a.generation >> 32,
       "a flush is a new generation");
    seen_add_str(f, "v");
    seen_free(f);
    c = identity(path);
    ok(same_id(&c, &b) && c.generation >> 32 > b.generation >> 32,
       "and so is the next");
}

/* A filter of an earlier version, made from one of this one. */
static void earlier(void)
{
    seen_filter *f = made(100000, 0), *g;
    seen_add_str(f, "x");
    seen_save(f, path);
    seen_free(f);
    FILE *file = fopen(path, "r+");
    static uint8_t header[SN_PAGE];
    if (fread(header, 1, SN_PAGE, file) != SN_PAGE)
        abort();
    memset(header + SN_AT_ID, 0, SN_PREAMBLE - SN_AT_ID);
    sn_put32(header + SN_AT_VERSION, 1);
    sn_put64(header + SN_AT_SUM, sn_header_sum(header, SN_PAGE));
    rewind(file);
    fwrite(header, 1, SN_PAGE, file);
    fclose(file);
    seen_identity id;
    f = opened(path, SEEN_VERIFY);
    ok(f && !seen_get_identity(f, &id) && seen_keys_of(f) == SEEN_KEYS_MIXED,
       "a file of version 1 has mixed keys and no identity");
    seen_free(f);
    f = opened(path, SEEN_WRITE);
    ok(f && seen_take_keys(f, SEEN_KEYS_INT64) == 0 && seen_add_str(f, "y") >= 0 &&
           seen_flush(f) == 0,
       "it is written in place");
    seen_free(f);
    f = opened(path, SEEN_VERIFY);
    ok(f && seen_has_str(f, "y") && !seen_get_identity(f, &id), "and stays version 1");
    seen_free(f);
    f = opened(path, SEEN_LOAD);
    seen_save(f, path);
    seen_free(f);
    g = opened(path, SEEN_VERIFY);
    ok(g && seen_get_identity(g, &id) && seen_keys_of(g) == SEEN_KEYS_MIXED,
       "written anew it has an identity; its keys stay mixed");
    seen_free(g);
}

/* What no version up to this one writes, with right checksums. */
static void newer(void)
{
    static const struct {
        int at;
        uint8_t byte;
        const char *what;
    } x[] = {{SN_AT_VERSION, 5, "version"},
             {SN_AT_FLAGS, 64, "flag"},
             {SN_AT_HASH, 9, "hash"},
             {SN_AT_KEY_TYPE, 77, "type of keys"},
             {SN_AT_RESERVED, 1, "field"},
             {SN_PREAMBLE + SN_IN_KIND, 99, "kind"},
             {SN_PREAMBLE + SN_IN_K, 200, "shape"}};
    seen_filter *f = made(100000, 0), *g;
    seen_save(f, path);
    seen_free(f);
    FILE *file = fopen(path, "r");
    static _Alignas(64) uint8_t bytes[1 << 18];
    size_t len = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        uint8_t was = bytes[x[i].at];
        bytes[x[i].at] = x[i].byte;
        sn_put64(bytes + SN_AT_SUM, sn_header_sum(bytes, SN_PAGE));
        ok(seen_open_bytes(bytes, len, 0, NULL, &g) == SEEN_EVERSION &&
               strstr(seen_reason(), "newer version"),
           "an unknown %s is of a newer version: %s", x[i].what, seen_reason());
        seen_free(g);
        bytes[x[i].at] = was;
    }
}

int main(void)
{
    if (!mkdtemp(dir))
        return 2;
    snprintf(path, sizeof path, "%s/f", dir);
    snprintf(other, sizeof other, "%s/g", dir);
    types();
    merges();
    for (uint64_t keys = 100; keys <= 100000; keys *= 1000) {
        travels(keys);
        killed(keys);
        identities(keys);
    }
    earlier();
    newer();
    unlink(path), unlink(other), rmdir(dir);
    return done();
}
