"""Answers "have I seen this before?" in a few bits per key.

    import seen
    f = seen.Filter(1_000_000, 0.001)
    if f.add("http://example.org/"):
        print("first visit")
    f.save("visited.seen")

A filter never denies a key that was added; it finds an absent key with at most the error
you chose. Keys are str (as UTF-8), bytes, int (eight little-endian bytes), float, UUID, date,
datetime, buffers, or tuples of those: the same bits as in C and in the command `seen`. The
first key decides the type; keys of another are a TypeError, unless f.key_type is "mixed".
"""

import sys

from . import _seen
from ._seen import (
    Builder,
    BusyError,
    DamagedError,
    Filter,
    ForeverError,
    FormatError,
    FullError,
    InvalidError,
    KindError,
    MismatchError,
    RangeError,
    ReadOnlyError,
    SeenError,
    TooBigError,
    VersionError,
    formats,
    version as __version__,
)

try:
    from ._seen import Remote
except ImportError:  # built without hiredis

    def Remote(*_, **__):
        raise ImportError("this build of seen has no Redis client (package libhiredis-dev)")


__all__ = [
    "Bitmap", "Builder", "Filter", "Remote", "Strings", "formats", "open", "plan", "uniq",
    "SeenError", "BusyError", "DamagedError", "ForeverError", "FormatError", "FullError",
    "InvalidError", "KindError", "MismatchError", "RangeError", "ReadOnlyError", "TooBigError",
    "VersionError",
]


class Strings:
    """Strings in Arrow's layout: string i is data[offsets[i]:offsets[i + 1]].

    `offsets` is an array of n + 1 integers of 32 or 64 bits, `data` any bytes. For a
    pyarrow array use Strings.from_arrow(array).
    """

    __slots__ = ("offsets", "data")

    def __init__(self, offsets, data):
        self.offsets = offsets
        self.data = data

    @classmethod
    def from_arrow(cls, array):
        """The buffers of a pyarrow string or binary array, without copying the text."""
        if array.null_count:
            raise ValueError("the array has nulls; drop them or fill them first")
        kind = str(array.type)
        width = {"string": 4, "binary": 4, "large_string": 8, "large_binary": 8}.get(kind)
        if width is None:
            raise TypeError(f"an array of {kind} holds no strings")
        _, offsets, data = array.buffers()
        window = memoryview(offsets).cast("B")
        window = window[array.offset * width:(array.offset + len(array) + 1) * width]
        return cls(window.cast("i" if width == 4 else "q"), data if data is not None else b"")


def _key(o):
    """The type (of seen.h) and bytes of a UUID, date or datetime; None for others.

    A datetime without a zone is taken by its clock, one with a zone by its instant.
    """
    uuid, datetime = sys.modules.get("uuid"), sys.modules.get("datetime")
    if uuid and isinstance(o, uuid.UUID):
        return 7, o.bytes
    if datetime and isinstance(o, datetime.datetime):
        utc = datetime.timezone.utc
        since = (o if o.tzinfo else o.replace(tzinfo=utc)) - datetime.datetime(1970, 1, 1, tzinfo=utc)
        return 9, (since // datetime.timedelta(microseconds=1)).to_bytes(8, "little", signed=True)
    if datetime and isinstance(o, datetime.date):
        return 8, (o.toordinal() - datetime.date(1970, 1, 1).toordinal()).to_bytes(8, "little", signed=True)
    return None


def _answers(source, flags):
    """Flags as a NumPy array if the keys came from NumPy, else as a memoryview of bools."""
    if type(source).__module__.partition(".")[0] in ("numpy", "pandas"):
        import numpy
        return numpy.frombuffer(flags, dtype=bool)
    return memoryview(flags).cast("?")


def _plain(source):
    """A pandas Series or Index as its NumPy array."""
    return source.to_numpy() if hasattr(source, "to_numpy") else source


class Bitmap(_seen._Bitmap):
    __doc__ = _seen._Bitmap.__doc__
    __slots__ = ()

    def __iter__(self):
        start = 0
        while True:
            found, start = self._list(start)
            if not found:
                return
            yield from found


def open(path, mode="r", **foreign):
    """Open a filter file, native or of another system.

    mode: "r" maps it read-only, "r+" adds to it in place, "shared" adds to it together
    with other processes (the filter was made with shared=True), "load" reads it into
    memory. Keywords give parameters that another system's file does not record, for example
    open("x.guava", type="int32") or open("x.bits", format="libbloom1", keys=1000,
    error=0.01); seen.formats() lists the formats.
    """
    return Filter._open(path, mode, **foreign)


def _again(source, word, foreign):
    """Unpickles a filter from a path and its mode, or from bytes and their format."""
    if isinstance(source, bytes):
        return Filter.from_bytes(source, **({"format": word} if word else {}), **foreign)
    return open(source, word, **foreign)


def uniq(iterable, key=None, error=0, keys=None):
    """Yield each distinct item once, in order, as `seen uniq` does.

    error=0 keeps 64-bit fingerprints: among a billion items one is lost with a
    probability of 3%. Any other error takes a few bits an item and loses that share of
    the new ones. `key` returns the key of an item.
    """
    f = Filter(keys, error) if error else Filter(keys, kind="set")
    f.key_type = "mixed"
    add = f.add
    if key is None:
        for item in iterable:
            if add(item):
                yield item
    else:
        for item in iterable:
            if add(key(item)):
                yield item


def plan(keys=0, error=0.0, memory=0):
    """The cost of each kind, as a list of dicts; the first is the one to choose.

    Give two of the three: number of keys, error, bytes of memory.
    """
    return _seen._plan(int(keys), float(error), int(memory))
