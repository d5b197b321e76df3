/* guard_sqlite.c - a shop that gets requests for articles it does not have.
 *
 *     cc guard_sqlite.c -lseen_guard -lseen -lsqlite3 -lhiredis -lpthread -lm
 *     ./a.out FOLDER [REDIS-PORT]
 *
 * Makes a table with 10,000 articles in FOLDER, asks for 100,000, most of which do not
 * exist, and prints how many questions reached the database. Run it several times at
 * once: the processes share one filter. */
#include <seen_guard.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
    fprintf(stderr, "guard_sqlite: %s\n", what);
    exit(1);
}

int main(int argc, char **argv)
{
    char table[400], filter[400], key[32];
    const char *folder = argc > 1 ? argv[1] : ".";
    sqlite3 *db;
    snprintf(table, sizeof table, "%s/shop.sqlite", folder);
    snprintf(filter, sizeof filter, "%s/shop.guard", folder);
    if (sqlite3_open(table, &db) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    sqlite3_busy_timeout(db, 5000);
    sqlite3_exec(
        db,
        "PRAGMA journal_mode = WAL;"
        "CREATE TABLE IF NOT EXISTS article (id TEXT PRIMARY KEY, name TEXT);"
        "WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 9999)"
        "INSERT OR IGNORE INTO article SELECT n * 10, 'article ' || n FROM s",
        NULL, NULL, NULL);
    sqlite3_close(db);

    seen_guard_sql sql = {
        .get = "SELECT name FROM article WHERE id = ?1",
        .insert = "INSERT INTO article VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        .erase = "DELETE FROM article WHERE id = ?1",
        .scan = "SELECT id FROM article"};
    seen_guard_config config = {.path = filter, .keys = 10000, .error = 0.01};
    if (seen_guard_sqlite(table, &sql, 0, &config.db) < 0 ||
        (argc > 2 &&
         seen_guard_redis("127.0.0.1", atoi(argv[2]), "shop:", 0, &config.cache) < 0))
        die(seen_guard_reason());
    seen_guard *g;
    if (seen_guard_open(&config, &g) < 0 || seen_guard_build(g) < 0)
        die(seen_guard_reason());

    int found = 0;
    for (int id = 0; id < 100000; id++)
        found += seen_guard_get(g, key, (size_t)sprintf(key, "%d", id), NULL) == 1;

    seen_guard_bytes name;
    seen_guard_insert(g, "7", 1, "a new article", 13);
    if (seen_guard_get(g, "7", 1, &name) == 1) {
        printf("article 7: %.*s\n", (int)name.len, (const char *)name.data);
        free(name.data);
    }
    seen_guard_erase(g, "7", 1);

    seen_guard_stats s;
    seen_guard_get_stats(g, &s);
    printf("%d found; of %llu questions the filter answered %llu, the cache %llu, the "
           "database %llu\n",
           found, (unsigned long long)s.gets, (unsigned long long)s.refused,
           (unsigned long long)(s.hits + s.markers), (unsigned long long)s.queries);
    seen_guard_close(g);
    return 0;
}
