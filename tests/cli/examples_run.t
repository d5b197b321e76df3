#!/bin/sh
# The worked examples, on real data where there is some.
. "$(dirname "$0")/../tap.sh"
e=$top/examples

words=/usr/share/dict/american-english
if [ -r $words ]; then
    printf "The quick brwon fox jumps over the lazzy dog's back. Brwon!\n" >text
    # One wrong word in a hundred slips through: of ten, hardly ever more than four.
    printf 'The qick brwon fox jmups ovre the lazzy dgo. Brwon! It hsa teh taill of a wlof.\n' >text
    "$e/spell.sh" text >got
    ok "spell: only words that are in no dictionary, each once" sh -c \
        'test -z "$(grep -vxE "qick|brwon|jmups|ovre|lazzy|dgo|hsa|teh|taill|wlof" got; sort got | uniq -d)"'
    ok "spell: nearly all of them" test "$(wc -l <got)" -ge 6
    ok "spell: the dictionary in 160 kB" test "$(stat -c %s spell.seen)" -lt 160000
    same "spell: no word of the dictionary is called wrong" 0 \
        "$(grep -v "[^A-Za-z]" $words | "$e/spell.sh" | wc -l)"
    # Words changed by one letter: nearly all are found, one in a hundred slips through.
    grep -E '^[a-z]{8,}$' $words | head -20000 | sed 's/^\(...\)./\1q/' |
        sort -u >wrong && grep -vxFf $words wrong >wrong2
    total=$(wc -l <wrong2) found=$("$e/spell.sh" wrong2 | wc -l)
    ok "spell: of $total wrong words $found are found" test "$found" -ge $((total * 98 / 100))
else
    skip "no word list (wamerican)"
fi

printf 'http://bad.example/\nhttp://worse.example/x\n' >list
printf 'http://good.example/\nHTTP://Bad.example:80/\nhttp://worse.example/%%78\nhttp://fine.example/\n' >in
same "blacklist: the bad ones are refused however they are spelled" \
    "$(printf 'http://good.example/\nhttp://fine.example/')" "$("$e/blacklist.sh" list in)"
seq 1 100000 | sed 's|^|http://site.example/|' >list
seq 200001 300000 | sed 's|^|http://site.example/|' >good
same "blacklist: nothing good is refused" 100000 "$(cat good list | "$e/blacklist.sh" list | wc -l)"

seq 1 7 100000 >known
seq 1 100000 >asked
"$e/id_check.sh" known asked >got
same "id check: every identifier that exists is asked for" "$(wc -l <known)" \
    "$(sed -n 's/^ask //p' got | grep -cxFf known)"
ok "id check: and few others" test "$(grep -c '^ask' got)" -le $(($(wc -l <known) + 160))

perl -e 'srand 41; for my $d (13 .. 15) { for (1 .. 20000) { printf "10.%d.%d.%d - - [%d/Nov/2026:0%d:00:00 +0000] \"GET / HTTP/1.1\" 200 5\n", rand 3, rand 100, rand 50 * ($d - 10), $d, rand 9 } }' >access.log
awk '{ d = substr($4, 2, 11); if (!s[d, $1]++) c[d]++ } END { for (d in c) print d, c[d] }' access.log | sort >want
"$e/daily_visitors.sh" access.log | tr '\t' ' ' | sort >got
ok "daily visitors: three days, each within a thousandth" sh -c 'paste -d " " want got |
    awk "{ d = \$2 - \$4; if (\$1 != \$3 || d * d > 144 + (\$2 / 1000) ^ 2) bad = 1 } END { exit bad || NR != 3 }"'
gzip -c access.log >access.log.gz
same "daily visitors: of a packed log too" 3 "$("$e/daily_visitors.sh" access.log.gz | wc -l)"

ok "first_visit: compiles" gcc -I"$top/include" "$e/first_visit.c" "$build/libseen.a" -lm -lpthread -o first_visit
same "first_visit: each line once" "a b " "$(printf 'a\nb\na\n' | ./first_visit f.seen | tr '\n' ' ')"
same "first_visit: and not again in the next run" c "$(printf 'a\nc\n' | ./first_visit f.seen)"
finish
