#!/usr/bin/python3
"""Filters in a cluster of six: a slot moves with its filters, an owner is killed with
kill -9, and every item still answers yes."""
from redis_cluster import *

k = Cluster()
ok(True, "six servers, three of them masters")
N = 3000
keys = ["{%s}%s" % (t, kind) for t in ("a", "b", "c", "d", "e", "f") for kind in ("bf", "cf")]
for key in keys:
    for layout in ("fast", "compat"):
        name = key + layout
        if key.endswith("bf"):
            k("BF.RESERVE", name, "0.01", 1000, "LAYOUT", layout)
            k("BF.MADD", name, *range(N))
        else:
            k("CF.RESERVE", name, 1000, "LAYOUT", layout)
            k("CF.INSERT", name, "ITEMS", *range(N))
names = [key + layout for key in keys for layout in ("fast", "compat")]


def lost():
    return {n: missing for n in names for missing in
            [k("BF.MEXISTS" if "}bf" in n else "CF.MEXISTS", n, *range(N)).count(0)] if missing}


ok(len({k.owner(n).port for n in names}) == 3, "the filters are on all masters")
same(lost(), {}, "every item answers yes")
source = k.owner("{a}bf")
to = next(m for m in k.masters() if m is not source)
same(k.move("{a}bf", to), "OK", "a slot with four filters moves")
same(k.owner("{a}bf"), to, "to another owner")
same(lost(), {}, "every item answers yes after the move")
same(k("BF.ADD", "{a}bffast", "after the move"), 1, "and new ones are taken")
same(k("BF.MERGE", "{a}union", "{a}bffast", "{a}bffast"), Simple("OK"),
     "BF.MERGE works within a slot")
ok(k.at(to.port)("BF.MERGE", "{a}union", "{b}bffast").startswith("CROSSSLOT"),
   "and is refused across slots")
for m in k.masters():
    k.at(m.port)("WAIT", 1, 120000)
victim = k.owner("{a}bf")
until(k.ready)
k.lose(victim)
same(lost(), {}, "kill -9 of the owner: every item answers yes from the promoted replica")
same(k("BF.EXISTS", "{a}bffast", "after the move"), 1, "also the newest one")
ok(k.owner("{a}bf") is not victim, "another server owns the slot")
same(k("BF.ADD", "{a}bffast", "after the kill"), 1, "which takes new items")
done()
