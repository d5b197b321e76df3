/* show_words.c - prints the words of standard input, one a line as its place: START END.
 * With "simple" by the simple rule, with "plain" without vector instructions. */
#include "dedup/byte_masks.h"
#include "dedup/words.h"
#include "say.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static words w;
    char *text = NULL;
    size_t len = 0, at = 0;
    const char *how = argc > 1 ? argv[1] : "";
    for (ssize_t n;; len += (size_t)n) {
        text = kit_grow(text, len + 65536 + WORD_PAD, 1);
        n = read(0, text + len, 65536);
        if (n <= 0)
            break;
    }
    memset(text + len, 'x', WORD_PAD); /* what is behind the text must not count */
    words_ready();
    if (strcmp(how, "plain") == 0)
        byte_masks_of = byte_masks_plain;
    while (at < len) {
        if (strcmp(how, "simple") == 0)
            words_cut_simple((unsigned char *)text, len, &at, &w);
        else
            words_cut((unsigned char *)text, len, &at, &w);
        for (size_t i = 0; i < w.n; i++)
            printf("%u %u\n", w.start[i], w.end[i]);
    }
    return 0;
}
