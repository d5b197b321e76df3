/* tally.c - counts answers, and keeps the lists of notable hosts. */
#include "tally.h"
#include "host.h"

unsigned tally_limit(int bucket)
{
    static const unsigned limits[TALLY_BUCKETS] = {
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 30000};
    return limits[bucket];
}

static uint64_t value_of(const host *h, int list)
{
    return list == MOST_ANSWERS     ? h->tally.answers
           : list == SLOWEST_ANSWER ? h->tally.slowest
                                    : h->tally.failures;
}

/* H's value has grown: H enters the list if it exceeds the smallest value there. */
static void consider(tally *t, host *h, int list)
{
    uint64_t value = value_of(h, list);
    if (h->tally.listed & 1u << list || !value)
        return;
    size_t least = 0;
    if (t->listed[list] < TALLY_HOSTS) {
        least = t->listed[list]++;
    } else {
        for (size_t i = 1; i < TALLY_HOSTS; i++)
            if (value_of(t->list[list][i], list) < value_of(t->list[list][least], list))
                least = i;
        if (value_of(t->list[list][least], list) >= value)
            return;
        t->list[list][least]->tally.listed &= (uint8_t) ~(1u << list);
    }
    t->list[list][least] = h;
    h->tally.listed |= (uint8_t)(1u << list);
}

void tally_answer(tally *t, host *h, uint64_t ms, uint64_t wire, int failed)
{
    h->tally.bytes += wire;
    t->wire += wire;
    if (failed) {
        h->tally.failures++;
        consider(t, h, MOST_FAILURES);
        return;
    }
    h->tally.answers++;
    h->tally.took += ms;
    t->answers++;
    t->took += ms;
    for (int i = TALLY_BUCKETS - 1; i >= 0 && ms <= tally_limit(i); i--)
        t->within[i]++;
    consider(t, h, MOST_ANSWERS);
    if (ms > h->tally.slowest) {
        h->tally.slowest = ms;
        consider(t, h, SLOWEST_ANSWER);
    }
}

void tally_sort(tally *t)
{
    for (int k = 0; k < TALLY_LISTS; k++)
        for (size_t i = 1; i < t->listed[k]; i++) {
            host *h = t->list[k][i];
            size_t at = i;
            for (; at > 0 && value_of(t->list[k][at - 1], k) < value_of(h, k); at--)
                t->list[k][at] = t->list[k][at - 1];
            t->list[k][at] = h;
        }
}

void tally_second(tally *t, uint64_t pages)
{
    t->pages[t->second++ % TALLY_SECONDS] = pages - t->pages_before;
    t->pages_before = pages;
}
