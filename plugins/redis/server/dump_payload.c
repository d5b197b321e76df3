/* dump_payload.c - the RDB's encoding of a module value, with the frame that DUMP gives
 * it: kind of value, name of the type, fields, version of the RDB, CRC-64. */
#include "server/dump_payload.h"
#include <string.h>

enum { MODULE_VALUE = 7, RDB_VERSION = 10 }; /* the version of Redis 7.0 */
enum { FIELD_END = 0, FIELD_UNSIGNED = 2, FIELD_DOUBLE = 4, FIELD_STRING = 5 };

static void append(field_sink *s, const void *p, size_t len)
{
    if (s->room - s->len < len) {
        s->room = (s->room + len) * 2;
        s->bytes = RM_Realloc(s->bytes, s->room);
    }
    memcpy(s->bytes + s->len, p, len);
    s->len += len;
}

static void append_byte(field_sink *s, unsigned b)
{
    unsigned char byte = (unsigned char)b;
    append(s, &byte, 1);
}

/* A number in the RDB's own lengths: 6 bits, 14, 32 or 64. */
static void append_number(field_sink *s, uint64_t v)
{
    int bytes = v < 1 << 6 ? 1 : v < 1 << 14 ? 2 : v <= UINT32_MAX ? 4 : 8;
    if (bytes == 2)
        v |= 0x4000;
    else if (bytes > 2)
        append_byte(s, bytes == 4 ? 0x80 : 0x81);
    while (bytes--)
        append_byte(s, (unsigned)(v >> (8 * bytes)) & 0xff);
}

void sink_unsigned(field_sink *s, uint64_t v)
{
    if (s->io) {
        RM_SaveUnsigned(s->io, v);
        return;
    }
    append_number(s, FIELD_UNSIGNED);
    append_number(s, v);
}

static void append_little(field_sink *s, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        append_byte(s, (unsigned)(v >> (8 * i)) & 0xff);
}

void sink_double(field_sink *s, double d)
{
    if (s->io) {
        RM_SaveDouble(s->io, d);
        return;
    }
    uint64_t v;
    memcpy(&v, &d, 8);
    append_number(s, FIELD_DOUBLE);
    append_little(s, v, 8);
}

void sink_string(field_sink *s, const void *p, size_t len)
{
    if (s->io) {
        RM_SaveStringBuffer(s->io, p, len);
        return;
    }
    append_number(s, FIELD_STRING);
    append_number(s, len);
    if (len)
        append(s, p, len);
}

field_sink payload_begin(const char *name, int version)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    field_sink s = {.room = 256};
    s.bytes = RM_Alloc(s.room);
    uint64_t id = 0;
    for (int i = 0; i < 9; i++)
        id = id << 6 | (uint64_t)(strchr(letters, name[i]) - letters);
    append_byte(&s, MODULE_VALUE);
    append_number(&s, id << 10 | (uint64_t)version);
    return s;
}

/* The CRC-64 that the server knows: reflected, polynomial ad93d23594c935a9. */
static uint64_t crc64(const char *p, size_t len)
{
    uint64_t table[256], crc = 0;
    for (unsigned i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x95ac9329ac4bc9b5u : 0);
    }
    for (size_t i = 0; i < len; i++)
        crc = table[(crc ^ (unsigned char)p[i]) & 0xff] ^ crc >> 8;
    return crc;
}

void payload_end(field_sink *s)
{
    append_number(s, FIELD_END);
    append_little(s, RDB_VERSION, 2);
    append_little(s, crc64(s->bytes, s->len), 8);
}
