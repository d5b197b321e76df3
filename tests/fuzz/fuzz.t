#!/bin/sh
# Every fuzz target on its kept corpus and some inputs made from it, always the same
# ones, with ASan and UBSan. To look for new ones:
#   FUZZ_SECONDS=600 tests/fuzz/fuzz.t open     at random, longer, and only one target
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
command -v clang >/dev/null || skip_all "no clang"
b=build/fuzz
mkdir -p $b
all=$(make -s -j2 FUZZ=1 CC=clang BUILD=$b CFLAGS='-O1 -g' fuzzers 2>$b/log | tail -n 1)
[ -n "$all" ] || {
    ok "the targets build" sh -c "cat $b/log; exit 1"
    finish
}
[ $# = 0 ] || all=$*
# By count, not by time: a fast machine must not get where no run has been before.
still="setarch -R" # addresses are among what it goes by
$still true 2>/dev/null || still=
how="-seed=1 -runs=6000 -max_total_time=60 -timeout=300"
[ -z "$FUZZ_SECONDS" ] || { still='' how="-max_total_time=$FUZZ_SECONDS -timeout=10"; }
for t in $all; do
    mkdir -p "$b/found/$t" "tests/fuzz/corpus/$t"
    [ -n "$FUZZ_SECONDS" ] || rm -f "$b/found/$t"/*
    # New inputs go to the first folder, which is not kept.
    # shellcheck disable=SC2086
    if $still "$b/fuzz/$t" $how -rss_limit_mb=2048 -max_len=65536 \
        -artifact_prefix="$b/found/$t-" -print_final_stats=1 "$b/found/$t" "tests/fuzz/corpus/$t" \
        >"$b/$t.log" 2>&1; then
        held "$t: $(sed -n 's/^stat::number_of_executed_units: *//p' "$b/$t.log") inputs" 0
    else
        ok "$t" sh -c "tail -n 40 $b/$t.log; exit 1"
    fi
done
finish
