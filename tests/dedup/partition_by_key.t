#!/usr/bin/python3
# seen partition: every line is in one part, equal keys in the same, in order; parts worked
# on one by one give what the whole gives.
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dedup_test import *
import gzip
import random

chance = random.Random(2)


def partition(*options, stdin=None):
    p = subprocess.run([SEEN, "partition", "-q", *options], input=stdin, capture_output=True)
    return p.returncode, p.stderr.decode()


def parts(folder):
    return [get(os.path.join(folder, f)) for f in sorted(os.listdir(folder))]


rows = [b"%d %s" % (chance.randrange(3000), chance.choice([b"x", b"Y ", b"\xff\0z", b""])) for _ in range(40000)]
put("in.txt", b"\n".join(rows) + b"\n")
status, err = partition("-N", "16", "-o", "p", "in.txt")
ok("sixteen files", status == 0 and sorted(os.listdir("p")) == ["part-%02d" % i for i in range(16)], err)
got = parts("p")
split = lambda data: data.split(b"\n")[:-1]
ok("every line once", sorted(r for g in got for r in split(g)) == sorted(rows))
where = {}
for i, g in enumerate(got):
    for r in g.split(b"\n")[:-1]:
        where.setdefault(r, set()).add(i)
ok("equal lines in one part", max(len(v) for v in where.values()) == 1)
ok("about as many in each", 0.8 < len(got[3]) / (sum(map(len, got)) / 16) < 1.25)
uniq = lambda data: subprocess.run([SEEN, "uniq"], input=data, capture_output=True).stdout
ok("seen uniq of the parts is that of the whole",
   sorted(r for g in got for r in split(uniq(g))) == sorted(split(uniq(get("in.txt")))))
status, err = partition("-N", "5", "-k", "1", "-o", "k", "in.txt")
keys = [{r.split()[0] for r in g.split(b"\n")[:-1]} for g in parts("k")]
ok("-k 1: keys do not meet in two parts", status == 0 and sum(map(len, keys)) == len(set().union(*keys)) > 2000, err)
status, err = partition("-N", "16", "-o", "q", "--pack", "gzip", stdin=gzip.compress(get("in.txt")))
ok("standard input, compressed, and the same parts compressed", status == 0 and
   [gzip.decompress(g) for g in parts("q")] == got and os.path.exists("q/part-00.gz"), err)
put("open.txt", b"\n".join(rows[:1000]))
status, err = partition("-N", "3", "-o", "o", "open.txt", "open.txt")
ok("files are not glued together where a newline is missing",
   sorted(b"".join(parts("o")).split(b"\n")[:-1]) == sorted(rows[:1000] * 2), err)

docs = [{"id": i, "text": chance.choice(["a\nb", "é", "c"]) + str(i % 50), "n": 1.0} for i in range(500)]
put("d.jsonl", lines(docs) + lines(docs, ensure_ascii=False))
status, err = partition("-N", "4", "--field", "text", "-o", "j", "d.jsonl")
found = [{json.loads(r)["text"] for r in g.splitlines()} for g in parts("j")]
ok("--field: texts however spelled in one part", status == 0 and sum(map(len, found)) == len(set().union(*found))
   and sorted(b"".join(parts("j")).splitlines()) == sorted(get("d.jsonl").splitlines()), err)
put("bad.jsonl", lines(docs[:3]) + b'{"no": 1}\n')
status, err = partition("-N", "4", "--field", "text", "-o", "b", "d.jsonl", "bad.jsonl")
ok("a line without it is an error with its place, and no file is made", status == 2 and "bad.jsonl:4" in err
   and not os.listdir("b"), err)
status, err = partition("-N", "4", "--field", "text", "--skip-bad", "-o", "b", "d.jsonl", "bad.jsonl")
ok("--skip-bad takes it as it is", status == 0 and b"".join(parts("b")).count(b'{"no": 1}\n') == 1, err)
for options in [["-o", "x"], ["-N", "4"], ["-N", "0", "-o", "x"], ["-N", "4", "-o", "x", "nosuch"],
                ["-N", "4", "-o", "x", "-k", "1", "--field", "a"]]:
    status, err = partition(*options, stdin=b"")
    ok("refused: " + " ".join(options), status == 2 and err.count("\n") == 1, err)

# Documents equal in text may be judged part by part.
texts = [{"id": i, "text": "text number %d" % chance.randrange(800)} for i in range(3000)]
put("t.jsonl", lines(texts))
partition("-N", "4", "--field", "text", "-o", "tp", "t.jsonl")
workers = [subprocess.Popen([SEEN, "dedup", "-q", "--by", "document", "-x", "-o", "td", "tp/part-%d" % i]) for i in range(4)]
good = all(w.wait() == 0 for w in workers)
whole = dedup("-q", "--by", "document", "-x", "t.jsonl")[1]
ok("four processes on four parts keep the documents that one keeps", good and
   sorted(b"".join(parts("td")).splitlines()) == sorted(whole.splitlines()))
plan = json.loads(subprocess.run([SEEN, "plan", "--corpus", "300G", "--json"], capture_output=True).stdout)
ok("seen plan --corpus: memory for each way", [r["options"] for r in plan][:2] == ["", "--sample 8"]
   and 50e9 < plan[0]["memory"] < 90e9 and abs(plan[0]["memory"] / plan[1]["memory"] - 8) < 0.1, plan)
plan = json.loads(subprocess.run([SEEN, "plan", "--corpus", "300G", "-m", "10G", "--json"], capture_output=True).stdout)
ok("with -m: the error that can be had", plan[0]["error"] > 0.3 and plan[0]["memory"] <= 10 << 30, plan)
finish()
