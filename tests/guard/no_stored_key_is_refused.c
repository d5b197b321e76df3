/* no_stored_key_is_refused.c - writers, readers, deleters and builders on real servers,
 * all of them killed again and again: a key in the database is never refused. */
#include "guard/storm_actors.h"
#include "guard/test_servers.h"
#include "seen_guard.h"
#include "tap.h"

#include <sqlite3.h>
#include <libpq-fe.h>

enum { ROLES = 7 };
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
    storm_report(kind);
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
    storm_share();
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
