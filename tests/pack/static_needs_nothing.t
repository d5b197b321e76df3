#!/bin/bash
# The static command does its jobs in a root folder with nothing in it, and says what the
# usual one says; the library under it, compiled for musl, sets the same bits.
. "$(dirname "$0")/../tap.sh"
export SEEN_SEED=1
command -v musl-gcc >/dev/null || skip_all "no musl-gcc here"
. "$top/tests/pack/ways.sh"
copy_tree "$work/tree" && cd tree || exit 1
m=$work/tree/build
# (With less effort than for people, for the time it takes.)
ok "as the README has it: $(way 'one static')" env MAKEFLAGS=-j2 STATIC_CFLAGS=-O1 sh -c "$(way 'one static')"
mv dist "$work" && cd "$work" || exit 1
ok "it asks for no loader and no library" eval "! readelf -ld dist/seen | grep -E 'INTERP|NEEDED'"

mkdir root && mv dist/seen root/ || exit 1
inside() { chroot "$work/root" /seen "$@"; }
if [ "$(id -u)" != 0 ]; then
    inside() { unshare --map-root-user chroot "$work/root" /seen "$@"; }
    inside --version >/dev/null 2>&1 || inside() { (cd "$work/root" && ./seen "$@"); }
fi
same "alone in its root folder, it runs" "$(seen --version)" "$(inside --version)"
awk 'BEGIN { for (i = 0; i < 200000; i++) print "line " i * 7 % 65536, i % 10 }' >root/lines
# alike COMMAND...: said by both, of the same files.
alike() {
    inside "$@" >here 2>here.err
    echo $? >>here
    (cd root && seen "$@") >there 2>there.err
    echo $? >>there
    ok "seen $*" diff there here
}
alike uniq lines
alike uniq -j 2 lines
alike uniq -x -k 1,2 lines
alike uniq -e 0.001 -n 100k -j 2 lines
alike uniq --by-count lines
alike count -k 3 lines
alike count --top 5 -k 3 lines
alike formats
alike help
for pack in gzip zstd bzip2 xz lz4; do
    command -v $pack >/dev/null || { skip "no $pack here"; continue; }
    $pack -c <root/lines >root/packed
    ok "unpacks $pack" eval "inside uniq packed | cmp - <(cd root && seen uniq lines)"
done
ok "a state, written and read again" eval "inside uniq -s state lines >one && inside uniq -s state lines >two &&
    test -s one -a ! -s two"
ok "a filter is made, added to, asked" eval "inside new -n 100k f.seen && inside add f.seen lines &&
    inside has f.seen lines | cmp - root/lines && inside verify f.seen && seen verify root/f.seen"
ok "a static filter" eval "inside build -e 1/256 r.seen lines && seen has root/r.seen root/lines | cmp - root/lines"
ok "many threads have room on their stacks" eval "inside uniq -j 8 lines | sort | cmp - <(seen uniq root/lines | sort)"
ok "an output that does not wait is waited for" eval \
    "perl -MFcntl -e 'fcntl(STDOUT, F_SETFL, fcntl(STDOUT, F_GETFL, 0) | O_NONBLOCK); exec @ARGV' \
        root/seen help uniq | { sleep 0.3; cat; } | cmp - <(seen help uniq)"
fails "without the Redis client, --redis says so" 2 'redis' inside uniq --redis redis://127.0.0.1:1/x lines

for t in variants_set_same_bits vectors_stay vectors_static_stay files_come_back foreign_golden; do
    ok "tests/unit/$t.c on musl" eval "make -s -C $work/tree BUILD=$m/static MUSL=1 PKG_CONFIG=false CC=musl-gcc \
        CFLAGS='-O1 -isystem $m/static/sys -L$m/static/sys/lib' LDFLAGS='-static -Wl,-z,stack-size=8388608' \
        $m/static/tests/unit/$t.t && cd $top && $m/static/tests/unit/$t.t"
done
finish
