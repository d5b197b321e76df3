#!/usr/bin/python3
"""BF.MERGE of what was merged before changes nothing, a source that has grown replaces
what it was, half-empty filters of one shape share a layer; so a filter that others are
merged into for years keeps few layers, all its items and its error."""
from redis_servers import *

s = Server()
c = s.client()


def layers(key):
    return c("BF.INFO", key, "FILTERS")[0]


def wrong(key):
    """Of 20,000 items that were never added, how many are found."""
    return sum(c("BF.MEXISTS", key, *("no%d" % i for i in range(20000))))


for layout in ("fast", "compat"):
    print("# layout", layout)
    c("FLUSHALL")
    c("CONFIG", "SET", "bf.layout", layout)
    c("BF.RESERVE", "src", "0.01", 1000)
    c("BF.MADD", "src", *range(1000))
    c("BF.RESERVE", "dst", "0.01", 500)
    c("BF.MADD", "dst", *range(5000, 5400))
    c("BF.MERGE", "dst", "src")
    first = c("BF.INFO", "dst")
    for _ in range(500):
        c("BF.MERGE", "dst", "src")
    same(c("BF.INFO", "dst"), first, "the same source merged 501 times: as after the first")
    c("BF.MADD", "dst", *range(6000, 6050))
    c("BF.MERGE", "dst", "src", "src", "dst")
    same(layers("dst"), 2, "also after the destination got more items")
    same(sum(c("BF.MEXISTS", "dst", *range(1000), *range(5000, 5400), *range(6000, 6050))), 1450,
         "and every item is there")

    c("BF.ADD", "grows", "first")
    for i in range(300):
        c("BF.MADD", "grows", *range(i * 50, i * 50 + 50))
        c("BF.MERGE", "follower", "grows")
    ok(layers("follower") <= layers("grows") + 1,
       "a source that grows and is merged 300 times: %d layers, it has %d" %
       (layers("follower"), layers("grows")))
    same(c("BF.CARD", "follower"), c("BF.CARD", "grows"), "as many items")
    same(sum(c("BF.MEXISTS", "follower", *range(15000))), 15000, "all of them there")
    ok(wrong("follower") <= 200 * 1.6, "at the promised error", wrong("follower"))

    for day in range(20):
        c("BF.RESERVE", "day%d" % day, "0.01", 2000)
        c("BF.MADD", "day%d" % day, *range(day * 50, day * 50 + 100))
    c("BF.MERGE", "all", *("day%d" % d for d in range(20)))
    same(layers("all"), 1, "twenty filters that are nearly empty share one layer")
    same(sum(c("BF.MEXISTS", "all", *range(1050))), 1050, "which has all items")
    got = c("BF.CARD", "all")
    ok(abs(got - 1050) < 100, "and knows that some came twice: %d of 1050" % got)
    ok(wrong("all") <= 200 * 1.6, "at the promised error", wrong("all"))

    got = None
    for i in range(80):
        c("BF.RESERVE", "full", "0.01", 100)
        c("BF.MADD", "full", *("f%d-%d" % (i, j) for j in range(100)))
        before = c("BF.INFO", "many") if i else None
        got = c("BF.MERGE", "many", "full")
        c("DEL", "full")
        if isinstance(got, Err):
            break
    same(got, Err("ERR the union would have more than 64 layers: reserve one filter for all "
                  "items"), "full filters do not pile up for ever")
    same(c("BF.INFO", "many"), before, "the one refused changed nothing")
done()
