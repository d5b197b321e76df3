/* emit.c - the chosen lines of a batch.
 *
 * Neighbours that stay are moved together, down to the end of those before them, so
 * that a block leaves in one write. A line that ended its file without a terminator
 * is written without one, unless another line follows it. */
#include "emit.h"
#include "messages.h"

#include <errno.h>
#include <string.h>

emitter emit_open(const char *path, int term)
{
    emitter e = {.out = kit_output_open(path), .term = term};
    if (!e.out)
        kit_die("%s: %s", path, strerror(errno));
    return e;
}

void emit_bytes(emitter *e, const void *p, size_t len, bool open_end)
{
    if (!len && !open_end)
        return;
    if (e->owed) {
        char t = (char)e->term;
        e->owed = false;
        if (kit_output_write(e->out, &t, 1) < 0)
            kit_output_fail(e->out);
    }
    if (kit_output_write(e->out, p, len) < 0)
        kit_output_fail(e->out);
    e->owed = open_end;
}

void emit_header(emitter *e, const keyspec *k)
{
    seen_key header = keyspec_header(k);
    char t = (char)e->term;
    if (!e->out || e->headed || !header.data)
        return;
    e->headed = true;
    emit_bytes(e, header.data, header.len, false);
    emit_bytes(e, &t, 1, false);
}

/* Where in [I, N) the flags change from VALUE: eight at a time, because on real data
 * their order cannot be predicted, and a mispredicted branch costs as much as a line.
 */
static inline size_t run_end(const bool *flag, size_t i, size_t n, bool value)
{
    uint64_t all = value ? 0x0101010101010101 : 0, word;
    for (; i + 8 <= n; i += 8) {
        memcpy(&word, flag + i, 8);
        word ^= all;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        if (word)
            return i + (size_t)__builtin_ctzll(word) / 8;
    }
    while (i < n && flag[i] == value)
        i++;
    return i;
}

packed_lines emit_pack(batch *b, bool want)
{
    const bool *dup = b->dup;
    size_t n = b->n, i = 0;
    char *to = b->block.data;
    packed_lines p = {.bytes = to};
    while ((i = run_end(dup, i, n, !want)) < n) {
        size_t j = run_end(dup, i, n, want);
        seen_key span = batch_span(b, i, j);
        p.open_end = j == n && b->block.open_end;
        p.lines += j - i;
        if (to != (const char *)span.data)
            memmove(to, span.data, span.len);
        to += span.len;
        i = j;
    }
    p.len = (size_t)(to - p.bytes);
    return p;
}

/* A reader of our output gets each block when it is done, not after 64 KiB. */
static void flush(emitter *e)
{
    if (kit_output_flush(e->out) < 0)
        kit_output_fail(e->out);
}

void emit_packed(emitter *e, const packed_lines *p)
{
    e->lines += p->lines;
    emit_bytes(e, p->bytes, p->len, p->open_end);
    flush(e);
}

void emit_lines(emitter *e, batch *b, bool want, bool in_place)
{
    if (in_place) {
        packed_lines p = emit_pack(b, want);
        emit_packed(e, &p);
        return;
    }
    size_t n = b->n, i = 0;
    while ((i = run_end(b->dup, i, n, !want)) < n) {
        size_t j = run_end(b->dup, i, n, want);
        seen_key span = batch_span(b, i, j);
        e->lines += j - i;
        emit_bytes(e, span.data, span.len, j == n && b->block.open_end);
        i = j;
    }
    flush(e);
}

void emit_finish(emitter *e, bool sync)
{
    if (e->out && kit_output_finish(e->out, sync) < 0)
        kit_output_fail(e->out);
}

void emit_commit(emitter *e)
{
    if (e->out && kit_output_commit(e->out) < 0)
        kit_output_fail(e->out);
}

void emit_close(emitter *e)
{
    kit_output_close(e->out);
    e->out = NULL;
}
