/* frontier.c - writes, reads and walks the log of frontier.h. */
#include "frontier.h"
#include "seed.h"
#include "seen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEAD = 40, FRAME = 16, VERSION = 1, HEADER_MOST = 512 };
#define BATCH_MOST (256u << 20)

struct frontier {
    int fd;
    char path[4096];
    uint64_t seed, size, count, cut;
    uint64_t outputs[FRONTIER_OUTPUTS];
    buf batch;     /* FRAME and output sizes are put in front when it is written */
    size_t groups; /* in the batch */
    uint64_t group_at;
    group *open;
};

static void put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}
static void put_u64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}
static uint32_t get_u32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static uint64_t get_u64(const uint8_t *p)
{
    return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}

const char *outcome_name(int outcome)
{
    static const char *const names[] = {"ok",        "robots",  "dns",    "connect",
                                        "tls",       "timeout", "broken", "private",
                                        "redirects", "host",    "limit"};
    return outcome >= 0 && outcome < OUT_KINDS ? names[outcome] : "unknown";
}

/* ---- open and close ---------------------------------------------------------- */

static frontier *open_file(const char *dir, int flags)
{
    frontier *f = kit_alloc(sizeof *f);
    snprintf(f->path, sizeof f->path, "%s/frontier.log", dir);
    f->fd = open(f->path, flags | O_CLOEXEC, 0666);
    if (f->fd < 0 && errno == EEXIST)
        kit_die("%s already holds a crawl: resume it with --resume %s", dir, dir);
    if (f->fd < 0)
        kit_die("%s: %s", f->path, strerror(errno));
    if ((flags & O_ACCMODE) != O_RDONLY && flock(f->fd, LOCK_EX | LOCK_NB) < 0)
        kit_die("%s: another crawler works on it", f->path);
    return f;
}

static uint64_t checksum(uint64_t seed, uint64_t at, const void *p, size_t len)
{
    return seen_hash_seeded(seed ^ at * 0x9e3779b97f4a7c15u, p, len);
}

static void write_all(frontier *f, const void *p, size_t n, uint64_t at)
{
    const char *s = p;
    while (n) {
        ssize_t k = pwrite(f->fd, s, n, (off_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            kit_die("%s: %s (what was committed is safe; --resume goes on)", f->path,
                    strerror(errno));
        s += k;
        n -= (size_t)k;
        at += (uint64_t)k;
    }
}

static size_t read_some(const frontier *f, void *p, size_t n, uint64_t at)
{
    size_t got = 0;
    while (got < n) {
        ssize_t k = pread(f->fd, (char *)p + got, n - got, (off_t)(at + got));
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            kit_die("%s: %s", f->path, strerror(errno));
        if (k == 0)
            break;
        got += (size_t)k;
    }
    return got;
}

static void write_head(frontier *f, uint64_t seed)
{
    uint8_t head[HEAD] = "SEENCRWL";
    f->seed = seed;
    put_u32(head + 8, VERSION);
    put_u64(head + 16, seed);
    put_u64(head + 24, (uint64_t)time(NULL));
    put_u64(head + 32, checksum(0, 0, head, 32));
    write_all(f, head, HEAD, 0);
    f->size = HEAD;
}

frontier *frontier_create(const char *dir, uint64_t seed)
{
    frontier *f = open_file(dir, O_RDWR | O_CREAT | O_EXCL);
    write_head(f, seed);
    return f;
}

/* ---- walking ------------------------------------------------------------------- */

typedef struct reader {
    const uint8_t *p, *end;
    bool bad;
} reader;

static uint64_t next_varint(reader *r)
{
    uint64_t n;
    if (!read_varint(&r->p, r->end, &n))
        r->bad = true, n = 0;
    return n;
}

/* Common types take one byte. */
static const char *const types[] = {"",
                                    "text/html",
                                    "application/xhtml+xml",
                                    "text/plain",
                                    "application/xml",
                                    "text/xml",
                                    "application/pdf",
                                    "image/jpeg",
                                    "image/png",
                                    "application/json"};
enum { TYPES = sizeof types / sizeof *types };

static void put_type(buf *b, const char *type)
{
    for (int i = 0; i < TYPES; i++)
        if (!strcmp(types[i], type)) {
            buf_varint(b, (uint64_t)i);
            return;
        }
    buf_varint(b, TYPES + strlen(type));
    buf_text(b, type);
}

static void get_type(reader *r, char out[64])
{
    uint64_t n = next_varint(r);
    out[0] = 0;
    if (n < TYPES) {
        strcpy(out, types[n]);
    } else if (n - TYPES < 64 && n - TYPES <= (uint64_t)(r->end - r->p)) {
        memcpy(out, r->p, n - TYPES);
        out[n - TYPES] = 0;
        r->p += n - TYPES;
    } else {
        r->bad = true;
    }
}

static void get_group(reader *r, group *g)
{
    g->kind = (int)next_varint(r);
    uint64_t done = next_varint(r);
    g->has_done = done > 0;
    g->done_id = done - 1;
    g->done_at = next_varint(r);
    g->status = (int)next_varint(r);
    g->outcome = (int)next_varint(r);
    get_type(r, g->type);
    g->size = next_varint(r);
    g->depth = (unsigned)next_varint(r);
    g->hops = (unsigned)next_varint(r);
    g->first_id = next_varint(r);
    g->links = next_varint(r);
    uint64_t n = next_varint(r);
    if (n >= sizeof g->origin || n > (uint64_t)(r->end - r->p)) {
        r->bad = true;
        return;
    }
    memcpy(g->origin, r->p, n);
    g->origin[n] = 0;
    r->p += n;
}

static void get_entry(reader *r, const group *g, char text[URL_ROOM], size_t *len,
                      uint64_t *index, uint64_t *back)
{
    *back = next_varint(r);
    *index = next_varint(r);
    uint64_t n = next_varint(r), own = n >> 1;
    size_t prefix = n & 1 ? 0 : strlen(g->origin);
    if (r->bad || own > (uint64_t)(r->end - r->p) || own + prefix >= URL_ROOM) {
        r->bad = true;
        *len = 0;
        return;
    }
    memcpy(text, g->origin, prefix);
    memcpy(text + prefix, r->p, own);
    *len = prefix + own;
    text[*len] = 0;
    r->p += own;
}

/* Reads the groups of one batch; false if they contradict themselves. With a good
 * checksum that is a bug or a forgery. */
static bool walk_batch(frontier *f, const uint8_t *p, size_t len, size_t groups,
                       uint64_t at, const walker *w)
{
    reader r = {p, p + len, false};
    group g;
    char text[URL_ROOM];
    for (int i = 0; i < FRONTIER_OUTPUTS; i++)
        f->outputs[i] = next_varint(&r);
    for (size_t i = 0; i < groups && !r.bad; i++) {
        get_group(&r, &g);
        if (r.bad || g.first_id != f->count)
            return false;
        if (w && w->group_seen)
            w->group_seen(w->ctx, &g);
        for (size_t k = 0; k < g.links; k++) {
            uint64_t index, back, entry_at = at + (uint64_t)(r.p - p);
            size_t n;
            get_entry(&r, &g, text, &n, &index, &back);
            if (r.bad || index != k)
                return false;
            if (w && w->entry_seen)
                w->entry_seen(w->ctx, &g, g.first_id + k, entry_at, text, n);
        }
        f->count += g.links;
    }
    return !r.bad && r.p == r.end;
}

/* Walks from the first batch to LIMIT or to a bad batch; returns where it stopped. */
static uint64_t walk_all(frontier *f, uint64_t limit, const walker *w)
{
    uint64_t at = HEAD;
    uint8_t frame[FRAME];
    buf b = {0};
    f->count = 0;
    while (at + FRAME <= limit) {
        if (read_some(f, frame, FRAME, at) < FRAME)
            break;
        uint32_t len = get_u32(frame), groups = get_u32(frame + 4);
        if (!len || len > BATCH_MOST || at + FRAME + len > limit)
            break;
        b.len = 0;
        buf_room(&b, len);
        if (read_some(f, b.p, len, at + FRAME) < len ||
            checksum(f->seed ^ groups, at, b.p, len) != get_u64(frame + 8))
            break;
        if (!walk_batch(f, (uint8_t *)b.p, len, groups, at + FRAME, w))
            kit_die("%s: damaged at byte %llu", f->path, (unsigned long long)at);
        at += FRAME + len;
    }
    free(b.p);
    return at;
}

frontier *frontier_open(const char *dir, bool read_only)
{
    frontier *f = open_file(dir, read_only ? O_RDONLY : O_RDWR | O_CREAT);
    uint8_t head[HEAD];
    struct stat st;
    if (fstat(f->fd, &st) < 0)
        kit_die("%s: %s", f->path, strerror(errno));
    /* The crawler was killed before it wrote the header: begin now. */
    if (st.st_size < HEAD && !read_only)
        write_head(f, kit_new_seed());
    if (read_some(f, head, HEAD, 0) < HEAD || memcmp(head, "SEENCRWL", 8) ||
        get_u64(head + 32) != checksum(0, 0, head, 32))
        kit_die("%s is not the log of a crawl", f->path);
    if (get_u32(head + 8) != VERSION)
        kit_die("%s was made by a newer version", f->path);
    if (fstat(f->fd, &st) < 0)
        kit_die("%s: %s", f->path, strerror(errno));
    f->seed = get_u64(head + 16);
    f->size = walk_all(f, (uint64_t)st.st_size, NULL);
    f->cut = (uint64_t)st.st_size - f->size;
    if (f->cut && !read_only && ftruncate(f->fd, (off_t)f->size) < 0)
        kit_die("%s: %s", f->path, strerror(errno));
    return f;
}

void frontier_walk(frontier *f, const walker *w)
{
    walk_all(f, f->size, w);
}

void frontier_close(frontier *f)
{
    if (!f)
        return;
    close(f->fd);
    free(f->batch.p);
    free(f);
}

uint64_t frontier_seed(const frontier *f)
{
    return f->seed;
}
uint64_t frontier_count(const frontier *f)
{
    return f->count;
}
uint64_t frontier_bytes(const frontier *f)
{
    return f->size;
}
uint64_t frontier_cut(const frontier *f)
{
    return f->cut;
}
const uint64_t *frontier_outputs(const frontier *f)
{
    return f->outputs;
}

/* ---- appending ------------------------------------------------------------------ */

/* Room for the frame and the output sizes in front of the batch. The sizes are padded
 * to their longest form, so that the positions of entries are known before they are
 * written. */
enum { OUTPUTS_LEN = FRONTIER_OUTPUTS * 10 };

static void put_long_varint(uint8_t *p, uint64_t n)
{
    for (int i = 0; i < 9; i++, n >>= 7)
        p[i] = (uint8_t)(n | 0x80);
    p[9] = (uint8_t)n;
}

size_t frontier_pending(const frontier *f)
{
    return f->batch.len;
}

void frontier_begin(frontier *f, group *g)
{
    buf *b = &f->batch;
    if (!b->len) {
        memset(buf_room(b, FRAME + OUTPUTS_LEN), 0, FRAME + OUTPUTS_LEN);
        b->len = FRAME + OUTPUTS_LEN;
        f->groups = 0;
    }
    g->first_id = f->count;
    g->links = 0;
    f->open = g;
}

/* The group's header is complete only when its entries are counted, but their positions
 * depend on its length. So the count has a fixed width: three bytes of varint, enough
 * for two million links. */
enum { LINKS_MOST = 1 << 21 };

static void put_group(buf *b, const group *g)
{
    size_t n = strlen(g->origin);
    buf_varint(b, (uint64_t)g->kind);
    buf_varint(b, g->has_done ? g->done_id + 1 : 0);
    buf_varint(b, g->done_at);
    buf_varint(b, (uint64_t)g->status);
    buf_varint(b, (uint64_t)g->outcome);
    put_type(b, g->type);
    buf_varint(b, g->size);
    buf_varint(b, g->depth);
    buf_varint(b, g->hops);
    buf_varint(b, g->first_id);
    uint8_t links[3] = {(uint8_t)(g->links | 0x80), (uint8_t)(g->links >> 7 | 0x80),
                        (uint8_t)(g->links >> 14)};
    buf_add(b, links, 3);
    buf_varint(b, n);
    buf_add(b, g->origin, n);
}

uint64_t frontier_add(frontier *f, const char *text, size_t len, uint64_t *id)
{
    buf *b = &f->batch;
    group *g = f->open;
    if (g->links == 0) {
        f->group_at = b->len;
        put_group(b, g);
    }
    if (g->links == LINKS_MOST - 1)
        return 0;
    uint64_t at = f->size + b->len;
    size_t prefix = strlen(g->origin);
    bool same = prefix && len > prefix && text[prefix] == '/' &&
                !memcmp(text, g->origin, prefix);
    buf_varint(b, b->len - f->group_at);
    buf_varint(b, g->links);
    if (!same)
        prefix = 0;
    buf_varint(b, (uint64_t)(len - prefix) << 1 | !same);
    buf_add(b, text + prefix, len - prefix);
    *id = f->count++;
    g->links++;
    return at;
}

void frontier_end(frontier *f)
{
    buf *b = &f->batch;
    group *g = f->open;
    if (g->links == 0) {
        g->origin[0] = 0; /* there is no entry that needs it */
        put_group(b, g);
    } else {
        size_t full = b->len;
        /* The same header again, now with the count: same length, same place. */
        b->len = f->group_at;
        put_group(b, g);
        b->len = full;
    }
    f->groups++;
    f->open = NULL;
}

void frontier_commit(frontier *f, const uint64_t outputs[FRONTIER_OUTPUTS], bool sync)
{
    buf *b = &f->batch;
    if (b->len) {
        uint8_t *p = (uint8_t *)b->p;
        uint32_t len = (uint32_t)(b->len - FRAME);
        for (int i = 0; i < FRONTIER_OUTPUTS; i++)
            put_long_varint(p + FRAME + 10 * i, f->outputs[i] = outputs[i]);
        put_u32(p, len);
        put_u32(p + 4, (uint32_t)f->groups);
        put_u64(p + 8, checksum(f->seed ^ f->groups, f->size, p + FRAME, len));
        write_all(f, p, b->len, f->size);
        f->size += b->len;
        b->len = 0;
    }
    if (sync && fdatasync(f->fd) < 0)
        kit_die("%s: %s", f->path, strerror(errno));
}

/* ---- reading one entry ----------------------------------------------------------- */

/* Up to N bytes from AT on, committed or not. */
static size_t read_any(frontier *f, void *p, size_t n, uint64_t at)
{
    if (at >= f->size) {
        uint64_t off = at - f->size;
        size_t have = off < f->batch.len ? f->batch.len - off : 0;
        if (n > have)
            n = have;
        memcpy(p, f->batch.p + off, n);
        return n;
    }
    return read_some(f, p, at + n > f->size ? f->size - at : n, at);
}

void frontier_read(frontier *f, uint64_t at, entry *e)
{
    /* Varints first; then the group, which knows the origin; then the address. */
    uint8_t head[HEADER_MOST], own[30 + URL_ROOM];
    reader r = {own, own + read_any(f, own, 30 + 512, at), false};
    uint64_t back = next_varint(&r), index, n;
    group g;
    reader h = {head, head, false};
    if (!r.bad && back <= at)
        h.end = head + read_any(f, head, sizeof head, at - back);
    get_group(&h, &g);
    index = next_varint(&r);
    n = next_varint(&r) >> 1;
    if (!r.bad && n < URL_ROOM && n > (uint64_t)(r.end - r.p)) {
        size_t used = (size_t)(r.p - own);
        r.end = own + read_any(f, own, used + n, at);
    }
    r.p = own;
    get_entry(&r, &g, e->text, &e->len, &index, &back);
    if (r.bad || h.bad)
        kit_die("%s: no entry at byte %llu", f->path, (unsigned long long)at);
    e->id = g.first_id + index;
    e->at = at;
    e->parent_at = g.has_done ? g.done_at : 0;
    e->depth = g.depth;
    e->hops = g.hops;
    e->kind = g.kind;
}
