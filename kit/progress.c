/* progress.c - writes one line on a terminal over and over, and wipes it. */
#include "progress.h"
#include "messages.h"
#include "human_numbers.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool on, shown;
static double began, last;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void put(const char *s)
{
    if (write(STDERR_FILENO, s, strlen(s)) < 0)
        on = false;
}

static void wipe(void)
{
    if (shown)
        put("\r\033[K");
    shown = false;
}

void kit_progress_start(bool quiet)
{
    on = !quiet && isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
    began = last = now();
    kit_before_message = wipe;
}

void kit_progress_start_silent(bool quiet)
{
    kit_progress_start(quiet);
    on = !quiet && isatty(STDERR_FILENO);
}

bool kit_progress_due(void)
{
    if (!on)
        return false;
    double t = now();
    if (t - last < 0.2)
        return false;
    last = t;
    return true;
}

void kit_progress_show(const kit_progress *p)
{
    char line[256], eta[48] = "", a[24], b[24], c[32], d[32], m[24];
    double t = now() - began;
    if (t <= 0 || !on)
        return;
    if (p->total && p->taken && p->taken < p->total) {
        double left = t * (double)(p->total - p->taken) / (double)p->taken;
        snprintf(eta, sizeof eta, ", %.0f%%, %.0f:%02.0f left",
                 100.0 * (double)p->taken / (double)p->total, (double)((long)left / 60),
                 (double)((long)left % 60));
    }
    snprintf(line, sizeof line, "\r%s, %s lines, %s distinct, %s/s, %s%s\033[K",
             kit_show_bytes((double)p->taken, a), kit_show_count(p->lines, c),
             kit_show_count(p->distinct, d), kit_show_bytes((double)p->taken / t, b),
             kit_show_bytes((double)p->memory, m), eta);
    put(line);
    shown = true;
}

void kit_progress_text(const char *text)
{
    char line[256];
    if (!on)
        return;
    snprintf(line, sizeof line, "\r%s\033[K", text);
    put(line);
    shown = true;
}

void kit_progress_end(void)
{
    wipe();
}
