#!/bin/sh
# A program linked with the last release runs with this library: no function is gone, no
# structure has changed, under one soname. What is new is no matter. Sketches are not frozen.
. "$(dirname "$0")/../tap.sh"
command -v abidiff >/dev/null || skip_all "no abidiff here (abigail-tools)"
abi=$(printf '%s\n' "$top"/pack/abi/libseen-*.abi | sort -V | tail -n 1)
differ() { # description
    abidiff --no-added-syms \
        --suppressions "$top/pack/abi/not_frozen.suppr" "$1" "$build/libseen.so.0"
}
ok "${abi##*/}: what it promises is still there" differ "$abi"
# The comparison sees what it is for.
sed 's/seen_add_str/seen_add_gone/g' "$abi" >gone.abi
ok "a function that is gone would be found" eval "! differ gone.abi && differ gone.abi | grep -q seen_add_gone"
perl -0pe "s{(<class-decl name='seen_spec'.*?layout-offset-in-bits=')64'}{\${1}96'}s" "$abi" >other.abi
ok "so would a member that has moved" eval "! cmp -s other.abi $abi && ! differ other.abi"
sed "s/soname='[^']*'/soname='libseen.so.77'/" "$abi" >soname.abi
ok "and another soname" eval "! differ soname.abi"
finish
