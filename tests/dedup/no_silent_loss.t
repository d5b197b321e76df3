#!/usr/bin/python3
# What false positives cost is predicted and limited; a bad guess of the size is harmless
# or stops the run; what was removed can be looked at, with where it was first seen.
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dedup_test import *
import gzip
import random

chance = random.Random(4)


def words(n):
    return " ".join("w%x" % chance.getrandbits(40) for _ in range(n))


def report(*options):
    status, out, err = dedup("--json", *options)
    return json.loads(err[err.index("{"):]) if status == 0 else {"failed": err}


# Every paragraph is new, so each that goes goes wrongly: as many as predicted, at six
# sigma of a sum of rare events.
put("13.jsonl", lines({"id": i, "text": "\n".join(words(13) for _ in range(20))} for i in range(1500)))
put("7.jsonl", lines({"id": i, "text": "\n".join(words(7) for _ in range(20))} for i in range(1500)))
put("40.jsonl", lines({"id": i, "text": "\n".join(words(40) for _ in range(20))} for i in range(300)))
for name, options, least, most, off in [
        ("13.jsonl", ["-e", "0.1", "-n", "30000"], 300, 3000, 0.05),
        ("13.jsonl", ["-m", "12K"], 300, 30000, 0.05),
        ("7.jsonl", ["-e", "0.2", "-n", "60000"], 100, 2000, 0.05),
        ("7.jsonl", [], 0, 3, 0),
        ("40.jsonl", ["-m", "64K", "-t", "0.2"], 10, 6000, 0.3),  # so full that the filter itself has lost count
        ("40.jsonl", ["-e", "0.1"], 0, 1, 0),
        ("7.jsonl", ["--by", "paragraph", "-e", "0.05", "-n", "30000"], 200, 1500, 0.05),
        ("7.jsonl", ["--by", "paragraph"], 0, 0, 0)]:
    r = report("-q", "--max-lost", "1G", *options, "-o", "out", name)
    lost, predicted = r.get("paragraphs_removed", -1), r.get("expected_wrongly_removed", -1)
    ok("%s %s: %d removed, %.3g predicted" % (name, " ".join(options), lost, predicted),
       least <= lost <= most and abs(lost - predicted) <= 6 * (predicted ** 0.5) + off * predicted + 2, r)

# Limits.
os.mkdir("limit")
status, _, err = dedup("-q", "-m", "12K", "-o", "limit", "13.jsonl")
ok("0.1% of the paragraphs is the limit by default", status == 2 and "expected to have been removed wrongly" in err
   and not os.listdir("limit"), status, err)
status, _, err = dedup("-q", "-e", "0.1", "-n", "30000", "--max-lost", "5", "-o", "limit", "13.jsonl")
ok("--max-lost 5", status == 2 and "stopped" in err and not os.listdir("limit"), status, err)
status, _, err = dedup("-m", "12K", "-n", "1000", "--max-lost", "50%", "-o", "limit", "13.jsonl")
ok("beyond what -m was made for it says so", "more than the 1,000 keys" in err, err)
os.remove("limit/13.jsonl")
for bad in ["x", "-1", "200%", ""]:
    status, _, err = dedup("-q", "--max-lost", bad, "13.jsonl")
    ok("--max-lost '%s' is refused" % bad, status == 2 and "--max-lost" in err, err)

put("many.jsonl", lines({"id": i, "text": "\n".join(words(60) for _ in range(12))} for i in range(1800)))


def guess(*options):
    """Ten million n-grams, all different, through a pipe."""
    p = subprocess.Popen([SEEN, "dedup", "--json", "-q", "-n", "1e4", *options], stdin=subprocess.PIPE,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for i in range(2500):
            text = "\\n".join(chance.randbytes(3 * 512).hex(" ", 3) for _ in range(8))
            p.stdin.write(b'{"text": "%s"}\n' % text.encode())
        p.stdin.close()
    except BrokenPipeError:
        pass
    err = p.stderr.read().decode()
    p.stderr.close()
    return p.wait(), err


status, err = guess()
r = json.loads(err)
ok("a guess of 10^4 for 10^7 n-grams: the filter grows, nothing is lost", status == 0 and r["ngrams"] == 10000000
   and r["paragraphs_removed"] == 0 and r["error"] <= 0.01, err)
status, err = guess("-m", "1M")
ok("in memory that is far too small it stops", status == 2 and "stopped" in err, status, err)
status, _, err = dedup("-q", "-n", "1000", "-m", "4K", "-o", "limit", "many.jsonl")
ok("and leaves no file", status == 2 and "stopped" in err and not os.listdir("limit"), err)

# Sampling: a part of the memory, repeats are found all the same.
put("twice.jsonl", get("many.jsonl")[:600000].rpartition(b"\n")[0] + b"\n" + get("many.jsonl"))
whole, part = report("-q", "-o", "out", "twice.jsonl"), report("-q", "--sample", "8", "-o", "out", "twice.jsonl")
ok("--sample 8 keeps an eighth of the keys", 0.1 < part["keys"] / whole["keys"] < 0.15, whole, part)
ok("and finds the same repeats", part["paragraphs_removed"] == whole["paragraphs_removed"] > 500, whole, part)

# --removed and --origins.
A, B, C = words(20), words(20), words(9)
put("one.jsonl", lines([{"id": "a", "text": A + "\n" + C}, {"id": "b", "text": B}]))
put("two.jsonl", '{"id": 7, "text": "\\u0041 new one\\n%s\\n%s"}\n{"text":"%s"}\n' % (B, C, A))
status, _, err = dedup("-q", "--removed", "gone.jsonl", "--origins", "-o", "out", "one.jsonl", "two.jsonl")
gone = [json.loads(line) for line in get("gone.jsonl").splitlines()]
same("what was removed, and where it was first", [
    {"file": "two.jsonl", "line": 1, "id": 7, "span": [9, 9 + 1 + len(B)], "first": {"file": "one.jsonl", "line": 2}, "text": "\n" + B},
    {"file": "two.jsonl", "line": 1, "id": 7, "span": [10 + len(B), 11 + len(B) + len(C)], "first": {"file": "one.jsonl", "line": 1}, "text": "\n" + C},
    {"file": "two.jsonl", "line": 2, "id": None, "span": [0, len(A)], "first": {"file": "one.jsonl", "line": 1}, "text": A}], gone)
dedup("-q", "--removed", "gone.jsonl", "-o", "out", "one.jsonl", "two.jsonl")
ok("without --origins not where", all("first" not in json.loads(line) for line in get("gone.jsonl").splitlines()))
put("gone/old.jsonl", b"old")
status, _, err = dedup("-q", "--pack", "gzip", "--removed", "gone", "-o", "out", "one.jsonl", "two.jsonl")
ok("a folder has a file for each input, packed as its result", status == 0
   and sorted(os.listdir("gone")) == ["old.jsonl", "one.jsonl.gz", "two.jsonl.gz"] and gzip.decompress(get("gone/one.jsonl.gz")) == b""
   and gzip.decompress(get("gone/two.jsonl.gz")) == get("gone.jsonl"), err, os.listdir("gone"))
before = get("one.jsonl")
for what, options, named in [
        ("--origins wants --removed", ["--origins", "-o", "out"], "--removed"),
        ("--removed must not be an input", ["--removed", "one.jsonl", "-o", "out"], "is an input"),
        ("nor a result", ["--removed", "new/one.jsonl", "-o", "new"], "is the result"),
        ("nor are its files", ["--removed", "./", "-o", "out"], "one.jsonl"),
        ("nor those of a folder that is not there yet", ["--removed", "./new/", "-o", "new"], "new/one.jsonl"),
        ("nor standard output, if the result is there", ["--removed", "-"], "-o"),
        ("with a state, one file for all is refused", ["--removed", "g.jsonl", "--state", "x.seen", "-o", "out"], "folder"),
        ("a state keeps no origins", ["--removed", "g/", "--origins", "--state", "x.seen", "-o", "out"], "--origins")]:
    status, _, err = dedup("-q", *options, "one.jsonl")
    ok(what, status == 2 and named in err and get("one.jsonl") == before and not os.path.exists("new/one.jsonl"), err)

# Dolma's layout: attributes beside documents, offsets in characters.
put("d/documents/x/one.jsonl", lines([{"id": "p", "text": "é漢👍 " + A}, {"id": "q", "text": "ü\né漢👍 " + A}]))
status, _, err = dedup("-q", "--like", "dolma", "--mark", "--attribute", "dups", "-o", "d", "d/documents")
same("marks like Dolma's", [{"id": "p", "attributes": {"dups": []}},
                            {"id": "q", "attributes": {"dups": [[1, 6 + len(A), 1.0]]}}],
     [json.loads(line) for line in get("d/attributes/dups/x/one.jsonl").splitlines()] if status == 0 else err)

# Against the state of another run.
dedup("-q", "--state", "s.seen", "-o", "out", "one.jsonl")
status, out, err = dedup("-q", "--against", "s.seen", "--no-update", "two.jsonl")
ok("--against the state of another run", status == 0 and out == b'{"id": 7, "text": "\\u0041 new one"}\n', out, err)
status, _, err = dedup("-q", "--against", "s.seen", "--seed", "5", "two.jsonl")
ok("but not with another seed", status == 2 and "seed" in err, err)

# Wrong options name themselves.
for options, named in [(["--by", "word"], "--by"), (["-N", "0"], "--ngram"), (["-N", "300"], "--ngram"), (["-t", "1"], "--threshold"),
                       (["--like", "x"], "--like"), (["--normalize", "upper"], "--normalize"), (["--words", "x"], "--words"),
                       (["--split", "x"], "--split"), (["--sample", "0"], "--sample"), (["--field", "a..b"], "--field"),
                       (["--pack", "zip"], "--pack"), (["-x"], "--by"), (["-e", "0.1", "-m", "1M"], "-m"), (["--seed", "x"], "--seed"),
                       (["--no-update"], "--against"), (["--save-every", "1"], "--state"), (["nosuch.jsonl"], "nosuch.jsonl"),
                       (["--against", "nosuch"], "nosuch"), (["--document-too", "--by", "paragraph"], "--document-too"),
                       (["--pack", "gzip", "--level", "22"], "levels 1 to"), (["-j", "0"], "1 to 256")]:
    status, _, err = dedup("-q", *options, "one.jsonl")
    ok("refused: " + " ".join(options), status == 2 and named in err and err.count("\n") == 1, err)
finish()
