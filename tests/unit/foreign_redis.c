/* foreign_redis.c - sn_bf and sn_cf are RedisBloom's structures, bit for bit. */
#include "tap.h"
#include "golden/golden.h"
#include "foreign/redisbloom/redisbloom.h"
#include <math.h>

/* The vectors whose chains the module made itself, and how. */
static const struct {
    const char *name;
    double error;
    uint64_t capacity;
    uint32_t expansion;
    bool nonscaling;
    uint32_t options; /* of those started from a hand-made header; 0xff: not so */
    uint32_t hashes;
} made[] = {
    {"default", 0.01, 100, 2, false, 0xff, 0},
    {"nonscaling", 0.01, 400, 2, true, 0xff, 0},
    {"scale-x1", 0.001, 60, 1, false, 0xff, 0},
    {"scale-x2", 0.05, 50, 2, false, 0xff, 0},
    {"pow2-32bit", 0.02, 125, 2, false, 0, 6},
    {"pow2-force64", 0.05, 164, 2, false, 4, 5},
};

static uint8_t *dump_of(const sn_bf *f, size_t *len)
{
    size_t head = sn_bf_header(f, NULL, 0);
    sn_bf_info info;
    sn_bf_link_info l;
    sn_bf_get_info(f, &info);
    uint8_t *p = malloc(head + info.bytes);
    sn_bf_header(f, p, head);
    *len = head;
    for (uint32_t i = 0; i < info.links; i++) {
        sn_bf_get_link(f, i, &l);
        memcpy(p + *len, l.data, l.bytes);
        *len += l.bytes;
    }
    return p;
}

static void chain(size_t i)
{
    char dir[1024];
    snprintf(dir, sizeof dir, "%s/redisbloom/%s", golden_root(), made[i].name);
    golden_blob want = golden_read(dir, "filter.bin"),
                keys = golden_read(dir, "keys.tsv");
    golden_blob probes = golden_read(dir, "probes.tsv");
    golden_blob params = golden_read(dir, "params.json");
    if (!want.p || !keys.p || !probes.p) {
        ok(1, "%s # SKIP not in %s", made[i].name, golden_root());
        return;
    }
    sn_bf *f;
    int rc;
    if (made[i].options == 0xff) {
        rc = sn_bf_new(made[i].error, made[i].capacity, made[i].expansion,
                         made[i].nonscaling, NULL, &f);
    } else {
        sn_bf_link_info l = {.bits = 1024,
                          .n2 = 10,
                          .error = made[i].error,
                          .bpe = fabs(log(made[i].error) / 0.480453013918201),
                          .hashes = made[i].hashes,
                          .entries = made[i].capacity};
        rc = sn_bf_make(made[i].options, 2, &l, 1, 1 << 20, NULL, &f);
    }
    if (!ok(rc == 0, "%s: made", made[i].name))
        return;
    const char *replies = golden_param(params, "add_replies");
    const char *at = (char *)keys.p, *line, *end;
    bool same = true;
    size_t n = 0;
    for (; (line = golden_line(&at)); n++) {
        golden_blob k = golden_key(line, &end);
        rc = sn_bf_add(f, k.p, k.len);
        same &= !replies || rc == replies[n] - '0';
        free(k.p);
    }
    ok(same, "%s: %zu adds answered as by the module", made[i].name, n);
    size_t len;
    uint8_t *got = dump_of(f, &len);
    ok(len == want.len && !memcmp(got, want.p, len),
       "%s: the dump is byte for byte its own", made[i].name);
    free(got);
    sn_bf_free(f);

    size_t head = 20 + 53 * (size_t)want.p[8];
    rc = sn_bf_load(want.p, head, 1 << 20, NULL, &f);
    sn_bf_link_info l;
    size_t off = head;
    for (uint32_t j = 0; rc == 0 && sn_bf_get_link(f, j, &l) == 0; j++) {
        memcpy((void *)(uintptr_t)l.data, want.p + off, l.bytes);
        off += l.bytes;
    }
    if (!ok(rc == 0 && off == want.len, "%s: loads, header and arrays", made[i].name))
        return;
    same = true;
    unsigned yes = 0;
    for (at = (char *)probes.p; (line = golden_line(&at));) {
        golden_blob k = golden_key(line, &end);
        bool has = sn_bf_has(f, k.p, k.len);
        same &= has == (end[1] == '1');
        yes += has;
        free(k.p);
    }
    ok(same, "%s: every probe answered as by the module, %u falsely yes", made[i].name,
       yes);
    for (at = (char *)keys.p; (line = golden_line(&at));) {
        golden_blob k = golden_key(line, &end);
        same &= sn_bf_has(f, k.p, k.len);
        free(k.p);
    }
    ok(same, "%s: every member is in", made[i].name);
    sn_bf_free(f);
    free(want.p), free(keys.p), free(probes.p), free(params.p);
}

static void bf_limits(void)
{
    sn_bf *f, *g;
    sn_bf_info info;
    ok(sn_bf_new(0, 10, 2, 0, NULL, &f) == SEEN_EINVAL &&
           sn_bf_new(1, 10, 2, 0, NULL, &f) == SEEN_EINVAL &&
           sn_bf_new(NAN, 10, 2, 0, NULL, &f) == SEEN_EINVAL,
       "error rates outside (0, 1) are refused");
    ok(sn_bf_new(0.1, 0, 2, 0, NULL, &f) == SEEN_EINVAL &&
           sn_bf_new(0.1, (1ull << 30) + 1, 2, 0, NULL, &f) == SEEN_EINVAL &&
           sn_bf_new(0.1, 10, 32769, 0, NULL, &f) == SEEN_EINVAL,
       "capacity and expansion outside their ranges are refused");
    sn_bf_new(0.01, 3, 0, false, NULL, &f);
    sn_bf_get_info(f, &info);
    ok(info.options == 13 && info.expansion == 0,
       "expansion 0 is a chain that never grows");
    int rc = 0;
    for (int i = 0; i < 10 && rc >= 0; i++)
        rc = sn_bf_add(f, &i, sizeof i);
    sn_bf_get_info(f, &info);
    ok(rc == SEEN_EFULL && info.items == 3 && info.links == 1, "and gets full: %s",
       seen_reason());
    ok(info.size == 32 + 64 + info.bytes, "size is counted as BF.INFO counts");
    ok(sn_bf_copy(f, NULL, &g) == 0, "copies");
    int two = 2;
    ok(sn_bf_has(g, &two, sizeof two), "the copy has what the chain has");
    sn_bf_free(g);

    uint8_t h[20 + 53 + 53];
    size_t len = sn_bf_header(f, h, sizeof h);
    sn_bf_free(f);
    ok(len == 73, "one link: 73 bytes of header");
    ok(sn_bf_load(h, len, 8, NULL, &f) == 0, "loads with room for its 8 bytes");
    sn_bf_free(f);
    ok(sn_bf_load(h, len, 7, NULL, &f) == SEEN_ETOOBIG,
       "not beyond the bytes allowed");
    ok(sn_bf_load(h, len - 1, 8, NULL, &f) == SEEN_EFORMAT &&
           sn_bf_load(h, len + 1, 8, NULL, &f) == SEEN_EFORMAT &&
           sn_bf_load(h, 0, 8, NULL, &f) == SEEN_EFORMAT,
       "a header of another length is refused");
    static const struct {
        int at;
        uint8_t value;
        const char *field;
    } bad[] = {
        {0, 77, "size"},           {8, 2, "nfilters"},     {8, 0, "nfilters"},
        {12, 0x40, "options"},     {20, 9, "bytes"},       {29, 1, "bits"},
        {20 + 31, 0x80, "error"},  {20 + 40, 0, "hashes"}, {20 + 40, 255, "hashes"},
        {20 + 39, 0x7f, "hashes"}, {20 + 52, 64, "n2"},    {20 + 52, 63, "n2"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t g2[sizeof h];
        memcpy(g2, h, sizeof h);
        g2[bad[i].at] = bad[i].value;
        ok(sn_bf_load(g2, len, UINT64_MAX, NULL, &f) == SEEN_EFORMAT &&
               strstr(seen_reason(), bad[i].field),
           "byte %d = %u: %s", bad[i].at, bad[i].value, seen_reason());
    }
}

static void cuckoo(void)
{
    sn_cf *f, *g;
    sn_cf_info info;
    const char *k = "item";
    ok(sn_cf_new(3, 2, 20, 1, NULL, &f) == SEEN_EINVAL &&
           sn_cf_new(100, 0, 20, 1, NULL, &f) == SEEN_EINVAL &&
           sn_cf_new(100, 256, 20, 1, NULL, &f) == SEEN_EINVAL &&
           sn_cf_new(100, 2, 0, 1, NULL, &f) == SEEN_EINVAL &&
           sn_cf_new(100, 2, 20, 32769, NULL, &f) == SEEN_EINVAL,
       "arguments outside their ranges are refused");
    sn_cf_new(1024, 2, 20, 1, NULL, &f);
    sn_cf_get_info(f, &info);
    ok(info.buckets == 512 && info.filters == 1 && info.size == 40 + 16 + 1024,
       "1024 items by twos are 512 buckets");
    ok(sn_cf_add(f, k, 4, 0) == SEEN_NEW && sn_cf_add(f, k, 4, 0) == SEEN_NEW &&
           sn_cf_count(f, k, 4) == 2,
       "adding twice counts twice");
    ok(sn_cf_addnx(f, k, 4, 0) == SEEN_DUP && sn_cf_count(f, k, 4) == 2,
       "addnx does not add what is there");
    ok(sn_cf_del(f, k, 4) == 1 && sn_cf_has(f, k, 4) && sn_cf_del(f, k, 4) == 1 &&
           !sn_cf_has(f, k, 4) && sn_cf_del(f, k, 4) == 0,
       "removing takes one copy at a time");
    /* h % 255 + 1 and h, h ^ fp * 0x5bd1e995 for "a": worked out by hand from
     * murmur64A("a", 0) = 071717d2d36b6b11. */
    uint64_t h = 0x071717d2d36b6b11;
    const void *data;
    uint64_t bytes;
    sn_cf_add(f, "a", 1, 0);
    sn_cf_get_filter(f, 0, &data, &bytes);
    ok(((const uint8_t *)data)[h % 512 * 2] == h % 255 + 1,
       "the fingerprint of a stands in its first bucket");
    sn_cf_free(f);

    sn_cf_new(64, 2, 20, 2, NULL, &f);
    unsigned lost = 0;
    for (int i = 0; i < 2000; i++)
        lost += sn_cf_add(f, &i, sizeof i, 0) != SEEN_NEW;
    for (int i = 0; i < 2000; i++)
        lost += !sn_cf_has(f, &i, sizeof i);
    sn_cf_get_info(f, &info);
    ok(lost == 0 && info.items == 2000 && info.filters > 3,
       "grows to %u filters and loses nothing", info.filters);

    uint8_t head[SN_CF_HEADER];
    const void *to;
    sn_cf_header(f, head);
    int rc = sn_cf_load(head, sizeof head, 1 << 20, NULL, &g);
    for (uint32_t i = 0; rc == 0 && sn_cf_get_filter(f, i, &data, &bytes) == 0; i++) {
        sn_cf_get_filter(g, i, &to, &bytes);
        memcpy((void *)(uintptr_t)to, data, bytes);
    }
    ok(rc == 0, "a header loads, and the tables behind it");
    for (int i = 0; i < 4000; i++)
        lost += sn_cf_has(f, &i, sizeof i) != sn_cf_has(g, &i, sizeof i);
    ok(lost == 0, "and answer the same");
    sn_cf_free(g);
    for (int i = 100; i < 2000; i++)
        lost += sn_cf_del(f, &i, sizeof i) != 1;
    sn_cf_compact(f);
    for (int i = 0; i < 100; i++)
        lost += !sn_cf_has(f, &i, sizeof i);
    uint32_t before = info.filters;
    sn_cf_get_info(f, &info);
    ok(lost == 0 && info.items == 100 && info.filters < before,
       "compaction goes back to %u filters and keeps what was not deleted",
       info.filters);
    sn_cf_free(f);

    sn_cf_new(8, 2, 5, 0, NULL, &f);
    rc = 0;
    int added = 0;
    while (added < 100 && (rc = sn_cf_add(f, &added, sizeof added, 0)) == SEEN_NEW)
        added++;
    for (int i = 0; i < added; i++)
        lost += !sn_cf_has(f, &i, sizeof i);
    ok(rc == SEEN_EFULL && added <= 8 && lost == 0,
       "expansion 0: full after %d, and the failed add lost nobody", added);
    sn_cf_free(f);
    sn_cf_new(8, 2, 5, 1, NULL, &f);
    for (added = 0; (rc = sn_cf_add(f, &added, sizeof added, 3)) == SEEN_NEW;)
        added++;
    sn_cf_get_info(f, &info);
    ok(rc == SEEN_ETOOBIG && info.filters == 3,
       "no more than three filters if asked so");
    sn_cf_header(f, head);
    sn_cf_free(f);

    static const struct {
        int at;
        uint8_t value;
        const char *field;
    } bad[] = {
        {7, 1, "numItems"},       {8, 3, "numBuckets"},  {8, 0, "numBuckets"},
        {15, 0x80, "numBuckets"}, {24, 0, "numFilters"}, {30, 1, "numFilters"},
        {32, 0, "bucketSize"},    {33, 1, "bucketSize"}, {34, 0, "maxIterations"},
        {36, 3, "expansion"},     {36, 0, "numFilters"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t b[SN_CF_HEADER];
        memcpy(b, head, sizeof b);
        b[bad[i].at] = bad[i].value;
        ok(sn_cf_load(b, sizeof b, UINT64_MAX, NULL, &g) == SEEN_EFORMAT &&
               strstr(seen_reason(), bad[i].field),
           "byte %d = %u: %s", bad[i].at, bad[i].value, seen_reason());
    }
    ok(sn_cf_load(head, 37, 1000, NULL, &g) == SEEN_EFORMAT &&
           sn_cf_load(head, 38, 3, NULL, &g) == SEEN_ETOOBIG,
       "a short header and more bytes than allowed are refused");
}

int main(void)
{
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        chain(i);
    bf_limits();
    cuckoo();
    return done();
}
