/* count_within_memory.c - `seen count -m SIZE`: distinct values by HyperLogLog, which
 * never takes more memory, however many come. */
#include "count_sketch.h"
#include <seen_sketch.h>
#include "json.h"
#include "output.h"
#include "messages.h"

#include <inttypes.h>
#include <stdio.h>

static void take(void *ctx, const batch *b)
{
    seen_distinct_add_hashes(ctx, b->hash, b->n);
}

void count_within_memory(const sketch_job *j)
{
    enum { LEAST = 4, MOST = 24 };
    seen_distinct *d;
    unsigned precision = LEAST;
    while (precision < MOST && (uint64_t)2 << precision <= j->memory)
        precision++;
    if (seen_distinct_new(precision, j->seed, NULL, &d) < 0)
        kit_die("%s", seen_reason());
    uint64_t lines = count_batches(j, take, d);
    uint64_t n = (uint64_t)(seen_distinct_count(d) + 0.5);
    if (j->json) {
        kit_json o = {.to = stdout};
        kit_json_open(&o, NULL, '{');
        kit_json_count(&o, "lines", lines);
        kit_json_count(&o, "distinct", n);
        kit_json_text(&o, "kind", "hyperloglog");
        kit_json_count(&o, "memory", seen_distinct_bytes(d));
        kit_json_real(&o, "relative_error", seen_distinct_error(d));
        kit_json_close(&o, '}');
    } else {
        printf("%" PRIu64 "\n", n);
        if (!j->quiet) {
            kit_stdout_flush();
            kit_warn("standard error %.2g%%", 100 * seen_distinct_error(d));
        }
    }
    seen_distinct_free(d);
}
