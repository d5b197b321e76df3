/* urls.c - distinct URL-like lines, faster than a pipe takes them.
 *
 *   urls FROM TO [STEP]    lines number FROM, FROM + STEP, ... below TO, such as 2e9
 *
 * Line i is a function of i, so that members, samples of them and absent ones are
 * ranges of numbers. Different numbers below 2^40 give different lines: a bijection of
 * the number is spelled in every one. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const host[16] = {
    "www.example.com/",       "news.example.org/",    "shop.example.net/",
    "img7.example.de/",       "blog.example.io/",     "static.example.fr/",
    "cdn-02.example.net/",    "forum.example.co.uk/", "m.example.jp/",
    "wiki.example.edu/",      "video.example.tv/",    "mail.example.ch/",
    "api.v2.example.dev/",    "old.example.info/",    "a.long.example.com/",
    "xn--bcher-kva.example/",
};
static const char *const path[16] = {
    "index.php?id=",
    "articles/2026/11/",
    "wp-content/uploads/",
    "product/view?item=",
    "en/tag/",
    "user/profile/",
    "images/thumb/large/",
    "a/",
    "search?q=filter&page=2&s=",
    "archive/old/",
    "watch?v=",
    "docs/latest/reference/",
    "~smith/papers/",
    "forum/thread.jsp?t=",
    "catalog/category/view/id/",
    "download/release/",
};
static const char *const tail[4] = {"\n", ".html\n", "/\n", "&ref=home\n"};

/* A word in 32 bytes that can be copied whole, and its length. */
typedef struct word {
    char text[32];
    size_t len;
} word;

static word spell(const char *a, const char *b)
{
    word w = {"", 0};
    w.len = (size_t)snprintf(w.text, sizeof w.text, "%s%s", a, b);
    return w;
}

int main(int argc, char **argv)
{
    enum { BLOCK = 1 << 20 };
    static char out[BLOCK + 256], pair[1024][2];
    static word hosts[32], paths[16], tails[4];
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "Usage: urls FROM TO [STEP]\n");
        return 2;
    }
    uint64_t from = (uint64_t)strtod(argv[1], NULL),
             to = (uint64_t)strtod(argv[2], NULL);
    uint64_t step = argc > 3 ? (uint64_t)strtod(argv[3], NULL) : 1;
    for (int i = 0; i < 32; i++)
        hosts[i] = spell(i & 16 ? "https://" : "http://", host[i & 15]);
    for (int i = 0; i < 16; i++)
        paths[i] = spell(path[i], "");
    for (int i = 0; i < 4; i++)
        tails[i] = spell(tail[i], "");
    for (int i = 0; i < 1024; i++)
        for (int j = 0; j < 2; j++)
            pair[i][j] = "0123456789abcdefghijklmnopqrstuv"[i >> (5 * j) & 31];
    fcntl(STDOUT_FILENO, F_SETPIPE_SZ, BLOCK);
    size_t n = 0;
    for (uint64_t i = from; i < to || n; i += step) {
        if (i < to) {
            const uint64_t mask = ((uint64_t)1 << 40) - 1;
            uint64_t x =
                i * 0x9e3779b97f & mask; /* odd factor, then a shift: bijective */
            x ^= x >> 21;
            uint64_t y = x * 0xd1342543de82ef95;
            const word *h = hosts + (y >> 59), *p = paths + (y >> 55 & 15),
                       *t = tails + (y >> 53 & 3);
            memcpy(out + n, h->text, 32);
            n += h->len;
            memcpy(out + n, p->text, 32);
            n += p->len;
            for (int j = 0; j < 4; j++, n += 2)
                memcpy(out + n, pair[x >> (10 * j) & 1023], 2);
            memcpy(out + n, t->text, 16);
            n += t->len;
        }
        if (n < BLOCK && i < to)
            continue;
        for (size_t done = 0; done < n;) {
            ssize_t w = write(STDOUT_FILENO, out + done, n - done);
            if (w < 0 && errno != EINTR)
                return errno == EPIPE ? 0 : (perror("urls"), 2);
            done += w > 0 ? (size_t)w : 0;
        }
        n = 0;
        if (i >= to)
            break;
    }
    return 0;
}
