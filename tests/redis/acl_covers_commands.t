#!/usr/bin/python3
"""ACL rules mean for our commands what they mean for the server's own: +@read and +@write
cover them, names are in lower case, and commandstats counts them. Redis 7.0 cannot put
commands of modules into categories; there each is allowed by name."""
from redis_servers import *

s = Server()
c = s.client()
categories = KIND != "redis" or not c.info("redis_version").startswith("7.0.")
reads, writes = ["+@read"], ["+@write"]
if not categories:
    reads, writes = ["+bf.exists", "+cf.count"], ["+bf.add"]
c("ACL", "SETUSER", "reader", "on", "nopass", "~*", *reads)
c("ACL", "SETUSER", "writer", "on", "nopass", "~*", *writes)
c("BF.ADD", "b", "x")
c("CF.ADD", "c", "x")
reader, writer = s.client(), s.client()
reader("AUTH", "reader", "any")
writer("AUTH", "writer", "any")
rows = [(name, c("COMMAND", "INFO", name)[0]) for name in c("COMMAND", "LIST", "FILTERBY",
                                                            "MODULE", "bf")]
ok(len(rows) >= 29, "the server lists our commands (%d)" % len(rows))
same([n for n, _ in rows if n != n.lower()], [], "all in lower case")
rows = rows if categories else []
bad = [n for n, r in rows if ("@write" if "write" in r[2] else "@read") not in r[6]]
same(bad, [], "each is in @read or @write")
bad = [n for n, r in rows if ("@fast" if "fast" in r[2] else "@slow") not in r[6]]
same(bad, [], "and in @fast or @slow")
same(reader("BF.EXISTS", "b", "x"), 1, " ".join(reads) + " may ask")
same(reader("CF.COUNT", "c", "x"), 1, "in both families")
got = reader("BF.ADD", "b", "y")
ok(got.startswith("NOPERM") and "'bf.add'" in got, "but not add, and the message names bf.add", got)
same(writer("BF.ADD", "b", "y"), 1, " ".join(writes) + " may add")
ok(str(writer("BF.EXISTS", "b", "x")).startswith("NOPERM"), "but not ask")
c("ACL", "SETUSER", "one", "on", "nopass", "~*", "+BF.ADD")
one = s.client()
one("AUTH", "one", "any")
same(one("bf.add", "b", "z"), 1, "a single command can be allowed, in any case")
stats = c("INFO", "commandstats").decode()
ok("cmdstat_bf.add:calls=" in stats, "commandstats counts bf.add")
ok("cmdstat_BF" not in stats and "cmdstat_CF" not in stats, "under one name only")
done()
