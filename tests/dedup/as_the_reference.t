#!/usr/bin/python3
# Every mode gives what a plain program with exact sets gives (reference.py), on text of
# this machine and on documents in many scripts.
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dedup_test import *
if not os.path.exists("/usr/share/unicode/auxiliary/WordBreakProperty.txt"):
    skip_all("package unicode-data is not installed")
import glob
import random
import reference

# Documents of real text with repeats: pieces of files, mixed with pieces of others.
chance = random.Random(3)
pool, documents = [], []
for path in sorted(glob.glob(os.path.join(TOP, "docs", "*.md")) + glob.glob(TOP + "/*.md")):
    text = get(path).decode()
    text = "\n".join(" ".join(p.split("\n")) for p in text.split("\n\n"))
    pool += [text[i:i + 1500] for i in range(0, len(text), 1500)]
for i in range(220):
    a, b = chance.choice(pool).split("\n"), chance.choice(pool).split("\n")
    kind = i % 4
    text = "\n".join(a if kind == 0 else a[:3] + b if kind == 1 else a[1:] if kind == 2 else b + [""] + a)
    if kind == 3:
        text = text.replace("the", "The").replace("1", "2").replace("e ", "e\u0301 ")
        text = text.replace("fi", "\ufb01").replace(". ", ".\n\n", 2)
    documents.append({"id": i, "text": text})
put("real.jsonl", lines(documents))
put("test.jsonl", lines(documents[3:9]))
IN = os.path.join(GOLDEN, "in.jsonl")


def options(words):
    old, sys.argv = sys.argv, ["reference.py"] + words
    try:
        return reference.options()
    finally:
        sys.argv = old


def compare(words, *files):
    o = options([*words, *files])
    judge = reference.Dedup(o)
    if o.against:
        for _, text in reference.texts(o.against):
            judge.take(text)
    got = marks("-e", "1e-9", *words, *files) if not o.exact else marks(*words, *files)
    differ, at, gone = [], 0, 0
    for path in files:
        for name, text in reference.texts(path):
            spans, found = judge.judge(text)
            place = lambda n: len(text[:n].encode())
            spans = [[place(a), place(b)] for a, b in spans]
            gone += len(spans)
            g = got[at]
            at += 1
            if g["duplicate_spans"] != spans or g["found"] != found:
                differ.append((name, spans, found, g))
    ok("as the reference: %s %s (%d spans)" % (" ".join(words), os.path.basename(files[0]), gone),
       at == len(got) and gone and not differ, *differ[:3])


for words in [[], ["--by", "paragraph"], ["--by", "paragraph", "-x"], ["--by", "document"],
              ["--by", "document", "-x"], ["--document-too", "-t", "0.5"],
              ["-N", "3", "--min", "2", "-t", "0.4"], ["--words", "simple", "-N", "4", "--min", "3"],
              ["--split", "blank-line", "-N", "6"], ["--split", "blank-line", "--by", "paragraph", "-x"],
              ["--normalize", "lower"], ["--normalize", "digits,lower", "-N", "5"],
              ["--normalize", "punctuation", "-N", "7", "--min", "4"],
              ["--normalize", "lower,digits,punctuation,space,nfkc", "--by", "paragraph", "-x"],
              ["--normalize", "nfkc", "-N", "5", "--min", "3"],
              ["--normalize", "space,lower", "--by", "document", "-x"],
              ["--against", "test.jsonl", "--no-update"],
              ["--against", "test.jsonl", "--by", "paragraph", "--no-update"],
              ["--against", "test.jsonl", "--by", "document", "-N", "4"]]:
    compare(words, "real.jsonl")
for words in [["-N", "4", "--min", "2", "-t", "0.6"], ["--by", "paragraph", "--min", "1"],
              ["--normalize", "nfkc,lower,digits,punctuation", "-N", "4", "--min", "2", "-t", "0.6"]]:
    compare(words, IN)
finish()
