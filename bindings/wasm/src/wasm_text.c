/* wasm_text.c - numbers to text and back, for the messages and keys of the library.
 *
 * The engine does what is hard about it: it has the digits of doubles already, exactly
 * rounded, and wasi-libc's way through long doubles would take 20 kB. snprintf knows %s
 * %d %u %x %#x %zu %llu %%, and %s, %g and %f with a precision: every form that is
 * linked. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <words.h>

/* Writes X with PRECISION digits, significant ones for 'g', after the point for 'f'. */
__attribute__((import_module("seen"), import_name("digits"))) unsigned
engine_digits(double x, int precision, int form, char *to);

/* The number that is all of the LEN bytes at TEXT, as strtod reads it, or with NARROW as
 * strtof does; *KNOWN says whether it is one. */
__attribute__((import_module("seen"), import_name("number"))) double
engine_number(const char *text, size_t len, int narrow, bool *known);

typedef struct page {
    char *at;
    size_t size, len;
} page;

static void put(page *p, const char *s, size_t len)
{
    for (; len; len--, s++, p->len++)
        if (p->len + 1 < p->size)
            p->at[p->len] = *s;
}

static void put_integer(page *p, uint64_t x, bool negative, unsigned base)
{
    char text[24];
    int at = sizeof text;
    do
        text[--at] = "0123456789abcdef"[x % base];
    while (x /= base);
    if (negative)
        text[--at] = '-';
    put(p, text + at, sizeof text - (size_t)at);
}

/* Writes the argument that FMT is about; returns where FMT goes on. */
static const char *put_one(page *p, const char *f, const uint64_t **words)
{
    char text[48];
    int precision = -1;
    if (*f == '#')
        f++, put(p, "0x", 2);
    if (*f == '.')
        for (f++, precision = 0; *f >= '0' && *f <= '9'; f++)
            precision = precision * 10 + *f - '0';
    if (*f == '*')
        f++, precision = (int)*(*words)++;
    while (*f == 'l' || *f == 'z')
        f++;
    if (*f == '%') {
        put(p, f, 1);
        return f + 1;
    }
    union {
        uint64_t word;
        double number;
    } x = {*(*words)++};
    const char *s = (const char *)(uintptr_t)x.word;
    switch (*f) {
    case 'd':
        put_integer(p, (int64_t)x.word < 0 ? 0 - x.word : x.word, (int64_t)x.word < 0,
                    10);
        break;
    case 'g':
    case 'f':
        put(p, text, engine_digits(x.number, precision < 0 ? 6 : precision, *f, text));
        break;
    case 's':
        put(p, s, precision < 0 ? strlen(s) : strnlen(s, (size_t)precision));
        break;
    default:
        put_integer(p, x.word, false, *f == 'x' ? 16 : 10);
    }
    return f + 1;
}

int sn_print(char *buf, size_t size, const char *fmt, const uint64_t *words)
{
    page p = {buf, size, 0};
    while (*fmt)
        if (*fmt != '%')
            put(&p, fmt++, 1);
        else
            fmt = put_one(&p, fmt + 1, &words);
    if (size)
        buf[p.len < size ? p.len : size - 1] = 0;
    return (int)p.len;
}

int sn_fail_0(int code, const char *fmt)
{
    return sn_fail_at(code, fmt, NULL);
}

int sn_fail_1(int code, const char *fmt, uint64_t a)
{
    return sn_fail_at(code, fmt, &a);
}

int sn_fail_2(int code, const char *fmt, uint64_t a, uint64_t b)
{
    const uint64_t words[] = {a, b};
    return sn_fail_at(code, fmt, words);
}

int sn_fail_3(int code, const char *fmt, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t words[] = {a, b, c};
    return sn_fail_at(code, fmt, words);
}

/* The library's texts are numbers as a whole or not at all. */
static double whole(const char *text, int narrow, char **end)
{
    bool known = false;
    size_t len = strlen(text);
    double x = engine_number(text, len, narrow, &known);
    if (end)
        *end = (char *)text + (known ? len : 0);
    return known ? x : 0;
}

double strtod(const char *text, char **end)
{
    return whole(text, 0, end);
}

float strtof(const char *text, char **end)
{
    return (float)whole(text, 1, end);
}

/* Decimal digits only; ERANGE and the largest number if they are too many. */
unsigned long long strtoull(const char *text, char **end, int base)
{
    unsigned long long x = 0;
    bool over = false;
    for (; *text >= '0' && *text <= '9'; text++) {
        unsigned digit = (unsigned)(*text - '0');
        over |= x > (ULLONG_MAX - digit) / 10;
        x = x * 10 + digit;
    }
    *end = (char *)text;
    if (over)
        errno = ERANGE;
    return over ? ULLONG_MAX : x;
}

/* ---- strings: wasi-libc reads a word at a time, in ten times the code ------------- */

size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n; n--, a++, b++)
        if (*a != *b || !*a)
            return (unsigned char)*a - (unsigned char)*b;
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (; n; n--, x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

void *memchr(const void *p, int byte, size_t n)
{
    for (const unsigned char *at = p; n; n--, at++)
        if (*at == (unsigned char)byte)
            return (void *)at;
    return NULL;
}

char *strcpy(char *restrict to, const char *restrict from)
{
    return memcpy(to, from, strlen(from) + 1);
}

char *strstr(const char *text, const char *word)
{
    for (size_t len = strlen(word); *text; text++)
        if (strncmp(text, word, len) == 0)
            return (char *)text;
    return *word ? NULL : (char *)text;
}
