#!/bin/bash
# report_file.t - --report: one page that needs nothing else, with the numbers of --list.
. "$(dirname "$0")/lib.sh"
cd "$dir" || exit 1
# The tables of a report as lines: table, name, number.
cat >"$dir/tables.pl" <<'END'
local $/; $_ = <>;
while (m{<table id="(\w+)">(.*?)</table>}sg) { my ($id, $rows) = ($1, $2);
    while ($rows =~ m{<tr><t[hd]>([^<]*)</t[hd]><td>([^<]*)</td>(?:<td>([^<]*)</td>)?}g) {
        my @c = ($id, $1, $2, $3); pop @c if $id !~ /busiest|failing/; s/(?<=\d),(?=\d)//g for @c; print join("\t", @c), "\n" } }
END
tables() { perl "$dir/tables.pl" "$1" | sort; }
# The same from the lines of --list.
cat >"$dir/count.pl" <<'END'
while (<>) { chomp; my ($u, $s, $t, $d, $z, $r, $n, $w, $same) = split /\t/, $_, -1; $p++;
    if ($n =~ /^(new|changed|gone|unchanged)$/) { $c{"summary\t$n"}++; $n = '' }
    $c{"depths\t$d"}++; my ($h) = $u =~ m{^(\w+://[^/]*)}; $hosts{$h}[$n ne '']++;
    $same{$same}++ if $same ne '';
    if ($n eq '') { $c{"statuses\t$s"}++; $c{"types\t" . ($t || '(none)')}++ } else { $c{"failures\t$n"}++ } }
print "summary\tpages done\t$p\nsummary\thosts\t", scalar keys %hosts, "\n";
print "$_\t$c{$_}\n" for keys %c;
my @t = sort { $same{$b} <=> $same{$a} } keys %same; print "texts\t$_\t", $same{$_} + 1, "\n" for @t[0 .. ($#t < 19 ? $#t : 19)];
for (keys %hosts) { my ($ok, $bad) = map $_ + 0, @{$hosts{$_}}[0, 1];
    print "busiest\t$_\t$ok\t$bad\n" if $ok; print "failing\t$_\t$ok\t$bad\n" if $bad }
END
listed() { $crawl --list "$1" | perl "$dir/count.pl" | sort; }
matches() { # words, folder, file
    same "$1" "$(listed "$2")" "$(tables "$3" | grep -vE '^slowest|nothing new|addresses found|waiting|bytes|first page|latest page')"
}
start_site --pages 600 --hosts 4 --spell
$crawl --allow-private --delay 0 --per-host 4 --any-host --retries 0 --quiet --max-pages 300 --dir "$dir/c" \
    "http://127.0.0.1:$port/p/0.html" http://127.0.0.9:1/
$crawl --report "$dir/c" 2>"$dir/err"
same "it says where it is" "seen crawl: $dir/c/report.html: $($crawl --list "$dir/c" | wc -l) pages" "$(cat "$dir/err")"
matches "of an unfinished crawl, every number is that of --list" "$dir/c" "$dir/c/report.html"
$crawl --resume "$dir/c" --max-pages 0 --quiet
$crawl --report "$dir/c" -o "$dir/r.html" --quiet
matches "and of a finished one, in a file of another name" "$dir/c" "$dir/r.html"
same "where nothing waits" 0 "$(tables "$dir/r.html" | sed -n 's/.*waiting\t//p')"
$crawl --report "$dir/c" -o - >"$dir/out" 2>&1
cmp -s "$dir/r.html" "$dir/out"
held "-o - writes the same to standard output, and nothing else" $?
same "it has plots" "pages done and addresses found,pages per second,Status codes,Depth,Types,mean milliseconds of an answer" \
    "$(grep -o '<svg[^>]*><title>[^<]*' "$dir/r.html" | sed 's/.*>//' | paste -sd,)"
same "the lines end at their totals" "" "$(perl -0777 -ne 'for my $k (0, 1) { /class="line$k"[^>]*points="([^"]*)"/; my @y = map { (split /,/)[1] } split " ", $1;
    for (1 .. $#y) { print "falls\n" if $y[$_] > $y[$_ - 1] } }' "$dir/r.html")"
same "no scripts, nothing from elsewhere" 0 "$(grep -ciE '<script|<img|<link|src=|url\(|href' "$dir/r.html")"
same "it is well-formed" "" "$(perl -0777 -ne 's/<!DOCTYPE html>//; s/<meta[^>]*>//g;
    while (m{<(/?)([a-z0-9]+)[^>]*?(/?)>}g) { next if $3; if (!$1) { push @o, $2 } else { my $t = pop @o; print "$2 closes $t\n" if $t ne $2 } }
    print "open: @o\n" if @o' "$dir/r.html")"
# While the crawl runs, and after another round.
$crawl --again "$dir/c" --quiet --delay 0.05 &
pid=$!
pids="$pids $pid"
sleep 0.5
$crawl --report "$dir/c" --quiet
same "while it is crawled, too" 0 $?
kill -9 $pid
wait $pid 2>/dev/null
$crawl --report "$dir/c" --quiet
matches "in the middle of another round, each page counts once" "$dir/c" "$dir/c/report.html"
stop_site

cp "$dir/r.html" "$dir/keep.html"
printf 'x' | dd of="$dir/c/frontier.log" bs=1 seek=600 conv=notrunc 2>/dev/null
fails "a damaged log is refused" 2 'damaged' $crawl --report "$dir/c" -o "$dir/r.html"
cmp -s "$dir/keep.html" "$dir/r.html"
held "and the report that was there stays" $?
fails "a folder without a crawl is named" 2 "$dir: No such file|$dir/none/frontier.log: No such file" $crawl --report "$dir/none" -o "$dir/x.html"
[ ! -e "$dir/x.html" ]
held "and no file is made" $?
fails "a place that cannot be written is named" 2 '/proc/report.html: ' $crawl --report "$dir/c" -o /proc/report.html
finish
