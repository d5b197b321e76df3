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

/* Finds "m", "k" and "b" in one flat object, in any order, with white space; skips
 * other members if they are numbers or plain strings. SEEN_EFORMAT says what is
 * wrong. */
int sn_json_read(const uint8_t *p, uint64_t len, sn_json_parts *out);

/* Base64, in the URL or the standard alphabet, padding optional. In order: the most
 * bytes that LEN letters can give; the bytes written, UINT64_MAX if the text is not
 * base64; the letters written (padded). */
uint64_t sn_base64_len(uint64_t len);
uint64_t sn_base64_read(const uint8_t *text, uint64_t len, uint8_t *out);
size_t sn_base64_write(const uint8_t *p, uint64_t len, char *out);
#endif
