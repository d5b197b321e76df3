/* gate.c - see gate.h. */
#include "gate.h"
#include "guard_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sn_gate_open(gate *g, control *c, const char *path)
{
    pthread_rwlockattr_t attr;
    memset(g, 0, sizeof *g);
    g->c = c;
    g->path = strdup(path);
    if (!g->path)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    /* Readers come without end; a swap must get its turn. */
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&g->lock, &attr);
    pthread_rwlockattr_destroy(&attr);
    return 0;
}

void sn_gate_close(gate *g)
{
    seen_free(g->live.f);
    seen_free(g->next.f);
    pthread_rwlock_destroy(&g->lock);
    free(g->path);
}

void sn_gate_name(const gate *g, uint32_t number, char *buf, size_t size)
{
    snprintf(buf, size, "%s.%u", g->path, number);
}

static seen_filter *find(const gate *g, uint32_t number)
{
    return number == 0                ? NULL
           : g->live.number == number ? g->live.f
           : g->next.number == number ? g->next.f
                                      : NULL;
}

/* Filter NUMBER, taken from what is mapped or mapped now. */
static int take(gate *g, uint32_t number, gate_filter *out)
{
    char name[4096];
    gate_filter *have = g->live.number == number ? &g->live : &g->next;
    out->number = number;
    out->f = NULL;
    if (number == 0)
        return 0;
    if (have->number == number) {
        *out = *have;
        *have = (gate_filter){0, NULL};
        return 0;
    }
    sn_gate_name(g, number, name, sizeof name);
    int rc = seen_open(name, SEEN_SHARED, &out->f);
    if (rc == 0 && seen_hash(out->f, "", 0) != seen_hash_seeded(g->c->seed, "", 0)) {
        seen_free(out->f);
        rc = SEEN_EMISMATCH;
    } else if (rc == SEEN_EIO && errno == ENOENT)
        rc = SEEN_EDAMAGED;
    if (rc < 0)
        *out = (gate_filter){0, NULL};
    return rc;
}

/* Maps what W names and unmaps the rest. On failure *BAD is the filter that could not
 * be had. */
static int follow(gate *g, uint64_t w, uint32_t *bad)
{
    gate_filter live, next;
    pthread_rwlock_wrlock(&g->lock);
    int rc = take(g, word_live(w), &live), rc2 = take(g, word_next(w), &next);
    seen_free(g->live.f);
    seen_free(g->next.f);
    g->live = live;
    g->next = next;
    pthread_rwlock_unlock(&g->lock);
    *bad = rc < 0 ? word_live(w) : word_next(w);
    return rc < 0 ? rc : rc2;
}

enum gate_answer sn_gate_ask(gate *g, uint64_t hash)
{
    for (int tries = 0; tries < 100; tries++) {
        uint64_t w = g->c->word;
        uint32_t live = word_live(w), bad;
        if (live == 0)
            return GATE_OPEN;
        pthread_rwlock_rdlock(&g->lock);
        seen_filter *f = find(g, live);
        bool has = f && seen_has_hash(f, hash);
        pthread_rwlock_unlock(&g->lock);
        if (f)
            return has ? GATE_MAYBE : GATE_NO;
        if (g->cannot == live && sn_guard_now_ms() < g->until)
            return GATE_OPEN;
        int rc = follow(g, w, &bad);
        if (rc == 0 || bad != live || g->c->word != w)
            continue;
        /* Nobody can use a file that is gone or damaged; one that only this process
         * cannot open (no descriptors, no right) serves the others. */
        if (rc != SEEN_EIO && rc != SEEN_ENOMEM)
            sn_control_drop_live(g->c, live, WHY_LOST);
        g->until = sn_guard_now_ms() + 1000;
        g->cannot = live;
        return GATE_OPEN;
    }
    return GATE_OPEN;
}

void sn_gate_add(gate *g, uint64_t hash)
{
    for (;;) {
        uint64_t w = g->c->word;
        uint32_t live = word_live(w), next = word_next(w), bad = 0;
        if (w == 0)
            return;
        pthread_rwlock_rdlock(&g->lock);
        seen_filter *a = find(g, live), *b = find(g, next);
        if (a && seen_add_hash(a, hash) == SEEN_NEW)
            g->c->added++;
        if (b)
            seen_add_hash(b, hash);
        pthread_rwlock_unlock(&g->lock);
        if ((a || !live) && (b || !next))
            break;
        if (follow(g, w, &bad) < 0 && g->c->word == w) {
            if (bad == live)
                sn_control_drop_live(g->c, live, WHY_LOST);
            else
                atomic_compare_exchange_strong(&g->c->word, &w, word_of(live, 0));
        }
    }
    atomic_thread_fence(memory_order_seq_cst);
}

uint64_t sn_gate_bytes(gate *g)
{
    pthread_rwlock_rdlock(&g->lock);
    uint64_t n = g->live.f ? seen_bytes(g->live.f) : 0;
    pthread_rwlock_unlock(&g->lock);
    return n;
}
