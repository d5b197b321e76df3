/* feed.h - the input of a command as batches of keys, in order.
 *
 * With one thread a batch is read, cut and hashed when it is asked for. With more, the
 * others do that ahead, each on a block of its own, and batches still come out in the
 * order of the input. Threads block, they never spin. */
#ifndef CLI_FEED_H
#define CLI_FEED_H

#include "keys.h"

/* The lines of one block. */
typedef struct batch {
    kit_block block;
    size_t n;
    seen_key *line;   /* without terminators */
    seen_key *key;    /* the same array if the line is the key */
    uint64_t *hash;   /* NULL if the feed does not hash */
    bool *dup;        /* room for answers */
    uint64_t missing; /* lines without the field that is the key */
    void *own;        /* own_size bytes of the caller's, zero at first */
} batch;

typedef struct feed_spec {
    char *const *files; /* must stay */
    size_t nfiles;      /* 0: standard input */
    keyspec keys;
    bool raw;             /* do not unpack; */
    const uint64_t *most; /* and of file i read only the first most[i] bytes; or NULL */
    bool hash;            /* with HASHER */
    seen_hasher hasher;
    unsigned threads; /* 0 and 1: none besides the caller */
    bool steps;       /* for feed_run, not feed_next */

    size_t own_size;             /* what the caller keeps with each batch */
    void (*own_free)(void *own); /* called for each batch by feed_close; or NULL */
} feed_spec;

typedef struct feed feed;

/* Checks that the files can be read; reports the first that cannot and ends the
 * program. */
feed *feed_open(const feed_spec *spec);

/* The next batch; NULL at the end. A read error is reported and ends the program. */
batch *feed_next(feed *f);

/* Gives the batch from feed_next back; its memory will be used again. */
void feed_done(feed *f, batch *b);
void feed_close(feed *f);

/* The other way: each thread carries a block through all steps, so that its bytes stay
 * in one core's cache.
 *
 * DECIDE and WRITE see the batches one at a time and in order, from whichever thread;
 * SORT comes before them and PACK between them, for several batches at once. DECIDE
 * may be divided into PARTS: each part, from 0 on, sees the batches one at a time and
 * in order, while other parts see other batches. When DECIDE returns false its batch
 * is the last; batches that other threads have read already still pass through, and
 * DECIDE must return false for them too. */
enum { FEED_PARTS = 8 };
typedef struct feed_steps {
    void (*sort)(void *ctx, batch *b); /* may be NULL */
    unsigned parts;                    /* of DECIDE, 1 to FEED_PARTS */
    bool (*decide)(void *ctx, batch *b, unsigned part);
    void (*pack)(void *ctx, batch *b);
    void (*write)(void *ctx, batch *b);
} feed_steps;
void feed_run(feed *f, const feed_steps *steps, void *ctx);

/* For DECIDE (of one part): waits until every batch before this one is written. */
void feed_wait_written(feed *f);

/* The hash of a key as batches have it. */
uint64_t feed_hash(const seen_hasher *h, seen_key key);

const kit_lines *feed_lines(const feed *f);

/* Shows how far the input is read, if a new line of progress is due. */
void feed_progress(const feed *f, uint64_t lines, uint64_t distinct, uint64_t memory);

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
            "Use N threads; the order of lines is kept. Two pay off from some 100 MB " \
            "on, and for compressed input."                                            \
    }
bool thread_option(unsigned *threads, const kit_parse *p, int key);
#endif
