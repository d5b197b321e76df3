#!/usr/bin/python3
"""The client library of Debian, python3-redis, drives the module with the commands it
has for RedisBloom."""
from redis_servers import *

try:
    import redis
    from redis.exceptions import ResponseError
except ImportError:
    skip_all("package python3-redis is not installed")

s = Server()
for layout in ("fast", "compat"):
    r = redis.Redis(port=s.port)
    r.flushall()
    r.config_set("bf.layout", layout)
    bf, cf = r.bf(), r.cf()
    print("# layout", layout)
    ok(bf.create("bloom", 0.01, 1000), "create")
    ok(bf.create("bloom_e", 0.01, 1000, expansion=1), "create with expansion")
    ok(bf.create("bloom_ns", 0.01, 1000, noScale=True), "create without scaling")
    same(bf.add("bloom", "foo"), 1, "add")
    same(bf.add("bloom", "foo"), 0, "add again")
    same([int(x) for x in bf.madd("bloom", "foo", "bar", "baz")], [0, 1, 1], "madd")
    same(bf.exists("bloom", "foo"), 1, "exists")
    same(bf.exists("bloom", "noexist"), 0, "does not exist")
    same([int(x) for x in bf.mexists("bloom", "foo", "noexist")], [1, 0], "mexists")
    same([int(x) for x in bf.insert("captest", ["foo"], capacity=10)], [1], "insert, capacity")
    same([int(x) for x in bf.insert("errtest", ["foo"], error=0.01)], [1], "insert, error")
    try:
        bf.insert("none", ["foo"], noCreate=True)
        ok(False, "insert, noCreate")
    except ResponseError as e:
        same(str(e), "not found", "insert, noCreate")
    info = bf.info("bloom")
    same((info.capacity, info.filterNum, info.insertedNum, info.expansionRate),
         (1000, 1, 3, 2), "info")
    same(bf.info("bloom_ns").expansionRate, None, "info without scaling")
    bf.create("myBloom", "0.0001", "1000")
    for x in range(1000):
        bf.add("myBloom", x)
    it, cmds = 0, []
    while True:
        it, data = bf.scandump("myBloom", it)
        if it == 0:
            break
        cmds.append((it, data))
    r.delete("myBloom")
    for it, data in cmds:
        bf.loadchunk("myBloom", it, data)
    ok(all(bf.exists("myBloom", x) for x in range(1000)), "scandump and loadchunk")

    ok(cf.create("cuckoo", 1000), "cf create")
    ok(cf.create("cuckoo_e", 1000, expansion=1), "with expansion")
    ok(cf.create("cuckoo_bs", 1000, bucket_size=4), "with bucket size")
    ok(cf.create("cuckoo_mi", 1000, max_iterations=10), "with iterations")
    same(cf.add("cuckoo", "filter"), 1, "cf add")
    same(cf.addnx("cuckoo", "filter"), 0, "cf addnx")
    same(cf.addnx("cuckoo", "newItem"), 1, "cf addnx, new")
    same([int(x) for x in cf.insert("captest2", ["foo"], capacity=1000)], [1], "cf insert")
    same([int(x) for x in cf.insertnx("captest2", ["foo", "bar"], capacity=1000)], [0, 1],
         "cf insertnx")
    same([int(x) for x in cf.insert("captest2", ["foo"], nocreate=True)], [1], "nocreate")
    same(cf.exists("cuckoo", "filter"), 1, "cf exists")
    same(cf.count("cuckoo", "filter"), 1, "cf count")
    same(cf.delete("cuckoo", "filter"), 1, "cf delete")
    same(cf.count("cuckoo", "filter"), 0, "cf count after that")
    info = cf.info("captest2")
    same((info.filterNum, info.insertedNum, info.deletedNum, info.maxIteration),
         (1, 3, 0, 20), "cf info")
    it, cmds = 0, []
    while True:
        it, data = cf.scandump("captest2", it)
        if it == 0:
            break
        cmds.append((it, data))
    for it, data in cmds:
        cf.loadchunk("captest3", it, data)
    same(cf.count("captest3", "foo"), 2, "cf scandump and loadchunk")

    cms, topk = r.cms(), r.topk()
    ok(cms.initbydim("dim", 1000, 5) and cms.initbyprob("prob", 0.01, 0.01), "cms init")
    same(cms.incrby("dim", ["foo", "bar"], [5, 15]), [5, 15], "cms incrby")
    same(cms.query("dim", "foo", "bar", "none"), [5, 15, 0], "cms query")
    ok(cms.initbydim("sum", 1000, 5) and cms.merge("sum", 2, ["dim", "dim"], [1, 2]), "cms merge")
    same(cms.query("sum", "foo"), [15], "and its counts")
    info = cms.info("dim")
    same((info.width, info.depth, info.count), (1000, 5, 20), "cms info")
    ok(topk.reserve("top", 3, 50, 4, 0.9), "topk reserve")
    same(topk.add("top", "A", "B", "A"), [None, None, None], "topk add")
    same(topk.incrby("top", ["C"], [7]), [None], "topk incrby")
    same([int(x) for x in topk.query("top", "A", "Z")], [1, 0], "topk query")
    same(topk.list("top"), ["C", "A", "B"], "topk list")
    same(topk.list("top", withcount=True), ["C", 7, "A", 2, "B", 1], "with counts")
    info = topk.info("top")
    same((info.k, info.width, info.depth, float(info.decay)), (3, 50, 4, 0.9), "topk info")
    # Its calls for TDIGEST are those of a preview of RedisBloom 2.4: by name, then.
    r.execute_command("TDIGEST.CREATE", "digest", "COMPRESSION", 100)
    r.execute_command("TDIGEST.ADD", "digest", *range(1, 101))
    same([float(x) for x in r.execute_command("TDIGEST.QUANTILE", "digest", 0, 0.5, 1)],
         [1.0, 50.5, 100.0], "tdigest")
    pipe = r.pipeline()
    for i in range(100):
        pipe.bf().add("piped", i)
    same(sum(int(x) for x in pipe.execute()), 100, "a pipeline")
done()
