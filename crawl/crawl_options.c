/* crawl_options.c - describes every option of seen crawl once.
 *
 * A row has the name of an option, its help, the place of its value and the allowed
 * values. The kit makes the help, the man page and the completion from the rows; the
 * rows also say what is kept beside the log for --resume (saved_options.c). */
#include "crawl_options.h"
#include "human_numbers.h"
#include "net/request_fields.h"
#include "page/page.h"
#include "seed.h"
#include "seen.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#define AT(field) offsetof(config, field)
/* clang-format off */
#define SECTION(text) {0, NULL, NULL, text, HEADING, 0, 0, 0}
/* clang-format on */

static const crawl_option rows[] = {
    SECTION("The crawl"),
    {'d', "dir", "DIR", "Keep the crawl in DIR, so that it can be resumed.", RUN,
     AT(dir), RUN_NEW, 0, .brief = "keep the crawl in DIR"},
    {0, "resume", "DIR",
     "Go on with the crawl in DIR, with the options it began with. Options given now "
     "hold for this run only.",
     RUN, AT(dir), RUN_RESUME, 0, .brief = "go on with it"},
    {0, "again", "DIR",
     "Fetch the pages of the crawl in DIR again if they changed, and new pages. The "
     "note of a page is then new, changed, gone or unchanged.",
     RUN, AT(dir), RUN_AGAIN, 0, .brief = "fetch what changed since"},
    {0, "list", "DIR",
     "Print the pages done so far, even while the crawl runs; with --json as JSON "
     "lines.",
     RUN, AT(dir), RUN_LIST, 0},
    {0, "report", "DIR",
     "Write a report about the crawl, finished or not, to DIR/report.html or to --out "
     "FILE: one page with plots that needs nothing else.",
     RUN, AT(dir), RUN_REPORT, 0},
    {0, "repair", "DIR",
     "Repair a damaged log: keep a copy, save all good batches, and replace the others "
     "by holes. Then --resume fetches the pages in the holes again.",
     RUN, AT(dir), RUN_REPAIR, 0},
    {'i', "seeds", "FILE",
     "Begin with the URLs in FILE too, one per line; empty lines and lines that begin "
     "with # are skipped. - is standard input. May be repeated.",
     SEEDS, AT(seeds), 0, 0},
    SECTION("Scope"),
    {0, "domain", NULL,
     "Crawl all hosts of the seeds' registered domains, not only the seeds' hosts.",
     CHOICE, AT(scope), SCOPE_DOMAIN, 0,
     .brief = "the seeds' domains, not only their hosts"},
    {0, "host", "NAME[:PORT]", "Crawl this host too. May be repeated.", LIST, AT(hosts),
     0, 0},
    {0, "any-host", NULL, "Crawl the whole web.", CHOICE, AT(scope), SCOPE_ANY, 0},
    {0, "include", "RE",
     "Fetch only URLs that match this extended regular expression. May be repeated: "
     "one match is enough.",
     LIST, AT(include), 0, 0},
    {0, "exclude", "RE", "Fetch no URL that matches. May be repeated.", LIST,
     AT(exclude), 0, 0, .brief = "leave out addresses that match"},
    {0, "depth", "N", "Go at most N links away from the seeds.", NUMBER, AT(depth), 0,
     1e6, .brief = "at most N links away"},
    {0, "max-pages", "N", "Stop after N pages.", COUNT, AT(max_pages), 0, 1.8e19,
     .brief = "stop after N pages"},
    {0, "host-pages", "N", "Fetch at most N pages of each host.", COUNT, AT(host_pages),
     0, 1.8e19},
    {0, "host-budget", "N",
     "Let a host show N pages that look like earlier ones, and four more for each page "
     "that does not; then leave it as a trap (5000; 0 is no limit).",
     COUNT, AT(host_budget), 0, 1.8e19},
    {0, "follow", "LIST",
     "Which links to follow: a, area, next, canonical, alternate, frame, refresh, all "
     "(a,area,refresh).",
     FOLLOW, AT(follow), 0, 0},
    {0, "sitemaps", NULL, "Fetch the pages in the hosts' sitemaps too.", FLAG,
     AT(sitemaps), 0, 0},
    SECTION("The set of seen addresses"),
    {'e', "error", "P",
     "Probability that a new page is taken for one seen before, and lost (1e-6).",
     ERROR, AT(error), 0, 0},
    {0, "exact", NULL, "Keep fingerprints of 68 bits instead: no page is lost.", FLAG,
     AT(exact), 0, 0},
    {'n', "expect", "N", "Expect N addresses; more are fine (1M).", COUNT, AT(expect),
     1, 1.8e19},
    SECTION("Politeness"),
    {0, "delay", "S",
     "Wait S seconds between requests to a host (1). A longer Crawl-delay in "
     "robots.txt counts instead.",
     SECONDS, AT(delay), 0, 86400, .brief = "seconds between two pages of a host"},
    {0, "per-host", "N", "Open at most N connections to a host (1).", NUMBER,
     AT(per_host), 1, 10000},
    {0, "per-address", "N",
     "Open at most N connections to an IP address, whatever its names (16; 0 is any "
     "number).",
     NUMBER, AT(per_address), 0, 10000},
    {0, "connections", "N", "Open at most N connections in all (256).", NUMBER,
     AT(connections), 1, 10000},
    {'j', "threads", "N",
     "Fetch and read pages with N threads (1); they share the limits.", NUMBER,
     AT(threads), 1, 256},
    {0, "user-agent", "TEXT",
     "Say who you are. The first word is the name that robots.txt rules apply to.",
     TEXT, AT(user_agent), 0, 0},
    {0, "no-robots", NULL, "Ignore robots.txt; for your own sites only.", FLAG,
     AT(no_robots), 0, 0},
    {0, "follow-nofollow", NULL, "Follow links that pages ask not to follow.", FLAG,
     AT(follow_nofollow), 0, 0},
    {0, "retries", "N", "Try again N times after a failure (3).", NUMBER, AT(retries),
     0, 100},
    {0, "retry-wait", "S",
     "Wait S seconds before the first of them (1); the wait doubles each time.",
     SECONDS, AT(retry_wait), 0, 3600},
    SECTION("Limits"),
    {0, "timeout", "S", "Give a page S seconds (30).", SECONDS, AT(timeout), 0.001,
     86400},
    {0, "limit-rate", "BYTES",
     "Receive at most BYTES per second on average, over all connections (no limit). In "
     "a shared crawl the limit is per crawler.",
     BYTES, AT(limit_rate), 0, 1e15},
    {0, "max-body", "BYTES", "Read at most this much of a page, unpacked (8M).", BYTES,
     AT(max_body), 0, 1 << 30},
    {0, "max-url", "N", "Skip URLs longer than N bytes (2048).", NUMBER, AT(max_url),
     16, 8000},
    {0, "max-redirects", "N", "Follow at most N redirects in a row (10).", NUMBER,
     AT(max_redirects), 0, 100},
    {0, "allow-private", NULL,
     "Connect to private addresses too, such as your own network.", FLAG,
     AT(allow_private), 0, 0},
    SECTION("Network"),
    {0, "resolve", "HOST:PORT:ADDR",
     "Use address ADDR for HOST and PORT. May be repeated.", RESOLVE, AT(resolve), 0,
     0},
    {0, "proxy", "URL", "Go through this proxy, which then has to check addresses.",
     TEXT, AT(proxy), 0, 0},
    {0, "header", "FIELD",
     "Send the field 'Name: value' with every request, to every host. May be repeated.",
     HEADER, AT(headers), 0, 0},
    {0, "auth", "FILE",
     "Send passwords: lines of HOST USER:PASSWORD or HOST:PORT USER:PASSWORD, each to "
     "its own host only. The variable SEEN_CRAWL_AUTH may hold such lines too.",
     INPUT, AT(auth), 0, 0},
    {0, "cookies", "FILE",
     "Accept cookies and keep them in FILE, in Netscape's form (cookies are ignored).",
     INPUT, AT(cookies), 0, 0},
    {0, "cacert", "FILE",
     "Trust the certificate authorities in FILE (PEM) instead of the system's; so does "
     "the variable SSL_CERT_FILE.",
     INPUT, AT(cacert), 0, 0},
    {0, "cert", "FILE", "Show this client certificate (PEM).", INPUT, AT(cert), 0, 0},
    {0, "cert-key", "FILE",
     "Use this private key for it, if it is not in the same file.", INPUT, AT(cert_key),
     0, 0},
    {0, "insecure", NULL, "Do not check certificates.", FLAG, AT(insecure), 0, 0},
    SECTION("Output"),
    {'o', "out", "FILE",
     "Write a line for each page to FILE; - is standard output, the default without "
     "--dir.",
     PATH, AT(out), 0, 0, .brief = "a line for each page"},
    {0, "jsonl", NULL, "Write those lines as JSON.", FLAG, AT(json_lines), 0, 0},
    {0, "warc", "FILE",
     "Write an archive (WARC 1.1, gzip) and its index, FILE.cdxj, sorted at the end.",
     PATH, AT(warc), 0, 0, .brief = "the pages themselves, as WARC"},
    {0, "warc-size", "BYTES",
     "Begin another file of the archive, FILE-00001.warc.gz and so on, when one is "
     "larger than this.",
     BYTES, AT(warc_size), 0, 1e15},
    {0, "links", "FILE", "Write all links: from, to, kind.", PATH, AT(links), 0, 0,
     .brief = "all links: from, to, kind"},
    {0, "bodies", "DIR", "Write the pages themselves, one file each.", PATH, AT(bodies),
     0, 0},
    {0, "json", NULL, "Print statistics on standard output at the end.", FLAG,
     AT(json_stats), 0, 0},
    {0, "progress", NULL,
     "Show a line of progress, once a second (the default on a terminal).", FLAG,
     AT(progress), 0, 0},
    {0, "status", "ADDRESS",
     "Serve a page about the running crawl at ADDRESS, PORT or HOST:PORT, and metrics "
     "for Prometheus at /metrics (HOST is 127.0.0.1; port 0 is a free one). There is "
     "no "
     "password.",
     TEXT, AT(status), 0, 0, .brief = "a page that shows the crawl"},
    {'q', "quiet", NULL, "Print no summary.", FLAG, AT(quiet), 0, 0},
    SECTION("Many crawlers, one crawl"),
    {0, "redis", "URL",
     "Share the crawl through redis://HOST:PORT/NAME (Redis, Valkey or a cluster) with "
     "all crawlers that give the same URL. The first one gives the seeds; others may "
     "join without.",
     TEXT, AT(redis), 0, 0},
    {0, "lease", "S",
     "Give the pages of a silent worker to another after S seconds (30).", SECONDS,
     AT(lease), 1, 86400},
    {0, "wait", "N", "Wait until N replicas have confirmed each step (0).", NUMBER,
     AT(wait_replicas), 0, 100},
};
enum { ROWS = sizeof rows / sizeof *rows };

static kit_option options[ROWS + 1];
static const kit_command command = {
    .name = "crawl",
    .summary = "fetch every page of a site once",
    .usage = "[OPTION]... URL...\n"
             "--resume DIR [OPTION]...\n"
             "--again DIR [OPTION]...\n"
             "--list DIR [--json]\n"
             "--report DIR [-o FILE]\n"
             "--repair DIR",
    .about =
        "Follows links breadth first from each URL, within its host, and prints a line "
        "for each page: URL, status, type, depth, size, referrer, note and the reason "
        "of a failure, separated by tabs. Obeys robots.txt, asks a host once a second "
        "over one connection, never connects to private addresses, and remembers "
        "addresses in a few bytes each.\n"
        "\n"
        "With --dir the crawl is kept in an append-only log, DIR/frontier.log: it can "
        "be killed at any moment and resumed, and no page is lost. DIR/options holds "
        "the options it began with.",
    .options = options,
    .examples =
        "# Crawl a site and keep the crawl\n"
        "$ seen crawl --dir c https://example.org/\n"
        "# Go on after Ctrl-C, kill -9 or a power cut\n"
        "$ seen crawl --resume c\n"
        "# A week later: which pages are new, changed or gone\n"
        "$ seen crawl --again c\n"
        "$ seen crawl --list c | awk -F'\\t' '$7 == \"changed\"'\n"
        "# See how it went\n"
        "$ seen crawl --report c && ls c/report.html\n"
        "# List the broken links and where they are\n"
        "$ seen crawl --list c | awk -F'\\t' '$2 == 404 { print $1, $6 }'\n",
    .status = "0 when the crawl is done, 1 when it is done and not one page could be "
              "fetched, 2 for wrong use or failure, 130 when stopped by a signal.",
};

const kit_command *crawl_command(void)
{
    for (int i = 0; i < ROWS; i++)
        options[i] = (kit_option){.key = rows[i].how == HEADING ? KIT_HEADING
                                         : rows[i].letter       ? rows[i].letter
                                                                : 256 + i,
                                  .name = rows[i].name,
                                  .arg = rows[i].arg,
                                  .help = rows[i].help,
                                  .brief = rows[i].brief};
    return &command;
}

const crawl_option *crawl_option_by_key(int key)
{
    int i = 0;
    while (options[i].key != key)
        i++;
    return &rows[i];
}

const crawl_option *crawl_option_by_name(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].name && !strcmp(rows[i].name, name))
            return &rows[i];
    return NULL;
}

/* ---- values ---------------------------------------------------------------------- */

void words_add(words *w, const char *s)
{
    w->p = kit_grow(w->p, w->n + 1, sizeof *w->p);
    w->p[w->n++] = (char *)(uintptr_t)s;
}

static void read_seeds(words *seeds, const char *path)
{
    bool pipe = !strcmp(path, "-");
    FILE *f = pipe ? stdin : fopen(path, "re");
    char *line = NULL;
    size_t room = 0, number = 0;
    if (!f)
        kit_die("--seeds %s: %s", path, strerror(errno));
    for (ssize_t n; (n = getline(&line, &room, f)) >= 0;) {
        number++;
        char *s = line + strspn(line, " \t\r\n");
        if (strlen(line) != (size_t)n)
            kit_die("%s: line %zu holds a NUL, so it is not a URL", path, number);
        while (n > 0 && strchr(" \t\r\n", line[n - 1]))
            line[--n] = 0;
        if (*s && *s != '#')
            words_add(seeds, kit_copy(s));
    }
    if (ferror(f))
        kit_die("--seeds %s: %s", path, strerror(errno));
    free(line);
    if (!pipe)
        fclose(f);
}

static uint64_t count_of(const crawl_option *o, const char *s)
{
    uint64_t n;
    if (!strcmp(s, "0") && o->least == 0)
        return 0;
    if (!kit_parse_count(s, &n) || (double)n < o->least || (double)n > o->most)
        kit_die("--%s %s: not a number from %.0f to %.0f", o->name, s, o->least,
                o->most);
    return n;
}

static double seconds_of(const crawl_option *o, const char *s)
{
    char *end;
    double d = strtod(s, &end);
    if (end == s || *end || !(d >= o->least) || d > o->most)
        kit_die("--%s %s: not seconds from %g to %g", o->name, s, o->least, o->most);
    return d;
}

/* Checks HOST:PORT:ADDRESS now: otherwise a wrong one would fail page by page. */
static const char *resolve_of(const char *s)
{
    char address[INET6_ADDRSTRLEN + 2], host[256];
    struct in6_addr any;
    unsigned port;
    int end = 0;
    if (sscanf(s, "%255[^:]:%5u:%47[]0-9A-Fa-f:.[]%n", host, &port, address, &end) !=
            3 ||
        s[end] || port > 65535)
        kit_die("--resolve %s: not of the form HOST:PORT:ADDRESS", s);
    char *p = address;
    size_t n = strlen(p);
    if (*p == '[' && p[n - 1] == ']')
        p[n - 1] = 0, p++;
    if (inet_pton(AF_INET, p, &any) != 1 && inet_pton(AF_INET6, p, &any) != 1)
        kit_die("--resolve %s: %s is not an address", s, address);
    return s;
}

static unsigned follow_of(const char *s)
{
    static const struct {
        const char *name;
        unsigned bits;
    } kinds[] = {{"a", PAGE_A},         {"area", PAGE_AREA},
                 {"next", PAGE_NEXT},   {"canonical", PAGE_CANONICAL},
                 {"frame", PAGE_FRAME}, {"alternate", PAGE_ALTERNATE},
                 {"all", 127},          {"refresh", PAGE_REFRESH}};
    unsigned bits = 0;
    while (*s) {
        size_t n = strcspn(s, ","), i = 0;
        while (i < 8 && (strlen(kinds[i].name) != n || strncmp(kinds[i].name, s, n)))
            i++;
        if (i == 8)
            kit_die("--follow %.*s: not a kind of link (a, area, next, canonical, "
                    "alternate, frame, refresh, all)",
                    (int)n, s);
        bits |= kinds[i].bits;
        s += n + (s[n] == ',');
    }
    return bits;
}

/* A crawl may be resumed from another folder, so outputs have absolute names. */
const char *absolute_path(const char *path)
{
    char here[PATH_MAX];
    if (*path == '/' || !strcmp(path, "-") || !getcwd(here, sizeof here))
        return path;
    char *out = kit_alloc(strlen(here) + strlen(path) + 2);
    sprintf(out, "%s/%s", here, path);
    return out;
}

void crawl_option_set(config *c, const crawl_option *o, const char *v)
{
    void *field = (char *)c + o->at;
    switch (o->how) {
    case FLAG:
        *(bool *)field = true;
        break;
    case CHOICE:
        *(int *)field = (int)o->least;
        break;
    case NUMBER:
        *(unsigned *)field = (unsigned)count_of(o, v);
        break;
    case COUNT:
        *(uint64_t *)field = count_of(o, v);
        break;
    case SECONDS:
        *(double *)field = seconds_of(o, v);
        break;
    case BYTES:
        if (!kit_parse_bytes(v, field) || (double)*(uint64_t *)field > o->most)
            kit_die("--%s %s: not a size such as 8M, or too large", o->name, v);
        break;
    case ERROR:
        if (!kit_parse_error(v, field))
            kit_die("--%s %s: not a probability such as 1e-6", o->name, v);
        break;
    case TEXT:
        *(const char **)field = v;
        break;
    case PATH:
    case INPUT:
        *(const char **)field = absolute_path(v);
        break;
    case LIST:
        words_add(field, v);
        break;
    case HEADER:
        header_check(v);
        words_add(field, v);
        break;
    case RESOLVE:
        words_add(field, resolve_of(v));
        break;
    case FOLLOW:
        *(unsigned *)field = follow_of(v);
        break;
    case SEEDS:
        read_seeds(field, v);
        break;
    case HEADING:
        break;
    case RUN:
        c->dir = v;
        c->run = (int)o->least;
        break;
    }
}

/* ---- the command line ------------------------------------------------------------ */

static void print_version(void)
{
    printf("seen crawl %s\n", seen_version());
}

/* Walks the command line. The first walk only looks for --resume, whose options come
 * before those given now. */
static void walk_words(config *c, int argc, char **argv, bool find)
{
    kit_parse p = kit_parse_start("seen crawl", &command, argc, argv);
    for (int key; (key = kit_next(&p));) {
        const crawl_option *o = crawl_option_by_key(key);
        if (!find)
            saved_options_add(c, o, p.arg);
        if (!find || o->how == RUN)
            crawl_option_set(c, o, p.arg);
    }
    for (int i = p.at; !find && i < argc; i++)
        words_add(&c->seeds, argv[i]);
}

/* --domain takes no value: a name after it would silently become a seed. */
static void check_domain(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--domain") && argv[i + 1][0] != '-' &&
            !strstr(argv[i + 1], "://"))
            kit_die("--domain takes no name: it widens the crawl to the domains of the "
                    "seeds; give http://%s/ as a seed, or --host %s",
                    argv[i + 1], argv[i + 1]);
}

static void check_config(config *c)
{
    if (c->run != RUN_NEW && c->seeds.n)
        kit_die("--resume and --again take no URL: the seeds are in DIR/options");
    for (size_t i = 0; i < c->seeds.n; i++)
        if (strchr(c->seeds.p[i], '\n'))
            kit_die("a URL must not contain a newline");
    if (c->run == RUN_NEW && !c->seeds.n && !c->redis)
        kit_die("no URL given (try 'seen crawl --help')");
    if (c->redis && c->warc_size)
        kit_die("--warc-size needs a crawl of its own: leave out --redis");
    if (c->redis && c->dir)
        kit_die("--redis keeps the crawl in Redis: leave out --dir and --resume");
    if (c->out && !strcmp(c->out, "-") && c->json_stats)
        kit_die("--json and --out - both want standard output");
    if (!c->product[0])
        kit_die("--user-agent %s: it must begin with a name, for robots.txt",
                c->user_agent);
}

static char *product_of(const char *agent)
{
    size_t n = 0;
    while (isalpha((unsigned char)agent[n]) || agent[n] == '-' || agent[n] == '_')
        n++;
    char *out = kit_alloc(n + 1);
    memcpy(out, agent, n);
    return out;
}

void config_read(config *c, int argc, char **argv)
{
    *c = (config){.depth = -1,
                  .follow = PAGE_A | PAGE_AREA | PAGE_REFRESH,
                  .error = 1e-6,
                  .expect = 1000000,
                  .host_budget = 5000,
                  .delay = 1,
                  .max_delay = 60,
                  .per_host = 1,
                  .per_address = 16,
                  .connections = 256,
                  .threads = 1,
                  .retries = 3,
                  .retry_wait = 1,
                  .max_wait = 300,
                  .timeout = 30,
                  .connect_timeout = 10,
                  .max_body = 8 << 20,
                  .max_url = 2048,
                  .max_redirects = 10,
                  .lease = 30,
                  .user_agent = "seen-crawl/" SEEN_VERSION};
    kit_version = print_version;
    crawl_command();
    check_domain(argc, argv);
    walk_words(c, argc, argv, true);
    bool reads = c->run == RUN_LIST || c->run == RUN_REPORT;
    if (c->run != RUN_NEW && !reads)
        saved_options_read(c);
    walk_words(c, argc, argv, false);
    if (reads || c->run == RUN_REPAIR)
        return;
    if (!c->seed)
        c->seed = kit_new_seed();
    if (c->timeout < c->connect_timeout)
        c->connect_timeout = c->timeout;
    if (!c->out && !c->dir && !c->json_stats)
        c->out = "-";
    c->product = product_of(c->user_agent);
    auth_read(c, c->auth);
    check_config(c);
    if (!c->progress && !c->quiet && isatty(2) && (!c->out || strcmp(c->out, "-")))
        c->progress = true;
}
