/* variants_set_same_bits.c - every twin the machine can run sets and tests the same
 * bits as the scalar code, whatever the size, the number of probes and the alignment of
 * the batch. */
#include "kind/kind.h"
#include "test_keys.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

static void compare(const sn_kind *kind, uint32_t k, uint64_t units)
{
    static const seen_allocator mem;
    sn_shape shape = {.kind = kind->id, .k = k, .units = units};
    uint64_t len = kind->body_len(&shape);
    size_t n = units < 5000 ? 10 * (size_t)units + 100 : 50000;
    uint64_t *h = malloc(2 * n * sizeof *h);
    bool *dup_truth = malloc(2 * n), *dup = malloc(2 * n);
    for (size_t i = 0; i < n; i++)
        h[i] = mix(i % (n - 20)); /* the last ones are duplicates */
    h[0] = 0, h[1] = UINT64_MAX, h[2] = 1, h[3] = (uint64_t)1 << 63;
    for (size_t i = n; i < 2 * n; i++)
        h[i] = mix(i * 7777);
    sn_layer truth = {.kind = kind,
                      .shape = shape,
                      .len = len,
                      .body = sn_body_alloc(&mem, len),
                      .variant = kind->variant(&shape, SN_SCALAR, false)};
    truth.variant->add(&truth, h, n, dup_truth);
    bool *has_truth = malloc(2 * n), *has = malloc(2 * n);
    truth.variant->has(&truth, h, 2 * n, has_truth);
    for (int simd = 0; simd < SN_SIMDS; simd++)
        for (int atomic = 0; atomic < 2; atomic++) {
            if (!sn_simd_runs((enum sn_simd)simd) || (simd == SN_SCALAR && !atomic))
                continue;
            sn_layer l = truth;
            l.added = 0;
            l.variant = kind->variant(&shape, (enum sn_simd)simd, atomic);
            l.body = sn_body_alloc(&mem, len);
            size_t step = 1;
            for (size_t i = 0; i < n; i += step, step = step % 37 + 1)
                l.variant->add(&l, h + i, n - i < step ? n - i : step, dup + i);
            if (l.variant->prefetch)
                l.variant->prefetch(&l, h, n);
            l.variant->has(&l, h, 2 * n, has);
            bool ahead = true; /* where it fetches ahead: the same once more */
            if (l.variant->has_ahead && n > SN_AHEAD) {
                bool *again = malloc(2 * n);
                l.variant->has_ahead(&l, h, 2 * n - SN_AHEAD, again);
                ahead = memcmp(again, has_truth, 2 * n - SN_AHEAD) == 0;
                memset(l.body, 0, len);
                l.variant->add_ahead(&l, h, n, again);
                ahead &= memcmp(again, dup_truth, n) == 0;
                l.added -= truth.added;
                free(again);
            }
            bool alone = true;
            for (size_t i = 0; l.variant->has_one && i < 2 * n; i += 13)
                alone &= l.variant->has_one(&l, h[i]) == has_truth[i];
            ok(ahead && alone && memcmp(l.body, truth.body, len) == 0 &&
                   l.added == truth.added && memcmp(dup, dup_truth, n) == 0 &&
                   memcmp(has, has_truth, 2 * n) == 0,
               "%s k=%u units=%llu: %s%s is bit for bit the scalar one", kind->name, k,
               (unsigned long long)units, sn_simd_name((enum sn_simd)simd),
               atomic ? ", atomic," : "");
            sn_body_free(&mem, l.body, len);
        }
    sn_body_free(&mem, truth.body, len);
    free(h), free(dup), free(dup_truth), free(has), free(has_truth);
}

int main(void)
{
    static const uint64_t units[] = {1, 2, 3, 7, 64, 1000, 4097};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        for (uint32_t k = 1; k <= 16; k++)
            compare(&sn_blocked, k, units[u]);
        compare(&sn_split, 8, units[u]);
        compare(&sn_classic, 7, units[u] * 500);
    }
    return done();
}
