#!/usr/bin/python3
# With --state, runs that are killed with SIGKILL at any moment and started again end with
# the files and the state of a run that nobody disturbed. KILLS=100 kills so often.
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from dedup_test import *
import random
import shutil
import signal
import time

kills_wanted = int(os.environ.get("KILLS", "100"))
chance = random.Random(8)
WORDS = ["w%d" % i for i in range(2000)]


def paragraph():
    return " ".join(chance.choices(WORDS, k=chance.randrange(3, 40)))


pool = [paragraph() for _ in range(800)]
for n in range(8):
    put("in/%d.jsonl" % n, lines(
        {"id": i, "text": "\n".join(chance.choice(pool) if chance.random() < 0.6 else paragraph()
                                    for _ in range(6))} for i in range(250)))


def tree(folder):
    return {f: get(os.path.join(folder, f)) for f in sorted(os.listdir(folder))}


def results():
    return tree("out"), tree("gone")


def clean(*names):
    for n in names:
        shutil.rmtree(n, True)
        if os.path.exists(n):
            os.remove(n)


def bits(name):
    """The bits of a filter's file, without its header, which counts the saves."""
    file = get(name)
    return file[128 if file[8] == 3 else int.from_bytes(file[24:32], "little"):]


def command(*options):
    return [SEEN, "dedup", "-q", "--state", "s.seen", "--removed", "gone/", "-o", "out", *options, "in"]


for mode in [["-j", "1", "--save-every", "1"], ["-j", "3", "--save-every", "1"],
             ["-j", "2", "--save-every", "100K", "-n", "3000"], ["-j", "2", "--by", "paragraph", "--save-every", "1"]]:
    clean("out", "gone", "s.seen", "s.seen.files")
    began = time.monotonic()
    subprocess.run(command(*mode), check=True)
    took = time.monotonic() - began
    want, gone, state = *results(), bits("s.seen")
    # The log tells one filter from another, also small ones with a compact header.
    named = [line for line in get("s.seen.files").splitlines() if line.startswith(b"state ")]
    ok("each saved filter has its own line: " + " ".join(mode), named and len(named) == len(set(named)), named)
    kills = runs = wrong = 0
    while kills < kills_wanted / 4:
        clean("out", "gone", "s.seen", "s.seen.files")
        while True:
            runs += 1
            p = subprocess.Popen(command(*mode))
            if kills < kills_wanted / 4:
                time.sleep(chance.random() * took * 0.9)
                p.send_signal(signal.SIGKILL)
            if p.wait() == 0:
                break
            kills += p.returncode == -signal.SIGKILL
            if p.returncode != -signal.SIGKILL:
                wrong += 1
                break
        kept, removed = results()
        wrong += any(kept.get(f) != want[f] or removed.get(f) != gone[f] for f in want) or bits("s.seen") != state
    ok("%d kills in %d runs, each time the undisturbed result: %s" % (kills, runs, " ".join(mode)),
       kills and not wrong and sorted(gone) == sorted(want) and any(gone.values()), "%d of the results differ" % wrong)

# The moments that chance may miss.
clean("out", "s.seen", "s.seen.files")
subprocess.run(command("--save-every", "1"), check=True)
want, state, log = tree("out"), get("s.seen"), get("s.seen.files")
put("s.seen.files", log + b"file 12 34 in/never\nstate 0123456789abcdef\nfile 5")
put("s.seen.next", state[:5000])
status, _, err = dedup("--json", "--state", "s.seen", "-o", "out", "in")
ok("killed while the log was written: what it says of no filter does not count", status == 0
   and get("s.seen.files") == log and json.loads(err)["files_finished_before"] == 8, err)
status, _, err = dedup("--json", "--state", "s.seen", "-o", "out", "in", "in/../in/0.jsonl")
ok("two inputs of one name are refused with a state, too", status == 2, err)
put("more/new.jsonl", get("in/3.jsonl") + lines([{"id": "n", "text": "something that was not there before, in so many words"}]))
status, _, err = dedup("--json", "--state", "s.seen", "-o", "out", "more")
ok("goes on with another day's files", status == 0 and json.loads(err)["documents"] == 251
   and b"not there before" in get("out/new.jsonl") and len(get("out/new.jsonl")) < 90000, err)
for what, options, words in [("another n", ["-N", "5"], "other rules"), ("another seed", ["--seed", "2"], "other rules")]:
    status, _, err = dedup("-q", "--state", "s.seen", *options, "-o", "out", "more")
    ok("a state is not used with %s" % what, status == 2 and words in err, err)
put("t.seen", state)
status, _, err = dedup("-q", "--state", "t.seen", "-o", "out", "more")
ok("a filter without its list is not a state", status == 2 and "t.seen.files" in err, err)
put("t.seen.files", log.replace(b"state ", b"state 0"))
status, _, err = dedup("-q", "--state", "t.seen", "-o", "out", "more")
ok("nor one that its list does not know", status == 2 and "does not know" in err, err)
put("t.seen", state[:-4096] + bytes(4096))
put("t.seen.files", log)
status, _, err = dedup("-q", "--state", "t.seen", "-o", "out", "more")
ok("nor a damaged one", status == 2 and "t.seen" in err, err)
put("bad/0.jsonl", get("in/0.jsonl"))
put("bad/1.jsonl", b"{}\n")
clean("out", "s.seen", "s.seen.files")
status, _, err = dedup("-q", "--state", "s.seen", "--save-every", "1", "-o", "out", "bad")
ok("a bad file stops the run", status == 2 and "bad/1.jsonl:1" in err, err)
put("bad/1.jsonl", get("in/1.jsonl"))
status, _, err = dedup("--json", "--state", "s.seen", "-o", "out", "bad")
ok("once it is good the run goes on behind what was finished", status == 0
   and json.loads(err)["files_finished_before"] == 1 and get("out/1.jsonl") == want["1.jsonl"], err)
finish()
