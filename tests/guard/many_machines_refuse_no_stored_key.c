/* many_machines_refuse_no_stored_key.c - writers, readers, deleters and builders on
 * three machines that share a filter in Redis, and everything that can go wrong: a key
 * in the database is never refused.
 *
 * A machine is three processes that have nothing in common with the others but the
 * servers: a PostgreSQL, and a Redis with two replicas. Processes are killed all the
 * time; now and then the master is killed and a replica made master, the master comes
 * back with what it had saved, a replica is made master while the old one goes on (as a
 * partition would have it), a replica is killed, or PostgreSQL is restarted. */
#include "guard/storm_actors.h"
#include "guard/test_servers.h"
#include "tap.h"

#include <hiredis/hiredis.h>
#include <libpq-fe.h>

enum { MACHINES = 3, ROLES = 3, PROCESSES = MACHINES * ROLES };
enum { WRITE_LEASE_MS = 3000, ENFORCE_LEASE_MS = 1000 };

/* ---- three Redis servers --------------------------------------------------------- */

typedef struct node {
    int port;
    pid_t pid;
} node;
enum { NODES = 3 };
static node nodes[NODES];
static int master; /* the node that should be it */
static char servers[100];

/* One try to start node I; false if its port is taken. */
static bool node_try(int i, int master_port)
{
    char port[16], of[16], dir[300];
    node *n = nodes + i;
    snprintf(port, sizeof port, "%d", n->port);
    snprintf(of, sizeof of, "%d", master_port);
    snprintf(dir, sizeof dir, "%s/redis%d", servers_dir, i);
    mkdir(dir, 0755);
    n->pid = fork();
    if (n->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (!freopen("/dev/null", "w", stdout))
            _exit(1);
        if (master_port)
            execlp("redis-server", "redis-server", "--port", port, "--bind",
                   "127.0.0.1", "--dir", dir, "--save", "1 1", "--replicaof",
                   "127.0.0.1", of, "--repl-diskless-sync", "yes",
                   "--repl-diskless-sync-delay", "0", (char *)NULL);
        execlp("redis-server", "redis-server", "--port", port, "--bind", "127.0.0.1",
               "--dir", dir, "--save", "1 1", "--repl-diskless-sync", "yes",
               "--repl-diskless-sync-delay", "0", (char *)NULL);
        _exit(127);
    }
    for (int t = 0; t < 6000; t++) {
        if (waitpid(n->pid, NULL, WNOHANG) == n->pid)
            break;
        if (reach(n->port))
            return true;
        usleep(10000);
    }
    n->pid = 0;
    return false;
}

static void node_start(int i, int master_port)
{
    for (int tries = 0; tries < 20; tries++) {
        if (!nodes[i].port || tries > 10)
            nodes[i].port = 10000 + (int)(seen_random_seed() % 20000);
        if (node_try(i, master_port))
            return;
    }
    fprintf(stderr, "# cannot start redis-server\n");
    exit(3);
}

static void node_kill(int i)
{
    if (nodes[i].pid > 0) {
        kill(nodes[i].pid, SIGKILL);
        waitpid(nodes[i].pid, NULL, 0);
    }
    nodes[i].pid = 0;
}

/* Tells node I whose replica it is; 0: nobody's. */
static void node_follow(int i, int master_port)
{
    redisContext *c = redisConnect("127.0.0.1", nodes[i].port);
    redisReply *r = master_port ? redisCommand(c, "REPLICAOF 127.0.0.1 %d", master_port)
                                : redisCommand(c, "REPLICAOF NO ONE");
    if (r)
        freeReplyObject(r);
    redisFree(c);
}

/* ---- guards ---------------------------------------------------------------------- */

static seen_guard_db make_db(void)
{
    seen_guard_db db;
    seen_guard_sql sql = {.get = "SELECT body FROM item WHERE id = $1",
                          .insert = "INSERT INTO item VALUES ($1, $2) ON CONFLICT DO "
                                    "NOTHING",
                          .erase = "DELETE FROM item WHERE id = $1",
                          .scan = "SELECT id FROM item",
                          .wait_ms = 200,
                          .query_ms = 300};
    for (int tries = 0; tries < 1200; tries++) {
        if (seen_guard_postgres(pg_conninfo, &sql, 2, &db) == 0)
            return db;
        usleep(50000); /* the server is being restarted */
    }
    fprintf(stderr, "# %s\n", seen_guard_reason());
    exit(3);
}

/* ONLY: the only server that this guard reaches; -1: it reaches all. */
static seen_guard *make_guard(unsigned flags, int only)
{
    char one[40];
    snprintf(one, sizeof one, "127.0.0.1:%d", only < 0 ? 0 : nodes[only].port);
    seen_guard *g;
    seen_guard_shared shared = {.servers = only < 0 ? servers : one,
                                .name = "storm",
                                .connections = 2,
                                .replicas = 1,
                                .write_lease_ms = WRITE_LEASE_MS,
                                .enforce_lease_ms = ENFORCE_LEASE_MS};
    seen_guard_config config = {.shared = &shared,
                                .keys = 2000,
                                .db = make_db(),
                                .flags = flags,
                                .marker_ttl_ms = 60000};
    if (seen_guard_open(&config, &g) < 0) {
        fprintf(stderr, "# %s\n", seen_guard_reason());
        exit(3);
    }
    return g;
}

/* Role 0 writes, 1 reads, 2 does both and builds, by itself and when it is due. Readers
 * reach one server only, each another: one of them is on the wrong side of every
 * partition. */
static pid_t start(int process)
{
    static unsigned life;
    int role = process % ROLES;
    life++;
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dice = life * 7919 + (unsigned)process;
    seen_guard *g = make_guard(role == 2 ? SEEN_GUARD_BACKGROUND : 0,
                               role == 1 ? process / ROLES : -1);
    seen_guard_db look = make_db();
    seen_guard_stats last = {0};
    for (unsigned i = 1; !sh->stop; i++) {
        if (role == 0 || (role == 2 && i % 4 == 0))
            write_some(g);
        if (role == 1 || role == 2)
            read_some(g, &look);
        if (role == 2 && i % 300 == 0)
            seen_guard_build(g);
        if (i % 16 == 0)
            account(g, &last);
    }
    account(g, &last);
    _exit(0);
}

/* ---- what goes wrong ------------------------------------------------------------- */

static int happened[5];

/* The replica that is made master next, and the other one. */
static int heir(void)
{
    return (master + 1) % NODES;
}
static int third(void)
{
    return (master + 2) % NODES;
}

/* The master dies and a replica takes over; the old one comes back as a replica. */
static void failover(void)
{
    int new = heir();
    node_kill(master);
    node_follow(new, 0);
    node_follow(third(), nodes[new].port);
    usleep(300000);
    node_start(master, nodes[new].port);
    master = new;
    happened[0]++;
}

/* The master comes back with what it had saved a while ago. */
static void restart_master(void)
{
    node_kill(master);
    usleep(100000);
    node_start(master, 0);
    happened[1]++;
}

/* Two are masters for a while: the old one with the clients it has, the new one with
 * the other replica. */
static void split(void)
{
    int new = heir();
    node_follow(new, 0);
    node_follow(third(), nodes[new].port);
    usleep(4000000);
    node_follow(master, nodes[new].port);
    master = new;
    happened[2]++;
}

static void kill_replica(void)
{
    int gone = third();
    node_kill(gone);
    usleep(500000);
    node_start(gone, nodes[master].port);
    happened[3]++;
}

static void restart_postgres(void)
{
    pg("pg_ctl -D '%s/pg/data' -w -t 120 -m immediate -l pg/server.log restart",
       servers_dir);
    happened[4]++;
}

static void (*const trouble[])(void) = {split, failover, restart_postgres,
                                        restart_master, kill_replica};
enum { TROUBLES = sizeof trouble / sizeof *trouble };

/* Whether so much of everything has happened that the storm proves something. */
static bool enough(void)
{
    return sh->checks > 1000 && sh->present > 300 && sh->inserts > 200 &&
           sh->erases > 30 && sh->builds > 3 && sh->refused > 50 && sh->markers > 5 &&
           sh->hits > 5 && happened[0] && happened[1] && happened[2] && happened[3] &&
           happened[4];
}

int main(void)
{
    double seconds = getenv("STORM_SECONDS") ? atof(getenv("STORM_SECONDS")) : 10;
    pid_t pid[PROCESSES];
    int kills = 0, next = 0;
    storm_share();
    if (!have_program("redis-server")) {
        puts("1..0 # SKIP package redis-server is not installed");
        return 0;
    }
    servers_begin();
    if (!pg_start()) {
        servers_end();
        puts("1..0 # SKIP package postgresql is not installed or does not start");
        return 0;
    }
    PGconn *c = PQconnectdb(pg_conninfo);
    PQclear(PQexec(c, "CREATE TABLE item (id text PRIMARY KEY, body text)"));
    PQfinish(c);
    node_start(0, 0);
    node_start(1, nodes[0].port);
    node_start(2, nodes[0].port);
    snprintf(servers, sizeof servers, "127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d",
             nodes[0].port, nodes[1].port, nodes[2].port);
    sh->next = HOT;
    for (int i = 0; i < PROCESSES; i++)
        pid[i] = start(i);
    dice = 1;
    for (int step = 1; step <= seconds * 10 || (step < 3000 && !enough()); step++) {
        usleep(100000);
        if (step % 5 == 0) {
            int i = (int)roll(PROCESSES);
            kill(pid[i], SIGKILL);
            waitpid(pid[i], NULL, 0);
            pid[i] = start(i);
            kills++;
        }
        /* A lease, a build and some seconds of refusals lie between two troubles. */
        if (step % 70 == 0)
            trouble[next++ % TROUBLES]();
    }
    sh->stop = true;
    for (int i = 0; i < PROCESSES; i++)
        waitpid(pid[i], NULL, 0);
    storm_report("three machines");
    ok(enough(),
       "everything went on while %d processes were killed, with %d failovers, %d "
       "restarts "
       "of the master, %d partitions, %d deaths of a replica and %d of PostgreSQL",
       kills, happened[0], happened[1], happened[2], happened[3], happened[4]);
    if (!ok(sh->refused_wrongly == 0, "no key that was in the database was refused"))
        note("%lu times, the first was %s", sh->refused_wrongly, sh->wrong);
    ok(sh->stale == 0, "no value was older than the question (%lu)", sh->stale);
    seen_guard *g = make_guard(0, -1);
    seen_guard_db look = make_db();
    int built = 0;
    for (int tries = 0; tries < 600 && built != 1; tries++) {
        built = seen_guard_build(g); /* 0: a lock that a dead builder left */
        if (built != 1)
            usleep(100000);
    }
    seen_guard_stats s;
    for (int tries = 0; tries < 600; tries++) {
        seen_guard_get_stats(g, &s);
        if (!strcmp(s.state, "enforcing"))
            break;
        usleep(100000);
    }
    look.scan(look.ctx, ask_again, g);
    ok(built == 1 && !strcmp(s.state, "enforcing") && keys_lost == 0 &&
           keys_asked > 200,
       "all %d rows are found afterwards, by a filter that enforces", keys_asked);
    look.close(look.ctx);
    seen_guard_close(g);
    for (int i = 0; i < NODES; i++)
        node_kill(i);
    servers_end();
    return done();
}
