#!/bin/sh
# Every command of the README's shell blocks is run, in a folder with the files they name;
# its C program is compiled and run; its links lead somewhere; the demo runs.
. "$(dirname "$0")/tap.sh"
printf 'http://a.example/\nhttp://b.example/\nhttp://a.example/\n' >urls.txt
printf 'http://b.example/\n' >blocked.txt
printf '192.0.2.1 GET /\n192.0.2.2 GET /\n192.0.2.1 GET /x\n' >access.log
printf 'one\ntwo\nthree\n' >words.txt
printf '17\n4\n17\n' >numbers.txt
sed -n '/^```sh$/,/^```$/p' "$top/README.md" | grep -v '^```' >commands
while IFS= read -r line; do
    ok "runs: $line" bash -c "$line"
done <commands
ok "there were commands" bash -c "test $tap_n -ge 10"
{
    echo '#include <stdio.h>'
    sed -n '/^```c$/,/^```$/p' "$top/README.md" | grep '^#include'
    echo 'int main(void) {'
    sed -n '/^```c$/,/^```$/p' "$top/README.md" | grep -v '^```' | grep -v '^#include'
    echo 'return 0; }'
} >prog.c
ok "the C program works" bash -c "gcc -Wall -Werror -I$top/include prog.c $build/libseen.a -lm -lpthread -o prog && ./prog | grep -qx 'first visit' && seen info visited.seen"
for link in $(sed -n 's/^\[.*\]: //p' "$top/README.md"); do
    ok "the link $link leads somewhere" bash -c "test -e $top/$link"
done
# Files that the other documents name are where they say.
for doc in CONTRIBUTING.md ARCHITECTURE.md; do
    same "every file that $doc names is there" "" "$(sed '/^    /d' "$top/$doc" |
        grep -oE '[a-z_]+(/[A-Za-z_0-9-]+)+(\.[a-z]+)+' | grep -v -e NAME -e ^build/ | sort -u | while read -r f; do
        [ -e "$top/$f" ] || echo "$f"
    done)"
done
ok "./run demo" bash -c "cd $top && ./run demo | grep -q 'of awk'"
finish
