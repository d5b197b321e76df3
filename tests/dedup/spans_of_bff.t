#!/usr/bin/python3
# `seen dedup --like bff --mark` says what the real bff would remove: the same byte spans
# and counts, in six modes, in many scripts (tests/golden/dedup).
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dedup_test import *

SURE = ["-e", "1e-9"]  # the filter of the vectors was so large that it never erred
IN = os.path.join(GOLDEN, "in.jsonl")


def check(name, got):
    with open(os.path.join(GOLDEN, name + ".jsonl")) as f:
        want = [json.loads(line) for line in f]
    differ = [(w, g) for w, g in zip(want, got)
              if w["id"] != g["id"] or w["spans"] != g["bff_duplicate_spans"]
              or w["contained"] != g["bff_contained_ngram_count"]]
    ok("as bff: " + name, len(want) == len(got) and not differ, *differ[:3])


for name, how in [("default", []), ("whole-paragraphs", ["--by", "paragraph"]),
                  ("whole-document", ["--by", "document"]),
                  ("n5-min2-t50", ["-N", "5", "--min", "2", "-t", "0.5"]),
                  ("n20-min20", ["-N", "20", "--min", "20"])]:
    check(name, marks(*SURE, "--like", "bff", *how, IN))
put("first.jsonl", b"".join(get(IN).splitlines(True)[:200]))
status, _, err = dedup("-q", *SURE, "--like", "bff", "--state", "s.seen", "-o", "out", "first.jsonl")
ok("a state of the first 200 documents", status == 0, err)
check("no-update", marks(*SURE, "--like", "bff", "--state", "s.seen", "--no-update", IN))
got = marks("--like", "bff", IN)
ok("bff's names, with the source", list(got[0]) ==
   ["id", "source", "bff_duplicate_spans", "bff_contained_ngram_count"], got[0])
finish()
