#!/bin/sh
# seen uniq --state: remembered across runs; a line counts only once it was written.
. "$(dirname "$0")/../tap.sh"

printf 'a\nb\na\n' >one
printf 'b\nc\n' >two
same "the first run makes the state" "$(printf 'a\nb')" "$(seen uniq -s st one)"
same "the second knows what the first printed" "c" "$(seen uniq --state st two)"
same "and the third all" "" "$(seen uniq -s st one two)"
same "-d prints what earlier runs have seen" "$(printf 'b\nc')" "$(seen uniq -d -s st two)"
ok "the state is a filter like any other" sh -c 'seen info st | grep -q "keys *3"'
for mode in "-e 0.0001" "-n 1000" "-e 0.001 -n 100" "-m 1M"; do
    rm -f st2
    same "a state made with $mode remembers" "c" \
        "$(seen uniq $mode -s st2 one >/dev/null; seen uniq -s st2 two)"
done

# The inode of the first file may be that of the last.
for saves in 1 2 3 4 5; do
    rm -f st3
    for i in $(seq 1 $saves); do echo "line $i" >part$i; done
    # shellcheck disable=SC2046
    seen uniq -s st3 --checkpoint 1 $(seq -f part%g 1 $saves) >/dev/null
    same "a new state that is saved $saves times stays" "$saves" "$(seen info --json st3 | tr -d ' ' | sed -n 's/.*"keys":\([0-9]*\).*/\1/p')"
done
rm -f st3

fails "--checkpoint without a state" 2 'checkpoint is for a state' seen uniq --checkpoint 5 one
fails "--checkpoint of what is not a number" 2 "'x' is not a number of lines" seen uniq -s st9 --checkpoint x one

# Seeds are fresh: a state made twice from the same lines differs, unless SEEN_SEED says.
(unset SEEN_SEED; seen uniq -s s1 one >/dev/null; seen uniq -s s2 one >/dev/null)
ok "every new state has a seed of its own" sh -c '! cmp -s s1 s2'
SEEN_SEED=0x2a seen uniq -s s3 one >/dev/null
SEEN_SEED=42 seen uniq -s s4 one >/dev/null
ok "SEEN_SEED makes a run repeat bit for bit" cmp s3 s4
fails "a SEEN_SEED that is not a number is refused" 2 "SEEN_SEED: '-1' is not a number" \
    env SEEN_SEED=-1 seen uniq -s s5 one

# A second writer.
mkfifo pipe
seen uniq -s st <pipe >held &
first=$!
exec 3>pipe
echo held >&3
i=0
while [ $i -lt 3000 ] && [ ! -s held ]; do i=$((i + 1)); sleep 0.02; done
before=$(cksum <st)
fails "a state in use is refused" 2 'st: in use' seen uniq -s st one
same "and was not touched" "$before" "$(cksum <st)"
exec 3>&-
wait $first
same "when it is free again it knows the other's lines" "" "$(echo held | seen uniq -s st)"

# Not every file is a state.
printf 'no filter\n' >text
fails "a text file as state is refused" 2 'text' seen uniq -s text one
same "and stays as it was" "no filter" "$(cat text)"
cp st bad
printf 'X' | dd of=bad bs=1 seek=5000 conv=notrunc 2>/dev/null
before=$(cksum <bad)
fails "a damaged state is refused" 2 'bad' seen uniq -s bad one
same "and stays as it was" "$before" "$(cksum <bad)"
cp st newer
printf '\377' | dd of=newer bs=1 seek=8 conv=notrunc 2>/dev/null
fails "a state of a newer version is refused" 2 'newer' seen uniq -s newer one
head -c 3000 st >"cut"
fails "a state cut short is refused" 2 'cut' seen uniq -s cut one
: >empty
same "an empty file is a state to be made" "$(printf 'a\nb')" "$(seen uniq -s empty one)"
fails "a folder as state is refused" 2 'is a folder, not a file' seen uniq -s . one
fails "a state where nothing can be made" 2 'nowhere/st' seen uniq -s nowhere/st one
if [ "$(id -u)" != 0 ]; then
    chmod 444 st
    fails "a state that may not be written" 2 'Permission' seen uniq -s st one
    chmod 644 st
fi

# What was not written does not count as seen.
rm -f st3
fails "a full disk is reported" 2 'No space left' sh -c 'seen uniq -s st3 one >/dev/full'
ok "and no state is left behind" test ! -e st3
seen uniq -s st3 one >/dev/null
before=$(cksum <st3)
fails "a full disk again" 2 'No space left' sh -c 'seen uniq -s st3 two >/dev/full'
same "leaves the state as it was" "$before" "$(cksum <st3)"
seq 1 200000 >many
seen uniq -s st4 many | head -1 >/dev/null
ok "after a closed pipe the lines that nobody read come again" \
    sh -c 'test "$(seen uniq -s st4 many | wc -l)" = 200000'
fails "a bad input costs no state" 2 'missing' seen uniq -s st5 missing
ok "which is not even made" test ! -e st5

# Stopped by a signal between two blocks: what was printed is remembered.
mkfifo slow
: >got
# (A shell starts background jobs with SIGINT ignored.)
perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV' seen uniq -s st6 <slow >got &
pid=$!
exec 3>slow
printf 'x\ny\n' >&3
i=0
while [ $i -lt 3000 ] && [ "$(wc -l <got)" != 2 ]; do i=$((i + 1)); sleep 0.02; done
kill -INT $pid
wait $pid 2>/dev/null
status=$?
exec 3>&-
same "Ctrl-C ends a run by the signal" 130 $status
same "with the state saved" "z" "$(printf 'y\nz\n' | seen uniq -s st6)"
mkfifo slow2
printf 'old\n' >out.txt
seen uniq -o out.txt <slow2 &
pid=$!
exec 3>slow2
printf 'x\ny\n' >&3
# When it has taken both lines (FIONREAD says what is left in the pipe).
perl -e 'do { ioctl(STDIN, 0x541B, my $left = pack "i", 1) or die; $n = unpack "i", $left;
    select undef, undef, undef, 0.01 } while $n' <&3
kill -TERM $pid
wait $pid 2>/dev/null
exec 3>&-
same "a stopped run replaces no output by a part" "old" "$(cat out.txt)"
same "and leaves nothing beside it" "out.txt" "$(ls -d out.txt*)"
finish
