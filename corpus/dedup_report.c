/* dedup_report.c - the summary at the end of a run. */
#include "dedup_report.h"
#include "human_numbers.h"
#include "json.h"
#include "origins.h"

#include <stdio.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

dedup_report report_begin(void)
{
    return (dedup_report){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static size_t files_before(const dedup_run *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->in.n; i++)
        n += r->in.of[i].done;
    return n;
}

static void as_json(const dedup_run *r, double wall, double cpu, uint64_t memory)
{
    const judge *j = &r->judge;
    kit_json out = {.to = stderr};
    kit_json_open(&out, NULL, '{');
    kit_json_count(&out, "files", r->finished);
    kit_json_count(&out, "files_finished_before", files_before(r));
    kit_json_count(&out, "documents", j->documents);
    kit_json_count(&out, "documents_removed", j->documents_gone);
    kit_json_count(&out, "documents_changed", j->documents_cut);
    kit_json_count(&out, "bad_lines", j->bad);
    kit_json_count(&out, "paragraphs", j->paragraphs);
    kit_json_count(&out, "paragraphs_judged", j->judged);
    kit_json_count(&out, "paragraphs_removed", j->paragraphs_gone);
    kit_json_count(&out, "ngrams", j->ngrams);
    kit_json_count(&out, "text_bytes", j->bytes);
    kit_json_count(&out, "text_bytes_removed", j->bytes_gone);
    kit_json_real(&out, "expected_wrongly_removed", j->lost);
    if (j->filter) {
        kit_json_text(&out, "kind", seen_kind_name(seen_kind_of(j->filter)));
        kit_json_count(&out, "keys", seen_added(j->filter));
        kit_json_real(&out, "error", seen_error_predicted(j->filter));
    }
    kit_json_count(&out, "memory", memory);
    kit_json_count(&out, "bytes_read", r->read);
    kit_json_count(&out, "bytes_written", r->written);
    kit_json_real(&out, "seconds", wall);
    kit_json_real(&out, "cpu_seconds", cpu);
    kit_json_real(&out, "bytes_per_second", wall > 0 ? (double)r->read / wall : 0);
    kit_json_close(&out, '}');
}

void report_end(const dedup_report *began, const dedup_run *r, bool json)
{
    const judge *j = &r->judge;
    double wall = seconds(CLOCK_MONOTONIC) - began->wall;
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - began->cpu;
    uint64_t memory = (j->filter ? seen_bytes(j->filter) : 0) +
                      (j->against ? seen_bytes(j->against) : 0) +
                      origins_bytes(j->origins);
    char a[32], b[32], c[32], d[32], m[24], s[24];
    if (json) {
        as_json(r, wall, cpu, memory);
        return;
    }
    fprintf(stderr,
            "%s documents, %s %s; %s of %s paragraphs %s (%.1f%% of the text), "
            "%.2g expected wrongly; %s, %s/s\n",
            kit_show_count(j->documents, a), kit_show_count(j->documents_gone, b),
            r->rules.marks ? "to go" : "removed", kit_show_count(j->paragraphs_gone, c),
            kit_show_count(j->paragraphs, d), r->rules.marks ? "to go" : "removed",
            j->bytes ? 100 * (double)j->bytes_gone / (double)j->bytes : 0, j->lost,
            kit_show_bytes((double)memory, m),
            kit_show_bytes(wall > 0 ? (double)r->read / wall : 0, s));
    if (files_before(r))
        fprintf(stderr, "%s of %s files were finished by an earlier run\n",
                kit_show_count(files_before(r), a), kit_show_count(r->in.n, b));
    if (j->bad)
        fprintf(stderr, "%s lines were not JSON objects with such a field\n",
                kit_show_count(j->bad, a));
}
