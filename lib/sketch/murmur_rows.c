/* murmur_rows.c - cells of an item, scalar reference; murmur_rows_x86.c is its
 * variant. */
#include "sketch/murmur_rows.h"
#include "base/cpu.h"
#include "base/modulo.h"
#include "hash/murmur2.h"

void sn_rows_scalar(const void *item, size_t len, uint32_t row, uint64_t width,
                    uint64_t inverse, uint64_t at[SN_ROWS])
{
    uint32_t h[SN_ROWS];
    sn_murmur2_32_seeds(item, len, row, SN_ROWS, h);
    for (unsigned i = 0; i < SN_ROWS; i++)
        at[i] = sn_modulo(h[i], width, inverse);
}

sn_rows_fn *sn_rows_best(uint64_t width)
{
#if defined(__x86_64__)
    if (sn_simd_best() >= SN_AVX2 && width < (uint64_t)1 << 31)
        return sn_rows_avx2;
#endif
    return sn_rows_scalar;
}
