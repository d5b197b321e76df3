/* typed_keys.c - reads integers and UUIDs from lines. */
#include "typed_keys.h"
#include "messages.h"

#include <stdlib.h>
#include <string.h>

enum { WIDEST = 16 };

/* Digits, with a minus before them if SIGNED_TOO; all of the line. */
static bool integer(const seen_key *key, bool signed_too, unsigned char *out)
{
    const char *p = key->data, *end = p + key->len;
    bool minus = signed_too && p < end && *p == '-';
    uint64_t x = 0, most = !signed_too ? UINT64_MAX : (uint64_t)INT64_MAX + minus;
    if ((p += minus) == end)
        return false;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9')
            return false;
        uint64_t digit = (uint64_t)(*p - '0');
        if (x > (most - digit) / 10)
            return false;
        x = x * 10 + digit;
    }
    seen_integer_key(minus ? 0 - x : x, out);
    return true;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* 32 hexadecimal digits, with hyphens anywhere or nowhere between bytes. */
static bool uuid(const seen_key *key, unsigned char *out)
{
    const char *p = key->data;
    size_t n = 0;
    for (size_t i = 0; i < key->len;) {
        if (p[i] == '-' && n > 0 && n < 16) {
            i++;
            continue;
        }
        if (n == 16 || i + 1 >= key->len || hex(p[i]) < 0 || hex(p[i + 1]) < 0)
            return false;
        out[n++] = (unsigned char)(hex(p[i]) << 4 | hex(p[i + 1]));
        i += 2;
    }
    return n == 16;
}

static size_t width(seen_keys type)
{
    return type == SEEN_KEYS_INT64 || type == SEEN_KEYS_UINT64 ? 8
           : type == SEEN_KEYS_UUID                            ? 16
                                                               : 0;
}

bool typed_needed(const seen_filter *f)
{
    return width(seen_keys_of(f)) != 0;
}

static void make_room(typed_keys *t, size_t n)
{
    if (n <= t->room)
        return;
    typed_free(t);
    t->room = n;
    t->key = kit_alloc(n * sizeof *t->key);
    t->bytes = kit_alloc(n * WIDEST);
}

const seen_key *typed_convert(typed_keys *t, const char *name, seen_filter *f,
                              const seen_key *keys, size_t n, bool adding)
{
    seen_keys type = seen_keys_of(f);
    size_t wide = width(type);
    if (!wide) {
        int rc = adding ? seen_take_keys(f, SEEN_KEYS_TEXT)
                        : seen_check_keys(f, SEEN_KEYS_TEXT);
        if (rc < 0)
            kit_die("%s: %s ('seen merge --mixed -o NEW OLD' makes it mixed)", name,
                    seen_reason());
        return keys;
    }
    make_room(t, n);
    for (size_t i = 0; i < n; i++) {
        unsigned char *out = t->bytes + i * WIDEST;
        if (!(type == SEEN_KEYS_UUID ? uuid(keys + i, out)
                                     : integer(keys + i, type == SEEN_KEYS_INT64, out)))
            kit_die("%s: this filter holds %s, and \"%.*s\" is not one", name,
                    type == SEEN_KEYS_UUID    ? "UUIDs"
                    : type == SEEN_KEYS_INT64 ? "64-bit integers"
                                              : "unsigned 64-bit integers",
                    (int)(keys[i].len < 60 ? keys[i].len : 60),
                    (const char *)keys[i].data);
        t->key[i] = (seen_key){out, wide};
    }
    return t->key;
}

void typed_print(FILE *to, const seen_filter *f, const void *key, size_t len)
{
    const unsigned char *p = key;
    seen_keys type = seen_keys_of(f);
    uint64_t x = 0;
    if (len != width(type) || !len) {
        fwrite(key, 1, len, to);
    } else if (type == SEEN_KEYS_UUID) {
        for (size_t i = 0; i < len; i++)
            fprintf(to, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", p[i]);
    } else {
        for (size_t i = 0; i < len; i++)
            x |= (uint64_t)p[i] << 8 * i;
        if (type == SEEN_KEYS_INT64)
            fprintf(to, "%lld", (long long)x);
        else
            fprintf(to, "%llu", (unsigned long long)x);
    }
}

void typed_expect_text(const char *name, seen_filter *f)
{
    if (typed_needed(f))
        kit_die("%s: this filter holds keys of the type %s, not lines", name,
                seen_keys_name(seen_keys_of(f)));
    typed_convert(&(typed_keys){0}, name, f, NULL, 0, true);
}

void typed_free(typed_keys *t)
{
    free(t->key);
    free(t->bytes);
    *t = (typed_keys){0};
}
