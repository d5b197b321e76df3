#!/usr/bin/python3
"""RESTORE and LOADCHUNK create no filter that BF.RESERVE or CF.RESERVE would refuse: a
payload of a few bytes cannot make the server take more memory than its limit allows.
Files and masters are believed: what was allowed once loads again."""
import struct
from redis_servers import *

s = Server("--appendonly", "yes", args=["bloom-memory-usage-limit", 1 << 20])
c = s.client()
OVER = "ERR operation exceeds bloom object memory limit"
for layout in ("fast", "compat"):
    c("CONFIG", "SET", "bf.layout", layout)
    k = lambda n: layout + n
    same(c("BF.RESERVE", k("b"), "0.01", 2000000), Err(OVER), "BF.RESERVE refuses, " + layout)
    c("CONFIG", "SET", "bf.bloom-memory-usage-limit", 1 << 30)
    c("BF.RESERVE", k("b"), "0.01", 2000000)
    c("BF.ADD", k("b"), "x")
    c("CF.RESERVE", k("c"), 4000000)
    c("CF.ADD", k("c"), "x")
    dumps = {n: c("DUMP", k(n)) for n in "bc"}
    heads = {"b": c("BF.SCANDUMP", k("b"), 0)[1], "c": c("CF.SCANDUMP", k("c"), 0)[1]}
    c("CONFIG", "SET", "bf.bloom-memory-usage-limit", 1 << 20)
    for n in "bc":
        got = c("RESTORE", "new", 0, dumps[n])
        ok(str(got).startswith("ERR Bad data format"), "RESTORE of a %s as large as that" % n, got)
        got = c(n.upper() + "F.LOADCHUNK", "new", 1, heads[n])
        ok(isinstance(got, Err), "LOADCHUNK of its header: " + str(got), got)
        same(c("EXISTS", "new"), 0, "creates nothing")

# RedisBloom's header: size, links, options, growth; a link of 53 bytes.
link = struct.pack("<QQQddIQB", 8, 64, 0, 0.01, 9.585, 7, 5, 0)
same(c("BF.LOADCHUNK", "new", 1, struct.pack("<QIII", 0, 1, 5, 32769) + link),
     Err("ERR received bad data"), "an expansion beyond 32768")
same(c("BF.LOADCHUNK", "new", 1, struct.pack("<QIII", 0, 1, 5, 32768) + link),
     Simple("OK"), "32768 is allowed")
c("DEL", "new")
link = struct.pack("<QQQddIQB", 8, 64, 0, 0.01, 9.585, 7, (1 << 30) + 1, 0)
same(c("BF.LOADCHUNK", "new", 1, struct.pack("<QIII", 0, 1, 5, 2) + link),
     Err("ERR received bad data"), "a capacity beyond 2^30")
before = int(c.info("used_memory"))
head = struct.pack("<QQQQHHH", 1, 1 << 34, 0, 1, 2, 20, 1)
ok(isinstance(c("CF.LOADCHUNK", "new", 1, head), Err), "38 bytes that ask for 32 GB")
ok(int(c.info("used_memory")) - before < 1 << 20, "take no memory")

r = Server("--replicaof", "127.0.0.1 %d" % s.port, args=["bloom-memory-usage-limit", 1000])
d = r.client()
until(lambda: d.info("master_link_status") == "up")
c("CONFIG", "SET", "bf.bloom-memory-usage-limit", 1 << 30)
same(c("RESTORE", "again", 0, dumps["b"]), Simple("OK"), "within the limit it is restored")
c("WAIT", 1, 120000)
same(d("BF.EXISTS", "again", "x"), 1, "and a replica with a lower limit follows")
want = c("DEBUG", "DIGEST")
s.restart()
same(s.client()("DEBUG", "DIGEST"), want, "the append-only file loads whatever it holds")
done()
