#!/usr/bin/python3
"""docs/sql.md: every statement runs as written, in a real SQLite and a real PostgreSQL."""
import re
import subprocess

from postgres_server import *

with open(TOP + "/docs/sql.md") as file:
    page = file.read()
lite, postgres = re.findall(r"```sql\n(.*?)```", page, re.S)
if shutil.which("sqlite3") and os.path.exists(BUILD + "/sqlite/seen.so"):
    out = subprocess.run(["sqlite3", "-bail", ":memory:"], input=lite.replace("build/", BUILD + "/"), stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    ok(out.returncode == 0 and out.stdout.startswith("1|0\n{"), "the five minutes of SQLite", out.stdout)
pg = Postgres()
out = pg.sql(postgres)
lines = out.splitlines()
ok(len(lines) == 2 and lines[0] == "t|f", "the five minutes of PostgreSQL", out)
ok(lines[-1:] and 3334 <= int(lines[-1]) < 3334 + 40, "the filter in WHERE", lines)
commands = re.findall(r"sudo apt-get install ([^\n]*)", page)
needs = open(TOP + "/run").read()
for package in {p for line in commands for p in line.split()}:
    ok(package in needs, "./run knows the package " + package)
done()
