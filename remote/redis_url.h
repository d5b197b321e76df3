/* redis_url.h - parses redis:// URLs; knows no connections. */
#ifndef SEEN_REDIS_URL_H
#define SEEN_REDIS_URL_H
#include <stdbool.h>
#include <stdint.h>

enum { SCHEME_OWN, SCHEME_MMH3, SCHEME_SCRAPY, SCHEME_MODULE };

typedef struct redis_url {
    bool tls;
    char host[256]; /* or the path of a socket */
    int port;       /* 0: a socket */
    char user[256], password[512]; /* empty: SEEN_REDIS_PASSWORD of the environment */
    char name[512]; /* of the filter */
    int db;
    double timeout; /* seconds */
    int scheme;
    uint64_t bits; /* of foreign schemes */
    uint32_t seeds[64], nseeds;
    bool is_unsigned;
} redis_url;

/* Returns NULL, or a message that says what is wrong with TEXT. */
const char *redis_url_parse(const char *text, redis_url *u);

#endif
