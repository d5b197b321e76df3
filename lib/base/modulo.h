/* modulo.h - x % m by multiplication, for a constant m: the exact remainder. */
#ifndef SN_MODULO_H
#define SN_MODULO_H
#include "base/bytes.h"

static inline uint64_t sn_inverse(uint64_t m)
{
    return m ? UINT64_MAX / m : 0;
}

/* With inverse = floor((2^64 - 1) / m) the quotient is right or one too small, so the
 * remainder is below 2m and one subtraction corrects it. For m below 2^63. */
static inline uint64_t sn_modulo(uint64_t x, uint64_t m, uint64_t inverse)
{
    uint64_t r = x - sn_mulhi(x, inverse) * m;
    return r >= m ? r - m : r;
}
#endif
