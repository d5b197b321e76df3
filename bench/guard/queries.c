/* queries.c - what reaches the database when most requests are for nothing.
 *
 *     queries [postgres]
 *
 * 50,000 rows, 60,000 requests, 70% of them for ids that do not exist and hardly
 * repeat, as a crawler or an attacker sends them. A redis-server of its own is the
 * cache; the database is SQLite, or PostgreSQL if asked for. */
#include "guard/test_servers.h"
#include "seen_guard.h"

#include <hiredis/hiredis.h>
#include <libpq-fe.h>
#include <math.h>
#include <sqlite3.h>
#include <time.h>

enum { ROWS = 50000, REQUESTS = 60000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t dice;
static double roll(void)
{
    dice = seen_hash_seeded(1, &dice, sizeof dice);
    return (double)(dice >> 11) / 9007199254740992.0;
}

static long long redis_number(redisContext *c, const char *command, const char *field)
{
    redisReply *r = redisCommand(c, command);
    long long n = 0;
    if (r && r->type == REDIS_REPLY_INTEGER)
        n = r->integer;
    if (r && r->type == REDIS_REPLY_STRING && strstr(r->str, field))
        n = atoll(strstr(r->str, field) + strlen(field));
    if (r)
        freeReplyObject(r);
    return n;
}

static bool postgres;
static char sqlite_path[300];

static void make_table(void)
{
    char sql[200];
    snprintf(sql, sizeof sql, "%s",
             "CREATE TABLE item (id TEXT PRIMARY KEY, body TEXT)");
    if (postgres) {
        PGconn *c = PQconnectdb(pg_conninfo);
        PQclear(PQexec(c, sql));
        snprintf(sql, sizeof sql,
                 "INSERT INTO item SELECT 'item-' || n, repeat('x', 100) FROM "
                 "generate_series(0, %d) n",
                 ROWS - 1);
        PQclear(PQexec(c, sql));
        PQfinish(c);
        return;
    }
    sqlite3 *db;
    sqlite3_open(sqlite_path, &db);
    sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    snprintf(sql, sizeof sql,
             "WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n+1 FROM s "
             "WHERE n < %d) INSERT INTO item SELECT 'item-' || n, printf('%%100s', "
             "'x') FROM s",
             ROWS - 1);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_close(db);
}

/* SHARED: filter and cache in Redis, as many machines have them. */
static void run(const char *name, unsigned flags, bool shared, redisContext *redis,
                double *base)
{
    seen_guard_sql lite = {.get = "SELECT body FROM item WHERE id = ?1",
                           .scan = "SELECT id FROM item"};
    seen_guard_sql post = {.get = "SELECT body FROM item WHERE id = $1",
                           .scan = "SELECT id FROM item"};
    char path[300], server[40];
    snprintf(path, sizeof path, "%s/guard", servers_dir);
    snprintf(server, sizeof server, "127.0.0.1:%d", redis_port);
    seen_guard_shared home = {.servers = server, .name = "item", .write_lease_ms = 100};
    seen_guard_config config = {.path = shared ? NULL : path,
                                .shared = shared ? &home : NULL,
                                .keys = ROWS,
                                .flags = flags};
    seen_guard *g;
    int rc = postgres ? seen_guard_postgres(pg_conninfo, &post, 2, &config.db)
                      : seen_guard_sqlite(sqlite_path, &lite, 2, &config.db);
    freeReplyObject(redisCommand(redis, "FLUSHALL"));
    if (rc < 0 ||
        (!shared &&
         seen_guard_redis("127.0.0.1", redis_port, "g:", 2, &config.cache) < 0) ||
        seen_guard_open(&config, &g) < 0 || seen_guard_build(g) < 0) {
        fprintf(stderr, "queries: %s\n", seen_guard_reason());
        exit(2);
    }
    long long before = redis_number(redis, "INFO memory", "used_memory:");
    dice = 42;
    double t = now();
    unsigned found = 0;
    for (int i = 0; i < REQUESTS; i++) {
        char key[32];
        unsigned id = roll() < 0.7 ? ROWS + (unsigned)(roll() * 5e6)
                                   : (unsigned)(pow(roll(), 60) * ROWS);
        found += seen_guard_get(g, key, (size_t)sprintf(key, "item-%u", id), NULL) == 1;
    }
    t = now() - t;
    seen_guard_stats s;
    seen_guard_get_stats(g, &s);
    if (*base == 0)
        *base = (double)s.queries;
    printf("%-22s %8llu %7.1f%% %8llu %8llu %9.2f %8.1f\n", name,
           (unsigned long long)s.queries, 100 * (double)s.queries / *base,
           (unsigned long long)s.refused, redis_number(redis, "DBSIZE", ""),
           (double)(redis_number(redis, "INFO memory", "used_memory:") - before) / 1e6,
           t / REQUESTS * 1e6);
    if (found != REQUESTS * 3 / 10 && (found < 17500 || found > 18500))
        printf("  only %u were found\n", found);
    t = now();
    clock_t cpu = clock();
    int refusals = flags & SEEN_GUARD_NO_FILTER ? 0 : shared ? 50000 : 1000000;
    for (int i = 0; i < refusals; i++) {
        char key[16];
        memcpy(key, "none", 4);
        memcpy(key + 4, &i, sizeof i);
        seen_guard_get(g, key, 8, NULL);
    }
    double refusal = refusals ? (now() - t) / refusals : 0;
    double used = (double)(clock() - cpu) / CLOCKS_PER_SEC;
    if (refusals)
        printf("  a refusal takes %.0f ns, %.0f of them this process's processor time; "
               "the filter %llu bytes\n",
               refusal * 1e9, used / refusals * 1e9, (unsigned long long)s.bytes);
    seen_guard_close(g);
}

int main(int argc, char **argv)
{
    double base = 0;
    postgres = argc > 1 && strcmp(argv[1], "postgres") == 0;
    servers_begin();
    snprintf(sqlite_path, sizeof sqlite_path, "%s/items.sqlite", servers_dir);
    if (!redis_start("") || (postgres && !pg_start())) {
        fprintf(stderr, "queries: cannot start the servers\n");
        servers_end();
        return 2;
    }
    make_table();
    redisContext *redis = redisConnect("127.0.0.1", redis_port);
    printf("%d rows, %d requests, 70%% for absent ids; Redis and %s\n", ROWS, REQUESTS,
           postgres ? "PostgreSQL" : "SQLite");
    printf("%-22s %8s %8s %8s %8s %9s %8s\n", "", "queries", "ratio", "refused",
           "cached", "Redis MB", "us each");
    run("cache only", SEEN_GUARD_NO_FILTER | SEEN_GUARD_NO_MARKERS, false, redis,
        &base);
    run("null caching", SEEN_GUARD_NO_FILTER, false, redis, &base);
    run("guard", SEEN_GUARD_NO_MARKERS, false, redis, &base);
    run("guard + null caching", 0, false, redis, &base);
    run("guard in Redis", 0, true, redis, &base);
    redisFree(redis);
    servers_end();
    return 0;
}
