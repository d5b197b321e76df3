#!/bin/sh
# page.t - every command shown in docs/foreign.md runs, in the order of the page.
. "$(dirname "$0")/../tap.sh"
seen=$(command -v seen)
seq 1 800 | sed 's|^|https://example.org/|' >urls.txt
seq 1 800 >ids.txt
mkdir db
cp "$top/tests/golden/leveldb/table/table.ldb" db/000005.ldb
cp "$top/tests/golden/parquet/two-groups.parquet" table.parquet
"$seen" new --kind guava -n 1000 visited.guava
"$seen" add --word https://example.org/7 visited.guava
PATH=$(dirname "$seen"):$PATH
awk '/^```/ { on = /^```sh/; next } on && !/^#/ && NF' "$top/docs/foreign.md" >commands
while IFS= read -r line; do
    ok "$line" sh -c "$line"
done <commands
ok "the page shows commands" [ "$tap_n" -gt 40 ]
finish
