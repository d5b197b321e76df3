#!/usr/bin/python3
"""Makes the tables of characters from Debian's unicode-data.

    make_unicode_tables.py words >word_tables.inc      classes for word boundaries
    make_unicode_tables.py spelling >spelling_tables.inc   lower case, digits, NFKC

Both are kept with the sources, so that a build needs neither Python nor the package;
tests/dedup/unicode.t makes them again and compares where they are installed."""
import sys

which = sys.argv[1]
base = "/usr/share/unicode"
CLASSES = ["Other", "ALetter", "Hebrew_Letter", "Numeric", "Katakana", "ExtendNumLet",
           "MidLetter", "MidNum", "MidNumLet", "Single_Quote", "Double_Quote",
           "Regional_Indicator", "Extend", "Format", "ZWJ", "WSegSpace", "CR", "LF",
           "Newline"]
PICTOGRAPH, WHITE, MARK = 0x20, 0x40, 0x80


def properties(name):
    """Each (first, last, value) of a file of properties."""
    with open(base + "/" + name, encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line:
                span, value = [part.strip() for part in line.split(";")[:2]]
                first, _, last = span.partition("..")
                yield int(first, 16), int(last or first, 16), value


def characters():
    """Each (code, fields) of UnicodeData.txt, ranges spelled out."""
    first = None
    with open(base + "/UnicodeData.txt", encoding="utf-8") as f:
        for line in f:
            field = line.rstrip("\n").split(";")
            code = int(field[0], 16)
            if field[1].endswith(", First>"):
                first = code
                continue
            for c in range(first if first is not None else code, code + 1):
                yield c, field
            first = None


table = [0] * 0x110000
for first, last, value in properties("auxiliary/WordBreakProperty.txt"):
    for c in range(first, last + 1):
        table[c] |= CLASSES.index(value)
for first, last, value in properties("emoji/emoji-data.txt"):
    if value == "Extended_Pictographic":
        for c in range(first, last + 1):
            table[c] |= PICTOGRAPH
for first, last, value in properties("PropList.txt"):
    if value == "White_Space":
        for c in range(first, last + 1):
            table[c] |= WHITE

lower, digits, order, parts = {}, [], {}, {}
for code, field in characters():
    if field[2][0] in "PS":
        table[code] |= MARK
    if field[2] == "Nd":
        digits.append(code)
    if field[13]:
        lower[code] = int(field[13], 16)
    if field[3] != "0":
        order[code] = int(field[3])
    if field[5]:
        words = field[5].split()
        parts[code] = (words[0][0] == "<", [int(w, 16) for w in words if w[0] != "<"])
excluded = {c for first, last, value in properties("DerivedNormalizationProps.txt")
            if value == "Full_Composition_Exclusion" for c in range(first, last + 1)}


def whole(code):
    if code not in parts:
        return [code]
    return [d for c in parts[code][1] for d in whole(c)]


def numbers(values, form="0x%x"):
    line = "   "
    for v in values:
        word = " " + form % v + ","
        if len(line) + len(word) > 87:
            print(line)
            line = "   "
        line += word
    print(line)


def array(comment, kind, values, form="0x%x"):
    print("\n/* %s */\nstatic const uint32_t %s = {" % (comment, kind))
    numbers(values, form)
    print("};")


with open(base + "/ReadMe.txt", encoding="utf-8") as f:
    version = [w for w in f.read().split() if w[0].isdigit() and w.count(".") == 2][0]
print("/* Made by make_unicode_tables.py from Debian's unicode-data, Unicode %s. */"
      % version)
if which == "words":
    print("enum {")
    for i, name in enumerate(CLASSES):
        print("    WORD_%s = %d," % (name.upper(), i))
    print("    WORD_CLASS = 31, /* the bits of the class; beside it may stand: */")
    print("    WORD_PICTOGRAPH = %d, WORD_WHITE = %d, WORD_MARK = %d\n};"
          % (PICTOGRAPH, WHITE, MARK))
    array("Where another class begins: code * 256 + class.", "class_from[]",
          [c * 256 + table[c] for c in range(0x110000)
           if c == 0 or table[c] != table[c - 1]])
    sys.exit()

zeros = []
for c in digits:
    if not zeros or c - zeros[-1] >= 10:
        zeros.append(c)
assert len(zeros) * 10 == len(digits)
array("Decimal digits: the zero of each ten.", "digit_zero[]", zeros)
runs = []
for c in sorted(lower):
    far = (lower[c] - c) & 0xffffffff
    last = runs[-1] if runs else None
    if last and last[3] == far and (c - last[1] == last[2] or
                                    (last[0] == last[1] and c - last[1] == 2)):
        last[2] = c - last[1]
        last[1] = c
    else:
        runs.append([c, c, 1, far])
array("Simple lower case: first, last, step, distance modulo 2^32.", "lower_run[][4]",
      [tuple(r) for r in runs], "{0x%x, 0x%x, %d, 0x%x}")
array("Canonical combining classes: code * 256 + class.", "combining[]",
      [c * 256 + order[c] for c in sorted(order)])
pool, index = [], []
for c in sorted(parts):
    full = whole(c)
    assert len(full) < 32
    index.append((c, len(pool) * 32 + len(full)))
    pool += full
array("Full compatibility decompositions: code, place in the pool * 32 + length.",
      "decomposed[][2]", index, "{0x%x, 0x%x}")
array("What they decompose to.", "decomposed_pool[]", pool)
array("Canonical pairs, in order, and what they compose to.", "composed[][3]",
      sorted((p[0], p[1], c) for c, (compatible, p) in parts.items()
             if not compatible and len(p) == 2 and c not in excluded),
      "{0x%x, 0x%x, 0x%x}")
