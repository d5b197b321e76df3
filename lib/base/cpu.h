/* cpu.h - which vector instructions to use. */
#ifndef SN_CPU_H
#define SN_CPU_H

enum sn_simd { SN_SCALAR, SN_NEON, SN_AVX2, SN_AVX512, SN_SIMDS };

/* The best level that this machine can run. SEEN_SIMD=scalar|avx2|avx512|neon in the
 * environment lowers it, so that every variant can be tested on one machine. */
enum sn_simd sn_simd_best(void);
/* True if this machine can run S, whatever SEEN_SIMD says. */
int sn_simd_runs(enum sn_simd s);

/* Instructions that only some machines of a level have. None of them is used with
 * SEEN_SIMD=scalar, and those of AVX-512 only at that level. */
enum sn_extra {
    SN_CLMUL,  /* carry-less multiplication of 64 bits */
    SN_VBMI,   /* AVX-512: permutes bytes */
    SN_VBMI2,  /* AVX-512: compresses and expands bytes */
    SN_POPCNTS /* AVX-512: counts the bits of words */
};
int sn_cpu_has(enum sn_extra e);
const char *sn_simd_name(enum sn_simd s);
#endif
