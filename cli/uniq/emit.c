/* emit.c - the chosen lines of a batch.
 *
 * Neighbours that stay are moved together, down to the end of those before them, so
 * that a block leaves in one write. A line that ended its file without a terminator
 * is written without one, unless another line follows it. */
#include "emit.h"
#include "say.h"

#include <errno.h>
#include <string.h>

sink sink_open(const char *path, int term)
{
    sink s = {.out = kit_output_open(path), .term = term};
    if (!s.out)
        kit_die("%s: %s", path, strerror(errno));
    return s;
}

void sink_bytes(sink *s, const void *p, size_t len, bool open_end)
{
    if (!len && !open_end)
        return;
    if (s->owed) {
        char t = (char)s->term;
        s->owed = false;
        if (kit_output_write(s->out, &t, 1) < 0)
            kit_output_fail(s->out);
    }
    if (kit_output_write(s->out, p, len) < 0)
        kit_output_fail(s->out);
    s->owed = open_end;
}

/* Where in [I, N) the flags change from VALUE: eight at a time, because on real data
 * their order cannot be guessed, and a branch guessed wrong costs as much as a line. */
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

void sink_pack(batch *b, bool want)
{
    const bool *dup = b->dup;
    size_t n = b->n, i = 0;
    char *to = b->block.data;
    b->kept_lines = 0;
    b->kept_open = false;
    while ((i = run_end(dup, i, n, !want)) < n) {
        size_t j = run_end(dup, i, n, want);
        seen_key span = batch_span(b, i, j);
        b->kept_open = j == n && b->block.open_end;
        b->kept_lines += j - i;
        if (to != (const char *)span.data)
            memmove(to, span.data, span.len);
        to += span.len;
        i = j;
    }
    b->kept = b->block.data;
    b->kept_len = (size_t)(to - b->block.data);
}

/* Whoever reads us shall see each block when it is done, not when 64 KiB are. */
static void flush(sink *s)
{
    if (kit_output_flush(s->out) < 0)
        kit_output_fail(s->out);
}

void sink_packed(sink *s, const batch *b)
{
    s->lines += b->kept_lines;
    sink_bytes(s, b->kept, b->kept_len, b->kept_open);
    flush(s);
}

void sink_lines(sink *s, batch *b, bool want, bool eats)
{
    if (eats) {
        sink_pack(b, want);
        sink_packed(s, b);
        return;
    }
    size_t n = b->n, i = 0;
    while ((i = run_end(b->dup, i, n, !want)) < n) {
        size_t j = run_end(b->dup, i, n, want);
        seen_key span = batch_span(b, i, j);
        s->lines += j - i;
        sink_bytes(s, span.data, span.len, j == n && b->block.open_end);
        i = j;
    }
    flush(s);
}

void sink_finish(sink *s, bool sync)
{
    if (s->out && kit_output_finish(s->out, sync) < 0)
        kit_output_fail(s->out);
}

void sink_commit(sink *s)
{
    if (s->out && kit_output_commit(s->out) < 0)
        kit_output_fail(s->out);
}

void sink_close(sink *s)
{
    kit_output_close(s->out);
    s->out = NULL;
}
