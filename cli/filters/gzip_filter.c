/* gzip_filter.c - unpacks a filter, page by page, into memory that is there only where
 * bits are set. */
#include "gzip_filter.h"
#include "human_numbers.h"
#include "messages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

bool packed_starts(const char *name, const uint8_t *want, size_t n)
{
    uint8_t head[8];
    FILE *raw = fopen(name, "rb");
    if (!raw)
        return false;
    bool is = fread(head, 1, 2, raw) == 2 && head[0] == 0x1f && head[1] == 0x8b;
    fclose(raw);
    gzFile in = is ? gzopen(name, "rb") : NULL;
    if (!in)
        return false;
    is = gzread(in, head, 8) == 8 && (!want || !memcmp(head, want, n));
    gzclose(in);
    return is;
}

/* DCSO's header says how many bits follow; a little more may be attached to them. */
enum { DCSO_HEADER = 48, ATTACHED = 16 << 20 };

/* Random bits do not compress well: 88 times if one bit in a thousand is set. So pages
 * with set bits may take at most that many times the bytes read, and some. */
enum { PAGE = 4096, CHUNK = 16 * PAGE, PACKED_BEST = 128, ALWAYS = 64 << 20 };

/* The most bytes that a file with this beginning may unpack to. */
static uint64_t most_bytes(const uint8_t *head, size_t len)
{
    uint64_t m = 0, machine = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2;
    machine *= (uint64_t)sysconf(_SC_PAGESIZE);
    if (len < DCSO_HEADER || memcmp(head, "\1\0\0\0\0\0\0", 8) != 0)
        return machine;
    for (int i = 7; i >= 0; i--)
        m = m << 8 | head[32 + i];
    return m / 8 < machine ? DCSO_HEADER + m / 8 + 8 + ATTACHED : machine;
}

static uint8_t *reserve(const char *name, uint64_t len)
{
    void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char size[24];
    if (p == MAP_FAILED)
        kit_die("%s: no memory to unpack it: at most %s by its header", name,
                kit_show_bytes((double)len, size));
    madvise(p, len, MADV_NOHUGEPAGE); /* one set bit must not take 2 MiB */
    return p;
}

static bool all_zero(const uint8_t *p, size_t len)
{
    return len == 0 || (p[0] == 0 && memcmp(p, p + 1, len - 1) == 0);
}

void packed_read(const char *name, named_filter *s)
{
    static uint8_t chunk[CHUNK];
    gzFile in = gzopen(name, "rb");
    uint64_t most = 0, kept = 0;
    uint8_t *to = NULL;
    char size[24];
    int n;
    if (!in)
        kit_die("%s: %s", name, strerror(errno));
    s->piped_len = 0;
    while ((n = gzread(in, chunk, CHUNK)) > 0) {
        if (!to)
            to = reserve(name, most = most_bytes(chunk, (size_t)n));
        if ((uint64_t)n > most - s->piped_len)
            kit_die("%s: unpacks to more than the %s that %s", name,
                    kit_show_bytes((double)most, size),
                    most_bytes(chunk, 0) == most ? "this machine can hold"
                                                 : "the m of its header allows");
        for (size_t at = 0, len; at < (size_t)n; at += len) {
            len = (size_t)n - at < PAGE ? (size_t)n - at : PAGE;
            if (all_zero(chunk + at, len))
                continue;
            memcpy(to + s->piped_len + at, chunk + at, len);
            kept += len;
        }
        s->piped_len += (size_t)n;
        if (kept > ALWAYS + (uint64_t)gzoffset(in) * PACKED_BEST)
            kit_die("%s: unpacks to more than %d times its size: not a filter's bits "
                    "(gunzip it if it is one)",
                    name, PACKED_BEST);
    }
    int wrong;
    const char *why = gzerror(in, &wrong);
    if (n < 0 || wrong != Z_OK)
        kit_die("%s: %s", name, *why ? why : "damaged");
    gzclose(in);
    s->piped = to;
    s->piped_room = most;
}
