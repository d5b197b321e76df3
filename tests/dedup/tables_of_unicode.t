#!/usr/bin/python3
# The tables kept with the sources are those that the generator makes of unicode-data, and
# NFKC is that of Unicode's own test file.
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dedup_test import *
if not os.path.exists("/usr/share/unicode/NormalizationTest.txt.bz2"):
    skip_all("package unicode-data is not installed")
import bz2

room = os.path.join(TOP, "corpus")
for which in ["words", "spelling"]:
    made = subprocess.run([sys.executable, os.path.join(room, "make_unicode_tables.py"), which], capture_output=True).stdout
    name = {"words": "word_tables.inc", "spelling": "spelling_tables.inc"}[which]
    kept = get(os.path.join(room, name))
    if made[:90] != kept[:90]:
        skip_all("another version of Unicode: " + made[:90].decode())
    ok(name + " is what the generator makes", made == kept)

# Whatever normalises to the same is the same text; nothing else is.
documents, distinct = [], set()
for line in bz2.open("/usr/share/unicode/NormalizationTest.txt.bz2", "rt", encoding="utf-8"):
    fields = line.split("#")[0].split(";")
    if len(fields) < 5:
        continue
    text = ["".join(chr(int(c, 16)) for c in f.split()) for f in fields[:5]]
    distinct.add(text[3])
    documents += [{"text": t} for t in [text[3]] + text]
put("all.jsonl", lines(documents))
status, out, err = dedup("-q", "--by", "document", "-x", "--normalize", "nfkc", "all.jsonl")
left = [json.loads(line)["text"] for line in out.splitlines()]
ok("NFKC: of %d texts the %d normal ones stay" % (len(documents), len(distinct)),
   len(distinct) > 10000 and len(left) == len(distinct) and set(left) == distinct, err, len(left))
finish()
