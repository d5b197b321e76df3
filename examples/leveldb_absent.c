/* leveldb_absent.c - LevelDB that does not read the disk for keys it does not have.
 *
 *     cc leveldb_absent.c -lseen_leveldb -lseen -lleveldb -lm && ./a.out FOLDER
 *
 * Writes the even ones of a million ids to a database and asks for some odd ones. */
#include <leveldb/c.h>
#include <seen_leveldb.h>
#include <stdio.h>
#include <stdlib.h>

static void stop_on(char *err)
{
    if (err) {
        fprintf(stderr, "%s\n", err);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    char key[32], *err = NULL;
    int missing = 0, found = 0;
    leveldb_filterpolicy_t *policy = seen_leveldb_policy(10); /* bits per key */
    leveldb_options_t *options = leveldb_options_create();
    leveldb_options_set_create_if_missing(options, 1);
    leveldb_options_set_filter_policy(options, policy);
    leveldb_t *db = leveldb_open(options, argc > 1 ? argv[1] : "leveldb-example", &err);
    stop_on(err);

    leveldb_writeoptions_t *put = leveldb_writeoptions_create();
    for (int id = 0; id < 1000000; id += 2) {
        int len = sprintf(key, "user%012d", id);
        leveldb_put(db, put, key, (size_t)len, "value", 5, &err);
        stop_on(err);
    }
    leveldb_compact_range(db, NULL, 0, NULL, 0);

    leveldb_readoptions_t *get = leveldb_readoptions_create();
    for (int id = 1; id < 1000000; id += 98) {
        size_t vlen;
        int len = sprintf(key, "user%012d", id);
        char *value = leveldb_get(db, get, key, (size_t)len, &vlen, &err);
        stop_on(err);
        value ? found++ : missing++;
        leveldb_free(value);
    }
    printf("%d found, %d missing\n", found, missing);

    leveldb_readoptions_destroy(get);
    leveldb_writeoptions_destroy(put);
    leveldb_close(db);
    leveldb_filterpolicy_destroy(policy); /* after the database that used it */
    leveldb_options_destroy(options);
    return 0;
}
