#!/bin/bash
# archive_index.t - the index of an archive leads to each page, over rotated files and kill -9.
. "$(dirname "$0")/lib.sh"
RANDOM=3
# A reader of its own: each line of the index leads to a gzip member that is a response for
# its URL; each file begins with a warcinfo that names it; all files are whole.
cat >"$dir/check.pl" <<'END'
use strict; use JSON::PP; use IO::Uncompress::Gunzip qw(gunzip $GunzipError);
my ($index) = @ARGV; my ($dir) = $index =~ m{(.*)/}; my (%n, %seen, %files);
open my $i, '<', $index or die;
while (<$i>) {
    my ($key, $time, $json) = /^(\S+) (\d{14}) (\{.*\})$/ or ($n{bad_line}++, next);
    my $j = decode_json($json); $files{$j->{filename}}++;
    open my $f, '<', "$dir/$j->{filename}" or ($n{no_file}++, next);
    seek $f, $j->{offset}, 0; read($f, my $z, $j->{length}) == $j->{length} or ($n{short}++, next);
    my $out; gunzip \$z => \$out or ($n{bad_member}++, next);
    my ($head, $body) = split /\r\n\r\n/, $out, 2;
    $head =~ /^WARC\/1\.1\r\n/ && $head =~ /^WARC-Type: response/m && $head =~ /^WARC-Target-URI: \Q$j->{url}\E\r?$/m or $n{wrong}++;
    $body =~ /^HTTP\/1\.1 $j->{status} / or $n{status}++;
    $key =~ /^127\.0\.0\.\d+:\d+\)\// or $n{key}++;
    $n{$seen{$j->{url}}++ ? 'twice' : 'pages'}++;
}
for my $name (sort keys %files) {
    my $z = IO::Uncompress::Gunzip->new("$dir/$name", MultiStream => 1); local $/; my $all = <$z>;
    $all =~ /^WARC\/1\.1\r\nWARC-Type: warcinfo.*?\r\nWARC-Filename: \Q$name\E\r\n/s or $n{no_info}++;
    my $pos = 0; while ($pos < length $all) {
        substr($all, $pos) =~ /^(WARC\/1\.1\r\n.*?\r\n\r\n)/s or ($n{torn}++, last); my $h = $1;
        my ($len) = $h =~ /^Content-Length: (\d+)/m; $n{responses}++ if $h =~ /^WARC-Type: response/m;
        $pos += length($h) + $len; substr($all, $pos, 4) eq "\r\n\r\n" or ($n{torn}++, last); $pos += 4 }
}
print join ' ', map("$_=$n{$_}", sort keys %n), "\n";
print STDERR scalar keys %files, "\n";
END
fast="--allow-private --delay 0 --quiet"
start_site --pages 400
mkdir "$dir/w"
$crawl $fast --out "$dir/pages" --warc "$dir/w/a.warc.gz" "http://127.0.0.1:$port/p/0.html"
same "one file: each page is where the index says" "pages=400 responses=400 " "$(perl "$dir/check.pl" "$dir/w/a.cdxj" 2>"$dir/files")"
same "in one file" 1 "$(cat "$dir/files")"
rm "$dir/w"/*
$crawl $fast --out "$dir/pages" --warc "$dir/w/a.warc.gz" --warc-size 50K "http://127.0.0.1:$port/p/0.html"
same "--warc-size: each page is where the index says" "pages=400 responses=400 " "$(perl "$dir/check.pl" "$dir/w/a.cdxj" 2>"$dir/files")"
[ "$(cat "$dir/files")" -gt 4 ]
held "in several files ($(cat "$dir/files"))" $?
big=$(find "$dir/w" -name '*.gz' -size +60k | wc -l)
same "none of them much larger than asked for" 0 "$big"
stop_site

# Killed again and again: the archive and its index agree.
start_site --pages 1500 --hosts 3 --wait 2
rm "$dir/w"/*
$crawl $fast --any-host --per-host 6 --dir "$dir/c" --out "$dir/pages2" --warc "$dir/w/a.warc.gz" --warc-size 60K "http://127.0.0.1:$port/p/0.html" &
until [ -e "$dir/c/options" ] || ! kill -0 $!; do sleep 0.01; done
for _ in 1 2 3 4 5 6 7 8; do
    pid=$!
    sleep "0.0$((RANDOM % 90 + 10))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    $crawl --resume "$dir/c" 2>>"$dir/err" &
done
wait $!
same "killed eight times: every page once, and all files whole" "pages=1500 responses=1500 " \
    "$(perl "$dir/check.pl" "$dir/w/a.cdxj" 2>"$dir/files")"
same "no file that the index does not know" "$(cat "$dir/files")" "$(find "$dir/w" -name 'a*.warc.gz' | wc -l)"
stop_site
finish
