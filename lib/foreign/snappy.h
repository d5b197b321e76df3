/* snappy.h - unpacks Snappy blocks, for LevelDB's index; bytes untrusted. */
#ifndef SN_SNAPPY_H
#define SN_SNAPPY_H
#include <stdint.h>

/* The unpacked length that LEN packed bytes declare; UINT64_MAX if it is impossible. */
uint64_t sn_snappy_len(const uint8_t *p, uint64_t len);
/* Unpacks to exactly OUT_LEN bytes; SEEN_OK or SEEN_EFORMAT. */
int sn_snappy_unpack(const uint8_t *p, uint64_t len, uint8_t *out, uint64_t out_len);
#endif
