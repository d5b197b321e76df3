#!/bin/bash
# status_page.t - --status shows a running crawl as it is, to people and to Prometheus; no
# request to it hurts the crawl.
. "$(dirname "$0")/lib.sh"
cd "$dir" || exit 1
$crawl --status x http://127.0.0.1:1/ 2>&1 | grep -q 'this build has no libmicrohttpd' &&
    skip_all "seen crawl was built without libmicrohttpd"
# A host that takes requests and never answers keeps the crawl in flight.
perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 9, LocalAddr => "127.0.0.1") or die;
    $| = 1; print $s->sockport, "\n"; push @k, $s->accept while 1' >"$dir/hang" &
pids="$pids $!"
until [ -s "$dir/hang" ]; do sleep 0.02; done
start_site --pages 500 --hosts 3 --spell
$crawl --allow-private --delay 0 --no-robots --per-host 4 --any-host --retries 0 --timeout 600 --dir "$dir/c" \
    --status 0 "http://127.0.0.1:$port/p/0.html" http://127.0.0.9:1/ "http://127.0.0.1:$(cat "$dir/hang")/" 2>"$dir/err" &
pid=$!
pids="$pids $pid"
until grep -qs 'status at' "$dir/err"; do sleep 0.02; done
at=$(sed -n 's/.*status at \(.*\)/\1/p' "$dir/err")
get() { curl -sS "$@"; }
metric() { get "${at}metrics" | sed -n "s/^seen_crawl_$1 //p"; }
# All done but one page, which never comes; the log and the snapshot are up to date soon after.
until [ "$(metric in_flight)" = 1 ] && [ "$(metric queue)" = 0 ]; do sleep 0.1; done
until [ "$(metric pages_total)" = "$($crawl --list "$dir/c" | wc -l)" ]; do sleep 0.1; done
$crawl --list "$dir/c" >"$dir/list"
get "${at}metrics" >"$dir/metrics"
get "$at" >"$dir/page"
of() { sed -n "s/^seen_crawl_$1 //p" "$dir/metrics"; }
same "/metrics counts the pages that --list lists" "$(wc -l <"$dir/list")" "$(of pages_total)"
same "and their statuses" "$(awk -F'\t' '$7 == "" && $2 { n[int($2 / 100)]++ } END { for (i = 1; i < 6; i++) print n[i] + 0 }' "$dir/list")" \
    "$(sed -n 's/^seen_crawl_answers_total{.*} //p' "$dir/metrics")"
same "and their failures" "$(awk -F'\t' '$7 != "" { print $7 }' "$dir/list" | sort | uniq -c | awk '{ print $2, $1 }')" \
    "$(sed -n 's/^seen_crawl_outcomes_total{outcome="\(.*\)"} \(.*\)/\1 \2/p' "$dir/metrics" | grep -v ' 0$\|^ok' | sort)"
same "the metrics are well-formed: declared once, sampled once, counters named so" "" "$(perl -ne '
    if (/^# HELP (\w+) \S.*$/) { print "twice $1\n" if $h{$1}++ }
    elsif (/^# TYPE (\w+) (counter|gauge|histogram)$/) { $t{$1} = $2; print "name $1\n" if ($2 eq "counter") != ($1 =~ /_total$/) }
    elsif (/^((\w+?)(_bucket|_sum|_count)?)(\{\w+="[^"\\\n]*"\})? [-+.e0-9]+$/) {
        print "undeclared $1\n" if !$t{$1} && ($t{$2} // "") ne "histogram"; print "again $_" if $s{"$1$4"}++ }
    else { print "bad $_" }' "$dir/metrics")"
same "the histogram grows to its count" "" "$(perl -ne '
    if (/answer_seconds_bucket\{.*\} (\d+)/) { print "falls\n" if $1 < $n; $n = $1 }
    if (/answer_seconds_count (\d+)/) { print "$1 is not $n\n" if $1 != $n }' "$dir/metrics")"
row() { sed -n "s/^<tr><th>$1<.th><td>\(.*\)<.td><.tr>/\1/p" "$dir/page" | tr -d ,; }
same "the page says the same" "$(of pages_total) $(of queue) $(of in_flight) $(of hosts)" \
    "$(row 'pages done') $(row waiting) $(row 'in flight') $(row hosts)"
same "each host is there, the busiest first" "$(awk -F'[/\t]' '{ print $1 "//" $3 }' "$dir/list" | sort | uniq -c | sort -rn | awk '$1 > 20 { print $2 }' | sort)" \
    "$(sed -n '/busiest/,/slowest answers/s/^<tr><td>\([^<]*\).*/\1/p' "$dir/page" | head -3 | sort)"
same "it has no scripts and loads nothing" 0 "$(grep -ciE '<script|<img|<link|src=|url\(' "$dir/page")"
same "it is well-formed" "" "$(perl -0777 -ne 's/<!DOCTYPE html>//; s/<(meta)[^>]*>//g;
    while (m{<(/?)([a-z0-9]+)[^>]*?(/?)>}g) { next if $3; if (!$1) { push @o, $2 } else { my $t = pop @o; print "$2 closes $t\n" if $t ne $2 } }
    print "open: @o\n" if @o' "$dir/page")"

code() { get -o "$dir/body" -w '%{http_code}' "$@"; }
same "HEAD is answered" 200 "$(code -I "$at")"
same "other paths are not found" "404 404 404" "$(code "${at}x") $(code --path-as-is "${at}../../etc/passwd") $(code "${at}metrics/")"
same "other methods are refused" "405 405 405" "$(code -d x=1 "$at") $(code -X DELETE "$at") $(code -T /dev/null "$at")"
same "a stranger's name for this address is refused" "403 403 200" \
    "$(code -H 'Host: evil.example' "$at") $(code -H 'Host: 127.0.0.1.evil.example' "$at") $(code -H 'Host: localhost:1' "$at")"
# Garbage, endless heads, silent and half-open connections.
p=${at##*:}
perl -MIO::Socket::INET -MIO::Select -e '$SIG{PIPE} = "IGNORE"; my $p = shift; my $to = sub { IO::Socket::INET->new("127.0.0.1:$p") or die };
    for my $junk ("\0" x 5000, "GET " . "a" x 100000 . " HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nX: " . "y" x 200000, "\r\n" x 1000,
        "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\nx", "GET /%00%ff<script> HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: " . "h" x 3000 . "\r\n\r\n", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n") {
        my $s = $to->(); print $s $junk; 1 while IO::Select->new($s)->can_read(0.1) && sysread $s, my $x, 65536 }
    push @idle, $to->() for 1 .. 20' "${p%/}"
same "after garbage of nine kinds and twenty silent connections it still answers" 200 "$(code "$at")"
kill -0 $pid
held "and the crawl goes on" $?
same "without a word about it" 1 "$(wc -l <"$dir/err")"
kill -9 $pid
wait $pid 2>/dev/null
stop_site

taken=$(cat "$dir/hang")
fails "a port that is taken is said" 2 "^seen crawl: --status $taken: Address already in use; give another port" \
    $crawl --status "$taken" http://127.0.0.1:1/
for bad in x 127.0.0.1 99999 127.0.0.1:-1 ::1:80 '[::1:80' 1.2.3.4:; do
    fails "--status $bad is refused" 2 'not an address such as 8080' $crawl --status "$bad" http://127.0.0.1:1/
done
fails "a name that is not one of this machine" 2 '^seen crawl: --status 192.0.2.1:0: Cannot assign' \
    $crawl --status 192.0.2.1:0 http://127.0.0.1:1/
finish
