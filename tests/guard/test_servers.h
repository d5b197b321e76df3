/* test_servers.h - starts a Redis and a PostgreSQL for one test, in a folder of their
 * own, and stops them. */
#ifndef TEST_SERVERS_H
#define TEST_SERVERS_H
#include "seen.h"

#include <arpa/inet.h>
#include <glob.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char servers_dir[200]; /* made by servers_begin, removed by servers_end */
static pid_t redis_pid;
static int redis_port;
static char pg_bin[200], pg_run[64], pg_conninfo[400];

__attribute__((unused)) static bool have_program(const char *name)
{
    char cmd[300];
    snprintf(cmd, sizeof cmd, "command -v %s >/dev/null 2>&1", name);
    return system(cmd) == 0;
}

__attribute__((unused)) static void servers_begin(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(servers_dir, sizeof servers_dir, "%s/seen-guard.XXXXXX",
             tmp ? tmp : "/tmp");
    if (!mkdtemp(servers_dir))
        exit(2);
    chmod(servers_dir, 0755);
}

/* Whether 127.0.0.1:PORT answers. */
static bool reach(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool good = connect(fd, (struct sockaddr *)&a, sizeof a) == 0;
    close(fd);
    return good;
}

/* One try: false if the server has ended, as it does when its port is taken. */
__attribute__((unused)) static bool redis_try(const char *save)
{
    char port[16];
    snprintf(port, sizeof port, "%d", redis_port);
    redis_pid = fork();
    if (redis_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!freopen("/dev/null", "w", stdout))
            _exit(1);
        execlp("redis-server", "redis-server", "--port", port, "--bind", "127.0.0.1",
               "--dir", servers_dir, "--save", save, "--appendonly", "no",
               (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 6000; i++) {
        if (waitpid(redis_pid, NULL, WNOHANG) == redis_pid) {
            redis_pid = 0;
            break;
        }
        if (reach(redis_port))
            return true;
        usleep(10000);
    }
    return false;
}

/* Starts (or, on the same port and data, starts again) redis-server. SAVE as in its
 * configuration: "" keeps nothing. The port lies below those that connections take for
 * themselves: it must be free when the server comes back. */
__attribute__((unused)) static bool redis_start(const char *save)
{
    bool again = redis_port != 0, good = false;
    for (int tries = 0; tries < 10 && !good; tries++) {
        do {
            if (!again)
                redis_port = 10000 + (int)(seen_random_seed() % 20000);
        } while (!again && reach(redis_port));
        good = redis_try(save);
    }
    return good;
}

__attribute__((unused)) static void redis_kill(int sig)
{
    if (redis_pid <= 0)
        return;
    kill(redis_pid, sig);
    waitpid(redis_pid, NULL, 0);
    redis_pid = 0;
}

/* Runs a program of PostgreSQL, not as root, which it refuses. */
__attribute__((unused)) static int pg(const char *fmt, const char *arg)
{
    char cmd[2000], rest[800];
    snprintf(rest, sizeof rest, fmt, arg);
    snprintf(cmd, sizeof cmd, "cd '%s' && %s %s/%s >>'%s/pg.log' 2>&1", servers_dir,
             pg_run, pg_bin, rest, servers_dir);
    return system(cmd);
}

__attribute__((unused)) static bool pg_start(void)
{
    glob_t found;
    char own[800];
    if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) != 0)
        return false;
    snprintf(pg_bin, sizeof pg_bin, "%s", found.gl_pathv[found.gl_pathc - 1]);
    globfree(&found);
    *strrchr(pg_bin, '/') = 0;
    if (geteuid() == 0) {
        snprintf(pg_run, sizeof pg_run, "runuser -u postgres --");
        snprintf(own, sizeof own,
                 "mkdir '%s/pg' && touch '%s/pg.log' && chown postgres '%s/pg'",
                 servers_dir, servers_dir, servers_dir);
        if (system(own) != 0)
            return false;
    }
    snprintf(pg_conninfo, sizeof pg_conninfo,
             "host=%s/pg dbname=postgres user=postgres connect_timeout=60",
             servers_dir);
    return pg("initdb -D '%s/pg/data' -U postgres -A trust -N --no-instructions",
              servers_dir) == 0 &&
           pg("pg_ctl -D '%s/pg/data' -w -t 120 -l pg/server.log -o \"-c "
              "listen_addresses='' "
              "-c "
              "unix_socket_directories=.. -c fsync=off -c max_connections=60\" start",
              servers_dir) == 0;
}

/* The server's main process. */
__attribute__((unused)) static pid_t pg_pid(void)
{
    char path[300];
    int pid = 0;
    snprintf(path, sizeof path, "%s/pg/data/postmaster.pid", servers_dir);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%d", &pid) != 1)
            pid = 0;
        fclose(f);
    }
    return pid;
}

__attribute__((unused)) static void servers_end(void)
{
    char rm[300];
    redis_kill(SIGKILL);
    if (pg_bin[0])
        pg("pg_ctl -D '%s/pg/data' -m immediate stop", servers_dir);
    snprintf(rm, sizeof rm, "rm -rf '%s'", servers_dir);
    if (system(rm))
        fprintf(stderr, "# could not remove %s\n", servers_dir);
}
#endif
