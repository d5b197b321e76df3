#!/usr/bin/python3
# What is not removed keeps its bytes: numbers, keys, escapes, white space, invalid UTF-8.
# What is no object with a text is an error that names file and line, or copied.
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dedup_test import *

P = [("paragraph number %d has some words of its own and is long enough to be judged by "
      "its n-grams, %d of them" % (i, i * i)) for i in range(40)]


def out_of(data, *options):
    status, out, err = dedup("-q", "-j", "1", *options, stdin=data)
    return out if status == 0 else "status %d: %s" % (status, err)


# Nothing repeated: not a byte differs, whatever the lines look like.
odd = [b'{"text": "one"}', b' {\t"text" :"a\\u00e9\\/b\\ud83d\\ude00", "n": 1.50e+3, "z":-0.0E-7 } ',
       b'{"a":{"text":"not this"},"text":"\\n\\n\\t","b":[{"text":[1,{}]},[],null,true,false]}\r',
       b'{"t\\u0065xt": "escaped name", "id": 12345678901234567890123}', b'{"text":""}',
       b'{"text": "bad \xff\xfe bytes \xed\xa0\x80 \xc0\x80 \xf5", "k": "\xff"}',
       b'{"text": "lone \\ud800 and \\udc00\\ud800 halves"}', b'{"text":"\x01\x7f control"}',
       b'{"id":"\\"","text":"quote \\" back \\\\ slash \\/","text2":"text"}',
       b'{"text":"\\u0000\\u000a\\u000A\\u000d"}', '{"text":"Ünïcödé 漢字 עברית 👨‍👩‍👧"}'.encode(),
       b'{"deep":' + b"[" * 900 + b"]" * 900 + b',"text":"x"}']
data = b"\n".join(odd) + b"\n"
same("lines of every kind pass unchanged", data, out_of(data))
same("a missing last newline stays missing", data[:-1], out_of(data[:-1]))
for words in [["--by", "paragraph"], ["--by", "document"], ["--normalize", "lower,nfkc,space,punctuation,digits"],
              ["--words", "simple"], ["--by", "paragraph", "-x"]]:
    same("unchanged with " + " ".join(words), data, out_of(data, *words))
same("nothing in, nothing out", b"", out_of(b""))

# Removing cuts the raw text only.
first = ('{"text": "%s\\n%s"}\n' % (P[0], P[1])).encode()
second = ('{"x": 1.0 ,"text":"caf\\u00e9 \\u006eot judged\\n%s\\u000A%s\\n%s\\/end of its own text here with more"  ,"y":[ ]}\n'
          % (P[0], P[2], P[3])).encode()
want = ('{"x": 1.0 ,"text":"caf\\u00e9 \\u006eot judged\\u000A%s\\n%s\\/end of its own text here with more"  ,"y":[ ]}\n'
        % (P[2], P[3])).encode()
same("a paragraph goes with the newline in front of it", first + want, out_of(first + second))
third = ('{"text": "%s"}' % P[1]).encode()
same("a document of which nothing is left goes", first, out_of(first + third))
same("--keep-empty keeps it", first + b'{"text": ""}', out_of(first + third, "--keep-empty"))
same("a first paragraph goes without a newline", first + b'{"text": "\\nshort"}\n',
     out_of(first + ('{"text": "%s\\nshort"}\n' % P[0]).encode()))
same("a field inside others",
     b'{"a":{"b":"%s"},"b":"x"}\n{"b":{"b":1},"a":{"c":2,"b":"z"}}\n' % P[0].encode(),
     out_of(b'{"a":{"b":"%s"},"b":"x"}\n{"b":{"b":1},"a":{"c":2,"b":"z"}}\n{"a":{"b":"%s"}}\n'
            % (P[0].encode(), P[0].encode()), "--field", "a.b"))

# Equal texts are equal however they are spelled.
a = '{"text": "the caf\u00e9 \U0001f600 is open from nine to five on every day of the week but one"}\n'.encode()
b = b'{"text": "the caf\\u00e9 \\ud83d\\ude00 \\u0069s open from nine to five on every day of the week but one"}\n'
for words in [[], ["--by", "paragraph", "-x"], ["--by", "document", "-x"], ["--by", "document"]]:
    same("escapes do not make a text another: " + " ".join(words), a, out_of(a + b, *words))

# Bad lines.
BAD = [(b"", "not a JSON object"), (b"[1]", "not a JSON object"), (b'"text"', "not a JSON object"),
       (b"nonsense", "not valid JSON"), (b'{"text": "x"', "not valid JSON"),
       (b'{"text": "x"} {}', "not valid JSON"), (b'{"text": "\\x"}', "not valid JSON"),
       (b'{"text": "\\u12g4"}', "not valid JSON"), (b'{"text": "", "n": 01}', "not valid JSON"),
       (b'{"text": "x",}', "not valid JSON"), (b"{'text': 'x'}", "not valid JSON"),
       (b'{"text": "x", "y": tru}', "not valid JSON"), (b'{"text": "open', "not valid JSON"),
       (b'{"text": "open\\', "not valid JSON"), (b'{"other": "x"}', "no field text"),
       (b'{"text": 7}', "not a string: field text"), (b'{"text": null}', "not a string"),
       (b'{"text": ["x"]}', "not a string"), (b'{"text":"a","text":"b"}', "more than one field text"),
       (b'{"a":' + b"[" * 2000 + b"]" * 2000 + b',"text":""}', "deeper than 1024")]
for bad, words in BAD:
    put("in/bad.jsonl", first + bad + b"\n" + second)
    status, _, err = dedup("-q", "-o", "out", "in/bad.jsonl")
    ok("refused: %r" % bad[:40], status == 2 and "in/bad.jsonl:2: " in err and words in err
       and not os.path.exists("out/bad.jsonl"), status, err)
everything = first + b"".join(bad + b"\n" for bad, _ in BAD) + second
status, out, err = dedup("--json", "--skip-bad", stdin=everything)
ok("--skip-bad copies and counts them", out == first + b"".join(b + b"\n" for b, _ in BAD) + want
   and json.loads(err)["bad_lines"] == len(BAD), err)
put("many/a.jsonl", first)
put("many/b.jsonl", second + b"bad\n")
put("many/c.jsonl", first)
status, _, err = dedup("-q", "-j", "4", "-o", "done", "many")
ok("files before a bad one are in their places, it and later ones are not",
   status == 2 and "many/b.jsonl:2" in err and os.listdir("done") == ["a.jsonl"], status, err)

# Long lines: one of 30 MB between others, and lines that cross blocks.
long = b'{"text":"' + b"\\n".join(b"%d %s" % (i, P[20 + i % 7].encode()) for i in range(300000)) + b'"}\n'
got = out_of(first + long + second)
ok("a line of %d MB" % (len(long) >> 20), got.startswith(first) and got.endswith(want)
   and len(got) < len(first + long + second))
rows = [b'{"text":"%s"}\n' % (b"%d " % i * (i % 900)) for i in range(20000)]
same("lines across blocks", b"".join(rows[:1]), out_of(b"".join(rows[:1])))
got = out_of(b"".join(rows), "--by", "document", "-x")
ok("no line is lost at the edge of a block", got == b"".join(
    r for i, r in enumerate(rows) if i % 900 or i == 0))
finish()
