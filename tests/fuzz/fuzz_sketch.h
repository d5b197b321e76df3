/* fuzz_sketch.h - any bytes as a sketch: refused, or good for every use.
 *
 * The checksum and the length are made to fit, so that the fuzzer gets behind them to
 * the fields. What is accepted is used by the target and must come back when it is
 * written and read again. */
#include "seen.h"
#include "base/bytes.h"
#include "hash/hash.h"
#include <stdlib.h>

enum { FUZZ_MOST = 16 << 20 };

static uint8_t *fuzz_signed(const uint8_t *data, size_t size)
{
    uint8_t *p = malloc(size ? size : 1);
    if (size)
        memcpy(p, data, size);
    if (size >= 24) {
        sn_put64(p + 8, size);
        sn_put64(p + size - 8, sn_checksum(p, size - 8));
    }
    return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_SKETCH(sketch, use)                                                       \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                       \
    {                                                                                  \
        seen_##sketch *s, *again;                                                      \
        uint8_t *p = fuzz_signed(data, size);                                          \
        if (seen_##sketch##_read(p, size, FUZZ_MOST, NULL, &s) == SEEN_OK) {           \
            use(s);                                                                    \
            size_t len = seen_##sketch##_write(s, NULL, 0);                            \
            uint8_t *out = malloc(len);                                                \
            seen_##sketch##_write(s, out, len);                                        \
            if (seen_##sketch##_read(out, len, 0, NULL, &again) != SEEN_OK)            \
                abort();                                                               \
            seen_##sketch##_free(again);                                               \
            seen_##sketch##_free(s);                                                   \
            free(out);                                                                 \
        }                                                                              \
        free(p);                                                                       \
        return 0;                                                                      \
    }
