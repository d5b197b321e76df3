#!/bin/sh
# Two runs that write one filter never lose each other's keys: the second is refused, or
# waits for its turn.
. "$(dirname "$0")/../tap.sh"

mkfifo pipe
# Starts `seen add a.seen` and keeps it open; it holds the lock when more has been written
# to the pipe than a pipe holds.
hold() {
    seen add a.seen <pipe &
    writer=$!
    exec 3>pipe
    { echo A; seq 1 40000; } >&3
}
release() {
    exec 3>&-
    wait $writer
}
seen new --seed 7 -n 50000 --kind set a.seen && cp a.seen b.seen && cp a.seen empty
seen add --word B b.seen
printf 'k\n' >in
seen new --kind parquet -n 100 ids.sbbf

hold
before=$(cksum <a.seen)
busy='a.seen: in use by another run \(--wait'
fails "merge -o" 2 "$busy" seen merge -o a.seen a.seen b.seen
fails "new -f" 2 "$busy" seen new -f a.seen
fails "build -f" 2 "$busy" seen build -f a.seen in
fails "convert -f" 2 "$busy" seen convert -f --to native ids.sbbf a.seen
fails "add" 2 "$busy" seen add a.seen in
fails "rm" 2 "$busy" seen rm a.seen in
fails "uniq --state" 2 "$busy" seen uniq -s a.seen in
fails "a wait that is too short" 2 'still in use by another run after 0.05 s' \
    seen add --wait=0.05 a.seen in
fails "a wait that is not a number" 2 "wait: 'soon' is not a number of seconds" \
    seen add --wait=soon a.seen in
same "none of them changed it" "$before" "$(cksum <a.seen)"
ok "it can be asked meanwhile" sh -c 'seen has -q --word A a.seen; test $? = 1'
ok "and read by a merge into another file" seen merge -o sum.seen a.seen b.seen
release

# Writers that wait: all of them get their turn, and every key is there at the end.
cp empty a.seen
hold
# (None of them may keep the pipe open.)
seen merge --wait -o a.seen a.seen b.seen 3>&- &
seen add --wait=60 --word C a.seen 3>&- &
seen add --wait --word D a.seen 3>&- &
printf 'E\n' | seen uniq --wait -q -s a.seen 3>&- >/dev/null &
release
wait
same "writers that wait lose nothing" "A B C D E" \
    "$(printf 'A\nB\nC\nD\nE\n' | seen has a.seen | tr '\n' ' ' | sed 's/ $//')"
same "and the lines of the first are there too" 40000 "$(seq 1 40000 | seen has -c a.seen)"

# A file that did not exist: of several runs that make it, one does.
made=$(for _ in 1 2 3 4 5 6; do (seen new -n 200000 fresh.seen 2>/dev/null && echo made) & done; wait)
ok "of six runs that make a file, at least one does, and no more than those are told so" \
    sh -c "test \$(echo '$made' | grep -c made) -ge 1 && seen verify fresh.seen"
same "nothing is left beside it" "fresh.seen" "$(ls -d fresh*)"
finish
