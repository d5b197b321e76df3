/* guard_keeps_its_rules.c - the rules of the guard one by one, on a fake database and
 * cache that can stop between any two steps. */
#include "guard/fake_adapters.h"
#include "guard/numbered_keys.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char dir[128];
static unsigned wait_ms = 50; /* for a lease of somebody who is gone */
static fake_db db = {.lock = PTHREAD_MUTEX_INITIALIZER};
static fake_cache cache = {.lock = PTHREAD_MUTEX_INITIALIZER, .server = 1};

static void fresh(void)
{
    memset(&db.row, 0, sizeof db.row);
    db.queries = db.most_running = db.fail = 0;
    db.in_get = NULL;
    db.in_scan = NULL;
    memset(cache.entry, 0, sizeof cache.entry);
    cache.fail = cache.drops = 0;
    cache.server = 1;
}

static seen_guard *open_tagged(const char *name, bool cached, const char *tag,
                               unsigned flags)
{
    static char path[200];
    seen_guard *g;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    seen_guard_config config = {.path = path,
                                .keys = 1000,
                                .error = 1e-6, /* an absent key is refused, surely */
                                .tag = tag,
                                .db = fake_adapter(&db),
                                .flags = flags,
                                .wait_ms = wait_ms};
    if (cached)
        config.cache = fake_cache_adapter(&cache);
    if (seen_guard_open(&config, &g) < 0) {
        fprintf(stderr, "open: %s\n", seen_guard_reason());
        exit(2);
    }
    return g;
}
static seen_guard *open_guard(const char *name, bool cached)
{
    return open_tagged(name, cached, NULL, 0);
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* How many of the rows in the table the guard finds, all of them asked. */
static int lost(seen_guard *g)
{
    int n = 0;
    for (long i = 0; i < FAKE_ROWS; i++)
        n += db.row[i] && get(g, i) != 1;
    return n;
}

static void basics(void)
{
    fresh();
    seen_guard *g = open_guard("basics", false);
    for (long i = 0; i < 500; i++)
        db.row[i * 2] = true;
    ok(get(g, 4) == 1 && get(g, 5) == 0 && stats(g).open == 2 && db.queries == 2,
       "without a filter the guard fails open and asks the database");
    ok(is(stats(g).state, "loading"), "and says why");
    ok(seen_guard_build(g) == 1 && is(stats(g).state, "enforcing"),
       "a filter is built");
    db.queries = 0;
    int wrong = 0, before = (int)stats(g).refused;
    for (long i = 0; i < 1000; i++)
        wrong += get(g, i) != (i % 2 == 0);
    ok(wrong == 0 && db.queries < 510 && stats(g).refused - (uint64_t)before > 490,
       "absent keys are refused without a query (%d queries for 500 present)",
       (int)db.queries);
    ok(insert(g, 7) == 1 && get(g, 7) == 1 && insert(g, 7) == 0,
       "an inserted key is found at once");
    ok(erase(g, 7) == 1 && get(g, 7) == 0 && erase(g, 7) == 0, "a deleted one is not");
    seen_guard *other = open_guard("basics", false);
    ok(is(stats(other).state, "enforcing") && get(other, 9) == 0 &&
           stats(other).refused == 1,
       "another process uses the same filter");
    insert(g, 9);
    ok(get(other, 9) == 1, "and sees a key that the first has added, at once");
    db.fail = SEEN_EIO;
    ok(get(g, 4) == SEEN_EIO && get(g, 11) == 0 && stats(g).db_errors == 1,
       "a database that fails is an error for keys that may exist, not for others");
    ok(insert(g, 13) == SEEN_EIO && stats(g).in_flight == 0,
       "a failed insert leaves no mark");
    ok(seen_guard_build(g) == SEEN_EIO && is(stats(g).state, "enforcing") &&
           stats(g).build_errors == 1,
       "a build that fails leaves the filter in use");
    db.fail = 0;
    ok(seen_guard_get(g, "", 0, NULL) == 0 && seen_guard_get(g, "a\0b", 3, NULL) == 0,
       "empty keys and NUL are keys like others");
    seen_guard_close(other);
    seen_guard_close(g);
}

/* While a filter is built: at the third key of the scan the writer comes. */
static seen_guard *writer;
static seen_guard_write *open_write;
static void write_in_scan(void *arg, long n)
{
    (void)arg;
    if (n != 3)
        return;
    insert(writer, 10001);
    erase(writer, 6);
    db.row[6] = false;
    open_write = begin(writer, 10003); /* commits after the swap */
}

static void building(void)
{
    fresh();
    seen_guard *g = open_guard("building", false);
    writer = open_guard("building", false);
    for (long i = 0; i < 100; i++)
        db.row[i] = true;
    seen_guard_write *early = begin(writer, 10002); /* began before, commits after */
    db.in_scan = write_in_scan;
    erase(writer, 99);
    ok(seen_guard_build(g) == 1, "a filter is built while others write");
    ok(stats(g).deleted == 1, "a key deleted during the scan still counts as deleted");
    db.in_scan = NULL;
    db.row[10002] = db.row[10003] = true;
    ok(get(g, 10001) == 1, "a key inserted during the scan is found");
    ok(get(g, 10002) == 1, "a key whose write began before the build is found");
    ok(get(g, 10003) == 1, "a key whose write ended after it is found");
    seen_guard_end(early, SEEN_GUARD_COMMITTED, 0);
    seen_guard_end(open_write, SEEN_GUARD_COMMITTED, 0);
    ok(lost(g) == 0 && lost(writer) == 0, "none is lost");

    /* A process dies between begin and commit, and the commit arrives later. */
    if (fork() == 0) {
        seen_guard *child = open_guard("building", false);
        begin(child, 10004);
        kill(getpid(), SIGKILL);
    }
    wait(NULL);
    ok(seen_guard_build(g) == 1 && seen_guard_build(writer) == 1,
       "built twice after a death");
    db.row[10004] = true;
    ok(get(g, 10004) == 1, "what a dead process may have committed is in every filter");
    ok(stats(g).in_flight == 1, "and stays marked");

    for (int i = 0; i < 100; i++) {
        if (fork() == 0) {
            begin(open_guard("building", false), 10004);
            kill(getpid(), SIGKILL);
        }
        wait(NULL);
    }
    ok(insert(g, 10004) == 0 && stats(g).in_flight == 1 && get(g, 10004) == 1,
       "a hundred deaths over one key take one mark");

    /* A builder dies in its scan. */
    if (fork() == 0) {
        seen_guard *child = open_guard("building", false);
        db.in_scan = (void (*)(void *, long))(void (*)(void))abort;
        freopen("/dev/null", "w", stderr);
        seen_guard_build(child);
        _exit(0);
    }
    wait(NULL);
    insert(writer, 10005);
    ok(get(g, 10005) == 1 && is(stats(g).state, "enforcing"),
       "a builder that dies harms nobody");
    ok(seen_guard_build(g) == 1 && lost(g) == 0, "and another takes over");

    seen_key many[3] = {{"10006", 5}, {"10007", 5}, {"10008", 5}};
    seen_guard_write *w;
    ok(seen_guard_begin(g, many, 3, &w) == 0 && stats(g).in_flight == 4,
       "three keys in one write");
    db.row[10006] = db.row[10007] = db.row[10008] = true;
    seen_guard_end(w, SEEN_GUARD_UNKNOWN, 0);
    ok(stats(g).in_flight == 4 && stats(g).doubts == 1 && lost(g) == 0,
       "of unknown outcome: marked until it must be decided");
    ok(seen_guard_begin(g, many, SEEN_GUARD_BATCH + 1, &w) == SEEN_ETOOBIG,
       "a write has an end");
    seen_guard_close(writer);
    seen_guard_close(g);
}

enum { PATIENCE = 12000 }; /* hundredths of a second for the background thread */
static void growth(void)
{
    fresh();
    seen_guard *g = open_tagged("growth", false, NULL, SEEN_GUARD_BACKGROUND);
    for (int i = 0; i < PATIENCE && !is(stats(g).state, "enforcing"); i++)
        usleep(10000);
    ok(is(stats(g).state, "enforcing"),
       "the background thread builds the first filter");
    uint64_t first = stats(g).capacity;
    for (long i = 0; i < 15000; i++)
        insert(g, i);
    for (int i = 0; i < PATIENCE && stats(g).capacity < 15000; i++)
        usleep(10000);
    ok(stats(g).capacity >= 15000,
       "and larger ones as the table grows (%llu, then %llu keys)",
       (unsigned long long)first, (unsigned long long)stats(g).capacity);
    ok(lost(g) == 0, "with every key");
    for (long i = 0; i < 14000; i++)
        erase(g, i);
    for (int i = 0; i < PATIENCE && stats(g).deleted > 6000; i++)
        usleep(10000);
    db.queries = 0;
    for (long i = 0; i < 14000; i++)
        get(g, i);
    ok(stats(g).builds >= 3 && db.queries < 8000,
       "and a new one when many were deleted (%d queries for 14000 deleted keys)",
       (int)db.queries);
    seen_guard_close(g);
    /* More rows than anybody expected: 1000 were announced. */
    g = open_guard("surprise", false);
    for (long i = 0; i < FAKE_ROWS; i++)
        db.row[i] = true;
    ok(seen_guard_build(g) == 1 && stats(g).capacity >= FAKE_ROWS && lost(g) == 0,
       "a table larger than announced gets the filter it needs");
    seen_guard_close(g);
}

/* Writes TEXT at offset AT of the control file. */
static void scribble(const char *name, const char *text, off_t at)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY);
    if (fd < 0 || pwrite(fd, text, strlen(text), at) < 0)
        exit(2);
    close(fd);
}

static void trouble(void)
{
    char path[200], cmd[300];
    fresh();
    for (long i = 0; i < 100; i++)
        db.row[i] = true;
    seen_guard *g = open_guard("trouble", false);
    seen_guard_build(g);
    snprintf(path, sizeof path, "%s/trouble.%u", dir, stats(g).generation);
    unlink(path);
    seen_guard *late = open_guard("trouble", false);
    ok(get(late, 500) == 0 && stats(late).open == 1 && stats(late).refused == 0,
       "a filter file that is gone: the guard fails open");
    ok(is(stats(late).state, "lost") && is(stats(g).state, "lost"), "in all processes");
    insert(late, 501);
    ok(get(g, 501) == 1 && seen_guard_build(g) == 1 && get(late, 500) == 0 &&
           stats(late).refused == 1 && lost(late) == 0,
       "until one is built");
    seen_guard_close(late);

    snprintf(cmd, sizeof cmd,
             "for f in %s/trouble.*; do printf xxxxxxxxxxxx > $f.new; mv "
             "$f.new $f; done",
             dir);
    if (system(cmd))
        exit(2);
    late = open_guard("trouble", false);
    ok(get(late, 5) == 1 && get(late, 500) == 0 && is(stats(late).state, "lost"),
       "a damaged filter file: open, too");
    seen_guard_build(late);

    /* A writer that cannot add takes the filter out of use. */
    snprintf(cmd, sizeof cmd, "rm %s/trouble.*", dir);
    if (system(cmd))
        exit(2);
    seen_guard *blind = open_guard("trouble", false);
    insert(blind, 502);
    ok(get(g, 502) == 1 && get(late, 502) == 1 && is(stats(g).state, "lost"),
       "a writer that cannot reach the filter takes it out of use for all");
    seen_guard_build(g);

    seen_guard *eager = open_tagged("trouble", false, NULL, SEEN_GUARD_BACKGROUND);
    seen_guard_suspend(g);
    usleep(300000);
    db.row[600] = true; /* past the guard */
    ok(get(late, 600) == 1 && is(stats(late).state, "suspended"),
       "suspended: rows may be inserted past the guard");
    int built;
    while ((built = seen_guard_build(g)) == 0) /* the thread was quicker and builds */
        usleep(10000);
    ok(built == 1 && get(late, 600) == 1, "and are in the next filter");
    seen_guard_close(eager);
    seen_guard_close(blind);
    seen_guard_close(late);
    seen_guard_close(g);

    scribble("trouble", "another-boot", 8);
    g = open_guard("trouble", false);
    db.row[700] = true;
    ok(is(stats(g).state, "stale") && get(g, 700) == 1,
       "a filter from before the last boot may have lost keys: not used");
    seen_guard_build(g);
    seen_guard *other = open_tagged("trouble", false, "restored", 0);
    db.row[701] = true;
    ok(is(stats(other).state, "stale") && get(other, 701) == 1,
       "nor one of another database");
    ok(is(stats(g).state, "foreign") && get(g, 701) == 1 && seen_guard_build(g) < 0,
       "and a guard for the other one neither uses nor builds it");
    seen_guard_close(other);
    seen_guard_close(g);

    scribble("trouble", "seengrd2", 0);
    seen_guard_config config = {.path = path, .db = fake_adapter(&db)};
    snprintf(path, sizeof path, "%s/trouble", dir);
    ok(seen_guard_open(&config, &g) < 0 &&
           strstr(seen_guard_reason(),
                  "another version of the guard (2, this one has 3)") &&
           strstr(seen_guard_reason(), "remove it"),
       "that of another version is refused, with what to do: %s", seen_guard_reason());
    if (truncate(path, 1000))
        exit(2);
    ok(seen_guard_open(&config, &g) < 0 &&
           strstr(seen_guard_reason(), "another version of the guard (2"),
       "also if it has another size");
    if (chmod(path, 0644))
        exit(2);
    ok(seen_guard_open(&config, &g) < 0 && strstr(seen_guard_reason(), "chmod 600") &&
           strstr(seen_guard_reason(), "remove it"),
       "one that is open to others, as earlier versions made it: %s",
       seen_guard_reason());
    if (chmod(path, 0600))
        exit(2);
    scribble("trouble", "not a control file", 0);
    ok(seen_guard_open(&config, &g) < 0 &&
           strstr(seen_guard_reason(), "not the control"),
       "another kind of file is left alone");
    config.path = "/nonexistent/guard";
    ok(seen_guard_open(&config, &g) < 0 && strstr(seen_guard_reason(), "No such"),
       "a folder that is missing is named");
}

/* ---- cache ---- */

static void commit_and_finish(void *arg)
{
    (void)arg;
    db.in_get = NULL;
    insert(writer, 50); /* after the reader has looked, before it fills its marker */
}
static void commit_and_die(void *arg)
{
    (void)arg;
    db.in_get = NULL;
    if (fork() == 0) {
        begin(open_guard("cached", true), 51);
        kill(getpid(), SIGKILL);
    }
    wait(NULL);
    db.row[51] = true; /* the server commits what the dead one had sent */
}

static void caching(void)
{
    fresh();
    seen_guard *g = open_tagged("cached", true, NULL, SEEN_GUARD_NO_FILTER);
    writer = open_tagged("cached", true, NULL, SEEN_GUARD_NO_FILTER);
    db.row[1] = true;
    get(g, 1);
    get(g, 2);
    db.queries = 0;
    seen_guard_bytes v = {NULL, 0};
    ok(seen_guard_get(g, "1", 1, &v) == 1 && v.len == 2 &&
           memcmp(v.data, "v1", 2) == 0 && get(g, 2) == 0 && db.queries == 0 &&
           stats(g).hits == 1 && stats(g).markers == 1,
       "values and absences are answered by the cache");
    free(v.data);
    insert(g, 2);
    ok(get(writer, 2) == 1, "an insert removes the marker");
    erase(g, 2);
    ok(get(writer, 2) == 0, "a delete removes the value");

    db.in_get = commit_and_finish;
    ok(get(g, 50) == 0 && get(g, 50) == 1,
       "a row committed between a reader's look and its marker is not hidden");
    db.in_get = commit_and_die;
    get(g, 51);
    ok(get(g, 51) == 1 && get(writer, 51) == 1 && stats(g).past_cache > 0,
       "not even if its writer died before it could tell the cache");

    get(g, 60);
    cache.fail = SEEN_EIO;
    insert(writer, 60);
    cache.fail = 0;
    ok(get(g, 60) == 1, "a marker that could not be removed is forgotten");
    get(g, 61);
    seen_guard_write *w = begin(writer, 61);
    db.row[61] = true;
    ok(get(g, 61) == 1, "while a key is written, the cache is not believed");
    seen_guard_end(w, SEEN_GUARD_COMMITTED, 0);

    get(g, 62);
    struct fake_entry old[FAKE_ENTRIES];
    memcpy(old, cache.entry, sizeof old);
    insert(writer, 62);
    memcpy(cache.entry, old, sizeof old);
    cache.server = 2;
    ok(get(g, 62) == 1,
       "a cache server that came back with old entries is not believed");

    cache.fail = SEEN_EIO;
    db.queries = 0;
    ok(get(g, 1) == 1 && get(g, 3) == 0 && db.queries == 2 &&
           stats(g).cache_errors >= 2,
       "without a cache the database answers");
    cache.fail = 0;
    memset(cache.entry, 0, sizeof cache.entry);
    db.fail = SEEN_EIO;
    int rc = get(g, 1);
    db.fail = 0;
    ok(rc == SEEN_EIO && get(g, 1) == 1, "an error is not cached, and frees the lease");
    /* Another process holds the lease and has died. */
    get(g, 4);
    for (int i = 0; i < FAKE_ENTRIES; i++)
        if (strstr(cache.entry[i].key, ":4"))
            strcpy(cache.entry[i].text, "Lsomebody");
    db.row[4] = true;
    ok(get(g, 4) == 1, "a lease whose holder is gone is waited for, but not forever");
    seen_guard_close(writer);
    seen_guard_close(g);

    char path[200];
    snprintf(path, sizeof path, "%s/cached", dir);
    unlink(path);
    memset(cache.entry, 0, sizeof cache.entry);
    g = open_tagged("cached", true, NULL, SEEN_GUARD_NO_FILTER);
    get(g, 63);
    get(g, 63);
    seen_guard_close(g);
    unlink(path);
    db.row[63] = true;
    g = open_tagged("cached", true, NULL, SEEN_GUARD_NO_FILTER);
    ok(get(g, 63) == 1, "a new guard does not believe what an earlier one cached");
    seen_guard_close(g);

    g = open_tagged("unmarked", true, NULL,
                    SEEN_GUARD_NO_FILTER | SEEN_GUARD_NO_MARKERS);
    get(g, 70);
    db.queries = 0;
    get(g, 70);
    ok(db.queries == 1, "markers can be turned off");
    seen_guard_close(g);
}

/* ---- many at once ---- */

static seen_guard *hot;
static _Atomic int found, asking;
static void *ask_hot(void *arg)
{
    asking++;
    found += get(hot, (long)(intptr_t)arg) == 1;
    return NULL;
}
/* How many threads of this process do not sleep. */
static int awake(void)
{
    char cmd[100];
    int n = 0;
    snprintf(cmd, sizeof cmd, "/proc/%d/task", (int)getpid());
    DIR *d = opendir(cmd);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[400], state = 'S';
        snprintf(path, sizeof path, "%s/%s/stat", cmd, e->d_name);
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1)
            n += state != 'S';
        if (f)
            fclose(f);
    }
    closedir(d);
    return n;
}
/* The one that asks the database goes on when all others wait for it. */
static void until_all_wait(void *arg)
{
    (void)arg;
    while (asking < 32)
        usleep(1000);
    for (int quiet = 0; quiet < 20; usleep(1000))
        quiet = awake() <= 1 ? quiet + 1 : 0;
}
/* The same for those who wait for the cache and look again now and then. */
static void until_all_ask(void *arg)
{
    (void)arg;
    while (asking < 32)
        usleep(1000);
    usleep(50000);
}
static void crowd(long key)
{
    pthread_t t[32];
    found = asking = 0;
    for (int i = 0; i < 32; i++)
        pthread_create(t + i, NULL, ask_hot, (void *)(intptr_t)key);
    for (int i = 0; i < 32; i++)
        pthread_join(t[i], NULL);
}

/* The first reader has looked and found nothing; the row is then committed; a second
 * reader must not be given the first one's answer. */
static pthread_t second;
static void commit_then_ask(void *arg)
{
    (void)arg;
    db.in_get = NULL;
    seen_guard_write *w = begin(hot, 900);
    db.row[900] = true;
    seen_guard_end(w, SEEN_GUARD_COMMITTED, 0);
    found = 0;
    pthread_create(&second, NULL, ask_hot, (void *)(intptr_t)900);
    usleep(100000); /* time to join the flight, if it would */
}

static void herd(void)
{
    fresh();
    db.row[800] = db.row[801] = true;
    hot = open_guard("hot", false);
    db.in_get = until_all_wait;
    crowd(800);
    ok(found == 32 && db.queries == 1, "32 threads that want one key: %d query",
       (int)db.queries);
    seen_guard_close(hot);

    wait_ms = 20000;
    hot = open_tagged("hot2", true, NULL, SEEN_GUARD_NO_FILTER);
    db.in_get = NULL;
    get(hot, 1); /* the first contact with the server */
    db.queries = 0;
    db.in_get = until_all_ask;
    crowd(801);
    ok(found == 32 && db.queries == 1, "with a cache: %d query, also across processes",
       (int)db.queries);
    seen_guard_close(hot);

    hot = open_guard("hot", false);
    db.in_get = commit_then_ask;
    int first = get(hot, 900);
    pthread_join(second, NULL);
    ok(first == 0 && found == 1,
       "nobody gets an answer that is older than the question");
    seen_guard_close(hot);
}

/* ---- everything at once, in threads ---- */

static seen_guard *busy;
static _Atomic int refused_wrongly, stop_all, built;
static void *write_and_check(void *arg)
{
    long from = (long)(intptr_t)arg;
    for (long i = 0; i < 1500 || built < 10; i++) {
        long n = from + i % 700;
        if (i >= 700 && i % 3 == 0)
            erase(busy, n);
        if (insert(busy, n) < 0 || get(busy, n) != 1)
            refused_wrongly++;
    }
    return NULL;
}
static void *build_always(void *arg)
{
    (void)arg;
    while (!stop_all)
        built += seen_guard_build(busy) == 1;
    return NULL;
}
static void *ask_always(void *arg)
{
    for (long i = (long)(intptr_t)arg; !stop_all; i = (i * 31 + 7) % 8000)
        get(busy, i);
    return NULL;
}

static void threads(bool cached)
{
    pthread_t t[8];
    fresh();
    busy = open_guard(cached ? "busy-cached" : "busy", cached);
    stop_all = refused_wrongly = built = 0;
    pthread_create(t + 4, NULL, build_always, NULL);
    for (long i = 5; i < 8; i++)
        pthread_create(t + i, NULL, ask_always, (void *)i);
    for (long i = 0; i < 4; i++)
        pthread_create(t + i, NULL, write_and_check, (void *)(i * 1000));
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    stop_all = 1;
    for (int i = 4; i < 8; i++)
        pthread_join(t[i], NULL);
    ok(refused_wrongly == 0 && stats(busy).builds >= 10 && stats(busy).in_flight == 0,
       "threads that write, read and build%s: each finds what it inserted (%llu "
       "builds)",
       cached ? " with a cache" : "", (unsigned long long)stats(busy).builds);
    seen_guard_close(busy);
}

int main(void)
{
    char rm[200];
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/seen-guard.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return 2;
    basics();
    building();
    growth();
    trouble();
    caching();
    herd();
    threads(false);
    threads(true);
    snprintf(rm, sizeof rm, "rm -rf '%s'", dir);
    if (system(rm))
        return 2;
    return done();
}
