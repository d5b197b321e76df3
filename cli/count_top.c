/* count_top.c - `seen count --top N`: the most frequent values, with bounds.
 *
 * A value is kept with its count only while it is among the most frequent, so memory is
 * bounded by the number of counters and the length of values. What is printed is a
 * promise: the true count is never outside the two numbers. */
#include "count_sketch.h"
#include <seen_sketch.h>
#include "json.h"
#include "output.h"
#include "messages.h"
#include "human_numbers.h"

#include <inttypes.h>
#include <stdlib.h>

/* What a counter costs besides its value, roughly: see seen_top_bytes(). */
enum { COUNTER_BYTES = 160, LEAST_COUNTERS = 4096, MOST_COUNTERS = 1 << 26 };

static uint32_t counters_for(const sketch_job *j)
{
    uint64_t n = j->memory ? j->memory / COUNTER_BYTES : 32 * j->top;
    if (!j->memory && n < LEAST_COUNTERS)
        n = LEAST_COUNTERS;
    if (n < j->top)
        kit_die("-m: %" PRIu64 " bytes are too few for the %" PRIu64
                " most frequent values; give at least %" PRIu64,
                j->memory, j->top, j->top * COUNTER_BYTES);
    return n > MOST_COUNTERS ? MOST_COUNTERS : (uint32_t)n;
}

static void take(void *ctx, const batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (seen_top_add_hash(ctx, b->key[i].data, b->key[i].len, b->hash[i]) < 0)
            kit_die("%s", seen_reason());
}

/* How many of the first N are certainly the most frequent: each occurred at least as
 * often as anything behind them can have. MOST is what an unlisted value can have. */
static size_t certain(const seen_top_item *x, size_t n, size_t listed, uint64_t most)
{
    size_t sure = 0;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        uint64_t lower = x[i].count - x[i].error;
        uint64_t behind =
            i + 1 < listed && x[i + 1].count > most ? x[i + 1].count : most;
        least = lower < least ? lower : least;
        if (least >= behind)
            sure = i + 1;
    }
    return sure;
}

static void print_json(seen_top *t, const seen_top_item *x, size_t n, size_t sure)
{
    kit_json o = {.to = stdout};
    kit_json_open(&o, NULL, '{');
    kit_json_count(&o, "lines", seen_top_total(t));
    kit_json_count(&o, "memory", seen_top_bytes(t));
    kit_json_count(&o, "others_at_most", seen_top_floor(t));
    kit_json_count(&o, "certain", sure);
    kit_json_open(&o, "top", '[');
    for (size_t i = 0; i < n; i++) {
        kit_json_open(&o, NULL, '{');
        kit_json_bytes(&o, "value", x[i].data, x[i].len);
        kit_json_count(&o, "at_least", x[i].count - x[i].error);
        kit_json_count(&o, "at_most", x[i].count);
        kit_json_close(&o, '}');
    }
    kit_json_close(&o, ']');
    kit_json_close(&o, '}');
}

static void print_text(seen_top *t, const seen_top_item *x, size_t n, size_t sure,
                       const sketch_job *j)
{
    uint64_t error = 0;
    for (size_t i = 0; i < n; i++) {
        printf("%" PRIu64 "\t%" PRIu64 "\t", x[i].count - x[i].error, x[i].count);
        fwrite(x[i].data, 1, x[i].len, stdout);
        putchar(j->input.keys.term);
        error = x[i].error > error ? x[i].error : error;
    }
    if (j->quiet)
        return;
    kit_stdout_flush();
    if (!error && sure == n)
        kit_warn("exact");
    else
        kit_warn("counts are exact to %s; the first %s are certainly the most "
                 "frequent, and no other value occurs more than %s times; -m gives "
                 "more counters",
                 kit_counted(error), kit_counted(sure), kit_counted(seen_top_floor(t)));
}

void count_top(const sketch_job *j)
{
    seen_top_spec spec = {.counters = counters_for(j), .seed = j->seed};
    seen_top *t;
    if (seen_top_new(&spec, &t) < 0)
        kit_die("%s", seen_reason());
    count_batches(j, take, t);
    seen_top_item *x = kit_grow(NULL, (size_t)j->top + 1, sizeof *x);
    size_t listed = seen_top_list(t, x, (size_t)j->top + 1);
    size_t n = listed < j->top ? listed : (size_t)j->top;
    size_t sure = certain(x, n, listed, seen_top_floor(t));
    if (j->json)
        print_json(t, x, n, sure);
    else
        print_text(t, x, n, sure, j);
    free(x);
    seen_top_free(t);
}
