/* compact.c - the header of a small file: the numbers of the long one (file.h) in 128
 * bytes, with the body right behind it. One checksum serves both. */
#include "filter/file.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "hash/hash.h"
#include <string.h>

/* Where a number stands: its bytes in the compact header, which may be fewer than in
 * the long one if those are zero. */
typedef struct field {
    uint8_t at, bytes;
    uint16_t in_long;
    uint8_t bytes_long;
} field;

#define RECORD(x) (SN_PREAMBLE + (x))
static const field fields[] = {
    {8, 4, SN_AT_VERSION, 4},
    {12, 1, SN_AT_FLAGS, 4},
    {13, 1, SN_AT_HASH, 4},
    {14, 1, SN_AT_KIND, 4},
    {15, 1, RECORD(SN_IN_KIND), 4},
    {SN_COMPACT_FILE_LEN, 4, SN_AT_FILE_LEN, 8},
    {20, 1, RECORD(SN_IN_K), 4},
    {21, 1, SN_AT_PROBES, 4},
    {SN_COMPACT_KEY_TYPE, 1, SN_AT_KEY_TYPE, 4},
    {SN_COMPACT_DIRTY, 1, SN_AT_DIRTY, 4},
    {24, 4, RECORD(SN_IN_UNITS), 8},
    {28, 4, RECORD(SN_IN_CAPACITY), 8},
    {32, 8, SN_AT_SEED, 8},
    {40, 8, SN_AT_SEED_HIGH, 8},
    {48, 8, SN_AT_ERROR, 8},
    {56, 8, RECORD(SN_IN_ERROR), 8},
    {64, 4, SN_AT_KEYS, 8},
    {SN_COMPACT_ADDED, 4, RECORD(SN_IN_ADDED), 8},
    {SN_COMPACT_SUM, 8, SN_AT_SUM, 8},
    {80, 24, RECORD(SN_IN_OWN), 32},
    {104, 16, SN_AT_ID, 16},
    {SN_COMPACT_GENERATION, 8, SN_AT_GENERATION, 8},
};
enum { FIELDS = sizeof fields / sizeof *fields };

bool sn_compact_pack(const uint8_t *header, const uint8_t *body, uint8_t *out)
{
    uint64_t len = sn_le64(header + RECORD(SN_IN_LEN));
    if (sn_le32(header + SN_AT_LAYERS) != 1 || len > SN_COMPACT_BODY ||
        sn_le32(header + SN_AT_FLAGS) & SEEN_ATOMIC) /* may be shared for years */
        return false;
    memset(out, 0, SN_COMPACT);
    memcpy(out, SN_MAGIC, 8);
    for (const field *f = fields; f < fields + FIELDS; f++) {
        const uint8_t *from = header + f->in_long;
        if (!sn_all_zero(from + f->bytes, f->bytes_long - f->bytes) &&
            f->in_long != SN_AT_FILE_LEN)
            return false;
        memcpy(out + f->at, from, f->bytes);
    }
    sn_put32(out + SN_AT_VERSION, SN_COMPACT_VERSION);
    sn_put32(out + SN_COMPACT_FILE_LEN, (uint32_t)(SN_COMPACT + len));
    out[SN_COMPACT_DIRTY] = 0;
    sn_put64(out + SN_COMPACT_SUM, sn_compact_sum(out, body, len));
    return true;
}

void sn_compact_unpack(const uint8_t *p, uint8_t *header)
{
    memset(header, 0, SN_PREAMBLE + SN_RECORD);
    memcpy(header, SN_MAGIC, 8);
    for (const field *f = fields; f < fields + FIELDS; f++)
        memcpy(header + f->in_long, p + f->at, f->bytes);
    sn_put64(header + SN_AT_HEADER_LEN, SN_COMPACT);
    sn_put32(header + SN_AT_LAYERS, 1);
    sn_put32(header + SN_AT_PIECE, SN_PIECE_LOG2);
    sn_put64(header + RECORD(SN_IN_OFFSET), SN_COMPACT);
    sn_put64(header + RECORD(SN_IN_LEN), sn_le32(p + SN_COMPACT_FILE_LEN) - SN_COMPACT);
}

uint64_t sn_compact_sum(const uint8_t *p, const uint8_t *body, uint64_t len)
{
    uint8_t header[SN_COMPACT];
    XXH3_state_t s;
    memcpy(header, p, SN_COMPACT);
    memset(header + SN_COMPACT_SUM, 0, 8);
    header[SN_COMPACT_DIRTY] = 0;
    if (!body) {
        header[SN_COMPACT_KEY_TYPE] = 0;
        memset(header + SN_COMPACT_ADDED, 0, 4);
        memset(header + SN_COMPACT_GENERATION, 0, 8);
    }
    XXH3_64bits_reset(&s);
    XXH3_64bits_update(&s, header, SN_COMPACT);
    if (body)
        XXH3_64bits_update(&s, body, len);
    return XXH3_64bits_digest(&s);
}

int sn_compact_check(const uint8_t *p, uint64_t len)
{
    if (len < SN_COMPACT || sn_le32(p + SN_COMPACT_FILE_LEN) != len)
        return sn_fail(
            SEEN_EFORMAT,
            "file_len says %u bytes, but there are %llu: cut short or extended",
            len < SN_COMPACT ? SN_COMPACT : sn_le32(p + SN_COMPACT_FILE_LEN),
            (unsigned long long)len);
    uint64_t sum = sn_le64(p + SN_COMPACT_SUM);
    bool dirty = p[SN_COMPACT_DIRTY] != 0;
    if (sn_compact_sum(p, p + SN_COMPACT, len - SN_COMPACT) != sum &&
        !(dirty && sn_compact_sum(p, NULL, 0) == sum))
        return sn_fail(SEEN_EDAMAGED, "its checksum does not fit: it was damaged");
    return 0;
}
