#!/usr/bin/python3
# A line is taken if and only if Python's json takes it and it is an object with one string
# `text`; changed at random, lines fall on both sides.
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dedup_test import *
import random

chance = random.Random(12)
SEEDS = [b'{"text": "a\\nb\\u0041 \\ud83d\\ude00 \\"", "id": [1.5e-3, -0, true, {"x": null}], "s": {}}',
         b'{"id":"\\\\","a":{"text":"no"},"text":"\xc3\xa9\\/\\b\\f\\r\\t","b":[[],[[1]],{"k":{"l":0.0}}]}',
         b' {\t"te\\u0078t" : "x" } ', b'{"n":12345678901234567890,"m":1E400,"text":""}']
PIECES = [b'"', b"\\", b",", b":", b"{", b"}", b"[", b"]", b"0", b"1", b"-", b".", b"e", b"u", b" ", b"\\u00e9",
          b"true", b"null", b'"text"', b"\xff", b"\x01", b"", b"", b""]


def good(line):
    def refuse(word):
        raise ValueError(word)
    pairs = lambda p: p
    try:
        top = json.loads(line.decode("utf-8", "surrogateescape"), strict=False,
                         parse_constant=refuse, object_pairs_hook=lambda p: ("object", p))
    except (ValueError, RecursionError):
        return False
    if not (isinstance(top, tuple) and top[0] == "object"):
        return False
    found = [value for name, value in top[1] if name == "text"]
    return len(found) == 1 and isinstance(found[0], str)


made, want = [], {}
while len(made) < 20000:
    line = bytearray(chance.choice(SEEDS))
    for _ in range(chance.randrange(3)):
        at = chance.randrange(len(line))
        line[at:at + chance.randrange(3)] = chance.choice(PIECES)
    line = bytes(line)
    if b"\n" not in line:
        made.append(line)
# Of equal lines that are good the first stays, of bad ones all stay.
for line in made:
    want[line] = good(line)
by_text, stay = set(), []
for line in made:
    if want[line]:
        text = json.loads(line.decode("utf-8", "surrogateescape"), strict=False)["text"]
        if text in by_text:
            continue
        by_text.add(text)
    stay.append(line)
status, out, err = dedup("-q", "--skip-bad", "--by", "document", "-x", stdin=b"\n".join(made) + b"\n")
got = out.split(b"\n")[:-1]
yes = sum(want[line] for line in made)
first = next((i for i, (a, b) in enumerate(zip(stay, got)) if a != b), None)
ok("20000 lines, %d of them good" % yes, status == 0 and 3000 < yes < 17000 and got == stay,
   err, "line %s" % first, *(([stay[first], got[first]]) if first is not None else []))
finish()
