"""Real servers for the tests: started on free loopback ports, stopped at the end.

SEEN_SERVER=valkey runs a test on Valkey instead of Redis. The binary is the system's, or
the one fetch_valkey unpacked into build/valkey.

A tiny RESP client shows replies exactly as sent: simple strings as Simple, errors as
Err, booleans, nil and maps as Python knows them. Tests print TAP through ok() and
done()."""
import atexit
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
MODULE = os.path.abspath(os.path.join(BUILD, "seen.so"))

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import done, ok, same, skip_all  # noqa: E402, F401

KIND = os.environ.get("SEEN_SERVER", "redis")


def program(name):
    """The path of KIND-NAME, or None."""
    fetched = os.path.join("build", "valkey", "usr", "bin", "valkey-" + name)
    if KIND == "valkey" and os.access(fetched, os.X_OK):
        return os.path.abspath(fetched)
    return shutil.which(KIND + "-" + name)


def why_no_server():
    try:
        with open(os.path.join("build", "valkey", "missing")) as f:
            if KIND == "valkey":
                return f.read().strip()
    except OSError:
        pass
    return "%s-server is neither installed nor fetched (./run test does)" % KIND


if not program("server"):
    skip_all(why_no_server())
if not os.path.exists(MODULE):
    skip_all("the module was not built")


class Simple(str):
    pass


class Err(str):
    pass


class Map(dict):
    pass


class Client:
    """One connection. c("BF.ADD", "k", "x") sends and reads; send() and read() apart
    make a pipeline."""

    def __init__(self, port, timeout=300):
        self.s = socket.create_connection(("127.0.0.1", port), timeout)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.f = self.s.makefile("rb")

    def send(self, *words):
        out = [b"*%d\r\n" % len(words)]
        for w in words:
            if not isinstance(w, bytes):
                w = str(w).encode()
            out.append(b"$%d\r\n%s\r\n" % (len(w), w))
        self.s.sendall(b"".join(out))

    def read(self):
        line = self.f.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server went away")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return Simple(rest.decode())
        if kind == b"-":
            return Err(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b",":
            return float(rest)
        if kind == b"#":
            return rest == b"t"
        if kind == b"_":
            return None
        if kind in b"$=":
            n = int(rest)
            if n < 0:
                return None
            return self.f.read(n + 2)[:-2]
        if kind in b"*~>":
            n = int(rest)
            return None if n < 0 else [self.read() for _ in range(n)]
        if kind == b"%":
            return Map((self.read(), self.read()) for _ in range(int(rest)))
        raise ValueError(line)

    def __call__(self, *words):
        self.send(*words)
        return self.read()

    def line(self, text):
        return self(*text.split())

    def info(self, field):
        for row in self("INFO", "everything").decode(errors="replace").splitlines():
            if row.startswith(field + ":"):
                return row.split(":", 1)[1]
        return None

    def close(self):
        self.f.close()
        self.s.close()


def free_port(also=0):
    """A port nobody listens on; ALSO is an offset that must be free too. It lies below
    those that connections take for themselves, else one of them might have it when a
    server that was stopped comes back. Drawn at random, as other tests draw theirs."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
        end = int(f.read().split()[0]) - also
    end = end if end > 12000 else 32000
    while True:
        p = random.SystemRandom().randrange(10000, end)
        try:
            for q in {p, p + also}:
                with socket.socket() as t:
                    t.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    t.bind(("127.0.0.1", q))
            return p
        except OSError:
            pass


def sanitized(env):
    """ENV for a server that loads the module. BUILD=build/san, made with SAN=1, holds one
    with AddressSanitizer, whose library must be loaded before the server itself."""
    with open(MODULE, "rb") as f:
        if b"libasan.so" not in f.read():
            return env
    lib = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True)
    return dict(env, LD_PRELOAD=lib.stdout.strip(), ASAN_OPTIONS="detect_leaks=0:"
                "allocator_may_return_null=1:log_path=stderr:exitcode=99")


class Server:
    all = []
    process = None

    def __init__(self, *options, module=True, args=(), cluster=False):
        self.dir = tempfile.mkdtemp(prefix="seen-redis-")
        Server.all.append(self)
        rest = ["--dir", self.dir, "--save", "", "--bind", "127.0.0.1",
                "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0",
                "--logfile", os.path.join(self.dir, "log")]
        if cluster:  # nobody is taken for dead because the machine is slow
            rest += ["--cluster-enabled", "yes", "--cluster-node-timeout", "60000"]
        rest += [str(o) for o in options]
        if module:
            rest += ["--loadmodule", MODULE] + [str(a) for a in args]
        for tries in range(10):
            self.port = free_port(10000 if cluster else 0)
            self.options = ["--port", str(self.port)] + rest
            try:
                return self.start()
            except RuntimeError:
                if tries == 9 or "in use" not in self.log():
                    raise

    def start(self):
        with open(os.path.join(self.dir, "stderr"), "ab") as errors:
            self.process = subprocess.Popen([program("server")] + self.options,
                                            stdout=subprocess.DEVNULL, stderr=errors,
                                            env=sanitized(os.environ))
        self.wait()

    def wait(self, seconds=120):
        """Until it answers, and not another on the same port, and has loaded its data."""
        end = time.time() + seconds
        while time.time() < end:
            try:
                c = Client(self.port)
                good = c("PING") == "PONG" and c.info("process_id") == str(self.process.pid)
                c.close()
                if good:
                    return
            except OSError:
                pass
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError("server did not start: " + self.log()[-800:])

    def client(self):
        return Client(self.port)

    def log(self):
        if not os.path.exists(os.path.join(self.dir, "log")):
            return ""
        with open(os.path.join(self.dir, "log"), errors="replace") as f:
            return f.read()

    def alive(self):
        return self.process.poll() is None

    def kill(self, how=signal.SIGKILL):
        if self.process and self.alive():
            self.process.send_signal(how)
            self.process.wait()

    def restart(self):
        self.kill(signal.SIGTERM)
        self.start()


@atexit.register
def _stop():
    for s in Server.all:
        s.kill()
        shutil.rmtree(s.dir, ignore_errors=True)


def on_signal(*_):
    sys.exit(1)


signal.signal(signal.SIGTERM, on_signal)
signal.signal(signal.SIGINT, on_signal)


def until(what, seconds=120):
    end = time.time() + seconds
    while time.time() < end:
        if what():
            return True
        time.sleep(0.05)
    return False
