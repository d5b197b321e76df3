"""TAP for tests in Python: ok() and same() count, done() ends."""
import sys

_run = 0
_failed = 0


def ok(good, words, note=None):
    global _run, _failed
    _run += 1
    print(("ok" if good else "not ok"), _run, "-", words, flush=True)
    if not good:
        _failed += 1
        if note is not None:
            print("#", repr(note)[:500], flush=True)
    return good


def same(got, want, words):
    return ok(got == want and type(got) == type(want), words, {"got": got, "want": want})


def raises(_kind, words, call, *args, **named):
    """CALL raises _KIND; returns the exception, for its words."""
    try:
        result = call(*args, **named)
    except _kind as why:
        ok(True, words)
        return why
    except BaseException as why:
        ok(False, words, why)
        return why
    ok(False, words, "returned %r" % (result,))
    return None


def done():
    print("1..%d" % _run)
    sys.exit(_failed != 0)


def skip_all(why):
    print("1..0 # SKIP", why)
    sys.exit(0)
