/* seed.c - a seed from an option, from SEEN_SEED, or a random one. */
#include "seed.h"

#include "say.h"
#include "seen.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool kit_parse_seed(const char *s, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long seed = strtoull(s, &end, 0);
    if (errno || *end || !isdigit((unsigned char)*s) || !seed)
        return false;
    *out = seed;
    return true;
}

uint64_t kit_new_seed(void)
{
    uint64_t seed;
    const char *given = getenv("SEEN_SEED");
    if (!given || !*given)
        return seen_random_seed();
    if (!kit_parse_seed(given, &seed))
        kit_die("SEEN_SEED: '%s' is not a number from 1 to 2^64-1", given);
    return seed;
}
