/* words.c - word boundaries.
 *
 * Text is looked at 64 bytes at a time as masks of classes, in which the rules for
 * ASCII and for two-byte letters are a few shifts. All other text goes through the
 * rules one by one, from the last certain boundary to the next ASCII character or
 * two-byte letter that begins a word. Going forward from a boundary, no rule looks back
 * behind it, so both ways may take turns at any boundary. */
#include "words.h"
#include "byte_masks.h"
#include "messages.h"

#include <string.h>

#include "word_tables.inc"

unsigned char *word_class;

/* Of the two-byte characters that begin with 0xc0 + i, those that are letters and
 * nothing else: bit j stands for the second byte 0x80 + j. */
static uint64_t pair_letter[32];
/* Bytes at which the masks may take over again: ASCII but white space, and first bytes
 * of pairs. */
static bool eager[256];

void words_ready(void)
{
    if (word_class)
        return;
    byte_masks_ready();
    word_class = kit_alloc(0x110000);
    size_t n = sizeof class_from / sizeof *class_from;
    for (size_t i = 0; i < n; i++) {
        uint32_t from = class_from[i] >> 8;
        uint32_t to = i + 1 < n ? class_from[i + 1] >> 8 : 0x110000;
        memset(word_class + from, (int)(class_from[i] & 255), to - from);
    }
    for (uint32_t c = 0x80; c < 0x800; c++)
        if (word_class[c] == WORD_ALETTER)
            pair_letter[c >> 6] |= (uint64_t)1 << (c & 63);
    for (int c = 0; c < 256; c++)
        eager[c] = c < 0x80 ? c != ' ' && (c < '\t' || c > '\r')
                            : c >= 0xc2 && c < 0xe0 && pair_letter[c & 31];
}

/* ---- characters ------------------------------------------------------------------ */

static inline bool follows(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Lone surrogates pass, as three bytes: JSON can spell them. */
static inline uint32_t decode(const unsigned char *p, const unsigned char *end,
                              size_t *len)
{
    size_t left = (size_t)(end - p);
    uint32_t c = *p;
    *len = 1;
    if (c < 0x80)
        return c;
    if (c >= 0xe0 && c < 0xf0 && left >= 3 && follows(p[1]) && follows(p[2])) {
        uint32_t x = (c & 15) << 12 | (uint32_t)(p[1] & 63) << 6 | (p[2] & 63);
        if (x >= 0x800) {
            *len = 3;
            return x;
        }
    } else if (c >= 0xc2 && c < 0xe0 && left >= 2 && follows(p[1])) {
        *len = 2;
        return (c & 31) << 6 | (p[1] & 63);
    } else if (c >= 0xf0 && c < 0xf5 && left >= 4 && follows(p[1]) && follows(p[2]) &&
               follows(p[3])) {
        uint32_t x = (c & 7) << 18 | (uint32_t)(p[1] & 63) << 12 |
                     (uint32_t)(p[2] & 63) << 6 | (p[3] & 63);
        if (x >= 0x10000 && x < 0x110000) {
            *len = 4;
            return x;
        }
    }
    return 0xfffd;
}

uint32_t utf8_at(const unsigned char *text, const unsigned char *end, size_t *len)
{
    return decode(text, end, len);
}

/* ---- the rules, one character at a time ------------------------------------------ */

static inline bool letter(unsigned k)
{
    return k == WORD_ALETTER || k == WORD_HEBREW_LETTER;
}

static inline bool attaches(unsigned k) /* WB4 */
{
    return k == WORD_EXTEND || k == WORD_FORMAT || k == WORD_ZWJ;
}

/* The first class from P on that does not attach to what is before; 0 at the end. */
static unsigned next_class(const unsigned char *p, const unsigned char *end)
{
    while (p < end) {
        size_t n;
        unsigned k = word_class[decode(p, end, &n)] & WORD_CLASS;
        if (!attaches(k))
            return k;
        p += n;
    }
    return WORD_OTHER;
}

/* Whether a character of class K goes on with a word whose last class was LAST. What
 * follows it begins at P. */
static inline bool goes_on(unsigned last, unsigned k, const unsigned char *p,
                           const unsigned char *end)
{
    switch (last) {
    case WORD_ALETTER:
    case WORD_HEBREW_LETTER:
        if (letter(k) || k == WORD_NUMERIC || k == WORD_EXTENDNUMLET) /* WB5 9 13a */
            return true;
        if (k == WORD_MIDLETTER || k == WORD_MIDNUMLET || k == WORD_SINGLE_QUOTE)
            return letter(next_class(p, end)) || /* WB6 7 7a */
                   (last == WORD_HEBREW_LETTER && k == WORD_SINGLE_QUOTE);
        return last == WORD_HEBREW_LETTER && k == WORD_DOUBLE_QUOTE && /* WB7b 7c */
               next_class(p, end) == WORD_HEBREW_LETTER;
    case WORD_NUMERIC:
        if (k == WORD_NUMERIC || letter(k) || k == WORD_EXTENDNUMLET) /* WB8 10 13a */
            return true;
        return (k == WORD_MIDNUM || k == WORD_MIDNUMLET || k == WORD_SINGLE_QUOTE) &&
               next_class(p, end) == WORD_NUMERIC; /* WB11 12 */
    case WORD_KATAKANA:
        return k == WORD_KATAKANA || k == WORD_EXTENDNUMLET; /* WB13 13a */
    case WORD_EXTENDNUMLET:
        return letter(k) || k == WORD_NUMERIC || k == WORD_KATAKANA ||
               k == WORD_EXTENDNUMLET; /* WB13a 13b */
    }
    return false;
}

size_t words_segment(const unsigned char *text, const unsigned char *end, bool *white)
{
    const unsigned char *p = text;
    size_t n;
    unsigned class = word_class[decode(p, end, &n)];
    unsigned last = class & WORD_CLASS;
    *white = class & WORD_WHITE;
    p += n;
    if (last == WORD_CR) /* WB3 */
        return 1 + (p < end && *p == '\n');
    if (last == WORD_LF || last == WORD_NEWLINE) /* WB3a */
        return n;
    bool joiner = last == WORD_ZWJ, space = last == WORD_WSEGSPACE;
    /* Behind a character that joins letters or digits, only what it joins goes on. */
    unsigned joins = WORD_OTHER;
    while (p < end) {
        class = word_class[decode(p, end, &n)];
        unsigned k = class & WORD_CLASS;
        if (k == WORD_WSEGSPACE && space) { /* WB3d */
            p += n;
            continue;
        }
        if (attaches(k)) {
            joiner = k == WORD_ZWJ;
            space = *white = false;
            p += n;
            continue;
        }
        bool on;
        if (joiner && class & WORD_PICTOGRAPH) { /* WB3c */
            on = true;
        } else if (last == WORD_REGIONAL_INDICATOR) { /* WB15 16 */
            on = k == WORD_REGIONAL_INDICATOR;
            k = WORD_OTHER;
        } else if (joins) {
            on = joins == WORD_NUMERIC ? k == WORD_NUMERIC : letter(k);
        } else {
            on = goes_on(last, k, p + n, end);
        }
        if (!on)
            break;
        joins = k >= WORD_MIDLETTER && k <= WORD_DOUBLE_QUOTE ? last : WORD_OTHER;
        last = k;
        joiner = space = false;
        *white = false;
        p += n;
    }
    return (size_t)(p - text);
}

/* ---- 64 bytes at a time ---------------------------------------------------------- */

static inline uint64_t below(size_t i)
{
    return i < 64 ? ((uint64_t)1 << i) - 1 : ~(uint64_t)0;
}

/* Adds the two-byte letters of P, whose bytes beyond ASCII are HIGH, to *LETTER.
 * Returns how many bytes come before the first that is not one of them. */
static size_t add_pairs(const unsigned char *p, uint64_t high, uint64_t *found)
{
    while (high) {
        size_t i = (size_t)__builtin_ctzll(high);
        if (i == 63 || p[i] < 0xc2 || p[i] >= 0xe0 || !follows(p[i + 1]) ||
            !(pair_letter[p[i] & 31] >> (p[i + 1] & 63) & 1))
            return i;
        *found |= (uint64_t)3 << i;
        high &= ~((uint64_t)3 << i);
    }
    return 64;
}

static inline void put_words(word_spans *out, uint32_t at, uint64_t starts,
                             uint64_t ends)
{
    size_t n = out->n;
    for (; starts; n++) {
        out->start[n] = at + (uint32_t)__builtin_ctzll(starts);
        out->end[n] = at + (uint32_t)__builtin_ctzll(ends);
        starts &= starts - 1;
        ends &= ends - 1;
    }
    out->n = n;
}

/* The words of TEXT from AT, a boundary, on, as far as the masks reach; returns how
 * many bytes were done, 0 if the rules must see to the next segment. */
static size_t cut_window(const unsigned char *text, size_t len, size_t at,
                         word_spans *out)
{
    byte_masks m;
    size_t left = len - at, limit = left < 64 ? left : 64;
    byte_masks_of(text + at, &m);
    if (m.high & below(limit)) {
        size_t pairs = add_pairs(text + at, m.high & below(limit), &m.letter);
        limit = pairs < limit ? pairs : limit;
    }
    uint64_t known = below(limit);
    m.letter &= known;
    m.digit &= known;
    uint64_t join = ((m.both | m.letters) & m.letter << 1 & m.letter >> 1) |
                    ((m.both | m.digits) & m.digit << 1 & m.digit >> 1);
    uint64_t word = m.letter | m.digit | (m.underscore & known) | join;
    uint64_t alone = ~(word | m.white) & known;
    /* The last place that is a boundary whatever comes behind what is known. Spaces are
     * one segment, to which what comes behind may attach. */
    uint64_t cuts =
        ((m.white & ~(m.white << 1)) | (alone & ~(m.both | m.letters | m.digits))) &
        known;
    size_t cut;
    if (limit == left && limit < 64)
        cut = limit;
    else if (cuts > 1)
        cut = 63 - (size_t)__builtin_clzll(cuts);
    else
        return 0;
    uint64_t starts = (alone | (word & ~(word << 1))) & below(cut);
    uint64_t covered = (word | alone) & below(cut);
    uint64_t ends = covered << 1 & (starts | ~covered);
    put_words(out, (uint32_t)at, starts, ends);
    return cut;
}

/* Ideographs, kana, Thai letters and all else that no rule joins to what follows: each
 * is a word of its own, with what attaches to it. Returns where these end; behind a
 * joiner (U+200D) the rules must see. */
static size_t cut_others(const unsigned char *text, size_t len, size_t at,
                         word_spans *out)
{
    const unsigned char *p = text + at, *end = text + len;
    size_t n, words = out->n;
    unsigned class = word_class[decode(p, end, &n)];
    while (class == WORD_OTHER && words < WORD_BATCH) {
        const unsigned char *q = p + n;
        for (class = WORD_NEWLINE; q < end; q += n) {
            class = word_class[decode(q, end, &n)];
            if (!attaches(class & WORD_CLASS) || (class & WORD_CLASS) == WORD_ZWJ)
                break;
        }
        if ((class & WORD_CLASS) == WORD_ZWJ)
            break;
        out->start[words] = (uint32_t)(p - text);
        out->end[words++] = (uint32_t)(q - text);
        p = q;
        if (p == end)
            break;
    }
    out->n = words;
    return (size_t)(p - text);
}

void words_cut(const unsigned char *text, size_t len, size_t *at, word_spans *out)
{
    size_t p = *at;
    out->n = 0;
    while (p < len && out->n < WORD_BATCH) {
        size_t done = cut_window(text, len, p, out);
        p += done;
        if (done)
            continue;
        do {
            bool white;
            size_t q = cut_others(text, len, p, out);
            if (q > p) {
                p = q;
                continue;
            }
            size_t n = words_segment(text + p, text + len, &white);
            out->start[out->n] = (uint32_t)p;
            out->end[out->n] = (uint32_t)(p + n);
            out->n += !white;
            p += n;
        } while (p < len && !eager[text[p]] && out->n < WORD_BATCH);
    }
    *at = p;
}

/* ---- the simple rule ------------------------------------------------------------- */

static bool simple(unsigned char c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

void words_cut_simple(const unsigned char *text, size_t len, size_t *at,
                      word_spans *out)
{
    size_t p = *at;
    out->n = 0;
    while (p < len && out->n < WORD_BATCH) {
        byte_masks m;
        size_t left = len - p, limit = left < 64 ? left : 64;
        byte_masks_of(text + p, &m);
        uint64_t word = (m.letter | m.digit | m.high) & below(limit);
        uint64_t other = ~word & below(limit);
        size_t cut = 1;
        if (limit == left && limit < 64) {
            cut = limit;
        } else if (other > 1) {
            cut = 63 - (size_t)__builtin_clzll(other);
        } else if (!other) { /* a long word */
            size_t q = p + limit;
            while (q < len && simple(text[q]))
                q++;
            out->start[out->n] = (uint32_t)p;
            out->end[out->n++] = (uint32_t)q;
            p = q;
            continue;
        }
        uint64_t covered = word & below(cut);
        put_words(out, (uint32_t)p, covered & ~(covered << 1), covered << 1 & ~covered);
        p += cut;
    }
    *at = p;
}
