/* identity.c - which filter this is, and which of its states.
 *
 * A filter has a random id from its birth on; copies share it. The high half of the
 * generation counts the times that changes were written, so that of two states of one
 * filter the older can be told; its low half is drawn from the bodies, so that copies
 * that were changed apart differ. An id of zeroes stands for one that is computed from
 * the bytes when they are written: the same keys then make the same bytes. */
#include "filter/file.h"
#include "base/bytes.h"
#include "hash/hash.h"
#include <string.h>

void sn_new_identity(seen_filter *f)
{
    if (seen_random_bytes(f->id, sizeof f->id) < 0)
        memset(f->id, 0, sizeof f->id);
    f->generation = 0;
}

void seen_name_by_content(seen_filter *f)
{
    memset(f->id, 0, sizeof f->id);
    f->generation = 0;
}

bool seen_get_identity(const seen_filter *f, seen_identity *out)
{
    memcpy(out->id, f->id, sizeof out->id);
    out->generation = __atomic_load_n(&f->generation, __ATOMIC_RELAXED);
    return !f->foreign && !f->dirty && !sn_all_zero(f->id, sizeof f->id);
}

void sn_read_identity(seen_filter *f, const uint8_t *header)
{
    memcpy(f->id, header + SN_AT_ID, sizeof f->id);
    f->generation = sn_le64(header + SN_AT_GENERATION);
    f->key_type = (seen_keys)sn_le32(header + SN_AT_KEY_TYPE);
    f->no_identity = sn_le32(header + SN_AT_VERSION) < SN_COMPACT_VERSION;
}

#define COUNT(x) ((uint64_t)(x) >> 32)

/* The next generation, its low half being zero. */
static uint64_t next(uint64_t generation)
{
    return (COUNT(generation) + 1) << 32;
}

uint64_t sn_generation_to_write(const seen_filter *f)
{
    return next(__atomic_load_n(&f->generation, __ATOMIC_RELAXED));
}

uint64_t sn_generation_to_save(const seen_filter *f)
{
    /* The only member that a call with a const filter changes: each save has a number
     * of its own, also if several threads save at once. */
    uint64_t *shared = (uint64_t *)(uintptr_t)&f->generation;
    return next(__atomic_fetch_add(shared, (uint64_t)1 << 32, __ATOMIC_RELAXED));
}

void sn_put_identity(const seen_filter *f, uint8_t *header, uint64_t generation,
                     uint64_t content)
{
    sn_put32(header + SN_AT_KEY_TYPE, f->key_type);
    memcpy(header + SN_AT_ID, f->id, sizeof f->id);
    for (int i = 0; i < 2 && sn_all_zero(f->id, sizeof f->id); i++) {
        uint64_t sum = XXH3_64bits_withSeed(header, SN_AT_DIRTY, content);
        sn_put64(header + SN_AT_ID + 8 * i, XXH3_64bits_withSeed(&sum, 8, i + 1));
    }
    generation = (generation & ~(uint64_t)UINT32_MAX) | (content & UINT32_MAX);
    sn_put64(header + SN_AT_GENERATION, generation);
}
