#!/usr/bin/python3
"""docs/keys.md, the whole table: a key of each type, written by each front end, is found by every
other that can say it; a key of another type is refused in words, and never called absent."""
import array
import datetime
import json
import sqlite3
import subprocess
import uuid

from postgres_server import *

sys.path.insert(0, BUILD + "/python")
work = tempfile.mkdtemp(prefix="seen-keys-")
atexit.register(shutil.rmtree, work, ignore_errors=True)
os.chmod(work, 0o755)

KEYS = {
    "text": "käse",
    "bytes": b"\x00\xff",
    "int64": -7,
    "uint64": 2**63 + 5,
    "float": 1.5,
    "uuid": uuid.UUID("12345678-9abc-def0-1234-56789abcdef0"),
    "date": datetime.date(1969, 7, 20),
    "timestamp": datetime.datetime(2026, 11, 16, 1, 2, 3, 456789),
    "tuple": ("ab", 7),
}
ONE = [{"text", "bytes"}, {"int64", "uint64"}]


def match(a, b):
    return a == b or {a, b} in ONE


class Command:
    says = ("text", "int64", "uint64", "uuid")

    def write(self, path, kind, key):
        subprocess.run([BUILD + "/seen", "new", "--key-type", kind, path], check=True)
        subprocess.run([BUILD + "/seen", "add", path], input="%s\n" % key, text=True, check=True)

    def ask(self, path, kind, key):
        out = subprocess.run([BUILD + "/seen", "has", "-q", "--word", str(key), path], capture_output=True, text=True)
        return out.stderr if out.returncode == 2 else out.returncode == 0


class Python:
    says = tuple(KEYS)

    def __init__(self):
        import seen
        self.seen = seen

    def write(self, path, kind, key):
        f = self.seen.Filter(100, 1e-6)
        f.update(array.array("Q", [key]) if kind == "uint64" else [key])
        f.save(path)

    def ask(self, path, kind, key):
        try:
            return key in self.seen.open(path)
        except TypeError as why:
            return str(why)


SCRIPT = """
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
const { load } = await import(process.argv[2]);
const seen = await load();
const keyOf = { text: String, bytes: (k) => Uint8Array.from(k), int64: BigInt, tuple: (k) => k };
for await (const line of createInterface({ input: process.stdin })) {
  const { what, path, kind, key } = JSON.parse(line);
  let answer;
  try {
    if (what === "write") {
      const f = new seen.Filter({ keys: 100, error: 1e-6 });
      if (kind === "uint64") f.addMany(BigUint64Array.of(BigInt(key)));
      else f.add(keyOf[kind](key));
      writeFileSync(path, f.save());
      answer = true;
    } else {
      const f = seen.open(readFileSync(path));
      answer = kind === "uint64" ? f.hasMany(BigUint64Array.of(BigInt(key)))[0] === 1 : f.has(keyOf[kind](key));
    }
  } catch (error) {
    answer = error.message;
  }
  process.stdout.write(JSON.stringify(answer) + "\\n");
}
"""


class JavaScript:
    says = ("text", "bytes", "int64", "uint64", "tuple")

    def __init__(self):
        with open(work + "/ask.mjs", "w") as f:
            f.write(SCRIPT)
        self.node = subprocess.Popen(["node", work + "/ask.mjs", BUILD + "/wasm/seen.mjs"], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def call(self, what, path, kind, key):
        key = list(key) if kind in ("bytes", "tuple") else str(key)
        self.node.stdin.write(json.dumps({"what": what, "path": path, "kind": kind, "key": key}) + "\n")
        self.node.stdin.flush()
        return json.loads(self.node.stdout.readline())

    def write(self, path, kind, key):
        assert self.call("write", path, kind, key) is True

    def ask(self, path, kind, key):
        return self.call("ask", path, kind, key)


class SQLite:
    says = ("text", "bytes", "int64", "float")

    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(BUILD + "/sqlite/seen")

    def write(self, path, kind, key):
        with open(path, "wb") as f:
            f.write(self.db.execute("SELECT seen_build(?, 1e-6)", (key,)).fetchone()[0])

    def ask(self, path, kind, key):
        with open(path, "rb") as f:
            try:
                return self.db.execute("SELECT seen_has(?, ?)", (f.read(), key)).fetchone()[0] == 1
            except sqlite3.OperationalError as why:
                return str(why)


class PostgreSQL:
    says = ("text", "bytes", "int64", "float", "uuid", "date", "timestamp")
    types = {"int64": "bigint", "float": "float8", "bytes": "bytea"}

    def __init__(self):
        self.pg = Postgres()
        self.pg.sql("CREATE EXTENSION seen")

    def key(self, kind, key):
        return "%s::%s" % ("'\\x%s'" % key.hex() if kind == "bytes" else "'%s'" % key, self.types.get(kind, kind))

    def write(self, path, kind, key):
        hexed = self.pg.sql("SELECT encode(seen_build(%s, 1e-6)::bytea, 'hex')" % self.key(kind, key))
        with open(path, "wb") as f:
            f.write(bytes.fromhex(hexed.replace("\n", "")))

    def ask(self, path, kind, key):
        with open(path, "rb") as f:
            out = self.pg.sql("SELECT '\\x%s'::seen @> %s" % (f.read().hex(), self.key(kind, key)))
        return out == "t" if out in ("t", "f") else out


houses = {"Python": (Python, "/python/seen/_seen.abi3.so"), "JavaScript": (JavaScript, "/wasm/seen.mjs"),
          "SQLite": (SQLite, "/sqlite/seen.so"), "PostgreSQL": (PostgreSQL, "/postgres/seen.so"), "the command": (Command, "/seen")}
houses = {name: make() for name, (make, built) in houses.items() if os.path.exists(BUILD + built)}
if len(houses) < 5:
    print("# not built, and left out: %s" % ", ".join({"Python", "JavaScript", "SQLite", "PostgreSQL"} - set(houses)))
pairs = 0
for writer, w in houses.items():
    for kind in w.says:
        path = "%s/%s-%s" % (work, type(w).__name__, kind)
        w.write(path, kind, KEYS[kind])
        wrong = []
        for asker, a in houses.items():
            for other in a.says:
                if match(kind, other) and other != kind:
                    continue  # another key of the same bytes' type: absent or not, it is answered
                if match(kind, "text") and asker == "the command" and other != kind:
                    continue  # digits are text to it
                answer = a.ask(path, other, KEYS[other])
                right = answer is True if other == kind else \
                    isinstance(answer, str) and "filter holds" in answer
                pairs += 1
                if not right:
                    wrong.append("%s asked with %s: %r" % (asker, other, answer))
        same(wrong, [], "%s in a filter of %s: found, and other types refused in words" % (kind, writer))
ok(pairs > 150, "%d pairs" % pairs)
done()
