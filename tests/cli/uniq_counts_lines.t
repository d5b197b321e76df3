#!/bin/sh
# seen uniq --count: how often each distinct line came, exactly, or with a bound that holds.
. "$(dirname "$0")/../tap.sh"

perl -e 'srand 3; for (1 .. 60000) { printf "word%d %d\n", exp(rand() * 9), rand 3 }' >list
awk '{ c[$0]++; if (c[$0] == 1) o[++n] = $0 } END { for (i = 1; i <= n; i++) printf "%7d %s\n", c[o[i]], o[i] }' list >want
for mode in "" "-j 2" "-m 64M" "-n 10"; do
    # shellcheck disable=SC2086
    ok "as awk counts, in the order of first occurrences: $mode" sh -c "seen uniq --count $mode list | cmp - want"
done
ok "a pipe" sh -c 'cat list | seen uniq -c | cmp - want'
ok "standard input that is a file" sh -c 'seen uniq -c <list | cmp - want'
gzip -c list >list.gz
ok "compressed" sh -c 'seen uniq -c list.gz | cmp - want'
awk '{ $1 = $1 * 2; printf "%7d %s %s\n", $1, $2, $3 }' want >want2
ok "several files" sh -c 'seen uniq -c list list.gz | cmp - want2'
awk '$1 > 1' want >want3
ok "-d: only what came twice or more" sh -c 'seen uniq -c -d list | cmp - want3'
sort -s -k1,1rn want >want4
ok "--by-count: the most frequent first, equals in order" sh -c 'seen uniq --by-count list | cmp - want4'
ok "as sort | uniq -c | sort -rn, as a set" sh -c 'sort list | uniq -c | sort >a; seen uniq -c list | sort >b; cmp a b'
awk '{ c[$1]++; if (c[$1] == 1) { o[++n] = $1; l[n] = $0 } } END { for (i = 1; i <= n; i++) printf "%7d %s\n", c[o[i]], l[i] }' list >want5
ok "-k: by the field, with the first line of each" sh -c 'seen uniq -c -k 1 list | cmp - want5'
same "empty lines and a missing final newline" "$(printf '      2 \n      1 a\n      1 b')" "$(printf '\na\n\nb' | seen uniq -c)"
same "nothing in, nothing out" "" "$(seen uniq -c /dev/null)"
ok "-o may be the input" sh -c 'cp list here && seen uniq -c -o here here && cmp here want'
same "--json counts" '"distinct": '"$(wc -l <want)," "$(seen uniq -c --json list 2>&1 >/dev/null | grep -o '"distinct": .*')"

# Estimates in little memory: never too low, and hardly any beyond the bound.
seen uniq -c -m 40K list >got 2>err
ok "the estimate says what it is" grep -q 'counts are estimates, never too low, and too high by more than [0-9]* for at most one line in 148' err
bound=$(sed 's/.*more than \([0-9]*\) for.*/\1/' err)
awk -v bound="$bound" 'NR == FNR { n = $1; $1 = ""; c[$0] = n; next }
    { n = $1; $1 = ""; lines++; low += n < c[$0]; high += n > c[$0] + bound }
    END { print lines, low + 0, high + 0 }' want got >sum
read -r lines low high <sum
same "no estimate is too low" 0 "$low"
# One in 148 at most, six sigma above.
ok "too high beyond the bound ($high of $lines)" test "$high" -le $((lines / 148 + 6 * 12))
ok "and nearly every line is there" test "$lines" -ge $(($(wc -l <want) * 9 / 10))
fails "--by-count of estimates is refused" 2 'leave out --by-count, or -m' seen uniq --by-count -m 40K list
for with in -x "-s state" "-D dups" "-e 0.1" "--against list"; do
    # shellcheck disable=SC2086
    fails "--count with $with is refused" 2 'goes with' seen uniq -c $with list
done
finish
