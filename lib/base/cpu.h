/* cpu.h - which vector instructions to use. */
#ifndef SN_CPU_H
#define SN_CPU_H

enum sn_simd { SN_SCALAR, SN_NEON, SN_AVX2, SN_AVX512, SN_SIMDS };

/* The best that this machine can run. SEEN_SIMD=scalar|avx2|avx512|neon in the
 * environment lowers it, so that every variant can be tried on one machine. */
enum sn_simd sn_simd_best(void);
/* Whether this machine can run S, whatever SEEN_SIMD says. */
int sn_simd_runs(enum sn_simd s);

/* Instructions that only some machines of one level have. None of them is there with
 * SEEN_SIMD=scalar, and those of AVX-512 only if that is the level. */
enum sn_extra {
    SN_CLMUL,  /* 64 bits multiplied without carries */
    SN_VBMI,   /* AVX-512: bytes permuted */
    SN_VBMI2,  /* AVX-512: bytes compressed and expanded */
    SN_POPCNTS /* AVX-512: bits of words counted */
};
int sn_cpu_has(enum sn_extra e);
const char *sn_simd_name(enum sn_simd s);
#endif
