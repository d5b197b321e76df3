#!/bin/sh
# tests/prove: every file that failed is named with its first broken promise, in a bounded
# number of lines; one line says what was skipped and why; prove's summary comes last.
. "$(dirname "$0")/tap.sh"
mkdir t
made() { # name, what it says
    printf '#!/bin/sh\n%s\n' "$2" >"t/$1.t" && chmod +x "t/$1.t"
}
prove() { BUILD=$work/b JOBS=2 "$top/tests/prove" --timer "$@" >report 2>err; }

made good 'echo "ok 1 - it is"; echo 1..1'
made half 'echo "ok 1 - it is"; echo "ok 2 # skip no network"; echo "ok 3 # skip no network"; echo 1..3'
made none 'echo "1..0 # SKIP no root"'
ok "files that pass" prove t/good.t t/half.t t/none.t
same "what was skipped stands before the summary, with its reasons" \
    "Skipped: 2 of t/half.t (no network); t/none.t (no root)" "$(tail -n 3 report | head -n 1)"
ok "which is prove's own" eval "tail -n 2 report | head -n 1 | grep -q '^Files=3, Tests=4, .* CPU)$' &&
    [ \"\$(tail -n 1 report)\" = 'Result: PASS' ]"
prove t/good.t
same "nothing skipped is said, too" "Skipped: nothing" "$(tail -n 3 report | head -n 1)"

made broken 'echo "ok 1 - it is"; echo "not ok 2 - it holds"; echo "# wanted: x"; echo "not ok 3 - still"; echo "1..3"; exit 1'
made ends 'sleep 9 & kill -9 $!; wait $!; echo "ok 1 - it is"; echo 1..1; echo "a word" >&2'
prove t/ends.t
same "a process that a test ends on purpose is no news" "a word" "$(cat err)"
made dead 'echo "ok 1 - it is"; echo "out of luck" >&2; exit 9'
prove t/good.t t/broken.t t/dead.t
same "a failure is a status" 1 $?
same "each file by its first broken promise, or its last words" "What failed (all of it in $work/b/tap):
t/broken.t: not ok 2 - it holds (and 1 more)
  # wanted: x
t/dead.t: status 9 after: ok 1 - it is
  # out of luck
Skipped: nothing" "$(sed -n '/^What failed/,/^Skipped/p' report)"
same "and the result is the last word" "Result: FAIL" "$(tail -n 1 report)"

for i in $(seq 10 69); do made "f$i" 'echo "not ok 1 - it holds"; for i in 1 2 3 4 5 6 7 8 9; do echo "# $i"; done; echo 1..1; exit 1'; done
prove t/f*.t
sed -n '/^What failed/,$p' report >end
same "sixty files that fail are all named" 60 "$(grep -o 'f[1-6][0-9]\.t' end | sort -u | wc -l)"
ok "in thirty lines" test "$(wc -l <end)" -le 30
finish
