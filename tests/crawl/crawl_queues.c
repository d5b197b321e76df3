/* crawl_queues.c - addresses, scope, queues and the log, each on its own. */
#include "net/addr.h"
#include "queue/backlog.h"
#include "queue/exact_set.h"
#include "queue/frontier.h"
#include "queue/log_batch.h"
#include "page/fingerprint.h"
#include "queue/scope.h"
#include "queue/session_ids.h"
#include "queue/trap_detector.h"
#include "seen.h"
#include "tap.h"

#include <arpa/inet.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- addresses ------------------------------------------------------------------- */

static void check_addresses(void)
{
    static const struct {
        const char *text;
        bool is_public;
    } a[] = {
        {"8.8.8.8", true},
        {"0.0.0.0", false},
        {"10.1.2.3", false},
        {"11.0.0.0", true},
        {"100.63.255.255", true},
        {"100.64.0.0", false},
        {"100.127.255.255", false},
        {"100.128.0.0", true},
        {"127.0.0.1", false},
        {"127.255.255.255", false},
        {"128.0.0.1", true},
        {"169.254.169.254", false},
        {"172.15.0.1", true},
        {"172.16.0.1", false},
        {"172.31.255.255", false},
        {"172.32.0.0", true},
        {"192.0.0.1", false},
        {"192.0.1.1", true},
        {"192.0.2.1", false},
        {"192.168.0.1", false},
        {"192.169.0.1", true},
        {"198.18.0.1", false},
        {"198.20.0.1", true},
        {"203.0.113.9", false},
        {"224.0.0.1", false},
        {"240.0.0.1", false},
        {"255.255.255.255", false},
        {"::", false},
        {"::1", false},
        {"::ffff:8.8.8.8", true},
        {"::ffff:10.0.0.1", false},
        {"::8.8.8.8", false},
        {"64:ff9b::808:808", true},
        {"64:ff9b::7f00:1", false},
        {"100::1", false},
        {"2001:4860:4860::8888", true},
        {"2001:db8::1", false},
        {"2001::1", false},
        {"2002:7f00:1::", false},
        {"2002:808:808::", true},
        {"2a00:1450::1", true},
        {"3fff::1", false},
        {"3fff:1000::1", true},
        {"fc00::1", false},
        {"fd12::1", false},
        {"fe80::1", false},
        {"ff02::1", false},
    };
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) {
        struct sockaddr_storage ss = {0};
        struct sockaddr_in *in = (void *)&ss;
        struct sockaddr_in6 *in6 = (void *)&ss;
        if (inet_pton(AF_INET, a[i].text, &in->sin_addr) == 1)
            ss.ss_family = AF_INET;
        else if (inet_pton(AF_INET6, a[i].text, &in6->sin6_addr) == 1)
            ss.ss_family = AF_INET6;
        ok(addr_is_public((void *)&ss) == a[i].is_public, "%s is %s", a[i].text,
           a[i].is_public ? "public" : "not public");
    }
}

/* ---- scope ----------------------------------------------------------------------- */

static int verdict(const scope *s, const char *text)
{
    char out[URL_ROOM];
    url u;
    return url_normalise(text, strlen(text), out, sizeof out, &u) < 0
               ? -1
               : (int)scope_check(s, &u, NULL);
}

static void check_scope(void)
{
    char out[URL_ROOM];
    url u;
    config c = {.max_url = 100};
    scope *s = scope_new(&c);
    url_normalise("https://www.example.co.uk/", 26, out, sizeof out, &u);
    scope_add(s, &u);
    ok(verdict(s, "http://www.example.co.uk/a") == SCOPE_IN,
       "http and https are one place");
    ok(verdict(s, "http://www.example.co.uk:8080/a") == SCOPE_ELSEWHERE,
       "another port is elsewhere");
    ok(verdict(s, "http://example.co.uk/") == SCOPE_ELSEWHERE,
       "another host is elsewhere");
    ok(verdict(s, "ftp://www.example.co.uk/") == SCOPE_ELSEWHERE, "ftp is elsewhere");
    ok(verdict(s, "http://u@www.example.co.uk/") == SCOPE_ELSEWHERE,
       "addresses with a user are not followed");
    ok(verdict(s, "http://www.example.co.uk/a/a/a/b") == SCOPE_IN,
       "three times is no trap");
    ok(verdict(s, "http://www.example.co.uk/a/a/a/a") == SCOPE_TRAP,
       "four times is one");
    ok(verdict(s, "http://www.example.co.uk/a/b/a/b/a/b/a/b/") == SCOPE_TRAP,
       "also of two segments");
    ok(verdict(s, "http://www.example.co.uk/x/a/b/c/a/b/c/a/b/c/a/b/c/i.html") ==
           SCOPE_TRAP,
       "also of three, with a file behind");
    ok(verdict(s, "http://www.example.co.uk/a/aa/a/aa/aaa/a") == SCOPE_IN,
       "segments are compared whole");
    char long_url[200] = "http://www.example.co.uk/";
    memset(long_url + 25, 'x', 76);
    ok(verdict(s, long_url) == SCOPE_TRAP, "longer than --max-url");
    scope_free(s);

    c.scope = SCOPE_DOMAIN;
    s = scope_new(&c);
    scope_add(s, &u);
    ok(verdict(s, "http://example.co.uk/") == SCOPE_IN,
       "--domain takes the registered domain");
    ok(verdict(s, "http://a.b.example.co.uk:81/") == SCOPE_IN, "and all below it");
    ok(verdict(s, "http://other.co.uk/") == SCOPE_ELSEWHERE,
       "co.uk is nobody's domain");
    ok(verdict(s, "http://notexample.co.uk/") == SCOPE_ELSEWHERE,
       "ends of words do not count");
    scope_free(s);
}

/* ---- traps ----------------------------------------------------------------------- */

static const struct {
    const char *with, *without;
} sessions[] = {
    {"http://a/b;jsessionid=1F?x=1", "http://a/b?x=1"},
    {"http://a/b;JSESSIONID=1F/c?x=1", "http://a/b/c?x=1"},
    {"http://a/b?PHPSESSID=1", "http://a/b"},
    {"http://a/b?x=1&sid=7&y=2", "http://a/b?x=1&y=2"},
    {"http://a/b?sid=7&y=2;sid=3", "http://a/b?y=2;sid=3"},
    {"http://a/b?ASPSESSIONIDQABRCTDA=7&sid=8", "http://a/b"},
    {"http://a/sid=7/b;x=1?inside=1&xsid=2", "http://a/sid=7/b;x=1?inside=1&xsid=2"},
    {"http://a/?&sid=7&", "http://a/?&"},
};

static void check_sessions(void)
{
    char out[URL_ROOM], bare[URL_ROOM];
    url u;
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++) {
        const char *with = sessions[i].with;
        url_normalise(with, strlen(with), out, sizeof out, &u);
        size_t n = session_ids_strip(&u, session_ids_in(&u), bare);
        ok(n == strlen(bare) && !strcmp(bare, sessions[i].without), "%s is %s (%s)",
           with, sessions[i].without, bare);
    }
    session_ids *s = session_ids_new();
    url_normalise("http://a/b?sid=1", 16, out, sizeof out, &u);
    ok(!session_ids_learn(s, &u, 5) && !session_ids_learn(s, &u, 5),
       "the same address twice proves nothing");
    url_normalise("http://a/b?sid=2", 16, out, sizeof out, &u);
    ok(session_ids_learn(s, &u, 5), "another id with the same text does");
    url_normalise("http://a/b?sid=3", 16, out, sizeof out, &u);
    ok(!session_ids_learn(s, &u, 6), "another id with another text does not");
    session_ids_free(s);
}

static fingerprint print_of(const char *s)
{
    return fingerprint_of(s, strlen(s));
}

static void check_fingerprints(void)
{
    fingerprint
        a = print_of("<p>one <b>two</b> three four five six seven eight"),
        b = print_of(
            "<p class=x>one <a href=/y>two</a> three four five six seven eight"),
        c = print_of("<p>Something else entirely, with no word in common"),
        d = print_of("month 7 of 2026 with events and more events to come in town"),
        e = print_of("month 11 of 1999 with events and more events to come in town");
    ok(a.hash == b.hash && a.simhash == b.simhash, "markup does not count");
    ok(a.hash != c.hash && !simhash_near(a.simhash, c.simhash), "words do");
    ok(d.hash != e.hash && simhash_near(d.simhash, e.simhash),
       "numbers count for the hash, not for the simhash of a short page");
    ok(fingerprint_of("", 0).hash && fingerprint_of("", 0).simhash,
       "an empty page has one, too");
    trap_detector *t = trap_detector_new();
    ok(!trap_detector_dull(t, 1, a.simhash) && !trap_detector_dull(t, 2, a.simhash) &&
           trap_detector_dull(t, 1, a.simhash ^ 0x8000000000000101u) &&
           !trap_detector_dull(t, 1, c.simhash),
       "a page is dull if its own host showed one within three bits");
    ok(!trap_detector_spent(10, 5, 30) && trap_detector_spent(10, 5, 31) &&
           !trap_detector_spent(0, 0, 99),
       "a budget of 10 and 5 new pages: 30 dull ones are allowed");
    trap_detector_free(t);
}

/* ---- queues ---------------------------------------------------------------------- */

static void check_backlog(void)
{
    enum { QUEUES = 5 };
    spill *s = spill_new("/tmp");
    backlog q[QUEUES] = {0};
    uint64_t in[QUEUES] = {0}, out[QUEUES] = {0}, x = 12345;
    bool good = true;
    for (int i = 0; i < 400000; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        unsigned k = (unsigned)(x >> 33) % QUEUES;
        /* Phases of filling and of emptying, so that blocks go to the file and back. */
        bool push = (x >> 50) % 16 < ((i / 50000) % 2 ? 4u : 12u);
        uint64_t got;
        if (push)
            backlog_push(&q[k], s, in[k]++ * QUEUES + k);
        else if (backlog_pop(&q[k], s, &got))
            good = good && got == out[k]++ * QUEUES + k;
        else
            good = good && in[k] == out[k];
        good = good && q[k].count == in[k] - out[k];
    }
    for (unsigned k = 0; k < QUEUES; k++) {
        uint64_t got;
        while (backlog_pop(&q[k], s, &got))
            good = good && got == out[k]++ * QUEUES + k;
        good = good && in[k] == out[k];
        backlog_free(&q[k], s);
    }
    ok(good, "five queues in one file: first in, first out, over 400,000 steps");
    note("the file grew to %llu bytes", (unsigned long long)spill_bytes(s));
    spill_free(s);
}

/* ---- the log --------------------------------------------------------------------- */

typedef struct seen_log {
    uint64_t groups, entries, done, sum;
} seen_log;

static void on_group(void *ctx, const group *g)
{
    seen_log *l = ctx;
    l->groups++;
    l->done += g->has_done ? g->done_id : 0;
}

static void on_entry(void *ctx, const group *g, uint64_t id, uint64_t at,
                     const char *text, size_t len)
{
    seen_log *l = ctx;
    (void)g;
    l->entries++;
    l->sum += id + at + seen_hash_seeded(0, text, len);
}

static void check_log(void)
{
    char dir[] = "/tmp/seen-parts.XXXXXX", path[100], text[400];
    if (!mkdtemp(dir))
        return;
    frontier *f = frontier_create(dir, 42);
    uint64_t at[500], id, sum = 0, outputs[FRONTIER_OUTPUTS] = {1, 2, 3};
    bool good = true;
    entry *e = kit_alloc(sizeof *e);
    for (unsigned i = 0; i < 500; i++) {
        group g = {.kind = GROUP_PAGE,
                   .has_done = i > 0,
                   .done_id = i / 2,
                   .done_at = i ? at[i / 2] : 0,
                   .status = 200,
                   .size = i * 1000,
                   .depth = i % 7,
                   .hops = i % 3,
                   .type = "text/odd"};
        strcpy(g.origin, "http://example.org");
        frontier_begin(f, &g);
        /* Every fifth is of another host; lengths cross what one read takes. */
        int n =
            snprintf(text, sizeof text, "http://%s/%u/%0*u",
                     i % 5 ? "example.org" : "other.example", i, 1 + (int)(i % 300), i);
        at[i] = frontier_add(f, text, (size_t)n, &id);
        sum += id + at[i] + seen_hash_seeded(0, text, (size_t)n);
        frontier_end(f);
        good = good && id == i;
        if (i % 37 == 36)
            frontier_commit(f, outputs, false);
        for (unsigned k = i > 20 ? i - 20 : 0; k <= i; k++) {
            frontier_read(f, at[k], e);
            n = snprintf(text, sizeof text, "http://%s/%u/%0*u",
                         k % 5 ? "example.org" : "other.example", k, 1 + (int)(k % 300),
                         k);
            good = good && e->id == k && e->depth == k % 7 && e->hops == k % 3 &&
                   e->len == (size_t)n && !memcmp(e->text, text, e->len) &&
                   e->parent_at == (k ? at[k / 2] : 0);
        }
    }
    ok(good, "entries are read back, before and after their batch is written");
    outputs[1] = 1ull << 40;
    frontier_commit(f, outputs, true);
    frontier_close(f);
    f = frontier_open(dir, false, 1);
    seen_log l = {0};
    walker w = {on_group, on_entry, &l};
    frontier_walk(f, &w);
    ok(frontier_count(f) == 500 && l.groups == 500 && l.entries == 500 && l.sum == sum,
       "a walk through the log meets all groups and entries");
    ok(frontier_outputs(f)[1] == 1ull << 40 && frontier_cut(f) == 0,
       "the outputs' sizes are those of the last commit");
    frontier_close(f);
    /* A flipped bit in the last batch makes it no batch. */
    snprintf(path, sizeof path, "%s/frontier.log", dir);
    FILE *file = fopen(path, "r+");
    fseek(file, -10, SEEK_END);
    int c = fgetc(file);
    fseek(file, -10, SEEK_END);
    fputc(c ^ 4, file);
    fclose(file);
    f = frontier_open(dir, false, 1);
    ok(frontier_cut(f) > 0 && frontier_count(f) == 500 - 500 % 37,
       "a batch whose checksum does not fit is cut off");
    frontier_close(f);
    unlink(path);
    rmdir(dir);
    free(e);
}

/* ---- --exact ----------------------------------------------------------------------
 */

/* Adds numbers 0 to N, each twice in different batches and every fifth twice in one;
 * true if exactly the first of each was new. */
static bool knows_all(exact_set *s, uint64_t n)
{
    enum { BATCH = 100 };
    char text[BATCH][24];
    seen_key keys[BATCH];
    bool dup[BATCH], good = true;
    size_t k = 0;
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < n;) {
            bool again[BATCH];
            for (k = 0; k + 1 < BATCH && i < n; i++) {
                int copies = i % 5 == 0 ? 2 : 1;
                for (int c = 0; c < copies; c++, k++) {
                    int len = snprintf(text[k], sizeof text[k], "key/%llu",
                                       (unsigned long long)i);
                    keys[k] = (seen_key){text[k], (size_t)len};
                    again[k] = round || c;
                }
            }
            exact_set_add(s, keys, k, dup);
            for (size_t j = 0; j < k; j++)
                good &= dup[j] == again[j];
        }
    return good && exact_set_count(s) == n;
}

static void check_exact(void)
{
    static const uint64_t expected[] = {1, 100000, 100000000};
    for (int i = 0; i < 3; i++) {
        exact_set *s = exact_set_new((kit_secret){7 + (uint64_t)i, 1}, expected[i]);
        ok(knows_all(s, 400000),
           "400,000 addresses where %llu are expected: each is new once",
           (unsigned long long)expected[i]);
        if (i < 2)
            ok(exact_set_bytes(s) < 400000 * 9.3, "in %.2f bytes each",
               (double)exact_set_bytes(s) / 400000);
        exact_set_free(s);
    }
    exact_set *s = exact_set_new((kit_secret){9, 1}, 5000000);
    knows_all(s, 1000);
    ok(exact_set_lost(s) < 1e6 / 2 / 2.9e20,
       "what is lost by expectation is that of 68 bits");
    exact_set_free(s);
}

/* What `seen-crawl --resume` says of a log of VERSION. */
static bool says_of_version(uint32_t version, const char *phrase)
{
    char dir[] = "/tmp/seen-crawl-XXXXXX", path[80], command[200], said[600] = "";
    uint8_t head[LOG_HEAD];
    const char *build = getenv("BUILD");
    if (!mkdtemp(dir))
        return false;
    snprintf(path, sizeof path, "%s/options", dir);
    FILE *f = fopen(path, "w");
    if (!f || fclose(f))
        return false;
    log_head_write(head, &(log_head){version, 7, 0});
    snprintf(path, sizeof path, "%s/frontier.log", dir);
    f = fopen(path, "w");
    if (!f || fwrite(head, 1, sizeof head, f) != sizeof head || fclose(f))
        return false;
    snprintf(command, sizeof command, "%s/seen-crawl --list %s 2>&1",
             build ? build : "build", dir);
    f = popen(command, "r");
    size_t n = f ? fread(said, 1, sizeof said - 1, f) : 0;
    said[n] = 0;
    int status = f ? pclose(f) : -1;
    snprintf(command, sizeof command, "rm -r %s", dir);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 2 || !strstr(said, phrase) ||
        system(command))
        printf("# %s", said);
    return WIFEXITED(status) && WEXITSTATUS(status) == 2 && strstr(said, phrase);
}

static void check_versions(void)
{
    ok(says_of_version(1,
                       "is of an earlier version of seen crawl (log 1, this one reads "
                       "2 to 3): finish the crawl with that version"),
       "the log of an earlier version is refused, with what to do");
    ok(says_of_version(9, "is of a later version of seen crawl (log 9"),
       "and that of a later one");
}

int main(void)
{
    check_versions();
    check_exact();
    check_addresses();
    check_scope();
    check_sessions();
    check_fingerprints();
    check_backlog();
    check_log();
    return done();
}
