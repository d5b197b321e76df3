/* file.h - the header of the native file, in one place (docs/format.md). */
#ifndef SN_FILE_H
#define SN_FILE_H
#include "filter/filter.h"

enum {
    SN_COMPACT_VERSION = 3,
    SN_FILE_VERSION = 4, /* 1 and 2 have no identity and no type of keys */
    SN_PREAMBLE = 128,
    SN_RECORD = 128,
    SN_PAGE = 4096,
    SN_PIECE_LOG2 = 20,
};
#define SN_PIECE ((uint64_t)1 << SN_PIECE_LOG2)
#define SN_MAGIC "\x89seen\r\n\x1a"

/* Offsets in the preamble. */
enum {
    SN_AT_VERSION = 8,
    SN_AT_FLAGS = 12,
    SN_AT_FILE_LEN = 16,
    SN_AT_HEADER_LEN = 24,
    SN_AT_SEED = 32,
    SN_AT_HASH = 40,
    SN_AT_LAYERS = 44,
    SN_AT_ERROR = 48,
    SN_AT_KEYS = 56,
    SN_AT_KIND = 64,
    SN_AT_PROBES = 68,
    SN_AT_PIECE = 72,
    SN_AT_DIRTY = 76,
    SN_AT_SUM = 80,
    SN_AT_SEED_HIGH = 88,
    SN_AT_ID = 96,
    SN_AT_GENERATION = 112,
    SN_AT_KEY_TYPE = 120,
    SN_AT_RESERVED = 124,
};

/* Offsets in a layer record. */
enum {
    SN_IN_KIND = 0,
    SN_IN_K = 4,
    SN_IN_UNITS = 8,
    SN_IN_CAPACITY = 16,
    SN_IN_ERROR = 24,
    SN_IN_OWN = 32,
    SN_IN_ADDED = 64,
    SN_IN_OFFSET = 72,
    SN_IN_LEN = 80,
};

/* The compact header of a small file, and offsets in it of what changes in place. */
enum {
    SN_COMPACT = 128,
    SN_COMPACT_BODY = 65536 - SN_COMPACT, /* at most */
    SN_COMPACT_FILE_LEN = 16,
    SN_COMPACT_KEY_TYPE = 22,
    SN_COMPACT_DIRTY = 23,
    SN_COMPACT_ADDED = 68,
    SN_COMPACT_SUM = 72,
    SN_COMPACT_GENERATION = 120,
};

/* Makes a compact header of the long one that F's numbers are in, with the sum of BODY;
 * false if it does not fit. */
bool sn_compact_pack(const uint8_t *header, const uint8_t *body, uint8_t *out);
/* The preamble and the record that a compact header stands for. */
void sn_compact_unpack(const uint8_t *p, uint8_t *header);
/* Of the header and its body of LEN bytes; without BODY, the one of a dirty file. */
uint64_t sn_compact_sum(const uint8_t *p, const uint8_t *body, uint64_t len);
/* Whether the LEN bytes at P are whole. */
int sn_compact_check(const uint8_t *p, uint64_t len);

/* Bytes of the long header for these layers. */
uint64_t sn_header_len(const seen_filter *f);
/* Bytes of the piece of L's body that starts at AT; each has a sum in the header. */
uint64_t sn_piece_len(const sn_layer *l, uint64_t at);
/* The checksum of the header, not counting its sum and dirty fields. */
uint64_t sn_header_sum(const uint8_t *header, uint64_t len);
/* The same for a dirty header: also not counting its generation, type of keys, counts
 * and piece sums, which change before the next flush is complete. */
uint64_t sn_header_sum_dirty(const uint8_t *header, uint32_t layers);
/* Where the piece sums start. */
static inline uint64_t sn_sums_at(uint32_t layers)
{
    return SN_PREAMBLE + (uint64_t)layers * SN_RECORD;
}
static inline uint64_t sn_pieces(uint64_t len)
{
    return (len + SN_PIECE - 1) >> SN_PIECE_LOG2;
}
static inline uint64_t sn_page_up(uint64_t n)
{
    return (n + SN_PAGE - 1) & ~(uint64_t)(SN_PAGE - 1);
}
#endif
