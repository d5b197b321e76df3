/* feed.h - the input of a command as batches of keys, in order.
 *
 * With one thread a batch is read, cut and hashed when it is asked for. With more,
 * the others do that ahead, each on a block of its own, and batches still come out
 * in the order of the input. Threads block, they never spin. */
#ifndef CLI_FEED_H
#define CLI_FEED_H

#include "keys.h"

enum { FEED_PARTS = 8 };

typedef struct batch {
    kit_block block;
    size_t n;
    seen_key *line;   /* without terminators */
    seen_key *key;    /* the same array if the line is the key */
    uint64_t *hash;   /* NULL if the feed does not hash */
    bool *dup;        /* room for answers */
    uint64_t missing; /* lines without the field that is the key */

    /* inside feed.c */
    seen_key *own_key;
    uint64_t *own_hash;
    size_t room;
    arena words;
    int state;
    bool prepared;

    /* for the owner's steps */
    uint64_t *sorted_hash; /* the hashes by part, put in order by shards_sort */
    size_t *sorted_line;   /* whose each of them is */
    bool *sorted_dup;
    size_t sorted_room, sorted_from[FEED_PARTS + 1];
    char *kept; /* lines to be written, put together by sink_pack */
    size_t kept_len, kept_lines;
    bool kept_open;
    bool last;              /* JUDGE took only a part of it, and no more will come */
    uint64_t lines, memory; /* as they were when it was judged */
} batch;

typedef struct feed_spec {
    char *const *files; /* must stay */
    size_t nfiles;      /* 0: standard input */
    keyspec keys;
    bool raw;  /* no unpacking */
    bool hash; /* with SEED */
    uint64_t seed;
    unsigned threads; /* 0 and 1: none besides the caller */
    bool steps;       /* for feed_run, not feed_next */
} feed_spec;

typedef struct feed feed;

/* Checks the files, tells and ends the program if one cannot be read. */
feed *feed_open(const feed_spec *spec);

/* The next batch; NULL at the end. A read error is told and ends the program with
 * status 2, unless feed_keep_errors was called: then NULL, and feed_error tells. */
batch *feed_next(feed *f);
void feed_keep_errors(feed *f);
const char *feed_error(const feed *f);

/* Gives the batch from feed_next back; its memory will be used again. */
void feed_done(feed *f, batch *b);
void feed_close(feed *f);

/* The other way: each thread takes a block through all steps, so that its bytes stay in
 * one core's cache. JUDGE and WRITE see the batches one at a time and in order, from
 * whichever thread; SORT and PACK are done before and between them, several at once.
 * JUDGE may have PARTS: each part, from 0 on, sees the batches one at a time and in
 * order, while other parts see others. When it returns false its batch is the last. */
typedef struct feed_steps {
    void (*sort)(void *ctx, batch *b); /* may be NULL */
    unsigned parts;                    /* of JUDGE, 1 to FEED_PARTS */
    bool (*judge)(void *ctx, batch *b, unsigned part);
    void (*pack)(void *ctx, batch *b);
    void (*write)(void *ctx, batch *b);
} feed_steps;
void feed_run(feed *f, const feed_steps *steps, void *ctx);

/* The hash of a key as batches have it. */
uint64_t feed_hash(uint64_t seed, seen_key key);

const kit_lines *feed_lines(const feed *f);

/* The bytes of lines I to J-1 of B, terminators included. */
static inline seen_key batch_span(const batch *b, size_t i, size_t j)
{
    const char *from = b->line[i].data;
    const char *to = (const char *)b->line[j - 1].data + b->line[j - 1].len;
    to += !(j == b->n && b->block.open_end);
    return (seen_key){from, (size_t)(to - from)};
}

#define THREAD_OPTION                                                                  \
    {                                                                                  \
        'j', "threads", "N",                                                           \
            "Use N threads; the order of lines is kept. Two are worth it from some "   \
            "100 MB "                                                                  \
            "on, and for packed input."                                                \
    }
bool thread_option(unsigned *threads, const kit_parse *p, int key);
#endif
