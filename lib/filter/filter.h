/* filter.h - the handle: one or more layers of one kind, and who owns their memory.
 *
 * A key is hashed once for all layers. Keys go to the newest layer; a layer that has
 * reached its capacity is never written again. */
#ifndef SN_FILTER_H
#define SN_FILTER_H
#include "foreign/foreign.h"
#include "hash/hasher.h"
#include "kind/kind.h"

/* Layers that double from a single key exceed 2^64 keys before this. */
#define SN_MAX_LAYERS 80

/* Below this many bytes a body fits the second-level cache: no prefetch needed. */
#define SN_PREFETCH_BYTES ((uint64_t)512 << 10)

typedef struct sn_exceptions sn_exceptions;

struct seen_filter {
    seen_allocator alloc;
    unsigned flags;  /* SEEN_FIXED, SEEN_ATOMIC, SEEN_SCALAR */
    seen_kind kind;  /* of every layer, once it has more than a few keys */
    uint32_t probes; /* requested k of new layers; 0: the best */
    sn_hasher hasher;
    bool once;     /* SEEN_ONCE, for layers that could keep copies */
    uint64_t keys; /* expected number; 0: unknown */
    double error;  /* promised for the whole filter */
    bool prefetch;    /* some layer is larger than SN_PREFETCH_BYTES */
    bool same_variant;    /* all layers have one variant, which can ask them together */
    /* Of the only layer, where its variant has it; NULL: there are more, or none. */
    bool (*has_one)(const sn_layer *l, uint64_t h);
    uint32_t layers, room;
    sn_layer *layer; /* oldest first; sn_make_room() for more */

    /* A filter in a mapped file or in the caller's memory. */
    uint8_t *map; /* NULL: bodies are ours, from alloc */
    uint64_t map_len, header_len;
    bool map_owned; /* munmap it */
    int lock;       /* from sn_map; -1 */
    bool writable, dirty;
    bool still;      /* a private copy: no other thread adds, whatever the flags say */
    bool shared;     /* others add too: we must not write the header */
    uint64_t missed; /* removes that found nothing */
    char *path;      /* of the file behind it, for messages */

    seen_hash_source
        source;   /* keeps the hashes, and gives them again; zeroes: nobody does */
    int64_t late; /* keys that are in now, less those that were new when they came */

    unsigned char id[16];  /* identity.c */
    uint64_t generation;   /* that was last read or written */
    bool no_identity;      /* the file behind it has no place for one */
    seen_keys key_type;    /* key_types.c */

    sn_exceptions *exceptions; /* exceptions; NULL: none */
    uint64_t modified;   /* the file behind it, in nanoseconds, when it was opened */
    uint64_t content;    /* the checksum of its bytes; 0: not computed, or dirty */

    sn_foreign *foreign; /* another system's filter: then there are no layers here */
};

static inline sn_layer *sn_newest(const seen_filter *f)
{
    return f->layer + f->layers - 1;
}

/* Changes go to a file. */
static inline bool sn_in_file(const seen_filter *f)
{
    return f->map;
}

/* ---- growth.c; growth.h has what decides ---- */

/* Moves the layers so that there can be N of them; SEEN_ENOMEM. */
int sn_make_room(seen_filter *f, uint32_t n);
/* Appends a layer of SHAPE with a new zeroed body. */
int sn_append(seen_filter *f, const sn_shape *shape);
/* Chooses the variant of every layer, and sets prefetch, same_variant and has_one. Call
 * it whenever a layer was added, removed or moved. */
void sn_choose_variants(seen_filter *f);

/* ---- size.c ---- */

/* Computes the shape of the first layer from SPEC, or fails with a reason. */
int sn_shape_of_spec(const seen_spec *spec, sn_shape *out);

/* ---- foreign_handle.c: the same calls on another system's filter ---- */
size_t sn_handle_foreign_add(seen_filter *f, const seen_key *keys, size_t n, bool *dup,
                      int *why);
int sn_handle_foreign_add_one(seen_filter *f, const void *key, size_t len);
bool sn_handle_foreign_has_one(const seen_filter *f, const void *key, size_t len);
int sn_handle_foreign_remove(seen_filter *f, const void *key, size_t len);
int sn_handle_foreign_copy(const seen_filter *f, seen_filter **out);
int sn_handle_foreign_clear(seen_filter *f);
int sn_handle_foreign_flush(seen_filter *f);
/* Fails with SEEN_EKIND: another system's filter cannot do WHAT. */
int sn_handle_foreign_refuse(const seen_filter *f, const char *what);

/* ---- identity.c ---- */

/* A random id for a new filter. */
void sn_new_identity(seen_filter *f);
/* What the long HEADER says. */
void sn_read_identity(seen_filter *f, const uint8_t *header);
/* The generation of the bytes that are written next: the same until something is saved,
 * or one that is then in use. The low half is zero. */
uint64_t sn_generation_to_write(const seen_filter *f);
uint64_t sn_generation_to_save(const seen_filter *f);
/* Puts id, type of keys and GENERATION into HEADER; CONTENT is a checksum of the bodies
 * and must be known, as must all other numbers of the preamble. */
void sn_put_identity(const seen_filter *f, uint8_t *header, uint64_t generation,
                     uint64_t content);

/* ---- key_types.c ---- */

/* The type of DST once it has all keys of SRC: SEEN_EMISMATCH if theirs differ. */
int sn_keys_of_union(const seen_filter *dst, const seen_filter *src, seen_keys *out);
/* It has taken them. */
void sn_keys_merged(seen_filter *dst, seen_keys type);

/* ---- open.c ---- */

/* SEEN_EINVAL if MODE, of seen_open or seen_open_foreign, has unknown bits. */
int sn_check_mode(unsigned mode);

/* ---- filter.c ---- */
seen_filter *sn_filter_alloc(const seen_allocator *a);
/* SEEN_OK if F may be changed now; first marks a file behind it as dirty. */
int sn_may_change(seen_filter *f);

/* Fails with SEEN_EKIND: keys cannot be added to a filter of KIND one by one. */
int sn_refuse_static(const char *kind);
int sn_mark_dirty(seen_filter *f);
/* Copies LEN bytes (a multiple of 8) of a body of F, word by word if other threads may
 * be adding. */
void sn_snapshot(const seen_filter *f, void *to, const uint8_t *from, uint64_t len);
#endif
