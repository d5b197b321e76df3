/* murmur_rows.h - the cells of an item in RedisBloom's sketches: in row i the one at
 * MurmurHash2(item, seed i) mod width. Computes eight rows at once. */
#ifndef SN_MURMUR_ROWS_H
#define SN_MURMUR_ROWS_H
#include <stddef.h>
#include <stdint.h>

enum { SN_ROWS = 8 };

typedef void sn_rows_fn(const void *item, size_t len, uint32_t row, uint64_t width,
                        uint64_t inverse, uint64_t at[SN_ROWS]);

/* Places in rows ROW .. ROW + 7, even if there are fewer rows. INVERSE is
 * sn_inverse(WIDTH). */
sn_rows_fn sn_rows_scalar;
#if defined(__x86_64__)
sn_rows_fn sn_rows_avx2; /* for widths below 2^31 */
#endif

/* The fastest variant for WIDTH on this machine. */
sn_rows_fn *sn_rows_best(uint64_t width);

#endif
