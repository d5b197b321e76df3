/* judge.c - which paragraphs were seen before.
 *
 * The keys of many paragraphs are asked at once, so that their cache lines come
 * together. Then, paragraph by paragraph, those not found are asked again, for what the
 * paragraphs just before have added; their lines are in the cache by now. A key that is
 * found stays found, so this gives exactly what asking one by one gives, false
 * positives included, whatever the size of blocks and groups. */
#include "dedup.h"
#include "human_numbers.h"
#include "origins.h"
#include "messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP = 4096 };
/* A share of few paragraphs says nothing. */
static const double lost_allowed_anyway = 10;

void judge_free(judge *j)
{
    free(j->found);
    free(j->again);
    free(j->miss);
    seen_free(j->filter);
    seen_free(j->against);
}

static void make_room(judge *j, size_t n)
{
    if (n <= j->room)
        return;
    j->room = n;
    j->found = kit_grow(j->found, n, 1);
    j->again = kit_grow(j->again, n, 1);
    j->miss = kit_grow(j->miss, n, sizeof *j->miss);
}

static void add(judge *j, const uint64_t *h, size_t n)
{
    if (seen_add_hashes(j->filter, h, n, j->again, NULL) < 0)
        kit_die("the filter takes no more: %s", seen_reason());
}

void judge_take(seen_filter *f, const block *b)
{
    if (seen_add_hashes(f, b->key, b->keys, NULL, NULL) < 0)
        kit_die("the filter of --against takes no more: %s", seen_reason());
}

/* ---- what false positives do ----------------------------------------------------- */

/* The chance that at least NEED of N absent keys are found. */
static double tail(double n, double need, double p)
{
    if (need > n)
        return 0;
    double most =
        1; /* C(n, need) p^need is more than that, and mostly next to nothing */
    for (double i = 0; i < need && most > 1e-12 && most < 1e12; i++)
        most *= (n - i) / (i + 1) * p;
    if (most < 1e-9 || p >= 1)
        return most < 1e-9 ? most : 1;
    int sign;
    double one =
        exp(lgamma_r(n + 1, &sign) - lgamma_r(need + 1, &sign) -
            lgamma_r(n - need + 1, &sign) + need * log(p) + (n - need) * log1p(-p));
    double sum = one;
    for (double k = need; k < n && (one > sum * 1e-6 || k < n * p); k++) {
        one *= (n - k) / (k + 1) * p / (1 - p);
        sum += one;
    }
    return sum < 1 ? sum : 1;
}

/* The chance that a paragraph of N n-grams, MISSES of which are not in the filter,
 * would have been taken for a duplicate. */
static double chance_lost(const judge *j, const para *p, double n, double misses)
{
    if (p->twin)
        return j->error * j->error;
    if (n == 1)
        return j->error;
    /* The number of found n-grams that are expected to be really in. */
    double e = j->error, in = floor((n - misses - n * e) / (1 - e + 1e-9) + 0.5);
    in = in > 0 ? in : 0;
    return tail(n - in, floor(j->rules->threshold * n) + 1 - in, e);
}

/* Each kept paragraph implies CHANCE / (1 - CHANCE) wrongly removed ones. */
static void expect_lost(judge *j, double chance)
{
    j->lost += chance < 0.999 ? chance / (1 - chance) : 1000;
}

/* The error in the middle of the next keys, modelled as a power of their number and
 * fitted again when the filter has grown by 1%. Returns how many keys may be judged
 * before the next look. */
static size_t look_at_error(judge *j)
{
    uint64_t added = seen_added(j->filter), few = added / 64 + 64;
    size_t next = few < GROUP ? (size_t)few : GROUP;
    double n = (double)added + 1;
    if (added >= j->error_next) {
        double e = seen_error_predicted(j->filter), power = 0;
        if (j->error_then > 0 && e > j->error_then)
            power = log(e / j->error_then) / log(n / j->error_keys);
        j->error_power = power < 16 ? power : 16;
        j->error_then = e;
        j->error_keys = n;
        j->error_next = added + added / 100 + 16;
    }
    double middle = (n + (double)next / 2) / j->error_keys;
    j->error = j->error_then * pow(middle, j->error_power);
    j->error = j->error < 1 ? j->error : 1;
    if (j->expected && added > j->expected) {
        kit_warn("more than the %s keys that the memory was made for: the filter now "
                 "errs with probability %.2g, rising (give a larger -m)",
                 kit_counted(j->expected), j->error);
        j->expected = 0;
    }
    return next;
}

static bool too_many_lost(judge *j, block *b)
{
    double share = j->max_lost_share * (double)j->judged;
    double most = j->max_lost_share < 0         ? j->max_lost
                  : share > lost_allowed_anyway ? share
                                                : lost_allowed_anyway;
    if (most < 0 || j->lost <= most)
        return false;
    char a[32];
    snprintf(b->error, sizeof b->error,
             "stopped: %.0f of %s paragraphs or documents are expected to have been "
             "removed wrongly, the filter errs with probability %.2g (give a larger -m "
             "or -n, a smaller -e, or --max-lost)",
             j->lost, kit_show_count(j->judged, a), j->error);
    return true;
}

/* ---- paragraphs ------------------------------------------------------------------ */

/* Paragraph P, whose keys were FOUND when its group was asked. ASKED: nothing was added
 * since. Returns whether something was added now. */
static bool judge_para(judge *j, para *p, const uint64_t *key, const bool *found,
                       bool asked)
{
    const dedup_rules *r = j->rules;
    size_t keys = p->keys, misses = 0;
    for (size_t i = 0; i < keys; i++) {
        j->miss[misses] = key[i];
        misses += !found[i];
    }
    if (misses && !asked) {
        size_t left = 0;
        seen_has_hashes(j->filter, j->miss, misses, j->again);
        for (size_t i = 0; i < misses; i++) {
            uint64_t h = j->miss[i];
            j->miss[left] = h;
            left += !j->again[i];
        }
        misses = left;
    }
    size_t n = p->twin ? 1 : keys;
    p->found = (uint32_t)(p->twin ? !misses : keys - misses);
    p->gone = n && (double)p->found / (double)n > r->threshold;
    if (p->gone || !n)
        return false;
    expect_lost(j, chance_lost(j, p, (double)n, (double)(p->twin ? 1 : misses)));
    if (r->no_update || !misses)
        return false;
    add(j, j->miss, misses);
    return true;
}

/* Where each paragraph has at most one key, adding is judging. */
static void judge_singles(judge *j, para *p, size_t paras, const uint64_t *key,
                          size_t keys)
{
    if (j->rules->no_update)
        seen_has_hashes(j->filter, key, keys, j->found);
    else if (seen_add_hashes(j->filter, key, keys, j->found, NULL) < 0)
        kit_die("the filter takes no more: %s", seen_reason());
    if (j->against) {
        seen_has_hashes(j->against, key, keys, j->again);
        for (size_t i = 0; i < keys; i++)
            j->found[i] |= j->again[i];
    }
    for (size_t i = 0, at = 0; i < paras; i++) {
        if (!p[i].keys)
            continue;
        p[i].found = p[i].gone = j->found[at++];
        if (!p[i].gone)
            expect_lost(j, j->error);
    }
}

static void judge_group(judge *j, para *p, size_t paras, const uint64_t *key,
                        size_t keys)
{
    bool asked = true;
    seen_has_hashes(j->filter, key, keys, j->found);
    if (j->against) {
        seen_has_hashes(j->against, key, keys, j->again);
        for (size_t i = 0; i < keys; i++)
            j->found[i] |= j->again[i];
    }
    for (size_t i = 0, at = 0; i < paras; at += p[i++].keys)
        if (judge_para(j, p + i, key + at, j->found + at, asked))
            asked = false;
}

static void judge_all(judge *j, block *b)
{
    bool singles = j->rules->exact || j->rules->by == BY_PARAGRAPH;
    for (size_t i = 0, at = 0; i < b->paras;) {
        size_t to = i, keys = 0, most = look_at_error(j);
        while (to < b->paras && keys < most)
            keys += b->para[to++].keys;
        make_room(j, keys);
        if (keys)
            (singles ? judge_singles : judge_group)(j, b->para + i, to - i, b->key + at,
                                                    keys);
        i = to;
        at += keys;
    }
}

/* Decides about document D from its paragraphs. */
static void judge_document(judge *j, doc *d, para *p)
{
    const dedup_rules *r = j->rules;
    size_t cut = 0;
    for (uint32_t i = 0; i < d->paras; i++) {
        d->found += p[i].found;
        d->ngrams += p[i].twin ? 1 : p[i].keys;
        cut += p[i].gone;
        j->judged += p[i].keys > 0;
    }
    if (r->document_too && d->ngrams &&
        (double)d->found / (double)d->ngrams > r->threshold)
        for (cut = 0; cut < d->paras; cut++)
            p[cut].gone = true;
    uint64_t gone = 0;
    for (uint32_t i = 0; i < d->paras && cut; i++)
        if (p[i].gone)
            gone += (i + 1 < d->paras ? p[i + 1].raw : d->raw_len) - p[i].raw;
    /* Blank paragraphs have no keys, but a document of nothing else is empty. */
    d->gone = cut && gone == d->raw_len;
    j->documents++;
    j->documents_gone += d->gone;
    j->documents_cut += cut && !d->gone;
    j->paragraphs += d->paras;
    j->paragraphs_gone += cut;
    j->ngrams += d->ngrams;
    j->bytes += d->raw_len;
    j->bytes_gone += gone;
}

/* Places of what stays, and the first ones of what goes. */
static void find_origins(judge *j, block *b)
{
    if (b->origin_room < b->paras) {
        b->origin_room = b->paras;
        b->origin = kit_grow(b->origin, b->paras, sizeof *b->origin);
    }
    size_t p = 0, key = 0;
    for (size_t i = 0; i < b->docs; i++)
        for (uint32_t k = 0; k < b->doc[i].paras; k++, p++) {
            const uint64_t *h = b->key + key;
            uint32_t n = b->para[p].keys;
            b->origin[p] = 0;
            if (b->para[p].gone)
                b->origin[p] = origins_find(j->origins, h, n);
            else
                origins_note(j->origins, h, n,
                             origin_of(b->file, b->line_base + i + 1));
            key += n;
        }
}

void judge_count(judge *j, block *b)
{
    para *p = b->para;
    for (size_t i = 0; i < b->docs; i++) {
        doc *d = b->doc + i;
        if (d->bad)
            j->bad++;
        else
            judge_document(j, d, p);
        p += d->paras;
    }
}

bool judge_block(judge *j, block *b)
{
    judge_all(j, b);
    judge_count(j, b);
    if (j->origins)
        find_origins(j, b);
    return !too_many_lost(j, b);
}
