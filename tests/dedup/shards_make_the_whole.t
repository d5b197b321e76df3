#!/usr/bin/python3
# N runs with --shard, each with its part of the hashes, and --combine give exactly what one
# run gives; marks that are not those of the files are refused.
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dedup_test import *
import gzip
import random
import shutil

chance = random.Random(21)
WORDS = ["w%d" % i for i in range(500)]
pool = [" ".join(chance.choices(WORDS, k=chance.randrange(1, 30))) for _ in range(2000)]
for n in range(4):
    docs = [{"id": ["x", i] if i % 7 == 0 else "d%d" % i, "text": "\n".join(chance.choices(pool, k=chance.randrange(6)))}
            for i in range(500)]
    if n == 2:
        del docs[3]["id"]
    put("in/%s.jsonl" % "abcd"[n], lines(docs))
put("in/packed.jsonl.gz", gzip.compress(get("in/b.jsonl") + lines([{"id": 1, "text": "é\nü " * 30}] * 2)))


def tree(folder):
    return {f: get(os.path.join(folder, f)) for f in sorted(os.listdir(folder))}


def run(*words):
    p = dedup("-q", *words)
    if p[0]:
        raise SystemExit("%s: %s" % (words, p[2]))


for mode in [["--by", "paragraph"], ["--by", "paragraph", "-x"], ["--by", "document", "-x"],
             ["--by", "paragraph", "-x", "--normalize", "lower", "--split", "blank-line"]]:
    for f in ["out", "whole", "marks", "marked", "merged"]:
        shutil.rmtree(f, True)
    run(*mode, "-o", "whole", "in")
    shards = [subprocess.Popen([SEEN, "dedup", "-q", *mode, "--shard", "%d/4" % i, "-o", "marks/%d" % i, "in"])
              for i in [1, 2, 3, 4]]
    good = all(s.wait() == 0 for s in shards)
    parts = [w for i in [1, 2, 3, 4] for w in ["--combine", "marks/%d" % i]]
    run(*parts, *mode, "-j", "2", "-o", "out", "in")
    ok("four processes and --combine: %s" % " ".join(mode), good and tree("out") == tree("whole"))
    run(*mode, "--mark", "-o", "marked", "in")
    run(*parts, *mode, "--mark", "-o", "merged", "in")
    ok("their marks together are those of one run", tree("marked") == tree("merged"))
sizes = [len(b"".join(tree("marks/%d" % i).values())) for i in [1, 2, 3, 4]]
ok("every part has something to say", min(sizes) > 0)
run("--mark", "-o", "ngrams", "in")
run("-o", "cut", "in")
run("--combine", "ngrams", "-o", "applied", "in")
ok("marks by n-grams can be applied later", tree("applied") == tree("cut"))

status, _, err = dedup("-q", "--combine", "ngrams", "--split", "blank-line", "-o", "no", "in/a.jsonl")
ok("marks of another splitting are refused", status == 2 and "does not fit" in err, err)
shutil.copytree("ngrams", "other")
os.rename("other/a.jsonl", "other/x")
os.rename("other/b.jsonl", "other/a.jsonl")
for what, name, words in [("marks of another file", "a.jsonl", "does not fit"),
                          ("no marks", "b.jsonl", "has no marks of b.jsonl")]:
    status, _, err = dedup("-q", "--combine", "other", "-o", "no", "in/" + name)
    ok(what + " are refused", status == 2 and words in err and not os.path.exists("no/" + name), err)
for end, words in [(-1, "does not fit"), (None, "more documents")]:
    data = get("ngrams/d.jsonl").splitlines(True)
    put("other/d.jsonl", b"".join(data[:end]) if end else b"".join(data + data[-1:]))
    status, _, err = dedup("-q", "--combine", "other", "-o", "no", "in/d.jsonl")
    ok("marks of %s documents are refused" % ("fewer" if end else "more"), status == 2 and words in err, err)
status, _, err = dedup("-q", "--shard", "1/4", "-o", "no", "in")
ok("n-grams cannot be decided in parts", status == 2 and "n-grams" in err, err)
for bad in ["0/4", "5/4", "1", "1/x", "-1/4", "1/4x"]:
    status, _, err = dedup("-q", "--by", "paragraph", "--shard", bad, "-o", "no", "in")
    ok("--shard %s is refused" % bad, status == 2 and "1/4" in err, err)
finish()
