/* fuzz_table_filter.c - fuzz target: any bytes as a table's filter, and any hashes as
 * keys.
 */
#include "plugins/leveldb/table_filter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t h[600];
    if (size < 12)
        return 0;
    memcpy(h, data, 8);
    /* With every check byte: one of them is right. */
    uint8_t *any = malloc(size - 8);
    memcpy(any, data + 8, size - 8);
    for (unsigned check = 0; check < 256; check++) {
        any[2] = (uint8_t)check;
        sn_table_filter_has(any, size - 8, h[0]);
    }
    free(any);

    unsigned bits = data[0];
    size_t n = (size - 1) / 8 < 600 ? (size - 1) / 8 : 600;
    memcpy(h, data + 1, n * 8);
    uint8_t *f = malloc(sn_table_filter_size(n, bits));
    size_t len = sn_table_filter_build(h, n, bits, f);
    for (size_t i = 0; i < n; i++)
        if (!sn_table_filter_has(f, len, h[i]))
            abort();
    free(f);
    return 0;
}
