/* word_boundaries.c - words end where Unicode says: by its own test file, and by
 * libunistring for every code point between characters of every class; and looking at
 * 64 bytes at a time, with whatever instructions, changes nothing. */
#include "corpus/byte_masks.h"
#include "corpus/words.h"
#include "messages.h"
#include "tap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_UNISTRING
#include <unictype.h>
#include <unistr.h>
#include <unistring/version.h>
#include <uniwbrk.h>
#endif

enum { ROOM = 1 << 14 };

/* Of the tables, which are the same on every machine. 15.1 gave some code points
 * (U+0600) another class: newer files and libraries rightly disagree. */
#define UNICODE "15.0.0"
#if defined HAVE_UNISTRING && _LIBUNISTRING_VERSION >= 0x010200
enum { LIBRARY_IS_NEWER = 1 };
#else
enum { LIBRARY_IS_NEWER = 0 };
#endif

static void skip(const char *why)
{
    printf("ok %d # skip %s\n", ++tap_run, why);
}

static size_t put_utf8(unsigned char *o, uint32_t c)
{
    if (c < 0x80)
        return o[0] = (unsigned char)c, 1;
    if (c < 0x800)
        return o[0] = (unsigned char)(0xc0 | c >> 6),
               o[1] = (unsigned char)(0x80 | (c & 63)), 2;
    if (c < 0x10000)
        return o[0] = (unsigned char)(0xe0 | c >> 12),
               o[1] = (unsigned char)(0x80 | (c >> 6 & 63)),
               o[2] = (unsigned char)(0x80 | (c & 63)), 3;
    return o[0] = (unsigned char)(0xf0 | c >> 18),
           o[1] = (unsigned char)(0x80 | (c >> 12 & 63)),
           o[2] = (unsigned char)(0x80 | (c >> 6 & 63)),
           o[3] = (unsigned char)(0x80 | (c & 63)), 4;
}

/* Sets EDGE[i] if a segment begins at byte I of TEXT. */
static void segments(const unsigned char *text, size_t len, bool *edge)
{
    memset(edge, 0, len + 1);
    for (size_t at = 0; at < len;) {
        bool white;
        edge[at] = true;
        at += words_segment(text + at, text + len, &white);
    }
}

/* Whether words_cut finds exactly the segments that are not white. */
static bool cut_agrees(const unsigned char *text, size_t len)
{
    static word_spans w;
    size_t at = 0, i = 0, p = 0;
    w.n = 0;
    while (p < len) {
        bool white;
        size_t n = words_segment(text + p, text + len, &white);
        if (!white) {
            if (i == w.n) {
                words_cut(text, len, &at, &w);
                i = 0;
            }
            if (i == w.n || w.start[i] != p || w.end[i] != p + n)
                return false;
            i++;
        }
        p += n;
    }
    if (i == w.n && at < len) {
        words_cut(text, len, &at, &w);
        i = 0;
    }
    return i == w.n && at == len;
}

/* "÷ 0041 × 0308 ÷ ..." of WordBreakTest.txt. */
static void unicode_test_file(void)
{
    FILE *f = fopen("/usr/share/unicode/auxiliary/WordBreakTest.txt", "r");
    if (!f) {
        skip("package unicode-data is not installed");
        return;
    }
    char line[4096];
    size_t tests = 0, bad = 0;
    if (!fgets(line, sizeof line, f) || !strstr(line, UNICODE)) {
        fclose(f);
        skip("unicode-data is of another Unicode than " UNICODE);
        return;
    }
    while (fgets(line, sizeof line, f)) {
        unsigned char text[1024] = {0};
        bool want[1024] = {0}, got[1024];
        size_t len = 0;
        char *hash = strchr(line, '#');
        if (hash)
            *hash = 0;
        for (char *word = strtok(line, " \t\n"); word; word = strtok(NULL, " \t\n")) {
            if (strcmp(word, "\xc3\xb7") == 0)
                want[len] = true;
            else if (strcmp(word, "\xc3\x97"))
                len += put_utf8(text + len, (uint32_t)strtoul(word, NULL, 16));
        }
        if (!len)
            continue;
        tests++;
        segments(text, len, got);
        want[len] = got[len] = false;
        bad += memcmp(want, got, len) != 0 || !cut_agrees(text, len);
    }
    fclose(f);
    ok(tests > 1000 && !bad, "Unicode's own %zu tests (%zu fail)", tests, bad);
}

/* One of every class, and of every row of the rules. */
static const uint32_t kinds[] = {
    'a',   '1',    '_',    '.',     ':',    ',',    ';',    '\'',   '"',
    ' ',   '\r',   '\n',   0x0b,    '-',    0xa0,   0xe9,   0x5d0,  0x5f3,
    0x301, 0xad,   0x200d, 0x1f1e9, 0x30a2, 0x3042, 0x4e2d, 0xac00, 0x1f600,
    0xa9,  0x2019, 0x3000, 0x2028,  0x430,  0x915,  0x660,  0x202f, 0x24c2};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void every_code_point(void)
{
#ifdef HAVE_UNISTRING
    static unsigned char text[ROOM + 64];
    static char theirs[ROOM];
    static bool ours[ROOM];
    size_t points = 0, bad = 0, uncut = 0;
    for (uint32_t c = 0; c < 0x110000; c++) {
        if ((c >= 0xd800 && c < 0xe000) ||
            uc_is_general_category(c, UC_UNASSIGNED)) /* in its older Unicode */
            continue;
        size_t len = 0;
        points++;
        for (size_t i = 0; i < KINDS; i++) {
            len += put_utf8(text + len, kinds[i]);
            len += put_utf8(text + len, c);
            if (i % 3 == 0)
                len += put_utf8(text + len, c);
        }
        memset(text + len, 'a', 64);
        segments(text, len, ours);
        u8_wordbreaks(text, len, theirs);
        bool same = true;
        for (size_t i = 1; i < len && same; i++)
            same = ours[i] == (theirs[i] != 0);
        if (!same && bad++ < 3 && !LIBRARY_IS_NEWER)
            note("U+%04X differs", c);
        uncut += !cut_agrees(text, len);
    }
    if (LIBRARY_IS_NEWER)
        skip("libunistring is of a newer Unicode than " UNICODE);
    else
        ok(points > 280000 && !bad,
           "%zu code points beside every class, as libunistring", points);
    ok(!uncut, "64 bytes at a time they are the same");
#else
    skip("package libunistring-dev is not installed");
#endif
}

static uint64_t state = 7;
static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

/* Random texts, mostly of what the masks deal with. */
static void all_ways_agree(const char *how)
{
    static unsigned char text[ROOM + 64];
    size_t bad = 0;
    for (int round = 0; round < 20000; round++) {
        size_t len = 0, most = below(400);
        uint32_t odd = below(4) ? 40 : 4;
        while (len < most) {
            uint32_t c = below(odd) ? (below(5) ? 'a' + below(26)
                                                : "  .,:'_;\"-/\t19"[below(15)] & 127)
                                    : kinds[below(KINDS)];
            if (!below(300))
                text[len++] = (unsigned char)(0x80 + below(128)); /* not UTF-8 */
            else
                len += put_utf8(text + len, c);
        }
        memset(text + len, below(2) ? 'a' : 0xcc, 64);
        bad += !cut_agrees(text, len);
    }
    ok(!bad, "random texts cut 64 bytes at a time, %s (%zu fail)", how, bad);
}

static void masks_agree(void)
{
    byte_masks a, b;
    unsigned char p[64];
    size_t bad = 0;
    for (int round = 0; round < 20000; round++) {
        for (int i = 0; i < 64; i++)
            p[i] = (unsigned char)(round < 256 ? round : (int)below(256));
        byte_masks_of(p, &a);
        byte_masks_plain(p, &b);
        bad += memcmp(&a, &b, sizeof a) != 0;
    }
    ok(!bad, "the masks of this machine's instructions are the plain ones");
}

/* Which variant words.c uses where SEEN_SIMD has this value; asked in a process of its
 * own, because the choice is made once. */
static bool plain_with(const char *simd)
{
    pid_t child = fork();
    if (child == 0) {
        setenv("SEEN_SIMD", simd, 1);
        words_ready();
        _exit(byte_masks_of == byte_masks_plain ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status == 0;
}

static void simd_is_obeyed(void)
{
    ok(plain_with("scalar"), "SEEN_SIMD=scalar: no vector instructions");
#if defined(__x86_64__)
    bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    ok(plain_with("avx2") == !fast, "SEEN_SIMD=avx2: AVX2 if the machine has it");
#endif
}

int main(void)
{
    simd_is_obeyed();
    words_ready();
    unicode_test_file();
    every_code_point();
    masks_agree();
    all_ways_agree("vector instructions if there are");
    byte_masks_of = byte_masks_plain;
    all_ways_agree("plain");
    return done();
}
