/* origins.h - where a key was first seen: sixteen bytes for each key that was added, so
 * this is for corpora of moderate size. */
#ifndef DEDUP_ORIGINS_H
#define DEDUP_ORIGINS_H

#include "dedup.h"

/* A place is the number of a file and of a line in it, from 1 on; 0 is none. */
typedef uint64_t origin;
static inline origin origin_of(size_t file, uint64_t line)
{
    return (uint64_t)(file + 1) << 40 | line;
}
static inline size_t origin_file(origin o)
{
    return (size_t)(o >> 40) - 1;
}
static inline uint64_t origin_line(origin o)
{
    return o & (((uint64_t)1 << 40) - 1);
}

typedef struct origins origins;
origins *origins_new(void);
void origins_free(origins *o);
uint64_t origins_bytes(const origins *o);

/* The first place of any of the N keys, 0 if none is known. */
origin origins_find(const origins *o, const uint64_t *key, size_t n);
/* Keys that have no place yet get this one. */
void origins_note(origins *o, const uint64_t *key, size_t n, origin place);
#endif
