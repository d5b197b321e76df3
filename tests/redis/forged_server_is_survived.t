#!/usr/bin/python3
"""A server that lies, in every way we could think of: the client ends with a sentence,
never with a crash, an answer made of nothing, or not at all. BUILD=build/san, made with
SAN=1, looks closer."""
from concurrent.futures import ThreadPoolExecutor
from redis_servers import *
from forged_server import *

SEEN = os.path.abspath(os.path.join(BUILD, "seen"))
CRAWL = os.path.abspath(os.path.join(BUILD, "seen-crawl"))
if b"--redis " not in subprocess.run([SEEN, "add", "--help"], capture_output=True).stdout:
    skip_all("the command was built without hiredis")
SCRATCH = tempfile.TemporaryDirectory(prefix="seen-forged-")  # crawls that end leave theirs
ENV = dict(os.environ, TMPDIR=SCRATCH.name, ASAN_OPTIONS="exitcode=99:allocator_may_return_null=1",
           UBSAN_OPTIONS="exitcode=99")


def seen(port, *words, options="timeout=0.2"):
    """Its status and its last words; None if it did not end."""
    url = "redis://127.0.0.1:%d/f?%s" % (port, options)
    line = [SEEN, *words, url]
    if words[0] == "crawl":
        line = [CRAWL, "--quiet", "--delay", "0", "--lease", "1", "--allow-private", "--redis",
                url, "--wait", "1", "http://127.0.0.1:1/"]
    try:
        p = subprocess.run(line, input=b"a\nb\nc\n", env=ENV, timeout=120,
                           capture_output=True)
    except subprocess.TimeoutExpired:
        return None, b""
    return p.returncode, p.stderr


def play(command, *options, **how):
    """One run of COMMAND against a liar; what it asked for, status, words."""
    with Forger(**how) as f:
        status, words = seen(f.port, *command.split(), options="&".join(
            ("timeout=0.2",) + options))
        return f.asked, status, words


def all_of(jobs, allowed, words):
    """Runs the JOBS, each a name with what it plays, and looks at how they ended."""
    with ThreadPoolExecutor(16) as pool:
        ends = list(pool.map(lambda j: (j[0],) + j[1](), jobs))
    bad = [(name, status, said[-300:]) for name, _, status, said in ends
           if status not in allowed or (status == 2 and len(said) < 10)]
    ok(not bad, "%s (%d lies)" % (words, len(jobs)), bad)
    return set().union(*(asked for _, asked, _, _ in ends))


WRONG = [b":-2\r\n", b":9223372036854775807\r\n", b":99999999999999999999\r\n", b":x\r\n",
         b"$-1\r\n", b"$0\r\n\r\n", b"$3\r\na\0b\r\n", b"$-7\r\n", b"+\r\n", b"+\0\r\n",
         b"-\r\n", b"-ERR \x1b[31m no\r\n", b"*-1\r\n", b"*0\r\n", b"*1\r\n$-1\r\n",
         b"*1\r\n*0\r\n", b"*3\r\n:0\r\n$-1\r\n*-1\r\n", b"*10\r\n" + 10 * b"$-1\r\n",
         b"*10\r\n" + 10 * b":7\r\n", b"*10\r\n" + 10 * b"-ERR\r\n",
         b"*10\r\n" + 10 * b"*0\r\n", b"*11\r\n" + 11 * b"$1\r\n1\r\n", 50 * b"*1\r\n",
         b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\0\r\n", b"\xff" * 5000]
BROKEN = [b"", b"$", b"$100\r\nhalf", b"*2\r\n:1\r\n", b"*2147483647\r\n",
          b"*4294967295\r\n:1\r\n", b"*20000000\r\n", b"$9223372036854775807\r\nx",
          b"$9223372036854775806\r\nx", b"*-9223372036854775808\r\n"]
ASTRAY = [b"-MOVED\r\n", b"-MOVED \r\n", b"-MOVED 1 :\r\n", b"-MOVED 1 127.0.0.1:0\r\n",
          b"-MOVED 1 127.0.0.1:-1\r\n", b"-MOVED 1 /tmp/socket:0\r\n",
          b"-MOVED 1 127.0.0.1:99999999999999999999\r\n", b"-MOVED 99999 %s:1\r\n" % (b"a" * 300),
          b"-MOVED 1 127.0.0.1:65536\r\n", b"-ASK 1 :0\r\n", b"-ASK\r\n", b"-ASK 1 x y:z\r\n",
          b"-TRYAGAIN\r\n", b"-CLUSTERDOWN\r\n", b"-LOADING\r\n", b"-READONLY\r\n"]


def lies_to(word, command, *options, **how):
    jobs = []
    for close, lies in ((False, WRONG), (True, BROKEN), (False, ASTRAY),
                        (False, [SILENCE, DRIP, FLOOD])):
        for lie in lies:
            jobs.append(((command, word, lie), lambda lie=lie, close=close: play(
                command, *options, forged={word: lie}, close=close, **how)))
    return jobs


for command in ("has", "add", "info"):
    _, status, said = play(command)
    ok(status in (0, 1), "an honest server is heard: " + command, (status, said))

for word, command, options, how in (
        ("TYPE", "has", (), {}), ("HMGET", "has", (), {}),
        ("BITFIELD_RO", "has", (), {}), ("BITFIELD", "add", (), {}),
        ("BITFIELD_RO", "info", (), {}), ("BITCOUNT", "info", (), {}),
        ("EVAL", "has", ("scheme=mmh3", "bits=1000", "seeds=3"), {"kind": b"string"}),
        ("BF.MEXISTS", "has", ("scheme=module",), {"kind": b"MBbloom--"}),
        ("BF.INSERT", "add", ("scheme=module",), {"kind": b"MBbloom--"}),
        ("EVAL", "new --redis", (), {"kind": b"none"}),
        ("BITFIELD", "new --redis", (), {"kind": b"none"}),
        ("CLUSTER", "has", (), {"cluster": True}),
        ("BITFIELD_RO", "has", (), {"cluster": True})):
    asked = all_of(lies_to(word, command, *options, **how), (2,),
                   "%s: no lie about %s is believed%s"
                   % (command, word, " (cluster)" if "cluster" in how else ""))
    ok(word in asked, "and %s was asked for" % word, asked)
for word, command, options, how in (
        ("INFO", "has", (), {}),
        ("EXISTS", "has", ("scheme=module",), {"kind": b"MBbloom--"}),
        ("UNLINK", "new -f --redis", (), {}), ("HSET", "new -f --redis", (), {}),
        ("SELECT", "has", ("db=3",), {})):
    all_of(lies_to(word, command, *options, **how), (0, 1, 2),
           "%s: no lie about %s does harm" % (command, word))

print("# descriptions")
values = [None, b"", b"0", b"-1", b"+1", b" 1", b"1 ", b"1\0", b"1e3", b"nan", b"inf", b"65537",
          b"4294967295", b"4294967297", b"18446744073709551615", b"18446744073709551617",
          b"9" * 5000, b"\xff" * 9]
jobs, harmless = [], []
for field in Forger.fields:
    for value in values:
        must = field in (b"seen", b"pieces", b"probes", b"bits")
        if field == b"bits" and value in (b"65537",):
            must = False
        (jobs if must else harmless).append(((field, value), lambda f=field, v=value: play(
            "has", fields=[(f, v)])))
all_of(jobs, (2,), "a description with an impossible size is refused")
all_of(harmless, (0, 1, 2), "no other field does harm")
all_of([(p, lambda p=p: play("has", fields=[(b"scheme", b"module"), (b"pieces", p)]))
        for p in (b"0", b"65537", b"-1", b"4294967297")], (2,), "nor of the module's pieces")

print("# tables of slots")
one = lambda a, b, host, port: (lambda w, f: array(array(
    a, b, array(host, port(f) if callable(port) else port, bulk(b"id")))))
here = lambda f: number(f.port)
rows = [one(number(-5), number(99999), bulk(b"127.0.0.1"), here),
        one(number(9), number(3), bulk(b"127.0.0.1"), here),
        one(number(-2**63), number(2**63 - 1), bulk(b"127.0.0.1"), here),
        one(number(0), number(16384), bulk(b"127.0.0.1"), here),
        one(bulk(b"0"), bulk(b"16383"), bulk(b"127.0.0.1"), here),
        one(number(0), number(16383), bulk(b"127.0.0.1"), number(0)),
        one(number(0), number(16383), bulk(b"/tmp/socket"), number(0)),
        one(number(0), number(16383), bulk(b"127.0.0.1"), number(-1)),
        one(number(0), number(16383), bulk(b"127.0.0.1"), lambda f: number(f.port + 2**32)),
        one(number(0), number(16383), bulk(b"127.0.0.1"), bulk(b"7000")),
        one(number(0), number(16383), bulk(b"a" * 300), here),
        lambda w, f: array(array(number(0), number(16383), array())),
        lambda w, f: array(array(number(0), number(16383), number(1))),
        lambda w, f: array(array(), number(1), bulk(None), array(number(1)))]
all_of([(i, lambda r=r: play("has", cluster=True, forged={"CLUSTER": r}))
        for i, r in enumerate(rows)], (2,), "a forged table of slots names no owner")
good = [one(number(0), number(16383), bulk(b""), here),
        one(number(0), number(16383), bulk(None), here),
        lambda w, f: array(*[array(number(0), number(16383), array(
            bulk(b"127.0.0.1"), number(1 + p))) for p in range(6000)] +
            [array(number(0), number(16383), array(bulk(b"127.0.0.1"), number(f.port)))])]
all_of([(i, lambda r=r: play("has", cluster=True, forged={"CLUSTER": r}))
        for i, r in enumerate(good)], (0, 1, 2), "nor does a table of 6000 nodes do harm")

print("# for ever")
to = lambda how: lambda w, f: b"-%s 1 127.0.0.1:%d\r\n" % (how, f.port)
all_of([(how, lambda how=how, c=c: play("has", cluster=c, forged={"BITFIELD_RO": to(how)}))
        for how in (b"MOVED", b"ASK") for c in (False, True)], (2,),
       "a client that is redirected in a circle gives up")
with Forger(cluster=True) as a, Forger(cluster=True) as b:
    for x, y in ((a, b), (b, a)):
        x.forged["BITFIELD_RO"] = b"-MOVED 1 127.0.0.1:%d\r\n" % y.port
    status, said = seen(a.port, "has")
    ok(status == 2 and b"MOVED" in said, "also if two point at each other", (status, said))
gone = Forger()
gone.__exit__()
with Forger(cluster=True) as cut, Forger(cluster=True) as fine:
    row = lambda a, b, f: array(number(a), number(b), array(bulk(b"127.0.0.1"), number(f.port)))
    cut.forged["CLUSTER"] = array(row(0, 0, fine), row(1, 16383, gone))
    status, said = seen(cut.port, "has", options="timeout=20")
    ok(status == 1, "one that is cut off and names a dead owner is not the only one asked", (status, said))
count = iter(range(1, 10**9))
all_of([("ports", lambda: play("has", cluster=True, forged={
    "BITFIELD_RO": lambda w, f: b"-MOVED 1 127.0.0.1:%d\r\n" % (next(count) % 9 + 1)}))],
       (2,), "or if every answer names another port")

if os.path.exists(CRAWL):
    print("# a shared crawl")
    _, status, said = play("crawl")
    ok(status == 0, "an honest server is heard: crawl", (status, said))
    for word in ("SCRIPT", "EVAL", "EVALSHA5"):
        asked = all_of(lies_to(word, "crawl"), (2,),
                       "crawl: no lie about %s is believed" % word)
        ok(word in asked, "and %s was asked for" % word, asked)
    for word in ("COMMAND", "SADD", "SMEMBERS", "EVALSHA0", "EVALSHA1", "WAIT", "CLUSTER"):
        asked = all_of(lies_to(word, "crawl"), (0, 2),
                       "crawl: no lie about %s does harm" % word)
        ok(word in asked, "and %s was asked for" % word, asked)
    site = b"http://127.0.0.1:1"
    rows = [array(), array(bulk(site)), array(bulk(None), bulk(b"x")), array(number(1), number(2)),
            array(bulk(site), bulk(None)), array(bulk(site), array()), array(bulk(site), bulk(b"")),
            array(bulk(site), bulk(b"0 0")), array(bulk(site), bulk(b"0 0 0 ")),
            array(bulk(site), bulk(b"0 0 0 http://127.0.0.2:1/ ")),
            array(bulk(site), bulk(b"99999999999 -1 99999999999 x ")),
            array(bulk(b"http://" + b"a" * 20000), bulk(b"x")), array(bulk(b"\0"), bulk(b"x")),
            array(bulk(site), bulk(b"0 0 0 http://127.0.0.1:1/" + b"%" * 9000 + b" ")),
            array(bulk(b"x"), bulk(b"y")), number(1), bulk(site)]
    all_of([(r, lambda r=r: play("crawl", forged={"EVALSHA1": array(r)})) for r in rows], (2,),
           "crawl: a forged claim ends it with words")
done()
