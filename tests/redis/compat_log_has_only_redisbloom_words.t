#!/usr/bin/python3
"""What a server with the compat layout writes to its append-only file, its RDB and its
replicas consists of commands, options and types that RedisBloom has. So a server can go
back to RedisBloom with its data, whatever was done to the filters here."""
import re
from redis_servers import *

# The words of RedisBloom, and of the server itself.
OPTIONS = {
    b"bf.reserve": (4, {b"expansion": 2, b"nonscaling": 1}),
    b"bf.madd": (None, {}),
    b"bf.loadchunk": (None, {}),
    b"cf.reserve": (3, {b"bucketsize": 2, b"maxiterations": 2, b"expansion": 2}),
    b"cf.insert": (2, {b"nocreate": 1, b"items": None}),
    b"cf.del": (None, {}),
    b"cf.compact": (None, {}),
    b"cf.loadchunk": (None, {}),
}
SERVER = {b"select", b"multi", b"exec", b"unlink", b"del", b"ping", b"replconf", b"rename",
          b"restore"}


def strange(command):
    """What RedisBloom would not understand in COMMAND; None if all is known."""
    name = command[0].lower()
    if name in SERVER:
        return None
    if name not in OPTIONS:
        return name
    at, known = OPTIONS[name]
    while at is not None and at < len(command):
        word = command[at].lower()
        if word not in known:
            return word
        at = at + known[word] if known[word] else None
    return None


def commands(data):
    """The commands of DATA, which is the protocol as sent."""
    at, out = 0, []
    while at < len(data):
        if data[at:at + 1] in b"\r\n":  # a master keeps its link alive
            at += 1
            continue
        if data[at:at + 1] == b"#":  # Valkey and Redis 7 note times in their files
            at = data.index(b"\n", at) + 1
            continue
        end = data.index(b"\r\n", at)
        n, at, words = int(data[at + 1:end]), end + 2, []
        for _ in range(n):
            end = data.index(b"\r\n", at)
            size = int(data[at + 1:end])
            words.append(data[end + 2:end + 2 + size])
            at = end + 4 + size
        out.append(words)
    return out


class Stream:
    """A replica that only listens."""

    def __init__(self, server):
        self.s = socket.create_connection(("127.0.0.1", server.port), 60)
        self.f = self.s.makefile("rb")
        self.s.sendall(b"PSYNC ? -1\r\n")
        line = self.f.readline()
        while not line.startswith(b"$"):
            line = self.f.readline()
        self.f.read(int(line[1:]))
        self.seen = b""

    def until(self, mark):
        """All that was sent, up to a command that holds MARK."""
        while mark not in self.seen:
            self.seen += self.f.read1(65536)
        return commands(self.seen[:self.seen.rindex(b"\r\n") + 2])


s = Server("--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage",
           "0", "--repl-diskless-sync", "no", "--bf.layout", "compat")
c = s.client()
stream = Stream(s)
c("BF.RESERVE", "plain", "0.01", 100)
c("BF.RESERVE", "fixed", "0.01", 100, "NONSCALING")
c("BF.RESERVE", "zero", "0.01", 100, "EXPANSION", 0)
c("BF.INSERT", "both", "NONSCALING", "EXPANSION", 4, "ITEMS", "a")
c("BF.RESERVE", "four", "0.0001", 100, "EXPANSION", 4, "LAYOUT", "compat")
c("BF.ADD", "auto", "x")
for name in ("auto", "plain", "four"):
    c("BF.MADD", name, *range(1000))
c("BF.INSERT", "auto", "CAPACITY", 5, "LAYOUT", "compat", "ITEMS", "p", "q")
c("BF.INSERT", "new", "CAPACITY", 500, "ERROR", "0.3", "ITEMS", *range(700))
c("BF.MERGE", "union", "plain", "new")
c("BF.MERGE", "union", "four")
c("BF.RESERVE", "gone", "0.01", 100)
c("BF.DROP", "gone")
c("CF.RESERVE", "cf", 1000)
c("CF.RESERVE", "cfx", 1000, "BUCKETSIZE", 4, "EXPANSION", 2, "MAXITERATIONS", 40)
c("CF.ADD", "cfauto", "x")
c("CF.ADDNX", "cfauto", "y")
for name in ("cf", "cfx", "cfauto"):
    c("CF.INSERT", name, "ITEMS", *range(3000))
    c("CF.INSERTNX", name, "ITEMS", *range(2000, 3500))
for i in range(500):
    c("CF.DEL", "cf", i)
c("CF.COMPACT", "cf")
for family, key in (("BF", "plain"), ("CF", "cf")):
    it = 0
    while True:
        it, data = c(family + ".SCANDUMP", key, it)
        if it == 0:
            break
        c(family + ".LOADCHUNK", family + "loaded", it, data)
c("SET", "mark", "the end of it")
want = c("DEBUG", "DIGEST")

got = [w for w in stream.until(b"the end of it") if w[0].upper() != b"SET"]
stream.f.close()
stream.s.close()  # or the server waits for it at the end
ok(len(got) > 40, "a replica receives the changes (%d commands)" % len(got))
same([x for x in map(strange, got) if x], [], "in RedisBloom's own words")


def log(s):
    """The commands of the append-only file; each key stands in it since its creation."""
    out = b""
    folder = os.path.join(s.dir, "appendonlydir")
    for f in sorted(os.listdir(folder)):
        if f.endswith(".aof"):
            with open(os.path.join(folder, f), "rb") as file:
                data = file.read()
            if not data.startswith((b"REDIS", b"VALKEY")):
                out += data
    return [w for w in commands(out) if w[0].upper() != b"SET"]


ok(len(log(s)) > 40, "the append-only file holds them too")
same([x for x in map(strange, log(s)) if x], [], "in RedisBloom's own words")
s.restart()
c = s.client()
same(c("DEBUG", "DIGEST"), want, "what it says makes the same filters")
s.kill()
fast = [o if o != "compat" else "fast" for o in s.options]
s.options = fast
s.start()
c = s.client()
same(c("DEBUG", "DIGEST"), want, "and a server that makes fast ones reads it alike")
types = {c("TYPE", k) for k in c("KEYS", "*")} - {"string"}
same(types, {"MBbloom--", "MBbloomCF"}, "every filter has a type of RedisBloom")

c("CONFIG", "SET", "bf.layout", "compat")
c("CONFIG", "SET", "aof-use-rdb-preamble", "no")
c("BGREWRITEAOF")
until(lambda: c.info("aof_rewrite_in_progress") == "0" and c.info("aof_rewrite_scheduled") == "0")
rewritten = log(s)
ok(any(w[0].lower() == b"bf.loadchunk" for w in rewritten), "a rewritten file holds chunks")
same([x for x in map(strange, rewritten) if x], [], "and nothing RedisBloom does not know")

c("SAVE")
with open(os.path.join(s.dir, "dump.rdb"), "rb") as f:
    data = f.read()
names = set(re.findall(rb"seen[a-z]{5}", data))
same(names, set(), "no type of ours is in the RDB")

# The stream of a RedisBloom master names no layout: its filters get RedisBloom's here.
r = Server("--replicaof", "127.0.0.1 %d" % s.port, "--bf.layout", "fast")
d = r.client()
until(lambda: d.info("master_link_status") == "up")
c("BF.RESERVE", "later", "0.01", 100)
c("BF.MADD", "later", *range(500))
c("CF.RESERVE", "cflater", 100)
c("CF.INSERT", "cflater", "ITEMS", *range(500))
c("BF.MERGE", "union", "later")
c("WAIT", 1, 120000)
same(d("DEBUG", "DIGEST"), c("DEBUG", "DIGEST"), "a replica whose own layout is fast is equal")
done()
