/* sql_filter.c - converts values to filters and back; knows no database. */
#include "sql_filter.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The preamble of a native file has seed, counts, and the checksum of the header, which
 * contains the checksums of the bodies. */
enum { PREAMBLE = 128 };

static void number_key(sql_key *key, seen_keys type)
{
    key->type = type, key->data = key->number, key->len = 8;
}

void sql_integer_key(sql_key *key, seen_keys type, int64_t x)
{
    seen_integer_key((uint64_t)x, key->number);
    number_key(key, type);
}

void sql_real_key(sql_key *key, double x)
{
    seen_real_key(x, key->number);
    number_key(key, SEEN_KEYS_FLOAT);
}

const char *sql_reason(int code)
{
    return code == SEEN_ENOMEM   ? seen_strerror(code)
           : code == SEEN_ERANGE ? "the number of keys must not be negative"
                                 : seen_reason();
}

/* ---- asking --------------------------------------------------------------------- */

int sql_has(const seen_filter *f, const sql_key *key)
{
    int rc = seen_check_keys(f, key->type);
    return rc < 0 ? rc : seen_ask(f, key->data, key->len);
}

void sql_forget(sql_kept *k)
{
    seen_free(k->f);
    if (k->bytes)
        k->alloc.free(k->alloc.ctx, k->bytes, k->len);
    *k = (sql_kept){.f = NULL};
}

int sql_open(sql_kept *k, const seen_allocator *a, const void *value, size_t len,
             const seen_filter **out)
{
    *out = k->f;
    if (k->f && k->len == len && !memcmp(k->bytes, value, k->tells))
        return SEEN_OK;
    sql_forget(k);
    /* The library refuses a value that is too short, with its own message. */
    size_t room = len > PREAMBLE ? len : PREAMBLE;
    void *bytes = a->alloc(a->ctx, room, 64);
    if (!bytes)
        return SEEN_ENOMEM;
    memcpy(bytes, value, len);
    seen_filter *f;
    int rc = seen_open_bytes(bytes, len, SEEN_VERIFY, a, &f);
    if (rc < 0) {
        a->free(a->ctx, bytes, room);
        return rc;
    }
    seen_identity id;
    *k = (sql_kept){.f = f,
                    .bytes = bytes,
                    .len = len,
                    .tells = seen_get_identity(f, &id) ? PREAMBLE : len,
                    .alloc = *a};
    *out = f;
    return SEEN_OK;
}

void sql_file_close(sql_file *s)
{
    seen_free(s->f);
    free(s->path);
    *s = (sql_file){.f = NULL};
}

int sql_file_open(sql_file *s, const char *path, const seen_filter **out)
{
    struct stat st = {0};
    /* A file that is gone is opened once more, for its error. */
    bool there = stat(path, &st) == 0;
    uint64_t now[5] = {there, (uint64_t)st.st_dev, (uint64_t)st.st_ino,
                       (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec};
    *out = s->f;
    if (s->f && there && !strcmp(s->path, path) && !memcmp(now, s->state, sizeof now))
        return SEEN_OK;
    sql_file_close(s);
    s->path = strdup(path);
    int rc = s->path ? seen_open(path, SEEN_READ, &s->f) : SEEN_ENOMEM;
    memcpy(s->state, now, sizeof now);
    *out = s->f;
    return rc;
}

/* ---- building -------------------------------------------------------------------- */

int sql_build_start(sql_build *b, const seen_allocator *a, double error, int64_t keys)
{
    /* One seed for all filters: workers are combined, and filters of several days
     * merged. */
    seen_spec spec = {.kind = SEEN_SET, .alloc = *a};
    seen_size size = {.kind = SEEN_AUTO, .keys = keys > 0 ? (uint64_t)keys : 1000,
                      .error = error == 0 ? 0.01 : error};
    *b = (sql_build){.error = error, .keys = keys > 0 ? (uint64_t)keys : 0};
    if (keys < 0)
        return SEEN_ERANGE;
    int rc = seen_solve(&size); /* report an impossible size before the first row */
    return rc < 0 ? rc : seen_new(&spec, &b->set);
}

int sql_build_add(sql_build *b, const sql_key *key)
{
    int rc = seen_take_keys(b->set, key->type);
    if (rc == 0)
        rc = seen_add(b->set, key->data, key->len);
    return rc < 0 ? rc : SEEN_OK;
}

int sql_build_combine(sql_build *b, const sql_build *other)
{
    return seen_merge(b->set, other->set);
}

int sql_build_finish(const sql_build *b, const seen_allocator *a, seen_filter **out)
{
    uint64_t n = seen_added(b->set);
    seen_spec spec = {.keys = n ? n : 1, .error = b->error, .alloc = *a};
    if (b->keys) {
        /* A filter for a given number of keys must not grow: only equal shapes merge.
         * More keys raise the error instead, and seen_info shows it. */
        seen_size size = {.kind = SEEN_BLOCKED, .keys = b->keys,
                          .error = b->error == 0 ? 0.01 : b->error};
        int rc = seen_solve(&size);
        if (rc < 0)
            return rc;
        spec = (seen_spec){.kind = SEEN_BLOCKED,
                           .bits = size.bits,
                           .probes = size.probes,
                           .alloc = *a};
    }
    int rc = seen_rebuild(b->set, &spec, out);
    if (rc == 0) /* a function of the same rows returns the same value */
        seen_name_by_content(*out);
    return rc;
}

void sql_build_free(sql_build *b)
{
    seen_free(b->set);
    b->set = NULL;
}

/* ---- bytes ----------------------------------------------------------------------- */

typedef struct {
    unsigned char *p;
    size_t at, room;
} filling;

static int measure(void *ctx, const void *p, size_t len)
{
    (void)p;
    *(size_t *)ctx += len;
    return 0;
}

static int fill(void *ctx, const void *p, size_t len)
{
    filling *f = ctx;
    if (len > f->room - f->at)
        return SEEN_ETOOBIG;
    memcpy(f->p + f->at, p, len);
    f->at += len;
    return 0;
}

int sql_bytes(const seen_filter *f, const seen_allocator *a, size_t ahead, void **out,
              size_t *len, size_t *room)
{
    size_t all = 0;
    int rc = seen_write(f, measure, &all);
    if (rc < 0)
        return rc;
    filling to = {.at = ahead, .room = ahead + all};
    if (!(to.p = a->alloc(a->ctx, to.room, 64)))
        return SEEN_ENOMEM;
    rc = seen_write(f, fill, &to);
    if (rc < 0) {
        a->free(a->ctx, to.p, to.room);
        return rc;
    }
    *out = to.p, *len = to.at - ahead, *room = to.room;
    return SEEN_OK;
}

/* A number that JSON can represent. */
static double json_number(double x)
{
    return isfinite(x) ? x : 0;
}

int sql_info(const seen_filter *f, char *out, size_t size)
{
    seen_stats s;
    seen_get_stats(f, &s);
    int n = snprintf(
        out, size,
        "{\"kind\": \"%s\", \"key_type\": \"%s\", \"layers\": %u, \"keys\": %llu, "
        "\"capacity\": %llu, "
        "\"bytes\": %llu, \"fill\": %.6g, \"error_wanted\": %.6g, "
        "\"error_now\": %.6g, \"keys_estimate\": %.0f, \"lost_expected\": %.6g}",
        seen_kind_name(s.kind), seen_keys_name(seen_keys_of(f)), s.layers,
        (unsigned long long)s.added, (unsigned long long)s.capacity,
        (unsigned long long)s.bytes, json_number(s.fill), json_number(s.error_wanted),
        json_number(s.error_now), json_number(s.keys_estimate),
        json_number(s.lost_expected));
    return n < 0 ? 0 : (size_t)n < size ? n : (int)size - 1;
}

void *sql_align(void *(*plain)(void *ctx, size_t size), void *ctx, size_t size,
                size_t align)
{
    if (align < sizeof(void *))
        align = sizeof(void *);
    if (size > SIZE_MAX - align - sizeof(void *))
        return NULL;
    char *start = plain(ctx, size + align + sizeof(void *));
    if (!start)
        return NULL;
    char *p = start + sizeof(void *);
    p += (align - (uintptr_t)p % align) % align;
    memcpy(p - sizeof(void *), &start, sizeof(void *));
    return p;
}

void *sql_unalign(void *p)
{
    void *start;
    memcpy(&start, (char *)p - sizeof(void *), sizeof(void *));
    return start;
}
