#!/usr/bin/python3
"""BF.* and CF.* answer as clients know them, in RESP2 and RESP3, in both layouts."""
from redis_servers import *

s = Server()
c = s.client()
c3 = s.client()
c3("HELLO", "3")
WRONG = Err("WRONGTYPE Operation against a key holding the wrong kind of value")


def arity(cmd):
    return Err("ERR wrong number of arguments for '%s' command" % cmd)


def table(rows):
    for line, want in rows:
        same(c.line(line), want, line)


c("SET", "text", "x")
for layout in ("fast", "compat"):
    c("FLUSHALL")
    c("SET", "text", "x")
    c("CONFIG", "SET", "bf.layout", layout)
    print("# layout", layout)
    table([
        ("BF.RESERVE", arity("bf.reserve")),
        ("BF.RESERVE k x 100", Err("ERR bad error rate")),
        ("BF.RESERVE k 0 100",
         Err("ERR error rate must be in the range (0.000000, 1.000000)")),
        ("BF.RESERVE k 1 100",
         Err("ERR error rate must be in the range (0.000000, 1.000000)")),
        ("BF.RESERVE k 0.01 x", Err("ERR bad capacity")),
        ("BF.RESERVE k 0.01 0", Err("ERR capacity must be in the range [1, 1073741824]")),
        ("BF.RESERVE k 0.01 1073741825",
         Err("ERR capacity must be in the range [1, 1073741824]")),
        ("BF.RESERVE k 0.01 10 EXPANSION", Err("ERR no expansion")),
        ("BF.RESERVE k 0.01 10 EXPANSION x", Err("ERR bad expansion")),
        ("BF.RESERVE k 0.01 10 EXPANSION 32769",
         Err("ERR expansion must be in the range [0, 32768]")),
        ("BF.RESERVE k 0.01 10 EXPANSION 2 NONSCALING",
         Err("Nonscaling filters cannot expand")),
        ("BF.RESERVE text 0.01 10", WRONG),
        ("BF.RESERVE k 0.01 1000", Simple("OK")),
        ("BF.RESERVE surer 1e-18 1000", Simple("OK")),
        ("BF.RESERVE k 0.01 1000", Err("ERR item exists")),
        ("BF.ADD k a", 1),
        ("BF.ADD k a", 0),
        ("BF.ADD text a", WRONG),
        ("BF.ADD k", arity("bf.add")),
        ("BF.MADD k a b b", [0, 1, 0]),
        ("BF.EXISTS k a", 1),
        ("BF.EXISTS k z", 0),
        ("BF.EXISTS none a", 0),
        ("BF.EXISTS text a", 0),
        ("BF.MEXISTS k a z b", [1, 0, 1]),
        ("BF.MEXISTS none a z", [0, 0]),
        ("BF.HAS k a z", [1, 0]),
        ("BF.HAS none a", Err("ERR not found")),
        ("BF.HAS text a", WRONG),
        ("BF.CARD k", 2),
        ("BF.CARD none", 0),
        ("BF.CARD text", WRONG),
        ("BF.INSERT k ITEMS a d", [0, 1]),
        ("BF.INSERT none NOCREATE ITEMS a", Err("ERR not found")),
        ("BF.INSERT k CAPACITY x ITEMS a", Err("Bad capacity")),
        ("BF.INSERT k ERROR x ITEMS a", Err("Bad error rate")),
        ("BF.INSERT k EXPANSION x ITEMS a", Err("Bad expansion")),
        ("BF.INSERT k FOO 1 ITEMS a", Err("Unknown argument received")),
        ("BF.INSERT k ITEMS", arity("bf.insert")),
        ("BF.INSERT n1 NONSCALING CAPACITY 2 ERROR 0.001 ITEMS a b a c d",
         [1, 1, 0, Err("ERR non scaling filter is full")]),
        ("BF.ADD n1 c", Err("ERR non scaling filter is full")),
        ("BF.INSERT n2 NONSCALING EXPANSION 4 CAPACITY 1 ITEMS a", [1]),
        ("BF.INFO n2 EXPANSION", [None]),
        ("BF.ADD n1 a", 0),
        ("BF.INSERT v1 TIGHTENING 2 ITEMS a", Err("ERR (0 < tightening ratio range < 1)")),
        ("BF.INSERT v1 TIGHTENING x ITEMS a", Err("ERR bad tightening ratio")),
        ("BF.INSERT v1 SEED short ITEMS a", Err("ERR invalid seed")),
        ("BF.INSERT v1 TIGHTENING 0.5 SEED 0123456789abcdef0123456789abcdef ITEMS a",
         [1]),
        ("BF.INSERT v2 NONSCALING VALIDATESCALETO 10 ITEMS a",
         Err("ERR cannot use NONSCALING and VALIDATESCALETO options together")),
        ("BF.INSERT v2 VALIDATESCALETO 99999999999999 ITEMS a",
         Err("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit")),
        ("BF.INSERT v2 VALIDATESCALETO 10000 CAPACITY 100", []),
        ("BF.CARD v2", 0),
        ("BF.INFO none", Err("ERR not found")),
        ("BF.INFO text", WRONG),
        ("BF.INFO k FOO", Err("Invalid information value")),
        ("BF.INFO k CAPACITY", [1000]),
        ("BF.INFO k ITEMS", [3]),
        ("BF.INFO k FILTERS", [1]),
        ("BF.INFO k EXPANSION", [2]),
        ("BF.INFO n1 EXPANSION", [None]),
        ("BF.INFO k ERROR", b"0.01"),
        ("BF.SCANDUMP none 0", Err("ERR not found")),
        ("BF.SCANDUMP k x", Err("Second argument must be numeric")),
        ("BF.LOADCHUNK k x y", Err("ERR Second argument must be numeric")),
        ("BF.LOADCHUNK none 1 y", Err("ERR received bad data")),
        ("BF.LOADCHUNK none 5 y", Err("ERR not found")),
        ("BF.LOADCHUNK k 999999 y", Err("ERR invalid offset - no link found")),
        ("BF.DEBUG none", Err("ERR not found")),
        ("CF.RESERVE f x", Err("Bad capacity")),
        ("CF.RESERVE f 1", Err("Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")),
        ("CF.RESERVE f 100 BUCKETSIZE x", Err("Couldn't parse BUCKETSIZE")),
        ("CF.RESERVE f 100 BUCKETSIZE 0",
         Err("BUCKETSIZE: value must be in the range [1, 255]")),
        ("CF.RESERVE f 100 MAXITERATIONS 0",
         Err("MAXITERATIONS: value must be in the range [1, 65535]")),
        ("CF.RESERVE f 100 EXPANSION 32769",
         Err("EXPANSION: value must be in the range [0, 32768]")),
        ("CF.RESERVE f 1000", Simple("OK")),
        ("CF.RESERVE f 1000", Err("ERR item exists")),
        ("CF.ADD f a", 1),
        ("CF.ADD f a", 1),
        ("CF.ADDNX f a", 0),
        ("CF.ADDNX f b", 1),
        ("CF.COUNT f a", 2),
        ("CF.COUNT none a", 0),
        ("CF.EXISTS f a", 1),
        ("CF.EXISTS none a", 0),
        ("CF.MEXISTS f a z b", [1, 0, 1]),
        ("CF.DEL f a", 1),
        ("CF.COUNT f a", 1),
        ("CF.DEL f zzz", 0),
        ("CF.DEL none a", Err("Not found")),
        ("CF.INSERT f ITEMS c d", [1, 1]),
        ("CF.INSERTNX f ITEMS c e", [0, 1]),
        ("CF.INSERT none NOCREATE ITEMS a", Err("ERR not found")),
        ("CF.INSERT none CAPACITY x ITEMS a", Err("Bad capacity")),
        ("CF.INSERT none CAPACITY 1 ITEMS a",
         Err("Capacity must be in the range [cf-bucket-size * 2, 1073741824]")),
        ("CF.INSERT none FOO ITEMS a", Err("Unknown argument received")),
        ("CF.COMPACT f", Simple("OK")),
        ("CF.COMPACT none", Err("Cuckoo filter was not found")),
        ("CF.INFO none", Err("ERR not found")),
        ("CF.ADD text a", WRONG),
        ("CF.ADD k a", WRONG),
        ("BF.ADD f a", WRONG),
        ("CF.SCANDUMP f x", Err("Invalid position")),
        ("CF.SCANDUMP f 1000000", [0, None]),
        ("CF.LOADCHUNK none 1 short", Err("Invalid header")),
    ])
    names = ["Capacity", "Size", "Number of filters", "Number of items inserted",
             "Expansion rate"]
    got = c("BF.INFO", "k")
    same([str(x) for x in got[::2]], names, "BF.INFO is a flat array of five in RESP2")
    got = c3("BF.INFO", "k")
    ok(isinstance(got, Map) and [str(k) for k in got] == names, "and a map in RESP3", got)
    same(c3("BF.INFO", "k", "ITEMS"), Map({Simple("Number of items inserted"): 3}),
         "one field is a map of one in RESP3")
    same(c3("BF.ADD", "k", "new3"), True, "BF.ADD is a boolean in RESP3")
    same(c3("BF.MADD", "k", "new3", "new4"), [False, True], "and BF.MADD")
    same(c3("BF.MEXISTS", "k", "new3", "z"), [True, False], "and BF.MEXISTS")
    same(c3("CF.ADDNX", "f", "new3"), True, "CF.ADDNX is a boolean in RESP3")
    same(c3("CF.INSERT", "f", "ITEMS", "q"), [True], "CF.INSERT too")
    same(c3("CF.INSERTNX", "f", "ITEMS", "q", "r"), [0, 1], "CF.INSERTNX keeps integers")
    same([str(x) for x in c("CF.INFO", "f")[::2]],
         ["Size", "Number of buckets", "Number of filters", "Number of items inserted",
          "Number of items deleted", "Bucket size", "Expansion rate", "Max iterations"],
         "CF.INFO has eight rows")
    ok(c("CF.DEBUG", "f").startswith(b"bktsize:"), "CF.DEBUG is one line")
    lines = c("BF.DEBUG", "k")
    ok(lines[0] == b"size:5" and lines[1].startswith(b"bytes:"), "BF.DEBUG has a line a layer",
       lines)
    # A filter that may not grow fills up: -1 in RESP2, false in RESP3.
    c("CF.RESERVE", "full", 4, "BUCKETSIZE", 1, "EXPANSION", 0, "MAXITERATIONS", 2)
    got = c("CF.INSERT", "full", "ITEMS", *range(64))
    ok(-1 in got and 1 in got and len(got) == 64, "a full cuckoo filter answers -1", got)
    ok(False in c3("CF.INSERT", "full", "ITEMS", *range(64, 128)), "and false in RESP3")
    same(c("CF.ADD", "full", "zz1"), Err("Filter is full"), "CF.ADD says that it is full")

    print("# what users asked for")
    c("BF.RESERVE", "{m}a", "0.01", 1000)
    c("BF.RESERVE", "{m}b", "0.01", 1000)
    c("BF.MADD", "{m}a", *range(0, 400))
    c("BF.MADD", "{m}b", *range(400, 800))
    same(c("BF.MERGE", "{m}u", "{m}a", "{m}b"), Simple("OK"), "a union of two")
    same(sum(c("BF.MEXISTS", "{m}u", *range(800))), 800, "has the items of both")
    ok(sum(c("BF.MEXISTS", "{m}u", *range(10000, 20000))) < 200,
       "and at most the sum of their errors")
    same(c("BF.CARD", "{m}u"), c("BF.CARD", "{m}a") + c("BF.CARD", "{m}b"), "and counts")
    same(c("BF.MERGE", "{m}u", "{m}u"), Simple("OK"), "a filter merged into itself")
    same(c("BF.MERGE", "{m}u", "{m}none"), Err("ERR not found"), "a missing source")
    c("BF.ADD", "{m}u", "later")
    same(c("BF.EXISTS", "{m}u", "later"), 1, "a union takes more items")
    other = "compat" if layout == "fast" else "fast"
    c("BF.RESERVE", "{m}o", "0.01", 1000, "LAYOUT", other)
    ok(c("BF.MERGE", "{m}u", "{m}o").startswith("ERR filters cannot be merged"),
       "filters of different layouts cannot be merged")
    c("CONFIG", "SET", "bf.bloom-memory-usage-limit", "1mb")
    same(c("BF.RESERVE", "huge", "0.001", 1000000000),
         Err("ERR operation exceeds bloom object memory limit"), "a giant is refused")
    c("BF.RESERVE", "grows", "0.01", 10000)
    got = []
    for i in range(0, 4000000, 20000):
        got = c("BF.MADD", "grows", *range(i, i + 20000))
        if isinstance(got[-1], Err):
            break
    same(got[-1], Err("ERR operation exceeds bloom object memory limit"),
         "and so is growth beyond the limit")
    ok(c("MEMORY", "USAGE", "grows") < 1100000, "memory stays below it")
    same(c("CF.RESERVE", "hugecf", 1000000000),
         Err("ERR operation exceeds bloom object memory limit"), "also for CF")
    c("CONFIG", "SET", "bf.bloom-memory-usage-limit", "0")
    same(c("CONFIG", "SET", "maxmemory", "100mb"), Simple("OK"), "maxmemory is a limit")
    same(c("BF.RESERVE", "huge", "0.001", 1000000000),
         Err("ERR operation exceeds bloom object memory limit"), "that no filter exceeds")
    c("CONFIG", "SET", "maxmemory", "0")

    print("# growth keeps the error")
    for i in range(0, 50000, 1000):
        c("BF.MADD", "auto", *range(i, i + 1000))
    same(sum(c("BF.MEXISTS", "auto", *range(50000))), 50000, "no item is lost")
    wrong = sum(c("BF.MEXISTS", "auto", *range(10**6, 10**6 + 100000)))
    # 1% of 100000 is 1000; six sigma is 190.
    ok(wrong < 1190, "a filter grown from 100 to 50000 errs below 1%%: %d" % wrong)

c("CONFIG", "SET", "bf.layout", "fast")
print("# cuckoo filters of any size")
for i in range(0, 200000, 2000):
    got = c("CF.INSERT", "cf", "ITEMS", *range(i, i + 2000))
    if set(got) != {1}:
        break
same(set(got), {1}, "a default cuckoo filter takes 200000 items")
missing = 0
for i in range(0, 200000, 2000):
    missing += c("CF.MEXISTS", "cf", *range(i, i + 2000)).count(0)
same(missing, 0, "has all of them")
wrong = sum(c("CF.MEXISTS", "cf", *range(10**6, 10**6 + 100000)))
# 0.3% promised is 300; six sigma is 104.
ok(wrong < 404, "and errs below 0.3%%: %d of 100000" % wrong)
for i in range(0, 200000):
    c.send("CF.DEL", "cf", i)
    if i % 1000 == 999:
        if sum(c.read() for _ in range(1000)) != 1000:
            ok(False, "an item could not be deleted")
same(c("CF.INFO", "cf")[7], 0, "after deleting all of them it is empty")
c("CF.COMPACT", "cf")
same(c("CF.INFO", "cf")[5], 1, "and compact leaves one sub-filter")
c("CF.INSERT", "cc", "CAPACITY", 100, "ITEMS", *range(3000))
n = c("CF.INFO", "cc")[5]
for i in range(2800):
    c("CF.DEL", "cc", i)
c("CF.COMPACT", "cc")
ok(c("CF.INFO", "cc")[5] < n, "compact drops sub-filters")
same(c("CF.MEXISTS", "cc", *range(2800, 3000)).count(0), 0, "and no items")

print("# a window forgets")
same(c("BF.RESERVE", "w", "0.01", 1000, "WINDOW", 0),
     Err("ERR window must be in the range [1, 315360000] seconds"), "a window of nothing")
same(c("BF.RESERVE", "w", "0.01", 1000, "WINDOW", 2, "LAYOUT", "compat"),
     Err("ERR a window needs the fast layout"), "a window in RedisBloom's layout")
same(c("BF.RESERVE", "w", "0.001", 1000, "WINDOW", 2), Simple("OK"), "a window of 2 s")
begin = time.time()
c("BF.MADD", "w", "once", "again")
while time.time() - begin < 1.4:
    time.sleep(0.1)
# A machine that stalls may be too late for the next two: then they say nothing.
got = c("BF.MEXISTS", "w", "once", "again")
ok(got == [1, 1] or time.time() - begin > 1.9, "what was added within it is there", got)
again = time.time()
got = c("BF.ADD", "w", "again")
ok(got == 0 or time.time() - begin > 1.9, "what is added again was there", got)
while time.time() - begin < 2.6:
    time.sleep(0.05)
got = c("BF.EXISTS", "w", "again")
ok(got == 1 or time.time() - again > 1.9, "and stays for another window", got)
same(c("BF.EXISTS", "w", "once"), 0, "the rest is forgotten after a window and a quarter")
same(c("BF.ADD", "w", "once"), 1, "and is new again")
size = c("BF.INFO", "w", "SIZE")[0]
for i in range(30):
    c("BF.MADD", "w", *range(i * 100, i * 100 + 100))
    time.sleep(0.1)
ok(c("BF.INFO", "w", "SIZE")[0] < 8 * size and c("BF.INFO", "w", "ITEMS")[0] < 3000,
   "its memory stays bounded", c("BF.INFO", "w"))

print("# good manners")
ok(c.info("bf_bloom_num_objects") == str(len([k for k in c("KEYS", "*")
   if c("TYPE", k) in ("seenbloom", "MBbloom--")])), "INFO counts the filters",
   c.info("bf_bloom_num_objects"))
same(c("COMMAND", "INFO", "bf.merge")[0][1], -3, "the server knows the arity")
docs = c("COMMAND", "DOCS", "bf.insert")
ok(b"VALIDATESCALETO" in repr(docs).encode(), "COMMAND DOCS is filled in")
same(c("COMMAND", "GETKEYS", "BF.MERGE", "a", "b", "c"), [b"a", b"b", b"c"],
     "the server finds all keys of BF.MERGE")
undocumented = [str(n) for n in ("bf.reserve bf.add bf.madd bf.insert bf.exists bf.mexists "
                "bf.has bf.info bf.card bf.merge bf.scandump bf.loadchunk bf.debug "
                "cf.reserve cf.add cf.addnx cf.insert cf.insertnx cf.exists cf.mexists "
                "cf.count cf.del cf.compact cf.info cf.scandump cf.loadchunk cf.debug"
                ).split() if not c("COMMAND", "DOCS", n)]
same(undocumented, [], "every command is documented")
c("CONFIG", "SET", "notify-keyspace-events", "KEA")
sub = s.client()
sub("PSUBSCRIBE", "__keyevent@0__:*")
c("BF.RESERVE", "ev", "0.01", 100)
c("BF.MADD", "ev", "x", "y")
c("BF.MADD", "ev", "x", "y")
c("BF.EXISTS", "ev", "x")
c("BF.ADD", "ev:auto", "x")
c("BF.MERGE", "ev:sum", "ev")
c("BF.DROP", "ev")
c("BF.DROP", "ev")
c("CF.RESERVE", "ev:cf", 100)
c("CF.ADD", "ev:cf", "x")
c("CF.ADDNX", "ev:cf", "x")
c("CF.DEL", "ev:cf", "x")
c("CF.DEL", "ev:cf", "x")
c("SET", "ev:last", 1)
events = []
while not events or events[-1] != "set ev:last":
    _, _, channel, key = sub.read()
    events.append("%s %s" % (channel.decode().split(":")[1], key.decode()))
same([e for e in events if not e.startswith("new ")],
     ["bloom.reserve ev", "bloom.add ev", "bloom.reserve ev:auto", "bloom.add ev:auto",
      "bloom.merge ev:sum", "del ev", "cuckoo.reserve ev:cf", "cuckoo.add ev:cf",
      "cuckoo.del ev:cf", "set ev:last"], "what changes is a keyspace event, once, and nothing else")
f0 = c("FLUSHALL")
# Valkey flushes in the background.
ok(until(lambda: c.info("bf_bloom_num_objects") == "0"), "after FLUSHALL there are no filters")
ok(until(lambda: c.info("bf_bloom_total_memory_bytes") == "0"), "and no bytes")
ok(until(lambda: c.info("bf_cuckoo_total_memory_bytes") == "0"), "neither of CF")

print("# RedisBloom takes nothing more into a filter that has grown as often as allowed")
c("CF.RESERVE", "grown", 4, "LAYOUT", "compat")
same([c("CF.ADD", "grown", i) for i in range(124)], [1] * 124, "124 items of CF.RESERVE cf 4")
for line in ("CF.ADD grown 124", "CF.ADDNX grown 0", "CF.INSERT grown ITEMS 124"):
    same(c.line(line), Err("Maximum expansions reached"), "then refused: " + line)

print("# settings")
t = Server("--bf.bf-error-rate", "0.001", "--bf.bloom-capacity", "5000")
d = t.client()
d("BF.ADD", "k", "x")
same(d("BF.INFO", "k", "CAPACITY"), [5000], "the configuration file sets the capacity")
same(d("BF.INFO", "k", "ERROR"), b"0.001", "and the error")
same(d("CONFIG", "GET", "bf.bloom-fp-rate")[1], b"0.001", "under both names")
d("CONFIG", "SET", "bf.bloom-fp-rate", "0.02")
same(d("CONFIG", "GET", "bf.bf-error-rate")[1], b"0.02", "also when it is changed")
ok(d("CONFIG", "SET", "bf.bloom-fp-rate", "2").startswith("ERR"), "nonsense is refused")
u = Server(args=["ERROR_RATE", "0.005", "INITIAL_SIZE", "700", "layout", "compat"])
d = u.client()
d("BF.ADD", "k", "x")
same(d("BF.INFO", "k", "CAPACITY"), [700], "so do RedisBloom's module arguments")
same(str(d("TYPE", "k")), "MBbloom--", "and the layout is chosen")
done()
