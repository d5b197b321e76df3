#!/usr/bin/python3
"""Filters survive: RDB, append-only file and its rewrite, kill -9 during appends, DUMP
and RESTORE, COPY; in both layouts."""
import random
import threading
from redis_servers import *

random.seed(6)


def fill(c):
    for layout in ("fast", "compat"):
        c("CONFIG", "SET", "bf.layout", layout)
        c("BF.RESERVE", "bf:sized:" + layout, "0.001", 20000)
        c("BF.RESERVE", "bf:fixed:" + layout, "0.02", 5000, "NONSCALING")
        for i in range(0, 5000, 500):
            for kind in ("sized", "grown", "fixed"):
                c("BF.MADD", "bf:%s:%s" % (kind, layout), *range(i, i + 500))
        c("BF.INSERT", "bf:seed:" + layout, "SEED", "0123456789abcdef0123456789abcdeX",
          "TIGHTENING", "0.7", "ITEMS", *range(5000))
        c("CF.RESERVE", "cf:sized:" + layout, 8000)
        c("CF.INSERT", "cf:sized:" + layout, "ITEMS", *range(5000))
        c("CF.INSERT", "cf:grown:" + layout, "ITEMS", *range(5000))
        c("CF.DEL", "cf:grown:" + layout, 17)
    c("CONFIG", "SET", "bf.layout", "fast")
    c("BF.RESERVE", "bf:window", "0.01", 10000, "WINDOW", 3600)
    c("BF.MADD", "bf:window", *range(5000))
    # Larger than one piece of the RDB.
    c("BF.RESERVE", "bf:big", "0.01", 8000000)
    for i in range(0, 40000, 10000):
        c("BF.MADD", "bf:big", *range(i, i + 10000))


def check(c, when):
    lost = {}
    for k in c("KEYS", "*"):
        k = k.decode()
        got = c("BF.MEXISTS" if k.startswith("bf") else "CF.MEXISTS", k, *range(5000))
        if got.count(0) > ("cf:grown" in k):
            lost[k] = got.count(0)
    same(lost, {}, "no item is lost %s" % when)


s = Server("--appendonly", "no")
c = s.client()
fill(c)
n = c("DBSIZE")
digest = c("DEBUG", "DIGEST")
ok(digest != "0" * 40, "there is a digest")
c("SAVE")
s.kill()
s.start()
c = s.client()
same(c("DBSIZE"), n, "after SAVE and kill -9 all keys are back")
same(c("DEBUG", "DIGEST"), digest, "with the same digest")
check(c, "by the RDB")
same(c.info("bf_bloom_num_objects"), str(len(c("KEYS", "bf:*"))), "and INFO counts them")

print("# DUMP, RESTORE, COPY")
bad = []
for k in c("KEYS", "*"):
    value = c("DEBUG", "DIGEST-VALUE", k)
    if c("RESTORE", b"r:" + k, 0, c("DUMP", k)) != "OK":
        bad.append(k)
    if c("DEBUG", "DIGEST-VALUE", b"r:" + k) != value:
        bad.append(k)
    if c("COPY", k, b"c:" + k) != 1 or c("DEBUG", "DIGEST-VALUE", b"c:" + k) != value:
        bad.append(k)
same(bad, [], "every filter can be dumped, restored and copied")
c("BF.ADD", "c:bf:grown:fast", "only in the copy")
same(c("BF.EXISTS", "bf:grown:fast", "only in the copy"), 0, "a copy is independent")
for k in c("KEYS", "[rc]:*"):
    c("UNLINK", k)
# Dumps in pieces, by the commands.
bad = []
for k in c("KEYS", "*"):
    word = "BF" if k.startswith(b"bf") else "CF"
    it = 0
    while True:
        it, data = c(word + ".SCANDUMP", k, it)
        if it == 0:
            break
        if c(word + ".LOADCHUNK", b"l:" + k, it, data) != "OK":
            bad.append(k)
    if c("DEBUG", "DIGEST-VALUE", k) != c("DEBUG", "DIGEST-VALUE", b"l:" + k):
        bad.append(k)
    c("UNLINK", b"l:" + k)
same(bad, [], "every filter can be moved by SCANDUMP and LOADCHUNK")

print("# append-only file")
a = Server("--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", "no")
c = a.client()
fill(c)
digest = c("DEBUG", "DIGEST")
a.kill()
a.start()
c = a.client()
same(c("DEBUG", "DIGEST"), digest, "the log of commands replays to the same digest")
c("BGREWRITEAOF")
until(lambda: c.info("aof_rewrite_in_progress") == "0"
      and c.info("aof_rewrite_scheduled") == "0")
same(c.info("aof_last_bgrewrite_status"), "ok", "it is rewritten")
a.kill()
a.start()
c = a.client()
same(c("DEBUG", "DIGEST"), digest, "and replays to the same digest")
check(c, "by the append-only file")

print("# nothing is written when nothing changed")
size = int(c.info("aof_current_size"))
c("BF.MADD", "bf:grown:fast", *range(5000))
c("BF.ADD", "bf:sized:compat", 3)
c("CF.ADDNX", "cf:sized:fast", 3)
c("CF.DEL", "cf:sized:fast", "never added")
same(int(c.info("aof_current_size")), size, "adding what is there leaves the log alone")

print("# kill -9 during appends")
k = Server("--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0")
for layout in ("fast", "compat"):  # made before the storm: their items are what may be lost
    c = k.client()
    c("BF.RESERVE", "bf:" + layout, "0.001", 500, "LAYOUT", layout)
    c("CF.RESERVE", "cf:" + layout, 1 << 16, "LAYOUT", layout)
KEYS = ["bf:fast", "bf:compat", "cf:fast", "cf:compat"]
acked = {key: [] for key in KEYS}


def append(key, round):
    """Adds until the server is gone; an item counts once its reply was read."""
    try:
        d = k.client()
        i = 0
        while True:
            batch = ["%d-%d" % (round, j) for j in range(i, i + 20)]
            if key.startswith("bf"):
                d("BF.MADD", key, *batch)
            else:
                d("CF.INSERT", key, "ITEMS", *batch)
            acked[key].extend(batch)
            i += 20
    except (OSError, ConnectionError):
        pass


ROUNDS = int(os.environ.get("SEEN_STORM_ROUNDS", "4"))
lost = 0
for round in range(ROUNDS):
    threads = [threading.Thread(target=append, args=(key, round)) for key in KEYS]
    before = {key: len(acked[key]) for key in KEYS}
    for t in threads:
        t.start()
    more = random.randrange(60, 3000)
    until(lambda: all(len(acked[key]) > before[key] + more for key in KEYS))
    if round % 2:  # in the middle of a rewrite as well
        k.client()("BGREWRITEAOF")
    k.kill()
    for t in threads:
        t.join()
    k.start()
    c = k.client()
    for key in KEYS:
        word = key[:2].upper() + ".MEXISTS"
        for i in range(0, len(acked[key]), 1000):
            lost += c(word, key, *acked[key][i:i + 1000]).count(0)
n = sum(map(len, acked.values()))
ok(all(len(acked[key]) > 200 for key in KEYS), "appends were under way: %d items" % n)
same(lost, 0, "every acknowledged item is there after each of %d kill -9" % ROUNDS)
done()
