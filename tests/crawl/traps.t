#!/bin/bash
# traps.t - sites without end come to one, and the summary says why; real pages are not lost.
. "$(dirname "$0")/lib.sh"
cat >"$dir/server.pl" <<'END'
# /cal/YYYY/MM: a calendar; /s/N;jsessionid=ID and /q?n=N&PHPSESSID=ID: ten pages with ids that change with
# every answer; anything else: "not found" with status 200 and fresh links. One connection after the other.
use strict; use IO::Socket::INET;
$SIG{PIPE} = 'IGNORE';
my $s = IO::Socket::INET->new(Listen => 64, LocalAddr => '127.0.0.1', ReuseAddr => 1) or die;
$| = 1; print $s->sockport, "\n";
srand 11;
my $n = 0;
my @prose = map { my $k = $_; join ' ', map { "word" . ($_ * 7919 * ($k + 3) % 9973) . "x" } 1 .. 60 } 0 .. 40;
while (my $c = $s->accept) {
    my $in = '';
    while (1) {
        while ($in !~ /\r\n\r\n/) { my $k = sysread $c, $in, 4096, length $in; last if !$k }
        $in =~ s{^GET (\S+).*?\r\n\r\n}{}s or last;
        my $p = $1; my ($b, $status) = ('', '200 OK');
        my $id = join '', map { chr 97 + rand 26 } 1 .. 16;
        if ($p eq '/robots.txt') { $status = '404 no' }
        elsif ($p =~ m{^/cal/(\d+)/(\d+)}) {
            my ($y, $m) = ($1, $2); my ($ny, $nm) = $m == 12 ? ($y + 1, 1) : ($y, $m + 1);
            my ($py, $pm) = $m == 1 ? ($y - 1, 12) : ($y, $m - 1);
            $b = "<h1>Events in month $m of $y</h1><a href=/cal/$py/$pm>before</a> <a href=/cal/$ny/$nm>after</a><table>"
                . join('', map "<td>$_</td>", 1 .. 30) . "</table><p>$prose[0]</p>";
        } elsif ($p =~ m{^/s/(\d+)}) {
            $b = "<h1>Chapter $1</h1><p>$prose[$1]</p>" . join '', map "<a href='/s/$_;jsessionid=$id'>chapter</a>", 0 .. 9;
        } elsif ($p =~ m{^/q\?n=(\d+)}) {
            $b = "<h1>Item $1</h1><p>$prose[20 + $1]</p>" . join '', map "<a href='/q?n=$_&amp;PHPSESSID=$id&amp;x=1'>item</a>", 0 .. 9;
        } else { $b = "<h1>Sorry</h1><p>We could not find what you look for. Try these:</p>"
            . join '', map { "<a href=/" . join('/', map { join '', map { chr 97 + rand 26 } 1 .. 6 } 1 .. 3) . ">here</a>" } 1 .. 3 }
        $n++;
        my $out = "HTTP/1.1 $status\r\nContent-Type: text/html\r\nContent-Length: " . length($b) . "\r\n\r\n$b";
        while (length $out) { my $k = syswrite $c, $out or last; substr($out, 0, $k) = '' }
    }
    close $c;
}
END
perl "$dir/server.pl" >"$dir/port" &
pids="$pids $!"
until [ -s "$dir/port" ]; do sleep 0.05; done
port=$(cat "$dir/port")
go() { $crawl --allow-private --delay 0 --max-pages 20000 --dir "$dir/$1" "http://127.0.0.1:$port$2" 2>"$dir/err"; }
fetched() { $crawl --list "$dir/$1" | awk -F'\t' '$2 == 200' | wc -l; }

go cal /cal/2026/11
same "a calendar without end comes to one" 0 $?
n=$(fetched cal)
[ "$n" -gt 5000 ] && [ "$n" -le 10000 ]
held "within 10,000 pages ($n)" $?
same "and the summary says why" 1 \
    "$(grep -c 'not fetched: trap (of [0-9,]* pages [0-9,]* looked like earlier ones)' "$dir/err")"

go soft /lost
n=$(fetched soft)
[ "$n" -gt 5000 ] && [ "$n" -le 10000 ]
held "a site that answers 200 to everything comes to its end ($n)" $?
same "and the summary says why" 1 "$(grep -c 'not fetched: trap' "$dir/err")"
same "--list says which pages are the same" $((n - 1)) \
    "$($crawl --list "$dir/soft" | awk -F'\t' '$9 != ""' | wc -l)"
same "and as which" "http://127.0.0.1:$port/lost" \
    "$($crawl --list "$dir/soft" | awk -F'\t' '$9 != "" { print $9 }' | sort -u)"

same "the report names the error page that says 200, and how often it came" "http://127.0.0.1:$port/lost $n" \
    "$($crawl --report "$dir/soft" -o - | sed -n '/id="texts"/,/table>/s|^<tr><td>\(.*\)</td><td>\(.*\)</td></tr>|\1 \2|p' | tr -d ,)"

for kind in "s /s/0;jsessionid=first" "q /q?n=0&PHPSESSID=first&x=1"; do
    set -- $kind
    go "$1" "$2"
    n=$(fetched "$1")
    [ "$n" -ge 10 ] && [ "$n" -le 400 ]
    held "session ids in every link of ten pages (${2%%=*}): recognised after $n pages" $?
    same "and the summary says so" 1 \
        "$(grep -c 'not fetched: session (.* is a session id)' "$dir/err")"
    same "each page was fetched" 10 \
        "$($crawl --list "$dir/$1" | awk -F'\t' '$2 == 200 { print $1 }' | sed 's|.*127.0.0.1:[0-9]*||; s/;.*//; s/.*n=\([0-9]*\).*/\1/' |
        sort -u | wc -l)"
    same "and each without an id" 10 \
        "$($crawl --list "$dir/$1" | awk -F'\t' '$2 == 200 { print $1 }' | grep -vc 'session\|SESS')"
done

# The budget holds over a resumed crawl.
$crawl --allow-private --delay 0 --quiet --max-pages 3000 --dir "$dir/r" "http://127.0.0.1:$port/cal/1990/1"
$crawl --resume "$dir/r" --quiet --max-pages 30000
n=$(fetched r)
[ "$n" -gt 5000 ] && [ "$n" -le 6000 ]
held "a resumed crawl knows what was spent ($n)" $?
$crawl --allow-private --delay 0 --quiet --max-pages 6000 --host-budget 0 --dir "$dir/f" "http://127.0.0.1:$port/cal/1990/1"
same "--host-budget 0: no limit" 6000 "$(fetched f)"
finish
