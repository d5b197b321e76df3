"""For the tests of `seen dedup`: a folder of their own, the command, its marks."""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tap

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.path.join(TOP, os.environ.get("BUILD", "build"))
GOLDEN = os.path.join(TOP, "tests", "golden", "dedup")
SEEN = os.path.join(BUILD, "seen")
os.environ["PATH"] = BUILD + ":" + os.environ["PATH"]
work = tempfile.mkdtemp()
atexit.register(shutil.rmtree, work, True)
os.chdir(work)
os.environ["TMPDIR"] = work


def ok(what, good, *notes):
    return tap.ok(good, what, notes)


def same(what, want, got):
    return tap.same(got, want, what)


skip_all, finish = tap.skip_all, tap.done


def dedup(*options, stdin=None):
    """Runs `seen dedup`: (status, output, messages)."""
    p = subprocess.run([SEEN, "dedup", *options], input=stdin, capture_output=True)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace")


def put(name, data):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
    return name


def get(name):
    with open(name, "rb") as f:
        return f.read()


def marks(*options):
    """The spans and counts that `seen dedup --mark` prints."""
    status, out, err = dedup("-q", "--mark", *options)
    if status:
        raise SystemExit("seen dedup %s: %s" % (" ".join(options), err))
    return [json.loads(line) for line in out.decode("utf-8", "surrogateescape").splitlines()]


def lines(documents, **how):
    return "".join(json.dumps(d, **how) + "\n" for d in documents).encode()
