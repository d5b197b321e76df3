/* shared_file_many_writers.c - one file, several processes: SEEN_SHARED. */
#include "seen.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 4, EACH = 20000 };
static char path[] = "/tmp/seen-shared.XXXXXX";

static void make(unsigned flags)
{
    seen_filter *f;
    /* A process that opens late starts from an estimate of the keys that are in, so
     * there must be more room than for all keys. */
    seen_spec spec = {.kind = SEEN_BLOCKED,
                      .keys = 2 * PROCESSES * EACH,
                      .error = 0.001,
                      .flags = flags};
    if (seen_new(&spec, &f) < 0 || seen_save(f, path) < 0)
        exit(2);
    seen_free(f);
}

int main(void)
{
    seen_filter *f, *g;
    seen_stats s;
    int fd = mkstemp(path), status, died = 0;
    if (fd < 0)
        return 2;
    close(fd);

    make(0);
    ok(seen_open(path, SEEN_SHARED, &f) == SEEN_EKIND && f == NULL,
       "a filter that was not made for atomic adds cannot be shared");

    make(SEEN_ATOMIC);
    ok(seen_open(path, SEEN_SHARED, &f) == 0 && seen_open(path, SEEN_READ, &g) == 0,
       "one that was can be opened twice");
    seen_add_str(f, "early");
    ok(seen_has_str(g, "early"), "a key added by one is seen by the other at once");
    seen_free(g);

    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            seen_filter *own;
            if (seen_open(path, SEEN_SHARED, &own) < 0)
                _exit(1);
            for (uint64_t i = 0; i < EACH; i++)
                seen_add_u64(own, (uint64_t)p * EACH + i);
            if (p == 0)
                kill(getpid(), SIGKILL);
            seen_free(own);
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        wait(&status);
        died += WIFSIGNALED(status);
    }
    uint64_t found = 0;
    for (uint64_t i = 0; i < PROCESSES * EACH; i++)
        found += seen_has_u64(f, i);
    ok(died == 1 && found == PROCESSES * EACH,
       "four processes add at once, one is killed: every key is there");
    seen_flush(f);
    seen_free(f);
    ok(seen_open(path, SEEN_READ | SEEN_VERIFY, &f) == 0, "the file opens again");
    seen_get_stats(f, &s);
    ok(s.dirty && s.mapped && !s.writable, "and says that its sums cannot vouch");
    ok(s.added > PROCESSES * EACH * 0.97 && s.added < PROCESSES * EACH * 1.03,
       "its count is estimated from the bits (%llu)", (unsigned long long)s.added);
    seen_free(f);

    /* Who would vouch for the whole cannot write while others share it, nor they then.
     */
    make(SEEN_ATOMIC);
    ok(seen_open(path, SEEN_SHARED, &f) == 0 &&
           seen_open(path, SEEN_WRITE, &g) == SEEN_EBUSY && !g,
       "no writer of its own beside a sharer: %s", seen_reason());
    seen_free(f);
    ok(seen_open(path, SEEN_WRITE, &f) == 0 &&
           seen_open(path, SEEN_SHARED, &g) == SEEN_EBUSY && !g,
       "and no sharer beside such a writer");
    ok(seen_add_str(f, "mine") == SEEN_NEW && seen_open(path, SEEN_READ, &g) == 0 &&
           seen_has_str(g, "mine"),
       "readers are free, and see what is added");
    seen_free(g);
    ok(seen_open(path, SEEN_LOAD, &g) == 0 && seen_save(g, path) == SEEN_EBUSY,
       "nobody else saves over the file meanwhile: %s", seen_reason());
    seen_free(g);
    ok(seen_flush(f) == 0 && seen_save(f, path) == 0, "the writer itself may");
    seen_free(f);
    ok(seen_open(path, SEEN_LOAD, &g) == 0 && seen_has_str(g, "mine") &&
           seen_save(g, path) == 0,
       "and others after it");
    seen_free(g);
    ok(seen_open(path, SEEN_SHARED, &f) == 0 && seen_open(path, SEEN_SHARED, &g) == 0 &&
           seen_save(f, path) == SEEN_EBUSY,
       "one of several writers may not: the others' keys would be lost");
    seen_free(g);
    seen_free(f);
    fd = open(path, O_RDONLY);
    ok(flock(fd, LOCK_EX | LOCK_NB) == 0 && seen_open(path, SEEN_LOAD, &g) == 0 &&
           seen_save(g, path) == SEEN_EBUSY && close(fd) == 0 &&
           seen_save(g, path) == 0,
       "the lock of a program that replaces the file counts, as long as it lasts");
    seen_free(g);
    ok(seen_open(path, SEEN_SHARED, &f) == 0 && seen_add_str(f, "late") == SEEN_NEW,
       "after it others may share again");
    seen_free(f);
    ok(seen_open(path, SEEN_LOAD, &f) == 0 && seen_has_str(f, "late") &&
           seen_has_str(f, "mine"),
       "the file does not count as damaged");
    seen_free(f);
    unlink(path);
    return done();
}
