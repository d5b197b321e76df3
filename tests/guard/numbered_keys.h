/* numbered_keys.h - the calls of a guard with numbers as keys, as fake_adapters.h has
 * them. */
#ifndef NUMBERED_KEYS_H
#define NUMBERED_KEYS_H
#include "seen_guard.h"

#include <stdio.h>

static int get(seen_guard *g, long n)
{
    char key[24];
    return seen_guard_get(g, key, (size_t)sprintf(key, "%ld", n), NULL);
}
static int insert(seen_guard *g, long n)
{
    char key[24];
    return seen_guard_insert(g, key, (size_t)sprintf(key, "%ld", n), "", 0);
}
static int erase(seen_guard *g, long n)
{
    char key[24];
    return seen_guard_erase(g, key, (size_t)sprintf(key, "%ld", n));
}
static seen_guard_write *begin(seen_guard *g, long n)
{
    char key[24];
    seen_guard_write *w;
    seen_key k = {key, (size_t)sprintf(key, "%ld", n)};
    return seen_guard_begin(g, &k, 1, &w) < 0 ? NULL : w;
}
static seen_guard_stats stats(seen_guard *g)
{
    seen_guard_stats s;
    seen_guard_get_stats(g, &s);
    return s;
}
#endif
