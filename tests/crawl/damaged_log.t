#!/bin/bash
# damaged_log.t - a damaged log is refused and left alone; --repair keeps a copy, saves every
# good batch, and the crawl goes on to all of its pages.
. "$(dirname "$0")/lib.sh"
RANDOM=5
fast="--allow-private --delay 0 --quiet"
start_site --pages 120 --wait 1
# Several runs, so that there are several batches whatever the speed of the machine.
$crawl $fast --dir "$dir/t" --out "$dir/pages" --warc "$dir/a.warc.gz" --max-pages 10 "http://127.0.0.1:$port/p/0.html"
for n in 20 30 40 50 60 70 80 90 100 110 0; do $crawl --resume "$dir/t" --max-pages $n; done
same "a crawl in twelve runs (an option given with --resume does not stick)" 120 \
    "$($crawl --list "$dir/t" | wc -l)"
size=$(stat -c %s "$dir/t/frontier.log")
cp -r "$dir/t" "$dir/u"
total=$($crawl --repair "$dir/u" 2>&1 | sed -n 's/.*: \([0-9]*\) good batches saved, 0 holes, 0 bytes lost.*/\1/p')
[ "${total:-0}" -ge 12 ]
held "--repair of a good log saves its $total batches" $?
cmp -s "$dir/t/frontier.log" "$dir/u/frontier.log"
held "and changes nothing" $?
rm -r "$dir/u"

# trial WORDS COMMAND...: damages a copy by COMMAND, which gets the file's name.
refused=0 lost=0 changed=0 nocopy=0 pages=0 torn=0 trials=0
trial() {
    least=$1
    shift
    trials=$((trials + 1))
    rm -rf "$dir/u"
    cp -r "$dir/t" "$dir/u"
    log=$dir/u/frontier.log
    sed -i "s|$dir/pages|$dir/u/pages|; s|$dir/a.warc|$dir/u/a.warc|" "$dir/u/options"
    cp "$dir/pages" "$dir/a.warc.gz" "$dir/a.cdxj" "$dir/u"
    "$@" "$log"
    cp "$log" "$dir/before"
    if $crawl --resume "$dir/u" --max-pages 0 2>"$dir/err"; then
        torn=$((torn + 1))
    else
        grep -q 'damaged (bytes [0-9]* to [0-9]*).*--repair' "$dir/err" && refused=$((refused + 1))
        cmp -s "$log" "$dir/before" && cmp -s "$dir/pages" "$dir/u/pages" &&
            cmp -s "$dir/a.warc.gz" "$dir/u/a.warc.gz" || changed=$((changed + 1))
        $crawl --repair "$dir/u" 2>"$dir/err"
        saved=$(sed -n 's/.*: \([0-9]*\) good batches saved.*/\1/p' "$dir/err")
        [ "${saved:-0}" -ge "$least" ] || { lost=$((lost + 1)); echo "# $*: $(cat "$dir/err")"; }
        cmp -s "$log.damaged.1" "$dir/before" || nocopy=$((nocopy + 1))
        $crawl --resume "$dir/u" --max-pages 0 || echo "# $*: does not go on"
    fi
    [ "$($crawl --list "$dir/u" | cut -f1 | sort -u | wc -l)" = 120 ] && [ "$(cut -f1 "$dir/u/pages" | sort -u | wc -l)" = 120 ] ||
        { pages=$((pages + 1)); echo "# $*: $($crawl --list "$dir/u" | wc -l) pages"; }
}
flip() { perl -e 'my ($at, $bit, $f) = @ARGV; open my $h, "+<", $f; seek $h, $at, 0; read $h, my $c, 1;
    seek $h, $at, 0; print $h chr(ord($c) ^ 1 << $bit)' "$@"; }
zero() { dd if=/dev/zero of="$3" bs=1 seek="$1" count="$2" conv=notrunc 2>/dev/null; }
for _ in $(seq 40); do trial $((total - 1)) flip $(((RANDOM * 32768 + RANDOM) % size)) $((RANDOM % 8)); done
for at in 0 8 16 33 40 44 48 56; do trial $((total - 1)) flip $at 3; done
for _ in 1 2 3 4 5 6; do trial $((total - 4)) zero $((RANDOM % (size - 600))) 200; done
trial $((total - 3)) zero 0 100
echo "# $trials trials, $refused refused, $torn taken for an interrupted write"
same "each flip and each run of zeros is refused with its place, or is in the last batch" \
    $trials \
    $((refused + torn))
[ $refused -gt 40 ]
held "(most of them are refused)" $?
same "a refused log, its output and its archive stay as they are" 0 $changed
same "--repair keeps the damaged log" 0 $nocopy
same "--repair saves every batch that is good" 0 $lost
same "and a resumed crawl comes to all pages" 0 $pages
stop_site
finish
