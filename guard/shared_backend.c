/* shared_backend.c - filter, marks and cache in a Redis that many machines share.
 *
 * A question is one script, called with this process's last view of the state. If the
 * view is out of date, the script only says so. */
#include "shared_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- filters --------------------------------------------------------------------- */

int sn_shared_size(uint64_t keys, double error, shared_shape *out)
{
    seen_size size = {.kind = SEEN_CLASSIC, .keys = keys, .error = error};
    int rc = seen_solve(&size);
    *out = (shared_shape){.bits = (size.bits + 7) / 8 * 8, .probes = size.probes};
    if (rc == 0 && out->bits > ((uint64_t)1 << 32) - 8)
        rc = SEEN_ETOOBIG;
    return rc < 0 ? sn_guard_fail(rc,
                                  "a filter for %llu keys does not fit a Redis "
                                  "string of 512 MB",
                                  (unsigned long long)keys)
                  : 0;
}

size_t sn_shared_bytes(const shared_shape *f)
{
    return (size_t)(f->bits / 8 + 1);
}

uint64_t sn_shared_bit(const shared_shape *f, uint64_t hash, uint32_t probe)
{
    uint64_t step = hash * 0x9e3779b97f4a7c15u;
    step = (step ^ step >> 32) * 0xd6e8feb86659fd93u | 1;
    return (uint64_t)(((unsigned __int128)(hash + probe * step) * f->bits) >> 64);
}

void sn_shared_mark(char out[24], uint64_t hash)
{
    snprintf(out, 24, "m%016llx", (unsigned long long)hash);
}

uint64_t sn_shared_token(shared_backend *h)
{
    uint64_t n = ++h->tokens;
    return seen_hash_seeded(h->random, &n, sizeof n) | 1;
}

/* ---- the view -------------------------------------------------------------------- */

static uint64_t hex(const char *s)
{
    return strtoull(s, NULL, 16);
}

/* "3:" and a secret of 128 bits: the keyed hash. 64 bits alone, as in older states:
 * XXH3. Anything else belongs to another version. */
static bool read_hasher(seen_hasher *out, const char *text)
{
    bool keyed = strncmp(text, "3:", 2) == 0;
    const char *digits = keyed ? text + 2 : text;
    size_t len = strspn(digits, "0123456789abcdef");
    if (digits[len] || len != (keyed ? 32 : 16))
        return false;
    char low[17];
    snprintf(low, sizeof low, "%.16s", digits);
    return seen_hasher_init(out, keyed ? SEEN_HASH_KEYED : SEEN_HASH_XXH3, hex(low),
                            keyed ? hex(digits + 16) : 0) == 0;
}

static void read_shape(shared_shape *f, const char *id, const char *text)
{
    unsigned long long bits = 0;
    unsigned probes = 0;
    *f = (shared_shape){0};
    if (*id && sscanf(text, "%llu:%u", &bits, &probes) == 2 && bits >= 8 &&
        bits < 1ull << 32 && probes >= 1 && probes <= 64) {
        snprintf(f->id, sizeof f->id, "%s", id);
        f->bits = bits;
        f->probes = probes;
    }
}

static bool read_view(const redisReply *r, shared_view *v)
{
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 18)
        return false;
    memset(v, 0, sizeof *v);
    snprintf(v->run, sizeof v->run, "%s", sn_reply_text(r, 0));
    v->tag = hex(sn_reply_text(r, 1));
    if (!read_hasher(&v->hasher, sn_reply_text(r, 2)))
        return false;
    snprintf(v->epoch, sizeof v->epoch, "%s", sn_reply_text(r, 3));
    read_shape(&v->live, sn_reply_text(r, 4), sn_reply_text(r, 5));
    read_shape(&v->next, sn_reply_text(r, 6), sn_reply_text(r, 7));
    snprintf(v->why, sizeof v->why, "%s", sn_reply_text(r, 8));
    v->suspended = sn_reply_text(r, 9)[0] == '1';
    uint64_t replicas;
    uint64_t *number[] = {&v->generation, &v->built, &v->added,       &v->deleted,
                          &v->capacity,   &replicas, &v->enforced_ms, &v->marks};
    for (size_t i = 0; i < 8; i++) {
        long long n = strtoll(sn_reply_text(r, 10 + i), NULL, 10);
        *number[i] = n > 0 ? (uint64_t)n : 0;
    }
    return true;
}

int sn_shared_look(shared_backend *h, shared_server *s, bool fresh, shared_view *v)
{
    pthread_mutex_lock(&h->lock);
    *v = h->view;
    pthread_mutex_unlock(&h->lock);
    if (!fresh && strcmp(v->run, s->run) == 0)
        return 0;
    if (fresh && !sn_shared_identify(h, s))
        return SEEN_EIO;
    uint64_t made[3]; /* the secret, if this makes the state, and the epoch */
    if (seen_random_bytes(made, sizeof made) < 0)
        return sn_guard_fail(SEEN_EIO, "%s", seen_reason());
    char text[40];
    shared_words w = {0};
    sn_words_script(&w, h, s, SCRIPT_STATE, 1);
    sn_words_text(&w, s->run);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)h->tag);
    sn_words_text(&w, text);
    snprintf(text, sizeof text, "3:%016llx%016llx", (unsigned long long)made[0],
             (unsigned long long)made[1]);
    sn_words_text(&w, text);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)made[2]);
    sn_words_text(&w, text);
    sn_words_number(&w, h->replicas);
    sn_words_number(&w, h->enforce_lease_ms);
    sn_words_number(&w, h->write_lease_ms);
    redisReply *r = sn_shared_send(s, &w);
    int rc = r && read_view(r, v) ? 0 : SEEN_EIO;
    if (r && rc < 0)
        sn_guard_fail(SEEN_EIO,
                      "redis: %s holds something else, or is of a later version",
                      h->state);
    if (r)
        freeReplyObject(r);
    if (rc == 0) {
        pthread_mutex_lock(&h->lock);
        h->view = *v;
        pthread_mutex_unlock(&h->lock);
    }
    return rc;
}

/* ---- asking ---------------------------------------------------------------------- */

static void lease_text(char out[24], uint64_t token)
{
    snprintf(out, 24, "L%016llx", (unsigned long long)token);
}

/* The holder of a lease asks the database and fills the entry. No connection is kept
 * meanwhile. */
static int fill(seen_guard *g, const question *q, const char *epoch, const char *lease,
                seen_guard_bytes *value)
{
    shared_backend *h = g->shared;
    int rc = sn_guard_query(g, q, value);
    shared_server *s = sn_pool_take(&h->pool);
    redisReply *r = NULL;
    if (s) {
        shared_words w = {0};
        sn_words_script(&w, h, s, SCRIPT_FILL, 1);
        sn_words_key(&w, h, "c", epoch, q->key, q->len);
        sn_words_text(&w, lease);
        char *text = rc == 1 ? malloc(value->len + 1) : NULL;
        if (text) {
            text[0] = 'V';
            memcpy(text + 1, value->data, value->len);
            sn_words_add(&w, text, value->len + 1);
        } else {
            sn_words_text(
                &w, rc == 0 && !(g->config.flags & SEEN_GUARD_NO_MARKERS) ? "N" : "");
        }
        free(text);
        sn_words_number(&w, rc == 1 ? g->config.value_ttl_ms : g->config.marker_ttl_ms);
        r = sn_shared_send(s, &w);
        sn_pool_give(&h->pool, s, !r);
    }
    if (r)
        freeReplyObject(r);
    else
        g->count.cache_errors++;
    return rc;
}

/* What an entry says: the value, "absent", or that somebody is filling it. */
static int read_entry(seen_guard *g, const redisReply *e, seen_guard_bytes *value)
{
    size_t len = (size_t)e->len;
    if (len == 1 && e->str[0] == 'N') {
        g->count.markers++;
        return 0;
    }
    if (len == 17 && e->str[0] == 'L')
        return ASK_LATER;
    if (len == 0 || e->str[0] != 'V' || !(value->data = malloc(len))) {
        g->count.cache_errors++;
        return ASK_PAST;
    }
    value->len = len - 1;
    memcpy(value->data, e->str + 1, value->len);
    g->count.hits++;
    return 1;
}

static redisReply *send_question(seen_guard *g, shared_server *s, const shared_view *v,
                                 const question *q, bool filter_too, const char *lease)
{
    shared_backend *h = g->shared;
    shared_words w = {0};
    char mark[24];
    bool filter = filter_too && v->live.id[0];
    sn_shared_mark(mark, q->hash);
    sn_words_script(&w, h, s, SCRIPT_ASK, 3);
    sn_words_key(&w, h, "bits", v->live.id, NULL, 0);
    sn_words_key(&w, h, "c", v->epoch, q->key, q->len);
    sn_words_text(&w, s->run);
    sn_words_text(&w, v->live.id);
    sn_words_text(&w, v->epoch);
    sn_words_text(&w, mark);
    sn_words_number(&w, filter);
    sn_words_number(&w, sn_shared_bytes(&v->live));
    sn_words_text(&w, lease);
    sn_words_number(&w, g->config.lease_ms);
    for (uint32_t i = 0; filter && i < v->live.probes; i++)
        sn_words_number(&w, sn_shared_bit(&v->live, q->hash, i));
    return sn_shared_send(s, &w);
}

/* One attempt over S: returns what ask below returns, or one of these. *R is the reply;
 * its entry is still to be read. */
enum {
    TRY_STALE = -1000,  /* the view was out of date */
    TRY_BROKEN = -1001, /* S is of no more use */
    TRY_FILL = -1002,   /* we have the lease of the entry */
    TRY_ENTRY = -1003   /* there is an entry */
};
static int try_once(seen_guard *g, shared_server *s, const shared_view *v, question *q,
                    bool filter_too, const char *lease, redisReply **r)
{
    q->hash = seen_hasher_hash(&v->hasher, q->key, q->len);
    *r = send_question(g, s, v, q, filter_too, lease);
    if (!*r)
        return TRY_BROKEN;
    char filter = sn_reply_says(*r), cache = sn_reply_text(*r, 1)[0];
    if (filter == 'S')
        return TRY_STALE;
    if (filter == 'R' && filter_too) {
        g->count.refused++;
        return 0;
    }
    if (filter_too && filter != 'M')
        g->count.open++;
    if (cache == 'F')
        return TRY_FILL;
    if (cache == 'E' && (*r)->elements == 3 &&
        (*r)->element[2]->type == REDIS_REPLY_STRING)
        return TRY_ENTRY;
    g->count.past_cache++;
    return ASK_PAST;
}

static int ask(seen_guard *g, question *q, bool filter_too, seen_guard_bytes *value)
{
    shared_backend *h = g->shared;
    char lease[24];
    shared_view v;
    shared_server *s = NULL;
    int rc = TRY_BROKEN;
    q->hash = seen_hash_seeded(h->random, q->key, q->len);
    if (sn_guard_now_ms() >= h->down_until)
        s = sn_pool_take(&h->pool);
    lease_text(lease, sn_shared_token(h));
    redisReply *r = NULL;
    for (int tries = 0; s && tries < 4; tries++) {
        if (r)
            freeReplyObject(r);
        r = NULL;
        rc = sn_shared_look(h, s, tries > 0, &v) < 0 ? TRY_BROKEN
             : v.tag != h->tag                       ? ASK_PAST
                                                     : TRY_STALE;
        if (rc == ASK_PAST && filter_too)
            g->count.open++;
        if (rc == TRY_STALE)
            rc = try_once(g, s, &v, q, filter_too, lease, &r);
        if (rc != TRY_STALE)
            break;
    }
    if (s)
        sn_pool_give(&h->pool, s, rc == TRY_BROKEN);
    if (rc == TRY_ENTRY)
        rc = read_entry(g, r->element[2], value);
    if (r)
        freeReplyObject(r);
    if (rc == TRY_FILL)
        return fill(g, q, v.epoch, lease, value);
    if (rc == TRY_BROKEN || rc == TRY_STALE) {
        if (filter_too)
            g->count.open++;
        g->count.cache_errors++;
        if (rc == TRY_BROKEN)
            h->down_until = sn_guard_now_ms() + SHARED_PAUSE_MS;
        rc = ASK_PAST;
    }
    return rc;
}

/* Other machines write, too: nothing is known here. */
static flight_writes writes(seen_guard *g, const question *q)
{
    (void)g;
    (void)q;
    return (flight_writes){0, false};
}

/* ---- the rest -------------------------------------------------------------------- */

/* A view of now; false if the server cannot be reached. */
static bool look_now(shared_backend *h, shared_view *v)
{
    shared_server *s = sn_pool_take(&h->pool);
    bool good = s && sn_shared_look(h, s, true, v) == 0;
    if (s)
        sn_pool_give(&h->pool, s, !good);
    return good;
}

static bool due(seen_guard *g)
{
    shared_view v;
    if (!look_now(g->shared, &v) || v.tag != g->shared->tag)
        return false;
    if (!v.live.id[0])
        return !v.suspended;
    uint64_t keys = v.built + v.added;
    return keys > v.capacity || (double)v.deleted > g->config.worn * (double)keys + 100;
}

static int suspend(seen_guard *g)
{
    shared_backend *h = g->shared;
    shared_view v;
    int rc = SEEN_EIO;
    shared_server *s = sn_pool_take(&h->pool);
    redisReply *r = NULL;
    if (s && sn_shared_look(h, s, true, &v) == 0) {
        shared_words w = {0};
        sn_words_script(&w, h, s, SCRIPT_SUSPEND, 1);
        sn_words_text(&w, s->run);
        r = sn_shared_send(s, &w);
        if (r && sn_reply_says(r) == 'K')
            rc = 0;
    }
    if (s)
        sn_pool_give(&h->pool, s, !r);
    if (r)
        freeReplyObject(r);
    return rc;
}

/* The reply of WAIT: how many replicas have everything sent over S; -1 if S broke. */
static long long count_replicas(shared_backend *h, shared_server *s)
{
    shared_words w = {0};
    sn_words_text(&w, "WAIT");
    sn_words_number(&w, h->replicas);
    sn_words_number(&w, SHARED_WAIT_MS);
    redisReply *r = sn_shared_send(s, &w);
    long long n = r && r->type == REDIS_REPLY_INTEGER ? r->integer : -1;
    if (r)
        freeReplyObject(r);
    return n;
}

int sn_shared_wait(shared_backend *h, shared_server *s)
{
    long long n = h->replicas ? count_replicas(h, s) : 0;
    return n >= (long long)h->replicas
               ? 0
               : sn_guard_fail(SEEN_EIO, "redis: %lld of %u replicas confirmed in time",
                               n < 0 ? 0 : n, h->replicas);
}

int sn_shared_confirm(shared_backend *h, shared_server *s)
{
    shared_words w = {0};
    sn_words_script(&w, h, s, SCRIPT_TOUCH, 1);
    sn_words_text(&w, s->run);
    sn_words_number(&w, sn_shared_token(h));
    redisReply *touched = sn_shared_send(s, &w), *r = NULL;
    if (touched && sn_reply_says(touched) == 'K' && sn_shared_wait(h, s) == 0) {
        sn_words_script(&w, h, s, SCRIPT_ENFORCE, 1);
        sn_words_text(&w, s->run);
        sn_words_text(&w, sn_reply_text(touched, 1));
        r = sn_shared_send(s, &w);
    }
    int rc = r && sn_reply_says(r) == 'K' ? 0 : SEEN_EIO;
    if (touched)
        freeReplyObject(touched);
    if (r)
        freeReplyObject(r);
    return rc;
}

/* With replicas: the server may refuse keys for a lease's time after they confirmed. A
 * master without its replicas may have been replaced: look for the master again. */
static unsigned keep(seen_guard *g)
{
    shared_backend *h = g->shared;
    unsigned again = h->enforce_lease_ms / 4;
    shared_view v;
    if (!h->replicas)
        return 60000;
    shared_server *s = sn_pool_take(&h->pool);
    if (!s)
        return again;
    int rc = sn_shared_look(h, s, true, &v);
    if (rc == 0 && v.enforced_ms <= h->enforce_lease_ms / 2) /* else another has */
        rc = sn_shared_confirm(h, s);
    sn_pool_give(&h->pool, s, rc < 0);
    return again;
}

static void stats(seen_guard *g, seen_guard_stats *s)
{
    static const char *const known[] = {"loading", "lost"};
    shared_view v;
    if (!look_now(g->shared, &v)) {
        s->state = "unreachable";
        return;
    }
    s->state = v.tag != g->shared->tag ? "foreign"
               : v.suspended           ? "suspended"
               : !v.live.id[0]         ? known[strcmp(v.why, "lost") == 0]
               : !v.enforced_ms        ? "waiting"
                                       : "enforcing";
    s->generation = v.live.id[0] ? (uint32_t)v.generation : 0;
    s->keys = v.built + v.added;
    s->deleted = v.deleted;
    s->capacity = v.capacity;
    s->bytes = v.live.id[0] ? sn_shared_bytes(&v.live) : 0;
    s->in_flight = v.marks;
}

/* ---- opening --------------------------------------------------------------------- */

static void close_shared(seen_guard *g)
{
    shared_backend *h = g->shared;
    if (h->pool.conn) {
        sn_fork_unwatch(&h->fork);
        sn_pool_destroy(&h->pool);
        pthread_mutex_destroy(&h->lock);
    }
    for (unsigned i = 0; i < h->servers; i++)
        free(h->host[i]);
    free(h->name);
    free(h->user);
    free(h->password);
    free(h->state);
    free(h);
    g->shared = NULL;
}

/* "HOST:PORT,HOST:PORT": 0 or a negative code. */
static int read_servers(shared_backend *h, const char *all)
{
    const char *text = all;
    while (*text && h->servers < SHARED_SERVERS) {
        size_t len = strcspn(text, ",");
        char *copy = strndup(text, len), *end;
        if (!copy)
            return sn_guard_fail(SEEN_ENOMEM, "no memory");
        char *colon = strrchr(copy, ':');
        long port = colon ? strtol(colon + 1, &end, 10) : 0;
        if (!colon || *end || port < 1 || port > 65535) {
            free(copy);
            break;
        }
        *colon = 0;
        h->host[h->servers] = copy;
        h->port[h->servers++] = (int)port;
        text += len + (text[len] == ',');
    }
    return h->servers > 0 && !*text
               ? 0
               : sn_guard_fail(SEEN_EINVAL, ".shared.servers is not HOST:PORT,...: %s",
                               all);
}

static void *connect_pooled(void *ctx)
{
    return sn_shared_connect(ctx, 0.5);
}

static void fork_lock(void *ctx)
{
    pthread_mutex_lock(&((shared_backend *)ctx)->lock);
}
static void fork_unlock(void *ctx)
{
    pthread_mutex_unlock(&((shared_backend *)ctx)->lock);
}
/* Tokens must differ from the parent's. */
static void fork_child(void *ctx)
{
    shared_backend *h = ctx;
    pthread_mutex_init(&h->lock, NULL);
    uint64_t random;
    pid_t self = getpid();
    h->random = seen_random_bytes(&random, sizeof random) < 0
                    ? seen_hash_seeded(h->random, &self, sizeof self)
                    : random;
}

static int check(const seen_guard_config *config)
{
    const seen_guard_shared *c = config->shared;
    if (!c->servers || !c->name || !*c->name || strpbrk(c->name, "{}"))
        return sn_guard_fail(SEEN_EINVAL,
                             ".shared needs .servers and a .name without braces");
    if (config->cache.get)
        return sn_guard_fail(SEEN_EINVAL,
                             ".shared brings its own cache: leave .cache out");
    for (size_t i = 0; i < sizeof c->reserved / sizeof *c->reserved; i++)
        if (c->reserved[i])
            return sn_guard_fail(SEEN_EINVAL, ".shared.reserved must be 0");
    return 0;
}

int sn_shared_backend_open(seen_guard *g, const seen_guard_config *config)
{
    const seen_guard_shared *c = config->shared;
    int rc = check(config);
    if (rc < 0)
        return rc;
    uint64_t random;
    if (seen_random_bytes(&random, sizeof random) < 0)
        return sn_guard_fail(SEEN_EIO, "%s", seen_reason());
    shared_backend *h = calloc(1, sizeof *h);
    if (!h)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    g->shared = h;
    g->config.shared = NULL;
    h->tag = g->tag;
    h->random = random;
    h->replicas = c->replicas;
    h->write_lease_ms = c->write_lease_ms ? c->write_lease_ms : 30000;
    h->enforce_lease_ms = c->enforce_lease_ms ? c->enforce_lease_ms : 3000;
    h->name = strdup(c->name);
    h->user = c->user ? strdup(c->user) : NULL;
    h->password = c->password ? strdup(c->password) : NULL;
    if (!h->name || (c->user && !h->user) || (c->password && !h->password) ||
        asprintf(&h->state, "{%s}", h->name) < 0) {
        h->state = NULL;
        rc = sn_guard_fail(SEEN_ENOMEM, "no memory");
    } else {
        rc = read_servers(h, c->servers);
    }
    if (rc == 0)
        rc = sn_pool_init(&h->pool, c->connections, connect_pooled,
                          sn_shared_disconnect, h);
    if (rc < 0) {
        close_shared(g);
        return rc;
    }
    pthread_mutex_init(&h->lock, NULL);
    h->fork = (fork_watch){h, fork_lock, fork_unlock, fork_child};
    sn_fork_watch(&h->fork);
    return 0;
}

const guard_backend sn_shared_backend = {.ask = ask,
                                         .writes = writes,
                                         .begin = sn_shared_begin,
                                         .end = sn_shared_end,
                                         .build = sn_shared_build,
                                         .suspend = suspend,
                                         .due = due,
                                         .keep = keep,
                                         .stats = stats,
                                         .close = close_shared};
