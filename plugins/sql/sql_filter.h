/* sql_filter.h - filters as values of a database; one source for SQLite and PostgreSQL.
 *
 * A value is the bytes of a native filter file (docs/format.md). Keys have the bytes
 * and types of docs/keys.md, as in every other language.
 *
 * Functions return a code of seen.h; sql_reason() has the message. Memory comes from
 * the given allocator, so that a database accounts for it and frees it. */
#ifndef SQL_FILTER_H
#define SQL_FILTER_H
#include "seen.h"

/* The message for the call that returned CODE. */
const char *sql_reason(int code);

/* A key and what it is; numbers are in it, other bytes elsewhere. */
typedef struct sql_key {
    seen_keys type;
    const void *data;
    size_t len;
    unsigned char number[8];
} sql_key;

/* Numbers as their eight bytes: into a key that must not move. */
void sql_integer_key(sql_key *key, seen_keys type, int64_t x);
void sql_real_key(sql_key *key, double x);

/* ---- asking --------------------------------------------------------------------- */

/* Whether KEY was added to F: 1, 0, or SEEN_EMISMATCH if F holds keys of another type.
 */
int sql_has(const seen_filter *f, const sql_key *key);

/* The value that was opened last, kept between the rows of a query. Starts zeroed. */
typedef struct sql_kept {
    seen_filter *f;
    void *bytes; /* an aligned copy */
    size_t len;
    size_t
        tells; /* bytes that tell it from every other value of its length: the header,
                * if it has the identity and checksums of them all, or all of them */
    seen_allocator alloc;
} sql_kept;

/* The filter in VALUE, opened and checked unless K already has it. K owns it until the
 * next call or sql_forget. SEEN_EFORMAT, SEEN_EDAMAGED, SEEN_ENOMEM. */
int sql_open(sql_kept *k, const seen_allocator *a, const void *value, size_t len,
             const seen_filter **out);
void sql_forget(sql_kept *k);

/* A filter file that is asked again and again. Starts zeroed. */
typedef struct sql_file {
    seen_filter *f;
    char *path;
    uint64_t state[5]; /* of the file when it was opened */
} sql_file;

/* The filter in the file PATH, mapped; opened anew if the name is another one or the
 * file was replaced. The codes of seen_open. */
int sql_file_open(sql_file *s, const char *path, const seen_filter **out);
void sql_file_close(sql_file *s);

/* ---- building -------------------------------------------------------------------- */

/* What an aggregate gathers: the fingerprints of all keys, each once, so that rows may
 * repeat keys and workers may be combined in any order. */
typedef struct sql_build {
    seen_filter *set;
    double error;  /* of the resulting filter; 0: 0.01 */
    uint64_t keys; /* 0: any number; otherwise a fixed size, so that filters merge */
} sql_build;

int sql_build_start(sql_build *b, const seen_allocator *a, double error, int64_t keys);
/* SEEN_EMISMATCH if KEY is of another type than those before. */
int sql_build_add(sql_build *b, const sql_key *key);
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
