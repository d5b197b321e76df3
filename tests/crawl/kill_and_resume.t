#!/bin/bash
# kill_and_resume.t - a crawl killed at any moment goes on and loses nothing.
. "$(dirname "$0")/lib.sh"
RANDOM=7
fast="--allow-private --delay 0 --quiet"

# kill_at PID LOG BYTES: kills a crawler when its log has grown to so many bytes; fails if it
# came to its end before.
kill_at() {
    perl -e 'my ($pid, $log, $bytes) = @ARGV;
        until ((-s $log // 0) >= $bytes) {
            exit 1 if !kill 0, $pid;
            select undef, undef, undef, 0.001;
        }
        exit !kill "KILL", $pid' "$@"
}

# killed_often TIMES DIR BYTES: kills the crawl that runs in DIR, as $!, at TIMES points drawn
# over a log that comes to BYTES, and resumes it each time; then waits for its end. Sets
# kills, and leaves the status of the last run.
killed_often() {
    local times=$1 log=$2/frontier.log bytes=$3 pid=$! i at
    kills=0
    for ((i = 0; i < times; i++)); do
        # The last tenth is left for a machine that is slow to kill.
        at=$((bytes / 1000 * (i * 900 + RANDOM % 900) / times + 1))
        { kill_at "$pid" "$log" "$at" && kills=$((kills + 1)); wait "$pid"; } 2>/dev/null
        $crawl --resume "$2" 2>>"$dir/resumed" & # (a write that was cut off is no news here)
        pid=$!
    done
    wait "$pid"
}

killed_crawl() { # threads
    rm -rf "$dir/c"
    start_site --pages 6000 --hosts 5 --spell --wait 3
    at_once=40
    $crawl $fast -j $1 --any-host --per-host 8 --connections $at_once --dir "$dir/c" --out "$dir/pages" \
        --warc "$dir/a.warc.gz" "http://127.0.0.1:$port/p/0.html" &
    killed_often 20 "$dir/c" "$whole"
    same "-j $1: killed 20 times on its way, the crawl comes to its end" "0 20" "$? $kills"
    r=$(report)
    same "no page and no redirect is missing" \
        "pages 6000 missing 0
redirects missing 0
unknown 0" \
        "$(echo "$r" | sed -n 's/ twice.*//p; s/ again.*//p; s/ outside.*//p')"
    again=$(($(echo "$r" | sed -n 's/.*again \([0-9]*\).*/\1/p' | paste -sd+)))
    echo "# $again pages were fetched again after 20 kills, $at_once connections"
    # In flight is what was asked and not yet committed: the connections, and what they
    # brought in the 20 ms between two commits (each answer takes 3 ms or more).
    [ "$again" -le $((20 * at_once * 8)) ]
    held "only pages in flight are fetched again" $?
    same "no page stands twice in the output" 0 "$(cut -f1 "$dir/pages" | sort | uniq -d | wc -l)"
    same "and all of them do" 6000 "$(cut -f1 "$dir/pages" | grep -cE '/p/|/q\?')"
    same "the archive has each of them once, too" "$(wc -l <"$dir/pages")" \
        "$(gzip -dc "$dir/a.warc.gz" | grep -ac '^WARC-Type: response')"
    same "--list prints the same from the log" "$(cut -f1,2,4 "$dir/pages" | sort)" \
        "$($crawl --list "$dir/c" | cut -f1,2,4 | sort)"
    same "also as JSON" 6000 \
        "$($crawl --list "$dir/c" --json | perl -MJSON::PP -ne '$n += decode_json($_)->{status} == 200;
        END { print $n }')"
    before=$(report | sed -n 's/.*answered //p')
    $crawl --resume "$dir/c"
    same "resuming a finished crawl asks for nothing" "$before" \
        "$(report | sed -n 's/.*answered //p')"
    stop_site
}
# How long the log becomes when nobody is killed.
start_site --pages 6000 --hosts 5 --spell
$crawl $fast --any-host --per-host 8 --dir "$dir/w" "http://127.0.0.1:$port/p/0.html"
whole=$(stat -c %s "$dir/w/frontier.log")
stop_site
killed_crawl 1
killed_crawl 2

# Levels survive, too: killed five times, each page has its least depth.
killed_levels() { # threads
    start_site --pages 3000 --hosts 5 --wait 2
    rm -rf "$dir/d"
    $crawl $fast -j $1 --any-host --per-host 3 --depth 3 --dir "$dir/d" --out "$dir/dpages" \
        "http://127.0.0.1:$port/p/0.html" &
    killed_often 5 "$dir/d" "$shallow"
    same "-j $1 --depth 3: killed five times on its way, it comes to its end" "0 5" "$? $kills"
    perl -e 'my ($n, $l, $max) = (3000, 12, 3); my %d = (0 => 0); my @q = (0);
        while (defined(my $i = shift @q)) { next if $d{$i} == $max;
            for my $k (0 .. $l - 1) { my $j = $k < 3 ? 3 * $i + 1 + $k : ($i * 31 + $k * $k * 97 + 7) % $n;
                next if $j >= $n || exists $d{$j}; $d{$j} = $d{$i} + 1; push @q, $j } }
        print map { $_ . "\t" . $d{$_} . "\n" } sort { $a <=> $b } keys %d' >"$dir/dwant"
    same "-j $1 --depth 3, killed five times: the same pages at the same depths" "$(cat "$dir/dwant")" \
        "$(perl -ne 'm{(?:/p/|id=)(\d+)\S*\t200\t\S+\t(\d+)\t} and print "$1\t$2\n"' "$dir/dpages" | sort -n)"
    stop_site
}
start_site --pages 3000 --hosts 5
$crawl $fast --any-host --depth 3 --dir "$dir/w3" "http://127.0.0.1:$port/p/0.html"
shallow=$(stat -c %s "$dir/w3/frontier.log")
stop_site
killed_levels 1
killed_levels 2

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
same "a log cut anywhere near its end goes on to the same 40 pages" 0 $bad
for size in none 0 20 40; do
    cp -r "$dir/t" "$dir/u"
    if [ $size = none ]; then rm "$dir/u/frontier.log"; else truncate -s $size "$dir/u/frontier.log"; fi
    $crawl --resume "$dir/u" 2>/dev/null
    same "killed with $size bytes of the log: it begins anew" 40 \
        "$($crawl --list "$dir/u" | wc -l)"
    rm -r "$dir/u"
done
cp -r "$dir/t" "$dir/u"
printf 'x' | dd of="$dir/u/frontier.log" bs=1 seek=20 conv=notrunc 2>/dev/null
$crawl --resume "$dir/u" 2>"$dir/err"
same "a damaged header is refused" "2 1" "$? $(grep -c 'header of the log is damaged' "$dir/err")"
before=$(cat "$dir/t/options")
$crawl $fast --depth 7 --dir "$dir/t" "http://127.0.0.1:$port/" 2>"$dir/err"
same "a second crawl in one folder is refused" "2 1" \
    "$? $(grep -c 'already holds a crawl' "$dir/err")"
same "and the first one's options stay" "$before" "$(cat "$dir/t/options")"
$crawl --resume "$dir/none" 2>"$dir/err"
same "resuming nothing is refused" 2 $?
# Outputs belong to the crawl: the log counts their bytes.
$crawl $fast --dir "$dir/o" --out "$dir/o1" --max-pages 5 "http://127.0.0.1:$port/p/0.html"
$crawl --resume "$dir/o" --out "$dir/o2" 2>"$dir/err"
same "an output cannot be replaced by another" "2 1 5" \
    "$? $(grep -c 'this crawl writes to' "$dir/err") $(wc -l <"$dir/o1")"
$crawl --resume "$dir/o" --links "$dir/o3" --max-pages 8
$crawl --resume "$dir/o" --max-pages 0
same "one named later becomes part of the crawl" "40 35" \
    "$(wc -l <"$dir/o1") $(cut -f1 "$dir/o3" | sort -u | wc -l)"
long=$(printf '%020000d' 0)
$crawl $fast --max-pages 5 --include "($long|/)" --dir "$dir/l" "http://127.0.0.1:$port/p/0.html"
$crawl --resume "$dir/l" --max-pages 100
same "options of any length are found again" "0 40" "$? $($crawl --list "$dir/l" | wc -l)"
stop_site

# Ctrl-C.
start_site --pages 4000 --wait 5
$crawl --allow-private --delay 0 --dir "$dir/s" --out "$dir/spages" "http://127.0.0.1:$port/p/0.html" \
    2>"$dir/err" &
pid=$!
until_answered 100 $pid
kill -INT $pid
wait $pid
same "Ctrl-C stops with status 130 and says how to go on" "130 1" \
    "$? $(grep -c 'resume' "$dir/err")"
before=$(report | sed -n 's/.*answered //p; s/.*again \([0-9]*\) most.*/\1/p')
$crawl --resume "$dir/s" --per-host 20 --quiet
r=$(report)
same "after a clean stop not one page is fetched again" "4000 missing 0 twice 0 again 0 most 1" \
    "$(echo "$r" | sed -n 's/^pages //p')"
stop_site
finish
