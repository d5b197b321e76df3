/* fuzz_open.c - any bytes as a native file: refused or answered, never a crash.
 *
 * The header's sum is made to fit in half of the runs, so that the fuzzer gets behind
 * it to the fields. */
#include "filter/file.h"
#include "base/bytes.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    seen_filter *f;
    if (size < 1)
        return 0;
    size_t len = size - 1;
    uint8_t *p = aligned_alloc(64, (len + 64) / 64 * 64);
    memcpy(p, data + 1, len);
    if (data[0] & 1 && len >= SN_PREAMBLE) {
        uint64_t header = sn_le64(p + SN_AT_HEADER_LEN);
        if (data[0] & 2)
            sn_put64(p + SN_AT_FILE_LEN, len);
        if (header >= SN_PREAMBLE && header <= len)
            sn_put64(p + SN_AT_SUM, sn_header_sum(p, header));
    }
    if (seen_open_bytes(p, len, 0, NULL, &f) == 0) {
        char line[300];
        uint64_t h[40];
        bool found[40];
        for (uint64_t i = 0; i < 40; i++)
            h[i] = i * 0x9e3779b97f4a7c15u;
        seen_has_hashes(f, h, 40, found);
        seen_verify(f);
        seen_describe(f, line, sizeof line);
        seen_lost_expected(f);
        seen_filter *copy;
        if (seen_bytes(f) < 1 << 20 && seen_copy(f, &copy) == 0) {
            seen_add_hashes(copy, h, 40, found, NULL);
            seen_merge(copy, f);
            seen_remove_hash(copy, h[0]);
            seen_free(copy);
        }
        seen_free(f);
    }
    free(p);
    return 0;
}
