#!/usr/bin/env python3
# entities.py - writes entities.inc: HTML's named character references as C tables.
#
# The names and code points are facts of the HTML standard, as Python's html.entities
# knows them. Names are sorted by bytes, so that they can be searched by halves.
import html.entities

names = html.entities.html5
full = sorted(n[:-1].encode() for n in names if n.endswith(";"))
bare = sorted(n.encode() for n in names if not n.endswith(";"))


def table(title, keys, suffix):
    print("static const struct entity %s[] = {" % title)
    line = "   "
    for key in keys:
        points = [ord(c) for c in names[key.decode() + suffix]] + [0]
        item = ' {"%s",0x%x,0x%x},' % (key.decode(), points[0], points[1])
        if len(line) + len(item) > 88:
            print(line)
            line = "   "
        line += item
    print(line + "\n};")


print("/* Made by entities.py; do not edit. */")
table("entities", full, ";")
print("/* Those that are also known without a semicolon. */")
table("bare_entities", bare, "")
