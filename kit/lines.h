/* lines.h - files and pipes as blocks of whole lines.
 *
 * A block is what one read returned, cut back to the last whole line; the rest opens
 * the next block. So nothing waits for a full buffer, and only the line that crosses
 * two blocks is copied. Lines may have any length: a block grows until its line ends.
 */
#ifndef KIT_LINES_H
#define KIT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seen.h"

typedef struct kit_block {
    char *data;
    size_t len, room;
    uint64_t offset; /* of data[0] among the unpacked bytes of all files */
    size_t file;     /* which file */
    bool open_end;   /* the last line has no terminator: the file ended */
    bool packed;     /* the file is compressed */
    size_t header;   /* bytes at the beginning that are the header of the file */
} kit_block;

typedef struct kit_lines kit_lines;

enum { KIT_BLOCK = 256 << 10 };

/* Reads the N FILES one after the other ("-" is standard input). TERM ends a line. The
 * array must stay. */
kit_lines *kit_lines_new(char *const *files, size_t n, int term);
void kit_lines_free(kit_lines *r);

/* Makes lines CSV records: a terminator inside quotes does not end them, and a quote
 * that is never closed is an error that names its line. */
void kit_lines_csv(kit_lines *r, char separator);

/* The first line of each file is its header: given to TAKE, without its terminator,
 * when it is read, and part of the first block (block.header), but not one of its
 * lines. TAKE returns NULL, or what is wrong with it, which ends the reading. */
typedef const char *kit_take_header(void *ctx, seen_key header);
void kit_lines_header(kit_lines *r, kit_take_header *take, void *ctx);

/* Reads files as they are, without unpacking, and at most the first MOST[i] bytes of
 * file i if MOST is not NULL. The array must stay. */
void kit_lines_raw(kit_lines *r, const uint64_t *most);

/* Fills B with the next whole lines: returns 1, 0 at the end, or -1; then
 * kit_lines_error names the file and says what is wrong. B's memory is kept and grown:
 * start with a zero kit_block, finish with kit_block_free. */
int kit_lines_next(kit_lines *r, kit_block *b);
void kit_block_free(kit_block *b);
const char *kit_lines_error(const kit_lines *r);

/* Bytes of the files read so far, and of all of them if they are regular files (0:
 * unknown). May be called from another thread. */
uint64_t kit_lines_taken(const kit_lines *r);
uint64_t kit_lines_total(const kit_lines *r);

/* Checks that each file exists, is readable and is not a directory. Returns NULL or a
 * message for kit_die, so that a wrong name is noticed before any output. */
const char *kit_lines_check(char *const *files, size_t n);

/* Cuts up to MAX lines out of [*P, END) into OUT, without their terminators, and moves
 * *P past them. Reads up to 63 bytes beyond END, which blocks allow. The last line may
 * lack its terminator. */
size_t kit_cut(const char **p, const char *end, int term, seen_key *out, size_t max);

/* The same for CSV records. */
size_t kit_cut_csv(const char **p, const char *end, int term, char separator,
                   seen_key *out, size_t max);

/* The quote in [P, END) that is not closed there; NULL if all are. P begins a record.
 */
const char *kit_open_quote(const char *p, const char *end, int term, char separator);

/* 3 if a UTF-8 byte order mark is at P, else 0. */
static inline size_t kit_bom(const char *p, size_t len)
{
    return len >= 3 && p[0] == '\xef' && p[1] == '\xbb' && p[2] == '\xbf' ? 3 : 0;
}
#endif
