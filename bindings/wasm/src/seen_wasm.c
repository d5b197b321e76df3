/* seen_wasm.c - seen.h as a module of functions that JavaScript can call.
 *
 * Numbers go in as arguments, counts as doubles (exact up to 2^53, and no filter here
 * comes near). A call that makes a filter returns its address, or a negative code of
 * enum seen_code; memory is bounded below 2^31, so an address is never negative. What
 * is more than a number comes back in `cells`. Nothing here checks what seen.h checks.
 */
#define SEEN_UNSTABLE
#include "seen.h"
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define EXPORT(name) __attribute__((export_name(#name))) name
#define IMPORT(name) __attribute__((import_module("seen"), import_name(#name)))

IMPORT(random) void engine_random(void *to, size_t len);
/* Takes a piece of what is written; the memory is only lent. */
IMPORT(piece) void engine_piece(const void *p, size_t len);

ssize_t getrandom(void *to, size_t len, unsigned flags)
{
    engine_random(to, len);
    return (ssize_t)len;
}

/* ---- memory ---------------------------------------------------------------------- */

void *EXPORT(take_memory)(size_t len)
{
    return aligned_alloc(64,
                         (len + 63) & ~(size_t)63); /* as seen_open_bytes wants it */
}

void EXPORT(give_memory)(void *p)
{
    free(p);
}

/* Zeroed, as filters want it. An address and a length are numbers below 2^31. */
static void *zeroed(void *ctx, size_t len, size_t align)
{
    size_t whole = (len + align - 1) / align * align;
    void *p = len <= INT32_MAX ? aligned_alloc(align, whole) : NULL;
    return p ? memset(p, 0, len) : NULL;
}

static void give_back(void *ctx, void *p, size_t len)
{
    free(p);
}

static const seen_allocator memory = {.alloc = zeroed, .free = give_back};

/* What a call has to say beyond its result. */
static union cell {
    double number;
    uint64_t word;
} cells[32];

void *EXPORT(cells_at)(void)
{
    return cells;
}

/* ---- words ----------------------------------------------------------------------- */

const char *EXPORT(version)(void)
{
    return seen_version();
}
const char *EXPORT(reason)(void)
{
    return seen_reason();
}
unsigned EXPORT(kind_can)(int kind)
{
    return seen_kind_can((seen_kind)kind);
}

/* Format number I: its name, what it is, what opens and what makes it; 0 beyond the
 * last. */
int EXPORT(format_at)(size_t i)
{
    size_t n;
    const seen_format *const *all = seen_formats(&n);
    if (i >= n)
        return 0;
    const char *words[] = {all[i]->name, all[i]->about, all[i]->to_open,
                           all[i]->to_make};
    for (int w = 0; w < 4; w++)
        cells[w].word = (uintptr_t)words[w];
    cells[4].word = all[i]->can;
    return 1;
}

/* ---- sizes ----------------------------------------------------------------------- */

static void tell_size(const seen_size *s)
{
    cells[0].number = s->kind;
    cells[1].number = s->probes;
    cells[2].number = (double)s->keys;
    cells[3].number = s->error;
    cells[4].number = (double)s->bits;
    cells[5].number = (double)s->bytes;
    cells[6].number = s->bits_per_key;
}

int EXPORT(solve)(int kind, double keys, double error, double bytes, unsigned probes)
{
    seen_size s = {.kind = (seen_kind)kind,
                   .keys = (uint64_t)keys,
                   .error = error,
                   .bytes = (uint64_t)bytes,
                   .probes = probes};
    int rc = seen_solve(&s);
    if (rc == 0)
        tell_size(&s);
    return rc;
}

/* ---- making ---------------------------------------------------------------------- */

static int made(int rc, const void *object)
{
    return rc < 0 ? rc : (int)(uintptr_t)object;
}

int EXPORT(filter_new)(int kind, unsigned flags, double keys, double error,
                       double bytes, double bits, unsigned probes, unsigned hash,
                       uint64_t seed, uint64_t seed_high)
{
    seen_spec spec = {.kind = (seen_kind)kind,
                      .flags = flags,
                      .keys = (uint64_t)keys,
                      .error = error,
                      .memory = (uint64_t)bytes,
                      .bits = (uint64_t)bits,
                      .probes = probes,
                      .hash = hash,
                      .seed = seed,
                      .seed_high = seed_high,
                      .alloc = memory};
    seen_filter *f;
    int rc = seen_new(&spec, &f);
    return made(rc, f);
}

/* What the next foreign filter is made or opened with. */
static seen_params params;

void EXPORT(set_params)(double keys, double error, double bits, unsigned probes,
                        unsigned bits_per_key, unsigned expansion, unsigned flags,
                        int row_group, const uint32_t *seeds, unsigned seeds_n,
                        const char *type, const char *column)
{
    params = (seen_params){.keys = (uint64_t)keys,
                           .error = error,
                           .bits = (uint64_t)bits,
                           .probes = probes,
                           .bits_per_key = bits_per_key,
                           .expansion = expansion,
                           .flags = flags,
                           .row_group = row_group,
                           .seeds = seeds,
                           .seeds_n = seeds_n,
                           .type = type,
                           .column = column,
                           .alloc = memory};
}

int EXPORT(filter_new_foreign)(const char *format)
{
    seen_filter *f;
    int rc = seen_new_foreign(format, &params, &f);
    return made(rc, f);
}

int EXPORT(filter_open)(const void *bytes, size_t len)
{
    seen_filter *f;
    int rc = seen_open_bytes(bytes, len, SEEN_LOAD, &memory, &f);
    return made(rc, f);
}

int EXPORT(filter_open_foreign)(const void *bytes, size_t len, const char *format)
{
    seen_filter *f;
    int rc = seen_open_foreign_bytes(bytes, len, format, &params, SEEN_LOAD, &f);
    return made(rc, f);
}

int EXPORT(filter_copy)(const seen_filter *f)
{
    seen_filter *g;
    int rc = seen_copy(f, &g);
    return made(rc, g);
}

int EXPORT(filter_like)(const seen_filter *f)
{
    seen_filter *g;
    int rc = seen_new_like(f, &g);
    return made(rc, g);
}

void EXPORT(filter_free)(seen_filter *f)
{
    seen_free(f);
}

/* ---- keys ------------------------------------------------------------------------ */

int EXPORT(key_add)(seen_filter *f, const void *key, size_t len)
{
    return seen_add(f, key, len);
}
int EXPORT(key_has)(const seen_filter *f, const void *key, size_t len)
{
    return seen_ask(f, key, len);
}
int EXPORT(key_remove)(seen_filter *f, const void *key, size_t len)
{
    return seen_remove(f, key, len);
}

enum { ADD, HAS, BUILD };

/* N keys that stand one behind the other at BYTES: key i ends where ENDS[i] says, or
 * after 8 bytes if ENDS is NULL. ANSWERS[i] is 1 if an added key was new, if a key that
 * is asked for was found; for a builder there are none. How many were taken is in
 * cells[0]. */
int EXPORT(keys_many)(int what, void *object, const uint8_t *bytes,
                      const uint32_t *ends, size_t n, uint8_t *answers)
{
    enum { CHUNK = 512 };
    seen_key keys[CHUNK];
    size_t at = 0, done = 0;
    int rc = 0;
    while (rc >= 0 && done < n) {
        size_t some = n - done < CHUNK ? n - done : CHUNK, taken = some;
        for (size_t i = 0; i < some; i++) {
            size_t end = ends ? ends[done + i] : at + 8;
            keys[i] = (seen_key){bytes + at, end - at};
            at = end;
        }
        bool *out = (bool *)answers + done;
        if (what == HAS)
            rc = seen_ask_many(object, keys, some, out);
        else if (what == ADD)
            rc = seen_add_many(object, keys, some, out, &taken);
        else
            rc = seen_builder_add(object, keys, some);
        for (size_t i = 0; what == ADD && i < taken; i++)
            answers[done + i] ^= 1;
        done += rc < 0 ? taken : some;
    }
    cells[0].number = (double)done;
    return rc;
}

int EXPORT(filter_clear)(seen_filter *f)
{
    return seen_clear(f);
}
int EXPORT(filter_merge)(seen_filter *to, const seen_filter *from)
{
    return seen_merge(to, from);
}

/* ---- what is in it --------------------------------------------------------------- */

void EXPORT(filter_stats)(const seen_filter *f)
{
    seen_stats s;
    seen_get_stats(f, &s);
    const double numbers[] = {s.kind,
                              s.probes,
                              s.layers,
                              s.flags,
                              (double)s.added,
                              (double)s.capacity,
                              (double)s.bits,
                              (double)s.bits_set,
                              (double)s.bytes,
                              s.fill,
                              s.error_wanted,
                              s.error_now,
                              s.keys_estimate,
                              s.lost_expected,
                              s.hash,
                              s.writable};
    const unsigned n = sizeof numbers / sizeof *numbers;
    for (unsigned i = 0; i < n; i++)
        cells[i].number = numbers[i];
    cells[n].word = s.seed;
    cells[n + 1].word = s.seed_high;
}

/* Keys of TYPE are to be asked, added, or are what F holds. */
enum { ASKS, ADDS, HOLDS };
int EXPORT(filter_keys)(seen_filter *f, int type, int how)
{
    return how == ASKS   ? seen_check_keys(f, (seen_keys)type)
           : how == ADDS ? seen_take_keys(f, (seen_keys)type)
                         : seen_set_keys(f, (seen_keys)type);
}
const char *EXPORT(filter_key_type)(const seen_filter *f)
{
    return seen_keys_name(seen_keys_of(f));
}
const char *EXPORT(keys_name)(int type)
{
    return seen_keys_name((seen_keys)type);
}

const char *EXPORT(filter_format)(const seen_filter *f)
{
    const seen_format *format = seen_format_of(f);
    return format ? format->name : NULL;
}

const char *EXPORT(filter_words)(const seen_filter *f)
{
    static char line[512];
    seen_describe(f, line, sizeof line);
    return line;
}

uint64_t EXPORT(key_hash)(const seen_filter *f, const void *key, size_t len)
{
    return seen_hash(f, key, len);
}

double EXPORT(filter_predicts)(const seen_filter *f)
{
    return seen_error_predicted(f);
}

/* The body of LAYER, its length in cells[0]; NULL if there is none. */
const void *EXPORT(filter_body)(const seen_filter *f, unsigned layer)
{
    size_t len;
    const void *p = seen_body(f, layer, &len);
    cells[0].number = (double)len;
    return p;
}

static int to_engine(void *ctx, const void *p, size_t len)
{
    engine_piece(p, len);
    return SEEN_OK;
}

int EXPORT(filter_write)(const seen_filter *f)
{
    return seen_write(f, to_engine, NULL);
}

/* ---- static filters -------------------------------------------------------------- */

int EXPORT(builder_new)(double error, double bytes, unsigned hash, uint64_t seed,
                        uint64_t seed_high)
{
    seen_build_spec spec = {.error = error,
                            .memory = (uint64_t)bytes,
                            .hash = hash,
                            .seed = seed,
                            .seed_high = seed_high,
                            .threads = 1,
                            .alloc = memory};
    seen_builder *b;
    int rc = seen_builder_new(&spec, &b);
    return made(rc, b);
}

int EXPORT(builder_finish)(seen_builder *b)
{
    seen_filter *f;
    int rc = seen_builder_finish(b, &f);
    return made(rc, f);
}

void EXPORT(builder_free)(seen_builder *b)
{
    seen_builder_free(b);
}
