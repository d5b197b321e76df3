#!/usr/bin/python3
"""Dumps made by RedisBloom load, answer as they did there, and come out unchanged, also
through RDB and the append-only file; filters made here get the same bytes as there."""
import json
import struct
from redis_servers import *

root = os.environ.get("SEEN_GOLDEN") or (
    "../shared/golden" if os.path.isdir("../shared/golden") else "tests/golden")
root = os.path.join(root, "redisbloom")
if not os.path.isdir(root):
    skip_all("no golden vectors of RedisBloom")
names = sorted(n for n in os.listdir(root) if os.path.isdir(os.path.join(root, n)))


def token(t):
    kind, rest = t.split(":", 1)
    if kind in "xt":
        return bytes.fromhex(rest)
    if kind == "w":
        return bytes.fromhex(rest)
    if kind == "r":
        n, pattern = rest.split(":")
        p = bytes.fromhex(pattern)
        return (p * (int(n) // max(1, len(p)) + 1))[:int(n)]
    return rest.encode()


def rows(name, file):
    with open(os.path.join(root, name, file)) as f:
        return [line.rstrip("\n").split("\t") for line in f
                if line.strip() and not line.startswith("#")]


def chunks(name):
    """Iterator, offset and length of each chunk: as recorded, or as RedisBloom cuts small
    filters: the header of 20 bytes and 53 for each link, then link by link."""
    if os.path.exists(os.path.join(root, name, "chunks.tsv")):
        return [tuple(map(int, r)) for r in rows(name, "chunks.tsv") if int(r[0])]
    head = whole(name)
    links, = struct.unpack_from("<I", head, 8)
    out, at = [(1, 0, 20 + 53 * links)], 20 + 53 * links
    for i in range(links):
        length, = struct.unpack_from("<Q", head, 20 + 53 * i)
        out.append((out[-1][0] + length, at, length))
        at += length
    return out


def whole(name):
    with open(os.path.join(root, name, "filter.bin"), "rb") as f:
        return f.read()


def dump(c, key):
    out, iters, it = b"", [], 0
    while True:
        it, data = c("BF.SCANDUMP", key, it)
        if it == 0:
            return out, iters
        out += data
        iters.append(it)


s = Server("--appendonly", "yes", "--appendfsync", "no", args=["layout", "compat"])
c = s.client()


def check(name, where):
    keys = [token(r[0]) for r in rows(name, "keys.tsv")]
    probes = rows(name, "probes.tsv")
    same(c("BF.MEXISTS", name, *keys).count(0), 0, "%s: every key, %s" % (name, where))
    same(c("BF.MEXISTS", name, *[token(r[0]) for r in probes]), [int(r[1]) for r in probes],
         "%s: every probe, false positives included, %s" % (name, where))
    got, iters = dump(c, name)
    ok(got == whole(name), "%s: the same bytes out, %s" % (name, where))
    same(iters, [it for it, _, _ in chunks(name)],
         "%s: the same iterators, %s" % (name, where))


for name in names:
    loaded = set()
    for it, at, length in chunks(name):
        loaded.add(c("BF.LOADCHUNK", name, it, whole(name)[at:at + length]))
    same(loaded, {Simple("OK")}, "%s: loads" % name)
    check(name, "loaded")

# The same keys in the same order, made here.
p = json.load(open(os.path.join(root, "scale-x2", "params.json")))
c("BF.RESERVE", "made", "0.05", 50, "EXPANSION", 2)
keys = [token(r[0]) for r in rows("scale-x2", "keys.tsv")]
got = "".join(str(x) for x in c("BF.MADD", "made", *keys))
same(dump(c, "made")[0], whole("scale-x2"), "adding the keys here gives RedisBloom's bytes")
if "add_replies" in p:  # not in the small vectors of this tree
    same(got, p["add_replies"], "and RedisBloom's replies")
    same([l.decode() for l in c("BF.DEBUG", "made")], p["bf_debug"], "and its BF.DEBUG")

for name in names:
    payload = c("DUMP", name)
    c("DEL", name)
    same(c("RESTORE", name, 0, payload), Simple("OK"), "%s: RESTORE" % name)
    check(name, "restored")
# The RDB type is RedisBloom's: name and version as in its own files. A module value is
# type byte 7, then its id in nine letters of six bits and ten bits of version.
letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
payload = c("DUMP", names[0])
ident = int.from_bytes(payload[2:10], "big")
word = "".join(letters[(ident >> (10 + 6 * i)) & 63] for i in reversed(range(9)))
same((payload[0], payload[1], word, ident & 1023), (7, 0x81, "MBbloom--", 4),
     "the RDB type is RedisBloom's")
c("SAVE")
c("BGREWRITEAOF")
until(lambda: c.info("aof_rewrite_in_progress") == "0"
      and c.info("aof_rewrite_scheduled") == "0")
digest = c("DEBUG", "DIGEST")
s.restart()
c = s.client()
same(c("DEBUG", "DIGEST"), digest, "the same after AOF rewrite and restart")
for name in names:
    check(name, "restarted")

# CF: RedisBloom's bytes by the rules of its layout.
c("CF.RESERVE", "cf", 1024)
c("CF.INSERT", "cf", "ITEMS", *range(3000))
header = c("CF.SCANDUMP", "cf", 0)[1]
same(len(header), 38, "the header of a CF dump has 38 bytes")
same(int.from_bytes(header[:8], "little"), 3000, "its items first")
it = 0
while True:
    it, data = c("CF.SCANDUMP", "cf", it)
    if it == 0:
        break
    c("CF.LOADCHUNK", "cf2", it, data)
same(c("CF.MEXISTS", "cf2", *range(3000)).count(0), 0, "CF chunks load")
same(c("DEBUG", "DIGEST-VALUE", "cf"), c("DEBUG", "DIGEST-VALUE", "cf2"), "with equal digest")
done()
