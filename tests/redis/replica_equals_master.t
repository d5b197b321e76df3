#!/usr/bin/python3
"""A replica is equal to its master, whatever its own settings, by effect and not by
luck."""
from redis_servers import *

m = Server()
r = Server("--replicaof", "127.0.0.1 %d" % m.port, "--bf.bf-initial-size", "5000",
           "--bf.bf-error-rate", "0.1", "--bf.layout", "compat",
           "--bf.bloom-tightening-ratio", "0.9", "--bf.cf-bucket-size", "7",
           "--bf.cf-max-expansions", "1", "--bf.bloom-memory-usage-limit", "100",
           "--bf.bloom-use-random-seed", "yes")
c, d = m.client(), r.client()
ok(until(lambda: d.info("master_link_status") == "up"), "the replica is connected")


def equal(words):
    c("WAIT", 1, 120000)
    a, b = c("DEBUG", "DIGEST"), d("DEBUG", "DIGEST")
    ok(a == b and a != "0" * 40, "equal digests: " + words, (a, b))


for layout in ("fast", "compat"):
    c("CONFIG", "SET", "bf.layout", layout)
    k = lambda n: "{%s}%s" % (layout, n)
    c("BF.ADD", k("auto"), "x")
    equal("a filter made by BF.ADD, " + layout)
    for i in range(0, 3000, 100):
        c("BF.MADD", k("auto"), *range(i, i + 100))
    equal("and grown")
    c("BF.RESERVE", k("fixed"), "0.001", 100, "NONSCALING")
    c("BF.MADD", k("fixed"), *range(200))
    equal("a full one")
    c("BF.INSERT", k("ins"), "CAPACITY", 50, "ERROR", "0.3", "EXPANSION", 4, "ITEMS",
      *range(500))
    equal("BF.INSERT")
    c("BF.MERGE", k("union"), k("auto"), k("ins"))
    equal("BF.MERGE")
    c("CF.ADD", k("cf"), "x")
    c("CF.INSERT", k("cf"), "ITEMS", *range(3000))
    c("CF.INSERTNX", k("cf"), "ITEMS", *range(2000, 4000))
    equal("cuckoo")
    c("CONFIG", "SET", "bf.cf-max-expansions", "2")
    c("CF.INSERT", k("cfull"), "CAPACITY", 16, "ITEMS", *range(3000))
    c("CONFIG", "SET", "bf.cf-max-expansions", "32")
    equal("a cuckoo filter that may not grow further")
    for i in range(1000):
        c("CF.DEL", k("cf"), i)
    c("CF.COMPACT", k("cf"))
    equal("deleted and compacted")
    c("BF.RESERVE", k("seen"), "0.01", 100)
    it = 0
    while True:
        it, data = c("BF.SCANDUMP", k("auto"), it)
        if it == 0:
            break
        c("BF.LOADCHUNK", k("loaded"), it, data)
    equal("loaded in chunks")
c("CONFIG", "SET", "bf.bloom-use-random-seed", "yes")
c("BF.MADD", "random", *range(1000))
equal("a random seed")
c("CONFIG", "SET", "bf.layout", "fast")
c("BF.RESERVE", "w", "0.01", 100, "WINDOW", 1)
for i in range(16):
    c("BF.MADD", "w", *range(i * 50, i * 50 + 50))
    time.sleep(0.1)
equal("a window that moved on")
for tries in range(60):  # until we are quicker than the window
    begin = time.time()
    c("BF.MADD", "w", *range(750, 800))
    c("WAIT", 1, 120000)
    got = d("BF.MEXISTS", "w", *range(750, 800)).count(0)
    if time.time() - begin < 0.9:
        break
same(got, 0, "reads on the replica")
c("CONFIG", "SET", "bf.bloom-memory-usage-limit", "20000")
c("BF.RESERVE", "limited", "0.01", 1000)
got = c("BF.MADD", "limited", *range(100000))
ok(isinstance(got[-1], Err), "the master stops at its limit", got[-1])
equal("a filter that reached the master's limit")
same(d("BF.ADD", "w", "x")[:8], "READONLY", "a replica takes no items of its own")

before = int(c.info("master_repl_offset"))
for _ in range(100):
    c("BF.MADD", "{fast}auto", *range(3000))
    c("CF.ADDNX", "{fast}cf", 3500)
    c("CF.DEL", "{fast}cf", "never added")
grown = int(c.info("master_repl_offset")) - before
# The link itself pings now and then.
ok(grown < 1000, "nothing is propagated when nothing changed: %d bytes" % grown)
s3 = Server("--replicaof", "127.0.0.1 %d" % m.port)
e = s3.client()
until(lambda: e.info("master_link_status") == "up")
same(e("DEBUG", "DIGEST"), c("DEBUG", "DIGEST"), "a new replica gets all by RDB")
d("REPLICAOF", "NO", "ONE")
same(d("BF.MEXISTS", "{fast}auto", *range(3000)).count(0), 0, "promoted, it has every item")
same(d("BF.ADD", "{fast}auto", "after"), 1, "and takes new ones")
done()
