/* keytype.c - converts text to the bytes of UTF-8, UTF-16, int32, int64, float,
 * double. */
#include "foreign/keytype.h"
#include "base/bytes.h"
#include <errno.h>
#include <stdlib.h>

static const char *const names[SN_KEY_TYPES] = {"bytes", "utf8",  "utf16", "int32",
                                                "int64", "float", "double"};

sn_keytype sn_keytype_named(const char *name)
{
    static const struct {
        const char *name;
        sn_keytype type;
    } also[] = {{"chars", SN_KEY_UTF16}, {"int", SN_KEY_INT32}, {"long", SN_KEY_INT64}};
    if (!name || !*name)
        return SN_KEY_BYTES;
    for (int t = 0; t < SN_KEY_TYPES; t++)
        if (!strcmp(name, names[t]))
            return (sn_keytype)t;
    for (size_t i = 0; i < sizeof also / sizeof *also; i++)
        if (!strcmp(name, also[i].name))
            return also[i].type;
    return SN_KEY_TYPES;
}

const char *sn_keytype_name(sn_keytype t)
{
    return names[t];
}

uint32_t sn_code_point(const uint8_t *p, size_t len, size_t *took)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    *took = 1;
    if (p[0] < 0x80)
        return p[0];
    size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n > len)
        return 0xfffd;
    uint32_t c = p[0] & (0xff >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0xfffd;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff)
        return 0xfffd;
    *took = n;
    return c;
}

static size_t put_utf16(uint8_t *out, uint32_t c)
{
    uint32_t units[2] = {c, 0};
    size_t n = 1;
    if (c >= 0x10000) {
        units[0] = 0xd800 + ((c - 0x10000) >> 10);
        units[1] = 0xdc00 + ((c - 0x10000) & 0x3ff);
        n = 2;
    }
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = (uint8_t)units[i];
        out[2 * i + 1] = (uint8_t)(units[i] >> 8);
    }
    return 2 * n;
}

/* Java encodes a lone surrogate as a question mark. */
static size_t utf8_copy(const uint8_t *p, size_t len, uint8_t *out)
{
    size_t n = 0, took;
    for (size_t i = 0; i < len; i += took) {
        uint32_t c = sn_code_point(p + i, len - i, &took);
        if (c >= 0xd800 && c < 0xe000) {
            out[n++] = '?';
        } else {
            memcpy(out + n, p + i, took);
            n += took;
        }
    }
    return n;
}

/* A decimal integer of BITS bits, signed or unsigned; "-5" and "4294967291" are the
 * same int32. */
static int integer(const char *text, int bits, uint8_t *out)
{
    char *end;
    bool negative = text[0] == '-';
    const char *digits = text + (negative || text[0] == '+');
    uint64_t limit = bits == 32 ? UINT32_MAX : UINT64_MAX;
    errno = 0;
    uint64_t x = strtoull(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end || errno || x > limit ||
        (negative && x > limit / 2 + 1))
        return sn_fail(SEEN_EINVAL, "key \"%s\" is not an int%d", text, bits);
    sn_put64(out, negative ? 0 - x : x);
    return SEEN_OK;
}

static int number(const char *text, bool wide, uint8_t *out)
{
    char *end;
    double d = strtod(text, &end);
    float small = strtof(text, NULL);
    if (end == text || *end)
        return sn_fail(SEEN_EINVAL, "key \"%s\" is not a number", text);
    if (wide) {
        sn_put_double(out, d);
    } else {
        uint32_t bits;
        memcpy(&bits, &small, 4);
        sn_put32(out, bits);
    }
    return SEEN_OK;
}

size_t sn_keytype_room(sn_keytype t, size_t len)
{
    return t == SN_KEY_UTF16 ? 2 * len + 4 : len + 8;
}

int sn_keytype_convert(sn_keytype t, const void *text, size_t len, uint8_t *out,
                       size_t *out_len)
{
    const uint8_t *p = text;
    char word[64];
    size_t took, n = 0;
    switch (t) {
    case SN_KEY_UTF8:
        *out_len = utf8_copy(p, len, out);
        return SEEN_OK;
    case SN_KEY_UTF16:
        for (size_t i = 0; i < len; i += took)
            n += put_utf16(out + n, sn_code_point(p + i, len - i, &took));
        *out_len = n;
        return SEEN_OK;
    case SN_KEY_INT32:
    case SN_KEY_INT64:
    case SN_KEY_FLOAT:
    case SN_KEY_DOUBLE:
        if (len >= sizeof word || memchr(p, 0, len))
            return sn_fail(SEEN_EINVAL, "a key of %zu bytes is not a number", len);
        if (len)
            memcpy(word, p, len);
        word[len] = 0;
        *out_len = t == SN_KEY_INT32 || t == SN_KEY_FLOAT ? 4 : 8;
        if (t == SN_KEY_INT32 || t == SN_KEY_INT64)
            return integer(word, t == SN_KEY_INT32 ? 32 : 64, out);
        return number(word, t == SN_KEY_DOUBLE, out);
    default:
        if (len)
            memcpy(out, p, len);
        *out_len = len;
        return SEEN_OK;
    }
}
