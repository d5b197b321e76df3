#!/usr/bin/python3
"""A key has the same bits in Python, in C and in the command; other systems' files open."""
import array
import struct
import subprocess

from python_test import *


def run(*words, input=b""):
    return subprocess.run(words, input=input, stdout=subprocess.PIPE, check=False)


keys = ["http://example.org/%d" % i for i in range(1000)] + ["käse", "\u4e2d\u6587", ""]
f = seen.Filter(2000, 0.001)
f.update(keys)
f.save("py.seen")
lines = "".join(k + "\n" for k in keys).encode()
same(run("seen", "has", "-v", "py.seen", input=lines).stdout, b"", "the command finds every str of Python")
run("seen", "new", "-n", "2000", "-e", "0.001", "cmd.seen")
run("seen", "add", "cmd.seen", input=lines)
same(sum(seen.open("cmd.seen").has_many(keys)), len(keys), "Python finds every line of the command")
ok(all(k.encode() in f for k in keys), "a str is its UTF-8 bytes")

# Integers, against C: seen_add_u64 through a small program.
with open("u64.c", "w") as c:
    c.write("""
#include <seen.h>
int main(void)
{
    seen_spec spec = {.keys = 1000, .error = 0.001};
    seen_filter *f;
    if (seen_new(&spec, &f) < 0)
        return 1;
    for (uint64_t i = 0; i < 500; i++)
        seen_add_u64(f, i * 0x9e3779b97f4a7c15u);
    return seen_save(f, "c.seen") < 0;
}
""")
checks = ["-fsanitize=address,undefined"] if "SEEN_SANITIZED" in os.environ else []
cc = run("cc", *checks, "-I" + TOP + "/include", "-o", "u64", "u64.c", BUILD + "/libseen.a", "-lm", "-lpthread")
ok(cc.returncode == 0 and run("./u64").returncode == 0, "a C program makes a filter of integers")
numbers = [i * 0x9E3779B97F4A7C15 % 2**64 for i in range(500)]
c = seen.open("c.seen")
ok(all(n in c for n in numbers), "an int is seen_add_u64's key")
ok(all(struct.pack("<Q", n) in c for n in numbers), "its eight little-endian bytes")
f = seen.Filter(10000, 0.0001)
f.update(array.array("Q", numbers))
same(sum(f.has_many(numbers)), 500, "an array has the keys of its integers")
small = seen.Filter(10000, 0.0001)
small.update(array.array("i", range(-50, 50)))
ok(all(i in small for i in range(-50, 50)), "narrower integers are widened, negative ones too")
view = memoryview(array.array("Q", numbers))[::3]
f = seen.Filter(1000, 0.0001)
f.update(view)
ok(sum(f.has_many(numbers[::3])) == len(numbers[::3]) and sum(f.has_many(numbers[1::3])) < 3,
   "a view with gaps is read as it is")

# Tuples, written by hand as documented.
f = seen.Filter(1000, 0.0001)
f.add(("ab", 7, b"c"))
packed = b"".join(struct.pack("<Q", len(x)) + x for x in (b"ab", struct.pack("<Q", 7), b"c"))
f.key_type = "mixed"
ok(packed in f and ("a", "b7", b"c") not in f, "a tuple is its members, each after its length")
g = seen.Filter()
g.add(bytearray(b"xyz"))
ok(b"xyz" in g and memoryview(b"xyz") in g, "buffers are their bytes")

# Strings as Arrow packs them.
words = [k.encode() for k in keys]
offsets, at = array.array("i", [0]), 0
for w in words:
    at += len(w)
    offsets.append(at)
s = seen.Strings(offsets, b"".join(words))
f = seen.Filter(2000, 0.001)
f.update(keys)
same(sum(f.has_many(s)), len(keys), "strings of Arrow's layout are the same keys")
raises(ValueError, "offsets beyond the bytes are an error", f.has_many,
       seen.Strings(array.array("i", [0, 5, 3]), b"hello"))
raises(ValueError, "negative ones too", f.has_many,
       seen.Strings(array.array("i", [0, -5]), b"hello"))

# NumPy and pandas where they are.
try:
    import numpy
except ImportError:
    print("# NumPy is not installed")
else:
    f = seen.Filter(1000, 0.0001)
    x = numpy.arange(300, dtype=numpy.uint64)
    new = f.add_many(x)
    ok(isinstance(new, numpy.ndarray) and new.dtype == bool and new.all(), "NumPy in, NumPy out")
    for kind in ("<i8", ">i8", "<i4", ">u2", "i2"):
        ok(f.has_many(numpy.arange(300).astype(kind)).all(), "the same keys from " + kind)
    ok(f.has_many(x[::-2]).all() and numpy.int32(5) in f, "reversed, and as a scalar")
    raises(TypeError, "floats are other keys", f.add_many, numpy.ones(3))
    g = seen.Filter(10, 0.0001)
    g.update(numpy.array([1.5, -0.0]))
    g.update(numpy.array([2.5], dtype="f4"))
    ok(1.5 in g and 0.0 in g and 2.5 in g and g.key_type == "float", "of a filter of their own")
    raises(TypeError, "nor is a float scalar", f.add, numpy.float32(1))
    raises(TypeError, "one dimension", f.add_many, numpy.ones((3, 3), dtype=int))
    f = seen.Filter(1000, 0.0001)
    f.update(numpy.array(["a", "bc"]))
    ok("a" in f and "bc" in f, "an array of strings is iterated")

# Other systems' files: every key that their own library added, and its own answers.
def key_of(word):
    return int(word[2:]) if word.startswith("i:") else bytes.fromhex(word[2:])


def golden(name, **words):
    folder = TOP + "/tests/golden/" + name + "/"
    with seen.open(folder + "filter.bin", **words) as f:
        with open(folder + "keys.tsv") as file:
            keys = [key_of(line.split()[0]) for line in file]
        with open(folder + "probes.tsv") as file:
            probes = [line.split() for line in file]
        same(sum(f.has_many(keys)), len(keys), name + " has its keys, as " + f.info()["format"])
        same([int(b) for b in f.has_many([key_of(k) for k, _ in probes])],
             [int(answer) for _, answer in probes], name + " answers as its own library does")


golden("guava/int-64", type="int32")
golden("dcso/n50")
golden("leveldb/b10", format="leveldb")
golden("redisbloom/scale-x2")
golden("parquet/int64-64", type="int64")
done()
