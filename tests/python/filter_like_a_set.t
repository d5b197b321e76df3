#!/usr/bin/python3
"""seen.Filter does what people know from set and rbloom, and says what it costs."""
import datetime
import uuid
import copy
import multiprocessing
import pickle
import random

from python_test import *

f = seen.Filter(10000, 0.001)
ok(f.add("a") is True and f.add("a") is False, "add tells new from seen")
ok("a" in f and "b" not in f, "in asks")
f.update(str(i) for i in range(5000))
ok(all(str(i) in f for i in range(5000)), "update takes an iterable")
ok(4990 < len(f) <= 5001, "len counts distinct keys, but for false positives", len(f))
same(list(f.add_many(["x", "y", "x"])), [True, True, False], "of equal keys in a batch one is new")
same(list(f.has_many(["x", "never", "5"])), [True, False, True], "has_many answers in order")
same(f.has_many([]).tolist(), [], "an empty batch has an empty answer")
ok(f.has_many(["x"])[0] is True, "answers are bools")
wrong = sum(f.has_many(["absent %d" % i for i in range(100000)]))
ok(wrong < 100 + 6 * 10, "the error is the promised one: %d of 100000" % wrong)
ok(0 < f.error <= 0.001 and f.nbytes > 0 and f.expected_lost < 5 and f.keys == len(f),
   "error, nbytes, expected_lost and keys are told")
ok({"kind", "bits", "fill", "error_now", "error_wanted"} <= set(f.info()), "info is a dict")
ok("promised" in repr(f), "repr describes it")

# Growing: n is not known.
g = seen.Filter(1000, 0.01)
g.update(range(200000))
wrong = sum(g.has_many(range(200000, 300000)))
ok(g.info()["layers"] > 1 and wrong < 1000 + 6 * 32, "a grown filter keeps its error: %d" % wrong)
ok(sum(g.has_many(range(200000))) == 200000, "and denies no key")

# Every kind, and the kinds that remove.
for kind in ("classic", "blocked", "split", "set", "cuckoo"):
    k = seen.Filter(1000, 0.01, kind=kind)
    k.update(range(1000))
    ok(k.kind == kind and all(i in k for i in range(1000)), kind + " holds its keys")
r = seen.Filter(1000, 0.01, removes=True)
r.update(range(100))
ok(r.remove(5) is True and sum(r.has_many(range(100))) >= 99, "remove takes one key out")
raises(seen.KindError, "a kind that cannot remove says so", f.remove, "a")

# Merging, copying, clearing.
a, b = seen.Filter(1000, 0.01), seen.Filter(1000, 0.01)
a.update(range(100)), b.update(range(100, 200))
c = a | b
ok(all(i in c for i in range(200)) and len(a) == 100, "| makes a third, a stays")
a |= b
ok(all(i in a for i in range(200)), "|= adds")
raises(seen.MismatchError, "different sizes do not merge", lambda: a | seen.Filter(2000, 0.01))
raises(TypeError, "nor does a set", lambda: a | {1})
d = a.copy()
d.add(12345678)
ok(12345678 in d and 12345678 not in a, "a copy is independent")
ok(5 in copy.copy(a) and 5 in copy.deepcopy(a), "copy and deepcopy too")
d.clear()
ok(5 not in d and len(d) == 0, "clear forgets")

secret = seen.Filter(1000, 0.01, seed="random")
raises(seen.MismatchError, "random seeds differ", lambda: secret | seen.Filter(1000, 0.01, seed="random"))
twin = secret.copy()
twin.clear()
twin.add("x")
ok("x" in (secret | twin) and "x" in seen.Filter.from_bytes(bytes(twin)), "an emptied copy has the same seed")

# Files, bytes, pickles.
a.save("a.seen")
with seen.open("a.seen") as m:
    ok(all(i in m for i in range(200)) and m.info()["mapped"], "open maps a saved filter")
    raises(seen.ReadOnlyError, "read-only", m.add, 1)
    ok(5 in pickle.loads(pickle.dumps(m)) and len(pickle.dumps(m)) < 500,
       "a mapped filter is pickled by its name")
ok(m.closed, "the with statement closes it")
with seen.open("a.seen", "r+") as w:
    w.add(987654321)
ok(987654321 in seen.open("a.seen"), "r+ adds in place")
ok(5 in seen.Filter.from_bytes(bytes(a)), "bytes and back")
ok(type(pickle.loads(pickle.dumps(a))) is seen.Filter and 7 in pickle.loads(pickle.dumps(a)),
   "pickle and back")
seen.open("a.seen", "load").verify()
ok(True, "verify accepts a good file")


def add_some(n):
    with seen.open("shared.seen", "shared") as s:
        s.update(range(n * 1000, n * 1000 + 1000))


seen.Filter(10000, 0.001, shared=True).save("shared.seen")
with multiprocessing.get_context("fork").Pool(4) as pool:
    pool.map(add_some, range(8))
ok(sum(seen.open("shared.seen").has_many(range(8000))) == 8000,
   "many processes add to one mapped file")


def count_in(args):
    f, lo = args
    return sum(f.has_many(range(lo, lo + 1000)))


with multiprocessing.get_context("fork").Pool(2) as pool:
    m = seen.open("shared.seen")
    same(pool.map(count_in, [(m, 0), (m, 5000)]), [1000, 1000], "a pool asks a mapped filter sent by pickle")

# Static filters.
b = seen.Builder(1 / 256)
b.update(range(50000))
b.add(123456789)
raises(TypeError, "a builder takes keys of one type", b.add, "text")
s = b.finish()
ok(s.kind == "ribbon" and s.key_type == "int64" and 123456789 in s and sum(s.has_many(range(50000))) == 50000,
   "a built filter has every key")
ok(s.nbytes * 8 / 50001 < 8.3, "in %.2f bits a key" % (s.nbytes * 8 / 50001))
raises(ValueError, "a finished builder takes no more", b.add, "x")
raises(seen.KindError, "a static filter takes no key", s.add, 5)

# What the keys are.
t = seen.Filter(1000, 0.001)
same(t.key_type, "unsaid", "a new filter has no type")
t.add("text")
same((t.key_type, b"text" in t), ("text", True), "the first key decides; text and bytes are one")
for wrong in (5, 1.5, uuid.uuid4(), datetime.date(2026, 11, 16), datetime.datetime(2026, 11, 16), ("a", "b")):
    for how in (t.add, lambda k: k in t, lambda k: t.has_many([k]), lambda k: t.update(["fine", k])):
        why = raises(TypeError, "%.20r is not text" % (wrong,), how, wrong)
    ok("this filter holds text" in str(why), "which is said: %s" % why)
ok("fine" in t, "the keys before it are in")
for key in (5, 1.5, uuid.uuid4(), datetime.date(2026, 11, 16), datetime.datetime(2026, 11, 16, 1, 2, 3, 4), ("a", 1)):
    u = seen.Filter(10, 1e-6)
    u.add(key)
    for v in (u.copy(), pickle.loads(pickle.dumps(u)), seen.Filter.from_bytes(bytes(u))):
        ok(key in v and v.key_type == u.key_type != "text", "%.20r is of the type %s and stays it" % (key, v.key_type))
utc = datetime.timezone.utc
same(datetime.datetime(2026, 1, 1) in (lambda f: (f.add(datetime.datetime(2026, 1, 1, tzinfo=utc)), f)[1])(seen.Filter(10)), True,
     "a datetime without a zone is its clock")
w = seen.Filter(10, 1e-6)
w.add(0.0)
ok(-0.0 in w and 1.0 not in w, "0.0 and -0.0 are one key")
t.key_type = "mixed"
ok(t.add(5) and 5 in t and "text" in t, "a mixed filter takes any")
raises(ValueError, "an unknown type", setattr, t, "key_type", "colour")
raises(TypeError, "another type", setattr, w, "key_type", "text")

# Which filter it is.
t.save("id.seen")
before = seen.open("id.seen").identity
t.add("one more")
t.save("id.seen")
after = seen.open("id.seen").identity
ok(before[0] == after[0] and before[1] < after[1], "a state has the id of the filter and a generation of its own")
ok(seen.Filter(10).identity[0] != before[0], "another filter another id")

# The rest of the house.
same(list(seen.uniq("abracadabra")), list("abrcd"), "uniq keeps the order")
same(list(seen.uniq([3, 1, 4, 1, 5], key=lambda x: x % 2)), [3, 4], "uniq by a key")
kept = len(list(seen.uniq(range(1000), error=0.01)))
ok(1000 - 10 - 6 * 4 <= kept <= 1000, "uniq with an error loses few: %d of 1000 kept" % kept)
p = seen.plan(1e6, 0.01)
ok(p[0]["kind"] == "blocked" and {r["kind"] for r in p} >= {"classic", "split", "cuckoo", "ribbon"},
   "plan shows every kind, the choice first")
ok("guava" in seen.formats(), "formats are listed")
m = seen.Bitmap(1000)
truth = set(random.Random(1).sample(range(1000), 300))
m.update(truth)
same(list(m), sorted(truth), "a bitmap sorts")
ok(all((i in m) == (i in truth) for i in range(1000)) and len(m) == 300, "and is exact")
same(m.count(100, 200), len([i for i in truth if 100 <= i < 200]), "count of a range")
n = seen.Bitmap(1000)
n.update(range(500))
m &= n
same(list(m), sorted(i for i in truth if i < 500), "&= intersects")
raises(IndexError, "an integer outside is an error", m.add, 1000)
ok(m.discard(min(truth)) and min(truth) not in m, "discard clears")
done()
