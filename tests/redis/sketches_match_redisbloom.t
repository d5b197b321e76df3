#!/usr/bin/python3
"""CMS.*, TOPK.* and TDIGEST.* answer what RedisBloom answered to the same commands, and
save the same fields under the same names; its dumps load, ours are restored."""
import json
import math
import struct
from redis_servers import *

root = os.environ.get("SEEN_GOLDEN") or (
    "../shared/golden" if os.path.isdir("../shared/golden") else "tests/golden")
root = os.path.join(root, "sketches")
if not os.path.isdir(root):
    skip_all("no golden vectors of sketches")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def word(w):
    return w if isinstance(w, str) else bytes.fromhex(w["x"])


def number(x):
    """A double as the server printed it; all NaN are alike."""
    x = float(x)
    return "nan" if math.isnan(x) else x


def shown(want, got):
    """Our answer in the terms of the recorded one, so that the two can be compared."""
    if isinstance(want, list):
        return ([shown(w, g) for w, g in zip(want, got)] + got[len(want):]
                if isinstance(got, list) else got)
    kind = next(iter(want))
    if kind == "d" and isinstance(got, (bytes, float)):
        return number(got)
    if isinstance(got, Simple):
        return {"s": str(got)}
    if isinstance(got, Err):
        return {"e": str(got)}
    if isinstance(got, int):
        return {"i": got}
    if isinstance(got, bytes):
        return {"x": got.hex()} if kind == "x" else {"b": got.decode("latin-1")}
    return {"n": None} if got is None else got


def wanted(want):
    if isinstance(want, list):
        return [wanted(w) for w in want]
    return number(want["d"]) if "d" in want else want


class Payload:
    """The fields of a module value in the bytes of DUMP, of a server that does not
    compress."""

    def __init__(self, data):
        self.data, self.at = data, 1
        assert data[0] == 7
        ident = self.number()
        self.type = "".join(LETTERS[(ident >> (10 + 6 * i)) & 63]
                            for i in reversed(range(9)))
        self.version = ident & 1023
        self.fields = []
        while True:
            opcode = self.number()
            if opcode == 0:
                break
            if opcode in (1, 2):
                self.fields.append(["U", self.number()])
            elif opcode == 4:
                self.fields.append(["D", struct.unpack("<d", self.take(8))[0]])
            else:
                self.fields.append(["S", self.take(self.number())])

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self):
        b = self.take(1)[0]
        if b < 0x40:
            return b
        if b < 0x80:
            return (b & 63) << 8 | self.take(1)[0]
        return int.from_bytes(self.take(4 if b == 0x80 else 8), "big")


def clean(fields, kind):
    """Without bytes that are not part of the value: stray pointers and padding of TopK's heap,
    and what follows a zero byte inside an item, which RedisBloom cuts off."""
    out = []
    for i, (k, v) in enumerate(fields):
        if k == "S" and isinstance(v, str):
            v = bytes.fromhex(v)
        if kind == "TopK-TYPE" and i == 5:
            v = b"".join(v[n:n + 8] + bytes(8) + v[n + 16:n + 20] + bytes(4)
                         for n in range(0, len(v), 24))
        if kind == "TopK-TYPE" and i > 5:
            v = v[:v.index(b"\0") + 1]
        out.append([k, number(v) if k == "D" else v])
    return out


s = Server("--rdbcompression", "no")
c = s.client()
sequences = []
for name in ("cms", "topk", "tdigest"):
    with open(os.path.join(root, name + ".jsonl")) as f:
        sequences += [json.loads(line) for line in f]
for q in sequences:
    c("FLUSHALL")
    bad = None
    for step in q["steps"]:
        got = shown(step["r"], c(*map(word, step["c"])))
        if got != wanted(step["r"]):
            bad = {"command": step["c"][:4], "got": got, "want": wanted(step["r"])}
            break
    ok(not bad, "%s: %d answers" % (q["name"], len(q["steps"])), bad)
    for key, want in q.get("rdb", {}).items():
        dump = c("DUMP", key)
        p = Payload(dump)
        got, want_fields = clean(p.fields, p.type), clean(want["fields"], p.type)
        ok((p.type, p.version) == (want["type"], want["encver"]) and got == want_fields,
           "%s: the fields of %s in the RDB" % (q["name"], key),
           [(g, w) for g, w in zip(got, want_fields) if g != w][:3])
        digest = c("DEBUG", "DIGEST-VALUE", key)
        c("DEL", key)
        if c("RESTORE", key, 0, dump) != "OK" or c("DUMP", key) != dump or \
                c("DEBUG", "DIGEST-VALUE", key) != digest:
            ok(False, "%s: %s comes back from its dump" % (q["name"], key))
done()
