#!/usr/bin/python3
"""Nothing that a Python program does wrong crashes, hangs or leaks: it gets an exception."""
import array
import gc
import signal
import subprocess
import threading

from python_test import *

f = seen.Filter(1000, 0.01)

# Keys that are none.
for bad in (None, 1.5j, [1], {1: 2}, {1}, object(), ("a", ("b",)), ("a", None), 2**64, -2**63 - 1, "\ud800"):
    why = raises((TypeError, OverflowError, UnicodeEncodeError), "%.40r is not a key" % (bad,), f.add, bad)
ok("str" in str(raises(TypeError, "and the error", f.add, 1.5j)), "says what to pass")
raises(TypeError, "nor can it be asked", lambda: 1.5j in f)
raises(TypeError, "a str is one key, not many", f.update, "abc")
raises(TypeError, "so are bytes", f.has_many, b"abc")
raises(TypeError, "a batch must be iterable", f.update, 5)
raises(TypeError, "a bad key in a batch", f.update, ["good", None])
ok("good" in f, "and the keys before it are in, as with a set")


def broken():
    yield "before"
    raise RuntimeError("mine")


raises(RuntimeError, "an exception of the iterable comes through", f.update, broken())
ok("before" in f, "after the keys before it")

# Specifications that cannot be.
raises(seen.InvalidError, "an error of 2", seen.Filter, 1000, 2.0)
raises(ValueError, "an unknown kind", seen.Filter, 1000, kind="magic")
raises(ValueError, "a static kind takes no keys one by one", seen.Filter, 1000, kind="ribbon")
raises(ValueError, "a negative number of keys", seen.Filter, -1)
raises(TypeError, "an unknown keyword", seen.Filter, 1000, wrong=1)
raises((MemoryError, OverflowError, seen.SeenError), "more than any machine has", seen.Filter, 2**62, 1e-9)
full = seen.Filter(10, 0.01, fixed=True)
raises(seen.FullError, "a fixed filter gets full", full.update, range(1000))

hot = seen.Filter(1000, 0.01, kind="cuckoo")
for _ in range(9):
    hot.add("hot")
why = raises(seen.ForeverError, "a key that was added nine times cannot be removed", hot.remove, "hot")
ok("added 8 times" in str(why) and "hot" in hot, "it says why, and the key stays")

# Files.
why = raises(FileNotFoundError, "a missing file", seen.open, "none.seen")
ok(why.filename == "none.seen" and why.errno == 2, "errno and filename are there")
raises(ValueError, "an unknown mode", seen.open, "none.seen", "w")
open("text", "w").write("not a filter\n" * 100)
raises(seen.FormatError, "a text file", seen.open, "text")
raises(seen.FormatError, "garbage", seen.Filter.from_bytes, b"garbage" * 100)
raises(seen.SeenError, "nothing at all", seen.Filter.from_bytes, b"")
good = bytearray(bytes(f))
good[len(good) // 2] ^= 1
raises(seen.DamagedError, "a flipped bit", seen.Filter.from_bytes, good)
for n in range(0, len(good), 97):
    try:
        seen.Filter.from_bytes(good[:n])
        ok(False, "cut at %d" % n)
    except seen.SeenError:
        pass
ok(True, "a file cut anywhere is an error")
raises(OSError, "no such folder", f.save, "none/at/all.seen")
f.save("busy.seen")
with seen.open("busy.seen", "r+"):
    raises(seen.BusyError, "a second writer", seen.open, "busy.seen", "r+")

# Closed.
g = seen.Filter(100)
g.close()
g.close()
for name, call in (("add", lambda: g.add(1)), ("in", lambda: 1 in g), ("update", lambda: g.update([1])),
                   ("len", lambda: len(g)), ("save", lambda: g.save("x")), ("copy", g.copy),
                   ("info", g.info), ("bytes", lambda: bytes(g)), ("merge", lambda: f.copy() | g),
                   ("with", lambda: g.__enter__()), ("error", lambda: g.error), ("clear", g.clear)):
    raises(ValueError, "closed: " + name, call)
ok("closed" in repr(g), "repr says so")


# Closed, or changed, by the iterable it is being fed from.
def closing(f):
    for i in range(40000):
        if i == 20000:
            f.close()
        yield i


h = seen.Filter()
raises(ValueError, "closed by its own iterable", h.update, closing(h))
h = seen.Filter(1000)
h.update(x for x in range(500) if x not in h)
ok(len(h) >= 490, "an iterable may ask the filter it feeds")

# Threads: adding, asking, merging and closing at once.
shared = seen.Filter(400000, 0.01)
other = seen.Filter(400000, 0.01)
other.update(range(1000))
errors = []


def busy(n):
    try:
        for _ in range(3):
            numbers = array.array("Q", range(n * 50000, n * 50000 + 50000))
            shared.update(numbers)
            if sum(shared.has_many(numbers)) != 50000:
                errors.append("lost")
            shared.add(n)
            shared.copy()
    except Exception as why:
        errors.append(why)


def merging():
    global shared, other
    a, b = shared, other
    for _ in range(20):
        a |= b
        b |= a


threads = [threading.Thread(target=busy, args=(n,)) for n in range(4)] + [threading.Thread(target=merging)]
for t in threads:
    t.start()
for t in threads:
    t.join(120)
ok(not errors and not any(t.is_alive() for t in threads), "threads share a filter", errors[:1])
ok(sum(shared.has_many(range(200000))) == 200000, "and no key is lost")


# Signals in the middle of a batch.
def alarm(*_):
    raise KeyboardInterrupt


signal.signal(signal.SIGALRM, alarm)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    while True:
        seen.Filter(10**6).update(array.array("Q", bytes(8 * 10**6)))
except KeyboardInterrupt:
    ok(True, "Ctrl-C ends a batch")

# A second interpreter.
inner = "import sys; sys.path[:0] = %r\nimport seen" % (sys.path[:2],)
code = """
try:
    import _xxsubinterpreters as sub
except ImportError:
    import _interpreters as sub
try:
    out = sub.run_string(sub.create(), %r)
except BaseException as why:
    out = why
print(out)
""" % (inner,)
out = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
if "No module named" in out.stdout:
    print("# this Python has no subinterpreters")
else:
    # In our words, or from Python 3.12 on in its own.
    told = "main interpreter" in out.stdout or "does not support loading in subinterpreters" in out.stdout
    ok(out.returncode == 0 and told, "a subinterpreter is refused", out.stdout)


# Leaks: the same work again takes no more memory.
def work():
    a = seen.Filter(2000)
    a.key_type = "mixed"
    a.update(str(i) for i in range(1000))
    a.update(range(1000))
    a.add(("tuple", 1, b"x"))
    a.has_many(["x"] * 1000)
    (a | a.copy()).copy().close()
    seen.Filter.from_bytes(bytes(a))
    a.save("leak.seen")
    with seen.open("leak.seen") as m:
        m.info(), repr(m)
    for bad in (None, 1.5j, ("a", None), 2**70):
        try:
            a.add(bad)
        except Exception:
            pass
    try:
        a.update(["x", None])
    except TypeError:
        pass
    try:
        seen.open("none")
    except OSError:
        pass
    b = seen.Builder()
    b.update(range(100))
    b.finish()
    list(seen.Bitmap(1000))
    seen.plan(1000, 0.01)


def pages():
    return int(open("/proc/self/statm").read().split()[1])


# Free lists and caches breathe, so the least of four trials counts: a leak of one object
# a round shows in all of them.
grown = []
for trial in range(5):
    gc.collect()
    before = sys.getallocatedblocks(), pages()
    for _ in range(150):
        work()
    gc.collect()
    grown.append((sys.getallocatedblocks() - before[0], pages() - before[1]))
ok(min(b for b, _ in grown[1:]) < 100, "no Python object is leaked in 150 rounds", grown)
ok(min(p for _, p in grown[1:]) < 100, "nor memory of the library", grown)
done()
