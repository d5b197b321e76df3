/* page_record.c - the record of a page as bytes, and back. */
#include "page_record.h"

enum {
    FETCHED = 1,
    HASH = 2,
    MODIFIED = 4,
    ETAG = 8,
    WHY = 16,
    DULL = 32,
    CHANGE = 64,
    TOOK = 128
};

const char *change_name(unsigned change)
{
    static const char *const names[CHANGES] = {"", "new", "changed", "gone",
                                               "unchanged"};
    return change < CHANGES ? names[change] : "unknown";
}

static void put_word(buf *b, uint64_t n)
{
    uint8_t p[8];
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(n >> (8 * i));
    buf_add(b, p, 8);
}

static void put_text(buf *b, const char *s)
{
    buf_varint(b, strlen(s));
    buf_text(b, s);
}

void page_record_write(buf *b, const page_record *f)
{
    unsigned bits = (f->fetched ? FETCHED : 0) | (f->hash ? HASH : 0) |
                    (f->modified ? MODIFIED : 0) | (f->etag[0] ? ETAG : 0) |
                    (f->why[0] ? WHY : 0) | (f->dull ? DULL : 0) |
                    (f->change ? CHANGE : 0) | (f->took ? TOOK : 0);
    buf_varint(b, bits);
    if (bits & FETCHED)
        buf_varint(b, f->fetched);
    if (bits & HASH)
        put_word(b, f->hash);
    if (bits & MODIFIED)
        buf_varint(b, f->modified);
    if (bits & ETAG)
        put_text(b, f->etag);
    if (bits & WHY)
        put_text(b, f->why);
    if (bits & CHANGE)
        buf_varint(b, f->change);
    if (bits & TOOK)
        buf_varint(b, f->took);
}

static bool get_word(const uint8_t **p, const uint8_t *end, uint64_t *n)
{
    if (end - *p < 8)
        return false;
    *n = 0;
    for (int i = 0; i < 8; i++)
        *n |= (uint64_t)(*p)[i] << (8 * i);
    *p += 8;
    return true;
}

static bool get_text(const uint8_t **p, const uint8_t *end, char *out, size_t room)
{
    uint64_t n;
    if (!read_varint(p, end, &n) || n >= room || n > (uint64_t)(end - *p))
        return false;
    memcpy(out, *p, n);
    out[n] = 0;
    *p += n;
    return true;
}

bool page_record_read(const uint8_t **p, const uint8_t *end, page_record *f)
{
    uint64_t bits, change = 0;
    memset(f, 0, sizeof *f);
    bool good =
        read_varint(p, end, &bits) && bits < 2 * TOOK &&
        (!(bits & FETCHED) || read_varint(p, end, &f->fetched)) &&
        (!(bits & HASH) || get_word(p, end, &f->hash)) &&
        (!(bits & MODIFIED) || read_varint(p, end, &f->modified)) &&
        (!(bits & ETAG) || get_text(p, end, f->etag, sizeof f->etag)) &&
        (!(bits & WHY) || get_text(p, end, f->why, sizeof f->why)) &&
        (!(bits & CHANGE) || (read_varint(p, end, &change) && change < CHANGES)) &&
        (!(bits & TOOK) || read_varint(p, end, &f->took));
    f->change = (unsigned)change;
    f->dull = good && bits & DULL;
    return good;
}
