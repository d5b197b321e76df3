#!/bin/sh
# The Python module under ASan and UBSan: the same tests, every access checked.
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
runtime=$(${CC:-gcc} -print-file-name=libasan.so)
[ -e "$runtime" ] && [ -e "$build/python/seen/_seen.abi3.so" ] ||
    skip_all "no ASan runtime, or the Python module was not built"
b=build/san
ok "the module builds" make -s -j2 SAN=1 BUILD=$b CFLAGS="-O1 -g" python
# Python itself keeps what it allocated until the end, so leaks are counted elsewhere
# (misuse_is_an_exception.t), not by ASan. For that count, what ASan holds back of freed memory
# must soon come to its bound: with the usual 256 MB it grows through the whole test.
for t in filter_like_a_set same_bits_everywhere misuse_is_an_exception; do
    ok "$t" env LD_PRELOAD="$runtime" ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=4 PYTHONMALLOC=malloc \
        SEEN_SANITIZED=1 BUILD=$b /usr/bin/python3 tests/python/$t.t
done
finish
