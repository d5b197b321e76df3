#!/bin/sh
# make install into an empty folder, then a consumer is compiled against that copy only:
# as C and as C++, static and shared, with pkg-config.
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1
t=$work
make -s all BUILD="${BUILD:-build}" >/dev/null # with the usual prefix, as people do
ok "make install with PREFIX and DESTDIR" eval "make -s install BUILD=${BUILD:-build} PREFIX=/opt/seen DESTDIR=$t/root"
p=$t/root/opt/seen
ok "library, header and pkg-config file are there" eval \
    "test -f $p/lib/libseen.a -a -f $p/include/seen.h -a -f $p/lib/pkgconfig/seen.pc -a -L $p/lib/libseen.so.0"
[ ! -f "$build/seen.so" ] ||
    ok "the Redis module is executable, or servers refuse it" eval "test -x $p/lib/seen.so"
ok "the soname is libseen.so.0" eval "readelf -d $p/lib/libseen.so | grep -q 'SONAME.*libseen.so.0'"
cat >"$t/user.c" <<'C'
#include <seen.h>
#include <stdio.h>
#include <string.h>

static int look(void *ctx, const seen_build_progress *p)
{
    if (p->phase == SEEN_BUILD_SOLVING)
        *(int *)ctx = 1;
    return 0;
}

int main(void)
{
    seen_spec spec;
    seen_build_spec all;
    seen_filter *f, *g;
    seen_builder *b;
    seen_key hello = {"hello", 5};
    int solved = 0;
    memset(&spec, 0, sizeof spec);
    spec.keys = 1000;
    if (seen_new(&spec, &f) < 0)
        return 1;
    int first = seen_add_str(f, "hello"), second = seen_add_str(f, "hello");
    printf("%d %d %s\n", first, second, seen_version());
    memset(&all, 0, sizeof all);
    all.progress = look;
    all.ctx = &solved;
    if (seen_builder_new(&all, &b) < 0 || seen_builder_add(b, &hello, 1) < 0 ||
        seen_builder_finish(b, &g) < 0 || !seen_has_str(g, "hello"))
        return 1;
    seen_builder_free(b);
    seen_free(g);
    seen_free(f);
    return !(first == SEEN_NEW && second == SEEN_DUP && solved <= 1);
}
C
cp "$t/user.c" "$t/user.cc"
ok "seen.pc says where it was installed" eval "grep -qx prefix=/opt/seen $p/lib/pkgconfig/seen.pc"
export PKG_CONFIG_PATH="$p/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$t/root"
strict="-pedantic -Wall -Wextra -Werror"
ok "C, shared" eval "gcc -std=c11 $strict -o $t/c $t/user.c \$(pkg-config --cflags --libs seen) && LD_LIBRARY_PATH=$p/lib $t/c"
ok "C++, shared" eval "g++ -std=c++11 $strict -o $t/cc $t/user.cc \$(pkg-config --cflags --libs seen) && LD_LIBRARY_PATH=$p/lib $t/cc"
ok "C, static" eval "gcc -static -o $t/s $t/user.c \$(pkg-config --static --cflags --libs seen) && $t/s"
for e in leveldb_absent:seen_leveldb guard_sqlite:seen_guard; do
    [ ! -f "$p/lib/pkgconfig/${e#*:}.pc" ] || ok "examples/${e%:*}.c with ${e#*:}.pc" eval \
        "gcc -o $t/e examples/${e%:*}.c \$(pkg-config --cflags --libs ${e#*:}) -lm"
done
for h in "$p"/include/*.h; do
    ok "${h##*/} compiles alone, in strict C11 and C++11" eval \
        "echo '#include <${h##*/}>' >$t/h.c && gcc -std=c11 $strict -fsyntax-only -I$p/include $t/h.c && g++ -std=c++11 $strict -fsyntax-only -x c++ -I$p/include $t/h.c"
done
if [ -x "$p/bin/seen" ]; then
    ok "the installed command runs" eval "LD_LIBRARY_PATH= $p/bin/seen --version"
fi
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
ok "make uninstall takes all of it away" eval \
    "make -s uninstall BUILD=${BUILD:-build} PREFIX=/opt/seen DESTDIR=$t/root && test -z \"\$(find $t/root ! -type d)\""
if git rev-parse HEAD >/dev/null 2>&1; then
    ok "make dist makes the same archive twice" eval \
        "make -s dist BUILD=$t/one && make -s dist BUILD=$t/two && cmp $t/one/*.tar.gz $t/two/*.tar.gz"
    ok "and the library builds from it" eval \
        "tar -xzf $t/one/seen-*.tar.gz -C $t && make -s -j2 -C $t/seen-* CFLAGS=-O0 BUILD=build build/libseen.a"
else
    skip "not a git working tree"
    skip "not a git working tree"
fi
finish
