/* frontier.c - writes, reads and walks the log of frontier.h. */
#include "frontier.h"
#include "durable.h"
#include "file_kind.h"
#include "log_batch.h"
#include "cut_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEADER_MOST = 512, BLOCKS = 64, CACHED_BYTES = 16 << 10 };

struct frontier {
    int fd;
    char path[4096];
    uint64_t seed, size, count, cut;
    uint64_t outputs[FRONTIER_OUTPUTS];
    buf batch;     /* the frame and the output sizes go in front when it is written */
    size_t groups; /* in the batch */
    struct hole {
        uint64_t from, to;
    } * holes;
    size_t hole_count;
    unsigned rounds;
    uint64_t group_at;
    group *open;
    struct block {
        uint64_t number; /* of the block in the file, and one; 0: none */
        char *p;
    } block[BLOCKS]; /* of what is committed, and so never changes */
};

/* ---- open and close ---------------------------------------------------------- */

static frontier *open_file(const char *dir, int flags)
{
    frontier *f = kit_alloc(sizeof *f);
    snprintf(f->path, sizeof f->path, "%s/frontier.log", dir);
    kit_must_be_file(f->path);
    f->fd = open(f->path, flags | O_CLOEXEC, 0666);
    if (f->fd < 0 && errno == EEXIST)
        kit_die("%s already holds a crawl: resume it with --resume %s", dir, dir);
    if (f->fd < 0)
        kit_die("%s: %s", f->path, strerror(errno));
    if ((flags & O_ACCMODE) != O_RDONLY && flock(f->fd, LOCK_EX | LOCK_NB) < 0)
        kit_die("%s: another crawler works on it", f->path);
    return f;
}

static void write_all(frontier *f, const void *p, size_t n, uint64_t at)
{
    if (!write_at(f->fd, p, n, at))
        kit_die("%s: %s (what was committed is safe; resume later)", f->path,
                strerror(errno));
}

static size_t read_some(const frontier *f, void *p, size_t n, uint64_t at)
{
    ssize_t got = read_at(f->fd, p, n, at);
    if (got < 0)
        kit_die("%s: %s", f->path, strerror(errno));
    return (size_t)got;
}

static void write_head(frontier *f, uint64_t seed)
{
    uint8_t head[LOG_HEAD];
    f->seed = seed;
    log_head_write(head, &(log_head){LOG_VERSION, seed, (uint64_t)time(NULL)});
    write_all(f, head, LOG_HEAD, 0);
    f->size = LOG_HEAD;
    if (kit_sync_folder(f->path) < 0)
        kit_die("%s: %s", f->path, strerror(errno));
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
        /* Only a hole may hold the entries that are missing. */
        if (r.bad || g.first_id < f->count || (g.first_id > f->count && !f->hole_count))
            return false;
        for (size_t k = 0; k < g.links; k++) {
            uint64_t index, back, entry_at = at + (uint64_t)(r.p - p);
            size_t n;
            get_entry(&r, &g, text, &n, &index, &back);
            if (r.bad || index != k)
                return false;
            if (w && w->entry_seen)
                w->entry_seen(w->ctx, &g, g.first_id + k, entry_at, text, n);
        }
        g.record_at = at + (uint64_t)(r.p - p);
        if (r.bad || !page_record_read(&r.p, r.end, &g.record))
            return false;
        f->rounds += g.kind == GROUP_ROUND;
        if (w && w->group_seen)
            w->group_seen(w->ctx, &g);
        f->count = g.first_id + g.links;
    }
    return !r.bad && r.p == r.end;
}

static void add_hole(frontier *f, uint64_t from, uint64_t to)
{
    if (f->hole_count && f->holes[f->hole_count - 1].to >= to)
        return; /* known from an earlier walk */
    f->holes = kit_grow(f->holes, f->hole_count + 1, sizeof *f->holes);
    f->holes[f->hole_count++] = (struct hole){from, to};
}

/* Walks from the first batch to LIMIT or to a bad batch; returns where it stopped. */
static uint64_t walk_all(frontier *f, uint64_t limit, const walker *w)
{
    uint64_t at = LOG_HEAD;
    uint32_t groups;
    buf b = {0};
    f->count = f->rounds = 0;
    for (; batch_read(f->fd, f->seed, at, limit, &b, &groups);
         at += BATCH_FRAME + b.len)
        if (groups == BATCH_HOLE)
            add_hole(f, at, at + BATCH_FRAME + b.len);
        else if (!walk_batch(f, (uint8_t *)b.p, b.len, groups, at + BATCH_FRAME, w))
            kit_die("%s: the batch at byte %llu contradicts itself", f->path,
                    (unsigned long long)at);
    free(b.p);
    return at;
}

static void refuse(const frontier *f, const char *dir, const char *where, uint64_t from,
                   uint64_t to)
{
    kit_die("%s: %s (bytes %llu to %llu); 'seen crawl --repair %s' keeps a copy and "
            "saves all that is good",
            f->path, where, (unsigned long long)from, (unsigned long long)to, dir);
}

frontier *frontier_open(const char *dir, bool read_only, uint64_t seed)
{
    frontier *f = open_file(dir, read_only ? O_RDONLY : O_RDWR | O_CREAT);
    uint8_t raw[LOG_HEAD] = {0};
    log_head head;
    struct stat st;
    if (fstat(f->fd, &st) < 0)
        kit_die("%s: %s", f->path, strerror(errno));
    /* The crawler was killed before it wrote the header: begin now. */
    if (st.st_size < LOG_HEAD && !read_only)
        write_head(f, seed);
    if (read_some(f, raw, LOG_HEAD, 0) < LOG_HEAD || !log_head_read(raw, &head))
        refuse(f, dir, "the header of the log is damaged", 0, LOG_HEAD);
    log_check_version(f->path, head.version);
    if (fstat(f->fd, &st) < 0)
        kit_die("%s: %s", f->path, strerror(errno));
    uint64_t end = (uint64_t)st.st_size;
    f->seed = head.seed;
    f->size = walk_all(f, end, NULL);
    uint64_t good = f->size < end ? batch_find(f->fd, f->seed, f->size + 1, end) : end;
    if (good < end)
        refuse(f, dir, "the log is damaged", f->size, good);
    f->cut = end - f->size;
    if (f->cut && !read_only)
        cut_tail(f->fd, f->path, f->size);
    return f;
}

void frontier_walk(frontier *f, const walker *w)
{
    walk_all(f, f->size, w);
}

static void note_latest(void *ctx, const group *g)
{
    if (g->has_done)
        ((uint64_t *)ctx)[g->done_id] = g->record_at;
}

uint64_t *frontier_latest(frontier *f)
{
    uint64_t *latest = kit_alloc((f->count + 1) * sizeof *latest);
    walker w = {note_latest, NULL, latest};
    frontier_walk(f, &w);
    return latest;
}

void frontier_close(frontier *f)
{
    if (!f)
        return;
    close(f->fd);
    for (int i = 0; i < BLOCKS; i++)
        free(f->block[i].p);
    free(f->batch.p);
    free(f->holes);
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
bool frontier_repaired(const frontier *f)
{
    return f->hole_count > 0;
}
unsigned frontier_rounds(const frontier *f)
{
    return f->rounds;
}
const uint64_t *frontier_outputs(const frontier *f)
{
    return f->outputs;
}

/* ---- appending ------------------------------------------------------------------ */

/* Room for the frame and the output sizes in front of the batch. The sizes are padded
 * to their longest form, so that the positions of entries are known before they are
 * written. */
enum { OUTPUTS_LEN = FRONTIER_OUTPUTS * LONG_VARINT };

size_t frontier_pending(const frontier *f)
{
    return f->batch.len;
}

void frontier_begin(frontier *f, group *g)
{
    buf *b = &f->batch;
    if (!b->len) {
        memset(buf_room(b, BATCH_FRAME + OUTPUTS_LEN), 0, BATCH_FRAME + OUTPUTS_LEN);
        b->len = BATCH_FRAME + OUTPUTS_LEN;
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
    page_record_write(b, &g->record);
    f->groups++;
    f->open = NULL;
}

void frontier_commit(frontier *f, const uint64_t outputs[FRONTIER_OUTPUTS], bool sync)
{
    buf *b = &f->batch;
    if (b->len) {
        uint8_t *p = (uint8_t *)b->p;
        uint32_t len = (uint32_t)(b->len - BATCH_FRAME);
        for (int i = 0; i < FRONTIER_OUTPUTS; i++)
            put_long_varint(p + BATCH_FRAME + LONG_VARINT * i,
                            f->outputs[i] = outputs[i]);
        batch_frame(p, f->seed, f->size, len, (uint32_t)f->groups);
        write_all(f, p, b->len, f->size);
        f->size += b->len;
        b->len = 0;
    }
    if (sync && fdatasync(f->fd) < 0)
        kit_die("%s: %s", f->path, strerror(errno));
}

/* ---- reading one entry ----------------------------------------------------------- */

/* The block of the log that holds AT; NULL if it is not yet whole. Entries that wait in
 * the queues of many hosts were written close together: most are found without a call.
 */
static const char *block_at(frontier *f, uint64_t at)
{
    uint64_t number = at / CACHED_BYTES;
    struct block *b = &f->block[number % BLOCKS];
    if ((number + 1) * CACHED_BYTES > f->size)
        return NULL;
    if (b->number != number + 1) {
        if (!b->p)
            b->p = kit_alloc(CACHED_BYTES);
        b->number = 0;
        if (read_some(f, b->p, CACHED_BYTES, number * CACHED_BYTES) < CACHED_BYTES)
            return NULL;
        b->number = number + 1;
    }
    return b->p;
}

/* Up to N bytes from AT on, committed or not. */
static size_t read_any(frontier *f, void *p, size_t n, uint64_t at)
{
    size_t off = at % CACHED_BYTES,
           first = CACHED_BYTES - off < n ? CACHED_BYTES - off : n;
    const char *block = block_at(f, at);
    if (block) {
        memcpy(p, block + off, first);
        return first < n ? first + read_any(f, (char *)p + first, n - first, at + first)
                         : n;
    }
    if (at >= f->size) {
        uint64_t from = at - f->size;
        size_t have = from < f->batch.len ? f->batch.len - from : 0;
        if (n > have)
            n = have;
        memcpy(p, f->batch.p + from, n);
        return n;
    }
    return read_some(f, p, at + n > f->size ? f->size - at : n, at);
}

void frontier_record(frontier *f, uint64_t at, page_record *out)
{
    uint8_t raw[sizeof *out + 64];
    const uint8_t *p = raw;
    if (!page_record_read(&p, raw + read_any(f, raw, sizeof raw, at), out))
        kit_die("%s: no page record at byte %llu", f->path, (unsigned long long)at);
}

static bool in_hole(const frontier *f, uint64_t at)
{
    for (size_t i = 0; i < f->hole_count; i++)
        if (at >= f->holes[i].from && at < f->holes[i].to)
            return true;
    return false;
}

bool frontier_read(frontier *f, uint64_t at, entry *e)
{
    if (f->hole_count && in_hole(f, at))
        return false;
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
    return true;
}
