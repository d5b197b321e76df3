#!/usr/bin/python3
"""A filter that starts small and grows to a million items keeps the promised error and
takes at most 2.4 bytes an item, whether nobody named its capacity or somebody named one
that was far too low. One made for its items takes no more for that."""
from redis_servers import *

s = Server("--enable-debug-command", "yes")
c = s.client()
N = 1000000


def fill(key, n, begin=0):
    for i in range(begin, n, 20000):
        c("BF.MADD", key, *range(i, min(i + 20000, n)))


def wrong(key):
    return sum(sum(c("BF.MEXISTS", key, *("no%d" % i for i in range(at, at + 20000))))
               for at in range(0, 100000, 20000))


c("BF.RESERVE", "low", "0.01", 100)
for key, words in (("auto", "nobody named a capacity"), ("low", "BF.RESERVE for a hundred")):
    fill(key, N)
    each = c("MEMORY", "USAGE", key) / N
    ok(each <= 2.4, "%s: %.2f bytes an item" % (words, each))
    # Six standard deviations of 100,000 at 1% are 189.
    ok(wrong(key) < 1189, "at the promised error", wrong(key))
    same(sum(sum(c("BF.MEXISTS", key, *range(i, i + 20000))) for i in range(0, N, 20000)), N,
         "every item is there")
    c("RESTORE", "r" + key, 0, c("DUMP", key))
    for k in (key, "r" + key):
        fill(k, N + N // 2, N)
    same(c("DEBUG", "DIGEST-VALUE", "r" + key), c("DEBUG", "DIGEST-VALUE", key),
         "restored, it grows in the same way")
for n, most in ((1000, 1.9), (100000, 1.45)):
    c("BF.RESERVE", "exact%d" % n, "0.01", n)
    fill("exact%d" % n, n)
    info = c("BF.INFO", "exact%d" % n)
    each = (info[3] - 700) / n
    ok(each <= most and info[5] == 1, "one made for its %d items: %.2f bytes" % (n, each), info)
same(c("BF.RESERVE", "two", "0.01", 100, "EXPANSION", 2), Simple("OK"), "EXPANSION 2")
c("BF.MADD", "two", *range(110))
ok(280 <= c("BF.INFO", "two", "CAPACITY")[0] <= 300, "is obeyed when it is given",
   c("BF.INFO", "two"))
done()
