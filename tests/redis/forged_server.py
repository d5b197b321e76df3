"""A server that lies: it speaks RESP, answers as Redis would, and forges what a test
names. It listens on a port that the system chose."""
import hashlib
import socket
import threading
import time

SILENCE, DRIP, FLOOD = object(), object(), object()


def bulk(x):
    return b"$-1\r\n" if x is None else b"$%d\r\n%s\r\n" % (len(x), x)


def array(*items):
    return b"*%d\r\n" % len(items) + b"".join(items)


def number(n):
    return b":%d\r\n" % n


class Forger:
    """FORGED maps the first word of a command to the bytes of its answer, to a function
    of the words and the server that gives them, or to SILENCE, DRIP or FLOOD; CLOSE
    ends the connection behind a forged answer."""
    fields = {b"seen": b"2", b"seed_high": b"9", b"scheme": b"seen", b"pieces": b"1", b"bits": b"1000",
              b"probes": b"3", b"seed": b"7", b"mark": b"5", b"keys": b"100",
              b"error": b"0.01", b"ready": b"1"}

    def __init__(self, forged=(), close=False, cluster=False, kind=b"hash", fields=()):
        self.forged = dict(forged)
        self.close = close
        self.cluster = cluster
        self.kind = kind
        self.fields = {**Forger.fields, **dict(fields)}
        self.asked = set()
        self.scripts = []
        self.ended = False
        self.s = socket.socket()
        self.s.bind(("127.0.0.1", 0))
        self.s.listen(64)
        self.port = self.s.getsockname()[1]
        threading.Thread(target=self.listen, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended = True
        self.s.shutdown(socket.SHUT_RDWR)
        self.s.close()

    def listen(self):
        while not self.ended:
            try:
                c, _ = self.s.accept()
            except OSError:
                return
            threading.Thread(target=self.talk, args=(c,), daemon=True).start()

    def talk(self, c):
        try:
            with c, c.makefile("rb") as f:
                while not self.ended:
                    line = f.readline()
                    if not line:
                        return
                    words = []
                    for _ in range(int(line[1:])):
                        n = int(f.readline()[1:])
                        words.append(f.read(n + 2)[:-2])
                    if not self.reply(c, words):
                        return
        except (OSError, ValueError):
            pass

    def reply(self, c, words):
        name = words[0].upper()
        key = name.decode()
        if name == b"EVALSHA":  # which script: the order in which they were loaded
            key += str(self.scripts.index(words[1]))
        self.asked.add(key)
        lie = self.forged.get(key)
        if lie is None:
            c.sendall(self.honest(name, words))
            return True
        if lie in (SILENCE, DRIP, FLOOD):
            if lie is not SILENCE:
                c.sendall(b"$1000000000\r\n")
            while not self.ended:
                if lie is FLOOD:
                    c.sendall(b"x" * 65536)
                else:
                    time.sleep(0.01)
                if lie is DRIP:
                    c.sendall(b"x")
            return False
        c.sendall(lie(words, self) if callable(lie) else lie)
        return not self.close

    def honest(self, name, words):
        if name == b"INFO":
            return bulk(b"# Cluster\r\ncluster_enabled:%d\r\n" % self.cluster)
        if name == b"CLUSTER":
            return array(array(number(0), number(16383),
                               array(bulk(b"127.0.0.1"), number(self.port), bulk(b"id"))))
        if name == b"TYPE":
            return b"+" + self.kind + b"\r\n"
        if name == b"HMGET":
            return array(*(bulk(self.fields[w]) for w in words[2:]))
        if name in (b"BITFIELD", b"BITFIELD_RO"):
            mark = words[2:5] == [b"GET", b"u32", b"0"]
            n = words.count(b"GET") + words.count(b"SET") - mark
            return array(*([number(5)] if mark else []), *([number(0)] * n))
        if name == b"BF.MEXISTS":
            return array(*([number(0)] * (len(words) - 2)))
        if name == b"BF.INSERT":
            return array(*([number(1)] * (len(words) - 4)))
        if name == b"SCRIPT":
            sha = hashlib.sha1(words[2]).hexdigest().encode()
            if sha not in self.scripts:
                self.scripts.append(sha)
            return bulk(sha)
        if name == b"EVALSHA":  # push, claim, done, release, renew, status
            return (number(1), array(), array(), number(1), array(number(1)),
                    array(*([number(0)] * 5)))[self.scripts.index(words[1])]
        if name == b"COMMAND":
            return array(bulk(None))
        if name == b"SMEMBERS":
            return array(bulk(b"http://127.0.0.1:1/"))
        if name == b"EVAL" and b"HMGET" in words[1]:  # what workers agree on
            return array(*map(bulk, (b"set", b"100", b"0.01", b"7", b"8", b"2")))
        if name == b"EVAL" and b"BITFIELD" in words[1]:
            return array(*([number(0)] * (words.count(b"GET") + words.count(b"SET"))))
        if name in (b"EVAL", b"EXISTS", b"UNLINK", b"HSET", b"BITCOUNT"):
            return number(1)
        return b"+OK\r\n"
