#!/bin/bash
# kill_and_resume.t - a crawl killed at any moment goes on and loses nothing.
. "$(dirname "$0")/lib.sh"
RANDOM=7
fast="--allow-private --delay 0 --quiet"

start_site --pages 6000 --hosts 5 --spell --wait 3
at_once=40
$crawl $fast --any-host --per-host 8 --connections $at_once --dir "$dir/c" --out "$dir/pages" \
    --warc "$dir/a.warc.gz" "http://127.0.0.1:$port/p/0.html" &
kills=0
until [ -e "$dir/c/options" ] || ! kill -0 $!; do sleep 0.01; done
while [ $kills -lt 20 ]; do
    pid=$!
    sleep "0.0$((RANDOM % 90 + 10))"
    kill -9 $pid 2>/dev/null && kills=$((kills + 1))
    wait $pid 2>/dev/null
    $crawl --resume "$dir/c" &
done
wait $!
is $? 0 "killed 20 times, the crawl comes to its end"
r=$(report)
is "$(echo "$r" | sed -n 's/ twice.*//p; s/ again.*//p; s/ outside.*//p')" \
    "pages 6000 missing 0
redirects missing 0
unknown 0" "no page and no redirect is missing"
again=$(($(echo "$r" | sed -n 's/.*again \([0-9]*\).*/\1/p' | paste -sd+)))
echo "# $again pages were fetched again after 20 kills, $at_once connections"
# In flight is what was asked and not yet committed: the connections, and what they
# brought in the 20 ms between two commits (each answer takes 3 ms or more).
[ "$again" -le $((20 * at_once * 8)) ]
ok $? "only pages in flight are fetched again"
is "$(cut -f1 "$dir/pages" | sort | uniq -d | wc -l)" 0 "no page stands twice in the output"
is "$(cut -f1 "$dir/pages" | grep -cE '/p/|/q\?')" 6000 "and all of them do"
is "$(gzip -dc "$dir/a.warc.gz" | grep -ac '^WARC-Type: response')" "$(wc -l <"$dir/pages")" \
    "the archive has each of them once, too"
is "$($crawl --list "$dir/c" | cut -f1,2,4 | sort)" "$(cut -f1,2,4 "$dir/pages" | sort)" \
    "--list prints the same from the log"
is "$($crawl --list "$dir/c" --json | perl -MJSON::PP -ne '$n += decode_json($_)->{status} == 200;
    END { print $n }')" 6000 "also as JSON"
before=$(report | sed -n 's/.*answered //p')
$crawl --resume "$dir/c"
is "$(report | sed -n 's/.*answered //p')" "$before" "resuming a finished crawl asks for nothing"
stop_site

# Levels survive, too: killed five times, each page has its least depth.
start_site --pages 3000 --hosts 5 --wait 2
$crawl $fast --any-host --per-host 3 --depth 3 --dir "$dir/d" --out "$dir/dpages" \
    "http://127.0.0.1:$port/p/0.html" &
until [ -e "$dir/d/options" ] || ! kill -0 $!; do sleep 0.01; done
for _ in 1 2 3 4 5; do
    pid=$!
    sleep 0.07
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    $crawl --resume "$dir/d" &
done
wait $!
perl -e 'my ($n, $l, $max) = (3000, 12, 3); my %d = (0 => 0); my @q = (0);
    while (defined(my $i = shift @q)) { next if $d{$i} == $max;
        for my $k (0 .. $l - 1) { my $j = $k < 3 ? 3 * $i + 1 + $k : ($i * 31 + $k * $k * 97 + 7) % $n;
            next if $j >= $n || exists $d{$j}; $d{$j} = $d{$i} + 1; push @q, $j } }
    print map { $_ . "\t" . $d{$_} . "\n" } sort { $a <=> $b } keys %d' >"$dir/dwant"
is "$(perl -ne 'm{(?:/p/|id=)(\d+)\S*\t200\t\S+\t(\d+)\t} and print "$1\t$2\n"' "$dir/dpages" | sort -n)" \
    "$(cat "$dir/dwant")" "--depth 3, killed five times: the same pages at the same depths"
stop_site

# A torn end, at every length of the last batch.
start_site --pages 40
$crawl $fast --dir "$dir/t" "http://127.0.0.1:$port/p/0.html"
size=$(stat -c %s "$dir/t/frontier.log")
bad=0
for cut in $(seq 1 7 400); do
    cp -r "$dir/t" "$dir/u"
    truncate -s $((size - cut)) "$dir/u/frontier.log"
    $crawl --resume "$dir/u" 2>/dev/null || bad=$((bad + 1))
    [ "$($crawl --list "$dir/u" | cut -f1 | sort -u | wc -l)" = 40 ] || bad=$((bad + 1))
    [ "$($crawl --list "$dir/u" | wc -l)" = 40 ] || bad=$((bad + 1))
    rm -r "$dir/u"
done
is $bad 0 "a log cut anywhere near its end goes on to the same 40 pages"
for size in none 0 20 40; do
    cp -r "$dir/t" "$dir/u"
    if [ $size = none ]; then rm "$dir/u/frontier.log"; else truncate -s $size "$dir/u/frontier.log"; fi
    $crawl --resume "$dir/u" 2>/dev/null
    is "$($crawl --list "$dir/u" | wc -l)" 40 "killed with $size bytes of the log: it begins anew"
    rm -r "$dir/u"
done
cp -r "$dir/t" "$dir/u"
printf 'x' | dd of="$dir/u/frontier.log" bs=1 seek=20 conv=notrunc 2>/dev/null
$crawl --resume "$dir/u" 2>"$dir/err"
is "$? $(grep -c 'header of the log is damaged' "$dir/err")" "2 1" "a damaged header is refused"
before=$(cat "$dir/t/options")
$crawl $fast --depth 7 --dir "$dir/t" "http://127.0.0.1:$port/" 2>"$dir/err"
is "$? $(grep -c 'already holds a crawl' "$dir/err")" "2 1" "a second crawl in one folder is refused"
is "$(cat "$dir/t/options")" "$before" "and the first one's options stay"
$crawl --resume "$dir/none" 2>"$dir/err"
is $? 2 "resuming nothing is refused"
# Outputs belong to the crawl: the log counts their bytes.
$crawl $fast --dir "$dir/o" --out "$dir/o1" --max-pages 5 "http://127.0.0.1:$port/p/0.html"
$crawl --resume "$dir/o" --out "$dir/o2" 2>"$dir/err"
is "$? $(grep -c 'this crawl writes to' "$dir/err") $(wc -l <"$dir/o1")" "2 1 5" "an output cannot be replaced by another"
$crawl --resume "$dir/o" --links "$dir/o3" --max-pages 8
$crawl --resume "$dir/o" --max-pages 0
is "$(wc -l <"$dir/o1") $(cut -f1 "$dir/o3" | sort -u | wc -l)" "40 35" "one named later becomes part of the crawl"
long=$(printf '%020000d' 0)
$crawl $fast --max-pages 5 --include "($long|/)" --dir "$dir/l" "http://127.0.0.1:$port/p/0.html"
$crawl --resume "$dir/l" --max-pages 100
is "$? $($crawl --list "$dir/l" | wc -l)" "0 40" "options of any length are found again"
stop_site

# Ctrl-C.
start_site --pages 4000 --wait 5
$crawl --allow-private --delay 0 --dir "$dir/s" --out "$dir/spages" "http://127.0.0.1:$port/p/0.html" \
    2>"$dir/err" &
pid=$!
until_answered 100 $pid
kill -INT $pid
wait $pid
is "$? $(grep -c 'resume' "$dir/err")" "130 1" "Ctrl-C stops with status 130 and says how to go on"
before=$(report | sed -n 's/.*answered //p; s/.*again \([0-9]*\) most.*/\1/p')
$crawl --resume "$dir/s" --per-host 20 --quiet
r=$(report)
is "$(echo "$r" | sed -n 's/^pages //p')" "4000 missing 0 twice 0 again 0 most 1" \
    "after a clean stop not one page is fetched again"
stop_site
plan
