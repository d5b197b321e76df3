/* messages.c - messages: one line in one write, so that lines of several programs in a
 * pipeline never mix. A message may quote what others wrote (a server's error, the name
 * of a file), so no control character reaches the terminal. */
#include "messages.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program = "seen";
void (*kit_before_message)(void);

void kit_say_name(const char *name)
{
    program = name;
}

static void say(const char *fmt, va_list ap)
{
    char line[2048];
    int at = snprintf(line, sizeof line, "%s: ", program);
    int n = vsnprintf(line + at, sizeof line - (size_t)at - 1, fmt, ap);
    if (n > (int)sizeof line - at - 2)
        n = (int)sizeof line - at - 2;
    at += n > 0 ? n : 0;
    for (int i = 0; i < at; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 127)
            line[i] = '?';
    line[at++] = '\n';
    if (kit_before_message)
        kit_before_message();
    while (write(STDERR_FILENO, line, (size_t)at) < 0 && errno == EAGAIN)
        poll(&(struct pollfd){STDERR_FILENO, POLLOUT, 0}, 1, -1);
}

void kit_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
}

static bool hushed;

void kit_hush(void)
{
    hushed = true;
}

void kit_caution(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!hushed)
        say(fmt, ap);
    va_end(ap);
}

void kit_die(const char *fmt, ...)
{
    static atomic_flag dying = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&dying)) /* another thread is ending the program */
        pause();
    va_list ap;
    va_start(ap, fmt);
    say(fmt, ap);
    va_end(ap);
    exit(2);
}

void *kit_alloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p)
        kit_die("out of memory (%zu bytes wanted)", size);
    return p;
}

char *kit_copy_part(const char *s, size_t len)
{
    return memcpy(kit_alloc(len + 1), s, len);
}

char *kit_copy(const char *s)
{
    return kit_copy_part(s, strlen(s));
}

void *kit_grow(void *p, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        kit_die("out of memory (%zu items of %zu bytes wanted)", count, size);
    size_t bytes = count * size;
    p = realloc(p, bytes ? bytes : 1);
    if (!p)
        kit_die("out of memory (%zu bytes wanted)", bytes);
    return p;
}
