/* keytype.h - converts the text of a key to the bytes that another system hashes.
 *
 * Java and Parquet hash an integer as its four or eight bytes and a Java string often
 * as UTF-16, but callers have text. The text is UTF-8; a lone surrogate is three bytes
 * in it. Text that cannot be a key of the type was certainly never added. */
#ifndef SN_KEYTYPE_H
#define SN_KEYTYPE_H
#include "foreign/foreign.h"

/* SN_KEY_TYPES if the name is unknown; NULL and "" are bytes. */
sn_keytype sn_keytype_named(const char *name);
const char *sn_keytype_name(sn_keytype t);

/* Bytes that sn_keytype_convert may write for LEN bytes of text. */
size_t sn_keytype_room(sn_keytype t, size_t len);

/* Converts TEXT; SEEN_EINVAL if it cannot be a key of type T. */
int sn_keytype_convert(sn_keytype t, const void *text, size_t len, uint8_t *out,
                       size_t *out_len);

/* The next code point of P[0 .. LEN), LEN > 0, and how many bytes it took; a byte that
 * is not UTF-8 gives U+FFFD and takes one. */
uint32_t sn_code_point(const uint8_t *p, size_t len, size_t *took);

#endif
