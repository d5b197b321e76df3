/* human_numbers.h - reads numbers as people write them, and writes them so. */
#ifndef KIT_HUMAN_NUMBERS_H
#define KIT_HUMAN_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "64M", "1.5G", "10MB": bytes. K, M, G, T are powers of 1024; KB, MB, ... powers of
 * 1000. False if it is not a size, or not above zero and below 2^63. */
bool kit_parse_bytes(const char *s, uint64_t *out);

/* "20000000", "20M", "2e7": a count; k, M, G, T are powers of 1000. */
bool kit_parse_count(const char *s, uint64_t *out);

/* "0.001", "1e-3", "0.1%" or "1/1000": a probability above 0 and below 1. */
bool kit_parse_error(const char *s, double *out);

/* "56 MB", "1.3 GB", "312 bytes" in powers of 1000, into BUF of at least 24 bytes;
 * returns BUF. */
char *kit_show_bytes(double bytes, char *buf);

/* "13,997,237". So are all counts in messages and tables for people; not line numbers
 * and places in files, not what is typed back as an option, and not results that
 * programs read: JSON, counts and lists on standard output. */
char *kit_show_count(uint64_t n, char *buf);

/* The same, valid until eight more calls of this thread; and an expected number: "3.2",
 * "13,997". */
const char *kit_counted(uint64_t n);
const char *kit_expected(double n);
#endif
