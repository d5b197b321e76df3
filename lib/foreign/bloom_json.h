/* bloom_json.h - the JSON form of bits-and-blooms: three members, one of them base64.
 */
#ifndef SN_BLOOM_JSON_H
#define SN_BLOOM_JSON_H
#include <stddef.h>
#include <stdint.h>

typedef struct sn_json_parts {
    uint64_t m, k;
    const uint8_t *set; /* base64 text, inside the JSON */
    uint64_t set_len;
} sn_json_parts;

/* Finds "m", "k" and "b" of one flat object, in any order, white space allowed; other
 * members of numbers and plain strings are skipped. SEEN_EFORMAT names what is wrong.
 */
int sn_json_read(const uint8_t *p, uint64_t len, sn_json_parts *out);

/* Base64, URL or standard alphabet, padding optional. The most bytes LEN letters give;
 * the bytes written, UINT64_MAX if it is not base64; the letters written (padded). */
uint64_t sn_base64_len(uint64_t len);
uint64_t sn_base64_read(const uint8_t *text, uint64_t len, uint8_t *out);
size_t sn_base64_write(const uint8_t *p, uint64_t len, char *out);
#endif
