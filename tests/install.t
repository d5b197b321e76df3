#!/bin/sh
# make install into an empty folder, then a consumer is compiled against that copy only:
# as C and as C++, static and shared, with pkg-config.
cd "$(dirname "$0")/.." || exit 1
t=$(mktemp -d) && trap 'rm -rf "$t"' EXIT INT TERM
n=0
check() {
    n=$((n + 1))
    if eval "$2" >"$t/log" 2>&1; then echo "ok $n - $1"; else
        echo "not ok $n - $1"; sed 's/^/# /' "$t/log"; fi
}
check "make install with PREFIX and DESTDIR" "make -s install BUILD=${BUILD:-build} PREFIX=/opt/seen DESTDIR=$t/root"
p=$t/root/opt/seen
check "library, header and pkg-config file are there" \
    "test -f $p/lib/libseen.a -a -f $p/include/seen.h -a -f $p/lib/pkgconfig/seen.pc -a -L $p/lib/libseen.so.0"
[ ! -f "${BUILD:-build}/seen.so" ] ||
    check "the Redis module is executable, or servers refuse it" "test -x $p/lib/seen.so"
check "the soname is libseen.so.0" "readelf -d $p/lib/libseen.so | grep -q 'SONAME.*libseen.so.0'"
cat >"$t/user.c" <<'C'
#include <seen.h>
#include <stdio.h>
int main(void)
{
    seen_spec spec = {};
    seen_filter *f;
    spec.keys = 1000;
    if (seen_new(&spec, &f) < 0)
        return 1;
    int first = seen_add_str(f, "hello"), second = seen_add_str(f, "hello");
    printf("%d %d %s\n", first, second, seen_version());
    seen_free(f);
    return !(first == SEEN_NEW && second == SEEN_DUP);
}
C
cp "$t/user.c" "$t/user.cc"
flags="--define-variable=prefix=$p"
export PKG_CONFIG_PATH="$p/lib/pkgconfig"
check "C, shared" "gcc -Wall -Werror -o $t/c $t/user.c \$(pkg-config $flags --cflags --libs seen) && LD_LIBRARY_PATH=$p/lib $t/c"
check "C++, shared" "g++ -Wall -Werror -o $t/cc $t/user.cc \$(pkg-config $flags --cflags --libs seen) && LD_LIBRARY_PATH=$p/lib $t/cc"
check "C, static" "gcc -o $t/s $t/user.c -I$p/include $p/lib/libseen.a -lm -lpthread && $t/s"
check "the header compiles alone, in strict C11 and C++11" \
    "echo '#include <seen.h>' >$t/h.c && gcc -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only -I$p/include $t/h.c && g++ -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c++ -I$p/include $t/h.c"
if [ -x "$p/bin/seen" ]; then
    check "the installed command runs" "LD_LIBRARY_PATH= $p/bin/seen --version"
fi
echo "1..$n"
