/* dedup.h - what the parts of `seen dedup` share: the rules, and a block of lines on
 * its way from the file to its place.
 *
 *     read -> find the keys -> judge -> render and pack -> write
 *
 * Blocks are judged strictly in the order of the input, whatever the number of threads;
 * all else is done to several at once. So the result depends on the input alone. */
#ifndef DEDUP_DEDUP_H
#define DEDUP_DEDUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json_line.h"
#include "packing.h"
#include "seen.h"
#include "words.h"

enum dedup_by { BY_NGRAM, BY_PARAGRAPH, BY_DOCUMENT };
enum dedup_marks { MARK_NONE, MARK_SPANS, MARK_BFF, MARK_DOLMA };

/* Which texts are duplicates, and what happens to them. */
typedef struct dedup_rules {
    enum dedup_by by;
    bool exact;        /* whole paragraphs or documents, byte for byte */
    bool document_too; /* judge the document by the sum of its paragraphs as well */
    bool blank_lines;  /* paragraphs end at blank lines instead of at every newline */
    bool simple_words; /* no UAX #29 */
    bool no_update;    /* ask only */
    bool keep_empty;   /* documents that have no text left are kept, empty */
    bool skip_bad;     /* lines that are not such objects are copied */
    bool no_keys;      /* marks decide: find paragraphs, no keys */
    unsigned ngram, min;
    unsigned spelling; /* SPELL_* */
    double threshold;
    uint64_t sample;        /* one n-gram in so many */
    uint32_t shard, shards; /* keys of part SHARD of 0 .. SHARDS-1 are decided here */
    uint64_t seed;
    json_path field;
    const char *id;
    enum dedup_marks marks;
    const char *attribute; /* its name, with MARK_DOLMA */
} dedup_rules;

typedef struct para {
    uint32_t at;   /* in the text: bytes, characters with MARK_DOLMA */
    uint32_t raw;  /* in the text as it is spelled */
    uint32_t keys; /* of the block's keys, behind those of the paragraph before */
    uint32_t found : 30;
    uint32_t twin : 1; /* two keys that stand for one n-gram */
    uint32_t gone : 1;
} para;

typedef struct doc {
    size_t line, len;      /* in the block, without the newline */
    uint32_t raw, raw_len; /* the text as spelled, in the line */
    uint32_t id, id_len;   /* 0, 0: none */
    uint32_t source, source_len;
    uint32_t text_len;
    uint32_t paras;
    uint32_t found, ngrams; /* of all its paragraphs */
    bool bad, gone;
} doc;

typedef struct bytes {
    char *data;
    size_t len, room;
} bytes;

typedef struct block {
    struct block *next;
    int stage;
    bytes data; /* whole lines */
    bool first; /* of its file */
    doc *doc;
    size_t docs, doc_room;
    para *para;
    size_t paras, para_room;
    uint64_t *key;
    size_t keys, key_room;
    size_t file;      /* the number of the input */
    uint64_t *origin; /* of each paragraph that goes, with --origins */
    size_t origin_room;
    bytes out, removed; /* rendered */
    bytes packed, removed_packed;
    uint64_t line_base; /* lines of the file before it */
    uint64_t taken;     /* bytes of the file read so far */
    struct {            /* what the run has done so far, for the progress line */
        uint64_t documents, read;
        double gone, error;
    } upto;
    size_t bad_line; /* the first line that cannot be, if bad_code */
    enum json_code bad_code;
    char error[256]; /* reading failed, or the judge stops */
} block;

void *bytes_room(bytes *b, size_t more); /* where MORE bytes may be written */
void bytes_put(bytes *b, const void *p, size_t len);

/* ---- finding the keys (text_keys.c) ---- */

typedef struct finder finder; /* one a thread */
finder *finder_new(const dedup_rules *r);
void finder_free(finder *f);
/* Fills B's docs, paragraphs and keys from its data. */
void finder_run(finder *f, block *b);

/* ---- judging (judge.c) ---- */

typedef struct judge {
    const dedup_rules *rules;
    seen_filter *filter;
    seen_filter *against;            /* or NULL */
    double max_lost, max_lost_share; /* whichever is given; below 0: none */
    uint64_t documents, bad, paragraphs, judged, ngrams;
    uint64_t documents_gone, paragraphs_gone, documents_cut;
    uint64_t bytes, bytes_gone; /* of texts as spelled */
    double lost;                /* units expected to have been removed wrongly */
    double error;               /* of the filter now, by the last look at it: */
    double error_then, error_keys, error_power;
    uint64_t error_next;
    uint64_t expected;       /* keys, with -m; warned once when exceeded */
    struct origins *origins; /* or NULL */
    bool *found, *again;
    uint64_t *miss;
    size_t room;
} judge;

/* Decides about every paragraph of B. False if the run must stop: B->error says why. */
bool judge_block(judge *j, block *b);
/* Counts what was decided about the documents of B. */
void judge_count(judge *j, block *b);
/* Adds all keys of B to F without judging. */
void judge_take(seen_filter *f, const block *b);
void judge_free(judge *j);

/* ---- rendering (render.c) ---- */

/* Makes B->out, and B->removed if REMOVED, with the PLACES of origin if they are known.
 * NAME has the names of the inputs. */
void render_block(const dedup_rules *r, block *b, char *const *name, bool removed,
                  bool places);
#endif
