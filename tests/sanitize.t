#!/bin/sh
# The unit tests once more, built with ASan+UBSan, and the threaded ones with TSan.
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1
# With more than 28 random bits in addresses, TSan of these compilers does not start and ASan
# may hang. setarch takes the randomness away, which containers refuse.
fixed="setarch -R"
if ! $fixed true 2>/dev/null; then
    fixed=
    [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 99)" -le 28 ] ||
        skip_all "setarch -R is refused here, and sanitizers cannot run in addresses of over 28 random bits"
fi

run() { # name, build folder, make flag, tests...
    name=$1 dir=$2 flag=$3
    shift 3
    mkdir -p "$dir"
    # All at once: make takes a second to look for packages.
    bins=$(for src in "$@"; do echo "$dir/tests/unit/$(basename "$src" .c).t"; done)
    # shellcheck disable=SC2086
    make -s -k -j"$(nproc)" "$flag=1" BUILD="$dir" CFLAGS='-O1 -g' $bins >"$dir/build.log" 2>&1 ||
        tail -n 20 "$dir/build.log" >&2
    for bin in $bins; do
        ok "$(basename "$bin" .t) under $name" sh -c \
            "$fixed $bin >$dir/log 2>&1 || { grep -v '^ok' $dir/log; exit 1; }"
    done
}
run "ASan and UBSan" build/san SAN tests/unit/*.c
run TSan build/tsan TSAN tests/unit/atomic_adds_lose_nothing.c tests/unit/build_from_streams.c
finish
