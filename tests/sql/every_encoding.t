#!/usr/bin/python3
"""Keys are the same in databases of every encoding: their UTF-8, or their bytes in one without."""
from postgres_server import *

pg = Postgres()
for encoding in ("SQL_ASCII", "LATIN1", "EUC_JP", "WIN1252", "UTF8"):
    name = "in_" + encoding.lower()
    pg.sql("CREATE DATABASE %s ENCODING '%s' LOCALE 'C' TEMPLATE template0" % (name, encoding))

    def sql(text):
        return pg.sql("\\c %s\nSET client_encoding = 'UTF8';\n%s" % (name, text))

    same(sql("CREATE EXTENSION seen"), "", encoding + ": the extension is there")
    same(sql("SELECT seen_distinct(x) FROM (VALUES ('one value'), ('one value')) AS t(x)"), "1", encoding + ": one value is one")
    same(sql("SELECT seen_distinct(x) FROM (VALUES (''), (''), ('a')) AS t(x)"), "2", encoding + ": empty text is a key")
    sql("CREATE TABLE a AS SELECT 'key ' || i AS k FROM generate_series(1, 5000) i; CREATE TABLE b AS SELECT k FROM a ORDER BY md5(k)")
    same(sql("SELECT count(*) FROM b WHERE (SELECT seen_build(k, 0.0001) FROM a) @> k"), "5000",
         encoding + ": a filter finds its keys in another table")
    ok(int(sql("SELECT count(*) FROM b WHERE (SELECT seen_build(k, 0.0001) FROM a) @> (k || 'x')")) < 20, encoding + ": and no others")
    same(sql("SELECT seen_build(''::text, 0.0001) @> ''::text"), "t", encoding + ": empty text is found")
    word = "käse" if encoding not in ("EUC_JP",) else "日本"
    if encoding != "SQL_ASCII":
        same(sql("SELECT seen_build('%s'::text, 0.0001) @> convert_to('%s', 'UTF8')" % (word, word)), "t",
             encoding + ": a text key is its UTF-8")
    for kind, value in (("bigint", "5"), ("float8", "-0.0"), ("uuid", "12345678-9abc-def0-1234-56789abcdef0"), ("date", "1999-12-31"),
                        ("timestamptz", "2026-11-16 00:00:00+00"), ("varchar", "v"), ("bytea", "\\x00ff")):
        same(sql("SELECT seen_build('%s'::%s, 0.0001) @> '%s'::%s" % (value, kind, value, kind)), "t", "%s: %s" % (encoding, kind))
ok(pg.alive(), "the server lives")
done()
