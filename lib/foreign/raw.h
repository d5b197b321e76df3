/* raw.h - bit arrays without a header: all numbers come from the parameters. */
#ifndef SN_RAW_H
#define SN_RAW_H
#include "foreign/foreign.h"

/* Takes f->file as an array of M bits, K a key. MSB is the usual bit order, which
 * flags of PARAMS override. SHORT_OK: trailing zero bytes may be missing (Redis). */
int sn_raw_open(sn_foreign *f, const seen_params *params, uint64_t m, uint64_t k,
                bool msb, bool short_ok);

/* For sn_scan_add: lengthens a short array so that it contains BIT. */
int sn_raw_grow(sn_foreign *f, uint64_t bit);

/* mmh3: the index of KEY under SEED, Python's modulo or the unsigned one. */
uint64_t sn_mmh3_index(const void *key, size_t len, uint32_t seed, uint64_t m,
                       bool is_signed);
#endif
