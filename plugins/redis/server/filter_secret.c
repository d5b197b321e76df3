/* filter_secret.c - the server's secret, and its form in commands. */
#include "server/filter_secret.h"
#include "server/settings.h"
#include <endian.h>
#include <string.h>

static filter_secret servers;
static bool settled;

static bool fresh(filter_secret *s)
{
    uint64_t words[2];
    if (seen_random_bytes(words, sizeof words) < 0)
        return false;
    *s = (filter_secret){words[0], words[1], true};
    return true;
}

static void adopt(filter_secret s)
{
    if (settled || !s.keyed)
        return;
    servers = s;
    settled = true;
}

bool secret_choose(bool replayed, bool given, filter_secret *s)
{
    filter_secret first;
    if (given && replayed)
        adopt(*s);
    if (given)
        return true;
    if (!settled && !fresh(&first))
        return false;
    if (!settled)
        adopt(first);
    *s = servers;
    return !conf.random_seed || fresh(s);
}

void secret_loaded(filter_secret s)
{
    if (RM_GetContextFlags && RM_GetContextFlags(NULL) & RM_FLAG_LOADING)
        adopt(s);
}

void secret_hasher(filter_secret s, uint64_t use, seen_hasher *out)
{
    seen_hasher_init(out, s.keyed ? SEEN_HASH_KEYED : SEEN_HASH_XXH3, s.low ^ use,
                     s.high);
}

/* In the third word of a keyed secret, so that it never looks like an XXH3 seed. */
#define KEYED_MARK 0x316465796b6e6565u

bool secret_from_word(const rm_str *s, filter_secret *out)
{
    size_t len;
    const char *p = RM_StringPtrLen(s, &len);
    uint64_t w[4];
    if (len != sizeof w)
        return false;
    memcpy(w, p, sizeof w);
    for (int i = 0; i < 4; i++)
        w[i] = le64toh(w[i]);
    if (!w[1] && !w[2] && !w[3])
        *out = (filter_secret){w[0], 0, false};
    else
        *out = (filter_secret){w[0] ^ w[2], w[1] ^ w[3], true};
    return true;
}

void secret_to_word(filter_secret s, char word[SECRET_WORD])
{
    uint64_t w[4] = {htole64(s.low)};
    if (s.keyed) {
        w[0] = htole64(s.low ^ KEYED_MARK);
        w[1] = htole64(s.high);
        w[2] = htole64(KEYED_MARK);
    }
    memcpy(word, w, sizeof w);
}
