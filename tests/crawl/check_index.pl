#!/usr/bin/perl
# check_index.pl - a reader of its own for archives: each line of the index, which is sorted,
# leads to a gzip member that is a response for its URL, with digests that hold; each file
# begins with a warcinfo that names it; all files are whole. Prints what it counted, and on
# standard error the number of files.
use strict; use JSON::PP; use Digest::SHA qw(sha1); use IO::Uncompress::Gunzip qw(gunzip $GunzipError);
# SHA-1 in base32, by another hand.
sub name { my $b = unpack 'B*', sha1($_[0]); join '', 'sha1:', map { ('A' .. 'Z', 2 .. 7)[oct "0b$_"] } $b =~ /(.{5})/g }
my ($index) = @ARGV; my $last = ''; my ($dir) = $index =~ m{(.*)/}; my (%n, %seen, %files);
open my $i, '<', $index or die;
while (<$i>) {
    $n{order}++ if $_ lt $last; $last = $_;
    my ($key, $time, $json) = /^(\S+) (\d{14}) (\{.*\})$/ or ($n{bad_line}++, next);
    my $j = decode_json($json); $files{$j->{filename}}++;
    open my $f, '<', "$dir/$j->{filename}" or ($n{no_file}++, next);
    seek $f, $j->{offset}, 0; read($f, my $z, $j->{length}) == $j->{length} or ($n{short}++, next);
    my $out; gunzip \$z => \$out or ($n{bad_member}++, next);
    my ($head, $body) = split /\r\n\r\n/, $out, 2;
    $head =~ /^WARC\/1\.1\r\n/ && $head =~ /^WARC-Type: response/m && $head =~ /^WARC-Target-URI: \Q$j->{url}\E\r?$/m or $n{wrong}++;
    my ($block) = $head =~ /^WARC-Block-Digest: (\S+)/m; my ($payload) = $head =~ /^WARC-Payload-Digest: (\S+)/m;
    my $all = substr $body, 0, -4; my ($inner) = $all =~ /\r\n\r\n(.*)/s;
    $block eq name($all) or $n{block_digest}++;
    $payload eq name($inner) && $payload eq $j->{digest} or $n{payload_digest}++;
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
