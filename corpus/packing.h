/* packing.h - blocks packed one by one: gzip members, zstd and lz4 frames, bzip2 and
 * xz streams may follow each other in one file. So any thread can pack a block by
 * itself, with the same bytes. */
#ifndef DEDUP_PACKING_H
#define DEDUP_PACKING_H

#include <stdbool.h>
#include <stddef.h>

enum packing {
    PACK_AS_INPUT = -1,
    PACK_PLAIN,
    PACK_GZIP,
    PACK_ZSTD,
    PACK_BZ2,
    PACK_XZ,
    PACK_LZ4,
    PACKINGS
};

/* The name of an option's value, "gzip"; false if there is none of that name. */
bool packing_named(const char *name, enum packing *out);
/* How PATH is packed, by its first bytes; PACK_PLAIN if they are not known. */
enum packing packing_of(const char *path);
/* How many bytes of text a packed byte holds, roughly. */
double packing_ratio(enum packing p);
/* ".gz"; "" for plain. */
const char *packing_suffix(enum packing p);

/* Dies if this build cannot pack that way, or has no such level. */
void packing_check(enum packing p, int level);

typedef struct packer packer;                  /* one a thread */
packer *packer_new(enum packing p, int level); /* level 0: the usual */
void packer_free(packer *p);
/* Packs LEN bytes of IN into OUT, of ROOM bytes: how many it wrote. */
size_t packer_bound(packer *p, size_t len);
size_t packer_run(packer *p, const void *in, size_t len, void *out, size_t room);
#endif
