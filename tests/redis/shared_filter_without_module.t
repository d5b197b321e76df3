#!/usr/bin/python3
"""seen new, add, has and uniq --redis: a filter in plain Redis that many processes
share, without any module; and the filters of Python scripts."""
import json
from redis_servers import *

SEEN = os.path.abspath(os.path.join(BUILD, "seen"))
if b"--redis " not in subprocess.run([SEEN, "add", "--help"], capture_output=True).stdout:
    skip_all("the command was built without hiredis")


def seen(*words, lines=(), status=None):
    data = b"".join((x if isinstance(x, bytes) else str(x).encode()) + b"\n" for x in lines)
    p = subprocess.run([SEEN] + [str(w) for w in words], input=data, capture_output=True)
    if status is not None:
        return p.returncode, p.stderr.decode()
    return p.stdout.split(b"\n")[:-1]


s = Server("--unixsocket", "sock", "--unixsocketperm", "700", module=False)
c = s.client()
url = "redis://127.0.0.1:%d/visited" % s.port
rc, said = seen("add", "--redis", url, lines=[1], status=True)
ok(rc == 2 and "no such filter" in said, "a filter that was not made is an error", said)
same(seen("new", "-n", "50000", "-e", "0.001", "--redis", url, status=True)[0], 0, "seen new")
rc, said = seen("new", "--redis", url, status=True)
ok(rc == 2 and "already" in said, "is made once", said)
same(len(seen("uniq", "--redis", url, lines=list(range(2000)) * 2)), 2000,
     "uniq prints each line once")
same(len(seen("uniq", "--redis", url, lines=range(1000, 3000))), 1000,
     "the next run knows the lines")
same(len(seen("has", "--redis", url, lines=range(3000))), 3000, "has: all of them")
wrong = len(seen("has", url, lines=range(10**6, 10**6 + 20000)))
ok(wrong < 20, "and few others: %d of 20000" % wrong)
same(seen("add", url, lines=range(50000), status=True)[0], 0, "a URL is a FILTER as well")
wrong = len(seen("has", url, lines=range(10**6, 10**6 + 100000)))
# 0.001 of 100000 is 100; six sigma is 60.
ok(20 < wrong < 160, "full, it errs as promised: %d of 100000" % wrong)

info = seen("info", url)[0].decode()
ok("1 piece, all there" in info and "made for 50,000 keys" in info and "error 0.00" in info,
   "seen info tells what it is", info)
ok("1 piece, all there" in seen("verify", url)[0].decode(), "seen verify, that all of it is there")

print("# the hash")
kept = dict(zip(*[iter(c("HGETALL", "visited"))] * 2))
same(kept[b"seen"], b"2", "a new filter hashes with a secret")
given = os.environ.pop("SEEN_SEED", None)
for n in "ab":
    seen("new", "-n", "50", "--redis", url + n)
if given:
    os.environ["SEEN_SEED"] = given
secrets = [c("HMGET", "visited" + n, "seed", "seed_high") for n in "ab"]
ok(len({x for pair in secrets for x in pair}) == 4, "of 128 random bits, another for each", secrets)
# A filter made by the version that hashed with XXH3: its description and its bits.
c("HSET", "old", "seen", 1, "scheme", "seen", "pieces", 1, "bits", 192, "probes", 7, "seed", 5,
  "mark", 2614695544, "keys", 20, "error", "0.01", "ready", 1)
c("SET", "old:0", bytes.fromhex("9bd9167800000000c24dd753dab2d644a76f2f275798bda5015bd9a3694ba0dc"))
old = "redis://127.0.0.1:%d/old" % s.port
same(len(seen("has", old, lines=range(20))), 20, "an older filter still answers")
seen("add", old, lines=range(20))
same(c("GET", "old:0").hex(), "9bd9167800000000c24dd753dab2d644a76f2f275798bda5015bd9a3694ba0dc",
     "its keys have the same bits")

print("# many processes")
seen("new", "-n", "100000", "-e", "1e-6", "--redis", url + "2")
feed = b"".join(b"%d\n" % i for i in range(20000))
procs = [subprocess.Popen([SEEN, "uniq", "--redis", url + "2"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) for _ in range(4)]
import threading
outs = [None] * 4


def talk(i):
    outs[i] = procs[i].communicate(feed)[0].split(b"\n")[:-1]


threads = [threading.Thread(target=talk, args=(i,)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
lines = [l for o in outs for l in o]
same((len(lines), len(set(lines))), (20000, 20000),
     "of four processes exactly one hears that a line is new")

print("# delivered, then recorded")
purl = url + "3"
seen("new", "-n", "400000", "-e", "1e-6", "--redis", purl)
path = os.path.join(s.dir, "lines")
every = [b"http://example.org/page/%d" % (i // 2) for i in range(100000)]
with open(path, "wb") as f:
    f.write(b"\n".join(every) + b"\n")
every = set(every)


def stuck(*words):
    """A run that nobody reads from, killed when it can write no more: its lines."""
    import fcntl, struct, termios
    p = subprocess.Popen([SEEN, "uniq", *words, path], stdout=subprocess.PIPE)
    before = -1
    while True:
        held = struct.unpack("i", fcntl.ioctl(p.stdout, termios.FIONREAD, b"\0" * 4))[0]
        if held and held == before or p.poll() is not None:
            break
        before = held
        time.sleep(0.3)
    p.kill()
    out = p.stdout.read()
    p.wait()
    return set(out.split(b"\n")[:-1])


got = set()
for i in range(3):
    new = stuck("--print-first", "--redis", purl)
    ok(new and not new & got, "a run begins where the last recorded ended")
    kept = set(seen("has", "--redis", purl, path))
    got |= new
    ok(kept <= got, "killed while it writes: no line is recorded that was not printed",
       len(kept - got))
    got &= kept
rest = seen("uniq", "--print-first", "--redis", purl, path)
same((len(rest), len(set(rest) & got), set(rest) | got == every), (len(set(rest)), 0, True),
     "the next run prints all the others, each once")
same(seen("uniq", "--print-first", "--redis", purl, path), [], "and the one after it none")

seen("new", "-f", "-n", "400000", "-e", "1e-6", "--redis", purl)
out = os.path.join(s.dir, "new")
p = subprocess.Popen([SEEN, "uniq", "--redis", purl, "-o", out], stdin=subprocess.PIPE)
p.stdin.write(b"first\nsecond\n" * 50000)
p.stdin.flush()
p.terminate()
p.stdin.close()
ok(p.wait() != 0 and not os.path.exists(out), "-o: a run that was stopped makes no file")
same(seen("has", "--redis", purl, lines=["first", "second"]), [], "and records nothing")
same(seen("uniq", "--redis", purl, "-o", out, "-k2", lines=["1 a", "2 b", "3 a"], status=True)[0],
     0, "-o: a run that ends")
same((open(out).read(), seen("uniq", "--redis", purl, lines=["a", "b", "c"])),
     ("1 a\n2 b\n", [b"c"]), "records what is in the file")
with open(path, "w") as f:
    f.write("known\n")
for words in ([], ["--print-first"]):
    same(seen("uniq", *words, "--against", path, "--redis", purl, lines=["known", "new" + str(words)]),
         [b"new" + str(words).encode()], "--against a list" + str(words))
for words in (["--print-first"], ["--print-first", "-d", "--redis", purl]):
    rc, said = seen("uniq", *words, lines=[1], status=True)
    ok(rc == 2 and "--print-first" in said, "%s: is refused" % " ".join(words[:2]), said)

print("# loss is an error")
c("UNLINK", "visited:0")
for what in ("add", "has", "uniq", "info"):
    where = [url] if what == "info" else ["--redis", url]
    rc, said = seen(what, *where, lines=[1, 2], status=True)
    ok(rc == 2 and "is gone" in said, "%s: a lost piece is an error" % what, said)
rc, said = seen("add", "--redis", url, lines=[1, 2], status=True)
ok(rc == 2 and "is gone" in said, "and stays one")
same(seen("new", "-f", "-n", "1000", "--redis", url, status=True)[0], 0,
     "until the filter is created again")
same(len(seen("uniq", "--redis", url, lines=[1, 2])), 2, "then all is new")
c("FLUSHALL")
rc, said = seen("add", "--redis", url, lines=[1, 2], status=True)
ok(rc == 2 and "no such filter" in said, "after FLUSHALL there is no filter")
c("SET", "visited", "text")
rc, said = seen("add", "--redis", url, lines=[1, 2], status=True)
ok(rc == 2 and "string" in said, "a key that holds something else is left alone", said)
c("DEL", "visited")

print("# ways to connect")
sock = "redis+unix://%s/sock?name=byunix" % s.dir
seen("new", "-n", 1000, "--redis", sock)
same(len(seen("uniq", "--redis", sock, lines=[1, 2, 1])), 2, "a unix socket")
db = "redis://127.0.0.1:%d/indb?db=3" % s.port
seen("new", "-n", 1000, "--redis", db)
c("SELECT", 3)
same(c("EXISTS", "indb"), 1, "another database")
c("SELECT", 0)
for bad, words in (("redis://127.0.0.1:1/x?timeout=0.2", "refused"),
                   ("redis://127.0.0.1:%d/" % s.port, "does not name"),
                   ("redis://127.0.0.1:99999/x", "port"),
                   ("redis://127.0.0.1/x?foo=1", "unknown option"),
                   ("redis://127.0.0.1/x?scheme=mmh3", "needs bits"),
                   ("http://127.0.0.1/x", "not a URL")):
    rc, said = seen("has", "--redis", bad, lines=[1], status=True)
    ok(rc == 2 and words in said, "%s: %s" % (bad, words), said)
os.kill(s.process.pid, signal.SIGSTOP)
rc, said = seen("has", "--redis", db + "&timeout=0.5", lines=[1], status=True)
os.kill(s.process.pid, signal.SIGCONT)
ok(rc == 2 and "no answer in time" in said, "a server that hangs is waited for only so long", said)
c("CONFIG", "SET", "requirepass", "se:cret")
c("AUTH", "se:cret")
rc, said = seen("has", "--redis", url, lines=[1], status=True)
ok(rc == 2 and "NOAUTH" in said, "a password is needed", said)
auth = "redis://:se%%3Acret@127.0.0.1:%d/auth" % s.port
same(seen("new", "-n", 100, "--redis", auth, status=True)[0], 0, "and can be given")
seen("add", "--redis", auth, lines=[77])
plain = auth.replace(":se%3Acret@", "")
os.environ["SEEN_REDIS_PASSWORD"] = "se:cret"
same(seen("has", "--redis", plain, lines=[77]), [b"77"], "a password from the environment")
os.environ["SEEN_REDIS_PASSWORD"] = "wrong"
rc, said = seen("has", "--redis", plain, lines=[1], status=True)
ok(rc == 2 and "AUTH" in said, "a wrong one is an error", said)
with open(os.path.join(s.dir, "secret"), "w") as f:
    f.write("se:cret\n")
same(seen("has", "--redis", plain + "?password-file=" + f.name, lines=[77]), [b"77"],
     "a password from a file, before that of the environment")
del os.environ["SEEN_REDIS_PASSWORD"]
rc, said = seen("has", "--redis", plain + "?password-file=/none", lines=[1], status=True)
ok(rc == 2 and "password-file" in said, "a file that is not there is an error", said)
c("CONFIG", "SET", "requirepass", "")
c("ACL", "SETUSER", "bob", "on", ">pw", "~*", "+@all")
same(seen("uniq", "--redis", "redis://bob:pw@127.0.0.1:%d/auth" % s.port, lines=[1]), [b"1"],
     "with a user")

print("# filters of Python scripts")
root = os.environ.get("SEEN_GOLDEN") or (
    "../shared/golden" if os.path.isdir("../shared/golden") else "tests/golden")


def token(t):
    kind, rest = t.split(":", 1)
    if kind == "r":
        n, pattern = rest.split(":")
        p = bytes.fromhex(pattern)
        return (p * (int(n) // max(1, len(p)) + 1))[:int(n)]
    return bytes.fromhex(rest) if kind in "xt" else None


def usable(rows):
    """Keys that fit into a line, and as text mean the same to both."""
    return [(k, a) for k, a in rows if k is not None and b"\n" not in k]


for fmt in ("redis-setbit-mmh3", "scrapy-redis-bloomfilter"):
    folder = os.path.join(root, fmt)
    if not os.path.isdir(folder):
        print("# no golden vectors of", fmt)
        continue
    for name in sorted(os.listdir(folder)):
        if not os.path.isdir(os.path.join(folder, name)):
            continue
        p = json.load(open(os.path.join(folder, name, "params.json")))
        bits = open(os.path.join(folder, name, "filter.bin"), "rb").read()
        rows = lambda f: [l.rstrip("\n").split("\t") for l in open(os.path.join(folder, name, f))
                          if l.strip() and not l.startswith("#")]
        keys = usable([(token(r[0]), 1) for r in rows("keys.tsv")])
        probes = usable([(token(r[0]), int(r[1])) for r in rows("probes.tsv")])
        if fmt.startswith("scrapy"):
            keys = [(k, a) for k, a in keys if k]
            probes = [(k, a) for k, a in probes if k]
            u = "redis://127.0.0.1:%d/%s?scheme=scrapy&bit=%d&hashes=%d" % (
                s.port, name, p["m"].bit_length() - 1, p["hash_number"])
        else:
            u = "redis://127.0.0.1:%d/%s?scheme=mmh3&bits=%d&seeds=%s" % (
                s.port, name, p["m"], ",".join(map(str, p["seeds"])))
        rc, said = seen("add", "--redis", u, lines=[1], status=True)
        ok(rc == 2 and "no such filter" in said, "%s %s: missing is an error" % (fmt, name))
        c("SET", name, bits)
        same(len(seen("has", "--redis", u, lines=[k for k, _ in keys])), len(keys),
             "%s %s: %d keys of the script" % (fmt, name, len(keys)))
        same(seen("has", "--redis", u, lines=[k for k, _ in probes]),
             [k for k, a in probes if a], "%s %s: its false positives" % (fmt, name))
        same(seen("uniq", "--redis", u, lines=[k for k, _ in keys]), [],
             "%s %s: nothing is new" % (fmt, name))
        same(c("GET", name), bits, "%s %s: not a bit changed" % (fmt, name))
        c("SET", name, b"\0" * len(bits))
        seen("add", "--redis", u, lines=[k for k, _ in keys])
        got = int.from_bytes(c("GET", name), "big")
        ok(got and got & ~int.from_bytes(bits, "big") == 0,
           "%s %s: adding sets bits that the script sets" % (fmt, name))

print("# with a module")
m = Server()
d = m.client()
murl = "redis://127.0.0.1:%d/bf" % m.port
same(seen("new", "-n", 20000, "--redis-module", "--redis", murl, status=True)[0], 0,
     "new --redis-module")
same(str(d("TYPE", "bf")), "seenbloom", "makes a BF filter")
same(len(seen("uniq", "--redis-module", "--redis", murl, lines=list(range(5000)) * 2)),
     d("BF.CARD", "bf"), "uniq by BF.INSERT")
same(len(seen("has", murl, lines=range(5000))), 5000, "has, where the key says what it is")
d("DEL", "bf")
same(seen("new", "-n", 2000, "--redis-module", murl, status=True)[0], 0, "--redis-module URL")
same(str(d("TYPE", "bf")), "seenbloom", "needs no --redis")
same(len(seen("uniq", "--redis-module=" + murl, lines=[1, 2, 1])), 2, "--redis-module=URL")
same(len(
         seen("has", "--redis-module", murl, lines=[1, 2, 9999])), 2, "for each command")
d("DEL", "bf")
d("SELECT", 0)
rc, said = seen("has", "--redis-module", "--redis", murl, lines=[1], status=True)
ok(rc == 2 and "no such filter" in said, "a missing BF filter is an error")
d("BF.RESERVE", "old", "0.01", 1000, "LAYOUT", "compat")
same(len(seen("uniq", "--redis", murl[:-2] + "old", lines=[1, 2, 3, 1])), 3,
     "a filter of RedisBloom's layout as well")
done()
