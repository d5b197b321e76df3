#!/usr/bin/python3
# The result is the same, byte for byte, for every number of threads, packing and way in.
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dedup_test import *
import bz2
import gzip
import lzma
import random

chance = random.Random(5)
WORDS = ["w%d" % i for i in range(3000)]


def paragraph():
    return " ".join(chance.choices(WORDS, k=chance.randrange(3, 60)))


pool = [paragraph() for _ in range(3000)]
names = []
for n in range(5):
    docs = []
    for i in range(1200 if n != 3 else 0):
        parts = [chance.choice(pool) if chance.random() < 0.5 else paragraph() for _ in range(8)]
        docs.append({"id": "%d-%d" % (n, i), "text": "\n".join(parts)})
    names.append(put("in/%d.jsonl" % n, lines(docs)))
put("in/sub/last.jsonl", get("in/0.jsonl")[:100000].rpartition(b"\n")[0])


def tree(folder):
    found = {}
    for at, _, files in os.walk(folder):
        for f in files:
            found[os.path.relpath(os.path.join(at, f), folder)] = get(os.path.join(at, f))
    return found


def run(folder, *options):
    status, _, err = dedup("-q", "-o", folder, *options)
    return tree(folder) if status == 0 else err


plain = run("out1", "-j", "1", "in")
ok("five files and one in a folder", sorted(plain) ==
   ["0.jsonl", "1.jsonl", "2.jsonl", "3.jsonl", "4.jsonl", "sub/last.jsonl"], plain)
ok("something was removed, not all", 100000 < sum(map(len, plain.values()))
   < sum(os.path.getsize(n) for n in names))
ok("an empty file stays one", plain["3.jsonl"] == b"")
for mode in [[], ["-e", "0.3"], ["-n", "1000"], ["-n", "500K", "-e", "0.001"], ["-m", "256K", "--max-lost", "1G"],
             ["--by", "paragraph"], ["--by", "paragraph", "-e", "0.05", "--max-lost", "1G"],
             ["--by", "document"], ["--by", "document", "-x"], ["--mark"], ["--sample", "4"],
             ["--pack", "gzip"], ["--pack", "zstd"], ["--normalize", "digits"]]:
    one = run("a", "-j", "1", *mode, "in")
    good = all(run("b", "-j", j, *mode, "in") == one for j in ["2", "4", "7"])
    ok("-j 1, 2, 4 and 7 give the same: " + " ".join(mode), isinstance(one, dict) and good, str(one)[:300])
    for f in ["a", "b"]:
        subprocess.run(["rm", "-rf", f])

# Packed inputs, recognised by content, give results packed alike with the same text.
os.mkdir("packed")
for n, (end, pack) in enumerate([(".gz", gzip.compress), (".zst", None), (".bz2", bz2.compress), (".xz", lzma.compress), ("", bytes)]):
    data = get(names[n])
    if pack is None:
        data = subprocess.run(["zstd", "-qc"], input=data, capture_output=True).stdout
    else:
        data = pack(data)
    put("packed/%d.jsonl%s" % (n, end), data)
UNPACK = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress,
          ".zst": lambda d: subprocess.run(["zstd", "-dqc"], input=d, capture_output=True).stdout}
reads = [n for n in sorted(os.listdir("packed"))
         if dedup("-q", "--mark", "--by", "document", "-x", "packed/" + n)[0] == 0]
ok("compressed files are read", {"0.jsonl.gz", "1.jsonl.zst"} <= set(reads), reads)
for n in set(os.listdir("packed")) - set(reads):
    os.remove("packed/" + n)
    print("# this build does not read " + n)
for j in ["1", "3"]:
    got = run("p" + j, "-j", j, "packed")
    ok("packed files, -j " + j, isinstance(got, dict) and sorted(got) == reads, got)
    want = run("plain" + j, "-j", "1", *[names[int(n[0])] for n in reads])
    open_ = {n: UNPACK.get(os.path.splitext(n)[1], bytes)(d) for n, d in got.items()}
    ok("their text is that of plain ones", {n[:7]: d for n, d in open_.items()} == want)
ok("the same bytes for -j 1 and 3", tree("p1") == tree("p3"))
for how, end in [("plain", ""), ("gzip", ".gz"), ("zstd", ".zst"),
                 ("bzip2", ".bz2"), ("xz", ".xz")]:
    got = run("how-" + how, "--pack", how, "in/0.jsonl")
    ok("--pack %s names and packs so" % how, list(got) == ["0.jsonl" + end]
       and UNPACK.get(end, bytes)(got["0.jsonl" + end]) == plain["0.jsonl"])
got = run("how-lz4", "--pack", "lz4", "in/0.jsonl")
ok("--pack lz4 is read back", isinstance(got, dict) and dedup(
    "-q", "--by", "document", "-x", "how-lz4/0.jsonl.lz4")[1] == plain["0.jsonl"], str(got)[:200])

# Ways in and out.
status, out, err = dedup("-q", "in/0.jsonl")
same("one input without -o goes to standard output", plain["0.jsonl"], out)
status, out, err = dedup("-q", stdin=get("packed/0.jsonl.gz"))
same("standard input, packed", plain["0.jsonl"], out)
reader = subprocess.run("(head -c 70001 in/0.jsonl; sleep 0.1; tail -c +70002 in/0.jsonl) | seen dedup -q --pack zstd",
                        shell=True, capture_output=True).stdout
same("a slow pipe gives the same packed bytes", dedup("-q", "--pack", "zstd", "in/0.jsonl")[1], reader)
status, _, err = dedup("-q", "in/0.jsonl", "in/1.jsonl")
ok("several inputs want -o", status == 2 and "-o" in err, err)
status, _, err = dedup("-q", "-o", "in", "in/0.jsonl")
ok("an input is not replaced by its result", status == 2 and "in/0.jsonl" in err, err)
status, _, err = dedup("-q", "-o", "twice", "in/0.jsonl", "out1/0.jsonl")
ok("two inputs of one name are refused", status == 2 and "0.jsonl" in err and not os.path.exists("twice"), err)
put("cut.jsonl.gz", get("packed/0.jsonl.gz")[:20000])
status, _, err = dedup("-q", "-o", "cut", "cut.jsonl.gz")
ok("a cut file is an error, and has no result", status == 2 and "cut.jsonl.gz" in err
   and not os.path.exists("cut/cut.jsonl.gz"), err)
seeds = [run("seed%s" % s, "--seed", s, "in/0.jsonl") for s in ["1", "2"]]
ok("another seed, the same result where the filter does not err", seeds[0] == seeds[1])
finish()
