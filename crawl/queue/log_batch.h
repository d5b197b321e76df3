/* log_batch.h - the frames of the log: a header, then batches, each with a checksum.
 *
 *   file   "SEENCRWL" u32 version u32 0 u64 seed u64 created u64 checksum
 *   batch  u32 length  u32 count of groups  u64 checksum   then LENGTH bytes
 *
 * A checksum covers the position of its batch, so a batch is good only where it was
 * written. A batch of BATCH_HOLE groups is a hole: seen crawl --repair puts one over
 * damaged bytes, so that all other positions stay what they were. Version 3 has one
 * more fact of a page than version 2 (page_record.h). */
#ifndef CRAWL_LOG_BATCH_H
#define CRAWL_LOG_BATCH_H

#include "buf.h"

/* Ends the program if the log at PATH, of this version of the format, cannot be read.
 */
void log_check_version(const char *path, uint32_t version);

enum { LOG_HEAD = 40, LOG_VERSION = 3, LOG_OLDEST = 2, BATCH_FRAME = 16 };
#define BATCH_MOST (256u << 20)
#define BATCH_HOLE 0xffffffffu

typedef struct log_head {
    uint32_t version;
    uint64_t seed, created;
} log_head;

void log_head_write(uint8_t p[LOG_HEAD], const log_head *h);
bool log_head_read(const uint8_t p[LOG_HEAD], log_head *h); /* false: not a good one */

/* Up to N bytes of FD at AT; fewer at the end of the file, -1 on failure (errno). */
ssize_t read_at(int fd, void *p, size_t n, uint64_t at);
bool write_at(int fd, const void *p, size_t n, uint64_t at); /* all, or false (errno) */

/* Reads the batch at AT, which must end at LIMIT or before, into B and sets *GROUPS.
 * False if there is no good batch. */
bool batch_read(int fd, uint64_t seed, uint64_t at, uint64_t limit, buf *b,
                uint32_t *groups);

/* The first good batch at FROM or later; LIMIT if there is none. */
uint64_t batch_find(int fd, uint64_t seed, uint64_t from, uint64_t limit);

/* Fills in the frame at P, which LEN bytes of payload follow, for the position AT. */
void batch_frame(uint8_t *p, uint64_t seed, uint64_t at, uint32_t len, uint32_t groups);

/* A number in its longest form, ten bytes; batches begin with some of them, by which
 * batch_find tells a batch from other bytes without a checksum. */
enum { LONG_VARINT = 10 };
void put_long_varint(uint8_t *p, uint64_t n);

#endif
