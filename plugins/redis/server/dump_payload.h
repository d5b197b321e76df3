/* dump_payload.h - the fields of a value, to the RDB or into the bytes that DUMP makes.
 *
 * RedisBloom's sketches have no command that takes their bytes, so a rewritten
 * append-only file restores them: RESTORE key 0 PAYLOAD. The server makes such a
 * payload only for a key it holds in the current database, so it is made here, field by
 * field as the RDB is written. */
#ifndef SEEN_REDIS_DUMP_PAYLOAD_H
#define SEEN_REDIS_DUMP_PAYLOAD_H
#include "server/module_api.h"

/* Where fields go: to the server if IO is set, otherwise behind BYTES. */
typedef struct field_sink {
    rm_io *io;
    char *bytes; /* RM_Free frees them */
    size_t len, room;
} field_sink;

void sink_unsigned(field_sink *s, uint64_t v);
void sink_double(field_sink *s, double d);
void sink_string(field_sink *s, const void *p, size_t len);

/* Begins a payload for a value of the type with this NAME and VERSION. */
field_sink payload_begin(const char *name, int version);
/* Ends it: its bytes are what RESTORE takes on every server from Redis 7.0 on. */
void payload_end(field_sink *s);

#endif
