#!/usr/bin/python3
"""The rules of `seen dedup` in the plainest form: exact sets of tuples of words, word
boundaries straight from UAX #29 and Debian's unicode-data. Slow, and the truth for the
tests.

    reference.py [--by ngram] [-N 13] [--min 5] [-t 0.8] ... FILE... >MARKS

One line a document: its id, the byte spans that go, and how many n-grams were found."""
import argparse
import bisect
import json
import sys
import unicodedata

UNICODE = "/usr/share/unicode"


def ranges(name, wanted=None):
    found = []
    with open(UNICODE + "/" + name, encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line:
                span, value = [part.strip() for part in line.split(";")[:2]]
                if wanted is None or value == wanted:
                    first, _, last = span.partition("..")
                    found.append((int(first, 16), int(last or first, 16), value))
    return sorted(found)


class Property:
    def __init__(self, name, wanted=None):
        self.spans = ranges(name, wanted)
        self.firsts = [s[0] for s in self.spans]
        self.known = {}

    def __call__(self, char):
        value = self.known.get(char)
        if value is None:
            code = ord(char)
            i = bisect.bisect_right(self.firsts, code) - 1
            inside = i >= 0 and code <= self.spans[i][1]
            value = self.known[char] = self.spans[i][2] if inside else ""
        return value


word_break = Property("auxiliary/WordBreakProperty.txt")
pictograph = Property("emoji/emoji-data.txt", "Extended_Pictographic")
white_space = Property("PropList.txt", "White_Space")

AHLETTER = ("ALetter", "Hebrew_Letter")
MIDNUMLETQ = ("MidNumLet", "Single_Quote")
IGNORED = ("Extend", "Format", "ZWJ")
NEWLINES = ("Newline", "CR", "LF")


def breaks(text):
    """The positions of UAX #29's word boundaries in TEXT, rule by rule."""
    kind = [word_break(c) for c in text]

    def before(i):
        """The last character before I that counts (WB4), and its place."""
        while i >= 0 and kind[i] in IGNORED:
            i -= 1
        return (kind[i] if i >= 0 else ""), i

    def after(i):
        while i < len(kind) and kind[i] in IGNORED:
            i += 1
        return kind[i] if i < len(kind) else ""

    def joined(i):
        """Whether there is no boundary between characters I-1 and I."""
        a, b = kind[i - 1], kind[i]
        if a == "CR" and b == "LF":  # WB3
            return True
        if a in NEWLINES or b in NEWLINES:  # WB3a WB3b
            return False
        if a == "ZWJ" and pictograph(text[i]):  # WB3c
            return True
        if a == "WSegSpace" and b == "WSegSpace":  # WB3d
            return True
        if b in IGNORED:  # WB4
            return True
        last, at = before(i - 1)
        if last in NEWLINES:  # nothing attaches to these
            last, at = "", -1
        earlier, _ = before(at - 1) if at > 0 else ("", -1)
        following = after(i + 1)
        if last in AHLETTER and b in AHLETTER:  # WB5
            return True
        if last in AHLETTER and (b == "MidLetter" or b in MIDNUMLETQ) \
                and following in AHLETTER:  # WB6
            return True
        if earlier in AHLETTER and (last == "MidLetter" or last in MIDNUMLETQ) \
                and b in AHLETTER:  # WB7
            return True
        if last == "Hebrew_Letter" and b == "Single_Quote":  # WB7a
            return True
        if last == "Hebrew_Letter" and b == "Double_Quote" \
                and following == "Hebrew_Letter":  # WB7b
            return True
        if earlier == "Hebrew_Letter" and last == "Double_Quote" \
                and b == "Hebrew_Letter":  # WB7c
            return True
        if last == "Numeric" and b == "Numeric":  # WB8
            return True
        if last in AHLETTER and b == "Numeric":  # WB9
            return True
        if last == "Numeric" and b in AHLETTER:  # WB10
            return True
        if earlier == "Numeric" and (last == "MidNum" or last in MIDNUMLETQ) \
                and b == "Numeric":  # WB11
            return True
        if last == "Numeric" and (b == "MidNum" or b in MIDNUMLETQ) \
                and following == "Numeric":  # WB12
            return True
        if last == "Katakana" and b == "Katakana":  # WB13
            return True
        words = AHLETTER + ("Numeric", "Katakana", "ExtendNumLet")
        if last in words and b == "ExtendNumLet":  # WB13a
            return True
        if last == "ExtendNumLet" and b in words:  # WB13b
            return True
        if last == "Regional_Indicator" and b == last:  # WB15 WB16
            flags = 0
            while at >= 0 and kind[at] == "Regional_Indicator":
                flags += 1
                _, at = before(at - 1)
            return flags % 2 == 1
        return False  # WB999

    return [i for i in range(1, len(text)) if not joined(i)]


def words(text, simple=False):
    if simple:
        out, word = [], ""
        for c in text + " ":
            if ord(c) >= 128 or c.isalnum():
                word += c
            elif word:
                out.append(word)
                word = ""
        return out
    edges = [0] + breaks(text) + [len(text)]
    parts = [text[a:b] for a, b in zip(edges, edges[1:])]
    return [p for p in parts if any(not white_space(c) for c in p)]


def spell(text, how):
    if "nfkc" in how:
        text = unicodedata.normalize("NFKC", text)
    out = ""
    for c in text:
        if "lower" in how and len(c.lower()) == 1:
            c = c.lower()
        if "digits" in how and unicodedata.category(c) == "Nd":
            c = "0"
        if "punctuation" in how and unicodedata.category(c)[0] in "PS":
            continue
        out += c
    if "space" in how:
        parts, word = [], ""
        for c in out + " ":
            if white_space(c):
                parts += [word] if word else []
                word = ""
            else:
                word += c
        out = " ".join(parts)
    return out


def paragraphs(text, blank_line):
    """[start, end) of each, in characters: all but the first begin with a newline."""
    cuts = []
    for i, c in enumerate(text):
        if c != "\n":
            continue
        if blank_line and (text[i + 1:i + 2] != "\n" or text[i - 1:i] == "\n"):
            continue
        if i:
            cuts.append(i)
    edges = [0] + cuts + [len(text)]
    return list(zip(edges, edges[1:]))


class Dedup:
    def __init__(self, o):
        self.o = o
        self.seen = set()
        self.update = not o.no_update

    def keys(self, part, first):
        o = self.o
        if o.exact:
            body = part if first or o.by == "document" else part[1:]
            body = spell(body, o.normalize) if o.normalize else body
            if o.by == "paragraph":
                body = body.lstrip("\n")
                if not body.strip(" \t\n\v\f\r"):
                    return []
            return [body]
        if o.normalize:
            part = spell(part if first else part[1:], o.normalize)
        tokens = words(part, o.words == "simple")
        if o.by == "paragraph" or len(tokens) < o.ngram:
            return [tuple(tokens)] if len(tokens) >= o.min else []
        return [tuple(tokens[i:i + o.ngram]) for i in range(len(tokens) - o.ngram + 1)]

    def take(self, text):
        """All keys of TEXT, without judging."""
        for n, (a, b) in enumerate(self.parts(text)):
            self.seen.update(self.keys(text[a:b], n == 0))

    def parts(self, text):
        if self.o.by == "document":
            return [(0, len(text))]
        return paragraphs(text, self.o.split == "blank-line")

    def judge(self, text):
        """(spans that go in characters, n-grams found)"""
        gone, found_all, total = [], 0, 0
        parts = self.parts(text)
        for n, (a, b) in enumerate(parts):
            keys = self.keys(text[a:b], n == 0)
            found = sum(k in self.seen for k in keys)
            found_all += found
            total += len(keys)
            if keys and found / len(keys) > self.o.threshold:
                gone.append((a, b))
            elif self.update:
                self.seen.update(keys)
        if self.o.document_too and total and found_all / total > self.o.threshold:
            gone = parts
        return gone, found_all


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--by", default="ngram")
    p.add_argument("-x", "--exact", action="store_true")
    p.add_argument("-N", "--ngram", type=int, default=13)
    p.add_argument("--min", type=int, default=5)
    p.add_argument("-t", "--threshold", type=float, default=0.8)
    p.add_argument("--document-too", action="store_true")
    p.add_argument("--normalize", type=lambda s: s.split(","), default=[])
    p.add_argument("--words", default="uax29")
    p.add_argument("--split", default="newline")
    p.add_argument("--against")
    p.add_argument("--no-update", action="store_true")
    p.add_argument("files", nargs="+")
    return p.parse_args()


def texts(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            d = json.loads(line)
            yield d.get("id"), d["text"]


def main():
    o = options()
    dedup = Dedup(o)
    for path in [o.against] if o.against else []:
        for _, text in texts(path):
            dedup.take(text)
    for path in o.files:
        for name, text in texts(path):
            spans, found = dedup.judge(text)
            size = lambda s: len(s.encode("utf-8", "surrogatepass"))
            print(json.dumps({"id": name, "found": found, "spans": [
                [size(text[:a]), size(text[:b])] for a, b in spans]}))


if __name__ == "__main__":
    main()
