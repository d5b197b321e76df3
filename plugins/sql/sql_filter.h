/* sql_filter.h - filters as values of a database; one source for SQLite and PostgreSQL.
 *
 * A value is the bytes of a native filter file (docs/format.md). Keys have the same
 * bytes as in C and Python: text its UTF-8, blobs their bytes, integers eight
 * little-endian bytes, reals the eight bytes of their IEEE 754 double, little-endian.
 *
 * Functions return a code of seen.h; sql_reason() has the message. Memory comes from
 * the given allocator, so that a database accounts for it and frees it. */
#ifndef SQL_FILTER_H
#define SQL_FILTER_H
#include "seen.h"

/* The message for the call that returned CODE. */
const char *sql_reason(int code);

/* An integer or a real as its eight bytes. */
void sql_integer_key(int64_t x, unsigned char out[8]);
void sql_real_key(double x, unsigned char out[8]);

/* ---- asking --------------------------------------------------------------------- */

/* The value that was opened last, kept between the rows of a query. Its length and its
 * header, which has the checksums of all its bytes, identify a value. Starts zeroed. */
typedef struct sql_kept {
    seen_filter *f;
    void *bytes; /* an aligned copy */
    size_t len;
    seen_allocator alloc;
} sql_kept;

/* The filter in VALUE, opened and checked unless K already has it. K owns it until the
 * next call or sql_forget. SEEN_EFORMAT, SEEN_EDAMAGED, SEEN_ENOMEM. */
int sql_open(sql_kept *k, const seen_allocator *a, const void *value, size_t len,
             const seen_filter **out);
void sql_forget(sql_kept *k);

/* ---- building -------------------------------------------------------------------- */

/* What an aggregate gathers: the fingerprints of all keys, each once, so that rows may
 * repeat keys and workers may be combined in any order. */
typedef struct sql_build {
    seen_filter *set;
    double error;  /* of the resulting filter; 0: 0.01 */
    uint64_t keys; /* 0: any number; otherwise a fixed size, so that filters merge */
} sql_build;

int sql_build_start(sql_build *b, const seen_allocator *a, double error, int64_t keys);
int sql_build_add(sql_build *b, const void *key, size_t len);
/* Adds all keys of OTHER to B. */
int sql_build_combine(sql_build *b, const sql_build *other);
/* The filter of all keys. The caller frees it. */
int sql_build_finish(const sql_build *b, const seen_allocator *a, seen_filter **out);
void sql_build_free(sql_build *b);

/* ---- bytes ----------------------------------------------------------------------- */

/* F as bytes from A; *LEN of them, in memory of *ROOM bytes. */
int sql_bytes(const seen_filter *f, const seen_allocator *a, size_t ahead, void **out,
              size_t *len, size_t *room);

/* Describes a filter as one JSON object; truncated if SIZE is too small (400 is
 * enough). Returns the length. */
int sql_info(const seen_filter *f, char *out, size_t size);

/* Aligns an allocation and stores the real start before it, for allocators without
 * alignment. PLAIN returns SIZE zeroed bytes or NULL. */
void *sql_align(void *(*plain)(void *ctx, size_t size), void *ctx, size_t size,
                size_t align);
/* The pointer that PLAIN returned for P. */
void *sql_unalign(void *p);

#endif
