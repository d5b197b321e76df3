/* tap.h - tests speak TAP: ok() counts, done() writes the plan. */
#ifndef TAP_H
#define TAP_H
#include <stdio.h>
#include <stdarg.h>

static int tap_run, tap_failed;

/* States a promise in words and whether it held; returns whether. The condition is
 * evaluated first, so the words may quote what it set. */
#define ok(cond, ...)                                                                  \
    ({                                                                                 \
        int tap_held = !!(cond);                                                       \
        tap_ok(tap_held, __FILE__, __LINE__, __VA_ARGS__);                             \
    })
__attribute__((format(printf, 4, 5), unused)) static int
tap_ok(int good, const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%sok %d - ", good ? "" : "not ", ++tap_run);
    vprintf(fmt, ap);
    va_end(ap);
    puts("");
    if (!good) {
        tap_failed++;
        printf("# at %s:%d\n", file, line);
    }
    fflush(stdout);
    return good;
}
#define note(...) (printf("# " __VA_ARGS__), puts(""))
static inline int done(void)
{
    printf("1..%d\n", tap_run);
    return tap_failed != 0;
}
#endif
