/* unknown_is_refused.c - what this version does not know it refuses, so that a later
 * one may give it a meaning: reserved fields, unknown bits of flags and modes. */
#include "seen.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Every word of the reserved array of a structure, set alone, is refused by CALL. */
#define REFUSES_RESERVED(what, object, call)                                           \
    do {                                                                               \
        size_t words = sizeof(object).reserved / 8, refused = 0;                       \
        for (size_t i = 0; i < words; i++) {                                           \
            (object).reserved[i] = 1;                                                  \
            refused += (call) == SEEN_EINVAL;                                          \
            (object).reserved[i] = 0;                                                  \
        }                                                                              \
        ok(refused == words, what ": %zu reserved words, all refused: %s", words,      \
           seen_reason());                                                             \
    } while (0)

static void structures(void)
{
    seen_filter *f;
    seen_builder *b;
    seen_spec spec = {.keys = 10};
    REFUSES_RESERVED("seen_spec", spec, seen_new(&spec, &f));
    spec.hash = 99;
    ok(seen_new(&spec, &f) == SEEN_EINVAL && !f, "a hash that is unknown: %s",
       seen_reason());
    spec.hash = SEEN_HASH_XXH3;
    spec.seed_high = 1;
    ok(seen_new(&spec, &f) == SEEN_EINVAL && !f, "half a seed too much: %s",
       seen_reason());
    seen_hasher none = {{0}};
    spec = (seen_spec){.keys = 10, .hasher = &none};
    ok(seen_new(&spec, &f) == SEEN_EINVAL && !f, "a hasher of zeroes: %s",
       seen_reason());
    seen_hasher_init(&none, SEEN_HASH_KEYED, 1, 2);
    spec.seed = 1;
    ok(seen_new(&spec, &f) == SEEN_EINVAL && !f, "a hasher and a seed: %s",
       seen_reason());
    spec = (seen_spec){.keys = 10};
    unsigned taken = 0;
    for (unsigned bit = 6; bit < 32; bit++) {
        spec.flags = 1u << bit;
        taken += seen_new(&spec, &f) != SEEN_EINVAL;
    }
    ok(taken == 0, "unknown flags of seen_spec: %s", seen_reason());
    seen_size size = {.keys = 10, .error = 0.01};
    REFUSES_RESERVED("seen_size", size, seen_solve(&size));
    seen_build_spec build = {.error = 0.01};
    REFUSES_RESERVED("seen_build_spec", build, seen_builder_new(&build, &b));
    build.hash = 99;
    ok(seen_builder_new(&build, &b) == SEEN_EINVAL && !b, "and an unknown hash");
    seen_params params = {.keys = 10, .error = 0.01};
    REFUSES_RESERVED("seen_params", params, seen_new_foreign("guava", &params, &f));
    REFUSES_RESERVED("seen_params when opening", params,
                     seen_open_foreign_bytes("x", 1, "guava", &params, 0, &f));
    taken = 0;
    for (unsigned bit = 5; bit < 32; bit++) {
        params.flags = 1u << bit;
        taken += seen_new_foreign("guava", &params, &f) != SEEN_EINVAL;
    }
    ok(taken == 0, "unknown flags of seen_params: %s", seen_reason());
}

static void modes(void)
{
    char path[] = "/tmp/seen-modes-XXXXXX";
    close(mkstemp(path));
    seen_filter *f, *g;
    seen_new(&(seen_spec){.keys = 10}, &f);
    ok(seen_save(f, path) == 0, "a file to open");
    unsigned taken = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        unsigned mode = 1u << bit;
        if (mode & (SEEN_WRITE | SEEN_LOAD | SEEN_SHARED | SEEN_VERIFY))
            continue;
        taken += seen_open(path, mode, &g) != SEEN_EINVAL || g;
        taken += seen_open_foreign(path, "guava", NULL, mode, &g) != SEEN_EINVAL || g;
        taken += seen_open_bytes(NULL, 0, mode, NULL, &g) != SEEN_EINVAL || g;
        taken += seen_open_foreign_bytes("", 0, NULL, NULL, mode, &g) != SEEN_EINVAL;
    }
    ok(taken == 0, "unknown modes: %s", seen_reason());
    ok(seen_open(path, SEEN_LOAD | SEEN_WRITE, &g) == SEEN_EINVAL,
       "modes that contradict each other: %s", seen_reason());
    ok(seen_open_foreign(path, NULL, NULL, SEEN_SHARED, &g) == SEEN_EKIND,
       "sharing another system's file: %s", seen_reason());
    seen_free(f);
    unlink(path);
}

static void *never(void *ctx, size_t size, size_t align)
{
    return NULL;
}

static void half_an_allocator(void)
{
    const seen_allocator half = {.alloc = never};
    seen_filter *f;
    seen_builder *b;
    seen_bitmap *m;
    ok(seen_new(&(seen_spec){.keys = 1, .alloc = half}, &f) == SEEN_EINVAL &&
           seen_open_with("/dev/null", 0, &half, &f) == SEEN_EINVAL &&
           seen_open_bytes(NULL, 0, 0, &half, &f) == SEEN_EINVAL &&
           seen_new_foreign("guava", &(seen_params){.keys = 1, .alloc = half}, &f) ==
               SEEN_EINVAL &&
           seen_builder_new(&(seen_build_spec){.alloc = half}, &b) == SEEN_EINVAL &&
           seen_bitmap_new(10, &half, &m) == SEEN_EINVAL,
       "half an allocator: %s", seen_reason());
}

int main(void)
{
    ok(seen_version_number() == SEEN_VERSION_NUMBER &&
           SEEN_VERSION_NUMBER == SEEN_VERSION_MAJOR * 10000 +
                                      SEEN_VERSION_MINOR * 100 + SEEN_VERSION_PATCH &&
           !strcmp(seen_version(), SEEN_VERSION),
       "the version as a number and in words");
    int kinds = 0, named = 0, beyond = 0;
    for (int k = 1; seen_kind_name((seen_kind)k); k++, kinds++)
        named += k == SEEN_FOREIGN ||
                 (int)seen_kind_named(seen_kind_name((seen_kind)k)) == k;
    for (int k = kinds + 1; k <= SEEN_KIND_UNKNOWN; k++)
        beyond += seen_kind_name((seen_kind)k) != NULL;
    ok(kinds >= SEEN_FOREIGN && named == kinds && !beyond &&
           seen_kind_named("nothing") == SEEN_KIND_UNKNOWN &&
           seen_kind_named(NULL) == SEEN_KIND_UNKNOWN && SEEN_KIND_UNKNOWN == 255,
       "kinds are numbered without gaps, and 255 is none of them");
    structures();
    modes();
    half_an_allocator();
    return done();
}
