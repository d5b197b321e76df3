/* no_stored_key_is_refused.c - writers, readers, deleters and builders on real servers,
 * all of them killed again and again: a key in the database is never refused.
 *
 * A reader looks into the database by itself, asks the guard, and where the guard says
 * "absent" looks again: if the same version of the row was there before and after, it
 * was there all the time, and the guard has refused it. Every row ever written has a
 * version of its own. */
#include "guard/test_servers.h"
#include "seen_guard.h"
#include "tap.h"

#include <sqlite3.h>
#include <libpq-fe.h>
#include <sys/mman.h>
#include <time.h>

enum { HOT = 300, ROLES = 7 };

typedef struct shared {
    _Atomic unsigned next, version;
    _Atomic unsigned long checks, refused_wrongly, stale, present, inserts, erases,
        builds, refused, markers, hits, past_cache, opened, errors;
    _Atomic bool stop;
    char wrong[200];
} shared;
static shared *sh;
static const char *kind; /* "SQLite" or "PostgreSQL" */
static char sqlite_path[300], guard_path[300];

static seen_guard_db make_db(void)
{
    seen_guard_db db;
    seen_guard_sql lite = {"SELECT body FROM item WHERE id = ?1",
                           "INSERT INTO item VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                           "DELETE FROM item WHERE id = ?1", "SELECT id FROM item",
                           false};
    seen_guard_sql post = {"SELECT body FROM item WHERE id = $1",
                           "INSERT INTO item VALUES ($1, $2) ON CONFLICT DO NOTHING",
                           "DELETE FROM item WHERE id = $1", "SELECT id FROM item",
                           false};
    for (int tries = 0; tries < 1200; tries++) {
        if ((kind[0] == 'S' ? seen_guard_sqlite(sqlite_path, &lite, 2, &db)
                            : seen_guard_postgres(pg_conninfo, &post, 2, &db)) == 0)
            return db;
        usleep(50000); /* the server is recovering from a kill */
    }
    fprintf(stderr, "# %s\n", seen_guard_reason());
    exit(3);
}

static seen_guard *make_guard(void)
{
    seen_guard *g;
    seen_guard_config config = {
        .path = guard_path, .keys = 2000, .db = make_db(), .marker_ttl_ms = 60000};
    /* Markers live for a minute: one that is wrong would be found. */
    seen_guard_redis("127.0.0.1", redis_port, "storm:", 2, &config.cache);
    if (seen_guard_open(&config, &g) < 0) {
        fprintf(stderr, "# %s\n", seen_guard_reason());
        exit(3);
    }
    return g;
}

static unsigned dice; /* of this process */
static unsigned roll(unsigned n)
{
    dice = dice * 1103515245 + 12345;
    return dice / 65536 % n;
}

static size_t make_key(char key[32], unsigned n)
{
    return (size_t)sprintf(key, "k%u", n);
}

/* A fresh key, or one of a few that come and go. */
static void write_some(seen_guard *g)
{
    char key[32], value[32];
    size_t len = make_key(key, roll(2) ? sh->next++ : roll(HOT));
    if (roll(3) == 0) {
        len = make_key(key, roll(HOT));
        if (seen_guard_erase(g, key, len) == 1)
            sh->erases++;
        return;
    }
    int n = sprintf(value, "%u", ++sh->version);
    if (seen_guard_insert(g, key, len, value, (size_t)n) == 1)
        sh->inserts++;
}

static bool same(seen_guard_bytes a, seen_guard_bytes b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static void read_some(seen_guard *g, const seen_guard_db *look)
{
    char key[32];
    /* Just written or about to be; coming and going; never written. */
    unsigned which = roll(10), last = sh->next;
    size_t len = make_key(key, which < 5   ? last + 1 - roll(4)
                               : which < 8 ? roll(HOT)
                                           : 1u << 30 | roll(1000));
    seen_guard_bytes before = {NULL, 0}, after = {NULL, 0}, got = {NULL, 0};
    int was = look->get(look->ctx, key, len, &before);
    int rc = seen_guard_get(g, key, len, &got);
    if (was == 1 && rc >= 0) {
        int is = look->get(look->ctx, key, len, &after);
        if (is == 1 && same(before, after)) {
            sh->present++;
            if (rc == 0 && sh->refused_wrongly++ == 0)
                snprintf(sh->wrong, sizeof sh->wrong, "%s", key);
            if (rc == 1 && !same(got, before))
                sh->stale++;
        }
    }
    sh->checks++;
    sh->errors += rc < 0;
    free(before.data);
    free(after.data);
    free(got.data);
}

static void account(seen_guard *g, seen_guard_stats *last)
{
    seen_guard_stats s;
    seen_guard_get_stats(g, &s);
    sh->refused += s.refused - last->refused;
    sh->markers += s.markers - last->markers;
    sh->hits += s.hits - last->hits;
    sh->past_cache += s.past_cache - last->past_cache;
    sh->opened += s.open - last->open;
    sh->builds += s.builds - last->builds;
    *last = s;
}

/* Roles 0-1 write, 2-4 read, 5 builds all the time, 6 does everything. */
static pid_t start(int role)
{
    static unsigned life;
    life++;
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dice = life * 7919 + (unsigned)role;
    seen_guard *g = make_guard();
    seen_guard_db look = make_db();
    seen_guard_stats last = {0};
    for (unsigned i = 1; !sh->stop; i++) {
        if (role < 2 || (role == 6 && i % 4 == 0))
            write_some(g);
        if ((role >= 2 && role < 5) || role == 6)
            read_some(g, &look);
        if (role == 5 || (role == 6 && i % 500 == 0)) {
            seen_guard_build(g);
            usleep(2000);
        }
        if (i % 16 == 0 || role == 5)
            account(g, &last);
    }
    account(g, &last);
    seen_guard_close(g);
    look.close(look.ctx);
    _exit(0);
}

/* Kills one process of the database server, which then recovers by itself. */
static void kill_backend(void)
{
    char cmd[100];
    int pid;
    snprintf(cmd, sizeof cmd,
             "pgrep -P %d -f 'postgres: postgres' | shuf -n1 --random-source=/dev/zero",
             (int)pg_pid());
    FILE *p = popen(cmd, "r");
    if (p && fscanf(p, "%d", &pid) == 1)
        kill(pid, SIGKILL);
    if (p)
        pclose(p);
}

static int keys_asked, keys_lost;
static int ask_again(void *arg, const void *key, size_t len)
{
    keys_asked++;
    keys_lost += seen_guard_get(arg, key, len, NULL) != 1;
    return 0;
}

/* Whether so much of everything has happened that the storm proves something. */
static bool enough(void)
{
    return sh->checks > 1000 && sh->present > 300 && sh->inserts > 200 &&
           sh->erases > 50 && sh->builds > 10 && sh->refused > 50 && sh->markers > 10 &&
           sh->hits > 10;
}

/* For SECONDS; on a slow machine until there was enough of it. */
static void storm(const char *of, double seconds)
{
    pid_t pid[ROLES];
    int kills = 0, redis_kills = 0, backend_kills = 0;
    kind = of;
    memset(sh, 0, sizeof *sh);
    sh->next = HOT;
    snprintf(guard_path, sizeof guard_path, "%s/guard-%s", servers_dir, kind);
    for (int i = 0; i < ROLES; i++)
        pid[i] = start(i);
    dice = 1;
    for (int step = 1; step <= seconds * 10 || (step < 3000 && !enough()); step++) {
        usleep(100000);
        if (step % 2 == 0) {
            int i = (int)roll(ROLES);
            kill(pid[i], SIGKILL);
            waitpid(pid[i], NULL, 0);
            pid[i] = start(i);
            kills++;
        }
        if (step % 23 == 0) { /* comes back with what it had saved a while ago */
            redis_kill(SIGKILL);
            redis_kills += redis_start("1 1");
        }
        if (kind[0] == 'P' && step % 41 == 0) {
            kill_backend();
            backend_kills++;
        }
    }
    sh->stop = true;
    for (int i = 0; i < ROLES; i++)
        waitpid(pid[i], NULL, 0);
    note("%s: %lu questions (%lu of present keys), %lu inserts, %lu deletes, %lu "
         "builds; "
         "refused %lu, markers %lu, hits %lu, past the cache %lu, open %lu, errors %lu",
         kind, sh->checks, sh->present, sh->inserts, sh->erases, sh->builds,
         sh->refused, sh->markers, sh->hits, sh->past_cache, sh->opened, sh->errors);
    ok(enough(),
       "%s: everything went on while %d processes, %d Redis and %d database servers "
       "were "
       "killed",
       kind, kills, redis_kills, backend_kills);
    if (!ok(sh->refused_wrongly == 0, "%s: no key that was in the database was refused",
            kind))
        note("%lu times, the first was %s", sh->refused_wrongly, sh->wrong);
    ok(sh->stale == 0, "%s: no value was older than the question (%lu)", kind,
       sh->stale);
    seen_guard *g = make_guard();
    seen_guard_db look = make_db();
    keys_asked = keys_lost = 0;
    look.scan(look.ctx, ask_again, g);
    ok(seen_guard_build(g) == 1 && keys_lost == 0 && keys_asked > 200,
       "%s: all %d rows are found afterwards", kind, keys_asked);
    keys_asked = keys_lost = 0;
    look.scan(look.ctx, ask_again, g);
    ok(keys_lost == 0 && keys_asked > 200, "%s: and by a filter built afterwards",
       kind);
    look.close(look.ctx);
    seen_guard_close(g);
}

int main(void)
{
    double seconds = getenv("STORM_SECONDS") ? atof(getenv("STORM_SECONDS")) : 9;
    sh = mmap(NULL, sizeof *sh, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
              0);
    if (!have_program("redis-server")) {
        puts("1..0 # SKIP package redis-server is not installed");
        return 0;
    }
    servers_begin();
    if (!redis_start("1 1")) {
        servers_end();
        return 2;
    }
    sqlite3 *lite;
    snprintf(sqlite_path, sizeof sqlite_path, "%s/items.sqlite", servers_dir);
    if (sqlite3_open(sqlite_path, &lite) != SQLITE_OK ||
        sqlite3_exec(lite,
                     "PRAGMA journal_mode=WAL; CREATE TABLE item (id TEXT PRIMARY KEY, "
                     "body TEXT)",
                     NULL, NULL, NULL) != SQLITE_OK)
        return 2;
    sqlite3_close(lite);
    storm("SQLite", seconds);
    if (pg_start()) {
        PGconn *c = PQconnectdb(pg_conninfo);
        PQclear(PQexec(c, "CREATE TABLE item (id text PRIMARY KEY, body text)"));
        PQfinish(c);
        storm("PostgreSQL", seconds);
    } else {
        ok(1,
           "PostgreSQL # SKIP package postgresql is not installed or does not start");
    }
    servers_end();
    return done();
}
