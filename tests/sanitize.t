#!/bin/sh
# The unit tests once more, built with ASan+UBSan, and the threaded ones with TSan.
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1
run() { # name, build folder, make flags, tests...
    name=$1 dir=$2 flag=$3
    shift 3
    for src in "$@"; do
        t=$(basename "$src" .c)
        # Layout randomisation beyond what TSan of this compiler knows confuses it.
        ok "$t under $name" sh -c "make -s $flag=1 BUILD=$dir CFLAGS='-O1 -g' $dir/tests/unit/$t.t &&
            setarch -R $dir/tests/unit/$t.t >$dir.log 2>&1 || { grep -v '^ok' $dir.log; exit 1; }"
    done
}
mkdir -p build
run "ASan and UBSan" build/san SAN tests/unit/*.c
run TSan build/tsan TSAN tests/unit/atomic_adds_lose_nothing.c tests/unit/build_from_streams.c
finish
