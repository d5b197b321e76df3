/* pipeline.c - threads that take any task that is ready.
 *
 * Files are lanes, in order; a lane has its blocks in order. One thread at a time
 * writes the first block of the first lane, and one judges the first block that is not
 * judged yet; all threads do everything else. Later lanes may be read ahead, since
 * unpacking one file cannot be divided, but leave room for the first. With one thread
 * the same tasks run one after the other. */
#include "pipeline.h"
#include "human_numbers.h"
#include "progress.h"
#include "result_file.h"
#include "messages.h"
#include "source.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, KEPT = 8 * BLOCK };

enum stage { BUSY, READ, FOUND, JUDGED, RENDERED };
enum task {
    NOTHING,
    TO_READ,
    TO_FIND,
    TO_JUDGE,
    TO_RENDER,
    TO_WRITE,
    TO_FINISH,
    TO_SAVE
};

typedef struct lane {
    struct lane *next;
    size_t file;
    kit_source *source;
    bytes carry; /* the beginning of a line */
    bool begun, reading, ended;
    block *first, *last;
    size_t blocks;
    result_file kept, gone;
    uint64_t lines;
} lane;

typedef struct pipeline {
    dedup_run *run;
    pthread_mutex_t lock;
    pthread_cond_t change;
    lane *first, *last;
    size_t lanes, next_file, blocks;
    block *spare;
    bool judging, writing;
    uint64_t since_save; /* bytes judged since the state was saved */
    uint64_t taken;      /* bytes of files that are finished */
    double began;
} pipeline;

typedef struct worker {
    pipeline *p;
    finder *finder;
    packer *packer[PACKINGS];
} worker;

/* A task and its block. */
typedef struct job {
    enum task task;
    lane *lane;
    block *block;
} job;

/* ---- blocks ---------------------------------------------------------------------- */

static block *new_block(pipeline *p)
{
    block *b = p->spare;
    if (b)
        p->spare = b->next;
    else
        b = kit_alloc(sizeof *b);
    b->next = NULL;
    b->stage = BUSY;
    b->error[0] = 0;
    b->docs = b->paras = b->keys = 0;
    b->data.len = 0;
    p->blocks++;
    return b;
}

static void free_block(block *b)
{
    free(b->data.data);
    free(b->doc);
    free(b->para);
    free(b->key);
    free(b->origin);
    free(b->out.data);
    free(b->removed.data);
    free(b->packed.data);
    free(b->removed_packed.data);
    free(b);
}

/* Memory that one huge line needed is freed. */
static void spare_block(pipeline *p, block *b)
{
    p->blocks--;
    if (b->data.room > KEPT || b->out.room > KEPT ||
        b->key_room * sizeof *b->key > KEPT) {
        free_block(b);
        return;
    }
    b->next = p->spare;
    p->spare = b;
}

/* ---- reading --------------------------------------------------------------------- */

static size_t most_memory(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
}

/* Fills B with whole lines, always as many as fit one block, so that blocks depend on
 * the content alone. Returns whether the file goes on. */
static bool read_block(lane *l, block *b, const char *path)
{
    size_t looked = l->carry.len, end = 0;
    bytes_put(&b->data, l->carry.data, l->carry.len);
    l->carry.len = 0;
    for (;;) {
        size_t want = b->data.len < BLOCK ? BLOCK - b->data.len : BLOCK;
        if (b->data.len + want > most_memory()) {
            snprintf(b->error, sizeof b->error,
                     "%s: a line is longer than half of the machine's memory", path);
            return false;
        }
        ssize_t n =
            kit_source_read(l->source, bytes_room(&b->data, want + JSON_PAD), want);
        if (n < 0 || (n == 0 && *kit_source_error(l->source))) {
            snprintf(b->error, sizeof b->error, "%s: %s", path,
                     kit_source_error(l->source));
            return false;
        }
        b->data.len += (size_t)n;
        if (n && b->data.len < BLOCK)
            continue;
        if (n) {
            char *line = memrchr(b->data.data + looked, '\n', b->data.len - looked);
            looked = b->data.len;
            if (!line)
                continue;
            end = (size_t)(line - b->data.data) + 1;
            bytes_put(&l->carry, b->data.data + end, b->data.len - end);
            b->data.len = end;
        }
        if (b->data.data)
            memset(bytes_room(&b->data, JSON_PAD), 0, JSON_PAD);
        return n > 0;
    }
}

static void do_read(worker *w, job *t)
{
    lane *l = t->lane;
    block *b = t->block;
    const input *in = w->p->run->in.of + l->file;
    bool more = false;
    if (!l->source && !(l->source = kit_source_open(in->path)))
        snprintf(b->error, sizeof b->error, "%s: %s", in->path, strerror(errno));
    else
        more = read_block(l, b, strcmp(in->path, "-") ? in->path : "standard input");
    pthread_mutex_lock(&w->p->lock);
    b->first = !l->begun;
    b->file = l->file;
    b->taken = l->source ? kit_source_taken(l->source) : 0;
    b->stage = b->error[0] ? FOUND : READ;
    l->begun = true;
    l->reading = false;
    l->ended = !more;
    if (l->ended) {
        kit_source_close(l->source);
        l->source = NULL;
    }
    if (!b->data.len && !b->error[0]) { /* at the very end: nothing in it */
        if (l->first == b) {
            l->first = l->last = NULL;
        } else {
            block *before = l->first;
            while (before->next != b)
                before = before->next;
            before->next = NULL;
            l->last = before;
        }
        l->blocks--;
        spare_block(w->p, b);
    }
    pthread_mutex_unlock(&w->p->lock);
}

/* ---- the other tasks ------------------------------------------------------------- */

static void do_judge(worker *w, job *t)
{
    dedup_run *r = w->p->run;
    lane *l = t->lane;
    block *b = t->block;
    const char *path = r->in.of[l->file].path;
    if (b->bad_code && !b->error[0]) {
        bool named = b->bad_code >= JSON_NO_FIELD && b->bad_code <= JSON_TWICE;
        char field[128] = "";
        for (size_t i = 0; named && i < r->rules.field.levels; i++)
            snprintf(field + strlen(field), sizeof field - strlen(field), "%s%s",
                     i ? "." : " ", r->rules.field.name[i]);
        snprintf(b->error, sizeof b->error,
                 "%s:%llu: %s%s (--skip-bad copies such lines)",
                 strcmp(path, "-") ? path : "standard input",
                 (unsigned long long)(l->lines + b->bad_line + 1),
                 json_code_words(b->bad_code), field);
    }
    if (b->error[0])
        kit_die("%s", b->error);
    b->line_base = l->lines;
    l->lines += b->docs;
    r->read += b->data.len;
    bool on = true;
    if (r->take) {
        judge_take(r->judge.filter, b);
    } else if (r->combine) {
        on = combine_block(r->combine, b, r->in.of + l->file);
        judge_count(&r->judge, b);
    } else {
        on = judge_block(&r->judge, b);
    }
    const judge *j = &r->judge;
    b->upto.documents = j->documents;
    b->upto.read = r->read;
    b->upto.gone = j->bytes ? (double)j->bytes_gone / (double)j->bytes : 0;
    b->upto.error = j->error;
    pthread_mutex_lock(&w->p->lock);
    w->p->since_save += b->data.len;
    w->p->judging = false;
    b->stage = on ? JUDGED : FOUND;
    pthread_mutex_unlock(&w->p->lock);
}

static packer *packer_for(worker *w, enum packing k)
{
    if (!w->packer[k])
        w->packer[k] = packer_new(k, w->p->run->level);
    return w->packer[k];
}

static void pack_bytes(packer *pack, const bytes *from, bytes *to)
{
    size_t room = packer_bound(pack, from->len);
    to->len = packer_run(pack, from->data, from->len, bytes_room(to, room), room);
}

static void do_render(worker *w, job *t)
{
    dedup_run *r = w->p->run;
    block *b = t->block;
    const input *in = r->in.of + t->lane->file;
    b->packed.len = b->removed_packed.len = 0;
    if (r->take)
        return;
    render_block(&r->rules, b, r->names, r->removed || in->gone,
                 r->judge.origins != NULL);
    if (in->packed == PACK_PLAIN)
        return;
    packer *pack = packer_for(w, in->packed);
    if (b->out.len)
        pack_bytes(pack, &b->out, &b->packed);
    if (in->gone && b->removed.len)
        pack_bytes(pack, &b->removed, &b->removed_packed);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void show_progress(const pipeline *p, const block *b)
{
    const dedup_run *r = p->run;
    char line[200], eta[48] = "", a[24], c[32];
    double t = now() - p->began, done = (double)(p->taken + b->taken);
    if (r->in.size && done > 0 && done < (double)r->in.size) {
        long left = (long)(t * ((double)r->in.size - done) / done);
        snprintf(eta, sizeof eta, ", %.0f%%, %ld:%02ld left",
                 100 * done / (double)r->in.size, left / 60, left % 60);
    }
    snprintf(line, sizeof line, "%s documents, %s/s, %.1f%% removed, error %.2g%s",
             kit_show_count(b->upto.documents, c),
             kit_show_bytes(t > 0 ? (double)b->upto.read / t : 0, a),
             100 * b->upto.gone, b->upto.error, eta);
    kit_progress_text(line);
}

static void do_write(worker *w, job *t)
{
    pipeline *p = w->p;
    dedup_run *r = p->run;
    block *b = t->block;
    if (!r->take) {
        const input *in = r->in.of + t->lane->file;
        bool packed = in->packed != PACK_PLAIN;
        const bytes *out = packed ? &b->packed : &b->out;
        result_write(&t->lane->kept, out);
        r->written += out->len;
        if (in->gone)
            result_write(&t->lane->gone, packed ? &b->removed_packed : &b->removed);
        else if (r->removed && b->removed.len &&
                 kit_output_write(r->removed, b->removed.data, b->removed.len) < 0)
            kit_output_fail(r->removed);
    }
    if (kit_progress_due())
        show_progress(p, b);
    pthread_mutex_lock(&p->lock);
    t->lane->first = b->next;
    if (!b->next)
        t->lane->last = NULL;
    t->lane->blocks--;
    spare_block(p, b);
    p->writing = false;
    pthread_mutex_unlock(&p->lock);
}

/* The file is whole: into its place, and only then it counts as finished. */
static void do_finish(worker *w, job *t)
{
    pipeline *p = w->p;
    dedup_run *r = p->run;
    lane *l = t->lane;
    const input *in = r->in.of + l->file;
    if (!r->take) {
        packer *pack = in->packed != PACK_PLAIN ? packer_for(w, in->packed) : NULL;
        if (in->gone)
            result_commit(&l->gone, pack, true);
        result_commit(&l->kept, pack, r->state != NULL);
        if (r->state)
            progress_finished(r->state, in);
    }
    r->finished++;
    p->taken += in->size;
    pthread_mutex_lock(&p->lock);
    p->first = l->next;
    if (!p->first)
        p->last = NULL;
    p->lanes--;
    p->writing = false;
    pthread_mutex_unlock(&p->lock);
    free(l->carry.data);
    free(l);
}

static void save_state(pipeline *p)
{
    progress_save(p->run->state, p->run->judge.filter);
    p->since_save = 0;
}

static void do_save(worker *w, job *t)
{
    save_state(w->p);
    pthread_mutex_lock(&w->p->lock);
    w->p->judging = false;
    pthread_mutex_unlock(&w->p->lock);
}

/* ---- what is next ---------------------------------------------------------------- */

/* A save writes the whole filter, so it waits until a multiple of its size was read. */
static bool save_due(const pipeline *p)
{
    const dedup_run *r = p->run;
    if (!r->state || !p->since_save)
        return false;
    uint64_t filter = 8 * seen_bytes(r->judge.filter), least = 64 << 20;
    return p->since_save >= (r->save_every    ? r->save_every
                             : filter > least ? filter
                                              : least);
}

/* The first block that is not judged, if it can be now. */
static bool next_to_judge(pipeline *p, job *t)
{
    if (p->judging)
        return false;
    for (lane *l = p->first; l; l = l->next) {
        for (block *b = l->first; b; b = b->next) {
            if (b->stage >= JUDGED)
                continue;
            if (b->stage != FOUND)
                return false; /* it is being judged, or not ready */
            /* Before a run stops or the state is saved, files before are in place. */
            bool save = b->first && save_due(p);
            if (l != p->first && (save || b->bad_code || b->error[0]))
                return false;
            *t = (job){save ? TO_SAVE : TO_JUDGE, l, b};
            p->judging = true;
            if (!save)
                b->stage = BUSY;
            return true;
        }
        if (!l->ended)
            return false;
    }
    return false;
}

static bool next_at_stage(pipeline *p, enum stage stage, enum task task, job *t)
{
    for (lane *l = p->first; l; l = l->next)
        for (block *b = l->first; b; b = b->next)
            if (b->stage == (int)stage) {
                *t = (job){task, l, b};
                b->stage = BUSY;
                return true;
            }
    return false;
}

static bool next_to_write(pipeline *p, job *t)
{
    lane *l = p->first;
    if (p->writing || !l)
        return false;
    if (l->first && l->first->stage == RENDERED)
        *t = (job){TO_WRITE, l, l->first};
    else if (!l->first && l->ended && !l->reading)
        *t = (job){TO_FINISH, l, NULL};
    else
        return false;
    p->writing = true;
    return true;
}

static lane *open_lane(pipeline *p)
{
    const inputs *in = &p->run->in;
    while (p->next_file < in->n && in->of[p->next_file].done)
        p->next_file++;
    if (p->next_file == in->n)
        return NULL;
    lane *l = kit_alloc(sizeof *l);
    l->file = p->next_file++;
    l->kept.target = in->of[l->file].target;
    l->gone.target = in->of[l->file].gone;
    if (p->last)
        p->last->next = l;
    else
        p->first = l;
    p->last = l;
    p->lanes++;
    return l;
}

static bool next_to_read(pipeline *p, job *t)
{
    size_t threads = p->run->threads, each = 2 * threads + 2;
    lane *l = p->first;
    while (l && (l->reading || l->ended || l->blocks >= each ||
                 (l != p->first && p->blocks >= 2 * each)))
        l = l->next;
    if (!l && p->lanes <= threads && (!p->first || p->blocks < 2 * each))
        l = open_lane(p);
    if (!l)
        return false;
    block *b = new_block(p);
    if (l->last)
        l->last->next = b;
    else
        l->first = b;
    l->last = b;
    l->blocks++;
    l->reading = true;
    *t = (job){TO_READ, l, b};
    return true;
}

static bool next_job(pipeline *p, job *t)
{
    return next_to_write(p, t) || next_to_judge(p, t) ||
           next_at_stage(p, JUDGED, TO_RENDER, t) ||
           next_at_stage(p, READ, TO_FIND, t) || next_to_read(p, t);
}

static void stage_done(pipeline *p, block *b, enum stage stage)
{
    pthread_mutex_lock(&p->lock);
    b->stage = stage;
    pthread_mutex_unlock(&p->lock);
}

static void *work(void *ctx)
{
    worker *w = ctx;
    pipeline *p = w->p;
    w->finder = finder_new(&p->run->rules);
    pthread_mutex_lock(&p->lock);
    for (;;) {
        job t = {NOTHING, NULL, NULL};
        if (!next_job(p, &t)) {
            if (!p->first)
                break; /* no lane, and none could be opened */
            pthread_cond_wait(&p->change, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        switch (t.task) {
        case TO_READ:
            do_read(w, &t);
            break;
        case TO_FIND:
            finder_run(w->finder, t.block);
            stage_done(p, t.block, FOUND);
            break;
        case TO_JUDGE:
            do_judge(w, &t);
            break;
        case TO_RENDER:
            do_render(w, &t);
            stage_done(p, t.block, RENDERED);
            break;
        case TO_WRITE:
            do_write(w, &t);
            break;
        case TO_FINISH:
            do_finish(w, &t);
            break;
        case TO_SAVE:
            do_save(w, &t);
            break;
        case NOTHING:
            break;
        }
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->change);
    }
    pthread_mutex_unlock(&p->lock);
    finder_free(w->finder);
    for (size_t i = 0; i < PACKINGS; i++)
        packer_free(w->packer[i]);
    return NULL;
}

void pipeline_run(dedup_run *r)
{
    pipeline p = {.run = r, .began = now()};
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.change, NULL);
    for (size_t i = 0; i < r->in.n; i++)
        if (r->in.of[i].done)
            p.taken += r->in.of[i].size;
    worker *w = kit_alloc(r->threads * sizeof *w);
    pthread_t *thread = kit_alloc(r->threads * sizeof *thread);
    for (unsigned i = 0; i < r->threads; i++)
        w[i].p = &p;
    for (unsigned i = 1; i < r->threads; i++)
        if (pthread_create(thread + i, NULL, work, w + i))
            kit_die("cannot start a thread: %s", strerror(errno));
    work(w);
    for (unsigned i = 1; i < r->threads; i++)
        pthread_join(thread[i], NULL);
    if (r->combine)
        combine_end(r->combine);
    if (r->state && r->finished)
        save_state(&p);
    while (p.spare) {
        block *b = p.spare;
        p.spare = b->next;
        free_block(b);
    }
    free(w);
    free(thread);
    pthread_mutex_destroy(&p.lock);
    pthread_cond_destroy(&p.change);
}
