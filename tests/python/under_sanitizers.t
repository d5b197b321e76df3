#!/bin/sh
# The Python module under ASan and UBSan: the same tests, every access checked.
cd "$(dirname "$0")/../.." || exit 1
runtime=$(${CC:-gcc} -print-file-name=libasan.so)
if [ ! -e "$runtime" ] || [ ! -e "${BUILD:-build}/python/seen/_seen.abi3.so" ]; then
    echo "1..0 # SKIP no ASan runtime, or the Python module was not built"
    exit 0
fi
b=build/san
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo 1..4
if make -s -j2 SAN=1 BUILD=$b CFLAGS="-O1 -g" python >"$log" 2>&1; then
    echo "ok 1 - the module builds"
else
    echo "not ok 1 - the module builds"
    sed 's/^/# /' "$log"
fi
n=1
# Python itself keeps what it allocated until the end, so leaks are counted elsewhere
# (misuse_is_an_exception.t), not by ASan.
for t in filter_like_a_set same_bits_everywhere misuse_is_an_exception; do
    n=$((n + 1))
    if PATH="$PWD/${BUILD:-build}:$PATH" LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc SEEN_SANITIZED=1 BUILD=$b \
        /usr/bin/python3 tests/python/$t.t >"$log" 2>&1; then
        echo "ok $n - $t"
    else
        echo "not ok $n - $t"
        grep -v '^ok' "$log" | head -30 | sed 's/^/# /'
    fi
done
