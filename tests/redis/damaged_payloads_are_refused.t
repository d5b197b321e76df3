#!/usr/bin/python3
"""Damaged RESTORE payloads, RDB files and chunks are refused or harmless: the server
lives, and what it accepts can be asked, added to and dumped."""
import random
import struct
from redis_servers import *
from sketch_keys import fill

random.seed(20)
ROUNDS = int(os.environ.get("SEEN_HOSTILE_ROUNDS", "1500"))

# CRC-64 as DUMP payloads carry it: reflected, polynomial ad93d23594c935a9.
POLY = int("{:064b}".format(0xad93d23594c935a9)[::-1], 2)
TABLE = []
for i in range(256):
    x = i
    for _ in range(8):
        x = (x >> 1) ^ (POLY if x & 1 else 0)
    TABLE.append(x)


def crc64(data):
    x = 0
    for b in data:
        x = TABLE[(x ^ b) & 255] ^ (x >> 8)
    return x


def signed(body):
    return body + struct.pack("<Q", crc64(body))


s = Server("--sanitize-dump-payload", "no", "--bf.bloom-memory-usage-limit", "64mb")
c = s.client()
for layout in ("fast", "compat"):
    c("CONFIG", "SET", "bf.layout", layout)
    c("BF.MADD", "bf:" + layout, *range(150))
    c("CF.RESERVE", "cf:" + layout, 64)
    c("CF.INSERT", "cf:" + layout, "ITEMS", *range(90))
c("CONFIG", "SET", "bf.layout", "fast")
c("BF.RESERVE", "bf:window", "0.01", 40, "WINDOW", 3600)
c("BF.MADD", "bf:window", *range(60))
filters = sorted(c("KEYS", "*"))  # the server has no order of its own
fill(c, 300)
c("DEL", "cms:dim", "cms:prob", "topk:wide", "tdigest:fine")  # small ones get all damage
keys = sorted(c("KEYS", "*"))
dumps = {k: c("DUMP", k) for k in keys}
assert signed(dumps[keys[0]][:-8]) == dumps[keys[0]], "the checksum is understood"


def mutate(b):
    b = bytearray(b)
    for _ in range(random.choice((1, 1, 1, 2, 4, 16))):
        what = random.randrange(6)
        at = random.randrange(len(b)) if b else 0
        if what == 0 and b:
            b[at] ^= 1 << random.randrange(8)
        elif what == 1 and b:
            b[at] = random.choice((0, 1, 0x7f, 0x80, 0xff, random.randrange(256)))
        elif what == 2 and len(b) > 8:
            at = random.randrange(len(b) - 8)
            v = random.choice((0, 1, 2**31, 2**32, 2**40, 2**62, 2**63, 2**64 - 1))
            b[at:at + 8] = struct.pack(random.choice("<>") + "Q", v)
        elif what == 3 and b:
            del b[at:at + random.choice((1, 8, 60))]
        elif what == 4:
            b[at:at] = bytes(random.randrange(256) for _ in range(random.choice((1, 8))))
        elif what == 5 and b:
            b = b[:at]
    return bytes(b)


def family(k):
    return k.split(b":")[0].decode().upper()


SKETCHES = {
    "CMS": (["CMS.INCRBY", "x", "a", 7, "b", 2**40], ["CMS.QUERY", "x", "a", ""],
            ["CMS.MERGE", "x", 2, "x", "x", "WEIGHTS", 3, -1], ["CMS.INFO", "x"]),
    "TOPK": (["TOPK.ADD", "x", "a", "", "item9"], ["TOPK.INCRBY", "x", "b", 100000],
             ["TOPK.QUERY", "x", "a", ""], ["TOPK.COUNT", "x", "a", "item9"],
             ["TOPK.LIST", "x", "WITHCOUNT"], ["TOPK.INFO", "x"]),
    "TDIGEST": (["TDIGEST.QUANTILE", "x", 0, ".5", 1], ["TDIGEST.ADD", "x", "1e308", "-1e308"],
                ["TDIGEST.CDF", "x", 1, "1e308"], ["TDIGEST.RANK", "x", 1],
                ["TDIGEST.REVRANK", "x", 1], ["TDIGEST.BYRANK", "x", 0, 1, 10**9],
                ["TDIGEST.BYREVRANK", "x", 1], ["TDIGEST.TRIMMED_MEAN", "x", ".1", ".9"],
                ["TDIGEST.MERGE", "m", 2, "x", "x"], ["TDIGEST.ADD", "x", *range(50)],
                ["TDIGEST.INFO", "x"]),
}


def use_all(word):
    """Whatever was accepted as x must bear every command."""
    commands = SKETCHES.get(word) or (
        [word + ".EXISTS", "x", 7], [word + ".ADD", "x", 8], [word + ".INFO", "x"],
        [word + ".DEBUG", "x"], ["CF.DEL", "x", 5], ["CF.COMPACT", "x"],
        ["BF.MERGE", "m", "x"], [word + ".SCANDUMP", "x", 1])
    commands += (["DUMP", "x"], ["DEBUG", "DIGEST-VALUE", "x"], ["COPY", "x", "copy"],
                 ["UNLINK", "x", "m", "copy"])
    for cmd in commands:
        c.send(*cmd)
    for _ in commands:
        c.read()


taken = refused = 0
for i in range(ROUNDS):
    k = random.choice(keys)
    body = dumps[k][:-10]
    got = c("RESTORE", "x", 0, signed(mutate(body) + dumps[k][-10:-8]))
    if got == "OK":
        taken += 1
        use_all(family(k))
    else:
        refused += 1
ok(s.alive(), "the server lives after %d damaged payloads" % ROUNDS)
ok(taken and refused, "some were harmless (%d), some refused (%d)" % (taken, refused))

chunks = {}
for k in filters:
    word = family(k)
    it, chunks[k] = 0, []
    while True:
        it, data = c(word + ".SCANDUMP", k, it)
        if it == 0:
            break
        chunks[k].append((it, data))
taken = refused = 0
for i in range(ROUNDS):
    k = random.choice(filters)
    word = family(k)
    for n, (it, data) in enumerate(chunks[k]):
        if random.random() < 0.5:
            data = mutate(data)
        if random.random() < 0.1:
            it = random.choice((0, 1, 2, -1, 2**31, 2**63 - 1, it + 1, it - 1))
        got = c(word + ".LOADCHUNK", "x", it, data)
        taken += got == "OK"
        refused += got != "OK"
    use_all(word)
ok(s.alive(), "the server lives after damaged chunks")
ok(taken and refused, "some were harmless (%d), some refused (%d)" % (taken, refused))
# A header of ours that is damaged but signed anew asks for the impossible.
h = chunks[b"bf:fast"][0][1]
for at in range(8, len(h) - 8, 8):
    for v in (0, 1, 2**32 - 1, 2**40, 2**46, 2**63, 2**64 - 1):
        c("BF.LOADCHUNK", "x", 1, h[:at] + struct.pack("<Q", v) + h[at + 8:])
        c("UNLINK", "x")
ok(s.alive(), "and after every field of a header was made impossible")
same(c("BF.RESERVE", "x", "1e-300", 1073741824, "LAYOUT", "compat")[:3], "ERR",
     "a filter that cannot be is refused")
same(c("BF.MEXISTS", "bf:fast", *range(150)).count(0), 0, "nothing else was harmed")

# A damaged RDB: the server may refuse to start, with words, but not crash.
c("SAVE")
path = os.path.join(s.dir, "dump.rdb")
good = open(path, "rb").read()
s.kill()
crashed = started = 0
for i in range(12):
    b = bytearray(good)
    for _ in range(1 + i % 3):
        b[random.randrange(20, len(b) - 10)] ^= 1 << random.randrange(8)
    with open(path, "wb") as f:
        f.write(b)
    p = subprocess.Popen([program("server")] + s.options + ["--rdbchecksum", "no"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    s.process = p
    try:
        s.wait()
        started += 1
    except RuntimeError:
        pass
    if p.poll() is None:
        p.kill()
    p.wait()
    if p.returncode in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE):
        crashed += 1
        print("#", s.log()[-2000:].replace("\n", "\n# "))
same(crashed, 0, "no damaged RDB crashes the server (%d of 12 load)" % started)
done()
