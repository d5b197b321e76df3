/* value_type.h - the kinds of values that keys hold, each described by a table.
 *
 * The server asks the same of every module type: write yourself to the RDB and to the
 * append-only file, report your memory, digest, copy and free yourself. A value_type
 * says only what differs from type to type. The callbacks, the keys and the totals in
 * INFO are written once, in value_type.c.
 *
 * The server passes its callbacks nothing but the value, so every value begins with its
 * type: the server holds a `value`, and its body is the filter or sketch itself. */
#ifndef SEEN_REDIS_VALUE_TYPE_H
#define SEEN_REDIS_VALUE_TYPE_H
#include "server/module_api.h"
#include "server/value_bytes.h"
#include <stdatomic.h>

typedef struct value_type value_type;
typedef struct value_family value_family;

/* What INFO adds up over all values of a family. bytes is all memory of the body; it is
 * also what MEMORY USAGE reports and what decides who frees the value. */
typedef struct value_facts {
    uint64_t layers, items, capacity, bytes;
} value_facts;

struct value_type {
    const char *name; /* nine characters; the RDB names the type by them */
    int version;      /* of its bytes in the RDB */
    value_family *family;

    /* Reads one value that save() wrote. Ends with value_new(); NULL for bad data. */
    void *(*load)(rm_io *io, int version);
    /* NULL: value_bytes_save() writes what bytes() gives. */
    void (*save)(rm_io *io, const void *body);
    /* What the append-only file gets. NULL: LOAD_COMMAND key iterator data, with the
     * pieces that bytes() gives. */
    void (*rewrite)(rm_io *io, rm_str *key, const void *body);
    const char *load_command;

    /* All of the value. DEBUG DIGEST compares these bytes. */
    value_bytes (*bytes)(const void *body);
    value_facts (*facts)(const void *body);
    void *(*copy)(const void *body); /* NULL if memory is out; no function: no COPY */
    void (*free)(void *body);        /* runs in any thread */

    rm_type *handle; /* the server's; value_family_register() sets it */
};

/* The types behind one set of commands. */
struct value_family {
    const char *name;     /* INFO calls its section NAME_core_metrics */
    value_type *types[4]; /* the rest is NULL */
    atomic_llong objects, layers, items, capacity, bytes;
};

/* Registers all types of F. RM_ERR if the server refuses one. */
int value_family_register(rm_ctx *ctx, value_family *f);
/* Adds the section of F to INFO. */
void value_family_info(rm_info *info, value_family *f);

typedef struct value {
    value_type *type;
    void *body;
    value_facts counted; /* what the totals of its family contain of it */
} value;

/* Wraps BODY for the server, which owns both from then on. NULL if BODY is NULL. */
value *value_new(value_type *type, void *body);
/* All of V as bytes: see value_bytes.h. */
value_bytes value_to_bytes(const value *v);
/* Brings the totals up to date. Every command that changed V calls it. */
void value_recount(value *v);

/* ---- keys ---- */

enum { KEY_FOUND, KEY_MISSING, KEY_WRONG };
typedef struct value_key {
    rm_key *key;  /* NULL if missing and opened to read */
    value *value; /* NULL unless KEY_FOUND */
    int state;
} value_key;

/* Opens key NAME for RM_READ or RM_READ | RM_WRITE. KEY_WRONG: it holds something that
 * is not of family F. */
value_key value_open(rm_ctx *ctx, rm_str *name, int mode, const value_family *f);
void value_close(value_key *k);

/* The body if K holds a value of TYPE, else NULL. */
void *value_body_of(const value_key *k, const value_type *type);

/* Closes K and replies with the error WHY. */
int value_refuse(rm_ctx *ctx, value_key *k, const char *why);
/* The error for a key that is not KEY_FOUND. */
const char *value_state_error(const value_key *k);

/* Makes BODY the value of K, which is open to write. An older value is freed. */
void value_put(value_key *k, value_type *type, void *body);

#endif
