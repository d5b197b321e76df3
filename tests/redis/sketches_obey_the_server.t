#!/usr/bin/python3
"""Sketches in RESP3, within the memory limits, in MEMORY USAGE, INFO and COMMAND; large
ones are freed in the background."""
import math
from redis_servers import *
from sketch_keys import fill

s = Server("--bf.bloom-memory-usage-limit", "4mb")
c = s.client()
c3 = s.client()
c3("HELLO", "3")
fill(c, 500)

print("# RESP3")
same(c3("CMS.INFO", "cms:dim"), Map({"width": 500, "depth": 18, "count": 1000}), "CMS.INFO")
same(c3("CMS.INCRBY", "cms:full", "y", 0, "x", 1)[1], Err("CMS: INCRBY overflow"),
     "an error among answers")
same(c3("TOPK.INFO", "topk:wide"),
     Map({"k": 50, "width": 500, "depth": 5, "decay": 0.7}), "TOPK.INFO")
same(c3("TOPK.QUERY", "topk:bytes", b"a\0b", "absent"), [True, False], "TOPK.QUERY: booleans")
same(c3("TOPK.ADD", "topk:empty", "a", "b"), [None, None], "TOPK.ADD: nulls")
same(c3("TOPK.LIST", "topk:empty", "with"), [b"a", 1, b"b", 1], "TOPK.LIST is flat")
same(c3("TDIGEST.INFO", "tdigest:empty")["Capacity"], 610, "TDIGEST.INFO is a map")
same(c3("TDIGEST.MIN", "tdigest:one"), -7.5, "TDIGEST.MIN: a double")
same(c3("TDIGEST.BYRANK", "tdigest:one", 0, 1), [-7.5, math.inf], "TDIGEST.BYRANK: infinity")
ok(math.isnan(c3("TDIGEST.MAX", "tdigest:empty")), "TDIGEST.MAX of nothing is not a number")

print("# one value, where RedisBloom's older library answers nan")
same(c3("TDIGEST.QUANTILE", "tdigest:one", 0, "0.5", 1), [-7.5] * 3, "its quantiles")
same(c3("TDIGEST.CDF", "tdigest:one", "-7.5"), [0.5], "its share")
same((c("TDIGEST.RANK", "tdigest:one", "-7.5"), c("TDIGEST.REVRANK", "tdigest:one", "-7.5")),
     ([0], [0]), "its ranks")

print("# limits")
same(c("CMS.INITBYDIM", "x", 2000000, 1), Err("CMS: Insufficient memory to create the key"),
     "a sketch above the limit is refused")
same(c("CMS.INITBYDIM", "x", 2**62, 1), Err("CMS: Insufficient memory to create the key"),
     "so is one above all memory")
same(c("TOPK.RESERVE", "x", 4000000000),
     Err("ERR Insufficient memory to create topk data structure"), "a list")
same(c("TOPK.RESERVE", "x", 1, 4000000000, 4000000000, "0.9"),
     Err("ERR Insufficient memory to create topk data structure"), "and its buckets")
same(c("TDIGEST.CREATE", "x", "COMPRESSION", 357913939),
     Err("ERR T-Digest: allocation failed"), "a digest")
same(c("EXISTS", "x"), 0, "and nothing is made")

print("# memory")
c("DEL", "big")
c("CMS.INITBYDIM", "big", 1000000, 1)
used = c("MEMORY", "USAGE", "big")
ok(4000000 <= used < 4001000, "MEMORY USAGE tells the cells", used)
before = c("MEMORY", "USAGE", "topk:wide")
c("TOPK.INCRBY", "topk:wide", "x" * 100000, 100000)
ok(c("MEMORY", "USAGE", "topk:wide") >= before + 99000, "and the items of a list")
small, large = c("MEMORY", "USAGE", "tdigest:empty"), c("MEMORY", "USAGE", "tdigest:fine")
ok(small < 1000 < large, "a digest grows with its values", (small, large))
total = sum(c("MEMORY", "USAGE", k, "SAMPLES", 0) for k in c("KEYS", "cms:*") + ["big"])
ok(0.5 * total < int(c.info("bf_cms_total_memory_bytes")) < total, "INFO adds them up")
freed = int(c.info("lazyfreed_objects"))
c("UNLINK", "big")
ok(until(lambda: int(c.info("lazyfreed_objects")) > freed), "UNLINK frees in the background")
n = int(c.info("bf_topk_num_objects"))
c("DEL", "topk:bytes")
same(c.info("bf_topk_num_objects"), str(n - 1), "INFO counts down")

print("# COMMAND")
same(c("COMMAND", "GETKEYS", "TDIGEST.MERGE", "d", 2, "a", "b", "OVERRIDE"), [b"d", b"a", b"b"],
     "the sources of TDIGEST.MERGE are keys")
c("ACL", "SETUSER", "limited", "on", "nopass", "+@all", "~cms:dim", "~tdigest:one")
l = s.client()
l("AUTH", "limited", "x")
ok(l("CMS.MERGE", "cms:dim", 1, "cms:prob").startswith("NOPERM"),
   "a user sees no sketch beyond its keys: CMS.MERGE")
ok(l("TDIGEST.MERGE", "tdigest:one", 1, "tdigest:fine").startswith("NOPERM"), "TDIGEST.MERGE")
same(l("CMS.QUERY", "cms:dim", "absent"), [0], "and sees its own")
for name, arity, flag in (("cms.incrby", -4, "write"), ("topk.list", -2, "readonly"),
                          ("tdigest.trimmed_mean", 4, "readonly")):
    row = c("COMMAND", "INFO", name)[0]
    ok(row and row[1] == arity and flag in row[2], "COMMAND INFO " + name, row)
    ok(c("COMMAND", "DOCS", name), "COMMAND DOCS " + name)
done()
