/* view_parts.c - what the status page is made of: escaped text, lists of notable hosts.
 */
#include "queue/host.h"
#include "tap.h"
#include "view/markup.h"
#include "queue/tally.h"

static bool escapes(const char *s, const char *wanted)
{
    buf b = {0};
    markup_text(&b, s);
    bool good = b.len == strlen(wanted) && !memcmp(b.p, wanted, b.len);
    free(b.p);
    return good;
}

static uint64_t rank_of(const host *h, int list)
{
    return list == MOST_ANSWERS     ? h->tally.answers
           : list == SLOWEST_ANSWER ? h->tally.slowest
                                    : h->tally.failures;
}

/* The least value in a list, and whether every host outside of it has no more. */
static bool holds_the_largest(const tally *t, host *h, size_t n, int list)
{
    uint64_t least = UINT64_MAX;
    size_t inside = 0;
    for (size_t i = 0; i < t->listed[list]; i++)
        if (rank_of(t->list[list][i], list) < least)
            least = rank_of(t->list[list][i], list);
    for (size_t i = 0; i < n; i++) {
        bool in = h[i].tally.listed >> list & 1;
        inside += in;
        if (!in && rank_of(&h[i], list) > least)
            return false;
    }
    return inside == t->listed[list];
}

int main(void)
{
    ok(escapes("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"),
       "characters of markup are escaped");
    ok(escapes("</td><script>alert(1)</script>",
               "&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;"),
       "so are tags");
    ok(escapes("\x01\x1b[2J\n\x7f",
               "\xef\xbf\xbd\xef\xbf\xbd[2J\xef\xbf\xbd\xef\xbf\xbd"),
       "control characters are replaced");
    ok(escapes("b\xc3\xbc"
               "cher \xe2\x82\xac \xf0\x9f\x98\x80",
               "b\xc3\xbc"
               "cher \xe2\x82\xac \xf0\x9f\x98\x80"),
       "characters beyond ASCII stay");
    ok(escapes("\xff\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82",
               "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf"
               "\xbd\xef\xbf\xbd"
               "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"),
       "bytes that are not UTF-8 are replaced, each of them");

    enum { HOSTS = 500 };
    static host h[HOSTS];
    static tally t;
    uint64_t random = 7;
    bool good = true;
    for (int i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        /* Some hosts are asked far more often than others. */
        size_t k = (random >> 33) % (1 + (random >> 50) % HOSTS);
        tally_answer(&t, &h[k], random >> 45 & 0xfff, 10, (random >> 20 & 7) == 0);
        if (i % 500 == 0)
            for (int list = 0; list < TALLY_LISTS; list++)
                good &= holds_the_largest(&t, h, HOSTS, list);
    }
    ok(good, "each list always holds the hosts with the largest values");
    uint64_t answers = 0, bytes = 0;
    for (int i = 0; i < HOSTS; i++)
        answers += h[i].tally.answers, bytes += h[i].tally.bytes;
    ok(answers == t.answers && bytes == t.wire && bytes == 200000,
       "and nothing is counted twice");
    ok(t.within[TALLY_BUCKETS - 1] == t.answers && t.within[0] < t.within[5],
       "buckets hold all that is not longer");
    for (uint64_t s = 1; s <= 300; s++)
        tally_second(&t, s * s);
    ok(t.pages[299 % TALLY_SECONDS] == 300 * 300 - 299 * 299,
       "pages of a second are those done in it");
    return done();
}
