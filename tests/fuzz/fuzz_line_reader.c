/* fuzz_line_reader.c - any bytes as input of the line reader: no line is lost, made or
 * changed.
 *
 * The first byte chooses lines or CSV records and whether packing is recognised. The
 * lines and their terminators, put together again, must be the input (or, if it was
 * unpacked, just not crash). */
#include "kit/lines.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    bool csv = data[0] & 1, raw = data[0] & 2;
    int term = data[0] & 4 ? 0 : '\n';
    data++, size--;
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    char *files[] = {path};
    kit_lines *r = kit_lines_new(files, 1, term);
    if (csv)
        kit_lines_csv(r, ',');
    if (raw)
        kit_lines_raw(r, NULL);
    kit_block b = {0};
    size_t at = 0;
    bool packed = false;
    while (kit_lines_next(r, &b) > 0) {
        const char *p = b.data, *end = p + b.len;
        packed |= b.packed;
        while (p < end) {
            seen_key k[7];
            size_t n = csv ? kit_cut_csv(&p, end, term, ',', k, 7)
                           : kit_cut(&p, end, term, k, 7);
            if (!n)
                abort();
            for (size_t i = 0; i < n && !packed; i++) {
                if (at + k[i].len > size || memcmp(data + at, k[i].data, k[i].len))
                    abort();
                at += k[i].len;
                if (at < size && data[at++] != (uint8_t)term)
                    abort();
            }
        }
    }
    if (!packed && at != size && !*kit_lines_error(r))
        abort();
    kit_block_free(&b);
    kit_lines_free(r);
    close(fd);
    return 0;
}
