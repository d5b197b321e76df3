/* thrift.h - iterates over structures of Thrift's compact protocol in untrusted bytes.
 *
 *     sn_thrift t = {p, end};
 *     uint32_t id = 0;
 *     for (int type; (type = sn_thrift_field(&t, &id)) > 0;)
 *         if (id == 1 && type == SN_T_I32) x = sn_thrift_int(&t);
 *         else sn_thrift_skip(&t, type);
 *
 * After any error t.bad is set, everything reads as zero and there are no more
 * fields. */
#ifndef SN_THRIFT_H
#define SN_THRIFT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_thrift {
    const uint8_t *p, *end;
    bool bad;
    int depth;
} sn_thrift;

enum {
    SN_T_TRUE = 1,
    SN_T_FALSE = 2,
    SN_T_BYTE = 3,
    SN_T_I16 = 4,
    SN_T_I32 = 5,
    SN_T_I64 = 6,
    SN_T_DOUBLE = 7,
    SN_T_BINARY = 8,
    SN_T_LIST = 9,
    SN_T_SET = 10,
    SN_T_MAP = 11,
    SN_T_STRUCT = 12
};

uint64_t sn_thrift_varint(sn_thrift *t);
int64_t sn_thrift_int(sn_thrift *t); /* zigzag */

/* The type of the next field, and its id in *ID (set it to 0 first); 0 at the end. */
int sn_thrift_field(sn_thrift *t, uint32_t *id);
void sn_thrift_skip(sn_thrift *t, int type);

/* The number of elements of the list or set that follows, all of *TYPE. */
uint64_t sn_thrift_list(sn_thrift *t, int *type);
/* A string in place. */
const uint8_t *sn_thrift_binary(sn_thrift *t, size_t *len);

/* end - p is the number of bytes left. */
#endif
