/* guard_is_safe_by_default.c - what goes wrong around a guard, for users who have not
 * read the manual: full disks, mixed-up and deleted files, strangers, forks, servers
 * that do not answer, clocks that jump. */
#include "guard/fake_adapters.h"
#include "guard/test_servers.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/syscall.h>

/* The wall clock of this process, which the test can move. */
static _Atomic long wall_offset;
int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);
    if (id == CLOCK_REALTIME)
        t->tv_sec += wall_offset;
    return rc;
}

static fake_db db = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char *path_of(const char *name)
{
    static char path[4][300];
    static int turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", servers_dir, name);
    return p;
}

static seen_guard *open_with(const char *name, seen_guard_db adapter, unsigned flags)
{
    seen_guard *g = NULL;
    seen_guard_config config = {.path = path_of(name),
                                .keys = 1000,
                                .error = 1e-6,
                                .db = adapter,
                                .flags = flags};
    return seen_guard_open(&config, &g) < 0 ? NULL : g;
}

static int get(seen_guard *g, const char *key)
{
    return seen_guard_get(g, key, strlen(key), NULL);
}
static int insert(seen_guard *g, const char *key)
{
    return seen_guard_insert(g, key, strlen(key), "x", 1);
}
static seen_guard_stats stats(seen_guard *g)
{
    seen_guard_stats s;
    seen_guard_get_stats(g, &s);
    return s;
}
static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- files ----------------------------------------------------------------------- */

/* In a file system of SIZE: 1 if ROOM is enough to open a guard and it works, 0 if it
 * is refused with a reason, 3 if this machine allows no such file system. */
static int in_small_disk(const char *size)
{
    int status = 0;
    char *at = path_of("disk"), options[40];
    mkdir(at, 0700);
    snprintf(options, sizeof options, "size=%s", size);
    pid_t pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) < 0 ||
            mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("none", at, "tmpfs", 0, options) < 0)
            _exit(3);
        seen_guard *g = NULL;
        char path[400];
        snprintf(path, sizeof path, "%s/guard", at);
        db.row[7] = true;
        seen_guard_config config = {
            .path = path, .keys = 10000000, .db = fake_adapter(&db)};
        if (seen_guard_open(&config, &g) < 0)
            _exit(strstr(seen_guard_reason(), "No space left") ? 0 : 4);
        bool works = insert(g, "5") == 1 && get(g, "5") == 1;
        bool no_room = seen_guard_build(g) < 0 &&
                       strstr(seen_guard_reason(), "No space left") && get(g, "7") == 1;
        _exit(works && no_room ? 1 : 5);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void full_disk(void)
{
    int none = in_small_disk("64k"), some = in_small_disk("2m");
    if (none == 3) {
        const char *why = geteuid() ? "mounting a small file system needs root"
                                    : "mounting a file system is not permitted here";
        ok(1, "a disk without room for PATH # SKIP %s", why);
        ok(1, "a disk without room for a filter # SKIP %s", why);
        return;
    }
    ok(none == 0, "a disk without room for PATH is an error, not a signal (%d)", none);
    ok(some == 1, "a disk without room for a filter: the guard fails open (%d)", some);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) < 0 ? 0 : st.st_mode & 07777;
}

static void private_files(void)
{
    mode_t was = umask(0);
    seen_guard *g = open_with("private", fake_adapter(&db), 0);
    seen_guard_build(g);
    char first[320];
    snprintf(first, sizeof first, "%s.%u", path_of("private"), stats(g).generation);
    ok(mode_of(path_of("private")) == 0600 && mode_of(first) == 0600,
       "PATH and the filters are for their owner only (%o, %o), whatever the umask",
       mode_of(path_of("private")), mode_of(first));
    umask(was);
    seen_guard_close(g);

    ok(symlink(path_of("private"), path_of("link")) == 0 &&
           !open_with("link", fake_adapter(&db), 0) &&
           strstr(seen_guard_reason(), "symbolic link"),
       "a link at PATH is not followed");
    ok(mkfifo(path_of("fifo"), 0600) == 0 && !open_with("fifo", fake_adapter(&db), 0) &&
           strstr(seen_guard_reason(), "regular"),
       "a pipe at PATH is refused, and nobody waits for it");
    chmod(path_of("private"), 0644);
    ok(!open_with("private", fake_adapter(&db), 0) &&
           strstr(seen_guard_reason(), "chmod 600"),
       "a PATH that others may read is refused, with what to do");
    chmod(path_of("private"), 0600);
    if (geteuid() == 0 && chown(path_of("private"), 65534, 65534) == 0)
        ok(!open_with("private", fake_adapter(&db), 0) &&
               strstr(seen_guard_reason(), "another user"),
           "a PATH of another user is refused");
    else
        ok(1, "a PATH of another user # SKIP %s",
           geteuid() ? "making one needs root" : "chown is not permitted here");
}

static void deleted_path(void)
{
    memset(&db.row, 0, sizeof db.row);
    db.row[1] = true;
    seen_guard *old = open_with("deleted", fake_adapter(&db), 0);
    seen_guard_build(old);
    ok(get(old, "1") == 1 && get(old, "2") == 0 && stats(old).refused == 1,
       "a guard at work");
    unlink(path_of("deleted"));
    seen_guard *new = open_with("deleted", fake_adapter(&db), 0);
    ok(insert(new, "2") == 1 && get(old, "2") == 1,
       "PATH deleted: a key that came through the new file is not refused by the old");
    ok(is(stats(old).state, "deleted") && stats(old).open > 0, "which says why");
    ok(insert(old, "3") == SEEN_EIO && !db.row[3] &&
           strstr(seen_guard_reason(), "open it again"),
       "and inserts nothing, since nobody would hear of it");
    ok(seen_guard_build(old) == SEEN_EMISMATCH, "nor builds");
    seen_guard_close(old);
    seen_guard_close(new);
}

static seen_guard_db sqlite_db(const char *name, unsigned connections,
                               seen_guard_sql sql)
{
    seen_guard_db out;
    sqlite3 *lite;
    char *path = path_of(name);
    if (sqlite3_open(path, &lite) != SQLITE_OK ||
        sqlite3_exec(
            lite,
            "PRAGMA journal_mode=WAL; CREATE TABLE IF NOT EXISTS item (id TEXT "
            "PRIMARY KEY, body TEXT)",
            NULL, NULL, NULL) != SQLITE_OK)
        exit(2);
    sqlite3_close(lite);
    if (!sql.get)
        sql.get = "SELECT body FROM item WHERE id = ?1";
    sql.insert = "INSERT INTO item VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    sql.scan = "SELECT id FROM item";
    if (seen_guard_sqlite(path, &sql, connections, &out) < 0)
        exit(2);
    return out;
}

static void two_databases(void)
{
    seen_guard_sql sql = {0};
    seen_guard *a = open_with("both", sqlite_db("a.sqlite", 1, sql), 0);
    insert(a, "in-a");
    seen_guard_build(a);
    ok(get(a, "in-b") == 0 && stats(a).refused == 1, "one database, one filter");
    seen_guard *b = open_with("both", sqlite_db("b.sqlite", 1, sql), 0);
    insert(b, "in-b");
    ok(get(b, "in-b") == 1 && get(b, "in-a") == 0,
       "another database with the same PATH and no tag: its rows are found");
    ok(get(a, "in-a") == 1 && is(stats(a).state, "foreign"),
       "the first one fails open and says why");
    seen_guard_close(a);
    seen_guard_close(b);
    seen_guard *again = open_with("same", sqlite_db("a.sqlite", 1, sql), 0);
    seen_guard_build(again);
    seen_guard *twin = open_with("same", sqlite_db("a.sqlite", 1, sql), 0);
    ok(is(stats(again).state, "enforcing") && is(stats(twin).state, "enforcing"),
       "two guards for one database share");
    seen_guard_close(again);
    seen_guard_close(twin);
}

static void strange_config(void)
{
    seen_guard *g;
    seen_guard_config good = {.path = path_of("config"), .db = fake_adapter(&db)},
                      c = good;
    c.reserved[3] = 1;
    ok(seen_guard_open(&c, &g) == SEEN_EINVAL &&
           strstr(seen_guard_reason(), "reserved"),
       "a reserved field that is set is refused");
    c = good;
    c.flags = 1u << 20;
    ok(seen_guard_open(&c, &g) == SEEN_EINVAL && strstr(seen_guard_reason(), "flags"),
       "an unknown flag is refused");
    c = good;
    c.worn = 2;
    ok(seen_guard_open(&c, &g) == SEEN_EINVAL && strstr(seen_guard_reason(), "worn"),
       "a share above 1 is refused");
    ok(seen_guard_open(&good, &g) == 0, "the rest was right");
    seen_guard_close(g);
}

/* ---- time ------------------------------------------------------------------------ */

static void clock_jumps(void)
{
    seen_guard *g = open_with("clock", fake_adapter(&db), SEEN_GUARD_BACKGROUND);
    while (!is(stats(g).state, "enforcing"))
        usleep(1000);
    uint64_t before = stats(g).capacity;
    wall_offset = 7200; /* a thread that waits by the wall clock now waits for hours */
    usleep(300000);
    wall_offset = 0;
    for (int i = 0; i < 15000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        insert(g, key);
    }
    for (int i = 0; i < 12000 && stats(g).capacity == before; i++)
        usleep(10000);
    ok(stats(g).capacity > before,
       "the background thread builds on, though the wall clock jumped");
    seen_guard_close(g);
}

static seen_guard *slow;
static void *ask_slowly(void *key)
{
    get(slow, key);
    return NULL;
}

static void slow_sqlite(void)
{
    pthread_t t[2];
    /* Never ends by itself. */
    seen_guard_sql sql = {.get =
                              "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 "
                              "FROM s) SELECT count(*) FROM s WHERE ?1 = ?1",
                          .wait_ms = 50,
                          .query_ms = 2000};
    slow = open_with("slow", sqlite_db("slow.sqlite", 1, sql), 0);
    unsigned rounds = 0;
    seen_guard_stats s = {0};
    for (; rounds < 10 && !s.crowded; rounds++) { /* one, unless a thread is delayed */
        pthread_create(t, NULL, ask_slowly, "one");
        pthread_create(t + 1, NULL, ask_slowly, "two");
        pthread_join(t[0], NULL);
        pthread_join(t[1], NULL);
        s = stats(slow);
    }
    ok(s.timeouts == 2 * rounds - 1 && s.crowded == 1 && s.db_errors == 2 * rounds,
       "one connection and a query that never ends: one caller is told that it takes "
       "too "
       "long, the other that there is no connection, and both are counted");
    seen_guard_close(slow);
}

/* ---- PostgreSQL ------------------------------------------------------------------ */

static seen_guard_db postgres_db(const char *get_sql, unsigned connections)
{
    seen_guard_db out;
    seen_guard_sql sql = {.get =
                              get_sql ? get_sql : "SELECT body FROM item WHERE id = $1",
                          .insert = "INSERT INTO item VALUES ($1, $2) ON CONFLICT DO "
                                    "NOTHING",
                          .scan = "SELECT id FROM item",
                          .query_ms = 500};
    if (seen_guard_postgres(pg_conninfo, &sql, connections, &out) < 0) {
        fprintf(stderr, "# %s\n", seen_guard_reason());
        exit(2);
    }
    return out;
}

static void sql_in_server(const char *sql)
{
    PGconn *c = PQconnectdb(pg_conninfo);
    PQclear(PQexec(c, sql));
    PQfinish(c);
}

static void after_fork(void)
{
    seen_guard *g = open_with("forked", postgres_db(NULL, 2), SEEN_GUARD_BACKGROUND);
    char key[16];
    for (int i = 0; i < 50; i++) {
        snprintf(key, sizeof key, "f%d", i);
        insert(g, key);
    }
    int status, wrong = 0;
    pid_t pid = fork();
    for (int round = 0; round < 20; round++)
        for (int i = 0; i < 50; i++) {
            snprintf(key, sizeof key, "f%d", i);
            wrong += get(g, key) != 1;
        }
    if (pid == 0) {
        wrong += insert(g, "child") != 1;
        seen_guard_close(g); /* and not the parent's sessions */
        _exit(wrong != 0);
    }
    waitpid(pid, &status, 0);
    ok(status == 0, "after a fork the child asks and inserts through the same guard");
    ok(wrong == 0 && get(g, "child") == 1 && stats(g).db_errors == 0,
       "and the parent goes on, undisturbed");
    seen_guard_close(g);
}

static void slow_postgres(void)
{
    seen_guard *g = open_with(
        "sleepy", postgres_db("SELECT pg_sleep(600)::text WHERE $1 = $1", 1), 0);
    ok(get(g, "k") == SEEN_GUARD_TIMEOUT && stats(g).timeouts == 1,
       "a query that takes too long is ended by the server");
    seen_guard_close(g);

    /* A server that hangs: its process is stopped. */
    seen_guard_bytes pid = {NULL, 0};
    g = open_with("stopped",
                  postgres_db("SELECT pg_backend_pid()::text WHERE $1 = $1", 1), 0);
    if (seen_guard_get(g, "k", 1, &pid) != 1)
        exit(2);
    pid_t backend = (pid_t)strtol(pid.data, NULL, 10);
    free(pid.data);
    kill(backend, SIGSTOP);
    ok(insert(g, "hang") == SEEN_GUARD_DOUBT && stats(g).doubts == 1 &&
           stats(g).in_flight == 1,
       "a write to a server that hangs is in doubt, and its key stays marked");
    kill(backend, SIGCONT);
    seen_guard_close(g);
    g = open_with("stopped", postgres_db(NULL, 1), 0);
    for (int i = 0; i < 6000 && get(g, "hang") != 1; i++)
        usleep(10000);
    ok(get(g, "hang") == 1, "which is right: the server did commit it");
    seen_guard_close(g);
}

static void two_schemas(void)
{
    sql_in_server("CREATE DATABASE other");
    seen_guard *a = open_with("pg-both", postgres_db(NULL, 1), 0);
    seen_guard_build(a);
    char *was = strdup(pg_conninfo), *at = strstr(pg_conninfo, "dbname=postgres");
    memcpy(at, "dbname=other   ", 15);
    sql_in_server("CREATE TABLE item (id text PRIMARY KEY, body text)");
    seen_guard *b = open_with("pg-both", postgres_db(NULL, 1), 0);
    ok(!is(stats(b).state, "enforcing") && insert(b, "over-there") == 1 &&
           get(b, "over-there") == 1,
       "two databases of one server with one PATH: not one filter");
    strcpy(pg_conninfo, was);
    strcat(pg_conninfo, " options='-c search_path=elsewhere'");
    sql_in_server(
        "CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.item (id text PRIMARY "
        "KEY, body text)");
    seen_guard *c = open_with("pg-both", postgres_db(NULL, 1), 0);
    ok(is(stats(c).state, "stale") && is(stats(b).state, "foreign"),
       "nor two schemas of one database");
    strcpy(pg_conninfo, was);
    free(was);
    seen_guard_close(a);
    seen_guard_close(b);
    seen_guard_close(c);
}

int main(void)
{
    servers_begin();
    full_disk();
    private_files();
    deleted_path();
    two_databases();
    strange_config();
    clock_jumps();
    slow_sqlite();
    if (pg_start()) {
        sql_in_server("CREATE TABLE item (id text PRIMARY KEY, body text)");
        after_fork();
        slow_postgres();
        two_schemas();
    } else {
        ok(1,
           "PostgreSQL # SKIP package postgresql is not installed or does not start");
    }
    servers_end();
    return done();
}
