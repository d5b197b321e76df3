/* cmd_sort.c - `seen sort`: distinct integers of a bounded range, by one bit each.
 *
 * Sorting without comparing: each integer sets its bit, and the bits are read in order.
 * 100 million integers below a billion take 125 MB and one pass. Memory is touched only
 * where there are integers, so a wide range costs nothing by itself. */
#include "commands.h"
#include "lines/emit.h"
#include "progress.h"
#include "messages.h"
#include "human_numbers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_RANGE = 300, OPT_COUNT, TOLD = 5 };

static const kit_option options[] = {
    {'r', "reverse", NULL, "Largest first."},
    {OPT_RANGE, "range", "A..B",
     "Integers from A to B, which may be negative [0..4294967295]. It takes at most "
     "one "
     "bit for each integer in the range."},
    {'c', "count", NULL, "Print only how many distinct integers there are."},
    {'k', "key", "N", "The integer is field N."},
    {'t', "separator", "CHAR", "Fields are separated by CHAR instead of by blanks."},
    {'z', "zero-terminated", NULL, "Lines end in NUL instead of newline."},
    {'o', "output", "FILE", "Write to FILE, which is replaced at the end."},
    THREAD_OPTION,
    {'q', "quiet", NULL, "Show no progress on a terminal."},
    {0},
};

typedef enum parsed {
    NO_INTEGER,
    BEYOND, /* an integer, but not one of 64 bits */
    INTEGER
} parsed;

/* Parses all of [P, P+LEN): an optional sign and digits, with blanks around them. */
static parsed parse_integer(const char *p, size_t len, int64_t *out)
{
    const char *end = p + len;
    if (len && len <= 18) { /* nearly always: nothing but digits */
        uint64_t x = 0;
        unsigned worst = 0;
        for (const char *q = p; q < end; q++) {
            unsigned d = (unsigned)*q - '0';
            worst = d > worst ? d : worst;
            x = x * 10 + d;
        }
        *out = (int64_t)x;
        if (worst <= 9)
            return INTEGER;
    }
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (p < end && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    bool minus = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (p == end)
        return NO_INTEGER;
    int64_t x = 0;
    bool fits = true;
    for (; p < end; p++) {
        int d = *p - '0';
        if (d < 0 || d > 9)
            return NO_INTEGER;
        /* Downward: there is one more negative integer than positive ones. */
        fits = fits && !__builtin_mul_overflow(x, 10, &x) &&
               !__builtin_sub_overflow(x, d, &x);
    }
    if (!fits || (!minus && x == INT64_MIN))
        return BEYOND;
    *out = minus ? x : -x;
    return INTEGER;
}

static bool parse_range(const char *s, int64_t *from, int64_t *to)
{
    const char *dots = strstr(s, "..");
    return dots && parse_integer(s, (size_t)(dots - s), from) == INTEGER &&
           parse_integer(dots + 2, strlen(dots + 2), to) == INTEGER && *from <= *to;
}

typedef struct job {
    keyspec keys;
    int64_t from, to;
    bool reverse, count, quiet;
    uint64_t bad;
    uint64_t low, high; /* of the bits set; the others were never touched */
    seen_bitmap *bits;
    char *const *files;
} job;

/* Reports a line that cannot be sorted; after the first few only counts them. */
static void complain(job *j, const batch *b, size_t i, uint64_t line, bool range)
{
    const char *file = j->files[b->block.file];
    seen_key k = b->key[i];
    char text[64];
    int n = (int)(k.len < 40 ? k.len : 40);
    for (int c = 0; c < n; c++) {
        char ch = ((const char *)k.data)[c];
        text[c] = ch >= ' ' && ch <= '~' ? ch : '?';
    }
    text[n] = 0;
    if (j->bad++ >= TOLD)
        return;
    if (range)
        kit_warn("%s:%" PRIu64 ": %s is outside %" PRId64 "..%" PRId64
                 " (--range gives another)",
                 file, line, text, j->from, j->to);
    else
        kit_warn("%s:%" PRIu64 ": not an integer: '%s%s'", file, line, text,
                 k.len > 40 ? "..." : "");
}

static void read_integers(job *j, feed *f)
{
    uint64_t at[512], line = 0, lines = 0;
    size_t file = 0, m = 0;
    for (batch *b; (b = feed_next(f)); feed_done(f, b)) {
        if (b->block.file != file) {
            file = b->block.file;
            line = 0;
        }
        for (size_t i = 0; i < b->n; i++) {
            int64_t x;
            line++;
            parsed got = parse_integer(b->key[i].data, b->key[i].len, &x);
            if (got != INTEGER || x < j->from || x > j->to) {
                complain(j, b, i, line, got != NO_INTEGER);
                continue;
            }
            uint64_t bit = (uint64_t)x - (uint64_t)j->from;
            j->low = bit < j->low ? bit : j->low;
            j->high = bit > j->high ? bit : j->high;
            at[m++] = bit;
            if (m == 512) {
                seen_bitmap_set_many(j->bits, at, m, NULL);
                m = 0;
            }
        }
        lines += b->n;
        feed_progress(f, lines, 0, seen_bitmap_bound(j->bits) / 8);
    }
    seen_bitmap_set_many(j->bits, at, m, NULL);
}

/* ---- integers as text ------------------------------------------------------------ */

typedef struct text {
    emitter *to;
    char buf[64 << 10];
    size_t len;
} text;

static void put(text *t, int64_t x, char term)
{
    static const char two[] = "00010203040506070809101112131415161718192021222324252627"
                              "28293031323334353637383940414243444546474849505152535455"
                              "56575859606162636465666768697071727374757677787980818283"
                              "8485868788899091929394959697989900";
    char digits[48], *p = digits + 24;
    uint64_t u = x < 0 ? -(uint64_t)x : (uint64_t)x;
    *--p = term;
    while (u >= 100) {
        p -= 2;
        memcpy(p, two + u % 100 * 2, 2);
        u /= 100;
    }
    if (u >= 10) {
        p -= 2;
        memcpy(p, two + u * 2, 2);
    } else {
        *--p = (char)('0' + u);
    }
    if (x < 0)
        *--p = '-';
    size_t n = (size_t)(digits + 24 - p);
    if (t->len + 24 > sizeof t->buf) {
        emit_bytes(t->to, t->buf, t->len, false);
        t->len = 0;
    }
    memcpy(t->buf + t->len, p, 24); /* a fixed length is one instruction or two */
    t->len += n;
}

static void print(job *j, emitter *out)
{
    text *t = kit_alloc(sizeof *t);
    uint64_t bound = seen_bitmap_bound(j->bits), list[1024], from = j->low, count = 0;
    bool none = j->low > j->high;
    char term = (char)j->keys.term;
    t->to = out;
    if (j->count) {
        if (!none)
            seen_bitmap_count_range(j->bits, j->low, j->high + 1, &count);
        put(t, (int64_t)count, term);
    } else if (none) {
        ;
    } else if (j->reverse) {
        uint64_t i = j->high;
        while (i < bound) {
            put(t, (int64_t)(i + (uint64_t)j->from), term);
            if (i == j->low)
                break;
            i = seen_bitmap_prev(j->bits, i - 1);
        }
    } else {
        for (size_t n; (n = seen_bitmap_list(j->bits, &from, j->high + 1, list, 1024));)
            for (size_t i = 0; i < n; i++)
                put(t, (int64_t)(list[i] + (uint64_t)j->from), term);
    }
    emit_bytes(out, t->buf, t->len, false);
    free(t);
}

static int sort_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen sort", self, argc, argv);
    job j = {.keys = KEYSPEC_INIT, .to = UINT32_MAX, .low = UINT64_MAX};
    const char *out_name = NULL;
    unsigned threads = 0;
    for (int o; (o = kit_next(&p));) {
        if (keyspec_option(&j.keys, &p, o) || thread_option(&threads, &p, o))
            continue;
        switch (o) {
        case 'r':
            j.reverse = true;
            break;
        case 'c':
            j.count = true;
            break;
        case 'q':
            j.quiet = true;
            break;
        case 'o':
            out_name = p.arg;
            break;
        case OPT_RANGE:
            if (!parse_range(p.arg, &j.from, &j.to))
                kit_bad_value(&p, o, "a range such as 1..1000000000");
            break;
        }
    }
    static char *const only_stdin[] = {(char *)"-"};
    j.files = p.at < argc ? argv + p.at : only_stdin;
    feed_spec spec = {.files = j.files,
                      .nfiles = p.at < argc ? (size_t)(argc - p.at) : 1,
                      .keys = j.keys,
                      .threads = threads};
    const char *bad = kit_lines_check(spec.files, spec.nfiles);
    if (bad)
        kit_die("%s", bad);
    if (seen_bitmap_new((uint64_t)j.to - (uint64_t)j.from + 1, NULL, &j.bits) < 0)
        kit_die("--range: %s", seen_reason());
    emitter out = emit_open(out_name, j.keys.term);
    feed *f = feed_open(&spec);
    kit_progress_start(j.quiet);
    read_integers(&j, f);
    kit_progress_end();
    feed_close(f);
    if (j.bad > TOLD)
        kit_warn("%s more lines are not integers in the range",
                 kit_counted(j.bad - TOLD));
    print(&j, &out);
    emit_finish(&out, false);
    if (!j.bad || !out_name)
        emit_commit(&out);
    emit_close(&out);
    seen_bitmap_free(j.bits);
    return j.bad ? 2 : 0;
}

const kit_command cmd_sort = {
    .name = "sort",
    .summary = "sort distinct integers by a bitmap",
    .usage = "[OPTION]... [FILE]...",
    .about =
        "Prints the distinct integers of the FILEs, or of standard input, one a line, "
        "in order. A line that is not an integer in the range is reported with its "
        "number, and the status is then 2; the others are printed nevertheless, except "
        "to -o FILE, which stays as it was.",
    .options = options,
    .examples = "# Telephone numbers\n"
                "$ seen sort numbers.txt\n"
                "# Largest first, of a known range\n"
                "$ seen sort -r --range 1..1000000000 numbers.txt\n",
    .run = sort_main,
};
