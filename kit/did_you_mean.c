/* did_you_mean.c - which name a mistyped word was meant to be: the fewest letters that
 * are missing, wrong, too many or swapped with their neighbour. */
#include "did_you_mean.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Row i of the table has the mistakes between the first i letters of A and each
 * beginning of B; three rows are all that a step looks at. */
static size_t mistakes(const char *a, size_t m, const char *b, size_t n)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t *now = rows[i % 3], *last = rows[(i + 2) % 3],
               *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= n; j++) {
            now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]),
                           least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

void kit_meant_try(kit_meant *n, const char *name)
{
    size_t m = strlen(n->word), len = strlen(name);
    if (m > LONGEST || len > LONGEST)
        return;
    size_t found = mistakes(n->word, m, name, len);
    if (found <= m / 3 && (!n->name || found < n->mistakes)) {
        n->name = name;
        n->mistakes = found;
    }
}

const char *kit_meant_ask(const kit_meant *n, const char *prefix)
{
    static char text[LONGEST + 32];
    text[0] = 0;
    if (n->name)
        snprintf(text, sizeof text, "; did you mean '%s%s'?", prefix, n->name);
    return text;
}
