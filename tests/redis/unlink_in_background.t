#!/usr/bin/python3
"""Big filters go in the background: while one is unlinked, another client waits no
longer than it does anyhow. SEEN_BIG_MB sets the size (the figure in docs/redis.md was
made with 1024)."""
import threading
from redis_servers import *

MB = int(os.environ.get("SEEN_BIG_MB", "192"))
s = Server()
c = s.client()


def filled(key, layout):
    """A filter whose every page is in memory."""
    c("BF.RESERVE", key, "0.01", MB * 800000, "NONSCALING", "LAYOUT", layout)
    # Some pieces of a dump, loaded into every place, touch the pages faster than items.
    size = sum(int(f.split(b":")[1]) for l in c("BF.DEBUG", key)[1:]
               for f in l.split() if f.startswith(b"bytes:"))
    piece, at = os.urandom(1 << 20) * 4, 0
    while at < size:
        n = min(len(piece), size - at)
        at += n
        assert c("BF.LOADCHUNK", key, 1 + at, piece[:n]) == "OK"
    return size


def longest(work):
    """The longest wait of another client while WORK runs, in ms."""
    waits, stop = [], threading.Event()

    def ping():
        d = s.client()
        while not stop.is_set():
            t = time.perf_counter()
            d("PING")
            waits.append((time.perf_counter() - t) * 1000)

    t = threading.Thread(target=ping)
    t.start()
    until(lambda: waits)
    time.sleep(0.2)
    before = len(waits)
    took = work()
    time.sleep(0.5)
    stop.set()
    t.join()
    return max(waits[before - 1:]), took


def timed(*words):
    def work():
        t = time.perf_counter()
        got = c(*words)
        assert got == 1 or got == "OK", got
        return (time.perf_counter() - t) * 1000
    return work


for layout in ("fast", "compat"):
    size = filled("big", layout)
    used = int(c.info("used_memory"))
    ok(used > size, "%s: a filled filter of %d MB" % (layout, size >> 20))
    freed = int(c.info("lazyfreed_objects"))
    idle, _ = longest(lambda: time.sleep(0.01))
    wait, took = longest(timed("UNLINK", "big"))
    until(lambda: int(c.info("lazyfreed_objects")) > freed)
    print("# UNLINK took %.2f ms; the other client waited at most %.2f ms, and %.2f ms when "
          "nothing was unlinked" % (took, wait, idle))
    same(int(c.info("lazyfreed_objects")), freed + 1, "it is freed by the background thread")
    ok(until(lambda: int(c.info("used_memory")) < used - size * 9 // 10), "all of it")
filled("big", "fast")
c("CONFIG", "SET", "lazyfree-lazy-user-del", "yes")
freed = int(c.info("lazyfreed_objects"))
c("DEL", "big")
ok(until(lambda: int(c.info("lazyfreed_objects")) > freed), "so does DEL where it is lazy")
# Making a big one takes no time either: its pages come when they are touched.
rss = int(c.info("used_memory_rss"))
wait, took = longest(timed("BF.RESERVE", "big", "0.01", 400000000))
print("# BF.RESERVE of 490 MB took %.2f ms, the other client waited at most %.2f ms" % (took, wait))
ok(int(c.info("used_memory_rss")) - rss < 100 << 20, "a new filter of 490 MB is not resident yet")
done()
