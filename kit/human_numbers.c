/* human_numbers.c - "64M", "2e7", "0.1%" to numbers, and numbers to "13,997,237". */
#include "human_numbers.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number at the front of S; the unit begins at *REST. Decimal only: the C library
 * would also accept "inf" and hexadecimal. */
static bool number(const char *s, double *out, const char **rest)
{
    if (!isdigit((unsigned char)*s) && *s != '.')
        return false;
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
        return false;
    char *end;
    *out = strtod(s, &end);
    *rest = end;
    return end != s && isfinite(*out);
}

static bool scaled(const char *s, bool bytes, uint64_t *out)
{
    static const char units[] = "KMGTPE";
    const char *rest;
    double x;
    if (!number(s, &x, &rest))
        return false;
    if (*rest) {
        const char *u = strchr(units, toupper((unsigned char)*rest));
        double base = bytes ? 1024 : 1000;
        if (!u) {
            if (!bytes || strcmp(rest, "B"))
                return false;
        } else {
            rest++;
            if (bytes && strcmp(rest, "B") == 0)
                base = 1000;
            else if (*rest && !(bytes && strcmp(rest, "iB") == 0))
                return false;
            x *= pow(base, (double)(u - units) + 1);
        }
    }
    /* Whole numbers beyond 2^53 would lose digits as a double. */
    char *end;
    uint64_t whole = strtoull(s, &end, 10);
    if (!*end && whole < (uint64_t)1 << 63) {
        *out = whole;
        return whole > 0;
    }
    if (!(x >= 1) || x >= 9.2e18)
        return false;
    *out = (uint64_t)x;
    return true;
}

bool kit_parse_bytes(const char *s, uint64_t *out)
{
    return scaled(s, true, out);
}
bool kit_parse_count(const char *s, uint64_t *out)
{
    return scaled(s, false, out);
}

bool kit_parse_error(const char *s, double *out)
{
    const char *rest;
    double x, y;
    if (!number(s, &x, &rest))
        return false;
    if (strcmp(rest, "%") == 0)
        x /= 100;
    else if (*rest == '/' && number(rest + 1, &y, &rest) && !*rest && y > 0)
        x /= y;
    else if (*rest)
        return false;
    *out = x;
    return x > 0 && x < 1;
}

char *kit_show_bytes(double b, char *buf)
{
    static const char *const unit[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    int u = 0;
    while (b >= 999.5 && u < 6)
        b /= 1000, u++;
    snprintf(buf, 24, u && b < 9.95 ? "%.1f %s" : "%.0f %s", b, unit[u]);
    return buf;
}

char *kit_show_count(uint64_t n, char *buf)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            buf[at++] = ',';
        buf[at++] = digits[i];
    }
    buf[at] = 0;
    return buf;
}

static char *next_room(void)
{
    static _Thread_local char room[8][32];
    static _Thread_local unsigned next;
    return room[next++ % 8];
}

const char *kit_counted(uint64_t n)
{
    return kit_show_count(n, next_room());
}

const char *kit_expected(double n)
{
    char *buf = next_room();
    if (n >= 9.95 && n < 1e18)
        return kit_show_count((uint64_t)(n + 0.5), buf);
    snprintf(buf, 32, "%.2g", n);
    return buf;
}
