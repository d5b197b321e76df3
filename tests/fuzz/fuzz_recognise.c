/* fuzz_recognise.c - any bytes as whatever they look like: what is recognised and opens
 * also opens under its name. */
#include "fuzz_foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const seen_format *format = seen_recognise(data, size);
    if (format)
        fuzz_format(format->name, NULL, data, size);
    return 0;
}
