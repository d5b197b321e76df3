#!/bin/sh
# seen uniq: each distinct line once, in order, as it came.
. "$(dirname "$0")/../tap.sh"

truth() { awk '!seen[$0]++' "$@"; }

printf 'b\na\nb\n\na\n\nc\n' >small
same "first occurrences, in order, empty lines too" "$(truth small; echo .)" \
    "$(seen uniq small; echo .)"
same "standard input when no file is given" "$(truth small)" "$(seen uniq <small)"
same "- is standard input" "$(printf 'x\nb\na\n\nc')" "$(printf 'x\n' | seen uniq - small)"
ok "nothing in, nothing out" sh -c 'test -z "$(seen uniq </dev/null)"'

# As the line came.
printf 'a\nb' >open
ok "a missing final newline stays missing" sh -c 'seen uniq open | cmp - open'
printf 'a\nb\na' >open2
ok "a dropped last line leaves whole lines" sh -c 'seen uniq open2 | cmp - <<X
a
b
X'
printf 'c\n' >closed
ok "files are not glued together at a missing newline" sh -c 'seen uniq open closed | cmp - <<X
a
b
c
X'
printf 'a\r\na\nb\r\nb\r\n' >crlf
printf 'a\r\na\nb\r\n' >want
ok "CRLF and LF are different lines, untouched" sh -c 'seen uniq crlf | cmp - want'
printf 'a\0b\na\0c\na\0b\n' >nul
printf 'a\0b\na\0c\n' >want
ok "NUL bytes are part of a line" sh -c 'seen uniq nul | cmp - want'
printf 'a\0b\0a\0\n\0\n\0c' >zero
printf 'a\0b\0\n\0c' >want
ok "-z: lines end in NUL" sh -c 'seen uniq -z zero | cmp - want'
perl -e 'my @w = map { chr(97+$_) x 1_000_000 } 0..3; print "$w[$_ % 4]\n" for 0..11; print "$w[0]"' >long
truth long >want
ok "lines of a megabyte" sh -c 'seen uniq long | cmp - want'
perl -e 'print "x" x 70000, "\nafter\n", "x" x 70000, "\nlast\n"' >long2
truth long2 >want
ok "what follows a line over 64 KiB is not lost" sh -c 'seen uniq long2 | cmp - want'

# Modes.
perl -e 'srand 7; for (1..100000) { printf "http://host%d.example/%d\n", rand 300, rand 400 }' >urls
truth urls >want
for mode in "" "-n 1000" "-n 1M" "-j 2" "-j 5" "-m 64M" "-j 2 -m 8M"; do
    ok "the same as awk: seen uniq $mode" sh -c "seen uniq $mode urls | cmp - want"
done
cat small urls | truth >want2
for tool in gzip zstd bzip2 xz lz4; do
    if ! seen --version | grep -q "^unpacks:.* $tool"; then
        $tool -qc urls >urls.$tool || continue
        fails "$tool data is refused, not taken for lines" 2 "$tool data, which this build" \
            seen uniq urls.$tool
        continue
    fi
    $tool -qc urls >urls.$tool
    for j in 1 2 3; do
        ok "$tool by content, -j $j" sh -c "seen uniq -j $j <urls.$tool | cmp - want"
    done
    { $tool -qc small; $tool -qc urls; } >two.$tool
    ok "several $tool streams are one" sh -c "seen uniq two.$tool | cmp - want2"
    ok "$tool, as slowly as a pipe may bring it" sh -c \
        "perl -e 'for (1 .. 60) { sysread STDIN, \$_, 1; syswrite STDOUT, \$_ } exec q(cat)' <two.$tool | seen uniq | cmp - want2"
    : | $tool -qc >empty.$tool
    same "$tool: nothing in, nothing out" "" "$(seen uniq empty.$tool empty.$tool)"
done
ok "this build unpacks all of them" sh -c 'seen --version | grep -qx "unpacks: gzip, zstd, bzip2, xz, lz4"'
for magic in 'PK\003\004' '7z\274\257\047\034' '\037\235' 'LZIP\001'; do
    printf "$magic\nmore\n" >archive
    fails "an archive is refused, not taken for lines" 2 'archive: .* data, which this build' seen uniq archive
done
for text in 'BZh9 is how bzip2 begins' 'PK' 'BZh' '7z' '(' 'X*M'; do
    printf '%s' "$text" >text
    same "a text that begins like a magic is a text: $text" "$text" "$(seen uniq text)"
done
awk 'seen[$0]++' urls >repeats
ok "-d prints only what was seen before" sh -c 'seen uniq -d urls | cmp - repeats'
ok "-d with threads" sh -c 'seen uniq -j 3 -d urls | cmp - repeats'
seen uniq --json -D dups1 urls >one 2>stats1
seen uniq --json -D dups3 -j 3 urls >three 2>stats3
ok "threads print and set aside the same lines" sh -c 'cmp one three && cmp dups1 dups3'
same "and count the same" "$(grep -E "lines|distinct|dup|printed|kind" stats1)" "$(grep -E "lines|distinct|dup|printed|kind" stats3)"
seen uniq -D dups urls >got
ok "-D writes the repeats besides" sh -c 'cmp got want && cmp dups repeats'

# Keys.
printf 'k1 a\nk2 b\n k1\tc\nk3\n' >fields
same "-k: blanks separate, leading ones do not count" "$(printf 'k1 a\nk2 b\nk3')" \
    "$(seen uniq -k 1 fields)"
printf '1,,x\n2,,y\n3,z,x\n' >commas
same "-t: two separators enclose an empty field" "$(printf '1,,x\n3,z,x')" \
    "$(seen uniq -t , -k 2 commas)"
printf '1,"a,b"\n2,"a,b"\n3,a\n4,"a"\n5,"say ""a"""\n6,"say ""a"""\n7,"two\nlines"\n8,"two\nlines"\n' >csv
same "--csv: quotes, commas and newlines inside" \
    "$(printf '1,"a,b"\n3,a\n5,"say ""a"""\n7,"two\nlines"')" "$(seen uniq --csv -k 2 csv)"
printf 'Abc\nabc\n abc \nABC\n' >spelled
same "-i ignores case" "$(printf 'Abc\n abc ')" "$(seen uniq -i spelled)"
same "--trim ignores white space around" "$(printf 'Abc\nabc\nABC')" "$(seen uniq --trim spelled)"
same "-i --trim" "Abc" "$(seen uniq -i --trim spelled)"
printf 'HTTP://Example.org:80/a/../b#x\nhttp://example.org/b\nhttp://example.org/%%62\nno url\n' >spellings
same "-u compares normalised URLs and prints them as they came" \
    "$(printf 'HTTP://Example.org:80/a/../b#x\nno url')" "$(seen uniq -u spellings)"

# Other filters and lists.
printf 'b\nq\n' >list
same "--against a list" "$(printf 'a\n\nc')" "$(seen uniq --against list small)"
seen new f.seen && seen add f.seen list
before=$(cksum <f.seen)
same "--against a list on standard input" "$(printf 'a\n\nc')" "$(seen uniq --against - small <list)"
fails "which cannot be the lines as well" 2 "standard input is the list of --against - or the lines" \
    seen uniq --against -
same "--against a filter" "$(printf 'a\n\nc')" "$(seen uniq --against f.seen small)"
printf 'a\n' >list2
same "--against several" "$(printf '\nc')" "$(seen uniq --against f.seen --against list2 small)"
same "--against leaves the filter as it is" "$before" "$(cksum <f.seen)"
printf 'k2 old\nk9 old\n' >old
same "--against a list with -k: the field of its lines counts" "$(printf 'k1 a\nk3')" \
    "$(seen uniq -k 1 --against old fields)"
printf 'k2\nk9\n' >bare
fails "a list without the field is refused, not ignored" 2 'bare: no line has field 2' \
    seen uniq -k 2 --against bare fields
seen new keys.seen && seen add keys.seen bare
same "a filter holds bare keys" "$(printf 'k1 a\nk3')" "$(seen uniq -k 1 --against keys.seen fields)"
same "the lines are cut the same without vector instructions" "$(seen uniq urls | cksum)" \
    "$(SEEN_SIMD=scalar seen uniq urls | cksum)"
seen new -n 1000 -e 0.0001 --kind bits-and-blooms other.bloom
same "--against a list, with a state that hashes in its own way" "$(printf 'a\n\nc')" \
    "$(seen uniq -s other.bloom --against list small)"

# Output files.
cp small place
seen uniq -o place place
same "-o may be the input" "$(truth small)" "$(cat place)"
chmod 640 place && ln -s place link && seen uniq -o link small
same "-o through a link keeps link and mode" "yes 640" \
    "$(test -L link && echo yes) $(stat -c %a place)"
seen uniq -o /dev/null small
ok "-o /dev/null leaves /dev/null a device" test -c /dev/null
finish
