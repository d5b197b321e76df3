#!/usr/bin/python3
"""Makes a corpus of JSON lines from text installed under /usr/share and /usr/lib.

    dedup_corpus.py MEGABYTES [SCRIPT] >FILE   latin, accents, cyrillic, hebrew, arabic,
                                           devanagari, thai, han, katakana, hangul

Pieces of real files are documents; seven in ten documents have paragraphs that occurred
before, some are whole repeats. The same files and seed make the same corpus. For another
script the letters are replaced by letters of that script, word for word, so that lengths
and repeats stay."""
import glob
import gzip
import json
import random
import sys

size = int(sys.argv[1]) * 1000000
script = sys.argv[2] if len(sys.argv) > 2 else "latin"
chance = random.Random(16)
out = sys.stdout.buffer


def files():
    found = []
    for pattern in ["/usr/share/man/man*/*.gz", "/usr/share/doc/*/*", "/usr/share/perl/*/**/*.p*",
                    "/usr/lib/python3*/**/*.py", "/usr/include/**/*.h"]:
        found += sorted(glob.glob(pattern, recursive=True))
    chance.shuffle(found)
    for path in found:
        try:
            data = (gzip.open if path.endswith(".gz") else open)(path, "rb").read(400000)
            text = data.decode("utf-8")
        except (OSError, EOFError, UnicodeDecodeError, ValueError):
            continue
        if "\0" not in text and len(text) > 500:
            # One line a paragraph, as text from the web has it.
            yield "\n".join(" ".join(p.split("\n")) for p in text.split("\n\n"))


# First letters of alphabets: 26 small ones, then 26 capital ones.
ALPHABETS = {"cyrillic": (0x430, 0x410), "hebrew": (0x5d0, 0x5d0), "arabic": (0x628, 0x628), "devanagari": (0x915, 0x905),
             "thai": (0xe01, 0xe01), "katakana": (0x30a2, 0x30b2), "hangul": (0xac00, 0xb000)}


def letters():
    if script in ALPHABETS:
        small, capital = ALPHABETS[script]
        return {97 + i: chr(small + i) for i in range(26)} | {65 + i: chr(capital + i) for i in range(26)}
    if script == "han":
        return {c: chr(0x4e00 + 37 * i) for i, c in
                enumerate(list(range(97, 123)) + list(range(65, 91)))} | {32: None}
    if script == "accents":
        return {ord(a): b for a, b in zip("aeiouAEIOU", "áéíóúÀÈÌÒÙ")}
    return {}


table = letters()
pool, written, number = [], 0, 0
source = files()
while written < size:
    text = next(source, None)
    if text is None:
        source = None
    pieces = []
    while text:
        n = chance.randrange(500, 4000)
        pieces.append(text[:n])
        text = text[n:]
    if source is None:
        pieces = [chance.choice(pool) for _ in range(64)]
    for piece in pieces:
        if source is not None:
            pool.append(piece)
        kind = chance.random()
        if kind < 0.35:
            piece = chance.choice(pool)
        elif kind < 0.7:
            other = chance.choice(pool).split("\n")
            at = chance.randrange(len(other))
            piece = "\n".join(other[at:at + 12] + piece.split("\n")[:25])
        if table:
            piece = piece.translate(table)
        line = json.dumps({"id": "doc-%d" % number, "source": "files", "text": piece,
                           "score": 0.5}, ensure_ascii=False).encode() + b"\n"
        out.write(line)
        written += len(line)
        number += 1
        if written >= size:
            break
    if source is None:
        source = iter(())
