#!/bin/sh
# What docs/leveldb.md, docs/rocksdb.md and docs/guard.md show: installed, compiled against
# the installed copy with the lines of the documents, and run.
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
t=$work
[ -e "$build/libseen_guard.a" ] || skip_all "the guard was not built here"
ok "make install" eval "make -s install BUILD=${BUILD:-build} DESTDIR=$t/stage"
p=$t/stage/usr/local
export PKG_CONFIG_PATH="$p/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$t/stage"
# The compile line of DOC that names SOURCE, its output put into our folder.
compile() { # document, program
    sed -n "/^c[c+]* examples\\/$2\\.c/s| -o $2| -o $t/$2|p" "docs/$1"
}
if [ -x "$build/examples/leveldb_absent" ]; then
    ok "docs/leveldb.md: the example compiles" eval "$(compile leveldb.md leveldb_absent)"
    ok "and finds what is there, and nothing else" eval \
        "LD_LIBRARY_PATH=$p/lib $t/leveldb_absent $t/ldb | grep -x 'with the filter: 10205 found of even ids, 0 of odd ones'"
else
    skip "docs/leveldb.md: package libleveldb-dev is not installed"
fi
if [ -x "$build/examples/rocksdb_absent" ]; then
    ok "docs/rocksdb.md: the example compiles" eval "$(compile rocksdb.md rocksdb_absent)"
    ok "and finds what is there, and nothing else" eval \
        "LD_LIBRARY_PATH=$p/lib $t/rocksdb_absent $t/rdb | grep '^100000 found; 100000 absent ids cost [0-9]* reads'"
else
    skip "docs/rocksdb.md: package librocksdb-dev 7.8 is not installed"
fi
if [ -x "$build/examples/guard_sqlite" ]; then
    ok "docs/guard.md: the example compiles" eval "$(compile guard.md guard_sqlite)"
    mkdir "$t/shop"
    ok "and finds what is there" eval \
        "LD_LIBRARY_PATH=$p/lib $t/guard_sqlite $t/shop | grep '^10000 found; of 100001 questions the filter answered 8'"
    ok "two processes at once share a filter" eval \
        "LD_LIBRARY_PATH=$p/lib $t/guard_sqlite $t/shop >$t/one & LD_LIBRARY_PATH=$p/lib $t/guard_sqlite $t/shop >$t/two; wait; grep -q '^1000[01] found' $t/one && grep -q '^1000[01] found' $t/two"
else
    skip "docs/guard.md: package libsqlite3-dev is not installed"
fi
finish
