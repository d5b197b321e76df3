/* leveldb_loses_no_key.c - the policies in a real database: what absent and present
 * keys cost, and that no key is ever lost. */
#include "counted_reads.h"
#include "seen_leveldb.h"
#include "tap.h"

#include <signal.h>
#include <sys/wait.h>

enum { KEYS = 200000, ASKED = 100000 };
static char dir[128];

static const char *path_of(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void build(const char *name, leveldb_filterpolicy_t *policy, int hashed)
{
    store s;
    store_open(&s, path_of(name), policy);
    store_fill(&s, 0, KEYS, hashed);
    leveldb_compact_range(s.db, NULL, 0, NULL, 0);
    store_close(&s);
}

typedef struct cost {
    uint64_t absent, present, found;
} cost;

/* Reopens NAME with POLICY and asks ASKED absent and ASKED present keys. */
static cost ask(const char *name, leveldb_filterpolicy_t *policy, int hashed)
{
    store s;
    cost c;
    store_open(&s, path_of(name), policy);
    uint64_t wrong = store_ask(&s, 1, ASKED, KEYS, hashed, &c.absent);
    c.found = store_ask(&s, 0, ASKED, KEYS, hashed, &c.present) - wrong;
    store_close(&s);
    return c;
}

static void counts(void)
{
    for (int hashed = 0; hashed < 2; hashed++) {
        build("none", NULL, hashed);
        build("builtin", leveldb_filterpolicy_create_bloom(10), hashed);
        build("ours", seen_leveldb_policy(10), hashed);
        cost none = ask("none", NULL, hashed);
        cost builtin = ask("builtin", leveldb_filterpolicy_create_bloom(10), hashed);
        cost ours = ask("ours", seen_leveldb_policy(10), hashed);
        const char *which = hashed ? "hashed" : "neighbouring";
        note("%s keys, reads for %d absent: none %llu, builtin %llu, ours %llu", which,
             ASKED, (unsigned long long)none.absent, (unsigned long long)builtin.absent,
             (unsigned long long)ours.absent);
        ok(ours.absent * (hashed ? 2 : 8) <= builtin.absent &&
               none.absent > ASKED * 9 / 10,
           "%s absent keys cost at most 1/%d of the builtin's reads", which,
           hashed ? 2 : 8);
        long theirs = store_bytes(path_of("builtin")),
             own = store_bytes(path_of("ours"));
        ok(own <= theirs && theirs > 0,
           "at equal space: tables of %ld bytes, builtin %ld", own, theirs);
        ok(ours.present == none.present && ours.found == ASKED,
           "%s present keys cost exactly what they cost without a filter (%llu)", which,
           (unsigned long long)ours.present);
    }
    cost other = ask("ours", leveldb_filterpolicy_create_bloom(10), 1);
    cost without = ask("ours", NULL, 1);
    cost later = ask("builtin", seen_leveldb_policy(10), 1);
    ok(other.found == ASKED && without.found == ASKED && later.found == ASKED,
       "changing the policy of a database loses no key");
    ok(other.absent > ASKED * 9 / 10 && later.absent > ASKED * 9 / 10,
       "another policy's filters are ignored, not misread");
}

/* The builtin's name: its files are ours and ours are its. */
static void interchange(void)
{
    build("twin", seen_leveldb_policy_builtin(10), 0);
    build("twin-of", leveldb_filterpolicy_create_bloom(10), 0);
    char cmd[1200];
    snprintf(cmd, sizeof cmd,
             "cat '%s'/twin/*.ldb | cksum > '%s'/a; cat '%s'/twin-of/*.ldb"
             " | cksum > '%s'/b; cmp '%s'/a '%s'/b",
             dir, dir, dir, dir, dir, dir);
    ok(system(cmd) == 0, "tables written in the builtin's form are the builtin's, byte "
                         "for byte");
    cost a = ask("twin", leveldb_filterpolicy_create_bloom(10), 0);
    cost b = ask("twin-of", seen_leveldb_policy_builtin(10), 0);
    ok(a.found == ASKED && b.found == ASKED && a.absent == b.absent &&
           a.absent < ASKED / 5 && a.present == b.present,
       "each reads the other's database, with the same %llu reads",
       (unsigned long long)a.absent);
    static const int bits[] = {0, 1, 5, 44, 100};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        store s;
        uint64_t reads;
        char name[32];
        snprintf(name, sizeof name, "bits%d", bits[i]);
        store_open(&s, path_of(name), seen_leveldb_policy_builtin(bits[i]));
        store_fill(&s, 0, 3000, 1);
        leveldb_compact_range(s.db, NULL, 0, NULL, 0);
        store_close(&s);
        store_open(&s, path_of(name), leveldb_filterpolicy_create_bloom(bits[i]));
        ok(store_ask(&s, 0, 3000, 3000, 1, &reads) == 3000,
           "%d bits per key: the builtin finds every key", bits[i]);
        store_close(&s);
    }
}

/* Overwrites, deletions and several levels: all answers stay right. */
static void churn(void)
{
    store s;
    uint64_t reads, late = 0;
    char key[64], *err = NULL;
    store_open(&s, path_of("churn"), seen_leveldb_policy(10));
    for (int round = 0; round < 4; round++)
        store_fill(&s, 0, 30000, 0); /* four versions of each key */
    store_fill(&s, 60000, 30000, 0);
    for (uint64_t i = 0; i < 30000; i += 3) {
        size_t len = make_key(key, 2 * i, 0);
        leveldb_delete(s.db, s.put, key, len, &err);
        die_if(err, "delete");
    }
    ok(store_ask(&s, 0, 60000, 60000, 0, &reads) == 50000,
       "overwritten keys are found, deleted ones not, before compaction");
    store_close(&s);
    store_open(&s, path_of("churn"), seen_leveldb_policy(16));
    ok(store_ask(&s, 0, 60000, 60000, 0, &reads) == 50000,
       "the same after reopening, "
       "with another number of bits");
    leveldb_compact_range(s.db, NULL, 0, NULL, 0);
    ok(store_ask(&s, 0, 60000, 60000, 0, &reads) == 50000, "and after compaction");

    /* Odd keys: empty, with NUL, long, high bytes. */
    char *big = malloc(1 << 20);
    memset(big, 0xff, 1 << 20);
    const struct {
        const char *p;
        size_t n;
    } odd[] = {{"", 0}, {"\0", 1}, {"a\0b", 3}, {"\xff\xfe", 2}, {big, 1 << 20}};
    for (size_t i = 0; i < 5; i++)
        leveldb_put(s.db, s.put, odd[i].p, odd[i].n, "x", 1, &err);
    die_if(err, "put");
    leveldb_compact_range(s.db, NULL, 0, NULL, 0);
    for (size_t i = 0; i < 5; i++) {
        size_t n;
        char *v = leveldb_get(s.db, s.get, odd[i].p, odd[i].n, &n, &err);
        late += v && n == 1;
        leveldb_free(v);
    }
    ok(late == 5, "empty, NUL, high and megabyte keys are found");
    free(big);
    store_close(&s);
}

/* A writer is killed while tables are being written and compacted; the parent asks
 * for every key whose put had returned. */
static void crash(void)
{
    int pipes[2];
    uint64_t promised = 0, got, reads;
    if (pipe(pipes))
        exit(2);
    pid_t pid = fork();
    if (pid == 0) {
        store s;
        close(pipes[0]);
        store_open(&s, path_of("crash"), seen_leveldb_policy(10));
        for (uint64_t n = 0;; n += 1000) {
            store_fill(&s, 2 * n, 1000, 0);
            uint64_t sure = n + 1000;
            if (write(pipes[1], &sure, sizeof sure) != sizeof sure)
                _exit(1);
        }
    }
    close(pipes[1]);
    while (promised < 120000 && read(pipes[0], &got, sizeof got) == sizeof got)
        promised = got;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    while (read(pipes[0], &got, sizeof got) == sizeof got)
        promised = got;
    close(pipes[0]);
    store s;
    store_open(&s, path_of("crash"), seen_leveldb_policy(10));
    ok(promised >= 120000 &&
           store_ask(&s, 0, promised, promised, 0, &reads) == promised,
       "after kill -9 of the writer every one of its %llu keys is found",
       (unsigned long long)promised);
    store_ask(&s, 1, 20000, promised, 0, &reads);
    note("20000 absent keys then cost %llu reads", (unsigned long long)reads);
    store_close(&s);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/seen-leveldb.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return 2;
    set_mmap_limit(0);
    crash(); /* first: LevelDB's thread does not survive a fork */
    store_buffer = 64 << 20;
    counts();
    interchange();
    store_buffer = 0;
    churn();
    char rm[200];
    snprintf(rm, sizeof rm, "rm -rf '%s'", dir);
    if (system(rm))
        note("could not remove %s", dir);
    return done();
}
