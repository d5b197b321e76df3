#!/bin/sh
# What docs/leveldb.md, docs/rocksdb.md and docs/guard.md show: installed, compiled against the installed
# copy with the lines of the documents, and run.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
[ -e "$build/libseen_guard.a" ] || { echo '1..0 # SKIP the guard is not built here'; exit 0; }
t=$(mktemp -d) && trap 'rm -rf "$t"' EXIT INT TERM
n=0
check() { # name, command
    n=$((n + 1))
    if eval "$2" >"$t/log" 2>&1; then echo "ok $n - $1"; else
        echo "not ok $n - $1"; sed 's/^/# /' "$t/log"; fi
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
check "make install" "make -s install BUILD=$build DESTDIR=$t/root"
p=$t/root/usr/local
export PKG_CONFIG_PATH="$p/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$t/root"
# The compile line of DOC that names SOURCE, its output put into our folder.
compile() { # document, program
    sed -n "/^c[c+]* examples\\/$2\\.c/s| -o $2| -o $t/$2|p" "docs/$1"
}
if [ -e "$p/lib/libseen_leveldb.a" ]; then
    check "docs/leveldb.md: the example compiles" "$(compile leveldb.md leveldb_absent)"
    check "and finds what is there, and nothing else" \
        "LD_LIBRARY_PATH=$p/lib $t/leveldb_absent $t/ldb | grep -x 'with the filter: 10205 found of even ids, 0 of odd ones'"
else
    skip "docs/leveldb.md" "package libleveldb-dev is not installed"
fi
if [ -x "$build/examples/rocksdb_absent" ]; then
    check "docs/rocksdb.md: the example compiles" "$(compile rocksdb.md rocksdb_absent)"
    check "and finds what is there, and nothing else" \
        "LD_LIBRARY_PATH=$p/lib $t/rocksdb_absent $t/rdb | grep '^100000 found; 100000 absent ids cost [0-9]* reads'"
else
    skip "docs/rocksdb.md" "package librocksdb-dev 7.8 is not installed"
fi
if [ -x "$build/examples/guard_sqlite" ]; then
    check "docs/guard.md: the example compiles" "$(compile guard.md guard_sqlite)"
    mkdir "$t/shop"
    check "and finds what is there" \
        "LD_LIBRARY_PATH=$p/lib $t/guard_sqlite $t/shop | grep '^10000 found; of 100001 questions the filter answered 8'"
    check "two processes at once share a filter" \
        "LD_LIBRARY_PATH=$p/lib $t/guard_sqlite $t/shop >$t/one & LD_LIBRARY_PATH=$p/lib $t/guard_sqlite $t/shop >$t/two; wait; grep -q '^1000[01] found' $t/one && grep -q '^1000[01] found' $t/two"
else
    skip "docs/guard.md" "package libsqlite3-dev is not installed"
fi
echo "1..$n"
