/* look_inside.c - where in a filter a key lies, found by asking: for pictures of small ones.
 *
 * Only seen.h is used: a bit is read for a key if flipping it turns its yes into a no. That is
 * one question for each bit of the layer, so the caller keeps to small ones. */
#include "seen.h"
#include <string.h>

#define EXPORT(name) __attribute__((export_name(#name))) name
#define IMPORT(name) __attribute__((import_module("seen"), import_name(#name)))

IMPORT(piece) void engine_piece(const void *p, size_t len);

uint64_t EXPORT(key_hash)(const seen_filter *f, const void *key, size_t len)
{
    return seen_hash(f, key, len);
}

double EXPORT(filter_predicts)(const seen_filter *f)
{
    return seen_error_predicted(f);
}

/* Leaves only LAYER of F, with all its bits set if EVERY; its body. */
static uint8_t *alone(seen_filter *f, unsigned layer, bool every, size_t *len)
{
    void *body;
    uint8_t *ours = NULL;
    size_t n;
    for (unsigned l = 0; seen_body_to_write(f, l, &body, &n) == SEEN_OK; l++) {
        if (l == layer) {
            ours = body;
            *len = n;
        }
        if (l != layer || every)
            memset(body, l == layer ? 0xff : 0, n);
    }
    return ours;
}

/* Hands over, as little-endian 32-bit numbers, the bits of LAYER that are read for KEY: in
 * Bloom filters for any key, in other kinds for one that is found there. Only the bytes FROM
 * to TO are flipped: counts and offsets that a kind keeps in its body are not for guessing. */
int EXPORT(key_places)(const seen_filter *f, unsigned layer, uint32_t from, uint32_t to,
                       const void *key, size_t len)
{
    seen_kind kind = seen_kind_of(f);
    bool every = kind == SEEN_CLASSIC || kind == SEEN_BLOCKED || kind == SEEN_SPLIT;
    seen_filter *copy;
    int rc = seen_copy(f, &copy);
    if (rc < 0)
        return rc;
    size_t n;
    uint64_t h = seen_hash(f, key, len);
    uint8_t *body = alone(copy, layer, every, &n);
    if (body && seen_has_hash(copy, h) == 1) {
        for (uint32_t i = 8 * from; i < 8 * to && i < 8 * n; i++) {
            body[i / 8] ^= (uint8_t)(1u << i % 8);
            if (seen_has_hash(copy, h) == 0)
                engine_piece(&i, sizeof i);
            body[i / 8] ^= (uint8_t)(1u << i % 8);
        }
    }
    seen_free(copy);
    return SEEN_OK;
}
