/* feed.c - reading ahead in ordered stages.
 *
 * Slots form a ring. The thread that holds the reading lock fills the block of the next
 * slot, so blocks are in order whatever happens later; cutting and hashing need no
 * lock. The caller takes slots in the same order. When it has to wait, or when
 * unpacking keeps the only helper busy, it gets the next block uncut and cuts and
 * hashes it itself: so the work finds its balance. */
#include "feed.h"
#include "progress.h"
#include "messages.h"
#include "human_numbers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { FREE, FILLING, READY, END };
enum { SLOTS = 32, MAX_THREADS = 64 };

/* A batch, and the memory that it uses again and again. */
typedef struct slot {
    batch b; /* first: a batch is its slot */
    seen_key *keys;
    uint64_t *hashes;
    size_t room;
    arena words;
    int state;
    bool prepared;
} slot;

struct feed {
    feed_spec spec;
    kit_lines *lines;
    bool plain, failed;
    slot *slot;
    size_t slots;
    size_t next_in, next_out; /* turns */
    pthread_mutex_t reading, state;
    pthread_cond_t changed_free, changed_ready;
    _Atomic bool over; /* no more blocks are read */
    bool starved;      /* the caller waits for the slot whose turn it is */
    pthread_t helper[MAX_THREADS];
    unsigned helpers;

    /* feed_run: which block is next to be decided, part by part, and to be written */
    const feed_steps *steps;
    void *ctx;
    size_t deciding[FEED_PARTS], writing;
    pthread_cond_t changed_turn;
};

static char *const only_stdin[] = {(char *)"-"};

bool thread_option(unsigned *threads, const kit_parse *p, int key)
{
    uint64_t n;
    if (key != 'j')
        return false;
    if (!kit_parse_count(p->arg, &n) || n > MAX_THREADS)
        kit_bad_value(p, key, "a number of threads from 1 to 64");
    *threads = (unsigned)n;
    return true;
}

static void make_room(feed *f, slot *s, size_t n)
{
    if (n <= s->room)
        return;
    s->room = n;
    s->b.line = kit_grow(s->b.line, n, sizeof *s->b.line);
    s->b.dup = kit_grow(s->b.dup, n, sizeof *s->b.dup);
    if (!f->plain)
        s->keys = kit_grow(s->keys, n, sizeof *s->keys);
    if (f->spec.hash)
        s->hashes = kit_grow(s->hashes, n, sizeof *s->hashes);
}

static void hash_keys(const seen_hasher *h, const seen_key *keys, size_t n,
                      uint64_t *out)
{
    seen_hasher_many(h, keys, n, out);
#ifdef SEEN_WEAK_HASH /* for a test of what must be right whatever the hash does */
    for (size_t i = 0; i < n; i++)
        out[i] &= ~(~(uint64_t)0 >> SEEN_WEAK_HASH);
#endif
}

uint64_t feed_hash(const seen_hasher *h, seen_key key)
{
    uint64_t hash;
    hash_keys(h, &key, 1, &hash);
    return hash;
}

/* Cuts the block of S into lines, keys and hashes. */
static void prepare(feed *f, slot *s)
{
    const keyspec *k = &f->spec.keys;
    batch *b = &s->b;
    const char *p = b->block.data + b->block.header,
               *end = b->block.data + b->block.len;
    b->n = 0;
    while (p < end) {
        if (b->n == s->room)
            make_room(f, s, s->room ? s->room * 2 : 8192);
        seen_key *to = b->line + b->n;
        size_t room = s->room - b->n;
        b->n += k->csv ? kit_cut_csv(&p, end, k->term, keyspec_comma(k), to, room)
                       : kit_cut(&p, end, k->term, to, room);
    }
    b->key = b->line;
    b->missing = 0;
    if (!f->plain) {
        arena_reset(&s->words);
        b->key = s->keys;
        for (size_t i = 0; i < b->n; i++)
            b->key[i] = keyspec_key(k, &s->words, b->line[i], &b->missing);
    }
    if (f->spec.hash) {
        b->hash = s->hashes;
        hash_keys(&f->spec.hasher, b->key, b->n, b->hash);
    }
    s->prepared = true;
}

/* A helper of feed_next: fills the slots in turn and prepares what it has read. */
static void *read_ahead(void *ctx)
{
    feed *f = ctx;
    for (;;) {
        pthread_mutex_lock(&f->reading);
        pthread_mutex_lock(&f->state);
        slot *s = f->slot + f->next_in % f->slots;
        while (s->state != FREE && !f->over)
            pthread_cond_wait(&f->changed_free, &f->state);
        bool over = f->over;
        s->state = over ? s->state : FILLING;
        pthread_mutex_unlock(&f->state);
        if (over) {
            pthread_mutex_unlock(&f->reading);
            return NULL;
        }
        int rc = kit_lines_next(f->lines, &s->b.block);
        f->next_in++;
        if (rc <= 0) {
            pthread_mutex_lock(&f->state);
            f->over = true;
            f->failed = rc < 0;
            s->state = END;
            pthread_cond_broadcast(&f->changed_ready);
            pthread_mutex_unlock(&f->state);
            pthread_mutex_unlock(&f->reading);
            return NULL;
        }
        size_t turn = f->next_in - 1;
        pthread_mutex_unlock(&f->reading);
        pthread_mutex_lock(&f->state);
        bool leave = (f->helpers == 1 && s->b.block.packed) ||
                     (f->starved && turn == f->next_out);
        pthread_mutex_unlock(&f->state);
        s->prepared = false;
        if (!leave)
            prepare(f, s);
        pthread_mutex_lock(&f->state);
        s->state = READY;
        pthread_cond_signal(&f->changed_ready);
        pthread_mutex_unlock(&f->state);
    }
}

static void start_helpers(feed *f, void *(*work)(void *))
{
    /* Signals are for the caller. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    for (unsigned i = 0; i < f->helpers; i++)
        if (pthread_create(&f->helper[i], NULL, work, f) != 0)
            kit_die("cannot start a thread");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

feed *feed_open(const feed_spec *spec)
{
    feed *f = kit_alloc(sizeof *f);
    f->spec = *spec;
    if (!f->spec.nfiles) {
        f->spec.files = only_stdin;
        f->spec.nfiles = 1;
    }
    const char *bad = kit_lines_check(f->spec.files, f->spec.nfiles);
    if (bad)
        kit_die("%s", bad);
    f->plain = keyspec_plain(&f->spec.keys);
    f->lines = kit_lines_new(f->spec.files, f->spec.nfiles, f->spec.keys.term);
    keyspec_check(&f->spec.keys);
    if (f->spec.keys.csv)
        kit_lines_csv(f->lines, keyspec_comma(&f->spec.keys));
    if (keyspec_has_name(&f->spec.keys))
        kit_lines_header(f->lines, keyspec_take_header, f->spec.keys.fields);
    if (f->spec.raw)
        kit_lines_raw(f->lines, spec->most);
    f->helpers = spec->threads > 1 ? spec->threads - 1 : 0;
    f->slots = spec->steps ? f->helpers + 1 : f->helpers ? f->helpers * 2 + 2 : 1;
    if (f->slots > SLOTS && !spec->steps)
        f->slots = SLOTS;
    f->slot = kit_alloc(f->slots * sizeof *f->slot);
    for (size_t i = 0; i < f->slots && spec->own_size; i++)
        f->slot[i].b.own = kit_alloc(spec->own_size);
    pthread_mutex_init(&f->reading, NULL);
    pthread_mutex_init(&f->state, NULL);
    pthread_cond_init(&f->changed_free, NULL);
    pthread_cond_init(&f->changed_ready, NULL);
    pthread_cond_init(&f->changed_turn, NULL);
    if (!spec->steps)
        start_helpers(f, read_ahead);
    return f;
}

const kit_lines *feed_lines(const feed *f)
{
    return f->lines;
}

void feed_progress(const feed *f, uint64_t lines, uint64_t distinct, uint64_t memory)
{
    if (kit_progress_due())
        kit_progress_show(&(kit_progress){.taken = kit_lines_taken(f->lines),
                                          .total = kit_lines_total(f->lines),
                                          .lines = lines,
                                          .distinct = distinct,
                                          .memory = memory});
}

batch *feed_next(feed *f)
{
    slot *s = f->slot + f->next_out % f->slots;
    if (!f->helpers) {
        int rc = f->over ? 0 : kit_lines_next(f->lines, &s->b.block);
        if (rc > 0) {
            prepare(f, s);
            return &s->b;
        }
        f->over = true;
        f->failed = rc < 0;
    } else {
        pthread_mutex_lock(&f->state);
        f->starved = true;
        while (s->state != READY && s->state != END)
            pthread_cond_wait(&f->changed_ready, &f->state);
        f->starved = false;
        bool end = s->state == END;
        pthread_mutex_unlock(&f->state);
        if (!end) {
            if (!s->prepared)
                prepare(f, s);
            return &s->b;
        }
    }
    if (f->failed)
        kit_die("%s", kit_lines_error(f->lines));
    return NULL;
}

/* ---- all steps in one thread ----------------------------------------------------- */

static void wait_turn(feed *f, const size_t *whose, size_t turn)
{
    pthread_mutex_lock(&f->state);
    while (*whose != turn)
        pthread_cond_wait(&f->changed_turn, &f->state);
    pthread_mutex_unlock(&f->state);
}

void feed_wait_written(feed *f)
{
    pthread_mutex_lock(&f->state);
    size_t turn = f->deciding[0];
    pthread_mutex_unlock(&f->state);
    wait_turn(f, &f->writing, turn);
}

static void next_turn(feed *f, size_t *whose)
{
    pthread_mutex_lock(&f->state);
    ++*whose;
    pthread_cond_broadcast(&f->changed_turn);
    pthread_mutex_unlock(&f->state);
}

static void *carry_blocks(void *ctx)
{
    feed *f = ctx;
    pthread_mutex_lock(&f->state);
    slot *s = f->slot + f->next_out++;
    pthread_mutex_unlock(&f->state);
    batch *b = &s->b;
    for (;;) {
        pthread_mutex_lock(&f->reading);
        int rc = f->over ? 0 : kit_lines_next(f->lines, &b->block);
        if (rc <= 0) {
            f->over = true;
            f->failed |= rc < 0;
            pthread_mutex_unlock(&f->reading);
            return NULL;
        }
        size_t turn = f->next_in++;
        pthread_mutex_unlock(&f->reading);
        prepare(f, s);
        if (f->steps->sort)
            f->steps->sort(f->ctx, b);
        for (unsigned part = 0; part < f->steps->parts; part++) {
            wait_turn(f, &f->deciding[part], turn);
            if (!f->steps->decide(f->ctx, b, part))
                f->over = true;
            next_turn(f, &f->deciding[part]);
        }
        f->steps->pack(f->ctx, b);
        wait_turn(f, &f->writing, turn);
        f->steps->write(f->ctx, b);
        next_turn(f, &f->writing);
    }
}

void feed_run(feed *f, const feed_steps *steps, void *ctx)
{
    f->steps = steps;
    f->ctx = ctx;
    start_helpers(f, carry_blocks);
    carry_blocks(f);
    for (unsigned i = 0; i < f->helpers; i++)
        pthread_join(f->helper[i], NULL);
    f->helpers = 0;
    if (f->failed)
        kit_die("%s", kit_lines_error(f->lines));
}

void feed_done(feed *f, batch *b)
{
    if (!f->helpers)
        return;
    pthread_mutex_lock(&f->state);
    ((slot *)b)->state = FREE;
    f->next_out++;
    pthread_cond_signal(&f->changed_free);
    pthread_mutex_unlock(&f->state);
}

void feed_close(feed *f)
{
    if (!f)
        return;
    if (f->helpers) {
        pthread_mutex_lock(&f->state);
        f->over = true;
        pthread_cond_broadcast(&f->changed_free);
        pthread_mutex_unlock(&f->state);
        for (unsigned i = 0; i < f->helpers; i++)
            pthread_join(f->helper[i], NULL);
    }
    for (size_t i = 0; i < f->slots; i++) {
        slot *s = f->slot + i;
        if (f->spec.own_free)
            f->spec.own_free(s->b.own);
        free(s->b.own);
        kit_block_free(&s->b.block);
        free(s->b.line);
        free(s->b.dup);
        free(s->keys);
        free(s->hashes);
        arena_free(&s->words);
    }
    free(f->slot);
    kit_lines_free(f->lines);
    free(f);
}
