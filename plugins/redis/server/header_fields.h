/* header_fields.h - fields of our own headers: little-endian words, one after the
 * other.
 *
 * A header begins with eight bytes that name its layout and ends with a checksum. Keyed
 * filters have a second word of their secret; the layouts without it are older. */
#ifndef SEEN_REDIS_HEADER_FIELDS_H
#define SEEN_REDIS_HEADER_FIELDS_H
#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { HEADER_MAGIC = 8, HEADER_HIGH = 8, HEADER_SUM = 8 };

/* Enough for a filter grown forty times by one layer of its own size, and small enough
 * that a header cannot ask for a million tiny layers. */
enum { HEADER_MAX_LAYERS = 65536 };

typedef struct header_out {
    uint8_t *p;
} header_out;

static inline void put64(header_out *o, uint64_t v)
{
    v = htole64(v);
    memcpy(o->p, &v, 8);
    o->p += 8;
}

static inline void put_double(header_out *o, double d)
{
    uint64_t v;
    memcpy(&v, &d, 8);
    put64(o, v);
}

static inline uint64_t get64(const uint8_t **p)
{
    uint64_t v;
    memcpy(&v, *p, 8);
    *p += 8;
    return le64toh(v);
}

static inline double get_double(const uint8_t **p)
{
    uint64_t v = get64(p);
    double d;
    memcpy(&d, &v, 8);
    return d;
}
#endif
