#!/bin/bash
# bare.t - a newcomer's first hour in a Debian with nothing installed: the README's first
# command (container.t has the second); every optional package absent, alone and with the
# others, in the same clone; what the documents say takes five minutes, as written.
#   SUITE=trixie tests/bare.t      another release [bookworm]
#
# Needs root, mmdebstrap and the machine's own package sources; writes to a temporary folder.
suite=${SUITE:-bookworm}
TMPDIR=/var/tmp # on a disk, where programs may run
. "$(dirname "$0")/tap.sh"
root=$work/root
"$top/pack/bare" make "$root" "$suite" 2>log || skip_all "$(tail -n 1 log)"
mkdir "$root/seen"
cd "$top" || exit 1
if git rev-parse --git-dir >/dev/null 2>&1; then git ls-files -z; else
    find . -path ./build -prune -o -path ./.git -prune -o -type f -print0; fi |
    tar -c --null -T - | tar -x -C "$root/seen"

# inside online|alone COMMAND: in the clone, in namespaces of its own. What is tried is which
# parts are built, not how well they are optimised: -O1 takes half the time.
inside() { "$top/pack/bare" enter "$root" "$1" "cd /seen && export CFLAGS=-O1 && $2"; }
online() { ok "$1" inside online "$2"; }
alone() { ok "$1" inside alone "$2"; }
packages() { inside online "dpkg-query -W -f '\${Package}\n'" | sort; }

# The shell commands under a document's heading: its first block.
block() { # document, heading
    awk -v h="$2" '$0 == h { on = 1 } on && /^```$/ { exit } on && code { print }
        on && /^```sh$/ { code = 1 }' "$top/docs/$1"
}
# A document's first block, as written: the packages with a network, the rest without.
document() { # document, heading
    block "$1" "$2" | awk -v rest="$root/seen/rest" 'BEGIN { printf "" >rest }
        /^sudo apt-get/ || on { print; on = /\\$/; next } { print >rest }' >"$root/seen/install"
    online "docs/$1: its packages" ". ./install"
}

# ---- the first command of the README ----------------------------------------------------
online "./run demo shows its table" "./run demo >table && grep -q 'of awk' table"
packages >"$work/base"

# ---- optional packages ------------------------------------------------------------------
# What make says without any: one line a part that is left out, each naming its packages.
skipped() { inside alone "make -s -j$(nproc) 2>&1"; }
skipped >"$work/none"
ok "without optional packages, make has one line for each part and nothing else to say" \
    awk '!/^make: .+ skipped: not installed: [a-z0-9 .+-]+$/ || seen[$0]++ { print; bad = 1 }
         END { exit bad || NR < 5 }' "$work/none"
. "$top/tests/pack/ways.sh"
alone "from source, as the README has it" "$(way 'everything from source') && seen --version"
alone "two files, as the README has it, without a word about parts" \
    "{ $(way 'two files'); } >said 2>&1 && ! grep skipped said && nm seen.o | grep ' T seen_new'"
alone "a static file asks for its compiler" "! make static 2>said && grep -x 'make: static needs musl-gcc: install musl-tools' said"
# What make must say with the packages that are there now: the same without their names.
expected() {
    packages | awk 'NR == FNR { here[$1] = 1; next }
        { split($0, a, "not installed: "); k = split(a[2], p, " "); left = ""
          for (i = 1; i <= k; i++) if (!(p[i] in here)) left = left " " p[i]
          if (left) print a[1] "not installed:" left }' - "$work/none"
}
builds() { # words: what is here
    # A package of another version than ours is for is no matter of what is installed.
    skipped | grep -v ' skipped: made for ' >"$work/said"
    expected >"$work/expected"
    ok "$1: make builds its parts and skips the others" diff "$work/expected" "$work/said"
    alone "$1: make install" "make -s install && seen --version"
}
back() { # to the packages of before, and so make has to build without them again
    packages | comm -13 "$work/base" - >"$work/more"
    inside online "apt-get purge --autoremove $(tr '\n' ' ' <"$work/more")" >/dev/null 2>&1
}
for p in libhiredis-dev libsqlite3-dev libpq-dev; do
    online "$p is installed" "apt-get install $p"
    builds "$p alone"
    if [ $p = libsqlite3-dev ]; then
        block guard.md '## Five minutes' | sed -n '/^cc /,$p' >"$root/seen/rest"
        alone "docs/guard.md works without hiredis" ". ./rest | grep '^10000 found'"
    fi
    back
done
builds "all of them gone"

# ---- five minutes -----------------------------------------------------------------------
{
    printf '#include <stdio.h>\n#include <seen.h>\nint main(void) {\n'
    sed -n '/^```c$/,/^```$/p' README.md | grep -v -e '^```' -e '^#include'
    echo 'return 0; }'
} >"$root/seen/prog.c"
grep -o '`cc prog.c [^`]*`' README.md | tr -d '`' >"$root/seen/rest"
alone "the README's C program, as it says" ". ./rest && ./a.out | grep -x 'first visit'"

document leveldb.md '## Five minutes'
alone "docs/leveldb.md" ". ./rest | grep -x 'with the filter: 10205 found of even ids, 0 of odd ones'"
builds "libleveldb-dev alone, without g++"
alone "and its tests are built" \
    'for c in tests/leveldb/*.c; do t=build/${c%.c}.t; make -s "$t" && "$t" || exit; done'
back

document guard.md '## Five minutes'
alone "docs/guard.md" "rm -rf shop; . ./rest | grep '^10000 found'"

document redis.md '## The module: install'
# The replies that stand in the document are those of the server.
sed -n '/^\$ redis-cli/,/^```/p' docs/redis.md | sed '/^```/,$d' >"$root/seen/shown"
sed -n 's/^\$ redis-cli/& --no-raw/; s/^\$ //p' "$root/seen/shown" >"$root/seen/asked"
sed '/^\$ /d' "$root/seen/shown" >"$root/seen/answers"
alone "docs/redis.md" "make -s build/seen.so && { . ./rest & } >server.log
    until redis-cli -p 6380 PING 2>/dev/null | grep -q PONG || ! kill -0 \$!; do sleep 0.1; done
    . ./asked | diff answers -"
back

document nginx.md '## Five minutes'
awk '/^```nginx$/ { code = 1; next } /^```$/ { if (code) exit } code' "$top/docs/nginx.md" >"$root/seen/seen.conf"
alone "docs/nginx.md" "{ . ./rest; } && cp seen.conf /etc/nginx/conf.d/ && nginx -t && nginx &&
    ask() { curl -s -o /dev/null -w '%{http_code}' localhost:8080/item?id=\$1; } &&
    [ \$(ask 2) = 502 ] && [ \$(ask 3) = 502 ] &&
    grep -q 'id=2 .* dry' /var/log/nginx/guard.log && ! grep -q 'id=3 .* dry' /var/log/nginx/guard.log &&
    sed -i /seen_dry_run/d /etc/nginx/conf.d/seen.conf && nginx -s reload &&
    until [ \$(ask 2) = 404 ]; do sleep 0.1; done && [ \$(ask 3) = 502 ]"
builds "nginx-dev alone"

online "./run crawl installs and builds its part" "./run crawl --help | grep -q resume"
builds "and the packages of the crawler"
sed -n '/^```sh/,/^```/p' docs/crawl.md | sed '/^```/d; s/8000/$PORT/' | head -n 5 >"$root/seen/rest"
alone "docs/crawl.md" "make -s build/tests/crawl/site && { build/tests/crawl/site --pages 300 serve >port & } &&
    until [ -s port ]; do sleep 0.05; done && PORT=\$(cat port) && PATH=\$PWD/build:\$PATH && . ./rest >listed &&
    [ \$(cut -f1 listed | sort -u | wc -l) = \$(wc -l <listed) ] && [ \$(wc -l <listed) = 301 ]"

# The packages named, then those that parts name which were silent until then.
cp "$work/none" "$work/said"
while grep -q 'not installed: ' "$work/said"; do
    more=$(sed -n 's/.*not installed: //p' "$work/said" | tr '\n' ' ')
    online "installed: $more" "apt-get install $more"
    skipped >"$work/now"
    ! cmp -s "$work/now" "$work/said" || break
    mv "$work/now" "$work/said"
done
: >"$work/none"
builds "all of them"
finish
