#!/bin/sh
# seen count --top, --quantiles and -m: bounds that hold, in memory that does not grow.
. "$(dirname "$0")/../tap.sh"

# A stream with a long tail: 300000 lines, some 60000 values.
perl -e 'srand 5; printf "u%d %.3f\n", exp(rand(11)), -log(1 - rand) * 50 for 1 .. 300000' >stream
cut -d' ' -f1 stream | sort | uniq -c | sort -k1,1nr -k2 | awk '{ print $1 "\t" $2 }' >truth
cat >bounds.pl <<'E2'
# Bounds hold, the values that are said to be certain are the most frequent, and what is
# not printed occurs no more often than the last that is, or than is said of the others.
($sure, $others, $got) = @ARGV;
open T, "truth"; while (<T>) { chomp; ($n, $v) = split /\t/; $true{$v} = $n; push @order, $n }
open G, $got; while (<G>) {
    chomp; ($low, $high, $v) = split /\t/;
    die "$v: $low <= $true{$v} <= $high?\n" unless $low <= $true{$v} && $true{$v} <= $high;
    die "$v is not among the first $sure\n" if $. <= $sure && $true{$v} < $order[$sure - 1];
    $printed{$v} = 1;
}
$most = $others > $high ? $others : $high;
$true{$_} <= $most || $printed{$_} || die "$_: $true{$_} times\n" for keys %true;
print scalar keys %printed, "\n";
E2
for memory in 16K 64K 256K; do
    seen count --top 50 -m $memory -k 1 stream >got 2>err
    sure=$(sed -n 's/.*the first \([0-9]*\) are certainly.*/\1/p' err)
    others=$(sed -n 's/.*no other value occurs more than \([0-9]*\) .*/\1/p' err)
    ok "--top 50 -m $memory says how sure it is" grep -q 'exact' err
    same "and the truth is within all bounds" 50 "$(perl bounds.pl "${sure:-50}" "${others:-0}" got)"
done
same "with counters to spare it is exact" "seen count: exact" \
    "$(seen count --top 20 -m 32M -k 1 stream 2>&1 >got)"
same "and what uniq -c says" "$(head -n 20 truth)" "$(cut -f2,3 got)"
same "fewer values than asked for" "$(printf '2\t2\tb\n1\t1\ta')" \
    "$(printf 'b\na\nb\n' | seen count -q --top 9)"
same "nothing in, nothing out" "" "$(seen count -q --top 3 </dev/null)"
printf 'x,"a,b"\ny,"a,b"\nz,c\n' >rows.csv
same "--csv, and a field" "$(printf '2\t2\ta,b')" "$(seen count -q --csv -k 2 --top 1 rows.csv)"
ok "two threads count the same" sh -c 'seen count -q --top 30 -j 2 -k 1 stream >j2 &&
    seen count -q --top 30 -k 1 stream | cmp - j2'
ok "--top --json is JSON" sh -c 'seen count --top 3 --json -k 1 stream |
    perl -MJSON::PP -0ne "\$j = decode_json(\$_); exit !(\$j->{lines} == 300000 && @{\$j->{top}} == 3
        && \$j->{top}[0]{at_least} <= \$j->{top}[0]{at_most})"'

# Quantiles: the rank of each answer in the sorted values.
cut -d' ' -f2 stream | sort -g >values
seen count --quantiles=0,1%,10%,0.25,0.5,0.75,90%,99%,99.9%,1 -k 2 stream >got 2>err
within=$(sed -n 's/.*within \([0-9.]*\)%.*/\1/p' err)
ok "the error of the ranks is stated: $within%" test -n "$within"
same "and every rank is within it" 10 "$(perl -e '
    open V, "values"; chomp(@v = <V>); $most = shift;
    while (<STDIN>) { ($q, $x) = /([\d.]+)%\t(\S+)/; $low = grep $_ < $x, @v; $high = grep $_ <= $x, @v;
        $n++ if 100 * $low / @v - $most <= $q && $q <= 100 * $high / @v + $most }
    print $n' "$within" <got)"
same "the ends are exact" "$(head -n 1 values) $(tail -n 1 values)" \
    "$(awk 'NR == 1 { a = $2 } END { printf "%.3f %.3f", a, $2 }' got)"
same "the usual ones" "0% 1% 5% 25% 50% 75% 95% 99% 100%" \
    "$(seen count -q --quantiles -k 2 stream | cut -f1 | tr '\n' ' ' | sed 's/ $//')"
same "few values are all kept" "seen count: every value was kept: the ranks are exact" \
    "$(seq 1 100 | seen count --quantiles=0.5 2>&1 >/dev/null)"
same "lines that are not numbers are counted" "seen count: 3 of 5 lines are not numbers and were left out" \
    "$(printf '1\nx\n\n2e0 \nnan\n' | seen count --quantiles 2>&1 >/dev/null | head -n 1)"
same "numbers as people write them" "$(printf '0%%\t-1500\n100%%\t1000000')" \
    "$(printf ' -1.5e3\n+7\n1e6\r\n' | seen count -q --quantiles=0,1)"
ok "--quantiles --json is JSON" sh -c 'seen count --quantiles --json -k 2 stream |
    perl -MJSON::PP -0ne "\$j = decode_json(\$_); exit !(\$j->{numbers} == 300000 && @{\$j->{quantiles}} == 9)"'
fails "no number at all" 2 'none of the lines is a number; -k N selects a field' \
    sh -c 'printf "a\nb\n" | seen count --quantiles'
fails "nothing at all" 2 'no numbers in the input' sh -c 'seen count --quantiles </dev/null'

# Distinct values in 16 KiB: 0.8% is one sigma.
true=$(wc -l <truth)
ok "-m 16K is within six sigma" sh -c "seen count -q -m 16K -k 1 stream |
    awk -v n=$true '{ off = \$1 / n - 1; exit !(off < 0.049 && off > -0.049) }'"
same "and says its error" "seen count: standard error 0.81%" "$(seen count -m 16K stream 2>&1 >/dev/null)"
same "few values are counted exactly" 1000 "$(seq 1 1000 | SEEN_SEED=1 seen count -q -m 1M)"
ok "-m --json is JSON" sh -c 'seen count -m 4K --json stream |
    perl -MJSON::PP -0ne "\$j = decode_json(\$_); exit !(\$j->{memory} < 5000 && \$j->{relative_error} > 0)"'

for c in "--top x" "--top 0" "--quantiles=2" "--quantiles=" "--quantiles=0.5;1" "--top 5 --quantiles" \
    "--top 5 -b 1" "--quantiles -e 0.1" "-m 1K -b 1" "--quantiles -m 1M" "--top 1000 -m 1K"; do
    fails "count $c is refused" 2 'seen count: ' seen count $c stream
done
finish
