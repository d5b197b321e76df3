/* feed.c - reading ahead in ordered stages.
 *
 * Slots form a ring. Whoever holds the reading lock takes the next slot in turn and
 * fills its block, so blocks are in order whatever happens later; cutting and hashing
 * need no lock. The caller takes slots in the same turn. When it has to wait, or when a
 * packed file keeps the only helper busy with unpacking, it gets the next block uncut
 * and cuts and hashes itself: so the work finds its balance. */
#include "feed.h"
#include "say.h"
#include "human_numbers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { FREE, FILLING, READY, END };
enum { SLOTS = 32, MAX_THREADS = 64 };

struct feed {
    feed_spec spec;
    kit_lines *lines;
    bool plain, keep_errors, failed;
    batch *slot;
    size_t slots;
    size_t next_in, next_out; /* turns */
    pthread_mutex_t reading, state;
    pthread_cond_t changed_free, changed_ready;
    _Atomic bool over; /* nobody reads any more */
    bool starved;      /* the caller waits for the slot whose turn it is */
    pthread_t helper[MAX_THREADS];
    unsigned helpers;

    /* feed_run: whose turn it is to be judged and to be written */
    const feed_steps *steps;
    void *ctx;
    size_t judging[FEED_PARTS], writing;
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

static void make_room(feed *f, batch *b, size_t n)
{
    if (n <= b->room)
        return;
    b->room = n;
    b->line = kit_grow(b->line, n, sizeof *b->line);
    b->dup = kit_grow(b->dup, n, sizeof *b->dup);
    if (!f->plain)
        b->own_key = kit_grow(b->own_key, n, sizeof *b->own_key);
    if (f->spec.hash)
        b->own_hash = kit_grow(b->own_hash, n, sizeof *b->own_hash);
}

uint64_t feed_hash(uint64_t seed, seen_key key)
{
    uint64_t h = seen_hash_seeded(seed, key.data, key.len);
#ifdef SEEN_WEAK_HASH /* for a test of what must be right whatever the hash does */
    h &= ~(~(uint64_t)0 >> SEEN_WEAK_HASH);
#endif
    return h;
}

/* Cuts the block of B into lines, keys and hashes. */
static void prepare(feed *f, batch *b)
{
    const keyspec *k = &f->spec.keys;
    const char *p = b->block.data, *end = p + b->block.len;
    b->n = 0;
    while (p < end) {
        if (b->n == b->room)
            make_room(f, b, b->room ? b->room * 2 : 8192);
        seen_key *to = b->line + b->n;
        b->n += k->csv ? kit_cut_csv(&p, end, k->term,
                                     k->separator >= 0 ? (char)k->separator : ',', to,
                                     b->room - b->n)
                       : kit_cut(&p, end, k->term, to, b->room - b->n);
    }
    b->key = b->line;
    b->missing = 0;
    if (!f->plain) {
        arena_reset(&b->words);
        b->key = b->own_key;
        for (size_t i = 0; i < b->n; i++)
            b->key[i] = keyspec_key(k, &b->words, b->line[i], &b->missing);
    }
    if (f->spec.hash) {
        b->hash = b->own_hash;
        for (size_t i = 0; i < b->n; i++)
            b->hash[i] = feed_hash(f->spec.seed, b->key[i]);
    }
    b->prepared = true;
}

static void *help(void *ctx)
{
    feed *f = ctx;
    for (;;) {
        pthread_mutex_lock(&f->reading);
        pthread_mutex_lock(&f->state);
        batch *b = f->slot + f->next_in % f->slots;
        while (b->state != FREE && !f->over)
            pthread_cond_wait(&f->changed_free, &f->state);
        bool over = f->over;
        b->state = over ? b->state : FILLING;
        pthread_mutex_unlock(&f->state);
        if (over) {
            pthread_mutex_unlock(&f->reading);
            return NULL;
        }
        int rc = kit_lines_next(f->lines, &b->block);
        f->next_in++;
        if (rc <= 0) {
            pthread_mutex_lock(&f->state);
            f->over = true;
            f->failed = rc < 0;
            b->state = END;
            pthread_cond_broadcast(&f->changed_ready);
            pthread_mutex_unlock(&f->state);
            pthread_mutex_unlock(&f->reading);
            return NULL;
        }
        size_t turn = f->next_in - 1;
        pthread_mutex_unlock(&f->reading);
        pthread_mutex_lock(&f->state);
        bool leave =
            (f->helpers == 1 && b->block.packed) || (f->starved && turn == f->next_out);
        pthread_mutex_unlock(&f->state);
        b->prepared = false;
        if (!leave)
            prepare(f, b);
        pthread_mutex_lock(&f->state);
        b->state = READY;
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
    if (f->spec.keys.csv)
        kit_lines_csv(f->lines,
                      f->spec.keys.separator >= 0 ? (char)f->spec.keys.separator : ',');
    if (f->spec.raw)
        kit_lines_raw(f->lines);
    f->helpers = spec->threads > 1 ? spec->threads - 1 : 0;
    f->slots = spec->steps ? f->helpers + 1 : f->helpers ? f->helpers * 2 + 2 : 1;
    if (f->slots > SLOTS && !spec->steps)
        f->slots = SLOTS;
    f->slot = kit_alloc(f->slots * sizeof *f->slot);
    pthread_mutex_init(&f->reading, NULL);
    pthread_mutex_init(&f->state, NULL);
    pthread_cond_init(&f->changed_free, NULL);
    pthread_cond_init(&f->changed_ready, NULL);
    pthread_cond_init(&f->changed_turn, NULL);
    if (!spec->steps)
        start_helpers(f, help);
    return f;
}

void feed_keep_errors(feed *f)
{
    f->keep_errors = true;
}
const char *feed_error(const feed *f)
{
    return f->failed ? kit_lines_error(f->lines) : NULL;
}
const kit_lines *feed_lines(const feed *f)
{
    return f->lines;
}

batch *feed_next(feed *f)
{
    batch *b = f->slot + f->next_out % f->slots;
    if (!f->helpers) {
        int rc = f->over ? 0 : kit_lines_next(f->lines, &b->block);
        if (rc > 0) {
            prepare(f, b);
            return b;
        }
        f->over = true;
        f->failed = rc < 0;
    } else {
        pthread_mutex_lock(&f->state);
        f->starved = true;
        while (b->state != READY && b->state != END)
            pthread_cond_wait(&f->changed_ready, &f->state);
        f->starved = false;
        bool end = b->state == END;
        pthread_mutex_unlock(&f->state);
        if (!end) {
            if (!b->prepared)
                prepare(f, b);
            return b;
        }
    }
    if (f->failed && !f->keep_errors)
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

static void next_turn(feed *f, size_t *whose)
{
    pthread_mutex_lock(&f->state);
    ++*whose;
    pthread_cond_broadcast(&f->changed_turn);
    pthread_mutex_unlock(&f->state);
}

static void *walk(void *ctx)
{
    feed *f = ctx;
    pthread_mutex_lock(&f->state);
    batch *b = f->slot + f->next_out++;
    pthread_mutex_unlock(&f->state);
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
        prepare(f, b);
        if (f->steps->sort)
            f->steps->sort(f->ctx, b);
        for (unsigned part = 0; part < f->steps->parts; part++) {
            wait_turn(f, &f->judging[part], turn);
            /* Blocks that others hold already are judged too, and must say the same. */
            if (!f->steps->judge(f->ctx, b, part))
                f->over = true;
            next_turn(f, &f->judging[part]);
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
    start_helpers(f, walk);
    walk(f);
    for (unsigned i = 0; i < f->helpers; i++)
        pthread_join(f->helper[i], NULL);
    f->helpers = 0;
    if (f->failed && !f->keep_errors)
        kit_die("%s", kit_lines_error(f->lines));
}

void feed_done(feed *f, batch *b)
{
    if (!f->helpers)
        return;
    pthread_mutex_lock(&f->state);
    b->state = FREE;
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
        batch *b = f->slot + i;
        kit_block_free(&b->block);
        free(b->line);
        free(b->own_key);
        free(b->own_hash);
        free(b->dup);
        free(b->sorted_hash);
        free(b->sorted_line);
        free(b->sorted_dup);
        arena_free(&b->words);
    }
    free(f->slot);
    kit_lines_free(f->lines);
    free(f);
}
