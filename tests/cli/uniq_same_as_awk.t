#!/bin/sh
# Byte for byte the same as awk '!seen[$0]++' on generated lists, in every mode that
# promises to lose nothing. LINES_EACH=10000000 for more.
. "$(dirname "$0")/../tap.sh"
lines=${LINES_EACH:-1000000}

generate() {
    perl -e '
        my ($kind, $n) = @ARGV;
        srand 23;
        for my $i (1 .. $n) {
            if ($kind eq "equal") { print "the same line\n" }
            elsif ($kind eq "distinct") { print "line number $i of the list\n" }
            elsif ($kind eq "zipf") { print "word", int(exp(rand() * 13)), "\n" }
            elsif ($kind eq "short") { print int(rand 10) ? substr("abcdefgh", rand 8, rand 4) : "", "\n" }
            elsif ($kind eq "mixed") { print "x" x (int(rand 1000) ? rand 40 : rand 20000), int(rand 300), "\n" }
            elsif ($kind eq "bytes") { print join("", map { chr(1 + int rand 255) } 1 .. rand 3), "\n" }
        }' "$1" "$2"
}
for kind in equal distinct zipf short mixed bytes; do
    count=$lines
    [ $kind = mixed ] && count=$((lines / 10))
    generate $kind $count >list
    awk '!seen[$0]++' list >want
    ok "$kind: $(wc -l <list) lines, $(wc -l <want) distinct" sh -c 'seen uniq list | cmp - want'
    ok "$kind: two threads" sh -c 'seen uniq -j 2 <list | cmp - want'
    ok "$kind: exact" sh -c 'seen uniq -x list | cmp - want'
    ok "$kind: from a pipe of odd pieces" \
        sh -c 'dd if=list obs=4093 ibs=65536 2>/dev/null | seen uniq | cmp - want'
done
# NUL bytes, which awk would cut at: perl tells the truth.
perl -e 'srand 29; for (1 .. 200000) { print join("", map { chr int rand 12 } 1 .. rand 4), "\n" }' >list
perl -ne 'print unless $s{$_}++' list >want
ok "NUL and control bytes" sh -c 'seen uniq list | cmp - want && seen uniq -x list | cmp - want'
perl -0 -ne '$k = $_; $k =~ s/\0\z//; print unless $s{$k}++' list >want
ok "NUL as the end of lines" sh -c 'seen uniq -z list | cmp - want && seen uniq -zx list | cmp - want'
finish
