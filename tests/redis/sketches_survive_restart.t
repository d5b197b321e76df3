#!/usr/bin/python3
"""Sketches survive: RDB, append-only file and its rewrite in every database, kill -9
during appends, DUMP, RESTORE and COPY. What is written is in RedisBloom's words."""
import random
import threading
from redis_servers import *
from sketch_keys import answers, fill

random.seed(9)
DATABASES = (0, 3)


def fill_all(c):
    for db in DATABASES:
        c("SELECT", db)
        fill(c)
    c("SELECT", 0)


def state(c):
    out = []
    for db in DATABASES:
        c("SELECT", db)
        out.append(answers(c))
    c("SELECT", 0)
    return out


print("# RDB")
s = Server()
c = s.client()
fill_all(c)
digest, before = c("DEBUG", "DIGEST"), state(c)
same(c("DEBUG", "DIGEST"), digest, "questions leave the digest alone")
ok(all(isinstance(a, list) for v in before[0].values() for a in v if not isinstance(a, bytes)),
   "every question is answered")
c("SAVE")
s.kill()
s.start()
c = s.client()
same(c("DEBUG", "DIGEST"), digest, "after SAVE and kill -9 the digest is the same")
same(state(c), before, "and so is every answer")
for family, n in (("cms", 8), ("topk", 8), ("tdigest", 10)):
    same(c.info("bf_%s_num_objects" % family), str(n), "INFO counts the keys of " + family)

print("# DUMP, RESTORE, COPY")
bad = []
for k in c("KEYS", "*"):
    value = c("DEBUG", "DIGEST-VALUE", k)
    if c("RESTORE", b"r:" + k, 0, c("DUMP", k)) != "OK" or \
            c("DEBUG", "DIGEST-VALUE", b"r:" + k) != value:
        bad.append(k)
    if c("COPY", k, b"c:" + k) != 1 or c("DEBUG", "DIGEST-VALUE", b"c:" + k) != value:
        bad.append(k)
    if c("DEBUG", "DIGEST-VALUE", k) != value:
        bad.append(k)
same(bad, [], "every sketch can be dumped, restored and copied, and stays as it was")
c("CMS.INCRBY", "c:cms:dim", "only in the copy", 1000000)
c("TOPK.INCRBY", "c:topk:usual", "only in the copy", 100000)
c("TDIGEST.ADD", "c:tdigest:usual", 10**9)
ok(c("CMS.QUERY", "cms:dim", "only in the copy")[0] < 1000000
   and c("TOPK.QUERY", "topk:usual", "only in the copy") == [0]
   and float(c("TDIGEST.MAX", "tdigest:usual")) < 10**9, "a copy is independent")

print("# append-only file")
a = Server("--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", "no",
           "--bf.layout", "compat")
c = a.client()
fill_all(c)
digest, before = c("DEBUG", "DIGEST"), state(c)
a.kill()
a.start()
c = a.client()
same(c("DEBUG", "DIGEST"), digest, "the log of commands replays to the same digest")
c("PEXPIREAT", "cms:full", 33333333333333)
digest = c("DEBUG", "DIGEST")
c("BGREWRITEAOF")
until(lambda: c.info("aof_rewrite_in_progress") == "0"
      and c.info("aof_rewrite_scheduled") == "0")
same(c.info("aof_last_bgrewrite_status"), "ok", "it is rewritten")
words = set()
folder = os.path.join(a.dir, "appendonlydir")
for name in os.listdir(folder):
    with open(os.path.join(folder, name), "rb") as f:
        data = f.read()
    at = 0
    while name.endswith(".aof") and at < len(data):
        n, at = int(data[at + 1:data.index(b"\r\n", at)]), data.index(b"\r\n", at) + 2
        for i in range(n):
            size, at = int(data[at + 1:data.index(b"\r\n", at)]), data.index(b"\r\n", at) + 2
            if i == 0:
                words.add(data[at:at + size].upper().decode())
            at += size + 2
same(words, {"SELECT", "RESTORE", "PEXPIREAT"}, "the rewritten file has no words of ours")
a.kill()
a.start()
c = a.client()
same(c("DEBUG", "DIGEST"), digest, "and replays to the same digest, in every database")
same(state(c)[1], before[1], "with the same answers")
same(c("PEXPIRETIME", "cms:full"), 33333333333333, "and the expiry of a key")

print("# kill -9 during appends")
k = Server("--appendonly", "yes", "--appendfsync", "always")
acked = {"CMS": {}, "TOPK": {}, "TDIGEST": {}}
rounds = int(os.environ.get("SEEN_STORM_ROUNDS", "3"))


def append(family):
    """Adds to a key of its own until the server is gone; counts what was answered."""
    key, i = "%s%d" % (family, len(acked[family])), 0
    try:
        d = k.client()
        if family == "CMS":
            d("CMS.INITBYDIM", key, 5000, 4)
        elif family == "TOPK":  # no collisions: counts are exact
            d("TOPK.RESERVE", key, 50, 50000, 3, "0.9")
        else:
            d("TDIGEST.CREATE", key)
        while True:
            items = ["item%d" % j for j in range(40)]
            if family == "CMS":
                d("CMS.INCRBY", key, *[w for x in items for w in (x, 1)])
            elif family == "TOPK":
                d("TOPK.ADD", key, *items)
            else:
                d("TDIGEST.ADD", key, *range(40))
            i += 1
            acked[family][key] = i
    except (OSError, ConnectionError):
        acked[family][key] = i


for round in range(rounds):
    threads = [threading.Thread(target=append, args=(family,)) for family in acked]
    for t in threads:
        t.start()
    often = random.randrange(5, 200)
    until(lambda: all(len(a) > round and min(a.values()) > 5 and list(a.values())[-1] > often
                      for a in acked.values()))
    k.kill()
    for t in threads:
        t.join()
    k.start()
c = k.client()
lost, n = {}, 0
for family, keys in acked.items():
    for key, times in keys.items():
        n += times * 40
        if family == "TDIGEST":
            counts = [c("TDIGEST.INFO", key)[13] // 40]
        else:
            ask = "CMS.QUERY" if family == "CMS" else "TOPK.COUNT"
            counts = c(ask, key, *["item%d" % j for j in range(40)])
        if min(counts) < times:
            lost[key] = (times, min(counts))
same(lost, {}, "after %d kill -9 none of %d acknowledged counts is lost" % (rounds, n))
done()
