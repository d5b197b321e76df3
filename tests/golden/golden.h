/* golden.h - reads test vectors: key tokens, parameters, whole files.
 *
 * The vectors made by the real libraries are used in place from ../shared/golden; a
 * tree without that folder uses the small set kept in tests/golden. */
#ifndef GOLDEN_H
#define GOLDEN_H
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct golden_blob {
    uint8_t *p;
    size_t len;
} golden_blob;

static inline const char *golden_root(void)
{
    struct stat st;
    const char *env = getenv("SEEN_GOLDEN");
    if (env)
        return env;
    return stat("../shared/golden", &st) == 0 ? "../shared/golden" : "tests/golden";
}

/* A whole file and one NUL behind it; p is NULL if there is none. */
static inline golden_blob golden_read(const char *dir, const char *name)
{
    char path[2048];
    golden_blob b = {0};
    snprintf(path, sizeof path, "%s%s%s", dir, *name ? "/" : "", name);
    FILE *in = fopen(path, "rb");
    if (!in)
        return b;
    fseek(in, 0, SEEK_END);
    long len = ftell(in);
    rewind(in);
    b.p = calloc(1, (size_t)len + 1);
    b.len = fread(b.p, 1, (size_t)len, in);
    fclose(in);
    return b;
}

/* The value of "NAME": in a flat JSON object, as a pointer to its text; NULL if none.
 */
static inline const char *golden_param(golden_blob json, const char *name)
{
    char quoted[128];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    char *at = json.p ? strstr((char *)json.p, quoted) : NULL;
    if (!at)
        return NULL;
    at += strlen(quoted);
    return at + strspn(at, " \n[\"");
}

static inline double golden_number(golden_blob json, const char *name, double otherwise)
{
    const char *v = golden_param(json, name);
    return v ? strtod(v, NULL) : otherwise;
}

static inline bool golden_is(golden_blob json, const char *name, const char *value)
{
    const char *v = golden_param(json, name);
    return v && strncmp(v, value, strlen(value)) == 0;
}

static inline golden_blob golden_hex(const char *hex, size_t n)
{
    golden_blob b = {malloc(n / 2 + 1), n / 2};
    for (size_t i = 0; i < b.len; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], 0};
        b.p[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    return b;
}

static inline size_t golden_utf8(uint32_t c, uint8_t *out)
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xc0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xe0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 63));
        out[2] = (uint8_t)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 63));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 63));
    out[3] = (uint8_t)(0x80 | (c & 63));
    return 4;
}

/* The key a token stands for, as one gives it to the library: UTF-16 becomes UTF-8 (a
 * lone surrogate its three bytes), integers decimal text. The token ends at TAB or line
 * end; *END points there. */
static inline golden_blob golden_key(const char *token, const char **end)
{
    size_t n = strcspn(token, "\t\n");
    const char *body = token + 2;
    golden_blob b;
    *end = token + n;
    n -= 2;
    switch (token[0]) {
    case 'r': {
        char *hex;
        size_t len = strtoul(body, &hex, 10);
        golden_blob pattern = golden_hex(hex + 1, (size_t)(*end - hex - 1));
        b = (golden_blob){malloc(len + 1), len};
        for (size_t i = 0; i < len; i++)
            b.p[i] = pattern.p[i % pattern.len];
        free(pattern.p);
        return b;
    }
    case 'i':
        b = (golden_blob){calloc(1, n + 1), n};
        memcpy(b.p, body, n);
        return b;
    case 'w': {
        golden_blob u = golden_hex(body, n);
        b = (golden_blob){malloc(u.len * 3 + 1), 0};
        for (size_t i = 0; i + 1 < u.len; i += 2) {
            uint32_t c = (uint32_t)(u.p[i] << 8 | u.p[i + 1]);
            if ((c & 0xfc00) == 0xd800 && i + 3 < u.len &&
                (u.p[i + 2] & 0xfc) == 0xdc) {
                c = 0x10000 + ((c & 0x3ff) << 10) +
                    (uint32_t)((u.p[i + 2] & 3) << 8 | u.p[i + 3]);
                i += 2;
            }
            b.len += golden_utf8(c, b.p + b.len);
        }
        free(u.p);
        return b;
    }
    default:
        return golden_hex(body, n);
    }
}

/* Steps through a .tsv of tokens: the next line that is no comment, or NULL. */
static inline const char *golden_line(const char **at)
{
    while (**at == '#' || **at == '\n')
        *at += strcspn(*at, "\n") + (**at != 0 && (*at)[strcspn(*at, "\n")] != 0);
    if (!**at)
        return NULL;
    const char *line = *at;
    *at += strcspn(*at, "\n");
    if (**at)
        (*at)++;
    return line;
}

#endif
