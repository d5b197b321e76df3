/* fuzz_json_line.c - any bytes as a line of JSON: the text that is found is the
 * spelling between two quotes, and what its newlines say about both is true. */
#include "corpus/json_line.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static json_text text;
    json_path path;
    if (json_path_set(&path, size % 2 ? "text" : "a.text"))
        abort();
    char *line = malloc(size + JSON_PAD);
    if (!line)
        abort();
    memcpy(line, data, size);
    memset(line + size, '"', JSON_PAD);
    json_line found;
    enum json_code code = json_line_read(line, size, &path, "id", &found, &text);
    if (!*json_code_words(code) != (code == JSON_OK))
        abort();
    if (code == JSON_OK) {
        const char *end = found.raw.at + found.raw.len;
        if (found.raw.at <= line || end >= line + size || found.raw.at[-1] != '"' ||
            *end != '"' || text.len > found.raw.len)
            abort();
        size_t at = 0, newlines = 0;
        for (size_t i = 0; i < text.len; i++)
            newlines += text.data[i] == '\n';
        size_t bare = 0; /* a newline as it is may stand in a line that has no end */
        for (const char *p = found.raw.at; p < end; p++)
            bare += *p == '\n';
        if (newlines != text.newlines + bare)
            abort();
        for (size_t i = 0; i < text.newlines; i++) {
            const json_newline *n = text.newline + i;
            if (n->at >= text.len || text.data[n->at] != '\n' || n->at < at ||
                found.raw.at[n->raw] != '\\' || n->raw < n->at)
                abort();
            at = n->at + 1;
        }
        if (found.id.at &&
            (found.id.at < line || found.id.at + found.id.len > line + size))
            abort();
    }
    json_path_free(&path);
    free(line);
    return 0;
}
