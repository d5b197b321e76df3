#!/bin/sh
# seen uniq -x: no distinct line is dropped, whatever the hash does.
. "$(dirname "$0")/../tap.sh"
weak=$top/${BUILD:-build}/tests/cli/seen-weak

perl -e 'srand 3; for (1..60000) { printf "line %d %s\n", rand 30000, "x" x rand 30 }' >list
awk '!seen[$0]++' list >want
awk 'seen[$0]++' list >repeats
gzip -c list >list.gz
ok "a file in two passes" sh -c 'seen uniq -x list | cmp - want'
ok "a file as standard input" sh -c 'seen uniq -x <list | cmp - want'
ok "a pipe, through a temporary copy" sh -c 'cat list | seen uniq -x | cmp - want'
ok "a packed file" sh -c 'seen uniq -x list.gz | cmp - want'
ok "with threads" sh -c 'seen uniq -x -j 3 list | cmp - want'
ok "in little memory: several passes" sh -c 'seen uniq -qx -m 64K list | cmp - want'
ok "-d" sh -c 'seen uniq -x -d list | cmp - repeats'
ok "-D" sh -c 'seen uniq -x -D dups list | cmp - want && cmp dups repeats'
cat list list | awk '!seen[$0]++' >want2
ok "two files" sh -c 'seen uniq -x list list | cmp - want2'
ok "in place" sh -c 'cp list here && seen uniq -x -o here here && cmp here want'
ok "nothing in, nothing out" sh -c 'test -z "$(seen uniq -x /dev/null)"'
printf 'a\nb\na' >open && printf 'a\nb\n' >want2
ok "no final newline" sh -c 'seen uniq -x open | cmp - want2'
printf 'a\nb' >open2
ok "a missing final newline stays missing" sh -c 'seen uniq -x open2 | cmp - open2'
head -5000 want >known
awk 'NR==FNR {k[$0]; next} !($0 in k) && !s[$0]++' known list >want3
ok "--against a list" sh -c 'seen uniq -x --against known list | cmp - want3'
ok "--against a list on standard input" sh -c 'seen uniq -x --against - list <known | cmp - want3'

# With a hash of ten bits only the bytes can tell.
ok "the weak command is weak: fingerprints alone lose lines" \
    sh -c "n=\$('$weak' uniq list | wc -l); test \$n -gt 0 -a \$n -lt 2000"
for mode in "" "-m 64K -q" "-j 2"; do
    ok "ten bits of hash, -x $mode: the same as awk" \
        sh -c "'$weak' uniq -x $mode list | cmp - want"
done
awk '!seen[$2]++' list >want4
ok "ten bits of hash, -x -k 2" sh -c "'$weak' uniq -x -k 2 list | cmp - want4"
perl -pe '$_ = uc if $. % 2' list >mixed
awk '!seen[tolower($0)]++' mixed >want5
ok "ten bits of hash, -x -i" sh -c "'$weak' uniq -x -i mixed | cmp - want5"
perl -e 'srand 5; for (1..3000) { my $n = int rand 500; print qq("a\n$n",b\n) }' >csv
perl -e 'local $/; $_ = <>; my %s; while (/("a\n\d+",b\n)/g) { print $1 unless $s{$1}++ }' csv >want6
ok "ten bits of hash, -x --csv: records over several lines" \
    sh -c "'$weak' uniq -x --csv csv | cmp - want6"

awk 'NR==FNR {k[$2]; next} !($2 in k) && !s[$2]++' known list >want7
ok "ten bits of hash, -x -k 2 --against a list, whose field counts too" \
    sh -c "'$weak' uniq -x -k 2 --against known list | cmp - want7"

# Files without a byte, compressed or not, before, between and after others.
: >none
for tool in gzip zstd bzip2 xz lz4; do $tool -qc none >none.$tool; done
printf 'a\nb\na\n' >few
for empty in none none.gzip none.zstd none.bzip2 none.xz none.lz4; do
    same "-x: $empty gives nothing, wherever it stands" "$(printf 'a\nb')" \
        "$(seen uniq -x $empty few $empty few $empty)"
    same "-x: --against $empty drops nothing but repeats" "$(printf 'a\nb')" \
        "$(seen uniq -x --against $empty few)"
    same "-x: nothing but $empty" "" "$(seen uniq -x $empty $empty)"
    same "-x: $empty through a pipe" "" "$(cat $empty | seen uniq -x)"
done

# A file that grows between the passes: the run ends with an error that says so. More is
# written to the pipe than it holds, so the file before it has been read by then.
mkfifo pipe
cp list growing
seen uniq -x growing - <pipe >grown 2>err &
pid=$!
exec 3>pipe
seq 1 60000 >&3
cat want >>growing
exec 3>&-
wait $pid
same "-x: a file that grew is an error" 2 $?
ok "which says that it grew, not that it was truncated" grep -q 'growing: grew while' err
cat list >want8 && seq 1 60000 >>want8
awk '!seen[$0]++' want8 >want9
ok "and the lines it had before are compared all the same" cmp grown want9

fails "-x with a state is refused" 2 'state' seen uniq -x -s st list
seen new f.seen
fails "-x against a filter is refused: it may be wrong" 2 'f.seen' seen uniq -x --against f.seen list
same "no temporary files are left" "" "$(ls | grep -E '\.[A-Za-z0-9]{6}$|^seen\.' )"
finish
