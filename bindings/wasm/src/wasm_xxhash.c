/* wasm_xxhash.c - the one copy of xxHash that all of the library calls (SN_SMALL).
 *
 * Of its streams only what save.c needs: the checksum of a header, which is short. They
 * gather what comes and hash it at once, in a tenth of the code. */
#include <string.h>
/* xxHash 0.8.3 would use wasm's vectors through arm_neon.h, which is not for wasm. */
#undef __wasm_simd128__
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#define XXH3_64bits_reset unused_reset
#define XXH3_64bits_update unused_update
#define XXH3_64bits_digest unused_digest
/* Keys of 17 to 128 bytes, one after another in batches, are worth the bytes. */
static XXH64_hash_t XXH3_mul128_fold64(XXH64_hash_t a, XXH64_hash_t b)
    __attribute__((__always_inline__));
static XXH128_hash_t XXH_mult64to128(XXH64_hash_t a, XXH64_hash_t b)
    __attribute__((__always_inline__));
#define XXH_IMPLEMENTATION
#define XXH_NO_INLINE_HINTS 1
#include <xxhash.h>
#undef XXH3_64bits_reset
#undef XXH3_64bits_update
#undef XXH3_64bits_digest

/* Headers of filters below 2 GiB have at most 80 records and 2048 sums. A longer one is
 * hostile; open.c refuses its length, whatever its checksum. */
static char gathered[32 << 10];
static size_t length;

XXH_errorcode XXH3_64bits_reset(XXH3_state_t *unused)
{
    length = 0;
    return XXH_OK;
}

XXH_errorcode XXH3_64bits_update(XXH3_state_t *unused, const void *p, size_t len)
{
    size_t room = sizeof gathered - length, some = len < room ? len : room;
    memcpy(gathered + length, p, some);
    length += some;
    return XXH_OK;
}

XXH64_hash_t XXH3_64bits_digest(const XXH3_state_t *unused)
{
    return XXH3_64bits(gathered, length);
}
