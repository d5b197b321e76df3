#!/bin/sh
# Every command that docs/dedup.md shows is run, in a folder with the files it names.
. "$(dirname "$0")/../tap.sh"
mkdir in
i=0
while [ $i -lt 40 ]; do
    printf '{"id": %d, "text": "paragraph %d of words that are long enough to be judged\\nand another one, number %d, in so many words"}\n' $i $((i % 7)) $i
    i=$((i + 1))
done >in/a.jsonl
sed 's/"id": /"id": 1/' in/a.jsonl >in/b.jsonl
echo '{"text": "paragraph 3 of words that are long enough to be judged"}' >tests.jsonl
sed -n '/^```sh/,/^```/p' "$top/docs/dedup.md" | grep -v '^```' >commands
while IFS= read -r line; do
    ok "runs: ${line%%  *}" sh -c "$line"
done <commands
ok "there were many" test "$(wc -l <commands)" -gt 14
ok "decontaminated: what is in the test set is gone, the rest is not" sh -c '
    ! grep -q "paragraph 3" clean/a.jsonl && grep -q "paragraph 4" clean/b.jsonl'
mkdir one && seen dedup -q --by paragraph -o one in
seen dedup -q --combine marks/1 --combine marks/2 --combine marks/3 --combine marks/4 -o four in
ok "four shards make what one run makes" diff -r one four
ok "and that is less" sh -c 'test $(cat one/* | wc -c) -lt $(cat in/* | wc -c)'
finish
