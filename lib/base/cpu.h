/* cpu.h - which vector instructions this machine has. */
#ifndef SN_CPU_H
#define SN_CPU_H

enum sn_simd { SN_SCALAR, SN_NEON, SN_AVX2, SN_AVX512, SN_SIMDS };

/* The best that this machine can run. SEEN_SIMD=scalar|avx2|avx512|neon in the
 * environment lowers it, so that every variant can be tried on one machine. */
enum sn_simd sn_simd_best(void);
int sn_simd_runs(enum sn_simd s);
const char *sn_simd_name(enum sn_simd s);
#endif
