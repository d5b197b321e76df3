#!/usr/bin/python3
"""However often one item is added to a cuckoo filter, the filter takes no more memory:
copies beyond a bucket are counted. CF.COUNT and CF.DEL know every copy, also after a
dump, a copy, a restart and on a replica."""
import random
from redis_servers import *

s = Server("--appendonly", "yes", "--maxmemory", "100mb")
c = s.client()
r = Server("--replicaof", "127.0.0.1 %d" % s.port)
d = r.client()
until(lambda: d.info("master_link_status") == "up")

for _ in range(200):
    c("CF.ADD", "hot", "x")
used = c("MEMORY", "USAGE", "hot")
ok(used < 33000, "200 copies of one item take less than RedisBloom's 33 KB: %d bytes" % used)
same(c("CF.COUNT", "hot", "x"), 200, "all of them are counted")
same(c("CF.INFO", "hot")[7], 200, "CF.INFO counts them as items")
same(c("CF.INFO", "hot")[5], 1, "in one filter")
same(c("CF.ADDNX", "hot", "x"), 0, "CF.ADDNX finds it")
same([c("CF.DEL", "hot", "x") for _ in range(199)], [1] * 199, "199 are deleted")
same(c("CF.EXISTS", "hot", "x"), 1, "one is left")
same((c("CF.DEL", "hot", "x"), c("CF.EXISTS", "hot", "x"), c("CF.DEL", "hot", "x")), (1, 0, 0),
     "it goes, and no more")
# A bucket of one slot holds one copy; its neighbours must not be lost to it.
c("CF.RESERVE", "narrow", 100, "BUCKETSIZE", 1)
c("CF.INSERT", "narrow", "ITEMS", *(["y"] * 1000 + list(range(30))))
same(c("CF.COUNT", "narrow", "y"), 1000, "buckets of one slot")
same(c("CF.MEXISTS", "narrow", *range(30)).count(0), 0, "and the items beside it")
c("CF.RESERVE", "fixed", 8, "EXPANSION", 0)
same(c("CF.INSERT", "fixed", "ITEMS", *["z"] * 500).count(1), 500, "a filter that cannot grow")
same(c("CF.COUNT", "fixed", "z"), 500, "counts them as well")


def filled(key, items):
    for i in range(0, len(items), 5000):
        got = c("CF.INSERT", key, "ITEMS", *items[i:i + 5000])
        if got.count(1) != len(got):
            return ok(False, "every item is taken", got[-1])
    return c("MEMORY", "USAGE", key)


# A million adds, half of them one item; then a thousand items that come often.
n = 500000
plain = filled("distinct", range(n))
stream = list(range(n)) + ["hot"] * n
random.Random(1).shuffle(stream)
skewed = filled("skewed", stream)
ok(skewed <= 2 * plain, "half of a million adds are one item: %.2f times the memory of the "
   "distinct ones" % (skewed / plain))
same(c("CF.COUNT", "skewed", "hot"), n, "which is counted to the last")
same(c("CF.MEXISTS", "skewed", *range(0, n, 100)).count(0), 0, "no other item is lost")
c("DEL", "distinct", "skewed")
plain = filled("distinct", range(20000))
often = [i // 2 % (1000 if i % 2 else 20000) for i in range(40000)]
mixed = filled("mixed", often)
ok(mixed <= 2 * plain, "a thousand items that come twenty times: %.2f times" % (mixed / plain))
# Fingerprints of 16 bits: few of these share one with another.
wrong = sum(c("CF.COUNT", "mixed", i) != 21 for i in range(1000))
ok(wrong < 20, "each has its count (%d share a fingerprint)" % wrong)

want = c("DEBUG", "DIGEST-VALUE", "mixed")
same(c("RESTORE", "restored", 0, c("DUMP", "mixed")), Simple("OK"), "dumped and restored")
c("COPY", "mixed", "copied")
it = 0
while True:
    it, data = c("CF.SCANDUMP", "mixed", it)
    if it == 0:
        break
    c("CF.LOADCHUNK", "loaded", it, data)
for key in ("restored", "copied", "loaded"):
    same(c("DEBUG", "DIGEST-VALUE", key), want, "equal: " + key)
    for _ in range(21):
        c("CF.DEL", key, 7)
    same(c("CF.COUNT", key, 7), c("CF.COUNT", "mixed", 7) - 21, "and its copies can be deleted")
c("WAIT", 1, 120000)
same(d("DEBUG", "DIGEST"), c("DEBUG", "DIGEST"), "the replica is equal")
want = c("DEBUG", "DIGEST")
c("BGREWRITEAOF")
until(lambda: c.info("aof_rewrite_in_progress") == "0" and c.info("aof_rewrite_scheduled") == "0")
s.restart()
same(s.client()("DEBUG", "DIGEST"), want, "and so is the server after a restart")
done()
