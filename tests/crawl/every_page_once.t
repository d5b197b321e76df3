#!/bin/bash
# every_page_once.t - every page of a site exactly once, and nothing else.
. "$(dirname "$0")/lib.sh"
fast="--allow-private --delay 0 --quiet"

start_site --pages 3000
$crawl $fast "http://127.0.0.1:$port/" >"$dir/out"
same "a crawl that ends leaves with status 0" 0 $?
all_once "3,000 pages of one host, each asked once"
same "one line for each page and for the redirect before them" 3001 "$(wc -l <"$dir/out")"
same "no page is listed twice" 0 "$(cut -f1 "$dir/out" | sort | uniq -d | wc -l)"
stop_site

start_site --pages 2000 --hosts 7 --spell
hosts=$(for h in 2 3 4 5 6 7; do echo "--host 127.0.0.$h:$port"; done)
$crawl $fast --per-host 3 $hosts "http://127.0.0.1:$port/p/0.html" >"$dir/out"
all_once "14 spellings, 7 hosts, redirects: each page and redirect once"
stop_site

# Threads: the same pages, and no more connections than one thread has.
start_site --pages 2000 --hosts 7 --spell
$crawl $fast --any-host --per-host 1 "http://127.0.0.1:$port/p/0.html" | cut -f1,2,3,5 | sed "s/:$port//" | sort >"$dir/one"
stop_site
start_site --pages 2000 --hosts 7 --spell
$crawl $fast -j 3 --any-host --per-host 1 "http://127.0.0.1:$port/p/0.html" | cut -f1,2,3,5 | sed "s/:$port//" | sort >"$dir/three"
all_once "-j 3: each page and redirect once"
same "-j 3: the same lines as with one thread" "$(md5sum <"$dir/one")" "$(md5sum <"$dir/three")"
same "--per-host 1 is one connection to each of seven hosts" 7 "$(report | sed -n 's/.*connections \([0-9]*\).*/\1/p')"
stop_site
start_site --pages 500 --wait 20
$crawl $fast -j 2 --per-host 50 --dir "$dir/j" "http://127.0.0.1:$port/p/0.html" &
pid=$!
until_answered 100 $pid
kill -INT $pid
kill -INT $pid
wait $pid
same "-j 2: two Ctrl-C end it at once, and in order" 130 $?
$crawl --resume "$dir/j" -j 3
same "and any number of threads goes on" 0 $?
same "to all pages, each once" "500 500" "$($crawl --list "$dir/j" | cut -f1 | sort -u | wc -l) $($crawl --list "$dir/j" | wc -l)"
stop_site

start_site --pages 2000 --hosts 3 --spell
$crawl $fast --expect 100 --any-host --per-host 2 "http://127.0.0.1:$port/p/0.html" >"$dir/out"
all_once "far more addresses than expected: the seen-set is made anew from the log"
stop_site

start_site --pages 2000 --hosts 3 --spell
$crawl $fast --exact --any-host --per-host 2 "http://127.0.0.1:$port/p/0.html" >"$dir/out"
all_once "the same with exact fingerprints, anywhere"
stop_site

start_site --pages 2000 --hosts 3 --spell
$crawl $fast "http://127.0.0.1:$port/p/0.html" >"$dir/out"
same "without --host or --domain only the seed's host is asked" 0 \
    "$(cut -f1 "$dir/out" | grep -vc "^http://127.0.0.1:$port/")"
same "and no other was" 1 "$(report | grep -c 'outside 0')"
stop_site

start_site --pages 300 --hosts 5
{ echo "# where to begin"; echo; for h in 1 2 3; do printf '  127.0.0.%s:%s/p/%s.html\r\n' $h "$port" $((h - 1)); done; } >"$dir/seeds"
$crawl $fast --depth 0 -i "$dir/seeds" "http://127.0.0.4:$port/q?id=3&s=0" | cut -f1 | sort >"$dir/out"
same "--seeds: the lines of a file, and what stands on the command line" \
    "http://127.0.0.1/p/0.html http://127.0.0.2/p/1.html http://127.0.0.3/p/2.html http://127.0.0.4/q?id=3&s=0" \
    "$(sed 's/:[0-9]*//2' "$dir/out" | xargs)"
$crawl $fast --depth 0 --seeds - <"$dir/seeds" | cut -f1 | sort | cmp -s - <(head -3 "$dir/out")
held "--seeds -: from standard input" $?
$crawl $fast -d "$dir/s" --max-pages 1 --seeds "$dir/seeds" >"$dir/log" 2>&1 && rm "$dir/seeds" &&
    $crawl --resume "$dir/s" --max-pages 0 --quiet --host-pages 5 >"$dir/log" 2>&1
same "a resumed crawl knows them and their hosts, whatever became of the file" \
    "5 //127.0.0.1 5 //127.0.0.2 5 //127.0.0.3" \
    "$($crawl --list "$dir/s" | awk -F'\t' '$2 == 200 { print $1 }' | cut -d: -f2 | sort | uniq -c | xargs)"
same "a file that is not there is named" \
    "seen crawl: --seeds $dir/none: No such file or directory" \
    "$($crawl $fast -i "$dir/none" 2>&1)"
printf 'http://127.0.0.1/\nhttp://127.0.0.1/\0x\n' >"$dir/seeds"
same "and a line that cannot be one" \
    "seen crawl: $dir/seeds: line 2 holds a NUL, so it is not a URL" \
    "$($crawl $fast -i "$dir/seeds" 2>&1)"
stop_site

# Pages within three links, by breadth-first search over the formula.
near=$(perl -e 'my ($n, $l, $max) = (3000, 12, 3); my %d = (0 => 0); my @q = (0);
    while (defined(my $i = shift @q)) { next if $d{$i} == $max;
        for my $k (0 .. $l - 1) { my $j = $k < 3 ? 3 * $i + 1 + $k : ($i * 31 + $k * $k * 97 + 7) % $n;
            next if $j >= $n || exists $d{$j}; $d{$j} = $d{$i} + 1; push @q, $j } }
    print join "\n", map { $_ . "\t" . $d{$_} } sort { $a <=> $b } keys %d')
start_site --pages 3000 --hosts 5
$crawl $fast --any-host --per-host 3 --depth 3 "http://127.0.0.1:$port/p/0.html" >"$dir/out"
same "--depth 3: the pages within three links, each with its least depth" "$near" \
    "$(perl -ne 'm{(?:/p/|id=)(\d+)\S*\t200\t\S+\t(\d+)\t} and print "$1\t$2\n"' "$dir/out" | sort -n)"
$crawl $fast --any-host --max-pages 100 "http://127.0.0.1:$port/p/0.html" >"$dir/out"
same "--max-pages 100 stops after exactly 100" 100 "$(wc -l <"$dir/out")"
$crawl $fast --any-host --host-pages 10 "http://127.0.0.1:$port/p/0.html" >"$dir/out"
same "--host-pages 10: ten of each of five hosts" 50 \
    "$(awk -F'\t' '$2 == 200' "$dir/out" | wc -l)"
$crawl $fast --any-host --include '/p/[0-9]*[02468]\.html$' --exclude '/p/1' \
    "http://127.0.0.1:$port/p/0.html" >"$dir/out"
same "--include and --exclude pick addresses" 0 \
    "$(cut -f1 "$dir/out" | grep -cvE '/p/[02-9][0-9]*[02468]\.html$|/p/[02468].html$')"
[ "$(wc -l <"$dir/out")" -gt 100 ]
held "and leave many" $?
$crawl $fast --host "127.0.0.2:$port" --json --out "$dir/out" "http://127.0.0.1:$port/p/0.html" \
    >"$dir/json"
same "--json counts what was done" "1200 1200 2 0 1200 1" \
    "$(perl -MJSON::PP -e 'local $/; my $j = decode_json(<>); print join " ", $j->{pages},
    $j->{fetched}, $j->{hosts}, $j->{queued}, $j->{status}{"2xx"}, $j->{finished} ? 1 : 0' \
    "$dir/json")"
stop_site

start_site --pages 200 --spell --odd
seed="http://127.0.0.1:$port/p/0.html"
$crawl $fast --retries 2 --retry-wait 0.02 --max-body 1M --sitemaps \
    "$seed" >"$dir/out"
all_once "traps, loops, rules, broken, slow and endless answers, sitemaps" '?sitemaps'
same "each failure has its name" "3 broken 2 redirects 2 robots 2 truncated" \
    "$(awk -F'\t' '$7 != "" { print $7 }' "$dir/out" | sort | uniq -c | xargs)"
same "and its reason" \
    "0 broken Content-Length contradicts itself
200 broken the packed body ends too early
307 redirects redirects to itself; --cookies may help" \
    "$(awk -F'\t' '$1 ~ /cutzip$|twolengths|self$/ { print $2, $7, $8 }' "$dir/out" | sort)"

# Private addresses: by number, by name, by spelling.
for where in "http://127.0.0.1:$port/" "http://0x7f.1:$port/" "http://inner.example:$port/" \
    "http://[::ffff:127.0.0.1]:$port/" "http://localhost:$port/"; do
    before=$(report | sed -n 's/.*answered //p')
    $crawl --delay 0 --quiet --retries 0 --resolve "inner.example:$port:127.0.0.1" \
        --no-robots "$where" >"$dir/out"
    same "without --allow-private, ${where%%:"$port"*} is not connected to" \
        "0	private $before" \
        "$(cut -f2,7 "$dir/out") $(report | sed -n 's/.*answered //p')"
done
same "(the site was there to be asked)" 1 "$(echo "${before:-none}" | grep -c '^[0-9]')"
stop_site

start_site --pages 300 --spell
$crawl $fast --domain --resolve "a.example.com:$port:127.0.0.1" \
    --resolve "b.a.example.com:$port:127.0.0.1" --max-pages 3 "http://a.example.com:$port/" >"$dir/out"
same "a name that --resolve knows; links elsewhere stay elsewhere" 2 "$(wc -l <"$dir/out")"

# Wrong use is told at once, not page by page.
while IFS='|' read -r words said; do
    # shellcheck disable=SC2086
    $crawl $words "http://127.0.0.1:$port/p/0.html" >"$dir/out" 2>"$dir/err"
    same "$words: $said" "2 1 0" "$? $(grep -c -- "$said" "$dir/err") $(wc -l <"$dir/out")"
done <<END
--resolve nonsense|not of the form HOST:PORT:ADDRESS
--resolve a.example:80:b.example|not of the form HOST:PORT:ADDRESS
--resolve a.example:80:1.2.3|is not an address
--timeout 0|not seconds from 0.001
--lease 0|not seconds from 1
--depth -1|not a number from 0
--include (|pattern
--engine curl|unknown option
--domain 127.0.0.1|--domain takes no name
--domain=x|takes no value
ftp://a.example/|only http and https
END

# Outputs.
$crawl $fast --out "$dir/pages" --jsonl --links "$dir/links" --warc "$dir/a.warc.gz" \
    --bodies "$dir/bodies" "http://127.0.0.1:$port/p/0.html"
same "--jsonl: 300 objects, each body in its file" 300 \
    "$(perl -MJSON::PP -ne 'my $j = decode_json($_); $n++ if $j->{status} == 200 && $j->{url} =~ m{^http}
    && $j->{type} eq "text/html" && -s "'"$dir/bodies/"'$j->{body}" == $j->{size};
    END { print $n }' "$dir/pages")"
same "--links: from, to, kind" 0 "$(awk -F'\t' 'NF != 3' "$dir/links" | wc -l)"
pages=$(wc -l <"$dir/pages")
same "--warc: a request and a response for each page" \
    "request=$pages response=$pages warcinfo=1" \
    "$(gzip -dc "$dir/a.warc.gz" | perl -e 'local $/; $_ = <>; my %n;
    while (/\GWARC\/1\.1\r\n(.*?)\r\n\r\n/gcs) { my $h = $1; my ($l) = $h =~ /^Content-Length: (\d+)/m;
        my ($t) = $h =~ /^WARC-Type: (\w+)/m; $n{$t}++; my $b = substr $_, pos, $l;
        if ($t eq "response") { my ($cl) = $b =~ /^Content-Length: (\d+)/mi; my ($body) = $b =~ /\r\n\r\n(.*)/s;
            $n{bad}++ if $cl != length $body }
        pos = pos() + $l; /\G\r\n\r\n/gc or last }
    $n{rest}++ if pos != length; print join " ", map { "$_=$n{$_}" } sort keys %n')"
members=$(perl -MIO::Uncompress::Gunzip -e 'my $z = IO::Uncompress::Gunzip->new(shift); my $n = 1;
    do { 1 while $z->read(my $b, 65536) > 0 } while $z->nextStream() == 1 && ++$n; print $n' "$dir/a.warc.gz")
same "and each record is a gzip member of its own" $((2 * pages + 1)) "$members"
if command -v bsdtar >/dev/null; then
    # libarchive knows the format as 1.0, which differs in the precision of dates only,
    # and reads heads within its first 64 KiB.
    $crawl $fast --max-pages 9 --warc "$dir/b.warc.gz" "http://127.0.0.1:$port/p/0.html" >"$dir/out"
    gzip -dc "$dir/b.warc.gz" | sed 's/^WARC\/1\.1/WARC\/1.0/' >"$dir/b.warc"
    same "bsdtar lists each page of an archive" 9 "$(bsdtar -tf "$dir/b.warc" | wc -l)"
fi
stop_site
finish
