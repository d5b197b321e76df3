/* sketch_types.h - what keys of CMS.*, TOPK.* and TDIGEST.* hold.
 *
 * One layout each: RedisBloom's, in name, fields and bits. Bodies are libseen's:
 * seen_cms with RedisBloom's hash, seen_hk, seen_tdigest. */
#ifndef SEEN_REDIS_SKETCH_TYPES_H
#define SEEN_REDIS_SKETCH_TYPES_H
#include "server/value_type.h"
#include <seen_sketch.h>

extern value_family cms_family, topk_family, tdigest_family;
extern value_type cms_type, topk_type, tdigest_type;

#endif
