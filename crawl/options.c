/* options.c - the command line, and its memory beside the log. */
#include "buf.h"
#include "config.h"
#include "page/page.h"
#include "seen.h"
#include "human_numbers.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

static const char help[] =
    "Usage: seen crawl [OPTION]... URL...\n"
    "       seen crawl --resume DIR [OPTION]...\n"
    "       seen crawl --list DIR [--json]\n"
    "Fetches every page of a site once, politely, and prints a line for each:\n"
    "URL, status, type, depth, size, referrer, note; separated by tabs.\n"
    "\n"
    "The crawl\n"
    "  -d, --dir DIR          keep it in DIR, so that it can be resumed\n"
    "      --resume DIR       go on with the crawl in DIR, with its options\n"
    "      --list DIR         print the pages done so far\n"
    "  -i, --seeds FILE       begin also with the URLs in FILE, one a line; - is\n"
    "                         standard input\n"
    "Scope\n"
    "      --domain           all hosts of the seeds' registered domains, not only\n"
    "                         the seeds' hosts\n"
    "      --host NAME        this host too (may be repeated)\n"
    "      --any-host         the whole web\n"
    "      --include RE       only URLs that match one of these patterns\n"
    "      --exclude RE       no URLs that match\n"
    "      --depth N          at most N links away from the seeds\n"
    "      --max-pages N      stop after N pages\n"
    "      --host-pages N     at most N pages of each host\n"
    "      --follow LIST      links to follow: a, area, next, canonical, alternate,\n"
    "                         frame, refresh, all (default a,area,refresh)\n"
    "      --sitemaps         also the pages that sitemaps name\n"
    "Seen\n"
    "  -e, --error P          chance that a page is taken for one seen (1e-6)\n"
    "      --exact            keep 64-bit fingerprints: no page is lost\n"
    "  -n, --expect N         addresses expected; more are fine (1M)\n"
    "Politeness\n"
    "      --delay S          seconds between requests to a host (1)\n"
    "      --per-host N       connections to a host (1)\n"
    "      --per-address N    connections to an address (16)\n"
    "      --connections N    connections in all (256)\n"
    "      --user-agent TEXT  who we say we are\n"
    "      --no-robots        do not ask for robots.txt (your own sites only)\n"
    "      --follow-nofollow  follow what pages ask not to follow\n"
    "      --retries N        further attempts after a failure (3)\n"
    "      --retry-wait S     seconds before the first of them (1)\n"
    "Limits\n"
    "      --timeout S        seconds for a page (30)\n"
    "      --max-body BYTES   of a page, unpacked (8M)\n"
    "      --max-url N        bytes of a URL (2048)\n"
    "      --max-redirects N  in a row (10)\n"
    "      --allow-private    also addresses that are not public: your own network\n"
    "Network\n"
    "      --engine NAME      auto, curl or plain (auto: plain HTTP/1.1 where it can)\n"
    "      --resolve H:P:ADDR use ADDR for host H, port P\n"
    "      --proxy URL        through this proxy (which then checks addresses)\n"
    "      --insecure         do not check certificates\n"
    "Output\n"
    "  -o, --out FILE         pages as lines; - is standard output (the default\n"
    "                         without --dir)\n"
    "      --jsonl            those lines as JSON\n"
    "      --warc FILE        an archive: WARC 1.1, gzip\n"
    "      --links FILE       all links: from, to, kind\n"
    "      --bodies DIR       the pages themselves\n"
    "      --json             statistics on standard output at the end\n"
    "      --progress         a line about once a second (default on a terminal)\n"
    "  -q, --quiet            no summary\n"
    "Many crawlers, one crawl\n"
    "      --redis URL        share it through redis://HOST:PORT/NAME\n"
    "      --lease S          seconds after which a silent worker's pages go to\n"
    "                         another (30)\n"
    "      --wait N           replicas that must have each step (0)\n"
    "\n"
    "Ctrl-C stops cleanly. Status: 0 done, 2 wrong use or failure, 130 stopped.\n";

enum { FLAG, VALUE };

/* Every option but -h: name, short name, whether it takes a value. */
static const struct option_word {
    const char *name;
    char letter;
    int takes;
    bool kept; /* saved for --resume */
} option_words[] = {
    {"dir", 'd', VALUE, false},       {"resume", 0, VALUE, false},
    {"list", 0, VALUE, false},        {"seeds", 'i', VALUE, false},
    {"domain", 0, FLAG, true},        {"host", 0, VALUE, true},
    {"any-host", 0, FLAG, true},      {"include", 0, VALUE, true},
    {"exclude", 0, VALUE, true},      {"depth", 0, VALUE, true},
    {"max-pages", 0, VALUE, true},    {"host-pages", 0, VALUE, true},
    {"follow", 0, VALUE, true},       {"sitemaps", 0, FLAG, true},
    {"error", 'e', VALUE, true},      {"exact", 0, FLAG, true},
    {"expect", 'n', VALUE, true},     {"delay", 0, VALUE, true},
    {"per-host", 0, VALUE, true},     {"per-address", 0, VALUE, true},
    {"connections", 0, VALUE, true},  {"user-agent", 0, VALUE, true},
    {"no-robots", 0, FLAG, true},     {"follow-nofollow", 0, FLAG, true},
    {"retries", 0, VALUE, true},      {"retry-wait", 0, VALUE, true},
    {"timeout", 0, VALUE, true},      {"max-body", 0, VALUE, true},
    {"max-url", 0, VALUE, true},      {"max-redirects", 0, VALUE, true},
    {"allow-private", 0, FLAG, true}, {"engine", 0, VALUE, true},
    {"resolve", 0, VALUE, true},      {"proxy", 0, VALUE, true},
    {"insecure", 0, FLAG, true},      {"out", 'o', VALUE, true},
    {"jsonl", 0, FLAG, true},         {"warc", 0, VALUE, true},
    {"links", 0, VALUE, true},        {"bodies", 0, VALUE, true},
    {"json", 0, FLAG, true},          {"progress", 0, FLAG, true},
    {"quiet", 'q', FLAG, true},       {"redis", 0, VALUE, true},
    {"lease", 0, VALUE, true},        {"wait", 0, VALUE, true},
};
enum { WORDS = sizeof option_words / sizeof *option_words };

/* What will be saved: lines of name, tab, value. */
static buf kept;

static void add_word(words *w, const char *s)
{
    w->p = kit_grow(w->p, w->n + 1, sizeof *w->p);
    w->p[w->n++] = (char *)(uintptr_t)s;
}

/* A URL a line; empty lines and what begins with # are not meant. */
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
            kit_die("%s: line %zu holds a NUL, so it is no URL", path, number);
        while (n > 0 && strchr(" \t\r\n", line[n - 1]))
            line[--n] = 0;
        if (*s && *s != '#')
            add_word(seeds, strdup(s));
    }
    if (ferror(f))
        kit_die("--seeds %s: %s", path, strerror(errno));
    free(line);
    if (!pipe)
        fclose(f);
}

static uint64_t count_of(const char *name, const char *s, uint64_t least, uint64_t most)
{
    uint64_t n;
    if (!strcmp(s, "0") && least == 0)
        return 0;
    if (!kit_parse_count(s, &n) || n < least || n > most)
        kit_die("--%s %s: a number from %llu to %llu is wanted", name, s,
                (unsigned long long)least, (unsigned long long)most);
    return n;
}

static double seconds_of(const char *name, const char *s, double least, double most)
{
    char *end;
    double d = strtod(s, &end);
    if (end == s || *end || !(d >= least) || d > most)
        kit_die("--%s %s: seconds from %g to %g are wanted", name, s, least, most);
    return d;
}

/* HOST:PORT:ADDRESS, where a wrong one would be told only page by page. */
static const char *resolve_of(const char *s)
{
    char address[INET6_ADDRSTRLEN + 2], host[256];
    struct in6_addr any;
    unsigned port;
    int end = 0;
    if (sscanf(s, "%255[^:]:%5u:%47[]0-9A-Fa-f:.[]%n", host, &port, address, &end) !=
            3 ||
        s[end] || port > 65535)
        kit_die("--resolve %s: HOST:PORT:ADDRESS is wanted", s);
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

/* Outputs must be found again from another folder. */
static const char *absolute(const char *path)
{
    char here[PATH_MAX];
    if (*path == '/' || !strcmp(path, "-") || !getcwd(here, sizeof here))
        return path;
    char *out = kit_alloc(strlen(here) + strlen(path) + 2);
    sprintf(out, "%s/%s", here, path);
    return out;
}

static int engine_of(const char *s)
{
    static const char *const names[] = {"auto", "curl", "plain"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(s, names[i]))
            return i;
    kit_die("--engine %s: auto, curl or plain is wanted", s);
}

static void set_option(config *c, const char *name, const char *v)
{
#define IS(s) (!strcmp(name, s))
    if (IS("dir"))
        c->dir = v;
    else if (IS("resume"))
        c->dir = v, c->resume = true;
    else if (IS("list"))
        c->dir = v, c->list = true;
    else if (IS("seeds"))
        read_seeds(&c->seeds, v);
    else if (IS("domain"))
        c->scope = SCOPE_DOMAIN;
    else if (IS("host"))
        add_word(&c->hosts, v);
    else if (IS("any-host"))
        c->scope = SCOPE_ANY;
    else if (IS("include"))
        add_word(&c->include, v);
    else if (IS("exclude"))
        add_word(&c->exclude, v);
    else if (IS("depth"))
        c->depth = (int)count_of(name, v, 0, 1000000);
    else if (IS("max-pages"))
        c->max_pages = count_of(name, v, 0, UINT64_MAX);
    else if (IS("host-pages"))
        c->host_pages = count_of(name, v, 0, UINT64_MAX);
    else if (IS("follow"))
        c->follow = follow_of(v);
    else if (IS("sitemaps"))
        c->sitemaps = true;
    else if (IS("error")) {
        if (!kit_parse_error(v, &c->error))
            kit_die("--error %s: a probability such as 1e-6 is wanted", v);
    } else if (IS("exact"))
        c->exact = true;
    else if (IS("expect"))
        c->expect = count_of(name, v, 1, UINT64_MAX);
    else if (IS("delay"))
        c->delay = seconds_of(name, v, 0, 86400);
    else if (IS("per-host"))
        c->per_host = (unsigned)count_of(name, v, 1, 10000);
    else if (IS("per-address"))
        c->per_address = (unsigned)count_of(name, v, 0, 10000);
    else if (IS("connections"))
        c->connections = (unsigned)count_of(name, v, 1, 10000);
    else if (IS("user-agent"))
        c->user_agent = v;
    else if (IS("no-robots"))
        c->no_robots = true;
    else if (IS("follow-nofollow"))
        c->follow_nofollow = true;
    else if (IS("retries"))
        c->retries = (unsigned)count_of(name, v, 0, 100);
    else if (IS("retry-wait"))
        c->retry_wait = seconds_of(name, v, 0, 3600);
    else if (IS("timeout"))
        c->timeout = seconds_of(name, v, 0.001, 86400);
    else if (IS("max-body")) {
        if (!kit_parse_bytes(v, &c->max_body) || c->max_body > 1u << 30)
            kit_die("--max-body %s: a size up to 1G is wanted, such as 8M", v);
    } else if (IS("max-url"))
        c->max_url = (unsigned)count_of(name, v, 16, 8000);
    else if (IS("max-redirects"))
        c->max_redirects = (unsigned)count_of(name, v, 0, 100);
    else if (IS("allow-private"))
        c->allow_private = true;
    else if (IS("engine"))
        c->engine = engine_of(v);
    else if (IS("resolve"))
        add_word(&c->resolve, resolve_of(v));
    else if (IS("proxy"))
        c->proxy = v;
    else if (IS("insecure"))
        c->insecure = true;
    else if (IS("out"))
        c->out = absolute(v);
    else if (IS("jsonl"))
        c->json_lines = true;
    else if (IS("warc"))
        c->warc = absolute(v);
    else if (IS("links"))
        c->links = absolute(v);
    else if (IS("bodies"))
        c->bodies = absolute(v);
    else if (IS("json"))
        c->json_stats = true;
    else if (IS("progress"))
        c->progress = true;
    else if (IS("quiet"))
        c->quiet = true;
    else if (IS("redis"))
        c->redis = v;
    else if (IS("lease"))
        c->lease = seconds_of(name, v, 1, 86400);
    else if (IS("wait"))
        c->wait_replicas = (unsigned)count_of(name, v, 0, 100);
#undef IS
}

static void take_option(config *c, const struct option_word *o, const char *v)
{
    set_option(c, o->name, v);
    if (!o->kept)
        return;
    if (v && strchr(v, '\n'))
        kit_die("--%s: a value of one line is wanted", o->name);
    bool path = !strcmp(o->name, "out") || !strcmp(o->name, "warc") ||
                !strcmp(o->name, "links") || !strcmp(o->name, "bodies");
    buf_text(&kept, o->name);
    buf_byte(&kept, '\t');
    buf_text(&kept, path ? absolute(v) : v ? v : "");
    buf_byte(&kept, '\n');
}

static const struct option_word *find_word(const char *s, size_t n, char letter)
{
    for (int i = 0; i < WORDS; i++)
        if (letter ? option_words[i].letter == letter
                   : strlen(option_words[i].name) == n &&
                         !strncmp(option_words[i].name, s, n))
            return &option_words[i];
    return NULL;
}

/* Walks the words of the command line. FIND only looks for --resume, which must be
 * known before the others are taken. */
static void walk(config *c, int argc, char **argv, bool find)
{
    bool only_urls = false;
    for (int i = 1; i < argc; i++) {
        const char *s = argv[i], *v = NULL;
        const struct option_word *o;
        if (only_urls || s[0] != '-' || !s[1]) {
            if (!find)
                add_word(&c->seeds, s);
            continue;
        }
        if (!strcmp(s, "--")) {
            only_urls = true;
            continue;
        }
        if (!strcmp(s, "--help") || !strcmp(s, "-h")) {
            fputs(help, stdout);
            exit(0);
        }
        if (!strcmp(s, "--version")) {
            printf("seen crawl %s\n", seen_version());
            exit(0);
        }
        if (s[1] == '-') {
            const char *equals = strchr(s, '=');
            size_t n = equals ? (size_t)(equals - s - 2) : strlen(s + 2);
            o = find_word(s + 2, n, 0);
            v = equals ? equals + 1 : NULL;
        } else {
            o = find_word(NULL, 0, s[1]);
            if (o && s[2] && o->takes == VALUE)
                v = s + 2;
            else if (s[2])
                o = NULL;
        }
        if (!o)
            kit_die("%s: no such option; --help lists them", s);
        if (o->takes == FLAG && v)
            kit_die("--%s takes no value", o->name);
        if (o->takes == VALUE && !v && !(v = argv[++i]))
            kit_die("--%s wants a value", o->name);
        if (!find)
            take_option(c, o, v);
        else if (!strcmp(o->name, "resume"))
            c->dir = v;
    }
}

static void read_saved(config *c)
{
    char path[4096], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "%s/options", c->dir);
    FILE *f = fopen(path, "re");
    if (!f)
        kit_die("%s holds no crawl: %s: %s", c->dir, path, strerror(errno));
    while (getline(&line, &room, f) >= 0) {
        line[strcspn(line, "\n")] = 0;
        char *tab = strchr(line, '\t');
        if (!tab)
            continue;
        *tab = 0;
        if (!strcmp(line, "url")) {
            add_word(&c->saved, strdup(tab + 1));
            continue;
        }
        const struct option_word *o = find_word(line, strlen(line), 0);
        if (!o)
            kit_die("%s: '%s' is no option of this version", path, line);
        take_option(c, o, o->takes == VALUE ? strdup(tab + 1) : NULL);
    }
    free(line);
    fclose(f);
}

void config_save(const config *c)
{
    char path[4096], temp[4096 + 8];
    snprintf(path, sizeof path, "%s/options", c->dir);
    snprintf(temp, sizeof temp, "%s.new", path);
    const words *seeds = c->resume ? &c->saved : &c->seeds;
    buf all = {0};
    buf_add(&all, kept.p, kept.len);
    for (size_t i = 0; i < seeds->n; i++) {
        buf_text(&all, "url\t");
        buf_text(&all, seeds->p[i]);
        buf_byte(&all, '\n');
    }
    FILE *f = fopen(temp, "we");
    if (!f || fwrite(all.p, 1, all.len, f) != all.len || fflush(f) ||
        fsync(fileno(f)) < 0 || fclose(f) || rename(temp, path) < 0)
        kit_die("%s: %s", path, strerror(errno));
    free(all.p);
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
                  .delay = 1,
                  .max_delay = 60,
                  .per_host = 1,
                  .per_address = 16,
                  .connections = 256,
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
    walk(c, argc, argv, true);
    if (c->dir)
        read_saved(c);
    c->dir = NULL;
    walk(c, argc, argv, false);
    if (c->list)
        return;
    if (c->resume && c->seeds.n)
        kit_die("--resume takes no URL: they are in the log");
    for (size_t i = 0; i < c->seeds.n; i++)
        if (strchr(c->seeds.p[i], '\n'))
            kit_die("a URL of one line is wanted");
    if (!c->resume && !c->seeds.n && !c->redis)
        kit_die("no URL given; --help shows how");
    if (c->redis && c->dir)
        kit_die("--redis keeps the crawl in Redis: --dir and --resume make no sense");
    if (c->timeout < c->connect_timeout)
        c->connect_timeout = c->timeout;
    if (!c->out && !c->dir && !c->json_stats)
        c->out = "-";
    if (c->out && !strcmp(c->out, "-") && c->json_stats)
        kit_die("--json and --out - both want standard output");
    c->product = product_of(c->user_agent);
    if (!c->product[0])
        kit_die("--user-agent %s: it must begin with a name, for robots.txt",
                c->user_agent);
    if (!c->progress && !c->quiet && isatty(2) && (!c->out || strcmp(c->out, "-")))
        c->progress = true;
}
