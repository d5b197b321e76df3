#!/bin/bash
# crawl_again.t - --again asks only for what changed, and says what is new, changed, gone or
# unchanged.
. "$(dirname "$0")/lib.sh"
cat >"$dir/server.pl" <<'END'
# Thirty pages with an ETag or a date or (every fifth) neither; the file "second" makes it another day.
use strict; use IO::Socket::INET;
my ($dir) = @ARGV; $SIG{PIPE} = 'IGNORE';
my $s = IO::Socket::INET->new(Listen => 64, LocalAddr => '127.0.0.1', ReuseAddr => 1) or die;
$| = 1; print $s->sockport, "\n";
open my $log, '>>', "$dir/asked"; $log->autoflush;
while (my $c = $s->accept) {
    my $in = '';
    while (1) {
        while ($in !~ /\r\n\r\n/) { my $k = sysread $c, $in, 4096, length $in; last if !$k }
        $in =~ s{^(GET (\S+).*?\r\n\r\n)}{}s or last;
        my ($head, $p) = ($1, $2); my $day = -e "$dir/second" ? 2 : 1;
        select undef, undef, undef, 0.01 if -e "$dir/slow";
        my ($status, $more, $b) = ('404 no', '', '');
        if ($p =~ m{^/(\d+)$} && $1 < 30 + ($day == 2) && !($day == 2 && $1 == 5)) {
            my $i = $1; my $version = $day == 2 && ($i == 3 || $i == 0) ? 2 : 1;
            $status = '200 OK';
            $b = "<h1>Page number $i</h1><p>" . join(' ', map { "w" . ($_ * ($i + 1) * 31 % 997) . ($version > 1 ? 'new' : 'old') } 1 .. 80)
                . "</p>" . join '', map "<a href=/$_>next</a>", $i ? () : (1 .. 29 + ($day == 2));
            $b =~ s{<a href=/5>next</a>}{} if $day == 2;
            if ($i % 5 == 0) {}
            elsif ($i % 2) { $more = "ETag: \"v$version-$i\"\r\n"; $status = '304 same' if $head =~ /If-None-Match: "v$version-$i"/ }
            else { $more = "Last-Modified: Mon, 0$version Jun 2026 10:00:00 GMT\r\n"; $status = '304 same' if $head =~ /If-Modified-Since: Mon, 0$version Jun 2026/ }
            $b = '' if $status =~ /304/;
        }
        print $log substr($status, 0, 3), " $p\n";
        my $len = $status =~ /304/ ? '' : "Content-Length: " . length($b) . "\r\n";
        syswrite $c, "HTTP/1.1 $status\r\nContent-Type: text/html\r\n$more$len\r\n$b";
    }
    close $c;
}
END
perl "$dir/server.pl" "$dir" >"$dir/port" &
pids="$pids $!"
until [ -s "$dir/port" ]; do sleep 0.05; done
port=$(cat "$dir/port")
changes() { sed 's|http://127.0.0.1:[0-9]*||' | awk -F'\t' '{ print $7 }' | sort | uniq -c | xargs; }
rm -rf "$dir/second" "$dir/c" "$dir/pages" "$dir/a.warc.gz"
: >"$dir/asked"
$crawl --allow-private --delay 0 --quiet --dir "$dir/c" --out "$dir/pages" --warc "$dir/a.warc.gz" \
    "http://127.0.0.1:$port/0"
same "thirty pages" 30 "$(wc -l <"$dir/pages")"
$crawl --again "$dir/c" 2>"$dir/err"
same "nothing has changed" "30 unchanged" "$($crawl --list "$dir/c" | changes)"
same "which the server says of 24" 24 "$(grep -c '^304' "$dir/asked")"
touch "$dir/second"
: >"$dir/asked"
$crawl --again "$dir/c" --quiet --json >"$dir/json"
same "another day: each change has its name" "2 changed 1 gone 1 new 27 unchanged" \
    "$($crawl --list "$dir/c" | changes)"
same "and its page" "/0 changed /3 changed /30 new /5 gone" \
    "$($crawl --list "$dir/c" | awk -F'\t' '$7 != "unchanged" { print $1, $7 }' | sed 's|http://127.0.0.1:[0-9]*||' | sort | xargs)"
same "the statistics agree" '"new":1,"changed":2,"gone":1,"unchanged":27' \
    "$(tr -d ' \n' <"$dir/json" | grep -o '"new":[0-9]*,"changed.*"unchanged":[0-9]*')"
same "the output has the pages of all three rounds" "30 2 changed 1 gone 1 new 57 unchanged" "$(changes <"$dir/pages")"
same "the archive has a revisit record for each 304" "$((24 + $(grep -c '^304' "$dir/asked")))" \
    "$(gzip -dc "$dir/a.warc.gz" | grep -ac '^WARC-Type: revisit')"
same "which says what it refers to" "$(gzip -dc "$dir/a.warc.gz" | grep -ac '^WARC-Type: revisit')" \
    "$(gzip -dc "$dir/a.warc.gz" | grep -ac '^WARC-Refers-To-Date: 20')"
# Killed in the middle, the round goes on where it was.
touch "$dir/slow"
: >"$dir/asked"
$crawl --again "$dir/c" --quiet &
pid=$!
while [ "$(wc -l <"$dir/asked")" -lt 12 ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -9 $pid
wait $pid 2>/dev/null
rm "$dir/slow"
$crawl --resume "$dir/c" --quiet
same "killed and resumed: each page of the round is compared once" "31" \
    "$($crawl --list "$dir/c" | awk -F'\t' '$7 == "unchanged" || $7 == "" { n++ } END { print n }')"
n=$(grep -v robots "$dir/asked" | sort | uniq -d | wc -l)
[ "$n" -le 10 ]
held "and only pages in flight were asked for twice ($n)" $?
finish
