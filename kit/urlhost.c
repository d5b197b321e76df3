/* urlhost.c - hosts of URLs: names, IPv4 in any notation, IPv6.
 *
 * 0x7f.1, 2130706433 and 127.0.0.1 are one address; a filter or an address check that
 * does not know that can be bypassed. Names beyond ASCII go through url_idna. */
#include "urlpart.h"

int (*url_idna)(const char *host, size_t len, char *out, size_t room);

/* Reads one number of an IPv4 address: decimal, 0x hexadecimal or 0 octal.
 * Returns -1 if it is not a number, and at most 2^40 however long it is. */
static int64_t ipv4_number(const uint8_t *p, const uint8_t *end)
{
    unsigned base = 10;
    if (p == end)
        return -1;
    if (end - p >= 2 && p[0] == '0' && (p[1] | 32) == 'x') {
        base = 16;
        p += 2;
    } else if (end - p >= 2 && p[0] == '0') {
        base = 8;
        p++;
    }
    int64_t n = 0;
    for (; p < end; p++) {
        if (!is(*p, HEX) || (unsigned)hex(*p) >= base)
            return -1;
        n = n * base + hex(*p);
        if (n > (int64_t)1 << 40)
            n = (int64_t)1 << 40;
    }
    return n;
}

/* Whether the last label is a number: then the host is an IPv4 address or invalid. */
static bool ends_in_number(const uint8_t *p, const uint8_t *end)
{
    if (end > p && end[-1] == '.')
        end--;
    const uint8_t *label = end;
    while (label > p && label[-1] != '.')
        label--;
    if (label == end)
        return false;
    bool digits = true;
    for (const uint8_t *q = label; q < end; q++)
        digits = digits && *q >= '0' && *q <= '9';
    return digits || (end - label >= 2 && label[0] == '0' && (label[1] | 32) == 'x' &&
                      ipv4_number(label, end) >= 0);
}

void url_put_decimal(sink *o, unsigned n)
{
    char digits[10];
    int i = 10;
    do
        digits[--i] = (char)('0' + n % 10);
    while (n /= 10);
    put_bytes(o, digits + i, (size_t)(10 - i));
}

static int put_ipv4(sink *o, const uint8_t *p, const uint8_t *end)
{
    int64_t part[4];
    int n = 0;
    if (end > p && end[-1] == '.')
        end--;
    for (const uint8_t *q = p;; q++) {
        if (q < end && *q != '.')
            continue;
        if (n == 4 || (part[n++] = ipv4_number(p, q)) < 0)
            return URL_EHOST;
        if (q == end)
            break;
        p = q + 1;
    }
    /* The last number fills all bytes that the others left. */
    int64_t address = part[n - 1];
    if (address >= (int64_t)1 << (8 * (5 - n)))
        return URL_EHOST;
    for (int i = 0; i < n - 1; i++) {
        if (part[i] > 255)
            return URL_EHOST;
        address |= part[i] << (8 * (3 - i));
    }
    for (int i = 3; i >= 0; i--) {
        url_put_decimal(o, (unsigned)(address >> (8 * i)) & 255);
        if (i)
            put(o, '.');
    }
    return URL_OK;
}

/* Reads the dotted IPv4 tail of an IPv6 address into two pieces. */
static bool ipv6_tail(const uint8_t *p, const uint8_t *end, uint16_t *piece)
{
    unsigned byte[4];
    for (int i = 0; i < 4; i++) {
        if (i && (p == end || *p++ != '.'))
            return false;
        if (p == end || *p < '0' || *p > '9')
            return false;
        byte[i] = *p++ - '0';
        while (p < end && *p >= '0' && *p <= '9') {
            if (byte[i] == 0)
                return false;
            byte[i] = byte[i] * 10 + *p++ - '0';
            if (byte[i] > 255)
                return false;
        }
    }
    piece[0] = (uint16_t)(byte[0] << 8 | byte[1]);
    piece[1] = (uint16_t)(byte[2] << 8 | byte[3]);
    return p == end;
}

static bool read_ipv6(const uint8_t *p, const uint8_t *end, uint16_t piece[8])
{
    int n = 0, gap = -1;
    if (end - p >= 2 && p[0] == ':' && p[1] == ':') {
        gap = 0;
        p += 2;
    } else if (p == end || *p == ':') {
        return false;
    }
    while (p < end) {
        if (n == 8)
            return false;
        if (*p == ':') { /* the second of two colons */
            if (gap >= 0)
                return false;
            gap = n;
            p++;
            continue;
        }
        const uint8_t *first = p;
        unsigned value = 0;
        while (p < end && p - first < 4 && is(*p, HEX))
            value = value << 4 | (unsigned)hex(*p++);
        if (p < end && *p == '.') {
            if (n > 6 || !ipv6_tail(first, end, piece + n))
                return false;
            n += 2;
            break;
        }
        if (p == first)
            return false;
        piece[n++] = (uint16_t)value;
        if (p == end)
            break;
        if (*p++ != ':' || p == end)
            return false;
    }
    if (gap < 0)
        return n == 8;
    if (n == 8)
        return false;
    memmove(piece + 8 - (n - gap), piece + gap, (size_t)(n - gap) * sizeof *piece);
    memset(piece + gap, 0, (size_t)(8 - n) * sizeof *piece);
    return true;
}

/* The shortest form: the first of the longest runs of zeros becomes "::". */
static int put_ipv6(sink *o, const uint8_t *p, const uint8_t *end)
{
    uint16_t piece[8];
    if (!read_ipv6(p, end, piece))
        return URL_EHOST;
    int best = -1, best_len = 1;
    for (int i = 0; i < 8; i++) {
        int run = 0;
        while (i + run < 8 && piece[i + run] == 0)
            run++;
        if (run > best_len) {
            best = i;
            best_len = run;
        }
    }
    put(o, '[');
    for (int i = 0; i < 8; i++) {
        if (i == best) {
            put_bytes(o, "::", i ? 1 : 2);
            i += best_len - 1;
            if (i == 7)
                break;
            continue;
        }
        bool begun = false;
        for (int shift = 12; shift >= 0; shift -= 4) {
            unsigned d = piece[i] >> shift & 15;
            if (d || begun || shift == 0)
                put(o, "0123456789abcdef"[d]);
            begun = begun || d;
        }
        if (i < 7)
            put(o, ':');
    }
    put(o, ']');
    return URL_OK;
}

int url_put_host(sink *o, const uint8_t *p, const uint8_t *end, url *u)
{
    u->ip = false;
    if (p == end)
        return URL_EHOST;
    if (*p == '[') {
        if (end[-1] != ']')
            return URL_EHOST;
        u->ip = true;
        return put_ipv6(o, p + 1, end - 1);
    }
    /* The name is copied in lower case with escapes decoded; then an international name
     * is translated, and a number is written as an address. */
    uint8_t name[1024], ascii[256];
    size_t n = 0;
    bool beyond = false;
    while (p < end) {
        uint8_t c = *p;
        if (is_escape(p, end)) {
            c = (uint8_t)(hex(p[1]) << 4 | hex(p[2]));
            p += 2;
        }
        p++;
        if (is(c, HOST_BAD) || n == sizeof name)
            return URL_EHOST;
        beyond = beyond || c >= 0x80;
        name[n++] = lower(c);
    }
    const uint8_t *host = name;
    if (beyond) {
        if (!url_idna)
            return URL_EIDNA;
        int got = url_idna((const char *)name, n, (char *)ascii, sizeof ascii);
        if (got <= 0 || got > (int)sizeof ascii)
            return URL_EHOST;
        host = ascii;
        n = (size_t)got;
        for (size_t i = 0; i < n; i++)
            if (ascii[i] >= 0x80 || is(ascii[i], HOST_BAD))
                return URL_EHOST;
    }
    if (ends_in_number(host, host + n)) {
        u->ip = true;
        return put_ipv4(o, host, host + n);
    }
    put_bytes(o, host, n);
    return URL_OK;
}
