#!/bin/sh
# The unit tests once more, built with ASan+UBSan, and the threaded ones with TSan.
cd "$(dirname "$0")/.." || exit 1
n=0
run() { # name, build folder, make flags, tests...
    name=$1 dir=$2 flag=$3
    shift 3
    for src in "$@"; do
        t=$(basename "$src" .c)
        n=$((n + 1))
        # Layout randomisation beyond what TSan of this compiler knows confuses it.
        if make -s "$flag=1" BUILD="$dir" CFLAGS="-O1 -g" "$dir/tests/unit/$t.t" >"$dir.log" 2>&1 &&
            setarch -R "$dir/tests/unit/$t.t" >"$dir.log" 2>&1; then
            echo "ok $n - $t under $name"
        else
            echo "not ok $n - $t under $name"
            grep -v '^ok' "$dir.log" | head -n 40 | sed 's/^/# /'
        fi
    done
}
mkdir -p build
run "ASan and UBSan" build/san SAN tests/unit/*.c
run TSan build/tsan TSAN tests/unit/atomic_adds_lose_nothing.c tests/unit/build_from_streams.c
echo "1..$n"
