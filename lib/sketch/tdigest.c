/* tdigest.c - t-digest: which value is at the quantile q?
 *
 * The merging form (Dunning and Ertl, Computing extremely accurate quantiles using
 * t-digests, 2019): values are appended until there is no room, then all nodes are
 * sorted and neighbours are merged while the result is small enough for its quantile.
 * Rules and order of operations are RedisBloom's, so that the same values give the same
 * bits (-ffp-contract=off is part of that), with one difference: a digest of a single
 * value answers with that value. tdigest_ask.c has the queries. */
#include "base/fail.h"
#include "seen_sketch.h"
#include "base/memory.h"
#include "sketch/sketch_bytes.h"
#include "sketch/tdigest.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>

static const char name[] = "seenTD1\n";
enum {
    W_COMPRESSION,
    W_MERGED,
    W_WEIGHT,
    W_COMPRESSIONS,
    W_MIN,
    W_MAX,
    W_FLAGS,
    WORDS
};
enum { USUAL = 100 };
#define MOST 357913939u /* 6 * MOST + 10 is below 2^31 */

static uint64_t capacity_for(uint64_t compression)
{
    return 6 * compression + 10;
}

static uint64_t nodes_len(const seen_tdigest *t)
{
    return t->room * sizeof *t->nodes;
}

/* Makes room for N nodes. A large compression costs memory only as values arrive. */
static int make_room(seen_tdigest *t, uint64_t n)
{
    if (n && !sn_array_room(&t->alloc, &t->nodes, &t->room, n, sizeof *t->nodes))
        return sn_fail(SEEN_ENOMEM, "no memory for %" PRIu64 " nodes", n);
    return SEEN_OK;
}

int seen_tdigest_new(uint64_t compression, unsigned flags, const seen_allocator *a,
                     seen_tdigest **out)
{
    *out = NULL;
    compression = compression ? compression : USUAL;
    if (compression > MOST)
        return sn_fail(SEEN_EINVAL, "compression %" PRIu64 " is above %u", compression,
                       MOST);
    if (flags & ~(unsigned)SEEN_TDIGEST_REDISBLOOM)
        return sn_fail(SEEN_EINVAL, "flags 0x%x are unknown", flags);
    int rc = sn_check_allocator(a);
    if (rc < 0)
        return rc;
    seen_allocator alloc = sn_allocator(a);
    seen_tdigest *t = sn_alloc(&alloc, sizeof *t);
    if (!t)
        return sn_fail(SEEN_ENOMEM, "no memory for a sketch");
    *t = (seen_tdigest){.alloc = alloc,
                        .flags = flags,
                        .compression = compression,
                        .capacity = capacity_for(compression)};
    seen_tdigest_reset(t);
    *out = t;
    return SEEN_OK;
}

void seen_tdigest_free(seen_tdigest *t)
{
    if (!t)
        return;
    seen_allocator a = t->alloc;
    sn_body_free(&a, t->nodes, nodes_len(t));
    sn_free(&a, t, sizeof *t);
}

int seen_tdigest_copy(const seen_tdigest *t, seen_tdigest **out)
{
    seen_tdigest *c;
    uint64_t n = t->merged + t->unmerged;
    *out = NULL;
    int rc = seen_tdigest_new(t->compression, t->flags, &t->alloc, &c);
    if (rc < 0)
        return rc;
    if ((rc = make_room(c, n)) < 0) {
        seen_tdigest_free(c);
        return rc;
    }
    if (n)
        memcpy(c->nodes, t->nodes, n * sizeof *t->nodes);
    c->merged = t->merged;
    c->unmerged = t->unmerged;
    c->merged_weight = t->merged_weight;
    c->unmerged_weight = t->unmerged_weight;
    c->compressions = t->compressions;
    c->min = t->min;
    c->max = t->max;
    *out = c;
    return SEEN_OK;
}

void seen_tdigest_reset(seen_tdigest *t)
{
    t->min = DBL_MAX;
    t->max = -DBL_MAX;
    t->merged = t->unmerged = 0;
    t->merged_weight = t->unmerged_weight = 0;
    t->compressions = 0;
}

/* ---- sorting --------------------------------------------------------------------- */

static void swap_nodes(seen_tdigest_node *x, seen_tdigest_node *y)
{
    seen_tdigest_node z = *x;
    *x = *y;
    *y = z;
}

static bool below(const seen_tdigest_node *x, const seen_tdigest_node *y)
{
    return x->mean < y->mean || (x->mean == y->mean && x->weight < y->weight);
}

static void heap_sort(seen_tdigest_node *v, uint64_t n)
{
    for (uint64_t step = n + n / 2; step-- > 0;) {
        uint64_t end = step < n ? step : n, root = step < n ? 0 : step - n;
        if (step < n)
            swap_nodes(&v[0], &v[step]);
        for (uint64_t child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && below(&v[child], &v[child + 1]))
                child++;
            if (!below(&v[root], &v[child]))
                break;
            swap_nodes(&v[root], &v[child]);
        }
    }
}

/* Equal means of different weight may be in any order, and the order affects the last
 * bits of results. So this is RedisBloom's quicksort, step by step, until DEPTH shows
 * that the values make it slow; then it is heap sort. */
static void sort_nodes(seen_tdigest_node *v, int64_t a, int64_t b, unsigned depth)
{
    while (a < b) {
        if (b - a == 1) {
            if (v[b].mean < v[a].mean)
                swap_nodes(&v[a], &v[b]);
            return;
        }
        if (!depth--) {
            heap_sort(v + a, (uint64_t)(b - a + 1));
            return;
        }
        int64_t pivot = (a + b) / 2, to = a;
        double mean = v[pivot].mean;
        swap_nodes(&v[pivot], &v[b]);
        for (int64_t i = a; i < b; i++)
            if (v[i].mean < mean)
                swap_nodes(&v[i], &v[to++]);
        swap_nodes(&v[to], &v[b]);
        sort_nodes(v, a, to - 1, depth);
        a = to + 1;
    }
}

/* ---- adding ---------------------------------------------------------------------- */

/* The new MEAN after adding a value X of weight W; ALL is the new weight. If the
 * difference of the values overflows, each is weighted separately. */
static double moved_mean(double mean, double x, double w, double all)
{
    double moved = mean + (x - mean) * w / all;
    return isfinite(moved) ? moved : mean * ((all - w) / all) + x * (w / all);
}

void seen_tdigest_compress(seen_tdigest *t)
{
    enum { DEPTH = 64 };
    if (!t->unmerged)
        return;
    uint64_t n = t->merged + t->unmerged, to = 0;
    seen_tdigest_node *v = t->nodes;
    int64_t weight = t->merged_weight + t->unmerged_weight;
    double total = (double)weight, before = 0;
    sort_nodes(v, 0, (int64_t)n - 1, DEPTH);
    /* ln 1 is 0: a single value has nothing to merge with. */
    double scale = weight > 1 ? (double)t->compression / (2 * M_PI * total * log(total))
                              : INFINITY;
    for (uint64_t i = 1; i < n; i++) {
        double both = (double)v[to].weight + (double)v[i].weight;
        double z = both * scale, q0 = before / total, q2 = (before + both) / total;
        if (z <= q0 * (1 - q0) && z <= q2 * (1 - q2)) {
            v[to].weight += v[i].weight;
            v[to].mean = moved_mean(v[to].mean, v[i].mean, (double)v[i].weight,
                                    (double)v[to].weight);
        } else {
            before += (double)v[to].weight;
            v[++to] = v[i];
        }
    }
    t->merged = to + 1;
    t->unmerged = 0;
    t->merged_weight = weight;
    t->unmerged_weight = 0;
    t->compressions += t->compressions < INT64_MAX; /* it may come from a file */
}

int seen_tdigest_add(seen_tdigest *t, double value, int64_t weight)
{
    int64_t sum;
    if (!isfinite(value))
        return sn_fail(SEEN_EINVAL, "%g cannot be added to a t-digest", value);
    if (weight < 1)
        return sn_fail(SEEN_EINVAL, "a weight of %" PRId64 " is below 1", weight);
    if (__builtin_add_overflow(t->merged_weight + t->unmerged_weight, weight, &sum))
        return sn_fail(SEEN_ERANGE, "the weights add up to more than 2^63");
    if (t->merged + t->unmerged >= t->capacity - 1)
        seen_tdigest_compress(t);
    if (t->merged + t->unmerged >= t->capacity) /* the rule for merging forbids this */
        return sn_fail(SEEN_ERANGE, "no node of the t-digest could be merged");
    int rc = make_room(t, t->merged + t->unmerged + 1);
    if (rc < 0)
        return rc;
    if (value < t->min)
        t->min = value;
    if (value > t->max)
        t->max = value;
    t->nodes[t->merged + t->unmerged++] = (seen_tdigest_node){value, weight};
    t->unmerged_weight += weight;
    return SEEN_OK;
}

int seen_tdigest_merge(seen_tdigest *dst, seen_tdigest *src)
{
    int64_t sum;
    if (dst == src)
        return sn_fail(SEEN_EINVAL, "a t-digest cannot be merged with itself");
    if (__builtin_add_overflow(dst->merged_weight + dst->unmerged_weight,
                               src->merged_weight + src->unmerged_weight, &sum))
        return sn_fail(SEEN_ERANGE, "the weights add up to more than 2^63");
    seen_tdigest_compress(dst);
    seen_tdigest_compress(src);
    seen_tdigest *was;
    int rc = seen_tdigest_copy(dst, &was);
    if (rc < 0)
        return rc;
    for (uint64_t i = 0; rc == SEEN_OK && i < src->merged; i++)
        rc = seen_tdigest_add(dst, src->nodes[i].mean, src->nodes[i].weight);
    if (rc == SEEN_OK) {
        dst->min = fmin(dst->min, src->min);
        dst->max = fmax(dst->max, src->max);
    } else { /* restore DST as it was before the first node */
        seen_tdigest failed = *dst;
        *dst = *was;
        *was = failed;
    }
    seen_tdigest_free(was);
    return rc;
}

/* ---- fields and bytes ------------------------------------------------------------ */

void seen_tdigest_get_info(const seen_tdigest *t, seen_tdigest_info *out)
{
    *out = (seen_tdigest_info){.compression = t->compression,
                               .capacity = t->capacity,
                               .merged = t->merged,
                               .unmerged = t->unmerged,
                               .merged_weight = t->merged_weight,
                               .unmerged_weight = t->unmerged_weight,
                               .compressions = t->compressions,
                               .min = t->min,
                               .max = t->max,
                               .bytes = sizeof *t + nodes_len(t)};
}

const seen_tdigest_node *seen_tdigest_nodes(seen_tdigest *t, size_t *n)
{
    seen_tdigest_compress(t);
    *n = t->merged;
    return t->nodes;
}

/* Says why these fields and nodes cannot be a digest; NULL if they can. *SUM is the
 * weight.
 *
 * RedisBloom saves weights above 2^53 as doubles, and a mean may be an ulp beyond its
 * neighbour's: differences that rounding explains must not lose a value. */
static const char *contradiction(const seen_tdigest_info *i,
                                 const seen_tdigest_node *nodes, int64_t *sum)
{
    *sum = 0;
    if (!i->compression || i->compression > MOST)
        return "the compression is out of range";
    if (i->capacity != capacity_for(i->compression))
        return "the capacity is not that of the compression";
    if (i->merged > i->capacity)
        return "there are more nodes than room for them";
    if (i->compressions < 0)
        return "the number of compressions is negative";
    if (i->merged && (!isfinite(i->min) || !isfinite(i->max)))
        return "an end is not a number";
    for (uint64_t k = 0; k < i->merged; k++) {
        if (!isfinite(nodes[k].mean))
            return "a mean is not a number";
        if (nodes[k].weight < 1 || __builtin_add_overflow(*sum, nodes[k].weight, sum))
            return "a weight is out of range";
    }
    double off = fabs((double)*sum - (double)i->merged_weight);
    return off <= 1e-12 * (double)*sum ? NULL : "the weights do not add up";
}

int seen_tdigest_make(const seen_tdigest_info *info, const seen_tdigest_node *nodes,
                      unsigned flags, const seen_allocator *a, seen_tdigest **out)
{
    int64_t sum;
    *out = NULL;
    const char *wrong = contradiction(info, nodes, &sum);
    if (wrong)
        return sn_fail(SEEN_EFORMAT, "%s", wrong);
    seen_tdigest *t;
    int rc = seen_tdigest_new(info->compression, flags, a, &t);
    if (rc < 0)
        return rc;
    if ((rc = make_room(t, info->merged)) < 0) {
        seen_tdigest_free(t);
        return rc;
    }
    *out = t;
    t->merged = info->merged;
    t->merged_weight = sum;
    t->compressions = info->compressions;
    if (!t->merged)
        return SEEN_OK;
    memcpy(t->nodes, nodes, info->merged * sizeof *nodes);
    bool sorted = true;
    for (uint64_t k = 1; k < t->merged; k++)
        sorted &= nodes[k - 1].mean <= nodes[k].mean;
    if (!sorted)
        heap_sort(t->nodes, t->merged);
    t->min = fmin(info->min, t->nodes[0].mean);
    t->max = fmax(info->max, t->nodes[t->merged - 1].mean);
    return SEEN_OK;
}

size_t seen_tdigest_write(seen_tdigest *t, void *buf, size_t size)
{
    seen_tdigest_compress(t);
    size_t len = sn_sketch_len(WORDS, t->merged * 16);
    if (size < len)
        return len;
    uint64_t words[WORDS] = {t->compression, t->merged, (uint64_t)t->merged_weight,
                             (uint64_t)t->compressions};
    memcpy(&words[W_MIN], &t->min, 8);
    memcpy(&words[W_MAX], &t->max, 8);
    words[W_FLAGS] = t->flags;
    uint8_t *p = sn_sketch_begin(buf, len, name, words, WORDS);
    for (uint64_t i = 0; i < t->merged; i++, p += 16) {
        sn_put_double(p, t->nodes[i].mean);
        sn_put64(p + 8, (uint64_t)t->nodes[i].weight);
    }
    sn_sketch_end(buf, len);
    return len;
}

int seen_tdigest_read(const void *bytes, size_t len, uint64_t max_bytes,
                      const seen_allocator *a, seen_tdigest **out)
{
    uint64_t w[WORDS];
    const uint8_t *body;
    size_t left;
    *out = NULL;
    int rc = sn_sketch_open(bytes, len, name, w, WORDS, &body, &left);
    if (rc < 0)
        return rc;
    seen_tdigest_info i = {.compression = w[W_COMPRESSION],
                           .merged = w[W_MERGED],
                           .merged_weight = (int64_t)w[W_WEIGHT],
                           .compressions = (int64_t)w[W_COMPRESSIONS]};
    memcpy(&i.min, &w[W_MIN], 8);
    memcpy(&i.max, &w[W_MAX], 8);
    if (!i.compression || i.compression > MOST || left % 16 || left / 16 != i.merged ||
        w[W_FLAGS] > SEEN_TDIGEST_REDISBLOOM)
        return sn_fail(SEEN_EFORMAT, "%" PRIu64 " nodes in %zu bytes", i.merged, left);
    i.capacity = capacity_for(i.compression);
    rc = sn_sketch_fits(sizeof **out + left, max_bytes);
    if (rc < 0)
        return rc;
    seen_allocator alloc = sn_allocator(a);
    seen_tdigest_node *nodes = sn_body_alloc(&alloc, left);
    if (!nodes)
        return sn_fail(SEEN_ENOMEM, "no memory for %" PRIu64 " nodes", i.merged);
    for (uint64_t k = 0; k < i.merged; k++)
        nodes[k] = (seen_tdigest_node){sn_le_double(body + 16 * k),
                                       (int64_t)sn_le64(body + 16 * k + 8)};
    rc = seen_tdigest_make(&i, nodes, (unsigned)w[W_FLAGS], &alloc, out);
    sn_body_free(&alloc, nodes, left);
    return rc;
}
