#!/usr/bin/python3
"""A filter in pieces: one key to its users, several keys that each can be moved. In a
cluster its slot moves piece by piece while items are added and asked for."""
import threading
from redis_cluster import *

s = Server("--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", "no")
r = Server("--replicaof", "127.0.0.1 %d" % s.port, "--bf.bf-initial-size", "7")
c, d = s.client(), r.client()
until(lambda: d.info("master_link_status") == "up")
same(c("BF.RESERVE", "p", "0.01", 10000, "PIECES", 1),
     Err("ERR pieces must be in the range [2, 1024]"), "a single piece is refused")
same(c("BF.RESERVE", "p", "0.01", 10000, "PIECES", 4, "LAYOUT", "compat"),
     Err("ERR pieces need the fast layout and no window"), "not in RedisBloom's layout")
ok(c("BF.RESERVE", "a}b", "0.01", 10000, "PIECES", 4).startswith("ERR this name"),
   "not for a name that has no slot for pieces")
same(c("BF.RESERVE", "p", "0.01", 10000, "PIECES", 4), Simple("OK"), "four pieces")
same(sorted(c("KEYS", "*")), [b"p"] + [b"{p}/%d" % i for i in range(4)], "are four keys")
same(c("BF.MADD", "p", 1, 2, 3, 1), [1, 1, 1, 0], "BF.MADD in order")
same(c("BF.ADD", "p", 1), 0, "BF.ADD")
same(sum(c("BF.MADD", "p", *range(10, 10010))) > 9900, True, "ten thousand items")
same(c("BF.MEXISTS", "p", *range(10, 10010)).count(0), 0, "all are there")
wrong = sum(c("BF.MEXISTS", "p", *range(10**6, 10**6 + 50000)))
ok(wrong < 634, "the error is what was asked for: %d of 50000" % wrong)  # 500 + 6 sigma
same(c("BF.CARD", "p"), c("BF.INFO", "p", "ITEMS")[0], "BF.CARD and BF.INFO add them up")
ok(c("BF.INFO", "p", "CAPACITY")[0] >= 10000 and c("BF.INFO", "p", "FILTERS")[0] >= 4,
   "so does the rest")
same(c("BF.MADD", "p", *range(20000, 60000)).count(1) > 39000, True, "pieces grow")
same(c("BF.MEXISTS", "p", *range(20000, 60000)).count(0), 0, "and lose nothing")
ok(c("BF.SCANDUMP", "p", 0).startswith("ERR not for a filter in pieces"), "no dump of the whole")
c("BF.INSERT", "q", "NONSCALING", "CAPACITY", 100, "PIECES", 2)
got = c("BF.MADD", "q", *range(1000))
same(got[-1], Err("ERR non scaling filter is full"), "a full one says so")
same(c("BF.INSERT", "{t}x", "PIECES", 3, "ITEMS", "a"), [1], "made by BF.INSERT, with a tag")
same(c("EXISTS", "{t}x/0"), 1, "that its pieces share")
c("WAIT", 1, 120000)
same(d("DEBUG", "DIGEST"), c("DEBUG", "DIGEST"), "the replica is equal")
same(d("BF.MEXISTS", "p", *range(20000, 60000)).count(0), 0, "and answers")
digest = c("DEBUG", "DIGEST")
c("BGREWRITEAOF")
until(lambda: c.info("aof_rewrite_in_progress") == "0"
      and c.info("aof_rewrite_scheduled") == "0")
s.kill()
s.start()
c = s.client()
same(c("DEBUG", "DIGEST"), digest, "the append-only file brings it back")
c("CONFIG", "SET", "appendonly", "no")
c("SAVE")
s.restart()
c = s.client()
same(c("DEBUG", "DIGEST"), digest, "and so does the RDB")
same(c("RENAME", "p", "renamed"), Simple("OK"), "it can be renamed")
same(c("BF.EXISTS", "renamed", 10), 1, "and finds its pieces")
c("UNLINK", "{p}/2")
same(set(str(x) for x in [c("BF.MADD", "renamed", *range(100))]),
     {"ERR a piece of this filter is missing: it was deleted or evicted"},
     "a lost piece is an error")
same(c("BF.DROP", "renamed"), 1, "BF.DROP")
same(c("KEYS", "{p}*"), [], "takes the pieces along")
same(c("BF.DROP", "renamed"), 0, "once")

print("# pieces belong to one filter, and only to users who may access them")
c("BF.RESERVE", "p", "0.01", 1000, "PIECES", 3)
c("BF.MADD", "p", *range(500))
c("RENAME", "p", "q")
got = c("BF.RESERVE", "p", "0.01", 1000, "PIECES", 3)
same(got, Err("ERR key {p}/0 exists and a piece needs it: delete it, or choose another name"),
     "a new filter does not take the pieces of a renamed one")
same(c("EXISTS", "p"), 0, "and is not created")
same(c("BF.MEXISTS", "q", *range(500)).count(0), 0, "whose items are all there")
c("SET", "{r}/1", "mine")
ok(c("BF.RESERVE", "r", "0.01", 1000, "PIECES", 3).startswith("ERR key {r}/1 exists"),
   "a key of somebody else is not replaced")
same((c("GET", "{r}/1"), c("EXISTS", "{r}/0")), (b"mine", 0), "nor any piece made beside it")
c("RENAME", "{p}/0", "kept")
c("BF.RESERVE", "{p}/0", "0.01", 1000)
ok(str(c("BF.MADD", "q", *range(500))).startswith("ERR a piece of this filter is missing"),
   "another filter under the name of a piece is not a piece")
same(c("BF.CARD", "{p}/0"), 0, "and gets no items")
c("RENAME", "kept", "{p}/0")
c("ACL", "SETUSER", "limited", "on", "nopass", "~q", "~new", "+@all")
c("ACL", "SETUSER", "reader", "on", "nopass", "%RW~q", "%R~{p}/*", "+@all")
u = s.client()
u("AUTH", "limited", "any")
for line in ("BF.ADD q x", "BF.MEXISTS q 1 2 3", "BF.CARD q", "BF.INFO q", "BF.DROP q",
             "BF.RESERVE new 0.01 1000 PIECES 3", "BF.INSERT new PIECES 3 ITEMS a"):
    ok(str(u.line(line)).startswith("NOPERM"), "a user of ~q alone: " + line)
u("AUTH", "reader", "any")
same(u("BF.EXISTS", "q", 1), 1, "a user who may read the pieces may ask")
ok(str(u("BF.ADD", "q", "x")).startswith("NOPERM"), "but not add")
same(c("BF.EXISTS", "q", "x"), 0, "nothing was added")
same((c("BF.DROP", "q"), c("KEYS", "{p}*")), (1, []), "BF.DROP finds all pieces")
c("DEL", "{r}/1")

print("# in a cluster")
k = Cluster()
k("BF.RESERVE", "big", "0.001", 100000, "PIECES", 6)
N = 20000
for i in range(0, N, 1000):
    k("BF.MADD", "big", *range(i, i + 1000))
again = added = 0
stop = threading.Event()


def work():
    """Another client, which knows TRYAGAIN as all clients of a cluster do."""
    global again, added
    mine = Cluster.__new__(Cluster)
    mine.nodes, mine.clients = k.nodes, {}
    while not stop.is_set():
        got = mine("BF.MADD", "big", *range(N + added, N + added + 10))
        if isinstance(got, Err):
            print("#", got)
            break
        added += 10


t = threading.Thread(target=work)
t.start()
source = k.owner("big")
to = next(m for m in k.masters() if m is not source)
# Half way: some pieces here, some there.
n = slot("big")
a, b = k.at(source.port), k.at(to.port)
b("CLUSTER", "SETSLOT", n, "IMPORTING", a("CLUSTER", "MYID"))
a("CLUSTER", "SETSLOT", n, "MIGRATING", b("CLUSTER", "MYID"))
for i in (0, 3):
    same(a("MIGRATE", "127.0.0.1", to.port, "{big}/%d" % i, 0, 10000), Simple("OK"),
         "piece %d moves" % i)
got = a("BF.MADD", "big", *range(100))
ok(isinstance(got, Err) and got.startswith("TRYAGAIN"), "half way the answer is TRYAGAIN", got)
same(k.move("big", to), "OK", "the rest of the slot moves")
before = added
ok(until(lambda: added > before + 50), "the other client goes on")
stop.set()
t.join()
lost = 0
for i in range(0, N + added, 1000):
    lost += k("BF.MEXISTS", "big", *range(i, min(i + 1000, N + added))).count(0)
same(lost, 0, "every item of %d is there after the move" % (N + added))
done()
