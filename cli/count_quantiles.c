/* count_quantiles.c - `seen count --quantiles`: which values lie at which share of all.
 *
 * Values are numbers, one a line or field. They go into a t-digest: half a megabyte,
 * however many there are. */
#include "count_sketch.h"
#include <seen_sketch.h>
#include "human_numbers.h"
#include "json.h"
#include "output.h"
#include "messages.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMPRESSION = 5000 };

typedef struct numbers {
    seen_tdigest *digest;
    uint64_t wrong; /* lines that are not numbers */
} numbers;

/* KEY as a number; false if it is something else. Blanks around it do no harm. */
static bool parse_number(seen_key key, double *out)
{
    char text[64], *end;
    if (!key.len || key.len >= sizeof text)
        return false;
    memcpy(text, key.data, key.len);
    text[key.len] = 0;
    *out = strtod(text, &end);
    while (*end == ' ' || *end == '\t' || *end == '\r')
        end++;
    return end > text && end == text + key.len && isfinite(*out);
}

static void take(void *ctx, const batch *b)
{
    numbers *x = ctx;
    for (size_t i = 0; i < b->n; i++) {
        double v;
        if (!parse_number(b->key[i], &v))
            x->wrong++;
        else if (seen_tdigest_add(x->digest, v, 1) < 0)
            kit_die("%s", seen_reason());
    }
}

size_t count_parse_quantiles(const char *list, double **out)
{
    static const double usual[] = {0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1};
    size_t n = 0, room = 0;
    *out = NULL;
    if (!list) {
        *out = kit_grow(NULL, sizeof usual / sizeof *usual, sizeof *usual);
        memcpy(*out, usual, sizeof usual);
        return sizeof usual / sizeof *usual;
    }
    for (const char *p = list;; p++) {
        char *end;
        double q = strtod(p, &end);
        bool number = end > p;
        if (*end == '%') {
            q /= 100;
            end++;
        }
        if (!number || !(q >= 0 && q <= 1) || (*end && *end != ',')) {
            free(*out);
            *out = NULL;
            return 0;
        }
        if (n == room)
            *out = kit_grow(*out, room = room * 2 + 8, sizeof **out);
        (*out)[n++] = q;
        p = end;
        if (!*p)
            return n;
    }
}

/* How far the rank of an answer at Q may be off, as a share: two nodes, see seen.h. 0
 * if every value is kept. */
static double rank_error(seen_tdigest *t, const double *q, size_t n)
{
    seen_tdigest_info i;
    double worst = 0;
    seen_tdigest_get_info(t, &i);
    if (i.merged_weight == (int64_t)i.merged)
        return 0;
    for (size_t k = 0; k < n; k++)
        worst = fmax(worst, q[k] * (1 - q[k]));
    return 2 * worst * 2 * M_PI * log((double)i.merged_weight) / COMPRESSION;
}

static void print_json(const numbers *x, const double *q, const double *v, size_t n,
                       double error)
{
    kit_json o = {.to = stdout};
    seen_tdigest_info i;
    seen_tdigest_get_info(x->digest, &i);
    kit_json_open(&o, NULL, '{');
    kit_json_count(&o, "numbers", (uint64_t)i.merged_weight);
    kit_json_count(&o, "not_numbers", x->wrong);
    kit_json_count(&o, "memory", i.bytes);
    kit_json_real(&o, "rank_error", error);
    kit_json_open(&o, "quantiles", '[');
    for (size_t k = 0; k < n; k++) {
        kit_json_open(&o, NULL, '{');
        kit_json_real(&o, "quantile", q[k]);
        kit_json_real(&o, "value", v[k]);
        kit_json_close(&o, '}');
    }
    kit_json_close(&o, ']');
    kit_json_close(&o, '}');
}

static void print_text(const numbers *x, uint64_t lines, const double *q,
                       const double *v, size_t n, double error, bool quiet)
{
    for (size_t k = 0; k < n; k++)
        printf("%.10g%%\t%.10g\n", 100 * q[k], v[k]);
    if (quiet)
        return;
    kit_stdout_flush();
    if (x->wrong)
        kit_warn("%s of %s lines are not numbers and were left out",
                 kit_counted(x->wrong), kit_counted(lines));
    if (error > 0)
        kit_warn("the ranks of these values are within %.2g%%", 100 * error);
    else
        kit_warn("every value was kept: the ranks are exact");
}

void count_quantiles(const sketch_job *j)
{
    numbers x = {0};
    double *q;
    size_t n = count_parse_quantiles(j->quantiles, &q);
    if (seen_tdigest_new(COMPRESSION, 0, NULL, &x.digest) < 0)
        kit_die("%s", seen_reason());
    uint64_t lines = count_batches(j, take, &x);
    if (lines == x.wrong)
        kit_die("%s; -k N selects a field",
                lines ? "none of the lines is a number" : "no numbers in the input");
    double *v = kit_grow(NULL, n, sizeof *v);
    seen_tdigest_quantiles(x.digest, q, n, v);
    double error = rank_error(x.digest, q, n);
    if (j->json)
        print_json(&x, q, v, n, error);
    else
        print_text(&x, lines, q, v, n, error, j->quiet);
    free(q);
    free(v);
    seen_tdigest_free(x.digest);
}
