/* instructions.h - which vector instructions a program's own loops may use: those that
 * the library chose, so SEEN_SIMD holds for both. */
#ifndef KIT_INSTRUCTIONS_H
#define KIT_INSTRUCTIONS_H

#include "seen.h"
#include <stdbool.h>
#include <string.h>

/* AVX2 and BMI2, or better. */
static inline bool kit_has_avx2(void)
{
    return strncmp(seen_simd(), "avx", 3) == 0;
}
#endif
