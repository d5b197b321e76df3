#!/bin/sh
# A filter's file holds the secret of its hash: --private keeps it from others, and a file
# that is replaced keeps its permissions.
. "$(dirname "$0")/../tap.sh"

umask 022
mode() { stat -c %a "$1"; }
printf 'a\nb\n' >in
seq 1 100 | sed 's/.*/{"text":"document & about number & and nothing but &"}/' >docs.jsonl
seen new --kind parquet -n 100 ids.sbbf
make() { # command..., which makes $f
    rm -f "$f" "$f".*
    "$@" >/dev/null
}
for f in new build merge convert uniq dedup; do
    case $f in
    new) command="seen new -n 10 new" ;;
    build) command="seen build -q build in" ;;
    merge) command="seen merge -o merge new" ;;
    convert) command="seen convert --to native ids.sbbf convert" ;;
    uniq) command="seen uniq -s uniq in" ;;
    dedup) command="seen dedup -q -s dedup docs.jsonl" ;;
    esac
    make $command
    same "$command: as the umask says" 644 "$(mode $f)"
    make $command --private
    same "$command --private" 600 "$(mode $f)"
    rm -f new && seen new -n 10 new
done

# Replaced files.
for m in 600 640 660 444; do
    seen new -f -n 10 f.seen && chmod $m f.seen
    seen add --word x f.seen && seen merge -o f.seen f.seen && seen uniq -q -s f.seen in >/dev/null
    same "add, merge and uniq keep mode $m" $m "$(mode f.seen)"
done
seen add --private --word y f.seen
same "add --private takes it from the others" 400 "$(mode f.seen)"
rm -f st st.* && seen dedup -q -s st docs.jsonl >/dev/null && chmod 600 st
sed 's/document/paper/' docs.jsonl >more.jsonl && seen dedup -q -s st more.jsonl >/dev/null
same "dedup keeps the mode of its state" 600 "$(mode st)"
rm -f up && seen uniq -s up --checkpoint 1 --private in more.jsonl >/dev/null
same "a state that is saved on the way stays private" 600 "$(mode up)"
seen new --private --seed 5 --kind blocked --bits 512 -k 1 bad.seen && seq 1 200 | seen add bad.seen
seq 201 400 | seen has bad.seen >wrong
seen excuse -q -i wrong bad.seen
same "the exceptions of a private filter are private" 600 "$(mode bad.seen.excused)"

# What seen info says.
seen new -f -n 10 g.seen
ok "info says that a secret is inside, and who can read it" \
    sh -c 'seen info g.seen | grep -q "secret .*128 bits.*others may read the file, mode 644"'
chmod 600 g.seen
ok "and not of whom if nobody else can" sh -c 'seen info g.seen | grep "secret  *inside" | grep -vq others'
ok "a filter of public hashes has none" sh -c '! seen info ids.sbbf | grep -q secret'
ok "--json says it" sh -c 'seen info --json g.seen | grep -q "\"secret\": *true"'
finish
