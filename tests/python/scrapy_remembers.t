#!/usr/bin/python3
"""seen.scrapy.DupeFilter: the same pages as Scrapy's own, and after kill -9 none is lost."""
import atexit
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

from python_test import *

try:
    import scrapy  # noqa: F401
except ImportError:
    skip_all("package python3-scrapy is not installed")

from seen.scrapy import Journal

os.mkfifo("journal")
raises(OSError, "a FIFO in the place of the journal is refused, not waited for",
       Journal("journal").read)

PAGES = 600
asked = 0


class Site(http.server.BaseHTTPRequestHandler):
    """Page n links to 2n+1, 2n+2, and to earlier pages, so that most links are repeats."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        global asked
        asked += 1
        try:
            n = int(self.path[1:])
        except ValueError:
            return self.send_error(404)
        time.sleep(0.002)
        links = [i for i in (2 * n + 1, 2 * n + 2, n // 3, n // 7, n * 5 % PAGES) if i < PAGES]
        body = "".join('<a href="/%d">x</a>' % i for i in links).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 100
    daemon_threads = True

    def handle_error(self, *_):  # a killed spider hangs up
        pass


server = Server(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
port = str(server.server_address[1])
env = dict(os.environ, PYTHONPATH=BUILD + "/python")
SPIDER = [sys.executable, TOP + "/tests/python/spider.py", port]
OURS = "DUPEFILTER_CLASS=seen.scrapy.DupeFilter"


def crawl(out, *words, kill=None):
    p = subprocess.Popen(SPIDER + [out, *words], env=env, stderr=open(out + ".log", "a"))
    if kill is not None:
        # Killed after so many more pages, wherever it then is.
        start = time.time()
        while p.poll() is None and count(out) < kill and time.time() - start < 60:
            time.sleep(0.005)
        p.send_signal(signal.SIGKILL)
    return p.wait()


def count(out):
    try:
        return sum(1 for _ in open(out))
    except FileNotFoundError:
        return 0


def pages(out):
    return sorted(int(line) for line in open(out) if line.endswith("\n"))


def stats(out):
    return json.load(open(out + ".json"))


everything = list(range(PAGES))
crawl("builtin")
same(sorted(set(pages("builtin"))), everything, "Scrapy's own filter finds every page")
crawl("ours", OURS)
same(pages("ours"), pages("builtin"), "ours finds the same pages, as often")
s = stats("ours")
ok(0 <= s["dupefilter/expected_lost"] < 0.01 and s["dupefilter/requests"] >= PAGES - 1 and
   s["dupefilter/bytes"] > 0 and s["dupefilter/filtered"] > PAGES, "its statistics are Scrapy's", s)
crawl("exact", OURS, "SEEN_EXACT=True", "SEEN_EXPECT=1000")
same(pages("exact"), pages("builtin"), "SEEN_EXACT too")

# An orderly stop, and the rest later.
crawl("job", OURS, "JOBDIR=jobdir", "CLOSESPIDER_PAGECOUNT=100")
first = len(pages("job"))
ok(100 <= first < PAGES, "a crawl that stops after %d pages" % first)
crawl("job", OURS, "JOBDIR=jobdir")
same(sorted(set(pages("job"))), everything, "goes on where it was")
ok(len(pages("job")) <= PAGES + 2, "and repeats only its start page", len(pages("job")))

# kill -9 at many moments, the last run whole.
ROUNDS = int(os.environ.get("ROUNDS", "2"))
for round in range(ROUNDS):
    out, jobdir = "kill%d" % round, "JOBDIR=killed%d" % round
    kills = 0
    for more in (7 + 31 * round, 90 + 53 * round, 150):
        if crawl(out, OURS, jobdir, kill=count(out) + more) == -signal.SIGKILL:
            kills += 1
    last = crawl(out, OURS, jobdir)
    same(sorted(set(pages(out))), everything, "no page is lost after %d kills" % kills)
    ok(last == 0, "and the last run ends by itself", open(out + ".log").read()[-300:])
ok(len(pages("kill0")) < 2 * PAGES, "a page is fetched again only if it was not finished", len(pages("kill0")))
# Killed, stopped in order, killed again: the two ways to go on meet.
crawl("mixed", OURS, "JOBDIR=mixed-dir", kill=60)
crawl("mixed", OURS, "JOBDIR=mixed-dir", "CLOSESPIDER_PAGECOUNT=100")
crawl("mixed", OURS, "JOBDIR=mixed-dir", kill=count("mixed") + 60)
crawl("mixed", OURS, "JOBDIR=mixed-dir")
same(sorted(set(pages("mixed"))), everything, "a kill after an orderly stop loses nothing either")

# One filter for two spiders, in a real Redis: together they fetch every page once.
if shutil.which("redis-server") and hasattr(seen._seen, "Remote"):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        redis_port = probe.getsockname()[1]
    redis = subprocess.Popen(["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--save", "",
                              "--dir", WORK], stdout=subprocess.DEVNULL)
    atexit.register(redis.kill)
    url = "redis://127.0.0.1:%d/visited" % redis_port
    for _ in range(200):
        try:
            seen.Remote(url + "?timeout=1", keys=10000, error=1e-6).close()
            break
        except ConnectionError:
            time.sleep(0.05)
    both = [subprocess.Popen(SPIDER + [out, OURS, "SEEN_URL=" + url], env=env, stderr=open(out + ".log", "a"))
            for out in ("one", "two")]
    for p in both:
        p.wait()
    fetched = [n for n in pages("one") + pages("two") if n]
    same(sorted(set(fetched)), everything[1:], "two spiders share a filter in Redis and find every page")
    same(len(fetched), len(set(fetched)), "none of them twice")
    redis.terminate()
    redis.wait()
done()
