#!/bin/sh
# leveldb.t - LevelDB itself reads the filters we write, and we read its tables.
. "$(dirname "$0")/../tap.sh"
seen=$(command -v seen)
echo '#include <leveldb/c.h>' | ${CC:-cc} -E - >/dev/null 2>&1 || {
    echo "1..0 # SKIP no LevelDB headers (libleveldb-dev)"
    exit 0
}
lib=$(dirname "$seen")/libseen.a
ok "a program with both libraries" ${CC:-cc} -std=gnu11 -O1 -I"$top/include" -o live \
    "$top/tests/foreign/leveldb_live.c" "$lib" -lleveldb -lm -lpthread ${SAN:+-fsanitize=address,undefined}
count=20000
i=0
while [ $i -lt $count ]; do echo $((i * 7919 % 1000003)); i=$((i + 1)); done |
    sed 's|^|https://example.org/|' >keys
sed 's|$|/no|' keys >absent

ok "a database whose filters are ours, under the builtin's name" ./live ours write a $count
same "the builtin finds every key" "$count there, $count absent, by the builtin" \
    "$(./live theirs read a $count)"
ok "a database with the builtin's filters" ./live theirs write b $count
same "ours finds every key there" "$count there, $count absent, filter asked and refusing" \
    "$(./live ours read b $count)"
same "and in its own" "$count there, $count absent, filter asked and refusing" "$(./live ours read a $count)"

# The tables themselves: compressed with Snappy as LevelDB does by default.
for d in a b; do
    for t in "$d"/*.ldb; do
        "$seen" has "$t" keys
    done | sort -u >"$d.found"
    same "every key is in some table of $d" "$count" "$(wc -l <"$d.found")"
done
t=$(ls a/*.ldb | head -1)
yes=$("$seen" has -c "$t" absent)
ok "of $count absent keys few ($yes) are called present" [ "$yes" -lt $((count / 25)) ]
ok "info recognises a table" sh -c "'$seen' info $t | grep -q leveldb-table"
fails "a table takes no keys" 2 'read-only' "$seen" add --word x "$t"
same "both databases' filters answer alike" \
    "$(for t in a/*.ldb; do "$seen" has "$t" absent; done | sort | cksum)" \
    "$(for t in b/*.ldb; do "$seen" has "$t" absent; done | sort | cksum)"
finish
