/* Batches of RedisBloom's chain do what single adds do, over the ends of links. */
#include "foreign/redisbloom/redisbloom.h"
#include "tap.h"
#include <string.h>

enum { N = 5000 };
static char text[2 * N][16];
static seen_key key[2 * N];

static bool same_bytes(const sn_bf *a, const sn_bf *b)
{
    sn_bf_info x, y;
    sn_bf_get_info(a, &x);
    sn_bf_get_info(b, &y);
    if (x.links != y.links || x.items != y.items)
        return false;
    for (uint32_t i = 0; i < x.links; i++) {
        sn_bf_link_info k, l;
        sn_bf_get_link(a, i, &k);
        sn_bf_get_link(b, i, &l);
        if (k.bytes != l.bytes || k.size != l.size || memcmp(k.data, l.data, k.bytes))
            return false;
    }
    return true;
}

int main(void)
{
    for (int i = 0; i < 2 * N; i++) {
        /* Every third key comes a second time soon. */
        int n = snprintf(text[i], sizeof text[i], "k%d", i % 3 ? i : i - i % 30);
        key[i] = (seen_key){text[i], (size_t)n};
    }
    static const double errors[] = {0.1, 0.01, 1e-7};
    for (int e = 0; e < 3; e++) {
        sn_bf *one, *many;
        ok(sn_bf_new(errors[e], 100, 2, false, NULL, &one) == 0 &&
               sn_bf_new(errors[e], 100, 2, false, NULL, &many) == 0,
           "two chains with error %g", errors[e]);
        static bool dup[2 * N], found[2 * N];
        int why, differ = 0;
        size_t at = 0;
        for (size_t n = 1; at < N; at += n, n = n % 97 + 1)
            if (sn_bf_add_many(many, key + at, n, dup + at, &why) != n)
                break;
        for (size_t i = 0; i < at; i++)
            differ += (sn_bf_add(one, key[i].data, key[i].len) == SEEN_DUP) != dup[i];
        ok(at >= N && differ == 0, "the answers of batches are those of single adds");
        ok(same_bytes(one, many), "and so are the bits");
        sn_bf_has_many(many, key, 2 * N, found);
        for (size_t i = 0; i < 2 * N; i++)
            differ += sn_bf_has(one, key[i].data, key[i].len) != found[i];
        ok(differ == 0, "and the questions");
        sn_bf_free(one);
        sn_bf_free(many);
    }
    sn_bf *f;
    bool dup[10];
    int why = 0;
    seen_key ten[10];
    for (int i = 0; i < 10; i++)
        ten[i] = key[i * 3 + 1];
    ten[2] = ten[0];
    ok(sn_bf_new(0.001, 4, 2, true, NULL, &f) == 0, "a chain that may not grow");
    ok(sn_bf_add_many(f, ten, 10, dup, &why) == 5 && why == SEEN_EFULL && dup[2],
       "takes what fits and tells why it stopped");
    sn_bf_free(f);
    return done();
}
