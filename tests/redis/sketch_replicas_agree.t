#!/usr/bin/python3
"""A replica's sketches equal its master's, whatever the random draws, and whichever answers."""
from redis_servers import *
from sketch_keys import answers, fill

m = Server()
r = Server("--replicaof", "127.0.0.1 %d" % m.port, "--bf.bloom-memory-usage-limit", "100")
c, d = m.client(), r.client()
ok(until(lambda: d.info("master_link_status") == "up"), "the replica is connected")


def equal(words):
    c("WAIT", 1, 120000)
    a, b = c("DEBUG", "DIGEST"), d("DEBUG", "DIGEST")
    ok(a == b and a != "0" * 40, "equal digests: " + words, (a, b))


fill(c)
equal("every sketch")
# Two rows of two buckets: nearly every add draws, and wears a stranger down.
c("TOPK.RESERVE", "topk:small", 3, 2, 2, "0.9")
for i in range(200):
    c("TOPK.ADD", "topk:small", *["%d" % (i * j % 31) for j in range(20)])
    c("TOPK.INCRBY", "topk:small", "heavy", i * 37 % 1000, "i%d" % i, i)
equal("a top-k list that draws at every step")
same(d("TOPK.LIST", "topk:small", "WITHCOUNT"), c("TOPK.LIST", "topk:small", "WITHCOUNT"),
     "with the same list")
same(answers(d), answers(c), "and the same answers to every question")
c("CMS.INCRBY", "cms:full", "x", 1)
ok(isinstance(c("TOPK.INCRBY", "topk:usual", "a", 5, "b", -1, "c", 5)[1], Err),
   "a command that fails half-way")
equal("what was done of it")
got = c("TOPK.INCRBY", "topk:usual", "b", "many")
ok(isinstance(got[0], Err) and len(got) == 1, "and an increment that is not a number", got)
same(c("TOPK.INCRBY", "topk:usual", "a", 1, "b", 100001, "c", 1)[2], None,
     "whose rest is answered with null, so that no client waits")
before = int(c.info("master_repl_offset"))
for _ in range(100):
    answers(c)
    c("CMS.MERGE", "cms:dim", 1, "cms:prob")
    c("TDIGEST.ADD", "tdigest:usual", "x")
grown = int(c.info("master_repl_offset")) - before
ok(grown < 1000, "questions and refusals are not propagated: %d bytes" % grown)
# A question to a digest merges its values where it is asked: from then on the nodes of
# master and replica differ, as RedisBloom's do, and their answers stay as good.
for i in range(0, 5000, 50):
    c("TDIGEST.ADD", "tdigest:one", *[(i + j) * 37 % 5003 for j in range(50)])
    c("TDIGEST.CDF", "tdigest:one", 1)
c("WAIT", 1, 120000)
info = [x("TDIGEST.INFO", "tdigest:one")[12:14] for x in (c, d)]
ends = [(x("TDIGEST.MIN", "tdigest:one"), x("TDIGEST.MAX", "tdigest:one")) for x in (c, d)]
ok(info[0] == info[1] and ends[0] == ends[1], "count and ends of a digest are equal",
   (info, ends))
both = [[float(v) for v in x("TDIGEST.QUANTILE", "tdigest:one", ".01", ".5", ".9")]
        for x in (c, d)]
ok(all(abs(a - b) < 0.02 * 5003 for a, b in zip(*both)), "its quantiles are close", both)
c("DEL", "tdigest:one")
c("TDIGEST.RESET", "tdigest:fine")
equal("a digest that was emptied")
s3 = Server("--replicaof", "127.0.0.1 %d" % m.port)
e = s3.client()
until(lambda: e.info("master_link_status") == "up")
same(e("DEBUG", "DIGEST"), c("DEBUG", "DIGEST"), "a new replica gets all by RDB")
for i in range(100):
    c("TOPK.ADD", "topk:small", *range(i, i + 20))
c("WAIT", 2, 120000)
same(e("DEBUG", "DIGEST"), c("DEBUG", "DIGEST"), "and goes on drawing as its master does")
same(d("CMS.INCRBY", "cms:dim", "x", 1)[:8], "READONLY", "a replica takes nothing of its own")
done()
