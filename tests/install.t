#!/bin/sh
# make install into an empty folder, then a consumer is compiled against that copy only:
# as C and as C++, static and shared, with pkg-config and with CMake; from the usual folders
# and from others.
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1
t=$work
make -s all BUILD="${BUILD:-build}" >/dev/null # with the usual prefix, as people do
ok "make install with PREFIX and DESTDIR" eval "make -s install BUILD=${BUILD:-build} PREFIX=/opt/seen DESTDIR=$t/stage"
p=$t/stage/opt/seen
plain=$(cd "$t/stage" && find . ! -type d | sort)
ok "library, header and pkg-config file are there" eval \
    "test -f $p/lib/libseen.a -a -f $p/include/seen.h -a -f $p/lib/pkgconfig/seen.pc -a -L $p/lib/libseen.so.0"
[ ! -f "$build/seen.so" ] ||
    ok "the Redis module is executable, or servers refuse it" eval "test -x $p/lib/redis/modules/seen.so"
same "beside libseen.so are libraries, and folders" "" "$(cd "$p/lib" && find . -maxdepth 1 ! -type d ! -name 'libseen*')"
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
export PKG_CONFIG_PATH="$p/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$t/stage"
strict="-pedantic -Wall -Wextra -Werror"
ok "C, shared" eval "gcc -std=c11 $strict -o $t/c $t/user.c \$(pkg-config --cflags --libs seen) && LD_LIBRARY_PATH=$p/lib $t/c"
ok "C++, shared" eval "g++ -std=c++11 $strict -o $t/cc $t/user.cc \$(pkg-config --cflags --libs seen) && LD_LIBRARY_PATH=$p/lib $t/cc"
ok "C, static" eval "gcc -static -o $t/s $t/user.c \$(pkg-config --static --cflags --libs seen) && $t/s"
for e in leveldb_absent:seen_leveldb guard_sqlite:seen_guard; do
    [ -f "$p/lib/pkgconfig/${e#*:}.pc" ] || continue
    # The guard is built without SQLite too.
    case $e in guard_sqlite:*) [ -e /usr/include/sqlite3.h ] || { skip "no sqlite3.h here"; continue; } ;; esac
    ok "examples/${e%:*}.c with ${e#*:}.pc" eval \
        "gcc -o $t/e examples/${e%:*}.c \$(pkg-config --cflags --libs ${e#*:}) -lm"
done
for h in "$p"/include/*.h; do
    ok "${h##*/} compiles alone, in strict C11 and C++11" eval \
        "echo '#include <${h##*/}>' >$t/h.c && gcc -std=c11 $strict -fsyntax-only -I$p/include $t/h.c && g++ -std=c++11 $strict -fsyntax-only -x c++ -I$p/include $t/h.c"
    ! command -v clang >/dev/null || ok "${h##*/}: and with clang" eval \
        "clang -std=c11 $strict -fsyntax-only -I$p/include $t/h.c && clang -std=c++11 $strict -fsyntax-only -x c++ -nostdinc++ -I$p/include $t/h.c"
done
if [ -x "$p/bin/seen" ]; then
    ok "the installed command runs" eval "LD_LIBRARY_PATH= $p/bin/seen --version"
    for c in bash-completion/completions/seen zsh/site-functions/_seen \
        fish/vendor_completions.d/seen.fish; do
        ok "completions: share/$c" test -s "$p/share/$c"
    done
fi
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

# ---- find_package(seen) -----------------------------------------------------------------
# cmake_builds WHERE NAME...: programs by CMake against the tree in WHERE, each run.
cmake_builds() {
    rm -rf "$t/cmake" && mkdir "$t/cmake" && cp "$t/user.c" "$t/user.cc" "$t/cmake" || return
    cat >"$t/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(user C CXX)
find_package(seen 0.1 REQUIRED)
find_package(seen REQUIRED) # twice does no harm
add_executable(shared user.c)
target_link_libraries(shared PRIVATE seen::seen)
add_executable(static user.c)
target_link_libraries(static PRIVATE seen::static)
add_executable(plus user.cc)
target_link_libraries(plus PRIVATE seen::seen)
END
    cmake -S "$t/cmake" -B "$t/cmake/b" -DCMAKE_PREFIX_PATH="$1" && cmake --build "$t/cmake/b" &&
        "$t/cmake/b/shared" && "$t/cmake/b/static" && "$t/cmake/b/plus" &&
        readelf -d "$t/cmake/b/shared" | grep -q 'NEEDED.*libseen.so.0' &&
        ! readelf -d "$t/cmake/b/static" | grep -q 'NEEDED.*libseen'
}
if command -v cmake >/dev/null; then
    ok "find_package(seen) finds the installed tree" cmake_builds "$p"
    mv "$p" "$t/stage/moved"
    ok "and finds it when it was moved" cmake_builds "$t/stage/moved"
    mv "$t/stage/moved" "$p"
    sed -i 's/find_package(seen 0.1 /find_package(seen 77 /' "$t/cmake/CMakeLists.txt"
    ok "a version that is not there yet is refused" eval \
        "! cmake -S $t/cmake -B $t/cmake/new -DCMAKE_PREFIX_PATH=$p"
else
    skip "no cmake here"
fi

# ---- other folders ----------------------------------------------------------------------
folders="PREFIX=/usr BINDIR=/opt/tools LIBDIR=/usr/lib/here INCLUDEDIR=/usr/include/seen MANDIR=/usr/man"
# shellcheck disable=SC2086
ok "make install with every folder named" make -s install BUILD="${BUILD:-build}" $folders DESTDIR="$t/else"
q=$t/else
ok "each went where it was told" eval "test -x $q/opt/tools/seen -a -f $q/usr/lib/here/libseen.a -a \
    -f $q/usr/include/seen/seen.h -a -f $q/usr/man/man1/seen.1 -a -x $q/usr/lib/here/redis/modules/seen.so"
same "and nothing anywhere else" "" "$(cd "$q" && find . ! -type d | grep -v -e '^./opt/tools/' -e '^./usr/lib/here/' \
    -e '^./usr/include/seen/' -e '^./usr/man/' -e '^./usr/share/')"
same "as many files as with PREFIX alone" "$(echo "$plain" | wc -l)" "$(find "$q" ! -type d | wc -l)"
ok "pkg-config follows" eval "PKG_CONFIG_PATH=$q/usr/lib/here/pkgconfig PKG_CONFIG_SYSROOT_DIR=$q \
    pkg-config --cflags --libs seen | grep -q -- '-I$q/usr/include/seen -L$q/usr/lib/here -lseen'"
! command -v cmake >/dev/null || ok "so does CMake" cmake_builds "$q/usr/lib/here/cmake/seen"
# shellcheck disable=SC2086
ok "make uninstall with the same folders" make -s uninstall BUILD="${BUILD:-build}" $folders DESTDIR="$q"
same "leaves nothing" "" "$(find "$q" ! -type d)"
ok "make uninstall takes all of it away" eval \
    "make -s uninstall BUILD=${BUILD:-build} PREFIX=/opt/seen DESTDIR=$t/stage && test -z \"\$(find $t/stage ! -type d)\""
if git rev-parse HEAD >/dev/null 2>&1; then
    ok "make dist makes the same archive twice" eval \
        "make -s dist BUILD=$t/one && make -s dist BUILD=$t/two && cmp $t/one/*.tar.gz $t/two/*.tar.gz"
    ok "and the library builds from it" eval \
        "tar -xzf $t/one/seen-*.tar.gz -C $t && make -s -j2 -C $t/seen-* CFLAGS=-O0 BUILD=build build/libseen.a"
else
    skip "$(why_no_git): no archive" 2
fi
finish
