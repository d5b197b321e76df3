#!/bin/sh
# A filter that holds integers or UUIDs is asked with lines that spell them; what cannot be spelled
# is refused in words, and nothing is called absent that could not have been there.
. "$(dirname "$0")/../tap.sh"
seen new --key-type int64 ints.seen
printf '5\n-7\n9223372036854775807\n-9223372036854775808\n' | seen add ints.seen
same "integers in lines are found, also with zeroes before them" "5
005
-7
9223372036854775807" "$(printf '5\n005\n-7\n8\n9223372036854775807\n' | seen has ints.seen)"
for word in abc 5x '' - 1.5 9223372036854775808 ' 5' +5; do
    fails "'$word' is not an integer" 2 'holds 64-bit integers' seen has --word "$word" ints.seen
done
fails "nor can it be added" 2 'is not one' sh -c 'echo abc | seen add ints.seen'
fails "uniq takes lines only" 2 'type int64, not lines' sh -c 'echo 5 | seen uniq --state ints.seen'
same "the type is in info" int64 "$(seen info --json ints.seen | sed -n 's/.*"key_type": "\(.*\)".*/\1/p')"
seen new --key-type uint64 big.seen
echo 18446744073709551615 | seen add big.seen
ok "unsigned ones go to 2^64 - 1" seen has -q --word 18446744073709551615 big.seen
fails "and not below 0" 2 'unsigned' seen has --word -1 big.seen
seen new --key-type uuid ids.seen
echo 12345678-9abc-def0-1234-56789abcdef0 | seen add ids.seen
ok "a UUID has hyphens or not" seen has -q --word 123456789ABCDEF0123456789ABCDEF0 ids.seen
fails "and 32 digits" 2 'holds UUIDs' seen has --word 12345678-9abc-def0-1234-56789abcdef ids.seen
for type in float date timestamp tuple; do
    seen new --key-type $type $type.seen
    fails "lines are no keys of the type $type" 2 'not text' sh -c "echo 1 | seen has $type.seen"
done
fails "an unknown type" 2 'a type of keys' seen new --key-type colour x.seen
ok "which made nothing" test ! -e x.seen

# What lines make is text.
seen new lines.seen && echo word | seen add lines.seen
same "lines make text" text "$(seen info --json lines.seen | sed -n 's/.*"key_type": "\(.*\)".*/\1/p')"
echo a | seen build built.seen
same "also of a static filter" text "$(seen info --json built.seen | sed -n 's/.*"key_type": "\(.*\)".*/\1/p')"
seen new -n 100 --seed 1 a.seen && seen new --like a.seen b.seen && echo x | seen add a.seen
seen new -n 100 --seed 1 --key-type int64 n.seen && echo 5 | seen add n.seen
fails "two types do not merge" 2 'mixed makes a filter of both' seen merge -o both.seen a.seen n.seen
ok "--mixed merges them" seen merge --mixed -o both.seen a.seen n.seen
ok "and the union is asked with lines" seen has -q --word x both.seen

# Excuses are spelled, too.
seen new --key-type int64 -n 50 -e 0.5 half.seen && seq 1 50 | seen add half.seen
wrong=$(seq 1000 2000 | seen has half.seen | head -n 1)
ok "an integer is excused" seen excuse -q half.seen "$wrong"
same "and listed as it was said" "$wrong" "$(seen excuse --list half.seen)"
same "it is not found then" "" "$(seen has --word "$wrong" half.seen)"

# What only one program can ask.
printf '{"text": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"}\n' >doc.jsonl
seen dedup --state grams.seen -o out.jsonl doc.jsonl 2>/dev/null
fails "the state of dedup holds no lines" 2 'what one program makes of its data' seen has --word one grams.seen
finish
