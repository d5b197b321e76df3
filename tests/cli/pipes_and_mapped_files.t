#!/bin/bash
# Pipes as filters, pipes that do not block, mapped files that others truncate.
. "$(dirname "$0")/../tap.sh"

seq 1 1000 >in
seen new -n 1000 -e 1e-6 f.seen && seen add f.seen in
seen new --kind guava -n 1000 -e 1e-6 f.guava && seen add f.guava in
seen new --seed 9 -n 1000 one.seen && cp one.seen two.seen
seen add --word 1 one.seen && seen add --word 2 two.seen

# A filter through a pipe.
printf '5\nx\n7\n' >asked
for f in f.seen f.guava; do
    same "has <(cat $f)" "$(printf '5\n7')" "$(seen has <(cat $f) asked)"
    same "has -, with $f on standard input" "$(printf '5\n7')" "$(seen has - asked <$f)"
    same "has <(gzip -c $f)" "$(printf '5\n7')" "$(seen has <(gzip -c $f) asked)"
    ok "info <(cat $f)" seen info <(cat $f)
    same "uniq --against a pipe that holds $f says so, or is right" 2 \
        "$(seen uniq --against <(cat $f) asked >/dev/null 2>&1; echo $?)"
done
mkfifo fifo
cat f.seen >fifo &
ok "a FIFO on standard input" seen info - <fifo
wait
# A FIFO that nobody writes to, or a device that never ends, is answered at once: by its name
# it is not a filter. (timeout says 124.)
for c in "info fifo" "info --format guava fifo" "has fifo in" "verify fifo" "add fifo in" \
    "uniq -s fifo in" "merge -o x fifo" "excuse fifo in" "convert --to native fifo x" \
    "new --like fifo x" "dedup --state fifo in"; do
    fails "seen $c" 2 'fifo:? is a FIFO, not a file' timeout 20 seen $c
done
for c in "info /dev/zero" "has /dev/zero in" "uniq -s /dev/zero in" "add /dev/zero in"; do
    fails "seen $c" 2 'zero:? is a device, not a file' timeout 20 seen $c
done
fails "a folder" 2 'Is a directory' timeout 20 seen info .
mkdir crawled && mkfifo crawled/options
fails "a FIFO inside a crawl's folder" 2 'options: is a FIFO, not a file' \
    timeout 20 seen-crawl --resume crawled
mkfifo state.files
fails "or beside a state of dedup" 2 'state.files: is a FIFO, not a file' \
    timeout 20 seen dedup --state state in
same "a FIFO is still a list of lines" "1000" "$(cat in >fifo & seen uniq fifo | wc -l)"
same "and so is /dev/stdin" "1000" "$(cat in | seen uniq /dev/stdin | wc -l)"
same "which may also be a filter" "$(printf '5\n7')" "$(cat f.seen | seen has /dev/stdin asked)"
ok "verify <(cat FILTER)" seen verify <(cat f.seen)
ok "verify finds damage in a pipe" sh -c 'perl -0777pe "substr(\$_, 5000, 1) ^= chr(1)" f.seen | seen verify -; test $? = 2'
seen merge -o - <(cat one.seen) two.seen >both.seen
same "merge reads pipes and writes to one" "$(printf '1\n2')" "$(seq 1 9 | seen has both.seen)"
fails "nothing can be added to a pipe" 2 'not a file' seen add fifo in
fails "nor to standard input" 2 'must be a file' seen add - in
fails "an empty pipe is not a filter" 2 'standard input: ' seen info - </dev/null
fails "text from a pipe is not a filter" 2 'standard input: ' seen has - in <asked

# A file without a byte.
: >empty
for c in info has add verify "merge -o sum.seen"; do
    fails "$c: an empty file" 2 'empty' seen $c empty </dev/null
done
seq 1 100000 >many
seen uniq -s state many | head -1 >/dev/null
ok "a broken pipe leaves no empty state" test ! -e state
seen uniq -s empty many >/dev/null
ok "an empty file, as kill -9 may leave it, becomes a state" seen verify empty

# Standard output that does not block.
cat >reader.pl <<'X'
use Fcntl;
pipe(my $r, my $w) or die;
fcntl($w, F_SETFL, fcntl($w, F_GETFL, 0) | O_NONBLOCK) or die;
fcntl($w, 1031, 4096); # F_SETPIPE_SZ: as small as can be
my $pid = fork;
if (!$pid) { open STDOUT, '>&', $w or die; open STDERR, '>', 'said'; close $r; close $w; exec @ARGV }
close $w;
select undef, undef, undef, 0.2; # so that it is full
while (sysread $r, my $buf, 1000) { print $buf }
waitpid $pid, 0;
exit $? >> 8;
X
for c in "uniq many" "uniq -x many" "uniq -j 2 many" "has -v f.seen many" "sort many" "help --man uniq" \
    "plan --no-time -n 1000" "formats --json"; do
    seen $c >want
    perl reader.pl seen $c >got
    same "seen $c: status 0 where standard output does not block" 0 $?
    ok "and everything is there" cmp want got
done

# A mapped file that is truncated by others: said with its name, not SIGBUS.
seen new -n 5M -e 0.0001 big.seen
seen has -c big.seen <fifo >got 2>err &
pid=$!
exec 3>fifo
seq 1 60000 >&3 # more than the pipe holds: the filter is open by now
: >big.seen
seq 1 100000 >&3 2>/dev/null
exec 3>&-
wait $pid
same "a truncated filter: status 2" 2 $?
ok "one line names the file" sh -c 'test $(wc -l <err) = 1 && grep -q "/big.seen: could not be read: it was truncated" err'
perl -e 'srand 5; printf "%s %d\n", "x" x 60, rand 30000 for 1 .. 60000' >long
cp long here
seen uniq -x -o result here - <fifo 2>err &
pid=$!
exec 3>fifo
seq 1 60000 >&3
: >here
exec 3>&-
wait $pid
same "an input truncated under -x: status 2" 2 $?
ok "the error names the file" grep -q 'here: ' err
ok "and nothing is left" sh -c 'test ! -e result && test -z "$(ls | grep "^result")"'
finish
