#!/usr/bin/python3
# packed_bombs.t - a small gzip file that unpacks to a large filter takes little memory, or
# is refused.
import os, resource, struct, subprocess, sys, tempfile, zlib
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import ok, done

os.chdir(tempfile.mkdtemp(prefix="seen-bomb."))
MB = 1 << 20


def packed(name, body_mb, byte, m=None):
    """A DCSO filter of BODY_MB megabytes of one byte, packed: one block, many times."""
    head = struct.pack("<QQdQQQ", 1, 1000, 0.01, 7, m or body_mb * MB * 8, 0)
    block = bytes([byte]) * MB
    c = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = c.compress(head) + c.flush(zlib.Z_FULL_FLUSH)
    c = zlib.compressobj(9, zlib.DEFLATED, -15)
    again = c.compress(block) + c.flush(zlib.Z_FULL_FLUSH)
    crc = zlib.crc32(head)
    with open(name, "wb") as f:
        f.write(b"\x1f\x8b\x08\0\0\0\0\0\0\3" + first)
        for _ in range(body_mb):
            f.write(again)
            crc = zlib.crc32(block, crc)
        c = zlib.compressobj(9, zlib.DEFLATED, -15)
        f.write(c.compress(b"") + c.flush())
        f.write(struct.pack("<II", crc, (48 + body_mb * MB) & 0xffffffff))


def run(*args):
    """Status, output and the largest memory of any child so far, in MB."""
    r = subprocess.run(["seen", *args], capture_output=True, text=True)
    return r.returncode, r.stdout + r.stderr, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


packed("empty.gz", 512, 0)
size = os.path.getsize("empty.gz") / MB
status, out, rss = run("info", "--json", "empty.gz")
ok(status == 0 and '"bits": 4294967296' in out, "an empty filter of 512 MB in %.1f MB is described" % size, out)
ok(rss < 200, "in %.0f MB of memory" % rss)
open("keys", "w").write("one\ntwo\n")
status, out, rss = run("has", "-v", "empty.gz", "keys")
ok(status == 0 and rss < 200, "and asked, in %.0f MB" % rss, (status, out))

packed("full.gz", 300, 0xff)
status, out, rss = run("info", "full.gz")
ok(status == 2 and "not a filter's bits" in out, "300 MB of set bits in %.1f MB are refused" % (os.path.getsize("full.gz") / MB), out)
ok(rss < 250, "before they take more than %.0f MB" % rss)

packed("long.gz", 64, 0, 1000)
status, out, rss = run("info", "long.gz")
ok(status == 2 and "m of its header" in out, "more than m bits are refused", out)
for name in os.listdir("."):
    os.unlink(name)
os.rmdir(os.getcwd())
done()
