#!/bin/sh
# What goes wrong is told in one line with status 2, and nothing is lost by it. Also the
# faults of other tools, which here must be impossible.
. "$(dirname "$0")/../tap.sh"
root=$([ "$(id -u)" = 0 ] && echo yes)

printf 'a\nb\na\n' >in
mkdir folder
seen new f.seen
seen new -n 100 --kind set members.seen

# Inputs.
for c in "uniq" "uniq -x" "add f.seen" "has f.seen" "rm members.seen" "sort" "count" \
    "uniq -j 2" "uniq --against in"; do
    fails "$c: a missing file" 2 'nowhere: No such file' seen $c nowhere
    fails "$c: a folder" 2 'folder: Is a directory' seen $c folder
    fails "$c: a wrong option" 2 "unknown option '--wrong'.*--help" seen $c --wrong
done
ok "a missing file among others costs no output" \
    sh -c 'test -z "$(seen uniq in nowhere 2>/dev/null)"'
if [ "$root" ]; then
    skip "root may read everything"
else
    printf x >secret && chmod 0 secret
    fails "an unreadable file" 2 'secret: Permission denied' seen uniq secret
fi
perl -e 'srand 13; print int(rand 1e9), "\n" for 1 .. 20000' | gzip >whole.gz
head -c 30000 whole.gz >cut.gz
fails "gzip data that end in the middle" 2 'cut.gz: gzip data end' seen uniq cut.gz
(head -c 20000 whole.gz; printf 'damage'; tail -c +20007 whole.gz) >bad.gz
fails "damaged gzip data" 2 'bad.gz: gzip data' seen uniq bad.gz
fails "the same with threads" 2 'bad.gz: gzip data' seen uniq -j 2 bad.gz
fails "the same exactly" 2 'bad.gz: gzip data' seen uniq -x bad.gz
for tool in zstd bzip2 xz lz4; do
    command -v $tool >/dev/null && seen --version | grep -q "^unpacks:.* $tool" || continue
    gzip -dc whole.gz | $tool -qc >whole.$tool
    head -c 30000 whole.$tool >cut.$tool
    fails "$tool data that ends in the middle" 2 "cut.$tool: $tool data ends" seen uniq cut.$tool
    (head -c 20000 whole.$tool; printf 'damage'; tail -c +20007 whole.$tool) >bad.$tool
    fails "damaged $tool data" 2 "bad.$tool: $tool data (is damaged|needs more)" seen uniq bad.$tool
done
# Something else behind the compressed data: these are whole, and delivered to the last line.
for tool in gzip zstd bzip2 xz lz4; do
    command -v $tool >/dev/null && seen --version | grep -q "^unpacks:.* $tool" || continue
    for rest in oops '\037' '(\265' 'BZh9' '<!-- html -->'; do
        { printf 'a\nb\n' | $tool -qc; printf 'b\nc' | $tool -qc; printf "$rest"; } >more.$tool
        for way in "uniq" "uniq -j 2" "uniq -x" "uniq --csv"; do
            fails "$way: '$rest' behind $tool data" 2 "more.$tool: trailing garbage after the compressed data" \
                seen $way more.$tool
            [ "$way" = "uniq -x" ] || same "every line before it is printed" "a b c" "$(tr '\n' ' ' <out | sed 's/ $//')"
        done
    done
done
{ printf '{"text":"one two three"}\n' | gzip -c; echo oops; } >docs.gz
fails "in seen dedup" 2 'docs.gz: trailing garbage' seen dedup docs.gz
{ gzip -c <f.seen; echo oops; } >filter.gz
fails "behind a filter" 2 'standard input: trailing garbage|trailing garbage' sh -c 'seen has - in <filter.gz'
if command -v zstd >/dev/null; then
    seq 1 1000 | zstd -q --long=31 -c >long.zst
    memory=$(awk '/^MemTotal/ { print int($2 / 1024 / 1024) }' /proc/meminfo)
    if [ "$memory" -ge 5 ]; then
        same "a zstd window of 2 GB is unpacked" 1000 "$(seen uniq long.zst 2>said | wc -l)"
        ok "with a word about the memory" grep -qx 'seen uniq: long.zst: zstd data that takes 2.1 GB to unpack' said
        same "which -q leaves out" "" "$(seen uniq -q long.zst 2>&1 >/dev/null)"
    else
        fails "a zstd window that the machine cannot hold" 2 'long.zst: zstd data that takes 2.1 GB.*more than half' \
            seen uniq long.zst
    fi
    fails "a zstd window without memory for it" 2 'long.zst: zstd data needs more memory to unpack' \
        sh -c 'ulimit -v 1500000; seen uniq long.zst'
fi
printf '1,"never closed\n' >open.csv
fails "a quote that is never closed" 2 'open.csv: line 1: a quote is opened and never closed' \
    seen uniq --csv -k 1 open.csv

# Outputs.
for c in "uniq in" "uniq -x in" "has -v f.seen in" "sort numbers" "count in" "info f.seen" \
    "plan -n 1000" "uniq --help" "--help" "help --man uniq" "compare -n 100"; do
    seq 1 9 >numbers
    fails "$c: a full disk" 2 'No space left' sh -c "seen $c >/dev/full"
done
fails "-o to a full device" 2 '/dev/full: No space left' seen uniq -o /dev/full in
fails "-D to a full device" 2 '/dev/full: No space left' seen uniq -D /dev/full in
fails "-o into a missing folder" 2 'nowhere/x: No such file' seen uniq -o nowhere/x in
fails "-o to a folder" 2 'folder: Is a directory' seen uniq -o folder in
for two in "-o both -D both" "-o both -s ./both" "-D both -s folder/../both" \
    "-o precious -D link" "-o precious -s precious"; do
    printf 'precious\n' >precious
    ln -sf precious link
    fails "$two: one would take the other's place" 2 'are one file' seen uniq $two in
    same "so nothing is written" "precious" "$(cat precious; cat both 2>/dev/null)"
done
seen uniq -o - -D - in >out
ok "standard output takes both" test "$(wc -l <out)" = 3
printf 'precious\n' >precious
fails "a failing run" 2 'gzip' seen uniq -o precious bad.gz
same "leaves the output as it was" "precious" "$(cat precious)"
fails "-o over a closed standard output" 2 'nowhere' sh -c 'seen uniq -o precious nowhere >&-'
fails "a closed standard output is reported" 2 'standard output' sh -c 'seen uniq in >&-'
seq 1 300000 >many
ok "a closed pipe is quiet" sh -c 'seen uniq many 2>err | head -1 >/dev/null; test ! -s err'
ok "a closed pipe is quiet with -x, -D and threads" \
    sh -c 'seen uniq -x -j 2 -D dups many 2>err | head -1 >/dev/null; test ! -s err'
printf 'old\n' >limited
fails "a limit on files under -o" 2 'limited: File too large' \
    sh -c 'ulimit -f 100; seen uniq -o limited many'
same "leaves the output as it was" "old" "$(cat limited)"
fails "a limit on files under a state" 2 'limited.seen: File too large' \
    sh -c 'ulimit -f 1000; seen uniq -s limited.seen -o /dev/null many'
ok "leaves no state" test ! -e limited.seen
if [ "$root" ] && mkdir small && mount -t tmpfs -o size=1m none small 2>/dev/null; then
    printf 'old\n' >small/out
    fails "a disk that gets full" 2 'No space left' seen uniq -o small/out many
    same "leaves the output as it was" "old" "$(cat small/out)"
    fails "a disk that gets full under a state" 2 'No space left' \
        sh -c 'seen uniq -s small/state many >printed'
    ok "all lines were printed before that" cmp -s many printed
    ok "and nothing is left there" sh -c 'test "$(ls small)" = out'
    fails "a disk that gets full under -x of a pipe" 2 'TMPDIR: No space left' \
        sh -c 'seq 1 500000 | TMPDIR=small seen uniq -x'
    umount small
else
    skip "no small disk can be made here"
fi

# Numbers.
for v in 0 1 1.5 -1 x "" 1e-400 0x1 nan; do
    fails "-e '$v' is not a probability" 2 "error: '$v' is not a probability" seen uniq -e "$v" in
done
for v in 0 -5 x "" 5x 1e40; do
    fails "-n '$v' is not a number" 2 "expect: '$v' is not" seen uniq -n "$v" in
    fails "-m '$v' is not a size" 2 "memory: '$v' is not" seen uniq -m "$v" in
done
fails "an absurd number of lines" 2 'expect|keys|memory|large' seen uniq -n 1e18 in
fails "an absurd memory" 2 'too many|memory' seen new -n 1e14 -e 1e-5 absurd.seen
fails "an absurd error" 2 'error of 1e-09 cannot be promised' seen new -n 1e14 -e 1e-9 absurd.seen
for mode in '' -x '-n 100'; do
    fails "too little memory, $mode" 2 'memory: 10 bytes are too few' seen uniq $mode -m 10 in
done
fails "-k 0" 2 "key: '0'" seen uniq -k 0 in
fails "-t of two characters" 2 "separator: 'ab'" seen uniq -t ab in
fails "-j 0" 2 "threads: '0'" seen uniq -j 0 in
fails "-e and -m together" 2 'give one' seen uniq -e 0.1 -m 1M in
fails "a missing value" 2 "'-e' needs a value" seen uniq -e
fails "a missing value, long" 2 "'--error' needs a value" seen uniq --error
fails "a value too many" 2 "'--exact=3' takes no value" seen uniq --exact=3 in
fails "an unknown command, and the one that is meant" 2 "^seen: no command 'unique'; did you mean 'uniq'\? \(try" seen unique
fails "an unknown command that is like no other" 2 "^seen: no command 'visited' \(try" seen visited
fails "letters swapped in a command" 2 "did you mean 'partition'\?" seen help partitoin
fails "an option mistyped" 2 "^seen uniq: unknown option '--quite=1'; did you mean '--quiet'\? \(try" seen uniq --quite=1
fails "an option of a length that no name has" 2 "^seen uniq: unknown option '--x{300}' \(try" seen uniq "--$(printf 'x%.0s' $(seq 300))"
cp "$build/seen" alone
fails "the crawler, where it is not installed" 2 "program seen-crawl is not installed" env PATH="$work" ./alone crawl
rm alone
ok "no command at all: the list on standard error, status 2" \
    sh -c 'seen 2>err; test $? = 2 && grep -q uniq err'

# Filters.
printf 'text\n' >text
head -c 100 f.seen >short.seen
for c in info "has" "add" verify "merge -o sum.seen" "rm"; do
    fails "$c: a text as filter" 2 'text: ' seen $c text </dev/null
    fails "$c: a filter cut short" 2 'short.seen: ' seen $c short.seen </dev/null
    fails "$c: a missing filter" 2 'absent.seen' seen $c absent.seen </dev/null
done
same "none of them made anything" "" "$(ls | grep -E 'sum|absent')"
fails "a filter that is there is not replaced" 2 'f.seen: exists already' seen new f.seen
seen new --kind classic --seed 5 -n 100 a.seen
seen new --kind classic --seed 6 -n 100 b.seen
fails "filters of different seeds cannot be merged" 2 'b.seen does not fit a.seen: .*seed' \
    seen merge -o sum.seen a.seen b.seen
fails "a kind that cannot remove says so" 2 'a.seen: .*cannot remove' seen rm --word x a.seen
seen new --fixed -n 10 tiny.seen
before=$(cksum <tiny.seen)
fails "a fixed filter that is full says so" 2 'tiny.seen: .*full|tiny.seen: .*fixed' \
    sh -c 'seq 1 1000 | seen add tiny.seen'
same "and is as it was" "$before" "$(cksum <tiny.seen)"

# What other tools get wrong with status 0.
perl -e 'print "x" x 65537, "\n", "b\n" x 2, "c\n"' >long
same "a line over 64 KiB ends nothing and is not dropped" 3 "$(seen uniq long | wc -l)"
same "a list with a long line too" 0 "$(seen uniq --against long long | wc -l)"
printf 'a\nb' >open
printf 'a\nb' >want
ok "no garbage after a missing final newline" sh -c 'seen uniq open | cmp - want'
printf 'a\r\na\n' >crlf
same "CRLF and LF are not merged" 2 "$(seen uniq crlf | wc -l)"
seen uniq -o /dev/null -D /dev/null in
ok "/dev/null survives being the output" test -c /dev/null
seq 1 100000 >lines
same "a capacity guessed far too low loses nothing" 100000 "$(seen uniq -n 10 lines | wc -l)"
lost=$((100000 - $(seen uniq -e 0.001 -n 10 lines | wc -l)))
ok "with -e it grows and keeps its promise ($lost lost)" test $lost -le 160
seen uniq -m 16K -n 1000 lines >/dev/null 2>err
ok "where it may not grow it says so" grep -q 'more than the 1,000 distinct lines' err
seen uniq -m 16K lines >/dev/null 2>err
ok "and when fingerprints no longer fit" grep -q 'from here on a filter' err
fails "--max-lost stops in time" 2 'more than 5 distinct' seen uniq -q -m 16K --max-lost 5 lines
ok "and what was printed before is in order, with no more lost" \
    sh -c 'sort -n -u -c out && test $(($(tail -1 out) - $(wc -l <out))) -le 5'
ok "--max-lost does not stop a run that loses nothing" \
    sh -c 'seen uniq --max-lost 0 lines | cmp - lines'

# tail -f: a line appears when it was written, not when a buffer is full.
mkfifo pipe
for mode in "" "-j 2" "-e 0.01" "-D dups"; do
    rm -f got
    seen uniq $mode <pipe >got &
    exec 3>pipe
    printf 'first\n' >&3
    i=0
    while [ $i -lt 3000 ] && [ ! -s got ]; do i=$((i + 1)); sleep 0.02; done
    printf 'half a' >&3
    same "a line comes out at once, seen uniq $mode" "first" "$(cat got)"
    printf ' line\nfirst\n' >&3
    exec 3>&-
    wait $!
    same "and half a line waits for its end" "first
half a line" "$(cat got)"
done
fails "control characters of a name do not reach the terminal" 2 '^seen uniq: no.\[31mfile.x: No such' \
    seen uniq "$(printf 'no\033[31mfile\tx')"
same "but question marks" 2 "$(tr -dc '?' <err | wc -c)"
finish
