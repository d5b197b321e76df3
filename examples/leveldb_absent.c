/* leveldb_absent.c - LevelDB without disk reads for absent keys.
 *
 *     cc leveldb_absent.c -lseen_leveldb -lseen -lleveldb -lm && ./a.out FOLDER
 *
 * Writes the even ids below a million to a database, and asks for some even and some
 * odd ones: with our filter, then without a filter. */
#include <leveldb/c.h>
#include <seen_leveldb.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { IDS = 1000000, STEP = 98 };

static void stop_on(char *err)
{
    if (err) {
        fprintf(stderr, "%s\n", err);
        exit(1);
    }
}

static leveldb_t *open_with(const char *folder, leveldb_filterpolicy_t *policy)
{
    char *err = NULL;
    leveldb_options_t *options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, 1);
    leveldb_options_set_filter_policy(options, policy);
    leveldb_t *db = leveldb_open(options, folder, &err);
    stop_on(err);
    leveldb_options_destroy(options);
    return db;
}

static void fill(leveldb_t *db)
{
    char key[32], *err = NULL;
    leveldb_writeoptions_t *put = leveldb_writeoptions_create();
    for (int id = 0; id < IDS; id += 2) {
        int len = sprintf(key, "user%012d", id);
        leveldb_put(db, put, key, (size_t)len, "value", 5, &err);
        stop_on(err);
    }
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    leveldb_writeoptions_destroy(put);
}

/* Asks for every 98th id from FIRST on; returns how many are there. */
static int ask(leveldb_t *db, int first)
{
    char key[32], *err = NULL;
    int found = 0;
    leveldb_readoptions_t *get = leveldb_readoptions_create();
    for (int id = first; id < IDS; id += STEP) {
        size_t vlen;
        int len = sprintf(key, "user%012d", id);
        char *value = leveldb_get(db, get, key, (size_t)len, &vlen, &err);
        stop_on(err);
        found += value != NULL;
        leveldb_free(value);
    }
    leveldb_readoptions_destroy(get);
    return found;
}

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "leveldb-example";
    leveldb_filterpolicy_t *policy = seen_leveldb_policy(10); /* bits per key */
    leveldb_t *db = open_with(folder, policy);
    fill(db);
    printf("with the filter: %d found of even ids,", ask(db, 0));
    double from = seconds();
    int odd = ask(db, 1);
    double with = seconds() - from;
    printf(" %d of odd ones\n", odd);
    leveldb_close(db);

    db = open_with(folder, NULL);
    ask(db, 0);
    from = seconds();
    odd = ask(db, 1);
    double without = seconds() - from;
    leveldb_close(db);
    leveldb_filterpolicy_destroy(policy); /* after the database that used it */

    int asked = (IDS - 2) / STEP + 1;
    printf("an id that is not there: %.2f us with the filter, %.2f us without\n",
           1e6 * with / asked, 1e6 * without / asked);
    return 0;
}
