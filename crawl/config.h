/* config.h - what the user asked for. */
#ifndef CRAWL_CONFIG_H
#define CRAWL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct words {
    char **p;
    size_t n;
} words;

/* What the crawl's folder is for. */
enum run { RUN_NEW, RUN_RESUME, RUN_LIST, RUN_REPAIR, RUN_AGAIN, RUN_REPORT };
enum scope_kind { SCOPE_HOST, SCOPE_DOMAIN, SCOPE_ANY };

typedef struct config {
    words seeds;
    words saved;     /* seeds of the crawl that is resumed */
    const char *dir; /* NULL: a temporary one */
    int run;         /* enum run */
    uint64_t seed;   /* of the log's checksums and the seen-set */
    /* scope */
    int scope; /* enum scope_kind */
    words hosts, include, exclude;
    int depth;                      /* -1: any */
    uint64_t max_pages, host_pages; /* 0: any number */
    uint64_t host_budget;           /* pages that show nothing new; 0: any number */
    unsigned follow;                /* bits of enum page_link_kind */
    bool sitemaps, follow_nofollow;
    /* the seen-set */
    double error;
    bool exact;
    uint64_t expect;
    /* politeness */
    double delay, max_delay;
    unsigned per_host, per_address, connections, threads;
    const char *user_agent;
    char *product; /* the word robots.txt knows us by */
    bool no_robots;
    unsigned retries;
    double retry_wait, max_wait;
    /* limits */
    double timeout, connect_timeout;
    uint64_t max_body, limit_rate; /* limit_rate: bytes per second; 0: any number */
    unsigned max_url, max_redirects;
    bool allow_private, insecure;
    words resolve, headers;
    words accounts; /* each: host, NUL, user:password in base64, NUL */
    const char *proxy, *cookies, *auth, *cacert, *cert, *cert_key;
    /* output */
    const char *out, *warc, *links, *bodies;
    uint64_t warc_size; /* 0: one file */
    bool json_lines, json_stats, quiet, progress;
    const char *status; /* where to serve it; NULL: nowhere */
    /* many crawlers */
    const char *redis, *name;
    double lease;
    unsigned wait_replicas;
} config;

/* Reads the command line; prints help or dies itself. With --resume the saved
 * options come first, so that those given now win. */
void config_read(config *c, int argc, char **argv);

/* Saves the options in c->dir for --resume; dies if it cannot. */
void config_save(const config *c);

#endif
