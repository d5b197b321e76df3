#!/bin/sh
# Filters that remove, and the plan that chooses among all kinds.
. "$(dirname "$0")/../tap.sh"

seq 1 100000 >first
seq 100001 200000 >second
ok "a filter that removes" seen new -r -n 100000 -e 0.001 r.seen
same "is a cuckoo filter" cuckoo "$(seen info r.seen | sed -n 's/^  kind *\([a-z]*\).*/\1/p')"
ok "takes keys" seen add r.seen first
same "finds them all" "" "$(seen has -v r.seen first)"
for generation in 1 2 3; do
    seen rm r.seen first && seen add r.seen second && seen rm r.seen second &&
        seen add r.seen first || echo "not ok - generation $generation"
done
same "after three turnovers all are still found" 100000 "$(seen has -c r.seen first)"
wrong=$(seen has -c r.seen second)
ok "and the removed ones are gone ($wrong of 100000 by error)" test "$wrong" -lt 150
ok "a key given twice stays until it is removed twice" sh -c '
    seen add --word twice r.seen && seen add --word twice r.seen &&
    seen rm --word twice r.seen && seen has -q --word twice r.seen &&
    seen rm --word twice r.seen && ! seen has -q --word twice r.seen'
got=0
seen rm --word never r.seen || got=$?
same "removing what is not there says so" 1 $got
ok "grown to four times its size it still removes" sh -c '
    seq 1 400000 >many && seen add r.seen many && seen rm r.seen first &&
    test -z "$(seen has -v r.seen many)" && seen rm r.seen many &&
    test $(seen has -c r.seen many) = 0 || test $? = 1'

choice() { seen plan --no-time --json "$@" | sed -n 's/.*"choice": "\([a-z]*\)".*/\1/p'; }
same "plan: blocked, if keys come one by one" blocked "$(choice -n 10M -e 0.01)"
same "plan: cuckoo, if they are removed" cuckoo "$(choice -n 10M -e 0.01 -r)"
same "plan: ribbon, if all are known" ribbon "$(choice -n 10M -e 0.01 --static)"
same "plan: ribbon, for two billion in 500 MB" ribbon "$(choice -n 2G -m 500MB --static)"
memory=$(perl -e 'print "$_\n" for 1 .. 300000' | seen uniq -e 0.01 --json 2>&1 >/dev/null |
    sed -n 's/.*"memory": \([0-9]*\).*/\1/p')
most=$(seen plan --no-time -n 300000 -e 0.01 | sed -n 's/.*no -n: at most \([0-9]*\) kB.*/\1/p')
ok "plan: what uniq takes at most without -n, beside its buffers of 66 kB" \
    test "$memory" -le $((${most:-0} * 1000 + 66000 + 500))
same "plan: nothing, if nothing can" none "$(choice -n 10M -m 5M -r)"
same "plan: cuckoo, for a very small error" cuckoo "$(choice -n 10M -e 1e-6)"
ok "and says why" sh -c '
    seen plan --no-time -n 10M -e 1e-6 | grep -q "19% less than classic, and two cache lines"'
seen new -n 20000 -e 1e-6 east.seen && seen new --like east.seen west.seen
ok "so is what the command makes" sh -c 'seen info east.seen | grep -q "kind *cuckoo"'
seq 1 10000 | seen add east.seen && seq 5001 15000 | seen add west.seen
seq 5001 15000 | seen add west.seen
ok "keys that come again take no room" sh -c 'seen info --json west.seen | grep -q "\"keys\": 10000"'
ok "it is merged" seen merge -o both.seen east.seen west.seen
same "the union has all keys" 15000 "$(seq 1 20000 | seen has -c both.seen)"
got=$(seen rm --word 1 both.seen 2>&1)
same "it removes nothing" 2 $?
case $got in *"seen new -r"*) found=yes ;; *) found=$got ;; esac
same "and says how to make one that does" yes "$found"
ok "which info knows" sh -c '! seen info both.seen | grep "can  " | grep -q remove'
ok "and a cuckoo filter of that error is made, 23.4 bits a key when it holds what it was made for" \
    sh -c 'seen plan --no-time -n 10M -e 1e-6 | grep -q "^cuckoo .* 23.4[0-9]* *22 "'
# Hashes have 64 bits: with memory to spare nothing is promised below keys / 2^64, and
# nothing is asked for longer than whole hashes are.
for m in 16M 64M; do
    same "plan: whole hashes, where $m have room for a million" set "$(choice -n 1M -m $m)"
    seen new -f -n 1M -m $m room.seen
    ok "new makes them" sh -c 'seen info room.seen | grep -q "^  kind       set"'
    ok "plan promises nothing below 5.4e-14 in $m, and no more than 32 probes" \
        sh -c "seen plan --no-time --json -n 1M -m $m | perl -MJSON::PP -0ne '\$p = decode_json(\$_);
            for (@{\$p->{kinds}}, \$p->{minimum}) { exit 1 if \$_->{error} < 5.42e-14 }
            for (@{\$p->{kinds}}) { exit 1 if \$_->{kind} eq \"classic\" && \$_->{k} > 32 }'"
done
# What a ribbon is said to have is the same everywhere.
seq 1000 | seen build -e 1% ribbon.seen
ok "a ribbon of 1% has prints of 6.64 bits, in the plan and in itself" sh -c '
    seen plan --no-time -n 1000 -e 1% | grep -q "^ribbon .* 6.64 " &&
    seen info ribbon.seen | grep -q "fingerprint bits 6.64" &&
    seen info --json ribbon.seen | grep -q "\"probes\": 7," &&
    seen info --json ribbon.seen | grep -q "\"fingerprint_bits\": 6.64"'
seq 1000 | seen build -e 1/256 whole.seen
ok "what is now is never shown above what was promised" sh -c '
    seen info whole.seen | grep -q "0.00390625 now, at most 0.00390625 promised"'
ok "plan says why, and measures lookups" sh -c 'seen plan -n 200k | grep -q "seen would choose" &&
    seen plan -n 200k --json >plan.json && [ "$(grep -c "\"kind\":" plan.json)" -ge 7 ] &&
    [ "$(grep -c "\"kind\":" plan.json)" = "$(grep -c "\"ns\": [0-9]" plan.json)" ]'

# A key that was added too often stays; the others go.
seen new -r -n 1000 hot.seen
for i in 1 2 3 4 5 6 7 8 9; do printf 'hot\ncold%s\n' $i; done | seen add hot.seen
got=$(printf 'cold1\nhot\ncold2\n' | seen rm --stats hot.seen 2>&1)
same "rm of a key that was added nine times" 2 $?
case $got in *"cannot be removed"*"2 removed"*) found=yes ;; *) found=$got ;; esac
same "says so, and removes the others" yes "$found"
ok "which are gone" sh -c 'seen has --word hot hot.seen && ! seen has --word cold1 hot.seen'

# The page's commands, one after another.
mkdir page && cd page || exit 1
printf 'http://bad.example/\nhttp://worse.example/\n' >blocked.txt
sed -n 's/^    \(seen .*\)/\1/p' "$top/docs/static.md" >commands
ok "docs/static.md has commands" test "$(wc -l <commands)" -ge 8
while read -r line; do
    ok "docs/static.md: $line" sh -c "$line"
done <commands

# Rows come as they are measured: through a pipe that keeps writes apart (O_DIRECT), each read
# returns what one write has written.
cat >packets.pl <<'X'
pipe(my $r, my $w) or die;
fcntl($w, 4, 040000) or exit 77; # F_SETFL, O_DIRECT
my $pid = fork;
if (!$pid) { open STDOUT, '>&', $w or die; close $r; close $w; exec @ARGV }
close $w;
my $n = my $first = 0;
while (sysread $r, my $buf, 1 << 16) { $n++; $first = $buf if $n == 1 }
waitpid $pid, 0;
print "first: ", $first =~ tr/\n//, " lines, several: ", $n > 5 ? "yes" : "no", "\n";
X
got=$(perl packets.pl seen plan -n 1000)
if [ $? = 77 ]; then
    skip "no pipes of packets here"
else
    same "seen plan prints a row when it has it" "first: 2 lines, several: yes" "$got"
fi

# Counts for people have thousands separators; those for programs have none.
seq 1 30000 >many
seq 1 2000 | sed 's/.*/& x/' >>many
ok "uniq --stats" sh -c 'seen uniq --stats many 2>&1 >/dev/null | grep -q "^32,000 in, 32,000 out"'
ok "add --stats" sh -c 'seen new -f -n 1M t.seen && seen add --stats t.seen many 2>&1 | grep -qx "32,000 in, 32,000 new"'
ok "info" sh -c 'seen info t.seen | grep -q "keys *32,000 of 1,000,000"'
ok "plan" sh -c 'seen plan -n 20000 --no-time | grep -q " 20,000 "'
ok "a warning" sh -c 'seen uniq -m 64k many 2>&1 >/dev/null | grep -q "reached with [0-9],[0-9]* distinct"'
ok "--json has none" sh -c '{ seen info --json t.seen; seen plan --json --no-time -n 20000; seen uniq --json many 2>&1 >/dev/null; } |
    grep "[0-9],[0-9]" && exit 1 || exit 0'
same "nor have results" "32000 32000 1" "$(seen count -q many) $(seen has -c t.seen many) $(seen uniq -c many | awk 'NR == 1 { print $1 }')"
finish
