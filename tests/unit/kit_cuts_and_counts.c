/* kit_cuts_and_counts.c - what the programs share: cutting lines, sizes as people write
 * them, JSON. */
#include "json.h"
#include "lines.h"
#include "sample.h"
#include "human_numbers.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every piece that kit_cut finds, against a plain search byte by byte, for texts of all
 * lengths around its step of 64 and every limit of lines. */
static int cut_wrong(const char *text, size_t len, int term, size_t max)
{
    char *buf = malloc(len + 64);
    memcpy(buf, text, len);
    memset(buf + len, term, 64); /* what lies beyond must not count */
    const char *p = buf, *end = buf + len, *want = buf;
    int wrong = 0;
    while (p < end) {
        seen_key k[200];
        size_t n = kit_cut(&p, end, term, k, max);
        if (!n || n > max)
            return 1;
        for (size_t i = 0; i < n; i++) {
            const char *e = want;
            while (e < end && *e != term)
                e++;
            wrong += k[i].data != want || k[i].len != (size_t)(e - want);
            want = e < end ? e + 1 : end;
        }
        wrong += p != want;
    }
    free(buf);
    return wrong;
}

static const char *csv(const char *text, size_t *pieces)
{
    static char out[256];
    const char *p = text, *end = text + strlen(text);
    seen_key k[16];
    *pieces = kit_cut_csv(&p, end, '\n', ',', k, 16);
    out[0] = 0;
    for (size_t i = 0; i < *pieces; i++)
        sprintf(out + strlen(out), "%.*s|", (int)k[i].len, (const char *)k[i].data);
    return out;
}

int main(void)
{
    int wrong = 0;
    char text[300];
    for (size_t len = 0; len < 200; len++)
        for (int dense = 1; dense < 6; dense++) {
            for (size_t i = 0; i < len; i++)
                text[i] = kit_mix(len * 1000 + i) % (1u << (dense * 2)) ? 'x' : '\n';
            wrong += cut_wrong(text, len, '\n', 1) + cut_wrong(text, len, '\n', 7) +
                     cut_wrong(text, len, '\n', 200) + cut_wrong(text, len, 'x', 200);
        }
    ok(wrong == 0, "lines are cut where a plain search would cut them");

    size_t n;
    ok(!strcmp(csv("a,b\nc\n", &n), "a,b|c|") && n == 2, "CSV: plain records");
    ok(!strcmp(csv("\"a\nb\",c\nd\n", &n), "\"a\nb\",c|d|"),
       "CSV: a newline in quotes");
    ok(!strcmp(csv("\"a\"\"\nb\"\nc\n", &n), "\"a\"\"\nb\"|c|"), "CSV: doubled quotes");
    ok(!strcmp(csv("a\"b\nc\"\n", &n), "a\"b|c\"|"),
       "CSV: a quote inside a value does not quote");
    ok(!strcmp(csv("\"open\nrest", &n), "\"open\nrest|") && n == 1,
       "CSV: a quote that is never closed takes the rest");

    static const struct {
        const char *s;
        uint64_t bytes, count;
    } good[] = {{"1", 1, 1},
                {"64K", 65536, 64000},
                {"64k", 65536, 64000},
                {"1.5M", 1572864, 1500000},
                {"2e7", 20000000, 20000000},
                {"9007199254740993", 9007199254740993, 9007199254740993}};
    wrong = 0;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t b, c;
        wrong += !kit_parse_bytes(good[i].s, &b) || b != good[i].bytes;
        wrong += !kit_parse_count(good[i].s, &c) || c != good[i].count;
    }
    uint64_t x;
    wrong += !kit_parse_bytes("10MB", &x) || x != 10000000;
    wrong += !kit_parse_bytes("10MiB", &x) || x != 10485760;
    ok(wrong == 0, "sizes: K of memory is 1024, of things 1000, KB always 1000");
    static const char *const bad[] = {"",    "0",   "-1",  "x",   "1x",  "0x10", "1e30",
                                      "nan", "inf", "1 M", "1MM", "0.5", "M",    "."};
    wrong = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        wrong += kit_parse_bytes(bad[i], &x) + kit_parse_count(bad[i], &x);
    ok(wrong == 0, "sizes: other text is refused");
    double e;
    ok(kit_parse_error("0.1%", &e) && fabs(e - 0.001) < 1e-12 &&
           kit_parse_error("1/1000", &e) && fabs(e - 0.001) < 1e-12 &&
           kit_parse_error("1e-3", &e) && e == 0.001,
       "errors: 0.1%%, 1/1000 and 1e-3 are the same");
    ok(!kit_parse_error("0", &e) && !kit_parse_error("1", &e) &&
           !kit_parse_error("1/0", &e) && !kit_parse_error("100%", &e) &&
           !kit_parse_error("", &e) && !kit_parse_error("1e-400", &e),
       "errors: 0 and 1 and beyond are none");
    char buf[32];
    ok(!strcmp(kit_show_bytes(999, buf), "999 bytes") &&
           !strcmp(kit_show_bytes(56e6, buf), "56 MB") &&
           !strcmp(kit_show_bytes(1.25e9, buf), "1.2 GB") &&
           !strcmp(kit_show_bytes(999.6e3, buf), "1.0 MB"),
       "sizes are shown with two or three digits");
    ok(!strcmp(kit_show_count(13997237, buf), "13,997,237") &&
           !strcmp(kit_show_count(0, buf), "0") &&
           !strcmp(kit_show_count(UINT64_MAX, text), "18,446,744,073,709,551,615"),
       "counts are shown in groups of three");

    char *out = NULL;
    size_t len = 0;
    kit_json j = {.to = open_memstream(&out, &len)};
    kit_json_open(&j, NULL, '{');
    kit_json_bytes(&j, "a\"b", "x\\\n\x01\xff\xc3\xa9\xed\xa0\x80", 10);
    kit_json_open(&j, "list", '[');
    kit_json_count(&j, NULL, UINT64_MAX);
    kit_json_real(&j, NULL, NAN);
    kit_json_close(&j, ']');
    kit_json_close(&j, '}');
    fclose(j.to);
    ok(!strcmp(
           out,
           "{\n  \"a\\\"b\": \"x\\\\\\n\\u0001\\ufffd\xc3\xa9\\ufffd\\ufffd\\ufffd\",\n"
           "  \"list\": [\n    18446744073709551615,\n    null\n  ]\n}\n"),
       "JSON: escapes, invalid UTF-8, no NaN");
    free(out);
    return done();
}
