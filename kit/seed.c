/* seed.c - a seed from an option, from SEEN_SEED, or a random one. */
#include "seed.h"

#include "messages.h"
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

/* SEEN_SEED of the environment; 0 if it is not given. */
static uint64_t given_seed(void)
{
    uint64_t seed;
    const char *given = getenv("SEEN_SEED");
    if (!given || !*given)
        return 0;
    if (!kit_parse_seed(given, &seed))
        kit_die("SEEN_SEED: '%s' is not a number from 1 to 2^64-1", given);
    return seed;
}

uint64_t kit_new_seed(void)
{
    uint64_t seed = given_seed();
    if (!seed && seen_random_bytes(&seed, sizeof seed) < 0)
        kit_die("%s", seen_reason());
    return seed;
}

kit_secret kit_new_secret(void)
{
    kit_secret s = {given_seed(), 0};
    if (!s.low && seen_random_bytes(&s, sizeof s) < 0)
        kit_die("%s", seen_reason());
    return s;
}

seen_hasher kit_new_hasher(uint64_t seed)
{
    kit_secret s = {seed, 0};
    seen_hasher h;
    if (!seed)
        s = kit_new_secret();
    seen_hasher_init(&h, SEEN_HASH_KEYED, s.low, s.high);
    return h;
}
