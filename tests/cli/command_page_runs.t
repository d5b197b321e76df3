#!/bin/sh
# Every command that docs/command.md shows is run, in a folder with the files it names.
. "$(dirname "$0")/../tap.sh"

printf 'http://a.example/\nhttp://b.example/\nhttp://a.example/\n' >urls.txt
printf '192.0.2.1 GET /\n192.0.2.2 GET /\n192.0.2.1 GET /x\n' >access.log
printf 'id,city\n1,"a, b"\n2,c\n3,"a, b"\n' >orders.csv
printf 'http://b.example/\n' >blocked.txt
printf 'tree\nhouse\n' >dictionary.txt
printf 'tree\nxyzzy\n' >text.txt
printf '17\n4\n17\n' >numbers.txt
printf '2026-11-14T01:00:00 alice\n2026-11-15T01:00:00 bob\n' >visits.log
seen new --seed 3 -n 1000 east.seen && cp east.seen west.seen
sed -n '/^```sh/,/^```/p' "$top/docs/command.md" | grep -v '^```' >commands
while IFS= read -r line; do
    ok "runs: ${line%%  *}" sh -c "$line"
done <commands
ok "there were many" test "$(wc -l <commands)" -gt 20
finish
