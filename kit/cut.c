/* cut.c - where lines end: the inner loop of every command.
 *
 * 64 bytes are compared at once and the ends taken from the bits of the result, which
 * costs half as much as calling memchr for every line of a URL's length. */
#include "instructions.h"
#include "lines.h"

#include <string.h>

static size_t cut_plain(const char **pp, const char *end, int term, seen_key *out,
                        size_t max)
{
    const char *p = *pp;
    size_t n = 0;
    while (n < max && p < end) {
        const char *e = memchr(p, term, (size_t)(end - p));
        out[n].data = p;
        out[n++].len = (size_t)((e ? e : end) - p);
        p = e ? e + 1 : end;
    }
    *pp = p;
    return n;
}

#if defined(__x86_64__)
#include <immintrin.h>

/* (A processor with BMI2, which the library requires for avx2, has BMI.) */
__attribute__((target("avx2,bmi"))) static size_t
cut_avx2(const char **pp, const char *end, int term, seen_key *out, size_t max)
{
    const char *line = *pp, *p = line;
    const __m256i t = _mm256_set1_epi8((char)term);
    size_t n = 0;
    for (; p < end; p += 64) {
        __m256i a = _mm256_loadu_si256((const __m256i *)p);
        __m256i b = _mm256_loadu_si256((const __m256i *)(p + 32));
        uint64_t m = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, t)) |
                     (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, t))
                         << 32;
        if (end - p < 64)
            m &= ((uint64_t)1 << (end - p)) - 1;
        while (m) {
            const char *e = p + __builtin_ctzll(m);
            m &= m - 1;
            if (n == max) {
                *pp = line;
                return n;
            }
            out[n].data = line;
            out[n++].len = (size_t)(e - line);
            line = e + 1;
        }
    }
    if (line < end && n < max) {
        out[n].data = line;
        out[n++].len = (size_t)(end - line);
        line = end;
    }
    *pp = line;
    return n;
}
#endif

size_t kit_cut(const char **p, const char *end, int term, seen_key *out, size_t max)
{
#if defined(__x86_64__)
    if (kit_has_avx2())
        return cut_avx2(p, end, term, out, max);
#endif
    return cut_plain(p, end, term, out, max);
}

/* Where the field ends that begins with the quote at P: at its closing quote, or at END
 * if it has none. */
static const char *skip_quoted(const char *p, const char *end)
{
    for (p++; p < end; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p)
            return end;
        if (p + 1 < end && p[1] == '"')
            p++;
        else
            return p;
    }
    return end;
}

/* Where the record at P ends: at its terminator, or at END. *OPEN is the quote that is
 * not closed before END; or NULL. A quote opens only at the beginning of a field and is
 * doubled inside; a stray one in the middle of a value changes nothing. */
static const char *record_end(const char *p, const char *end, int term, char separator,
                              const char **open)
{
    bool field_begins = true;
    *open = NULL;
    p += kit_bom(p, (size_t)(end - p));
    for (; p < end && *p != term; p++) {
        if (field_begins && *p == '"') {
            const char *quote = p;
            p = skip_quoted(p, end);
            field_begins = false;
            if (p < end)
                continue;
            *open = quote;
            break;
        }
        field_begins = *p == separator;
    }
    return p;
}

size_t kit_cut_csv(const char **pp, const char *end, int term, char separator,
                   seen_key *out, size_t max)
{
    const char *p = *pp, *open;
    size_t n = 0;
    while (n < max && p < end) {
        const char *line = p;
        p = record_end(p, end, term, separator, &open);
        out[n].data = line;
        out[n++].len = (size_t)(p - line);
        p = p < end ? p + 1 : end;
    }
    *pp = p;
    return n;
}

const char *kit_open_quote(const char *p, const char *end, int term, char separator)
{
    const char *open = NULL;
    while (p < end && !open)
        p = record_end(p, end, term, separator, &open) + 1;
    return open;
}
