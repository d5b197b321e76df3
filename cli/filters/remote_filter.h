/* remote_filter.h - a filter in Redis or Valkey, which many machines share. */
#ifndef CLI_REMOTE_FILTER_H
#define CLI_REMOTE_FILTER_H

#include "named_filter.h"
#include "options.h"
#include "seed.h"

enum { OPT_REDIS = 0x460, OPT_REDIS_MODULE };

#define OPTION_REDIS(what)                                                             \
    {                                                                                  \
        OPT_REDIS, "redis", "URL",                                                     \
            what " in Redis or Valkey, redis://host:port/name, which many machines "   \
                 "may use at once; 'seen new --redis URL' makes it. A password may "   \
                 "stand in the environment, SEEN_REDIS_PASSWORD, or in a file: "       \
                 "URL?password-file=PATH."                                             \
    }
#define OPTION_REDIS_MODULE                                                            \
    {                                                                                  \
        OPT_REDIS_MODULE, "redis-module", "[URL]",                                     \
            "Use the BF commands of a module on the server, for the filter at URL or " \
            "that of --redis."                                                         \
    }

/* Handles --redis and --redis-module, whose URL goes into *NAME; returns whether KEY
 * was one of them. */
bool remote_option(const kit_parse *p, int key, const char **name);

bool remote_is_url(const char *name);

/* The opener for named_filter.c: SEEN_EFORMAT if NAME is not a URL; ends the program if
 * the filter cannot be opened. */
int remote_open(const char *name, unsigned how, named_filter *s);

/* Makes a filter on the server, or reports why not and ends the program. */
void remote_make(const char *url, uint64_t keys, double error, kit_secret secret,
                 bool force);
#endif
