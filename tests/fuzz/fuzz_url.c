/* fuzz_url.c - fuzz target: any bytes as a URL, alone and against a base.
 *
 * The first byte says where the base ends. Promises: no overrun, normalising twice
 * changes nothing, and a result is ASCII without spaces. */
#include "url.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const url *u, size_t room)
{
    char out[URL_ROOM];
    url v;
    if (u->len >= room || strlen(u->text) != u->len)
        abort();
    for (uint32_t i = 0; i < u->len; i++)
        if (u->text[i] <= ' ' || u->text[i] >= 0x7f || u->text[i] == '#')
            abort();
    if (u->text[u->path] != '/' || u->query > u->len || u->host_len == 0)
        abort();
    if (url_normalise(u->text, u->len, out, sizeof out, &v) != URL_OK ||
        v.len != u->len || memcmp(out, u->text, v.len) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char base_text[URL_ROOM];
    url base, u;
    if (size < 1)
        return 0;
    size_t cut = data[0] % size, room = size < 40 ? URL_ROOM : 3 * size;
    const char *s = (const char *)data + 1;
    if (room > URL_ROOM)
        room = URL_ROOM;
    char *out = malloc(room);
    if (url_normalise(s, size - 1, out, room, &u) == URL_OK)
        check(&u, room);
    if (url_normalise(s, cut, base_text, sizeof base_text, &base) == URL_OK) {
        check(&base, sizeof base_text);
        if (url_resolve(&base, s + cut, size - 1 - cut, out, room, &u) == URL_OK)
            check(&u, room);
    }
    free(out);
    return 0;
}
