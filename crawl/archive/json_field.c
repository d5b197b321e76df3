/* json_field.c - escapes a text for JSON; bytes beyond ASCII become \\u00xx. */
#include "json_field.h"

#include <stdio.h>

void json_field(buf *b, const char *name, const char *s)
{
    char one[8];
    buf_text(b, ",\"");
    buf_text(b, name);
    buf_text(b, "\":\"");
    for (; *s; s++) {
        uint8_t c = (uint8_t)*s;
        if (c == '"' || c == '\\')
            snprintf(one, sizeof one, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            snprintf(one, sizeof one, "\\u%04x", c);
        else
            snprintf(one, sizeof one, "%c", c);
        buf_text(b, one);
    }
    buf_byte(b, '"');
}
