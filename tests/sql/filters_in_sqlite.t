#!/usr/bin/python3
"""The extension for SQLite: filters as blobs, the same keys as in C, Python and the command;
hostile blobs are errors, and files are opened only where a setting allows it."""
import json
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(TOP, os.environ.get("BUILD", "build"))
sys.path[:0] = [os.path.join(TOP, "tests"), os.path.join(BUILD, "python")]
from tap import done, ok, raises, same, skip_all  # noqa: E402

if not os.path.exists(BUILD + "/sqlite/seen.so"):
    skip_all("the extension was not built: package libsqlite3-dev is not installed")
if not hasattr(sqlite3.connect(":memory:"), "enable_load_extension"):
    skip_all("this Python's sqlite3 cannot load extensions")

work = tempfile.mkdtemp(prefix="seen-sqlite-")
os.environ["SEEN_SQLITE_FILES"] = work


def connect():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(BUILD + "/sqlite/seen")
    return db


db = connect()


def one(sql, *args):
    return db.execute(sql, args).fetchone()[0]


db.execute("CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) "
           "SELECT i AS id, 'user' || i AS name FROM n")
db.execute("CREATE TABLE f AS SELECT seen_build(id, 0.001) AS ids, seen_build(name) AS names FROM t")
same(one("SELECT count(*) FROM t WHERE NOT seen_has((SELECT ids FROM f), id)"), 0, "no key is denied")
same(one("SELECT count(*) FROM t, f WHERE NOT seen_has(names, name)"), 0, "text keys")
wrong = one("SELECT count(*) FROM t WHERE seen_has((SELECT ids FROM f), id + 100000)")
ok(wrong < 100 + 6 * 10, "the error is the promised one: %d of 100000" % wrong)
raises(sqlite3.OperationalError, "text is not an integer, which is said", one, "SELECT seen_has(ids, '5') FROM f")
same(one("SELECT seen_has(ids, NULL) IS NULL AND seen_has(NULL, 5) IS NULL FROM f"), 1, "NULL gives NULL")
ok(0.0005 < json.loads(one("SELECT seen_info(ids) FROM f"))["error_now"] <= 0.001, "seen_info is JSON")
d = one("SELECT seen_distinct(id % 3000) FROM t")
ok(abs(d - 3000) < 6 * 0.008 * 3000, "seen_distinct: %d" % d)
same(one("SELECT seen_distinct(id) FROM t WHERE 0"), 0, "of nothing, 0")
same(one("SELECT seen_has(seen_build(id), 1) FROM t WHERE 0"), 0, "a filter of nothing is a filter")
same(one("SELECT count(*) FROM t WHERE id <= 300 AND NOT seen_has((SELECT seen_merge(b) FROM "
         "(SELECT seen_build(id, 0.01, 1000) AS b FROM t WHERE id <= 300 GROUP BY id % 3)), id)"), 0,
     "filters built for one number of keys merge")
raises(sqlite3.OperationalError, "others do not", one, "SELECT seen_merge(b) FROM (SELECT ids AS b FROM f UNION ALL SELECT names FROM f)")
same(one("SELECT group_concat(n) FROM (SELECT id % 2 AS g, sum(seen_has(b, id)) AS n FROM t, (SELECT id % 2 AS h, seen_build(id, 0.0001) AS b "
         "FROM t WHERE id < 1000 GROUP BY 1) WHERE g = h AND id < 1000 GROUP BY 1)"), "499,500", "filters change from row to row")

# The same keys everywhere.
blob = one("SELECT names FROM f")
open(work + "/names.seen", "wb").write(blob)
asked = "".join("user%d\n" % i for i in range(1, 1001))
out = subprocess.run([BUILD + "/seen", "has", "-v", work + "/names.seen"], input=asked, stdout=subprocess.PIPE, text=True)
same(out.stdout, "", "the command finds every name that SQL added")
keys = [5, -7, 2**62, "käse", "", b"\x00\xff", 1.5, -0.0]
raises(sqlite3.OperationalError, "keys of several types are not one filter",
       db.execute, "SELECT seen_build(column1, 0.0001) FROM (VALUES %s)" % ",".join(["(?)"] * len(keys)), keys)
if os.path.exists(BUILD + "/python/seen/_seen.abi3.so"):
    import seen
    ok(all(k in seen.Filter.from_bytes(one("SELECT seen_build(?, 0.0001)", k)) for k in keys), "Python finds every type of key")
    g = seen.Filter(100, 0.0001)
    g.key_type = "mixed"
    for k in keys:
        g.add(k)
    same([one("SELECT seen_has(?, ?)", bytes(g), k) for k in keys], [1] * len(keys), "and SQL finds Python's")

# Files, only where allowed.
same(one("SELECT seen_has('names.seen', 'user5') + seen_has('names.seen', 'nobody')"), 1, "a file by its name")
os.rename(work + "/names.seen", work + "/old.seen")
raises(sqlite3.OperationalError, "a file that is gone is noticed", one, "SELECT seen_has('names.seen', 'user5')")
open(work + "/names.seen", "wb").write(one("SELECT seen_build('nobody')"))
same(one("SELECT seen_has('names.seen', 'user5') + 2 * seen_has('names.seen', 'nobody')"), 2, "and so is a file that was replaced")
os.rename(work + "/old.seen", work + "/more.seen")
same(one("SELECT seen_has(seen_merge(n), 'nobody') + 2 * seen_has(seen_merge(n), 'user5') FROM (SELECT 'names.seen' AS n UNION ALL SELECT 'names.seen')"), 1,
     "each row of seen_merge has its own file")
for name in ("../names.seen", "/etc/passwd", "", "none.seen", "names.seen\0x"):
    raises(sqlite3.OperationalError, "not %r" % name, one, "SELECT seen_has(?, 1)", name)
code = ("import sqlite3; d = sqlite3.connect(':memory:'); d.enable_load_extension(True); d.load_extension(%r); "
        "print(d.execute(\"SELECT seen_has('names.seen', 1)\").fetchone())" % (BUILD + "/sqlite/seen"))
env = {k: v for k, v in os.environ.items() if k != "SEEN_SQLITE_FILES"}
out = subprocess.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
ok("SEEN_SQLITE_FILES" in out.stdout, "without the setting no file is opened", out.stdout)

# Errors.
for sql in ("SELECT seen_build(id, 2.0) FROM t", "SELECT seen_build(id, -1) FROM t", "SELECT seen_build(id, 0.01, -5) FROM t",
            "SELECT seen_has(5, 5)", "SELECT seen_has(x'', 5)", "SELECT seen_info(x'00')", "SELECT seen_merge(5)"):
    raises(sqlite3.OperationalError, sql + " is an error", one, sql)
small = one("SELECT seen_build(id) FROM t WHERE id < 100")
rng = random.Random(1)
errors = 0
for n in range(2000):
    b = bytearray(small)
    for _ in range(rng.randint(1, 4)):
        b[rng.randrange(len(b)) if rng.random() < 0.3 else rng.randrange(256)] = rng.randrange(256)
    if rng.random() < 0.3:
        b = b[:rng.randrange(len(b))]
    try:
        one("SELECT seen_has(?, 5) + length(seen_info(?))", bytes(b), bytes(b))
    except sqlite3.OperationalError:
        errors += 1
ok(1500 < errors <= 2000, "2000 mutated blobs: errors, never a crash", errors)
same(one("SELECT seen_has(?, 5)", small), 1, "and the next good one is asked as before")
shutil.rmtree(work)
done()
