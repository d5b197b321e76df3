#!/bin/sh
# Every command of the README's shell blocks is run, in a folder with the files they name;
# its C program is compiled and run; its links lead somewhere; the demo runs.
top=$(cd "$(dirname "$0")/.." && pwd)
build=$top/${BUILD:-build}
case $build in "$top//"*) build=${BUILD} ;; esac
t=$(mktemp -d) && trap 'rm -rf "$t"' EXIT INT TERM
cd "$t" || exit 1
PATH=$build:$PATH
n=0
check() { # what, command
    n=$((n + 1))
    if bash -c "$2" >log 2>&1; then echo "ok $n - $1"; else
        echo "not ok $n - $1"; tail -n 20 log | sed 's/^/# /'; fi
}
printf 'http://a.example/\nhttp://b.example/\nhttp://a.example/\n' >urls.txt
printf 'http://b.example/\n' >blocked.txt
printf '192.0.2.1 GET /\n192.0.2.2 GET /\n192.0.2.1 GET /x\n' >access.log
printf 'one\ntwo\nthree\n' >words.txt
printf '17\n4\n17\n' >numbers.txt
sed -n '/^```sh$/,/^```$/p' "$top/README.md" | grep -v '^```' >commands
while IFS= read -r line; do
    check "runs: $line" "$line"
done <commands
check "there were commands" "test $n -ge 10"
{
    echo '#include <stdio.h>'
    sed -n '/^```c$/,/^```$/p' "$top/README.md" | grep '^#include'
    echo 'int main(void) {'
    sed -n '/^```c$/,/^```$/p' "$top/README.md" | grep -v '^```' | grep -v '^#include'
    echo 'return 0; }'
} >prog.c
check "the C program works" "gcc -Wall -Werror -I$top/include prog.c $build/libseen.a -lm -lpthread -o prog && ./prog | grep -qx 'first visit' && seen info visited.seen"
for link in $(sed -n 's/^\[.*\]: //p' "$top/README.md"); do
    check "the link $link leads somewhere" "test -e $top/$link"
done
check "./run demo" "cd $top && ./run demo | grep -q 'of awk'"
echo "1..$n"
