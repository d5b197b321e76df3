/* text_keys.c - lines to documents, paragraphs and the hashes that stand for them.
 *
 * A word is hashed once. The hash of n words is a polynomial of theirs, so the next
 * n-gram costs two multiplications whatever n is. A paragraph too short for an n-gram
 * is one shorter n-gram of all its words. That can only be equal to another whole
 * paragraph, so it may have two keys, both of which must be found: a filter with an
 * error of 1% then takes 0.01% of new short paragraphs for old ones, not 1%. */
#include "dedup.h"
#include "sample.h"
#include "messages.h"
#include "spelling.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 256 }; /* more than the longest n-gram */

/* Odd, without a pattern. */
static const uint64_t base = 0x9fb21c651e98df25, last_step = 0xff51afd7ed558ccd,
                      by_length = 0xd6e8feb86659fd93;

struct finder {
    const dedup_rules *rules;
    json_text text;
    word_spans words;
    speller speller;
    bytes spelled;
    json_newline *edge; /* of paragraphs; .at in what is hashed */
    size_t edges, edge_room;
    uint64_t secret[2]; /* of the words' hash */
    uint64_t drop;      /* base^n: what the oldest word of an n-gram is worth */
    uint64_t token[WORD_BATCH + WORD_PAD];
    uint64_t prefix[RING];
    /* the paragraph at hand */
    uint64_t sum, words_n, least;
    block *block;
};

void *bytes_room(bytes *b, size_t more)
{
    if (b->room - b->len < more) {
        b->room = b->len + more > b->room * 3 / 2 ? b->len + more : b->room * 3 / 2;
        b->data = kit_grow(b->data, b->room, 1);
    }
    return b->data + b->len;
}

void bytes_put(bytes *b, const void *p, size_t len)
{
    if (!len)
        return;
    memcpy(bytes_room(b, len), p, len);
    b->len += len;
}

finder *finder_new(const dedup_rules *r)
{
    finder *f = kit_alloc(sizeof *f);
    f->rules = r;
    f->speller.flags = r->spelling;
    f->secret[0] = kit_mix(r->seed);
    f->secret[1] = kit_mix(f->secret[0]) | 1;
    f->drop = 1;
    for (unsigned i = 0; i < r->ngram; i++)
        f->drop *= base;
    return f;
}

void finder_free(finder *f)
{
    if (!f)
        return;
    json_text_free(&f->text);
    speller_free(&f->speller);
    free(f->spelled.data);
    free(f->edge);
    free(f);
}

/* ---- hashes ---------------------------------------------------------------------- */

static inline uint64_t load(const unsigned char *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
    return le64toh(x);
}

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    __uint128_t m = (__uint128_t)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

#define F(n) (((uint64_t)1 << (8 * (n))) - 1)
#define ALL (~(uint64_t)0)
static const uint64_t first_mask[17] = {F(0), F(1), F(2), F(3), F(4), F(5),
                                        F(6), F(7), ALL,  ALL,  ALL,  ALL,
                                        ALL,  ALL,  ALL,  ALL,  ALL};
static const uint64_t second_mask[17] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, F(1), F(2), F(3), F(4), F(5), F(6), F(7), ALL};

/* Hashes words of [0, n). Reads up to 15 bytes beyond each. */
static void hash_words(finder *f, const unsigned char *text)
{
    const word_spans *w = &f->words;
    for (size_t i = 0; i < w->n; i++) {
        const unsigned char *p = text + w->start[i];
        size_t len = w->end[i] - w->start[i];
        if (__builtin_expect(len > 16, 0)) {
            f->token[i] = seen_hash_seeded(f->secret[0], p, len);
            continue;
        }
        uint64_t a = load(p) & first_mask[len], b = load(p + 8) & second_mask[len];
        f->token[i] = fold(a ^ f->secret[0], (b ^ f->secret[1]) + (len << 57));
    }
}

static inline uint64_t finish(uint64_t x, uint64_t n)
{
    x += n * by_length;
    x = (x ^ x >> 32) * last_step;
    return x ^ x >> 29;
}

/* ---- what a block collects ------------------------------------------------------- */

static inline uint64_t *room_for_keys(block *b, size_t more)
{
    if (b->key_room - b->keys < more) {
        b->key_room = b->keys + more + b->key_room / 2 + 1024;
        b->key = kit_grow(b->key, b->key_room, sizeof *b->key);
    }
    return b->key + b->keys;
}

static void put_key(block *b, para *p, uint64_t h)
{
    *room_for_keys(b, 1) = h;
    b->keys++;
    p->keys++;
}

static para *new_para(block *b)
{
    if (b->paras == b->para_room) {
        b->para_room = b->para_room ? b->para_room * 2 : 4096;
        b->para = kit_grow(b->para, b->para_room, sizeof *b->para);
    }
    para *p = b->para + b->paras++;
    *p = (para){.at = 0};
    return p;
}

static doc *new_doc(block *b)
{
    if (b->docs == b->doc_room) {
        b->doc_room = b->doc_room ? b->doc_room * 2 : 512;
        b->doc = kit_grow(b->doc, b->doc_room, sizeof *b->doc);
    }
    doc *d = b->doc + b->docs++;
    *d = (doc){.line = 0};
    return d;
}

/* Whether a whole paragraph or document of hash H is decided here. */
static bool ours(const dedup_rules *r, uint64_t h)
{
    return r->shards < 2 || kit_mix(h) % r->shards == r->shard;
}

/* ---- n-grams --------------------------------------------------------------------- */

static void begin_para(finder *f)
{
    f->sum = f->words_n = 0;
    f->least = UINT64_MAX;
    f->prefix[0] = 0;
}

static void end_para(finder *f, para *p)
{
    const dedup_rules *r = f->rules;
    if (f->words_n < r->min)
        return;
    if (r->by == BY_PARAGRAPH) {
        uint64_t h = finish(f->sum, f->words_n);
        if (ours(r, h))
            put_key(f->block, p, h);
    } else if (f->words_n < r->ngram) {
        uint64_t h = finish(f->sum, f->words_n);
        put_key(f->block, p, h);
        put_key(f->block, p, kit_mix(h));
        p->twin = true;
    } else if (!p->keys) { /* none was in the sample: the smallest stands for all */
        put_key(f->block, p, f->least);
    }
}

/* Words [i, to) of the batch into the paragraph P. */
static void add_words(finder *f, para *p, size_t i, size_t to)
{
    const dedup_rules *r = f->rules;
    uint64_t sum = f->sum, n = f->words_n;
    unsigned gram = r->by == BY_PARAGRAPH ? UINT32_MAX : r->ngram;
    for (; i < to && n + 1 < gram; i++) {
        sum = sum * base + f->token[i];
        f->prefix[++n % RING] = sum;
    }
    if (i < to) {
        uint64_t *out = room_for_keys(f->block, to - i), *o = out;
        for (; i < to; i++) {
            sum = sum * base + f->token[i];
            f->prefix[++n % RING] = sum;
            uint64_t h = finish(sum - f->prefix[(n - gram) % RING] * f->drop, gram);
            if (r->sample > 1) {
                f->least = h < f->least ? h : f->least;
                if (h % r->sample)
                    continue;
            }
            *o++ = h;
        }
        f->block->keys += (size_t)(o - out);
        p->keys += (uint32_t)(o - out);
    }
    f->sum = sum;
    f->words_n = n;
}

/* Cuts TEXT into words and gives each paragraph its keys; paragraph i of those from
 * FIRST on ends where edge i is. */
static void find_ngrams(finder *f, const unsigned char *text, size_t len, size_t first)
{
    size_t at = 0, edge = 0;
    begin_para(f);
    while (at < len) {
        if (f->rules->simple_words)
            words_cut_simple(text, len, &at, &f->words);
        else
            words_cut(text, len, &at, &f->words);
        hash_words(f, text);
        const word_spans *w = &f->words;
        for (size_t i = 0; i < w->n;) {
            size_t to = w->n;
            if (edge < f->edges && f->edge[edge].at <= w->start[w->n - 1])
                for (to = i; w->start[to] < f->edge[edge].at;)
                    to++;
            add_words(f, f->block->para + first + edge, i, to);
            i = to;
            if (to < w->n) {
                end_para(f, f->block->para + first + edge++);
                begin_para(f);
            }
        }
    }
    for (;; edge++) {
        end_para(f, f->block->para + first + edge);
        begin_para(f);
        if (edge == f->edges)
            break;
    }
}

/* Whole paragraphs as bytes, without the newlines in front. Blank ones are kept. */
static void find_exact(finder *f, const char *text, size_t len, size_t first)
{
    const dedup_rules *r = f->rules;
    size_t from = 0;
    for (size_t i = 0; i <= f->edges; i++) {
        size_t to = i < f->edges ? f->edge[i].at : len;
        const char *p = text + from, *end = text + to, *q;
        from = to;
        if (r->by == BY_PARAGRAPH) {
            while (p < end && *p == '\n')
                p++;
            for (q = p; q < end && (*q == ' ' || (*q >= '\t' && *q <= '\r'));)
                q++;
            if (q == end)
                continue;
        }
        uint64_t h = seen_hash_seeded(r->seed, p, (size_t)(end - p));
        if (ours(r, h))
            put_key(f->block, f->block->para + first + i, h);
    }
}

/* ---- documents ------------------------------------------------------------------- */

static void put_edge(finder *f, json_newline at)
{
    if (f->edges == f->edge_room) {
        f->edge_room = f->edge_room ? f->edge_room * 2 : 256;
        f->edge = kit_grow(f->edge, f->edge_room, sizeof *f->edge);
    }
    f->edge[f->edges++] = at;
}

/* Where paragraphs end: at each newline that is not the first character, or at each
 * first newline of several. */
static void find_edges(finder *f)
{
    const json_text *t = &f->text;
    f->edges = 0;
    if (f->rules->by == BY_DOCUMENT)
        return;
    for (size_t i = 0; i < t->newlines; i++) {
        uint32_t at = t->newline[i].at;
        if (f->rules->blank_lines && (at + 1 >= t->len || t->data[at + 1] != '\n' ||
                                      (at && t->data[at - 1] == '\n')))
            continue;
        if (at)
            put_edge(f, t->newline[i]);
    }
}

static uint32_t characters(const char *p, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)p[i] & 0xc0) != 0x80;
    return (uint32_t)n;
}

/* The text in the spelling that is compared; edges move with it. */
static size_t respell(finder *f)
{
    const json_text *t = &f->text;
    size_t from = 0;
    f->spelled.len = 0;
    for (size_t i = 0; i <= f->edges; i++) {
        size_t to = i < f->edges ? f->edge[i].at : t->len;
        /* Paragraphs stay separate even if the new spelling drops their newlines. */
        size_t skip = i > 0;
        char *out = bytes_room(&f->spelled, spelling_bound(to - from) + 1 + WORD_PAD);
        if (skip)
            *out++ = '\n', f->spelled.len++;
        f->spelled.len +=
            spelling_run(&f->speller, t->data + from + skip, to - from - skip, out);
        if (i < f->edges)
            f->edge[i].at = (uint32_t)f->spelled.len;
        from = to;
    }
    bytes_room(&f->spelled, WORD_PAD);
    return f->spelled.len;
}

static void read_text(finder *f, doc *d)
{
    const dedup_rules *r = f->rules;
    const json_text *t = &f->text;
    block *b = f->block;
    bool chars = r->marks == MARK_DOLMA;
    find_edges(f);
    size_t first = b->paras, counted = 0;
    uint32_t at = 0;
    for (size_t i = 0; i <= f->edges; i++) {
        para *p = new_para(b);
        if (i) {
            size_t edge = f->edge[i - 1].at;
            at = chars ? at + characters(t->data + counted, edge - counted)
                       : (uint32_t)edge;
            counted = edge;
            p->raw = f->edge[i - 1].raw;
        }
        p->at = at;
    }
    d->text_len =
        chars ? at + characters(t->data + counted, t->len - counted) : (uint32_t)t->len;
    d->paras = (uint32_t)(b->paras - first);
    const char *text = t->data;
    size_t len = t->len;
    if (r->no_keys)
        return;
    if (r->spelling) {
        len = respell(f);
        text = f->spelled.data;
    }
    if (r->exact)
        find_exact(f, text, len, first);
    else
        find_ngrams(f, (const unsigned char *)text, len, first);
}

void finder_run(finder *f, block *b)
{
    const dedup_rules *r = f->rules;
    const char *data = b->data.data, *p = data, *end = p + b->data.len;
    f->block = b;
    b->docs = b->paras = b->keys = 0;
    b->bad_code = JSON_OK;
    while (p < end) {
        const char *q = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((q ? q : end) - p);
        json_line found;
        enum json_code code =
            json_line_read(p, len, &r->field, r->id, &found, &f->text);
        doc *d = new_doc(b);
        d->line = (size_t)(p - data);
        d->len = len;
        d->bad = code != JSON_OK;
        if (d->bad && !r->skip_bad) {
            b->bad_code = code;
            b->bad_line = b->docs - 1;
            b->docs--;
            return;
        }
        if (!d->bad) {
            d->raw = (uint32_t)(found.raw.at - p);
            d->raw_len = (uint32_t)found.raw.len;
            if (found.id.at) {
                d->id = (uint32_t)(found.id.at - p);
                d->id_len = (uint32_t)found.id.len;
            }
            if (found.source.at) {
                d->source = (uint32_t)(found.source.at - p);
                d->source_len = (uint32_t)found.source.len;
            }
            read_text(f, d);
        }
        p = q ? q + 1 : end;
    }
}
