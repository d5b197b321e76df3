/* cpu.c - asks the processor once and remembers the answer. No other code asks it: the
 * library's vector loops follow sn_simd_best(), programs follow seen_simd(). */
#include "base/cpu.h"
#include "seen.h"
#include <stdlib.h>
#include <string.h>
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#define HAS_PMULL (1 << 4) /* HWCAP_PMULL */
#endif

static const char *const names[SN_SIMDS] = {"scalar", "neon", "avx2", "avx512"};

int sn_simd_runs(enum sn_simd s)
{
    switch (s) {
    case SN_SCALAR:
        return 1;
#if defined(__x86_64__)
    case SN_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    case SN_AVX512:
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2");
#elif defined(__aarch64__)
    case SN_NEON:
        return 1;
#endif
    default:
        return 0;
    }
}

enum sn_simd sn_simd_best(void)
{
    static int best = -1; /* every thread writes the same value */
    int b = __atomic_load_n(&best, __ATOMIC_RELAXED);
    if (b >= 0)
        return (enum sn_simd)b;
    const char *limit = getenv("SEEN_SIMD");
    b = SN_SIMDS - 1;
    if (limit)
        for (int i = 0; i < SN_SIMDS; i++)
            if (strcmp(limit, names[i]) == 0)
                b = i;
    while (!sn_simd_runs((enum sn_simd)b))
        b--;
    __atomic_store_n(&best, b, __ATOMIC_RELAXED);
    return (enum sn_simd)b;
}

int sn_cpu_has(enum sn_extra e)
{
    if (sn_simd_best() < (e == SN_CLMUL ? SN_NEON : SN_AVX512))
        return 0;
    switch (e) {
#if defined(__x86_64__)
    case SN_CLMUL:
        return __builtin_cpu_supports("pclmul") != 0;
    case SN_VBMI:
        return __builtin_cpu_supports("avx512vbmi") != 0;
    case SN_VBMI2:
        return __builtin_cpu_supports("avx512vbmi2") != 0;
    case SN_POPCNTS:
        return __builtin_cpu_supports("avx512vpopcntdq") != 0;
#elif defined(__aarch64__) && defined(__linux__)
    case SN_CLMUL:
        return (getauxval(AT_HWCAP) & HAS_PMULL) != 0;
#endif
    default:
        return 0;
    }
}

const char *sn_simd_name(enum sn_simd s)
{
    return s < SN_SIMDS ? names[s] : "?";
}
const char *seen_simd(void)
{
    return sn_simd_name(sn_simd_best());
}
