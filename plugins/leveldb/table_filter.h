/* table_filter.h - a whole filter in a few dozen bytes, for one table block.
 *
 * For n keys it stores m >= n + 1 words of r bits, chosen so that for each key the
 * sum (xor) of the words its hash selects equals r more bits of the hash. An absent
 * key matches only by chance, one time in 2^r. That is r * m bits for an error of
 * 2^-r. A Bloom filter needs 1.44 times as many and, as small as for one block, even
 * more. A system this small costs nothing extra, because every key may select among
 * all m words.
 *
 * It knows only hashes, not keys or databases. Bytes written (version 2):
 *     byte 0    r, 1 .. 32; 0 matches everything; above 32: reserved, matches
 *     byte 1    salt of the hashes
 *     byte 2    check byte: a filter whose check fails was damaged and matches all
 *     then      r columns of m bits, least significant bit first, without gaps;
 *               m is not stored, it is floor(8 * rest / r) */
#ifndef TABLE_FILTER_H
#define TABLE_FILTER_H
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

/* The bytes to reserve for N keys at BITS a key: the size of a builtin filter. */
size_t sn_table_filter_size(size_t n, unsigned bits);

/* Writes a filter of the N hashes to OUT, which has sn_table_filter_size() bytes, and
 * returns its length. Hashes may repeat. If memory runs out, or all salts fail (once in
 * 10^30), it writes a filter that matches everything. */
size_t sn_table_filter_build(const uint64_t *hashes, size_t n, unsigned bits,
                             uint8_t *out);

/* True if H may be in the filter of LEN bytes at P; false is certain, unless damage
 * went unnoticed. Any bytes are allowed. */
bool sn_table_filter_has(const uint8_t *p, size_t len, uint64_t h);

/* The same in two steps, for filters that are asked often: is this an undamaged filter
 * that can say no? And then, only for such a filter: may H be in it? */
bool sn_table_filter_sound(const uint8_t *p, size_t len);
bool sn_table_filter_ask(const uint8_t *p, size_t len, uint64_t h);
#endif
