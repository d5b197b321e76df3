#!/bin/sh
# seen build: the smallest filter from a stream of lines, and nothing left of a failure.
. "$(dirname "$0")/../tap.sh"

${CC:-cc} -D_GNU_SOURCE -O2 -o urls "$top/bench/urls.c" || exit 1

ok "the generator makes distinct lines" sh -c \
    'test $(./urls 0 300000 | sort -u | wc -l) = 300000'
same "a step leaves out lines between" "$(./urls 0 30 | sed -n '1p;11p;21p')" \
    "$(./urls 0 30 10)"

# Ten million URLs in two bits each: what bench/README.md shows with two billion.
mkdir tmp
ok "ten million lines fit into 2.5 MB" sh -c './urls 0 10e6 |
    seen build --work 64M --tmp tmp -m 2.5MB --stats big.seen'
ok "the file is not larger" test "$(wc -c <big.seen)" -le 2500000
same "every one of a sample of members is found" 10000 "$(./urls 0 10e6 1000 | seen has -c big.seen)"
wrong=$(./urls 10e6 11e6 | seen has -c big.seen)
ok "at most 26% of absent ones are ($wrong of 1000000)" test "$wrong" -le 260000
ok "and not much fewer: no smaller error is possible" test "$wrong" -ge 240000
ok "its checksums are good" seen verify big.seen
same "nothing is left in the temporary folder" "" "$(ls tmp)"

# Sizes by error; the same keys in any order, from several files, packed, twice.
./urls 0 20000 >some
sort some >sorted
gzip -k some
ok "an error of one in a thousand" seen build -e 0.001 --seed 7 a.seen some
ok "the same lines sorted, and again packed" seen build -e 0.001 --seed 7 -j 2 b.seen sorted some.gz
ok "make the same filter" cmp a.seen b.seen
same "no line is missing" "" "$(seen has -v a.seen some)"
ok "no lines at all make a filter" seen build empty.seen /dev/null
same "in which nothing is" "" "$(seen has empty.seen some)"
printf 'a,1\nb,2\n' >csv
ok "a field as the key" sh -c 'seen build -k 1 --csv f.seen csv && seen has -q --word b f.seen'
ok "info tells what it is, and how many bits a key has" sh -c \
    'seen info a.seen | grep -q "ribbon, 1 layer, fingerprint bits 9.97\$"'
fails "a static filter takes no keys" 2 'static' seen add --word x a.seen

ok "a line twenty million times is one key" sh -c 'yes | head -20000000 |
    seen build --stats y.seen 2>said && grep -q " 1 distinct" said && test $(wc -c <y.seen) -le 8192'
ok "ten million lines in eight bits each, at most 1% above" sh -c './urls 0 10e6 |
    seen build -e 1/256 eight.seen && test $(wc -c <eight.seen) -le 10100000'
wrong=$(./urls 10e6 12e6 | seen has -c eight.seen)
ok "err once in 256, six sigma ($wrong of 2000000)" test "$wrong" -ge 7284 -a "$wrong" -le 8341
rm -f y.seen eight.seen said

# Failures: one line, status 2, the old file as it was, nothing new.
cp a.seen before
ls -A >names
fails "a filter that is there is not replaced unasked" 2 'exists already' seen build a.seen some
for place in nowhere/x tmp; do
    fails "$place cannot be written" 2 "$place: " \
        sh -c "printf 'left\n' | { seen build -f $place; s=\$?; cat; exit \$s; }"
    same "and this is reported before a line is read" "left" "$(cat out)"
done
rm -f out err
fails "an input that is not there" 2 'nosuch' seen build -f a.seen nosuch
fails "a folder for temporaries that is not there" 2 'cannot make a temporary file in nowhere' \
    sh -c './urls 0 4e6 | seen build -f --work 64M --tmp nowhere a.seen'
fails "too little memory to work with" 2 'at least' seen build -f --work 1M a.seen some
fails "a budget that is too small" 2 'do not fit' seen build -f -m 200 a.seen some
fails "an impossible error" 2 'probability' seen build -f -e 2 a.seen some
fails "error and memory at once" 2 'both' seen build -f -e 0.1 -m 1M a.seen some
fails "more lines expected than the disk has room for" 2 'free, but building needs' \
    seen build -f -n 1e15 a.seen some
fails "a disk that is full while keys are set aside" 2 'File too large|No space' \
    sh -c 'ulimit -f 20000; ./urls 0 6e6 | seen build -f --work 64M --tmp tmp a.seen'
fails "a disk that is full when the filter is written" 2 'a.seen.*(File too large|No space)' \
    sh -c 'ulimit -f 10; exec seen build -f -e 1e-6 a.seen some'
if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=20m none full 2>/dev/null; then
    fails "a small file system is noticed before it is full" 2 'has [0-9]+ MB free' \
        sh -c './urls 0 6e6 | seen build -f --work 64M --tmp full a.seen'
    same "and stays empty" "" "$(ls -A full)"
    umount full
else
    skip "no file system may be mounted here"
    skip "no file system may be mounted here"
fi
rm -rf full

# Killed in the middle, with keys in memory and on disk, by signals that can be caught and
# one that cannot. Its lines come through a pipe that stays open, so that it cannot be done
# before, and are few enough to fit anywhere.
mkfifo lines
killed=0 on_disk=0
for sig in HUP TERM KILL; do
    for count in 1e5 6e6; do
        # (Whoever started the tests may have had SIGHUP ignored.)
        perl -e '$SIG{HUP} = "DEFAULT"; exec @ARGV' \
            seen build -f --work 64M --tmp tmp a.seen <lines 2>/dev/null &
        pid=$!
        exec 9>lines
        ./urls 0 $count >&9
        ls -l "/proc/$pid/fd" | grep -q '/tmp/[^/]* (deleted)' && on_disk=$((on_disk + 1))
        kill -$sig $pid && killed=$((killed + 1))
        exec 9>&-
        wait $pid 2>/dev/null
    done
done
rm lines
same "three of six builds have keys on disk" 3 $on_disk
rm -f out err ok.log
ls -A >names2
same "six builds are killed" 6 $killed
ok "whatever happened, the old filter is as it was" cmp a.seen before
same "and nothing lies in the temporary folder" "" "$(ls -A tmp)"
same "or beside it" "$(grep -v -e names -e '^out$' -e '^err$' -e ok.log names)" \
    "$(grep -v names names2)"
finish
