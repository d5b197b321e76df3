#!/bin/sh
# -e without -n: the filter is made again from a scratch file when it is full. As little
# memory as with the right -n, in every other respect as before; and without room for the
# file, or with --no-scratch, in place.
. "$(dirname "$0")/../tap.sh"
perl -e 'srand 5; print int(rand 1e12), "\n" for 1 .. 200000' >lines
cat lines lines >twice

memory() { seen uniq -q --json "$@" 2>&1 >/dev/null | sed -n 's/.*"memory": \([0-9]*\).*/\1/p'; }
made=$(memory -e 0.01 -n 200000 lines)
ok "at most 1.25 times the memory of -n, and 64 KiB" \
    test "$(memory -e 0.01 lines)" -le $((made * 5 / 4 + 70000))
ok "without a scratch file at most 2.6 times the memory of -n" \
    test "$(memory -e 0.01 --no-scratch lines)" -le $((made * 26 / 10))

seen uniq -e 0.01 twice >once
seen uniq once | cmp -s - once
held "no line is printed twice" $?
sort lines | uniq >sorted
sort once | comm -23 - sorted >foreign
ok "and none that did not come" test ! -s foreign
ok "at most 1% are lost" test "$(wc -l <once)" -ge 197900
seen uniq -e 0.01 -s state lines >first
ok "a state knows every line of the run before, also those that were lost" \
    sh -c 'test -z "$(seen uniq -e 0.01 -s state twice)"'
ok "and denies none" sh -c 'seen has state <lines | wc -l | grep -q "^ *200000$"'
same "-j 2 prints the same lines" "$(SEEN_SEED=3 seen uniq -e 0.01 twice | cksum)" \
    "$(SEEN_SEED=3 seen uniq -e 0.01 -j 2 twice | cksum)"
rm -f state
same "no file is left in TMPDIR" "first foreign lines once sorted twice" "$(echo *)"

TMPDIR=/nowhere seen uniq -e 0.01 twice >alone 2>said
ok "without TMPDIR the filter grows in place" test "$(wc -l <alone)" -ge 197900
ok "and says so, once" sh -c 'test "$(grep -c "scratch file in TMPDIR (No such file" said)" = 1'
ok "-q does not say it" sh -c 'test -z "$(TMPDIR=/nowhere seen uniq -q -e 0.01 twice 2>&1 >/dev/null)"'
(ulimit -f 1 && seen uniq -e 0.01 twice 2>said) | cat >alone
ok "a run continues on a full disk" sh -c 'test "$(wc -l <alone)" -ge 197900 && grep -q "in place" said'
got=$(seen count -q -e 0.01 twice)
truth=$(wc -l <sorted)
ok "count: $got of $truth" test "$got" -ge $((truth - 400)) -a "$got" -le $((truth + 400))
got=$(seen count -q -e 0.01 --no-scratch twice)
ok "count in place: $got" test "$got" -ge $((truth - 400)) -a "$got" -le $((truth + 400))
finish
