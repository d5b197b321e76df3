#!/bin/bash
# hostile_servers.t - servers that drip, lie, flood or go in circles: each page ends with a
# named reason, and memory stays bounded.
. "$(dirname "$0")/lib.sh"
cat >"$dir/server.pl" <<'END'
use strict; use IO::Socket::INET; use Compress::Zlib;
$SIG{CHLD} = 'IGNORE'; $SIG{PIPE} = sub { exit 0 };
my $s = IO::Socket::INET->new(Listen => 64, LocalAddr => '127.0.0.1', ReuseAddr => 1) or die;
my $bomb = Compress::Zlib::memGzip("\0" x (256 << 20));
$| = 1; print $s->sockport, "\n";
my @names = qw(drip headers chunks hugechunk short long negative status nul cookie ring/0 bomb
    endless silent halfhead lengthchunk million none interim trailers extension bare hints);
my $ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n";
while (my $c = $s->accept) {
    next if fork;
    my $in = ''; $in .= $_ while $in !~ /\r\n\r\n/ && sysread $c, $_, 4096;
    my ($p) = $in =~ m{^GET (\S+)} or exit;
    my $say = sub { my $t = shift; while (length $t) { my $n = syswrite $c, $t or exit; substr($t, 0, $n) = '' } };
    if ($p eq '/') { $say->($ok . "\r\n" . join '', map "<a href=/$_>x</a>\n", @names) }
    elsif ($p eq '/drip') { $say->("${ok}Content-Length: 100000\r\n\r\n"); while (1) { $say->('x'); select undef, undef, undef, 0.1 } }
    elsif ($p eq '/headers') { $say->("HTTP/1.1 200 OK\r\n"); $say->("X-Y: " . 'z' x 1000 . "\r\n") while 1 }
    elsif ($p eq '/chunks') { $say->("${ok}Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n") }
    elsif ($p eq '/hugechunk') { $say->("${ok}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\nhello\r\n") }
    elsif ($p eq '/short') { $say->("${ok}Content-Length: 1000\r\n\r\n<a href=/short/part>x</a>") }
    elsif ($p eq '/long') { $say->("${ok}Content-Length: 3\r\n\r\n<p>" . '<a href=/never>x</a>' x 100) }
    elsif ($p eq '/negative') { $say->("${ok}Content-Length: -5\r\n\r\nhello") }
    elsif ($p eq '/lengthchunk') { $say->("${ok}Content-Length: 3, 4\r\n\r\nhello") }
    elsif ($p eq '/status') { $say->("HTTP/1.1 9 odd\r\nContent-Length: 0\r\n\r\n") }
    elsif ($p eq '/nul') { $say->("${ok}X-A: a\0b\r\nContent-Length: 2\r\n\r\nok") }
    elsif ($p eq '/cookie') { $say->("HTTP/1.1 302 Found\r\nLocation: /cookie\r\nSet-Cookie: a=" . int(rand 1e9) . "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") }
    elsif ($p =~ m{^/ring/(\d+)}) { $say->("HTTP/1.1 302 Found\r\nLocation: /ring/" . ($1 + 1) . "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") }
    elsif ($p eq '/bomb') { $say->("${ok}Content-Encoding: gzip\r\nContent-Length: " . length($bomb) . "\r\n\r\n$bomb") }
    elsif ($p eq '/endless') { $say->("$ok\r\n"); $say->('<p>and so on</p>' x 1000) while 1 }
    elsif ($p eq '/interim') { $say->("HTTP/1.1 100 Continue\r\n\r\n" x 1000) while 1 }
    elsif ($p eq '/trailers') { $say->("${ok}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"); $say->("X-Y: z\r\n" x 1000) while 1 }
    elsif ($p eq '/extension') { $say->("${ok}Transfer-Encoding: chunked\r\n\r\n2;x="); $say->('x' x 10000) while 1 }
    elsif ($p eq '/bare') { $say->("${ok}Transfer-Encoding: chunked\r\n\r\n0\r\nLocation: /never\r\nX-Robots-Tag: noindex\r\n\r\n") }
    elsif ($p eq '/hints') { $say->("HTTP/1.1 103 Early Hints\r\nContent-Type: image/png\r\nX-Robots-Tag: noindex\r\n\r\n${ok}Content-Length: 2\r\n\r\nok") }
    elsif ($p eq '/dripinterim') { while (1) { $say->("HTTP/1.1 100 Continue\r\n\r\n"); select undef, undef, undef, 0.1 } }
    elsif ($p eq '/silent') { sleep 100 }
    elsif ($p eq '/halfhead') { $say->("HTTP/1.1 200 OK\r\nContent-Ty") }
    elsif ($p eq '/million') { $say->("$ok\r\n" . join '', map "<a href=/x/$_>", 1 .. 1000000) }
    elsif ($p =~ m{^/(short/part|robots)}) { $say->("HTTP/1.1 404 no\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") }
    else { $say->("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok") }
    exit;
}
END
perl "$dir/server.pl" >"$dir/port" &
pids="$pids $!"
until [ -s "$dir/port" ]; do sleep 0.05; done
port=$(cat "$dir/port")
timeout 600 "$crawl" --allow-private --delay 0 --quiet --retries 0 --timeout 200 --max-body 32M \
    --per-host 4 --exclude '/x/|/drip|/silent' --json --out "$dir/out" "http://127.0.0.1:$port/" >"$dir/json"
same "a crawl of them comes to its end" 0 $?
same "each ends as it must, with a reason" "$(sort <<END
/bare 200
/bomb 200 truncated
/chunks 200 broken
/cookie 302 redirects
/endless 200 truncated
/extension 200 broken
/halfhead 0 broken
/headers 0 broken
/hints 200
/hugechunk 200 broken
/interim 0 broken
/lengthchunk 0 broken
/long 200
/million 200
/negative 0 broken
/none 200
/nul 0 broken
/ring/0 302
/ring/1 302
/ring/2 302
/ring/3 302
/ring/4 302
/ring/5 302
/ring/6 302
/ring/7 302
/ring/8 302
/ring/9 302
/ring/10 302 redirects
/short 200 broken
/short/part 404
/status 0 broken
/trailers 200 broken
END
)" \
    "$(sed 's|http://127.0.0.1:[0-9]*||' "$dir/out" | awk -F'\t' '$1 != "/" { print $1, $2, $7, ($7 != "" && $7 != "truncated" && $8 == "" ? "NO REASON" : "") }' |
    sed 's/ *$//' | sort)"
"$crawl" --allow-private --delay 0 --quiet --retries 0 --timeout 1 --no-robots --per-host 2 \
    "http://127.0.0.1:$port/silent" "http://127.0.0.1:$port/drip" \
    "http://127.0.0.1:$port/dripinterim" >"$dir/out2"
same "servers that drip a body, drip interim answers, and say nothing" "timeout timeout timeout" \
    "$(cut -f7 "$dir/out2" | xargs)"
memory=$(sed -n 's/.*"memory": *\([0-9]*\).*/\1/p' "$dir/json" | sort -n | tail -1)
echo "# peak memory $memory"
[ "${memory:-999999999}" -lt 300000000 ]
held "in bounded memory" $?
# A million links in one page are a million addresses, found and remembered.
"$crawl" --allow-private --delay 0 --quiet --exact --max-body 64M --depth 1 --max-pages 3 --json --out "$dir/out" "http://127.0.0.1:$port/million" >"$dir/json"
same "a page of a million links brings a million addresses" '"found":1000001' \
    "$(tr -d ' \n' <"$dir/json" | grep -o '"found":[0-9]*')"
memory=$(sed -n 's/.*"memory": *\([0-9]*\).*/\1/p' "$dir/json" | sort -n | tail -1)
echo "# peak memory $memory"
[ "${memory:-999999999}" -lt 600000000 ]
held "in bounded memory" $?
finish
