/* arguments.h - the arguments of a command: keywords and items. */
#ifndef SEEN_REDIS_ARGUMENTS_H
#define SEEN_REDIS_ARGUMENTS_H
#include "server/module_api.h"
#include "seen.h"

/* Whether S is WORD, in any case. */
bool arg_is(const rm_str *s, const char *word);

/* The bytes of S, which stay the server's. */
seen_key arg_key(const rm_str *s);

/* The items of a command and their answers. Small commands need no allocation. */
enum { FEW_ITEMS = 128 };
typedef struct arg_items {
    size_t n;
    seen_key *keys;
    bool *answer;
    seen_key few_keys[FEW_ITEMS];
    bool few_answers[FEW_ITEMS];
} arg_items;

void arg_items_get(arg_items *it, rm_str **argv, size_t n);
void arg_items_free(arg_items *it);

#endif
