/* spelling.c - one spelling for texts that are to count as equal. */
#include "spelling.h"
#include "messages.h"
#include "words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "spelling_tables.inc"

enum { WHITE = 0x40, MARK = 0x80 }; /* of word_class */

/* Nothing beyond has another case, a combining class or a decomposition. */
enum { MOST = 0x30000 };
static uint32_t *lower_of, *parts_of;
static unsigned char *class_of;
static bool *is_digit;

#define COUNT(a) (sizeof(a) / sizeof *(a))

unsigned spelling_named(const char *list)
{
    static const char *const name[] = {"lower", "digits", "punctuation", "space",
                                       "nfkc"};
    unsigned flags = 0;
    for (const char *p = list;; p++) {
        size_t n = strcspn(p, ","), i = 0;
        while (i < COUNT(name) && (strlen(name[i]) != n || strncmp(p, name[i], n)))
            i++;
        if (i == COUNT(name))
            return 0;
        flags |= 1u << i;
        p += n;
        if (!*p)
            return flags;
    }
}

void spelling_ready(void)
{
    if (lower_of)
        return;
    lower_of = kit_alloc(MOST * sizeof *lower_of);
    parts_of = kit_alloc(MOST * sizeof *parts_of);
    class_of = kit_alloc(MOST);
    is_digit = kit_alloc(MOST * sizeof *is_digit);
    for (uint32_t c = 0; c < MOST; c++)
        lower_of[c] = c;
    for (size_t i = 0; i < COUNT(lower_run); i++)
        for (uint32_t c = lower_run[i][0]; c <= lower_run[i][1]; c += lower_run[i][2])
            lower_of[c] = c + lower_run[i][3];
    for (size_t i = 0; i < COUNT(digit_zero); i++)
        memset(is_digit + digit_zero[i], true, 10);
    for (size_t i = 0; i < COUNT(combining); i++)
        class_of[combining[i] >> 8] = (unsigned char)combining[i];
    for (size_t i = 0; i < COUNT(decomposed); i++)
        parts_of[decomposed[i][0]] = decomposed[i][1];
}

/* ---- NFKC ------------------------------------------------------------------------ */

enum { S_BASE = 0xac00, L_BASE = 0x1100, V_BASE = 0x1161, T_BASE = 0x11a7 };
enum { L_COUNT = 19, V_COUNT = 21, T_COUNT = 28 };
enum { S_COUNT = L_COUNT * V_COUNT * T_COUNT };

static unsigned class(uint32_t c)
{
    return c < MOST ? class_of[c] : 0;
}

/* Writes what C decomposes to; at most 18 characters. */
static uint32_t *decompose(uint32_t c, uint32_t *out)
{
    if (c - S_BASE < S_COUNT) {
        uint32_t s = c - S_BASE;
        *out++ = L_BASE + s / (V_COUNT * T_COUNT);
        *out++ = V_BASE + s % (V_COUNT * T_COUNT) / T_COUNT;
        if (s % T_COUNT)
            *out++ = T_BASE + s % T_COUNT;
        return out;
    }
    uint32_t parts = c < MOST ? parts_of[c] : 0;
    if (!parts)
        *out++ = c;
    for (uint32_t i = 0; i < (parts & 31); i++)
        *out++ = decomposed_pool[(parts >> 5) + i];
    return out;
}

/* What A and B compose to; 0 if nothing. */
static uint32_t compose(uint32_t a, uint32_t b)
{
    if (a - L_BASE < L_COUNT && b - V_BASE < V_COUNT)
        return S_BASE + ((a - L_BASE) * V_COUNT + (b - V_BASE)) * T_COUNT;
    if (a - S_BASE < S_COUNT && (a - S_BASE) % T_COUNT == 0 &&
        b - T_BASE - 1 < T_COUNT - 1)
        return a + (b - T_BASE);
    size_t lo = 0, hi = COUNT(composed);
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const uint32_t *e = composed[mid];
        if (e[0] == a && e[1] == b)
            return e[2];
        if (e[0] < a || (e[0] == a && e[1] < b))
            lo = mid + 1;
        else
            hi = mid;
    }
    return 0;
}

static void reorder(uint32_t *c, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t x = c[i];
        unsigned k = class(x);
        size_t j = i;
        while (k && j && class(c[j - 1]) > k) {
            c[j] = c[j - 1];
            j--;
        }
        c[j] = x;
    }
}

static size_t recompose(uint32_t *c, size_t n)
{
    size_t out = 0, starter = SIZE_MAX;
    unsigned last = 0; /* the class of what was written last */
    for (size_t i = 0; i < n; i++) {
        unsigned k = class(c[i]);
        bool near = starter != SIZE_MAX && (out - 1 == starter || (last < k && last));
        uint32_t one = near ? compose(c[starter], c[i]) : 0;
        if (one) {
            c[starter] = one;
            continue;
        }
        if (!k)
            starter = out;
        last = k;
        c[out++] = c[i];
    }
    return out;
}

/* ---- texts ----------------------------------------------------------------------- */

size_t spelling_bound(size_t len)
{
    return len * 12 + 16; /* U+FDFA is 3 bytes, and 33 in NFKC */
}

static char *put(char *o, uint32_t c)
{
    if (c < 0x80) {
        *o++ = (char)c;
        return o;
    }
    if (c >= 0x10000) {
        *o++ = (char)(0xf0 | c >> 18);
        *o++ = (char)(0x80 | (c >> 12 & 63));
    } else if (c >= 0x800) {
        *o++ = (char)(0xe0 | c >> 12);
    } else {
        *o++ = (char)(0xc0 | c >> 6);
        *o++ = (char)(0x80 | (c & 63));
        return o;
    }
    *o++ = (char)(0x80 | (c >> 6 & 63));
    *o++ = (char)(0x80 | (c & 63));
    return o;
}

/* Appends C in the spelling of FLAGS. *BLANK: white space was left out before it, or
 * stands at the beginning. */
static char *put_spelled(unsigned flags, char *o, const char *start, uint32_t c,
                         bool *blank)
{
    if (flags & SPELL_LOWER && c < MOST)
        c = lower_of[c];
    if (flags & SPELL_DIGITS && c < MOST && is_digit[c])
        c = '0';
    if (flags & SPELL_PUNCTUATION && word_class[c] & MARK)
        return o;
    if (flags & SPELL_SPACE) {
        if (word_class[c] & WHITE) {
            *blank = true;
            return o;
        }
        if (*blank && o > start)
            *o++ = ' ';
        *blank = false;
    }
    return put(o, c);
}

static size_t normalise(speller *s, const unsigned char *p, const unsigned char *end)
{
    size_t room = (size_t)(end - p) * 8 + 64; /* U+FDFA: 18 characters of 3 bytes */
    if (s->room < room) {
        s->room = room;
        s->code = kit_grow(s->code, room, sizeof *s->code);
    }
    uint32_t *o = s->code;
    while (p < end) {
        size_t n;
        o = decompose(utf8_at(p, end, &n), o);
        p += n;
    }
    size_t n = (size_t)(o - s->code);
    reorder(s->code, n);
    return recompose(s->code, n);
}

size_t spelling_run(speller *s, const char *text, size_t len, char *out)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + len;
    char *o = out;
    bool blank = false;
    if (s->flags & SPELL_NFKC) {
        size_t ascii = 0;
        while (ascii < len && p[ascii] < 0x80)
            ascii++;
        if (ascii < len) {
            size_t n = normalise(s, p, end);
            for (size_t i = 0; i < n; i++)
                o = put_spelled(s->flags, o, out, s->code[i], &blank);
            return (size_t)(o - out);
        }
    }
    while (p < end) {
        size_t n;
        uint32_t c = utf8_at(p, end, &n);
        if (c == 0xfffd && n == 1) { /* not UTF-8: stays */
            *o++ = (char)*p++;
            blank = false;
            continue;
        }
        o = put_spelled(s->flags, o, out, c, &blank);
        p += n;
    }
    return (size_t)(o - out);
}

void speller_free(speller *s)
{
    free(s->code);
}
