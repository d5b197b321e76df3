/* thrift.c - Thrift's compact protocol: fields, lists, strings, and skipping. */
#include "foreign/thrift.h"

#define MAX_DEPTH 32

static uint8_t byte(sn_thrift *t)
{
    if (t->bad || t->p >= t->end) {
        t->bad = true;
        return 0;
    }
    return *t->p++;
}

uint64_t sn_thrift_varint(sn_thrift *t)
{
    uint64_t x = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t b = byte(t);
        x |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return t->bad ? 0 : x;
    }
    t->bad = true;
    return 0;
}

int64_t sn_thrift_int(sn_thrift *t)
{
    uint64_t x = sn_thrift_varint(t);
    return (int64_t)(x >> 1 ^ (0 - (x & 1)));
}

int sn_thrift_field(sn_thrift *t, uint32_t *id)
{
    uint8_t b = byte(t);
    if (t->bad || b == 0)
        return 0;
    *id = b >> 4 ? *id + (b >> 4) : (uint32_t)sn_thrift_int(t);
    return t->bad ? 0 : b & 15;
}

const uint8_t *sn_thrift_binary(sn_thrift *t, size_t *len)
{
    uint64_t n = sn_thrift_varint(t);
    const uint8_t *at = t->p;
    *len = 0;
    if (t->bad || n > (uint64_t)(t->end - t->p)) {
        t->bad = true;
        return at;
    }
    *len = (size_t)n;
    t->p += n;
    return at;
}

uint64_t sn_thrift_list(sn_thrift *t, int *type)
{
    uint8_t b = byte(t);
    uint64_t n = b >> 4;
    *type = b & 15;
    if (n == 15)
        n = sn_thrift_varint(t);
    /* Every element takes at least one byte: a longer list must be false. */
    if (n > (uint64_t)(t->end - t->p))
        t->bad = true;
    return t->bad ? 0 : n;
}

static void forward(sn_thrift *t, uint64_t n)
{
    if (n > (uint64_t)(t->end - t->p))
        t->bad = true;
    else
        t->p += n;
}

/* A boolean takes no byte as a field and one byte as an element. */
static void skip(sn_thrift *t, int type, bool element)
{
    uint32_t id = 0;
    uint64_t n;
    size_t len;
    int inner;
    if (t->bad || ++t->depth > MAX_DEPTH) {
        t->bad = true;
        return;
    }
    switch (type) {
    case SN_T_TRUE:
    case SN_T_FALSE:
        forward(t, element);
        break;
    case SN_T_BYTE:
        forward(t, 1);
        break;
    case SN_T_I16:
    case SN_T_I32:
    case SN_T_I64:
        sn_thrift_varint(t);
        break;
    case SN_T_DOUBLE:
        forward(t, 8);
        break;
    case SN_T_BINARY:
        sn_thrift_binary(t, &len);
        break;
    case SN_T_LIST:
    case SN_T_SET:
        n = sn_thrift_list(t, &inner);
        for (uint64_t i = 0; i < n && !t->bad; i++)
            skip(t, inner, true);
        break;
    case SN_T_MAP:
        n = sn_thrift_varint(t);
        if (n && n <= (uint64_t)(t->end - t->p)) {
            uint8_t types = byte(t);
            for (uint64_t i = 0; i < n && !t->bad; i++) {
                skip(t, types >> 4, true);
                skip(t, types & 15, true);
            }
        } else if (n) {
            t->bad = true;
        }
        break;
    case SN_T_STRUCT:
        while ((inner = sn_thrift_field(t, &id)) > 0)
            skip(t, inner, false);
        break;
    default:
        t->bad = true;
    }
    t->depth--;
}

void sn_thrift_skip(sn_thrift *t, int type)
{
    skip(t, type, false);
}
