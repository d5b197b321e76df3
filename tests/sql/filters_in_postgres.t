#!/usr/bin/python3
"""CREATE EXTENSION seen: filters as values, in WHERE, built in parallel; hostile bytes and
strangers are errors."""
import json
import random
import subprocess

from postgres_server import *

pg = Postgres(["max_parallel_workers_per_gather=2", "min_parallel_table_scan_size=0", "parallel_setup_cost=0",
               "parallel_tuple_cost=0"])
same(pg.sql("CREATE EXTENSION seen"), "", "CREATE EXTENSION")
pg.sql("""CREATE TABLE t AS SELECT i AS id, 'user' || i AS name FROM generate_series(1, 200000) i;
          ANALYZE t;
          CREATE TABLE f (name text, filter seen);
          INSERT INTO f SELECT 'ids', seen_build(id, 0.001) FROM t;
          INSERT INTO f SELECT 'names', seen_build(name) FROM t;""")
same(pg.sql("SELECT count(*) FROM t WHERE NOT (SELECT filter FROM f WHERE name = 'ids') @> id"), "0",
     "no key is denied")
wrong = int(pg.sql("SELECT count(*) FROM generate_series(200001, 400000) i WHERE (SELECT filter FROM f WHERE name = 'ids') @> i"))
ok(wrong < 200 + 6 * 15, "the error is the promised one: %d of 200000" % wrong)
same(pg.sql("SELECT count(*) FROM t, f WHERE f.name = 'names' AND NOT seen_has(filter, t.name)"), "0", "text keys")
same(pg.sql("SELECT filter @> 'user7', filter @> 'nobody' FROM f WHERE name = 'names'"), "t|f", "literals are text")
same(pg.sql("SELECT filter @> 5, filter @> 5::bigint, filter @> 5::smallint FROM f WHERE name = 'ids'"), "t|t|t",
     "integers of any width are one key")
same(pg.sql("SELECT filter @> NULL::int FROM f WHERE name = 'ids'"), "", "NULL gives NULL")
i = json.loads(pg.sql("SELECT seen_info(filter) FROM f WHERE name = 'ids'"))
ok(i["capacity"] >= 199000 and 0 < i["error_now"] <= 0.001, "seen_info is JSON", i)

# In parallel, and the same bytes without.
plan = pg.sql("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT seen_build(id, 0.001) FROM t")
ok("Partial Aggregate" in plan and "Workers Launched: 2" in plan, "the aggregate runs in parallel", plan)
same(pg.sql("SET max_parallel_workers_per_gather = 0; SELECT seen_build(id, 0.001)::bytea = (SELECT filter::bytea FROM f WHERE name = 'ids') FROM t"),
     "t", "workers make the same bytes as one process")
d = int(pg.sql("SELECT seen_distinct(id % 5000) FROM t"))
ok(abs(d - 5000) < 6 * 0.008 * 5000, "seen_distinct counts in parallel: %d" % d)
same(pg.sql("SELECT seen_distinct(id) FROM t WHERE id < 0"), "0", "of nothing, 0")
same(pg.sql("SELECT seen_build(id) @> 1 FROM t WHERE id < 0"), "f", "a filter of nothing is a filter")

# Merging.
same(pg.sql("""SELECT count(*) FROM generate_series(1, 2000) i WHERE NOT
    (SELECT seen_merge(b) FROM (SELECT seen_build(id, 0.01, 10000) AS b FROM t WHERE id <= 2000 GROUP BY id % 3) x) @> i"""),
     "0", "filters built for one number of keys merge")
same(pg.sql("""SELECT count(*) FROM generate_series(1, 5000) i WHERE NOT
    (SELECT seen_merge(b) FROM (SELECT seen_build(id, 0.01, 100) AS b FROM t WHERE id <= 5000 GROUP BY id % 2) x) @> i"""),
     "0", "also with more keys than they were built for")
ok("ERROR" in pg.sql("SELECT seen_merge(filter) FROM f"), "others do not, with an error")

# Types.
for key in ("1.5::float8", "'x'::bytea", "'y'::varchar", "gen_random_uuid()", "now()", "'2026-11-16'::date"):
    same(pg.sql("SELECT b @> k FROM (SELECT k, seen_build(k) OVER () AS b FROM (SELECT %s AS k) x) y" % key), "t", "a key: " + key)
for key in ("1.5::numeric", "ARRAY[1]", "'{}'::json"):
    why = pg.sql("SELECT seen_build(%s)" % key)
    ok("ERROR" in why and "Cast it" in why, "no key: " + key, why)
for words in ("2.0", "-1", "'NaN'::float8", "0.01, -5"):
    ok("ERROR" in pg.sql("SELECT seen_build(id, %s) FROM t" % words), "seen_build(id, %s) is an error" % words)

# The same keys as in the command.
pg.sql("COPY (SELECT filter::bytea FROM f WHERE name = 'names') TO '%s/names.bin' (FORMAT binary)" % pg.socket)
raw = open(pg.socket + "/names.bin", "rb").read()
start = raw.index(b"\x89seen")
with open(pg.socket + "/names.seen", "wb") as file:
    file.write(raw[start:-2])
os.chmod(pg.socket + "/names.seen", 0o644)
asked = "".join("user%d\n" % i for i in range(1, 2001))
out = subprocess.run([BUILD + "/seen", "has", "-v", pg.socket + "/names.seen"], input=asked, stdout=subprocess.PIPE, text=True)
same(out.stdout, "", "the command finds every name that SQL added")
same(pg.sql("SELECT seen_file_has('%s/names.seen', 'user5'), seen_file_has('%s/names.seen', 'nobody')" % (pg.socket, pg.socket)), "t|f",
     "a file is asked where it lies")
same(pg.sql("SELECT seen_file('%s/names.seen') @> 'user6'" % pg.socket), "t", "and becomes a value")
pg.sql("CREATE ROLE stranger LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO stranger")
why = pg.sql("SELECT seen_file_has('%s/names.seen', 'user5')" % pg.socket, user="stranger")
ok("pg_read_server_files" in why, "but only for members of pg_read_server_files", why)
same(pg.sql("SELECT filter @> 5 FROM f WHERE name = 'ids'", user="stranger"), "t", "anyone who may read the value may ask it")

# Text and binary in and out.
same(pg.sql("CREATE TABLE g AS SELECT name, filter::text::seen AS filter FROM (SELECT name, filter::bytea::text AS filter FROM f) x; "
            "SELECT count(*) FROM f JOIN g USING (name) WHERE f.filter::bytea = g.filter::bytea"), "2", "text out and in")
same(pg.sql("COPY f TO '%s/f.bin' (FORMAT binary); CREATE TABLE h (LIKE f); COPY h FROM '%s/f.bin' (FORMAT binary); "
            "SELECT count(*) FROM f JOIN h USING (name) WHERE f.filter::bytea = h.filter::bytea" % (pg.socket, pg.socket)),
     "2", "binary out and in")

# Hostile bytes: an error each, and the server lives.
small = bytes.fromhex(pg.sql("SELECT encode(seen_build(id)::bytea, 'hex') FROM t WHERE id < 100"))
rng = random.Random(1)
errors, taken = 0, 0
batch = []
for n in range(400):
    b = bytearray(small)
    for _ in range(rng.randint(1, 4)):
        b[rng.randrange(len(b)) if rng.random() < 0.3 else rng.randrange(256)] = rng.randrange(256)
    if rng.random() < 0.3:
        b = b[:rng.randrange(len(b))]
    batch.append(bytes(b).hex())
pg.sql("""CREATE FUNCTION trial(b bytea) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN RETURN seen_has(b::seen, 5)::text || length(seen_info(b::seen)::text); EXCEPTION WHEN OTHERS THEN RETURN 'error'; END $$""")
answers = pg.sql("".join("SELECT trial('\\x%s');\n" % h for h in batch)).split()
ok(len(answers) == 400 and answers.count("error") > 300 and pg.alive(), "400 mutated filters: errors, never a crash",
   (len(answers), answers.count("error")))
for bad in ("''", "'\\\\x00'", "'hello'"):
    ok("ERROR" in pg.sql("SELECT %s::seen" % bad), "%s is not a filter" % bad)
ok("ERROR" in pg.sql("SET statement_timeout = 50; SELECT seen_build(i) FROM generate_series(1, 100000000) i"),
   "a build can be interrupted")
ok(pg.alive(), "the server is alive")
same(pg.sql("DROP EXTENSION seen CASCADE"), "", "DROP EXTENSION")
done()
