/* fuzz_words.c - any bytes as text: words cut 64 bytes at a time are the segments that
 * the rules find one by one, and those cover the text. */
#include "corpus/byte_masks.h"
#include "corpus/spelling.h"
#include "corpus/words.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const unsigned char *text, size_t len)
{
    static word_spans w;
    size_t at = 0, i = 0, p = 0;
    for (w.n = 0; p < len;) {
        bool white;
        size_t n = words_segment(text + p, text + len, &white);
        if (!n || n > len - p)
            abort();
        if (!white && i == w.n) {
            words_cut(text, len, &at, &w);
            i = 0;
        }
        if (!white && (i == w.n || w.start[i] != p || w.end[i] != p + n))
            abort();
        i += !white;
        p += n;
    }
    for (at = 0, p = 0; at < len;) {
        words_cut_simple(text, len, &at, &w);
        for (i = 0; i < w.n; p = w.end[i++])
            if (w.start[i] < p || w.end[i] <= w.start[i] || w.end[i] > len)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    words_ready();
    spelling_ready();
    static speller s;
    s.flags = data[0] & 31;
    data++, size--;
    unsigned char *text = malloc(size + WORD_PAD);
    char *spelled = malloc(spelling_bound(size) + WORD_PAD);
    if (!text || !spelled)
        abort();
    memcpy(text, data, size);
    memset(text + size, 0xcc, WORD_PAD);
    check(text, size);
    size_t len = spelling_run(&s, (char *)text, size, spelled);
    if (len > spelling_bound(size))
        abort();
    memset(spelled + len, 'a', WORD_PAD);
    check((unsigned char *)spelled, len);
    byte_masks_of = byte_masks_plain;
    check(text, size);
    byte_masks_ready();
    free(text);
    free(spelled);
    return 0;
}
