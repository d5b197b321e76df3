#!/bin/sh
# setbit.t - a Redis bitmap filled bit by bit with SETBIT, as Python programs do, is the
# file we write, and the file we write answers GETBIT. Indices come from a second
# implementation of the hash, in Perl.
. "$(dirname "$0")/../tap.sh"
seen=$(command -v seen)
command -v redis-server >/dev/null && command -v redis-cli >/dev/null || {
    echo "1..0 # SKIP no redis-server"
    exit 0
}
# A socket of its own needs no free port.
redis-server --port 0 --unixsocket "$work/s" --save '' --appendonly no --dir "$work" \
    >redis.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; cd /; rm -rf "$work"' EXIT
cli() { redis-cli -s "$work/s" "$@"; }
tries=0
until cli ping >/dev/null 2>&1 || [ $((tries += 1)) -gt 600 ]; do sleep 0.1; done

# index KEY SEED M, one a line: mmh3.hash(key, seed) % m in Python.
cat >mmh3.pl <<'P'
use integer;
sub rotl { my ($x, $r) = @_; (($x << $r) | (($x & 0xffffffff) >> (32 - $r))) & 0xffffffff }
sub mul { ($_[0] * $_[1]) & 0xffffffff }
sub mmh3 {
    my ($key, $h) = @_;
    my $len = length $key;
    my @w = unpack 'V*', $key . "\0" x ((4 - $len % 4) % 4);
    for my $i (0 .. $#w) {
        my $k = mul(rotl(mul($w[$i], 0xcc9e2d51), 15), 0x1b873593);
        $h ^= $k;
        $h = (mul(rotl($h, 13), 5) + 0xe6546b64) & 0xffffffff if 4 * $i + 4 <= $len;
    }
    $h ^= $len;
    $h = mul($h ^ ($h >> 16), 0x85ebca6b);
    $h = mul($h ^ ($h >> 13), 0xc2b2ae35);
    $h ^= $h >> 16;
    return $h >= 2**31 ? $h - 2**32 : $h;    # signed, as mmh3.hash gives it
}
my ($m, @seeds) = @ARGV;
@ARGV = ();
while (<STDIN>) {
    chomp;
    for my $s (@seeds) {
        my $i = mmh3($_, $s) % $m;
        $i += $m if $i < 0;
        print "$i\n";
    }
}
P
m=10007
seq 1 300 | sed 's|^|https://example.org/page/|' >keys
seq 301 900 | sed 's|^|https://example.org/page/|' >others
perl mmh3.pl $m 3 7 11 13 <keys >bits
sed 's/.*/SETBIT python & 1/' bits | cli >/dev/null
cli --raw get python | head -c -1 >python.bin
same "SETBIT of $(wc -l <bits) indices" 1 "$(cli exists python)"
how="--format redis-bitmap:m=$m,seeds=3+7+11+13"
same "we find every key in it" 300 "$("$seen" has -c $how python.bin keys)"
"$seen" new --kind redis-bitmap:m=$m,seeds=3+7+11+13 ours.bin
"$seen" add $how ours.bin keys
ok "and write the very same string" cmp python.bin ours.bin

ok "added to by us" "$seen" add $how ours.bin others
cli -x set ours <ours.bin >/dev/null
perl mmh3.pl $m 3 7 11 13 <others | sed 's/.*/GETBIT ours &/' | cli | sort | uniq -c >got
same "GETBIT finds every bit of every key" "2400 1" "$(awk '{print $1, $2}' got)"
perl mmh3.pl $m 3 7 11 13 <others | sed 's/.*/SETBIT python & 1/' | cli >/dev/null
cli --raw get python | head -c -1 >python.bin
ok "and the same added by SETBIT is the same string" cmp python.bin ours.bin
kill $server
wait $server 2>/dev/null
finish
