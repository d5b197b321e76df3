#!/bin/sh
# new, add, has, rm, merge, info, verify, plan, sort, count, compare, demo.
. "$(dirname "$0")/../tap.sh"

seq 1 1000 >in
seq 1001 2000 >out
for kind in classic blocked split set cuckoo; do
    seen new --kind $kind -n 1000 -e 0.001 $kind.seen
    seen add $kind.seen in
    same "$kind: all that was added is there" 1000 "$(seen has -c $kind.seen in)"
    ok "$kind: and few others" test "$(seen has -c $kind.seen out)" -le 15
    ok "$kind: verified" seen verify $kind.seen
    ok "$kind: info tells" sh -c "seen info $kind.seen | grep -q '^  kind *$kind'"
done
same "has prints the lines, as grep would" "$(printf '7\n9')" "$(printf '7\nx\n9\n' | seen has set.seen)"
same "has -v prints the others" "x" "$(printf '7\nx\n9\n' | seen has -v set.seen)"
ok "has: status 0 when found" seen has -q --word 7 set.seen
ok "has: status 1 when not" sh -c 'seen has -q --word x set.seen; test $? = 1'
same "has --word prints the word" "7" "$(seen has --word 7 --word x set.seen)"
for kind in set cuckoo; do
    printf '5\n6\n' | seen rm $kind.seen
    same "$kind: removed" "$(printf '4\n7')" "$(printf '4\n5\n6\n7\n' | seen has $kind.seen)"
done
ok "rm: status 1 when nothing was there" sh -c 'seen rm --word nobody set.seen; test $? = 1'
same "add --stats" "3 in, 1 new" "$(printf '1\n2\nnew\n' | seen add --stats set.seen 2>&1)"
printf 'k1,a\nk2,b\n' >pairs
seen new -n 10 --kind set keys.seen && seen add -t , -k 1 keys.seen pairs
same "add -k adds the field" "$(printf 'k1\nk2')" "$(printf 'k1\na\nk2\n' | seen has keys.seen)"
same "has -k asks for the field and prints the line" "k2,z" \
    "$(printf 'k3,x\nk2,z\n' | seen has -t , -k 1 keys.seen)"

# Growing past what was expected keeps the promise.
seen new -n 100 -e 0.01 grown.seen
seq 1 50000 | seen add grown.seen
same "grown: all there" 50000 "$(seq 1 50000 | seen has -c grown.seen)"
ok "grown: the error is kept" test "$(seq 100001 200000 | seen has -c grown.seen)" -le 1200

# Merging.
for k in classic blocked split; do
    seen new --kind $k -n 1000 --seed 7 east.seen -f
    cp east.seen west.seen
    seq 1 500 | seen add east.seen
    seq 400 900 | seen add west.seen
    seen merge -o both.seen east.seen west.seen
    same "$k: a union has the keys of both" 900 "$(seq 1 900 | seen has -c both.seen)"
done
seen new --kind set --seed 7 small.seen
seen new --kind set --seed 7 -n 100000 large.seen
seq 1 500 | seen add small.seen
seq 400 900 | seen add large.seen
seen merge -o both.seen small.seen large.seen
same "sets of different sizes merge" "900 0" \
    "$(seq 1 900 | seen has -c both.seen) $(seq 901 2000 | seen has -c both.seen)"

# A file that was being written in place: its checksums are those of the last flush.
cp set.seen open.seen
printf '\001' | dd of=open.seen bs=1 seek=23 conv=notrunc 2>/dev/null
seen verify set.seen open.seen >out
same "verify: nothing vouches for a file that is open" 1 $?
ok "and it says so" grep -q '^open.seen: unknown:' out
ok "which is not what it says of others" grep -q '^set.seen: good' out

# Info as JSON is JSON.
ok "info --json is JSON" sh -c 'seen info --json set.seen | perl -MJSON::PP -0ne "decode_json(\$_)"'
ok "info --json of several is JSON" sh -c 'seen info --json set.seen small.seen |
    perl -MJSON::PP -0ne "exit(@{decode_json(\$_)} != 2)"'
ok "formats --json is JSON" sh -c 'seen formats --json | perl -MJSON::PP -0ne "decode_json(\$_)"'
ok "uniq --json is JSON" sh -c 'seen uniq --json in 2>&1 >/dev/null | perl -MJSON::PP -0ne "decode_json(\$_)"'
ok "plan --json is JSON" sh -c 'seen plan --json -n 1M | perl -MJSON::PP -0ne "decode_json(\$_)"'
ok "count --json is JSON" sh -c 'printf "a\"\\\\ \\377\\tb\n" | seen count -b 1 --json | perl -MJSON::PP -0ne "decode_json(\$_)"'

# Plan.
# The textbook has 1,198,133 bytes, with which every other filter is a little worse.
ok "plan: the textbook's numbers for a million keys at 1%, and 0.4% to keep them" \
    sh -c 'seen plan -n 1M -e 0.01 --json | grep -A3 classic | grep -q "\"bytes\": 1202[0-9]*"'
ok "plan: the third of keys, error and memory" sh -c 'seen plan -e 0.01 -m 1M | grep -q classic'
ok "plan --json tells which kinds cannot, and why" sh -c 'seen plan --no-time --json -n 1M -m 1M |
    grep -q "\"cannot\": \".*do not fit"'
for few in 1 10 200 1000 1M; do
    ok "plan -n $few praises no filter that is larger" sh -c \
        "! seen plan --no-time -n $few | grep -E 'saves -|ribbon saves 0%'"
done
ok "plan --static of a few keys takes what is smallest for them" sh -c \
    'seen plan --no-time --static -n 10 | grep "<- chosen" | grep -q "^classic"'
seen plan -n 1M -e 0.001 --plot plan.svg >/dev/null
ok "plan --plot writes SVG" sh -c 'grep -q "^<svg" plan.svg && grep -q "^</svg>" plan.svg'

# Sort.
perl -e 'srand 31; print int(rand 100000), "\n" for 1 .. 50000' >numbers
sort -n -u numbers >want
ok "sort: the same as sort -n -u" sh -c 'seen sort numbers | cmp - want'
sort -n -u -r numbers >want
ok "sort -r" sh -c 'seen sort -r numbers | cmp - want'
same "sort -c" "$(wc -l <want)" "$(seen sort -c numbers)"
same "sort: negative numbers in a range" "$(printf '%s\n' -5 0 7)" \
    "$(printf '7\n-5\n+0\n-5\n' | seen sort --range -10..10)"
same "sort: signs, blanks, zeros in front" "$(printf '3\n7')" "$(printf ' 7 \n007\n+3\r\n' | seen sort)"
printf '1\nx\n5000000000\n\n2\n' >wild
seen sort wild >got 2>err
same "sort: a line that is not an integer in the range is reported with its number, status 2" \
    "2 1 2 wild:2 wild:3 wild:4" \
    "$? $(tr '\n' ' ' <got)$(sed 's/seen sort: \([^:]*:[0-9]*\):.*/\1/' err | tr '\n' ' ' | sed 's/ $//')"
same "sort: integers of 64 bits, in a range far from zero" \
    "$(printf '%s\n' 9223372036854775800 9223372036854775807)" \
    "$(printf '9223372036854775807\n0009223372036854775800\n' |
        seen sort --range 9223372036854775800..9223372036854775807)"
same "sort: and at the other end" "-9223372036854775808" \
    "$(echo -9223372036854775808 | seen sort --range -9223372036854775808..-9223372036854775800)"
for x in 9223372036854775808 -9223372036854775809 99999999999999999999; do
    fails "sort: $x is an integer, but outside" 2 "$x is outside" sh -c "echo $x | seen sort"
done
fails "sort: bytes below '0' are not digits" 2 'not an integer' sh -c "printf '!!!!!!!!!!!!!!!!!!\n' | seen sort"
same "sort: the largest range's ends" "$(printf '%s\n' 0 4294967295)" \
    "$(printf '4294967295\n0\n' | seen sort)"
same "sort: nothing in, nothing out" "" "$(seen sort </dev/null)"

# Count.
printf 'd1 a\nd1 b\nd2 a\nd1 a\nd2 a\n' >visits
same "count in all" 3 "$(seen count -q <visits)"
same "count of a field" 2 "$(seen count -q -k 2 visits)"
same "count for each day" "$(printf 'd1\t2\nd2\t1')" "$(seen count -q -k 2 -b 1 visits)"
same "count with a width" "$(printf 'd\t2')" "$(seen count -q -k 2 -b 1 -w 1 visits)"
perl -e 'srand 37; printf "%d %d\n", rand 3, rand 100000 for 1 .. 300000' >big
perl -ane '$c{$F[0]}++ unless $s{"@F"}++; END { print "$_\t$c{$_}\n" for sort keys %c }' big >want
ok "count by group, exactly" sh -c 'seen count -q -k 2 -b 1 big | sort | cmp - want'
ok "count by group in a filter of 1%: within a thousandth" sh -c 'seen count -q -e 0.01 -k 2 -b 1 big | sort |
    paste - want | perl -ane "exit 1 if abs(\$F[1] - \$F[3]) > 0.001 * \$F[3] + 6"'

# The rest.
# 200000 distinct keys, asked for as many: 2000 wrong answers, six sigma 267.
wrong=$(seen compare -n 200k | awk '$1 == "classic" { print $NF * 2000 }')
ok "compare fills its filters, which err as promised ($wrong of 200000)" \
    test "$wrong" -ge 1733 -a "$wrong" -le 2267
ok "compare shows hash set, bitmap and filters" sh -c 'seen compare -n 10000 >got &&
    grep -q "^hash set" got && grep -q "^bitmap" got && grep -q "^blocked" got && ! grep -q LOST got'
ok "demo" sh -c 'seen demo -n 20000 >got && grep -q "awk" got && grep -q "^seen uniq -e" got'
ok "--version names kinds and instructions" sh -c 'seen --version | grep -q "^kinds:.* set" &&
    seen --version | grep -q "^instructions: [a-z0-9]*, of scalar"'
finish
