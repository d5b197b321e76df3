/* crawl_options.h - the option table, for the code that sets and saves options. */
#ifndef CRAWL_CRAWL_OPTIONS_H
#define CRAWL_CRAWL_OPTIONS_H

#include "buf.h"
#include "config.h"
#include "options.h"

/* The type of an option's value. */
enum how {
    HEADING, /* no option: a title above some */
    FLAG,    /* bool */
    CHOICE,  /* int, set to LEAST */
    NUMBER,  /* unsigned, from LEAST to MOST */
    COUNT,   /* uint64_t, from LEAST to MOST */
    SECONDS, /* double, from LEAST to MOST */
    BYTES,   /* uint64_t, up to MOST */
    ERROR,   /* double, a probability */
    TEXT,    /* const char *; from here to INPUT the value itself is kept */
    PATH,    /* const char *, made absolute: an output */
    LIST,    /* words, may be repeated */
    RESOLVE, /* words, HOST:PORT:ADDRESS */
    HEADER,  /* words, "Name: value" */
    INPUT,   /* const char *, made absolute: a file to read */
    FOLLOW,  /* unsigned, bits of enum page_link_kind */
    SEEDS,   /* words, from a file */
    RUN      /* the folder, and what to do with it: enum run in LEAST */
};

typedef struct crawl_option {
    int letter;
    const char *name, *arg, *help;
    enum how how;
    size_t at; /* of the field in config */
    double least, most;
    const char *brief; /* for -h */
} crawl_option;

/* Makes the kit's table from the rows; call it first. */
const kit_command *crawl_command(void);
const crawl_option *crawl_option_by_key(int key);
const crawl_option *crawl_option_by_name(const char *name); /* NULL: there is none */

/* Sets one option; dies if V is not allowed. V must stay valid. */
void crawl_option_set(config *c, const crawl_option *o, const char *v);

void words_add(words *w, const char *s);
const char *absolute_path(const char *path);

/* saved_options.c */
void saved_options_read(config *c); /* sets the options and seeds kept in c->dir */
void saved_options_add(const config *c, const crawl_option *o, const char *v);

#endif
