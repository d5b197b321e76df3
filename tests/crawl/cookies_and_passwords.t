#!/bin/bash
# cookies_and_passwords.t - cookies only if asked for and kept over a resumed crawl; passwords
# to their own host only, and not in the archive.
. "$(dirname "$0")/lib.sh"
cat >"$dir/server.pl" <<'END'
# /gate sends to itself until it gets its cookie; every page tells the log what it was asked with.
use strict; use IO::Socket::INET;
my ($dir) = @ARGV; $SIG{PIPE} = 'IGNORE';
my $s = IO::Socket::INET->new(Listen => 64, LocalAddr => '0.0.0.0', ReuseAddr => 1) or die;
$| = 1; print $s->sockport, "\n";
open my $log, '>>', "$dir/asked"; $log->autoflush;
while (my $c = $s->accept) {
    my $in = '';
    while (1) {
        while ($in !~ /\r\n\r\n/) { my $k = sysread $c, $in, 4096, length $in; last if !$k }
        $in =~ s{^(GET (\S+).*?\r\n\r\n)}{}s or last;
        my ($head, $p) = ($1, $2);
        my ($host) = $head =~ /^Host: ([^:\r]*)/mi; my ($auth) = $head =~ /^Authorization: (\S+ \S+)/mi;
        my ($cookie) = $head =~ /^Cookie: (.*?)\r/mi; my ($x) = $head =~ /^X-Test: (.*?)\r/mi;
        print $log "$host $p auth=", $auth // '', " cookie=", $cookie // '', " x=", $x // '', "\n";
        my ($status, $more, $b) = ('200 OK', '', '');
        if ($p eq '/robots.txt') { $status = '404 no' }
        elsif ($p eq '/gate' && ($cookie // '') !~ /pass=open/) { $status = '302 gate'; $more = "Location: /gate\r\nSet-Cookie: pass=open; Path=/; Max-Age=3600\r\n" }
        elsif ($p eq '/loop') { $status = '302 loop'; $more = "Location: /loop\r\nSet-Cookie: n=" . int(rand 1e6) . "\r\n" }
        elsif ($p eq '/secret' && !$auth) { $status = '401 no'; $more = "WWW-Authenticate: Basic\r\n" }
        elsif ($p eq '/secret') { my $port = $s->sockport; $b = "<a href=/secret/1>x</a><a href=http://127.0.0.2:$port/other>x</a>" }
        elsif ($p eq '/gate') { $b = join '', map "<a href=/gate/$_>x</a>", 1 .. 5 }
        else { $b = "<p>fine $p" }
        syswrite $c, "HTTP/1.1 $status\r\nContent-Type: text/html\r\n${more}Content-Length: " . length($b) . "\r\nConnection: close\r\n\r\n$b";
        last;
    }
    close $c;
}
END
perl "$dir/server.pl" "$dir" >"$dir/port" &
pids="$pids $!"
until [ -s "$dir/port" ]; do sleep 0.05; done
port=$(cat "$dir/port")
cd "$dir" || exit 1
fast="--allow-private --delay 0 --quiet --retries 0"
asked() { grep -c "$1" "$dir/asked"; }

$crawl $fast "http://127.0.0.1:$port/gate" >"$dir/out"
same "without --cookies a page that waits for its cookie is named" "1 302 redirects redirects to itself; --cookies may help" \
    "$? $(cut -f2,7,8 "$dir/out" | tr '\t' ' ')"
same "and no cookie is sent" 0 "$(asked 'cookie=.*pass')"
for threads in 1 3; do # of which one gets the cookie and the others send it
    rm -rf "$dir/jar" "$dir/c"
    $crawl $fast -j $threads --cookies "$dir/jar" --dir "$dir/c" --max-pages 2 "http://127.0.0.1:$port/gate"
    same "with it the page is seen (-j $threads)" "200" "$($crawl --list "$dir/c" | sed -n '1p' | cut -f2)"
    same "the jar is in Netscape's form (-j $threads)" 1 \
        "$(grep -c "^127.0.0.1	FALSE	/	FALSE	[0-9]*	pass	open$" "$dir/jar")"
    : >"$dir/asked"
    $crawl --resume "$dir/c" --max-pages 0
    same "a resumed crawl sends the cookie from the first request on (-j $threads)" "0 4" \
        "$(grep -v 'pass=open' "$dir/asked" | grep -vc robots) $(grep -c '/gate/.*pass=open' "$dir/asked")"
done
$crawl $fast --cookies "$dir/jar" "http://127.0.0.1:$port/loop" >"$dir/out"
same "a page that sets cookies for ever ends" "302 redirects" "$(cut -f2,7 "$dir/out" | tr '\t' ' ')"
fails "--cookies where no file can be" 2 'No such file' $crawl $fast --cookies "$dir/no/jar" "http://127.0.0.1:$port/"

echo "127.0.0.1:$port me:secret word" >"$dir/auth"
: >"$dir/asked"
$crawl $fast --any-host --auth "$dir/auth" --header 'X-Test: yes: it is' --warc "$dir/a.warc.gz" \
    "http://127.0.0.1:$port/secret" >"$dir/out"
same "the password opens the page" "200 200 200" "$(cut -f2 "$dir/out" | xargs)"
same "it is the right one, for its host alone" "127.0.0.1 127.0.0.1 127.0.0.1" \
    "$(grep "auth=Basic $(printf 'me:secret word' | base64) " "$dir/asked" | cut -d' ' -f1 | xargs)"
same "the field of --header goes to all" 0 "$(grep -vc 'x=yes: it is$' "$dir/asked")"
same "the archive does not have the password" "0 2" \
    "$(gzip -dc "$dir/a.warc.gz" | grep -aci 'basic ') $(gzip -dc "$dir/a.warc.gz" | grep -ac '^Authorization: removed')"
same "the variable does the same" "200" \
    "$(SEEN_CRAWL_AUTH="127.0.0.1:$port a:b" $crawl $fast --max-pages 1 "http://127.0.0.1:$port/secret" | cut -f2)"
$crawl $fast --dir "$dir/o" --header 'X-Key: k' --max-pages 1 "http://127.0.0.1:$port/x" 
same "options that may hold a secret are for the owner only" 600 "$(stat -c %a "$dir/o/options")"
echo "no password" >"$dir/bad"
fails "a line without a password is named" 2 'line 1 is not of the form' $crawl $fast --auth "$dir/bad" "http://127.0.0.1:$port/"
fails "a field that is not one" 2 'not of the form' $crawl $fast --header 'no colon' "http://127.0.0.1:$port/"
fails "a field that the crawler writes itself" 2 'writes this field itself' $crawl $fast --header 'Host: x' "http://127.0.0.1:$port/"
finish
