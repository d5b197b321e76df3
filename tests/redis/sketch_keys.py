"""Keys of CMS, TOPK and TDIGEST in every state, for tests that carry them somewhere."""


def fill(c, n=3000):
    c("CMS.INITBYDIM", "cms:dim", 500, 18)
    c("CMS.INITBYPROB", "cms:prob", "0.001", "0.01")
    c("CMS.INITBYDIM", "cms:empty", 7, 1)
    c("CMS.INITBYDIM", "cms:full", 3, 2)
    c("CMS.INCRBY", "cms:full", "x", 2**33, "y", 5)
    c("TOPK.RESERVE", "topk:usual", 20)
    c("TOPK.RESERVE", "topk:wide", 50, 500, 5, "0.7")
    c("TOPK.RESERVE", "topk:empty", 3)
    c("TOPK.RESERVE", "topk:bytes", 5, 50, 3, "0.9")
    c("TOPK.ADD", "topk:bytes", b"", b"a\0b", b"a\0c", b"\xff\r\n")
    c("TDIGEST.CREATE", "tdigest:usual")
    c("TDIGEST.CREATE", "tdigest:fine", "COMPRESSION", 1000)
    c("TDIGEST.CREATE", "tdigest:empty")
    c("TDIGEST.CREATE", "tdigest:one")
    c("TDIGEST.ADD", "tdigest:one", "-7.5")
    for i in range(0, n, 100):
        some = range(i, i + 100)
        pairs = [w for k in some for w in ("item%d" % (k * k % 307), k % 5)]
        c("CMS.INCRBY", "cms:dim", *pairs)
        c("CMS.INCRBY", "cms:prob", *pairs)
        c("TOPK.INCRBY", "topk:usual", *pairs)
        c("TOPK.ADD", "topk:wide", *["item%d" % (k * k % 307) for k in some])
        c("TDIGEST.ADD", "tdigest:usual", *[k * k % 1009 for k in some])
        c("TDIGEST.ADD", "tdigest:fine", *["%d.5e-3" % (k * 7919 % 10007) for k in some])
    c("CMS.MERGE", "cms:empty", 1, "cms:empty")
    c("TDIGEST.MERGE", "tdigest:merged", 2, "tdigest:usual", "tdigest:fine")


def answers(c):
    """What every key answers to every question."""
    out = {}
    for k in sorted(c("KEYS", "*")):
        family = k.split(b":")[0].decode().upper()
        if family == "CMS":
            asked = [("QUERY", k, "x", "y", "absent", *["item%d" % i for i in range(307)])]
        elif family == "TOPK":
            items = ["item%d" % i for i in range(307)] + [b"", b"a\0b", b"a\0c", b"\xff\r\n"]
            asked = [("LIST", k, "WITHCOUNT"), ("QUERY", k, *items), ("COUNT", k, *items)]
        else:
            asked = [("MIN", k), ("MAX", k), ("QUANTILE", k, 0, 0.1, 0.5, 0.99, 1),
                     ("CDF", k, -8, 0, 500, 10000), ("RANK", k, -7.5, 3, 500),
                     ("BYRANK", k, 0, 7, 2999), ("TRIMMED_MEAN", k, "0.1", "0.9")]
        out[k] = [c(family + "." + a[0], *a[1:]) for a in asked] + [c(family + ".INFO", k)]
    return out
