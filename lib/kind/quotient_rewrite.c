/* quotient_rewrite.c - a quotient filter written anew, in order: larger, or with the
 * keys of another.
 *
 * Prefixes come out in the order of hashes and go in the same order into other lines. A
 * prefix gives bits to the address or, if it has none left, becomes an empty prefix in
 * each cell that it covers; there it speaks for every other key of the cell, so those
 * are dropped. */
#include "kind/quotient_line.h"
#include "base/fail.h"
#include <math.h>

#define LOAD 0.81
#define GROWTH 1.1225 /* six times, and it is twice as large */
#define CELLS_A_LINE 40 /* at most; at least half as many */
#define SHARE 6         /* a doubling may spend this part of the error that is left */

/* ---- shapes ------------------------------------------------------------------- */

static void set_lines(sn_shape *s, double lines)
{
    unsigned c = 5;
    while (c < 50 && ldexp(1, (int)c + 1) <= lines * CELLS_A_LINE)
        c++;
    s->kind = SEEN_QUOTIENT;
    s->units = (uint64_t)lines;
    s->own[SN_QUOTIENT_C] = c | sn_quotient_keys(s) << 8;
    s->own[SN_QUOTIENT_STEP] = sn_quotient_step(s->units, c);
}

static void set_keys(sn_shape *s, uint64_t keys, uint64_t error)
{
    s->own[SN_QUOTIENT_C] = sn_quotient_c(s) | keys << 8;
    s->own[SN_QUOTIENT_ERROR] = error;
}

static double lines_for(unsigned w, double n)
{
    double lines = ceil(n / (LOAD * sn_quotient_slots(w)));
    return lines < 1 ? 1 : lines;
}

/* What N keys more add to the error. */
static double error_of(const sn_shape *s, double n)
{
    return n * ldexp(1, -(int)(sn_quotient_c(s) + s->k - 1));
}

static void set_capacity(sn_shape *s, double more)
{
    double most = floor(LOAD * sn_quotient_slots(s->k) * (double)s->units) - more;
    s->capacity = most > 1 ? (uint64_t)most : 1;
}

int sn_quotient_shape(sn_shape *s, double n, double p, uint64_t lines)
{
    uint64_t capacity = s->capacity;
    uint32_t from = s->k ? s->k : SN_QUOTIENT_WMIN, to = s->k ? s->k : SN_QUOTIENT_WMAX;
    if (from < SN_QUOTIENT_WMIN || to > SN_QUOTIENT_WMAX || n > 1e14)
        return sn_fail(SEEN_ETOOBIG,
                       "a quotient filter has slots of %d to %d bits, not %u, and at "
                       "most 1e14 keys",
                       SN_QUOTIENT_WMIN, SN_QUOTIENT_WMAX, s->k);
    set_keys(s, 0, 0);
    for (s->k = from;; s->k++) {
        set_lines(s, lines ? (double)lines : lines_for(s->k, n));
        if (lines || s->k == to || error_of(s, n) <= p / SHARE)
            break;
    }
    if (!lines && error_of(s, n) > p)
        return sn_fail(SEEN_ETOOBIG, "%.3g keys at error %g are too many for slots of "
                                     "%u bits", n, p, s->k);
    if (lines)
        set_capacity(s, 0);
    else
        s->capacity = capacity;
    return 0;
}

/* ---- prefixes in order --------------------------------------------------------- */

typedef struct prefix {
    uint64_t bits; /* from the top; zeroes behind */
    unsigned len;
} prefix;

typedef struct cursor {
    sn_quotient q;
    uint64_t line; /* the next to be read */
    sn_quotient_line x;
    unsigned at;                      /* in x */
    prefix cell[SN_QUOTIENT_SLOTS]; /* of one cell, in order */
    unsigned n, next;
    bool damaged;
} cursor;

static bool before(const prefix *a, const prefix *b)
{
    return a->bits != b->bits ? a->bits < b->bits : a->len < b->len;
}

/* The next prefix, left where it is; NULL at the end. */
static const prefix *peek(cursor *r)
{
    if (r->next < r->n)
        return r->cell + r->next;
    while (r->at == r->x.n) {
        if (r->line == r->q.lines + SN_QUOTIENT_SPARE)
            return NULL;
        r->at = 0;
        if (!sn_quotient_read(&r->q, r->line++, &r->x)) {
            r->damaged = true;
            r->line = r->q.lines + SN_QUOTIENT_SPARE;
            r->x.n = 0;
            return NULL;
        }
    }
    uint64_t cell = r->x.cell[r->at];
    unsigned c = r->q.c, w = r->q.w;
    r->next = r->n = 0;
    for (; r->at < r->x.n && r->x.cell[r->at] == cell; r->at++) {
        uint64_t v = r->x.v[r->at];
        unsigned len = w - 1 - (unsigned)__builtin_ctzll(v), k = r->n++;
        v &= v - 1;
        prefix p = {cell << (64 - c) | v << (64 - c - w), c + len};
        for (; k && before(&p, r->cell + k - 1); k--)
            r->cell[k] = r->cell[k - 1];
        r->cell[k] = p;
    }
    return r->cell;
}

/* ---- lines in order ------------------------------------------------------------ */

typedef struct writer {
    sn_quotient q;
    uint64_t line;
    sn_quotient_line x;
    uint64_t cell; /* of the run */
    unsigned n;    /* slots of the run */
    uint64_t run[SN_QUOTIENT_SLOTS];
    uint64_t slots, error; /* in all; the error in 2^-64 */
    bool failed;
} writer;

/* Ends the line with cell END. */
static void end_line(writer *w, uint64_t end)
{
    if (w->line >= w->q.lines + SN_QUOTIENT_SPARE ||
        sn_quotient_start(&w->q, w->line + 1) - end > SN_QUOTIENT_PASSED) {
        w->failed = true;
        return;
    }
    w->x.end = end;
    sn_quotient_write(&w->q, w->line, &w->x, w->q.body + w->line * 64);
    w->line++;
    w->x.n = 0;
    w->x.first = end;
}

static void end_run(writer *w)
{
    while (w->n && !w->failed) {
        uint64_t home_end = sn_quotient_start(&w->q, w->line + 1),
                 window_end = w->x.first + SN_QUOTIENT_CELLS;
        if (w->cell >= home_end && home_end <= window_end) {
            end_line(w, home_end);
        } else if (w->cell >= window_end) {
            end_line(w, window_end);
        } else if (w->x.n + w->n > w->q.slots) {
            if (!w->x.n && w->x.first == w->cell)
                w->failed = true; /* more than a line holds */
            else
                end_line(w, w->cell);
        } else {
            for (unsigned i = 0; i < w->n; i++) {
                w->x.cell[w->x.n] = w->cell;
                w->x.v[w->x.n++] = w->run[i];
                unsigned len = w->q.c + w->q.w - 1 - (unsigned)__builtin_ctzll(w->run[i]);
                w->error += len < 64 ? (uint64_t)1 << (64 - len) : 1;
            }
            w->slots += w->n;
            w->n = 0;
        }
    }
}

static void put(writer *w, uint64_t cell, uint64_t v)
{
    if (cell != w->cell)
        end_run(w);
    w->cell = cell;
    unsigned k = w->n, most = w->q.copies && v != sn_quotient_whole_cell(&w->q)
                                  ? SN_QUOTIENT_MOST_COPIES
                                  : 1;
    for (unsigned same = 0; k && w->run[k - 1] >= v; k--)
        if (w->run[k - 1] == v && ++same == most)
            return;
    if (w->n == SN_QUOTIENT_SLOTS) {
        w->failed = true;
        return;
    }
    for (unsigned i = w->n++; i > k; i--)
        w->run[i] = w->run[i - 1];
    w->run[k] = v;
}

static void finish(writer *w)
{
    end_run(w);
    while (!w->failed && w->line < w->q.lines + SN_QUOTIENT_SPARE) {
        uint64_t home_end = sn_quotient_start(&w->q, w->line + 1),
                 window_end = w->x.first + SN_QUOTIENT_CELLS;
        end_line(w, home_end < window_end ? home_end : window_end);
    }
}

/* Writes the prefixes of A, and of B if given, to W. False if a line is damaged. */
static bool copy(cursor *a, cursor *b, writer *w)
{
    unsigned c = w->q.c, width = w->q.w;
    uint64_t covered = 0; /* cells below hold an empty prefix, or are done with */
    while (!w->failed) {
        const prefix *x = peek(a), *y = b ? peek(b) : NULL;
        bool first = x && (!y || before(x, y));
        if (!x && !y)
            break;
        prefix p = first ? *x : *y;
        (first ? a : b)->next++;
        uint64_t cell = p.bits >> (64 - c);
        if (cell < covered)
            continue;
        if (p.len <= c) {
            uint64_t end = cell + ((uint64_t)1 << (c - p.len));
            for (covered = end; cell < end && !w->failed; cell++)
                put(w, cell, (uint64_t)1 << (width - 1));
            continue;
        }
        unsigned len = p.len - c < width - 1 ? p.len - c : width - 1;
        uint64_t v = p.bits << c >> (64 - len);
        put(w, cell, (v << 1 | 1) << (width - 1 - len));
    }
    finish(w);
    return !a->damaged && !(b && b->damaged);
}

/* Empty lines for a filter of LINES, *LEN bytes; NULL with SEEN_ENOMEM told. */
static uint8_t *empty_lines(uint64_t lines, const seen_allocator *a, uint64_t *len)
{
    *len = (lines + SN_QUOTIENT_SPARE) * 64;
    uint8_t *body = sn_body_alloc(a, *len);
    if (!body)
        sn_fail(SEEN_ENOMEM, "no memory for a filter of %llu bytes",
                (unsigned long long)*len);
    return body;
}

/* Writes L, and the prefixes of OTHER if given, as SHAPE. */
static int rewrite(sn_layer *l, const sn_layer *other, sn_shape shape,
                   const seen_allocator *a)
{
    for (int tries = 0; tries < 40; tries++) {
        uint64_t len;
        uint8_t *body = empty_lines(shape.units, a, &len);
        if (!body)
            return SEEN_ENOMEM;
        sn_layer made = {.shape = shape, .body = body};
        cursor x = {.q = sn_quotient_of(l)}, y = {.q = other ? sn_quotient_of(other) : x.q};
        writer w = {.q = sn_quotient_of(&made)};
        bool whole = copy(&x, other ? &y : NULL, &w);
        if (whole && !w.failed) {
            uint64_t added = l->added + (other ? other->added : 0);
            added = added < w.slots ? added : w.slots;
            set_keys(&shape, added, w.error);
            set_capacity(&shape, (double)(w.slots - added));
            if (shape.capacity <= added && tries < 39)
                whole = false;
            sn_body_free(a, whole ? l->body : body, whole ? l->len : len);
            if (whole) {
                l->body = body;
                l->len = len;
                l->shape = shape;
                l->added = added;
                return 0;
            }
        } else {
            sn_body_free(a, body, len);
            if (!whole)
                return sn_fail(SEEN_EDAMAGED, "a line of the filter contradicts itself");
        }
        set_lines(&shape, ceil((double)shape.units * 1.1) + 1);
        if (shape.units > SN_QUOTIENT_LINES)
            break;
    }
    return sn_fail(SEEN_ETOOBIG, "too many keys begin alike: the filter cannot grow");
}

static double error_now(const sn_layer *l)
{
    sn_quotient q = sn_quotient_of(l);
    uint64_t slots;
    /* Nobody counted which keys were removed. */
    return q.copies ? sn_quotient_sum(&q, q.lines + SN_QUOTIENT_SPARE, &slots)
                    : l->kind->error_at(&l->shape, (double)l->added);
}

/* The same cells, or their halves, and slots over as many lines or more, without
 * looking at each prefix: 0, a code, or 1 if nothing came of it. */
static int spread(sn_layer *l, sn_shape shape, const seen_allocator *a)
{
    uint64_t len, slots;
    uint8_t *body = empty_lines(shape.units, a, &len);
    if (!body)
        return SEEN_ENOMEM;
    sn_layer made = {.shape = shape, .body = body};
    sn_quotient from = sn_quotient_of(l), to = sn_quotient_of(&made);
    if (!sn_quotient_spread(&from, &to, &slots) ||
        (len == l->len && memcmp(body, l->body, len) == 0)) {
        sn_body_free(a, body, len);
        return 1;
    }
    set_keys(&shape, l->added, (uint64_t)ldexp(fmin(error_now(l), 0.999), 64));
    set_capacity(&shape, slots > l->added ? (double)(slots - l->added) : 0);
    sn_body_free(a, l->body, l->len);
    l->body = body;
    l->len = len;
    l->shape = shape;
    return 0;
}

/* The width for N keys more, as many as there are, in so many lines. */
static void set_width(sn_shape *s, double n, double error)
{
    double left = s->error - error;
    while (s->k < SN_QUOTIENT_WMAX && sn_quotient_c(s) + s->k < 64 &&
           error_of(s, n) > left / SHARE)
        s->k++;
}

int sn_quotient_grow(sn_layer *l, const seen_allocator *a)
{
    sn_shape s = l->shape;
    double n = (double)l->added, slots = (double)s.units * sn_quotient_slots(s.k);
    /* After many removes and adds, cells lie further from home than they must: that is put
     * right, once, before more memory is taken. */
    if (n < 0.95 * (double)s.capacity) {
        int rc = spread(l, s, a);
        if (rc <= 0)
            return rc;
    }
    set_lines(&s, ceil((double)s.units * GROWTH));
    set_width(&s, n, error_now(l));
    if (s.k == l->shape.k && sn_quotient_c(&s) - sn_quotient_c(&l->shape) <= 1) {
        int rc = spread(l, s, a);
        if (rc <= 0)
            return rc;
    }
    if (s.k != l->shape.k) /* as many slots as were wanted */
        set_lines(&s, ceil(slots * GROWTH / sn_quotient_slots(s.k)));
    return rewrite(l, NULL, s, a);
}

int sn_quotient_absorb(sn_layer *dst, const sn_layer *src, const seen_allocator *a)
{
    sn_shape s = dst->shape;
    double n = (double)dst->added + (double)src->added;
    s.k = s.k > src->shape.k ? s.k : src->shape.k;
    double lines = lines_for(s.k, n * 1.02);
    set_lines(&s, lines > (double)s.units ? lines : (double)s.units);
    set_width(&s, n, error_now(dst) + error_now(src));
    return rewrite(dst, src, s, a);
}
