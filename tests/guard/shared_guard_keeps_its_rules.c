/* shared_guard_keeps_its_rules.c - guards that share a filter in a real Redis: one by
 * one, what they refuse, and where they fail open. */
#include "guard/fake_adapters.h"
#include "guard/numbered_keys.h"
#include "guard/test_servers.h"
#include "tap.h"

#include <hiredis/hiredis.h>
#include <stdarg.h>

enum { LEASE_MS = 1000 };
static fake_db db = {.lock = PTHREAD_MUTEX_INITIALIZER};
static char servers[64];

static seen_guard *open_shared(const char *name, const char *tag, unsigned flags)
{
    seen_guard *g = NULL;
    seen_guard_shared shared = {
        .servers = servers, .name = name, .write_lease_ms = LEASE_MS};
    seen_guard_config config = {.shared = &shared,
                                .keys = 1000,
                                .error = 1e-6,
                                .tag = tag,
                                .db = fake_adapter(&db),
                                .flags = flags,
                                .wait_ms = 50};
    if (seen_guard_open(&config, &g) < 0) {
        fprintf(stderr, "# %s\n", seen_guard_reason());
        exit(2);
    }
    return g;
}

static bool state_is(seen_guard *g, const char *state)
{
    seen_guard_stats s = stats(g);
    if (strcmp(s.state, state) != 0)
        note("state is %s, not %s", s.state, state);
    return strcmp(s.state, state) == 0;
}
static int lost(seen_guard *g)
{
    int n = 0;
    for (long i = 0; i < FAKE_ROWS; i++)
        n += db.row[i] && get(g, i) != 1;
    return n;
}

/* Sends a command, past the guard. */
static void redis(const char *command)
{
    redisContext *c = redisConnect("127.0.0.1", redis_port);
    redisReply *r = redisCommand(c, command);
    if (!r || r->type == REDIS_REPLY_ERROR)
        fprintf(stderr, "# %s: %s\n", command, r ? r->str : "no reply");
    if (r)
        freeReplyObject(r);
    redisFree(c);
}

/* The reply to a command as text: "" for none, numbers in decimal. */
static const char *reply_to(const char *format, ...)
{
    static char text[200];
    va_list args;
    redisContext *c = redisConnect("127.0.0.1", redis_port);
    va_start(args, format);
    redisReply *r = redisvCommand(c, format, args);
    va_end(args);
    if (!r || r->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "# %s: %s\n", format, r ? r->str : "no reply");
        exit(2);
    }
    if (r->type == REDIS_REPLY_INTEGER)
        snprintf(text, sizeof text, "%lld", r->integer);
    else
        snprintf(text, sizeof text, "%s", r->type == REDIS_REPLY_NIL ? "" : r->str);
    freeReplyObject(r);
    redisFree(c);
    return text;
}

/* Deletes the bits of the filter in use, as an eviction would. */
static void delete_filter(const char *name)
{
    redisContext *c = redisConnect("127.0.0.1", redis_port);
    redisReply *r = redisCommand(c, "HGET {%s} live", name);
    if (!r || r->type != REDIS_REPLY_STRING || !r->len)
        exit(2);
    redisReply *d = redisCommand(c, "DEL {%s}:bits:%s", name, r->str);
    if (!d || d->integer != 1)
        exit(2);
    freeReplyObject(d);
    freeReplyObject(r);
    redisFree(c);
}

static void basics(void)
{
    for (long i = 0; i < 500; i++)
        db.row[2 * i] = true;
    seen_guard *a = open_shared("basics", NULL, 0), *b = open_shared("basics", NULL, 0);
    ok(get(a, 4) == 1 && get(a, 5) == 0 && stats(a).open == 2 && state_is(a, "loading"),
       "without a filter a shared guard fails open");
    ok(seen_guard_build(a) == 1 && state_is(a, "enforcing") && state_is(b, "enforcing"),
       "one machine builds, all use it");
    db.queries = 0;
    int wrong = 0;
    for (long i = 0; i < 1000; i++)
        wrong += get(b, i) != (i % 2 == 0);
    ok(wrong == 0 && db.queries < 510 && stats(b).refused > 490,
       "absent keys are refused on the other machine without a query");
    ok(insert(a, 7) == 1 && get(b, 7) == 1,
       "a key inserted on one is found on the other");
    ok(get(b, 7) == 1 && stats(b).hits > 0, "and then answered by the cache");
    ok(erase(b, 7) == 1 && get(a, 7) == 0 && get(a, 7) == 0 && stats(a).markers > 0,
       "deleted there, it is absent here, and that is remembered");
    ok(insert(b, 7) == 1 && get(a, 7) == 1, "inserted again, the marker is gone");
    db.fail = SEEN_EIO;
    ok(insert(a, 15) == SEEN_EIO && stats(a).in_flight == 0,
       "a failed insert leaves no mark");
    db.fail = 0;
    seen_guard_write *w = begin(a, 9);
    db.row[9] = true;
    ok(w && stats(b).in_flight == 1 && get(b, 9) == 1 && stats(b).past_cache > 0,
       "while a key is being written, the cache is not believed");
    seen_guard_end(w, SEEN_GUARD_COMMITTED, 0);
    ok(stats(b).in_flight == 0, "until the write has ended");
    seen_guard *other = open_shared("basics", "another database", 0);
    ok(state_is(other, "foreign") && get(other, 4) == 1 &&
           insert(other, 11) == SEEN_EMISMATCH && seen_guard_build(other) < 0,
       "a guard for another database neither uses nor changes the filter");
    ok(seen_guard_suspend(a) == 0 && state_is(b, "suspended"), "suspended everywhere");
    db.row[601] = true;
    ok(get(b, 601) == 1 && seen_guard_build(b) == 1 && get(a, 601) == 1 && lost(a) == 0,
       "rows may come past the guard, and are in the next filter");
    seen_guard_close(other);
    seen_guard_close(a);
    seen_guard_close(b);
}

static seen_guard *writer;
static seen_guard_write *late;
static void write_in_scan(void *arg, long n)
{
    (void)arg;
    if (n != 3)
        return;
    insert(writer, 10001);
    late = begin(writer, 10003); /* commits after the swap */
}

static void building(void)
{
    seen_guard *g = open_shared("building", NULL, 0);
    writer = open_shared("building", NULL, 0);
    seen_guard_write *early = begin(writer, 10002);
    db.in_scan = write_in_scan;
    ok(seen_guard_build(g) == 1, "a filter is built while another machine writes");
    db.in_scan = NULL;
    db.row[10002] = db.row[10003] = true;
    ok(get(g, 10001) == 1 && get(g, 10002) == 1 && get(g, 10003) == 1,
       "keys written before, during and after the scan are found");
    seen_guard_end(early, SEEN_GUARD_COMMITTED, 0);
    seen_guard_end(late, SEEN_GUARD_UNKNOWN, 0);
    ok(stats(g).in_flight == 1 && lost(g) == 0, "one of unknown outcome stays marked");
    if (fork() == 0) {
        begin(open_shared("building", NULL, 0), 10004);
        kill(getpid(), SIGKILL);
    }
    wait(NULL);
    usleep(1500 * LEASE_MS); /* its lease has ended */
    ok(seen_guard_build(g) == 1 && seen_guard_build(writer) == 1,
       "built after a death");
    db.row[10004] = true;
    ok(get(g, 10004) == 1 && get(writer, 10004) == 1,
       "what a dead writer may have committed is in every filter");
    ok(insert(g, 10004) == 0 && stats(g).in_flight == 2, "and stays one mark");
    if (fork() == 0) {
        seen_guard *child = open_shared("building", NULL, 0);
        db.in_scan = (void (*)(void *, long))(void (*)(void))abort;
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        seen_guard_build(child);
        _exit(0);
    }
    wait(NULL);
    insert(writer, 10005);
    ok(get(g, 10005) == 1 && state_is(g, "enforcing"),
       "a builder that dies harms nobody");
    ok(seen_guard_build(g) == 0, "its lock is a lease");
    seen_guard_close(writer);
    seen_guard_close(g);
    for (long i = 0; i < FAKE_ROWS; i++)
        db.row[i] = true;
    g = open_shared("larger", NULL, 0);
    ok(seen_guard_build(g) == 1 && stats(g).capacity >= FAKE_ROWS && lost(g) == 0,
       "a table larger than announced gets the filter it needs");
    seen_guard_close(g);
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t scanned; /* when the last scan began */
static void note_scan(void *arg, long n)
{
    (void)arg;
    if (n == 0)
        scanned = now_ms();
}

static void troubled_server(void)
{
    memset(&db.row, 0, sizeof db.row);
    for (long i = 0; i < 100; i++)
        db.row[i] = true;
    seen_guard *g = open_shared("trouble", NULL, 0);
    seen_guard_build(g);
    ok(get(g, 500) == 0 && stats(g).refused == 1, "a guard at work");
    delete_filter("trouble");
    ok(get(g, 500) == 0 && stats(g).refused == 1 && state_is(g, "lost"),
       "an evicted filter: the guard fails open");
    seen_guard_build(g);
    redis("DEL {trouble}");
    ok(get(g, 500) == 0 && stats(g).refused == 1 && state_is(g, "loading"),
       "an evicted state: the same");
    ok(insert(g, 501) == 1 && seen_guard_build(g) == 1 && get(g, 501) == 1 &&
           lost(g) == 0,
       "until a filter is built");
    redis("FLUSHALL");
    ok(get(g, 501) == 1 && !state_is(g, "enforcing"), "FLUSHALL: the same");
    seen_guard_build(g);

    /* A key is marked, the server is gone and with it the mark, another machine builds.
     */
    seen_guard_write *w = begin(g, 502);
    redis_kill(SIGKILL);
    ok(get(g, 1) == 1 && get(g, 503) == 0 && stats(g).refused == 1 &&
           state_is(g, "unreachable"),
       "a server that is gone: reads fail open");
    ok(insert(g, 504) < 0 && !db.row[504], "and writes are refused");
    if (!redis_start(""))
        exit(2);
    usleep(300000); /* readers try again after a moment */
    int64_t from = now_ms();
    ok(get(g, 505) == 0 && !state_is(g, "enforcing"),
       "a server that was restarted is not believed");
    ok(insert(g, 506) == 1, "but takes writes");
    db.queries = 0;
    get(g, 506);
    get(g, 506);
    ok(db.queries == 2 || now_ms() - from >= LEASE_MS,
       "its cache is not believed while old writes may be under way");
    db.in_scan = note_scan;
    int built = seen_guard_build(g);
    ok(built == 1 && scanned - from >= LEASE_MS,
       "a build waits until they are decided (%d ms)", (int)(scanned - from));
    db.in_scan = NULL;
    db.row[502] = true; /* one that took longer than its lease, and has no mark now */
    seen_guard_end(w, SEEN_GUARD_COMMITTED, 0);
    ok(seen_guard_build(g) == 1 && lost(g) == 0, "and the next one has every row");
    seen_guard_close(g);
    redis("SET {text} something");
    g = open_shared("text", NULL, 0);
    ok(get(g, 1) == 1 && insert(g, 507) < 0 && strstr(seen_guard_reason(), "WRONGTYPE"),
       "a name that holds something else: open, and not written");
    seen_guard_close(g);
}

/* ---- how keys are hashed ---- */

static uint64_t number_hash(const seen_hasher *h, long n)
{
    char key[24];
    return seen_hasher_hash(h, key, (size_t)sprintf(key, "%ld", n));
}

/* Does COMMAND, with SETBIT's or GETBIT's last word, to the bits of key N in a filter
 * that has BITS bits and PROBES a key, as all versions place them: how many were set.
 */
static unsigned key_bits(const char *command, const char *id, uint64_t bits,
                         unsigned probes, uint64_t hash)
{
    unsigned set = 0;
    uint64_t step = hash * 0x9e3779b97f4a7c15u;
    step = (step ^ step >> 32) * 0xd6e8feb86659fd93u | 1;
    for (unsigned i = 0; i < probes; i++) {
        char text[200];
        uint64_t at = (uint64_t)(((unsigned __int128)(hash + i * step) * bits) >> 64);
        snprintf(text, sizeof text, command, id, (unsigned long long)at);
        set += reply_to(text)[0] == '1';
    }
    return set;
}

/* Whether guards mark key N of NAME by hash H. */
static bool marks_by(seen_guard *g, const char *name, const seen_hasher *h, long n)
{
    seen_guard_write *w = begin(g, n);
    bool there = w && *reply_to("HGET {%s} m%016llx", name,
                                (unsigned long long)number_hash(h, n));
    if (w)
        seen_guard_end(w, SEEN_GUARD_ABORTED, 0);
    return there;
}

/* Whether the filter of NAME has all bits of key N by hash H. */
static bool filter_by(const char *name, const seen_hasher *h, long n)
{
    char id[40], command[80];
    unsigned long long bits = 0;
    unsigned probes = 0;
    snprintf(id, sizeof id, "%s", reply_to("HGET {%s} live", name));
    if (sscanf(reply_to("HGET {%s} fl", name), "%llu:%u", &bits, &probes) != 2)
        return false;
    snprintf(command, sizeof command, "GETBIT {%s}:bits:%%s %%llu", name);
    return key_bits(command, id, bits, probes, number_hash(h, n)) == probes;
}

static void set_rows(long n)
{
    memset(&db.row, 0, sizeof db.row);
    for (long i = 0; i < n; i++)
        db.row[i] = true;
}

/* A state as versions before the keyed hash wrote it, with a filter. */
static void earlier_state(void)
{
    seen_hasher xxh3;
    set_rows(100);
    seen_hasher_init(&xxh3, SEEN_HASH_XXH3, 0x0123456789abcdef, 0);
    seen_guard *g = open_shared("earlier", NULL, 0);
    ok(state_is(g, "loading"), "a state is made");
    seen_guard_close(g);
    redis("HDEL {earlier} secret");
    redis("HSET {earlier} seed 0123456789abcdef live f1 fl 8000:7 built 100 cap 1000");
    redis("SETRANGE {earlier}:bits:f1 1000 \1");
    for (long i = 0; i < 100; i++)
        key_bits("SETBIT {earlier}:bits:%s %llu 1", "f1", 8000, 7,
                 number_hash(&xxh3, i));
    g = open_shared("earlier", NULL, 0);
    ok(state_is(g, "enforcing") && lost(g) == 0 && get(g, 500) == 0 &&
           stats(g).refused == 1 && stats(g).in_flight == 0,
       "a state with a seed for XXH3 is read as it was");
    ok(marks_by(g, "earlier", &xxh3, 501), "its keys are marked by XXH3");
    ok(insert(g, 502) == 1 && filter_by("earlier", &xxh3, 502), "so they are added");
    usleep(1000 * LEASE_MS); /* nothing is built before */
    ok(seen_guard_build(g) == 1 && lost(g) == 0 && filter_by("earlier", &xxh3, 5) &&
           !*reply_to("HGET {earlier} secret") &&
           !strcmp(reply_to("HGET {earlier} seed"), "0123456789abcdef"),
       "and so the next filter is built");
    seen_guard_close(g);
}

static void keyed_state(void)
{
    char secret[60];
    unsigned long long low = 0, high = 0;
    seen_hasher keyed;
    set_rows(100);
    seen_guard *g = open_shared("keyed", NULL, 0);
    ok(seen_guard_build(g) == 1 && lost(g) == 0, "a filter with a state of now");
    snprintf(secret, sizeof secret, "%s", reply_to("HGET {keyed} secret"));
    ok(sscanf(secret, "3:%16llx%16llx", &low, &high) == 2 && strlen(secret) == 34 &&
           low && high && low != high && !*reply_to("HGET {keyed} seed"),
       "it has a secret of 128 bits, and no seed for an earlier program to take for "
       "its own");
    seen_hasher_init(&keyed, SEEN_HASH_KEYED, low, high);
    ok(marks_by(g, "keyed", &keyed, 501) && filter_by("keyed", &keyed, 5) &&
           insert(g, 502) == 1 && filter_by("keyed", &keyed, 502),
       "marks and filter are keyed with it");
    seen_guard_close(g);
    secret[0] = '4';
    reply_to("HSET {keyed} secret %s", secret);
    g = open_shared("keyed", NULL, 0);
    ok(get(g, 5) == 1 && get(g, 503) == 0 && stats(g).refused == 0 &&
           insert(g, 503) < 0 && strstr(seen_guard_reason(), "later version"),
       "a hash that this version does not know: open, and not written");
    seen_guard_close(g);
}

/* Makes the state of NAME anew, as after an eviction; returns a guard that has seen it.
 */
static seen_guard *made_anew(const char *name)
{
    reply_to("DEL {%s}", name);
    seen_guard *g = open_shared(name, NULL, 0);
    stats(g);
    return g;
}

static void another_secret(void)
{
    set_rows(100);
    seen_guard *a = open_shared("anew", NULL, 0);
    stats(a);
    seen_guard *b = made_anew("anew");
    seen_guard_write *w = begin(a, 600);
    ok(w && seen_guard_build(b) == 1,
       "a state is made anew; one who knew the old one writes");
    db.row[600] = true;
    ok(get(a, 600) == 1 && get(b, 600) == 1,
       "its key is in the filter built meanwhile");
    seen_guard_end(w, SEEN_GUARD_COMMITTED, 0);
    seen_guard_close(b);
    if (fork() == 0) {
        usleep(300 * LEASE_MS); /* the builder below waits for a lease of writers */
        made_anew("anew");
        _exit(0);
    }
    b = made_anew("anew");
    ok(seen_guard_build(b) == 1 && lost(a) == 0 && lost(b) == 0,
       "recreated while a builder waits: it hashes with the current secret");
    wait(NULL);
    seen_guard_close(a);
    seen_guard_close(b);
}

static void strange_config(void)
{
    seen_guard *g;
    seen_guard_shared shared = {.servers = servers, .name = "x"};
    seen_guard_config c = {.shared = &shared, .db = fake_adapter(&db)};
    c.path = "/tmp/x";
    ok(seen_guard_open(&c, &g) == SEEN_EINVAL, ".path and .shared exclude each other");
    c.path = NULL;
    shared.servers = "nowhere";
    ok(seen_guard_open(&c, &g) == SEEN_EINVAL &&
           strstr(seen_guard_reason(), "HOST:PORT"),
       "servers have a port");
    shared.servers = servers;
    shared.reserved[0] = 1;
    ok(seen_guard_open(&c, &g) == SEEN_EINVAL, "reserved fields must be 0");
}

int main(void)
{
    if (!have_program("redis-server")) {
        puts("1..0 # SKIP package redis-server is not installed");
        return 0;
    }
    servers_begin();
    if (!redis_start("")) {
        servers_end();
        return 2;
    }
    snprintf(servers, sizeof servers, "127.0.0.1:%d", redis_port);
    strange_config();
    basics();
    building();
    earlier_state();
    keyed_state();
    another_secret();
    troubled_server();
    servers_end();
    return done();
}
