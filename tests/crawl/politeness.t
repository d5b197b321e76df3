#!/bin/bash
# politeness.t - one request at a time, with pauses, and only where it is allowed.
. "$(dirname "$0")/lib.sh"
start_site --pages 60 --hosts 3 --wait 4
$crawl --allow-private --quiet --delay 0 --any-host "http://127.0.0.1:$port/p/0.html" >"$dir/out"
same "one connection to a host by default" 1 "$(report | sed -n 's/.*busiest \([0-9]*\).*/\1/p')"
same "robots.txt is asked once of each host" 3 "$(report | sed -n 's/^robots \([0-9]*\).*/\1/p')"
same "and over the same connection as the pages" 3 \
    "$(report | sed -n 's/.*connections \([0-9]*\).*/\1/p')"
$crawl --allow-private --quiet --delay 0 --any-host --per-host 5 "http://127.0.0.1:$port/p/0.html" >"$dir/out"
[ "$(report | sed -n 's/.*busiest \([0-9]*\).*/\1/p')" -le 5 ]
held "--per-host 5: never more than five" $?
stop_site

start_site --pages 8
from=$(date +%s%N)
$crawl --allow-private --quiet --delay 0.1 "http://127.0.0.1:$port/p/0.html" >"$dir/out"
took=$((($(date +%s%N) - from) / 1000000))
[ $took -ge 800 ]
held "--delay 0.1: nine requests to a host take at least eight pauses" $?
echo "# $took ms"
all_once "and all pages are there"
stop_site

# All but the latest answer and what the first second allows was paid for before the last
# request: however fast the machine, so much time has passed. (rate_over_time.c has a clock.)
start_site --pages 40
$crawl --allow-private --quiet --delay 0 --limit-rate 40K --json --out "$dir/out" \
    "http://127.0.0.1:$port/p/0.html" >"$dir/json"
same "--limit-rate 40K: more than 70 kB take their time" "" "$(perl -MJSON::PP -0777 -ne '$j = decode_json $_;
    print "only $j->{bytes} bytes" if $j->{bytes} < 70000;
    print "$j->{bytes} bytes in $j->{seconds} s" if $j->{seconds} < ($j->{bytes} - 40960 - 8192) / 40960' "$dir/json")"
same "and all pages come" 40 "$(grep -c '	200	' "$dir/out")"
stop_site
finish
