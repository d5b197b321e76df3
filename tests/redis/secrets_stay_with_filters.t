#!/usr/bin/python3
"""Fast filters hash with a secret that no other server has, and that stays with them:
over restarts, failovers, DUMP and the append-only file. Filters of one server can be
merged, those of two cannot, and filters of earlier versions are still read."""
import base64
import struct
from redis_servers import *


def secret(c, key):
    """What the first chunk says: its form, and the two words."""
    head = c("BF.SCANDUMP", key, 0)[1]
    return head[:7], struct.unpack("<Q", head[64:72])[0], struct.unpack("<Q", head[88:96])[0]


a, b = Server(), Server()
c, d = a.client(), b.client()
for x in (c, d):
    x("BF.MADD", "{k}one", *range(100))
    x("BF.RESERVE", "{k}two", "0.001", 500)
    x("BF.MADD", "{k}two", *range(100, 300))
    x("CF.INSERT", "{k}cf", "ITEMS", *range(500))
mine = secret(c, "{k}one")
ok(mine[0] == b"seenBF2" and mine[1] and mine[2], "a new filter has a secret of 128 bits", mine)
same(secret(c, "{k}two"), mine, "filters of a server share it")
ok(secret(d, "{k}one")[1:] != mine[1:], "and another server has another one")
ok(c("CF.SCANDUMP", "{k}cf", 0)[1][:7] == b"seenCF3", "cuckoo filters have it too")
ok(c("CF.SCANDUMP", "{k}cf", 0)[1] != d("CF.SCANDUMP", "{k}cf", 0)[1], "each server's its own")
c("BF.MERGE", "{k}both", "{k}one", "{k}two")
same(sum(c("BF.MEXISTS", "{k}both", *range(300))), 300, "filters of one server can be merged")
d("RESTORE", "{k}guest", 0, c("DUMP", "{k}one"))
same(sum(d("BF.MEXISTS", "{k}guest", *range(100))), 100, "a restored filter brings its secret")
got = d("BF.MERGE", "{k}x", "{k}one", "{k}guest")
ok(isinstance(got, Err) and "SEED" in got, "filters of two servers cannot, and the error says what to do", got)
word = "0123456789abcdef0123456789abcdef"
for x in (c, d):
    x("BF.INSERT", "{k}given", "SEED", word, "ITEMS", *range(50))
same(secret(c, "{k}given"), secret(d, "{k}given"), "a given SEED is the same everywhere")
d("RESTORE", "{k}theirs", 0, c("DUMP", "{k}given"))
ok(not isinstance(d("BF.MERGE", "{k}y", "{k}given", "{k}theirs"), Err), "and then they can be merged")
c("CONFIG", "SET", "bf.bloom-use-random-seed", "yes")
c("BF.ADD", "{k}own", "x")
ok(secret(c, "{k}own")[1:] != mine[1:], "bloom-use-random-seed: each filter its own")

# Restarts and failovers go on with the same secret.
for how, options in (("an RDB file", ()), ("an append-only file", ("--appendonly", "yes")),
                     ("one without an RDB part", ("--appendonly", "yes", "--aof-use-rdb-preamble", "no"))):
    s = Server(*options)
    x = s.client()
    x("BF.MADD", "{k}old", *range(100))
    if "no" in options:
        x("BGREWRITEAOF")
        until(lambda: x.info("aof_rewrite_in_progress") == "0")
    if not options:
        x("SAVE")
    before = secret(x, "{k}old")
    s.restart()
    x = s.client()
    x("BF.MADD", "{k}new", *range(100, 200))
    same((secret(x, "{k}old"), secret(x, "{k}new")), (before, before), "after a restart from " + how)
    x("BF.MERGE", "{k}m", "{k}old", "{k}new")
    same(sum(x("BF.MEXISTS", "{k}m", *range(200))), 200, "and old and new ones can be merged")
    s.kill()
m = Server()
r = Server("--replicaof", "127.0.0.1 %d" % m.port)
x, y = m.client(), r.client()
until(lambda: y.info("master_link_status") == "up")
x("CF.ADD", "{k}cf", "x")
x("BF.ADD", "{k}old", "x")
x("WAIT", 1, 120000)
y("REPLICAOF", "NO", "ONE")
y("BF.ADD", "{k}new", "y")
same(secret(y, "{k}new"), secret(x, "{k}old"), "a replica that becomes master goes on with its master's")

# DUMPs of the version that hashed with XXH3.
old = {
    "b": "B4Gx56duWiiYAQXDQFRAmAlzZWVuQkYxCgEAgAAABoAGAQAUIANAAAd7FK5H4XqEP8APAAJAFOAaAAAIICNgK2AEAgAAQCADQADAR8AHB/p"
         "+arx0k2g/QBtAAAeQu34zXfkoaAVAQKCFAQRRBAaFjCGAhDIsEABgUwQgwmAUMCEIykBDJEhRkACJgIIG3MRwEEHIYBJDwVpWdBREAAJA"
         "WaCQAMCcOgAACgBqKelb7n2pXQ==",
    "c": "B4Gx56dy5ySgAQXDL0BYCXNlZW5DRjEKAQCAAAAKgAbgAAAACKAJAASgBwAUoAfAL8AAwCcHi2ayRsVUMy4FwypAQARY8XJ+AOACAAP6"
         "hWiy4AIOCgBVEPB0DUrqSxSjIAzgAgABP4BADAEAAAAKAP4YJbo4HSyb",
    "h": "B4Gx56dy5ySgAQXDOUBoCXNlZW5DRjIKAQCAAAAUgAbgAAAACKAJAASgB8AfwC/AAMAnCBHNsoBkbPDqEKAYB0J0fgTLIDzZBcMUQEAB"
         "AADgBQABEc2AAeAFFeAPAAEAAAAKADxJZJBMzL3D",
}
for k in old:
    ok(c("RESTORE", "{o}" + k, 0, base64.b64decode(old[k])) == "OK", "an older filter is read: " + k)
same(sum(c("BF.MEXISTS", "{o}b", *range(20))), 20, "BF: its items are there")
c("BF.MADD", "{o}b", *range(20, 200))
same(sum(c("BF.MEXISTS", "{o}b", *range(200))), 200, "it takes more, and grows")
ok(c("BF.SCANDUMP", "{o}b", 0)[1][:7] == b"seenBF1", "and keeps its form")
same(sum(c("CF.MEXISTS", "{o}c", *range(10))), 10, "CF: its items are there")
same(c("CF.COUNT", "{o}h", "x"), 20, "and its counts")
c("RESTORE", "{o}again", 0, c("DUMP", "{o}h"))
same(c("CF.COUNT", "{o}again", "x"), 20, "written and read again")
done()
