/* fuzz_exceptions.c - any bytes as the list of exceptions beside a filter: refused, or
 * its keys are excused and can be added again. Never a crash.
 *
 * In half of the runs the checksum and the filter's identity are made to fit, so that
 * the fuzzer gets behind them to the keys. */
#include "filter/exceptions.h"
#include "base/bytes.h"
#include "hash/hash.h"
#include <stdlib.h>
#include <string.h>

enum { NOW = 16, SUM = 40, KEYS = 48 }; /* docs/format.md */

typedef struct met {
    seen_filter *f;
    uint64_t n;
} met;

static int each(void *ctx, const void *key, size_t len)
{
    met *m = ctx;
    /* What is on the list is not found, although the filter says yes to everything. */
    if (seen_has(m->f, key, len))
        abort();
    m->n++;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    seen_spec spec = {.kind = SEEN_CLASSIC, .bits = 64, .probes = 1};
    seen_filter *f, *copy;
    if (size < 1 || seen_new(&spec, &f) < 0)
        return 0;
    for (uint64_t i = 0; i < 1000; i++)
        seen_add_u64(f, i);
    size_t len = size - 1;
    uint8_t *p = malloc(len + 1);
    memcpy(p, data + 1, len);
    if (data[0] & 1 && len >= KEYS) {
        sn_put64(p + NOW, 7);
        sn_put64(p + SUM, 0);
        sn_put64(p + SUM, sn_checksum(p, len));
    }
    int rc = sn_exceptions_parse(f, p, len, 7);
    met m = {f, 0};
    seen_excused_each(f, each, &m);
    if (rc == 1 && seen_copy(f, &copy) == 0) {
        seen_excuse(copy, "another", 7);
        seen_unexcuse(copy, "another", 7);
        for (size_t i = 0; i + 3 < len && i < 64; i++)
            seen_add(copy, p + i, 3);
        seen_merge(copy, f);
        seen_free(copy);
    }
    free(p);
    seen_free(f);
    return 0;
}
