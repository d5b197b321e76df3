#!/bin/sh
# The NEON variants, cross-compiled and run under qemu: bit for bit the scalar ones, and the
# same file bytes as here.
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1
cc=aarch64-linux-gnu-gcc
command -v $cc >/dev/null && command -v qemu-aarch64 >/dev/null ||
    skip_all "no cross compiler or qemu for ARM"
b=build/arm
mkdir -p $b
# xxhash.h is one header and the same for every machine.
mkdir -p $b/inc && cp /usr/include/xxhash.h $b/inc/
make -s -j2 CC=$cc BUILD=$b CFLAGS="-O2 -I$b/inc" $b/libseen.a >$b/log 2>&1 || {
    echo "Bail out! the library does not build for ARM"
    cat $b/log >&2
    exit 1
}
for t in variants_set_same_bits vectors_stay vectors_static_stay handle_keeps_promises foreign_golden; do
    ok "$t on ARM with NEON" sh -c "$cc -std=gnu11 -D_GNU_SOURCE -O2 -ffp-contract=off -static -Iinclude -DSEEN_UNSTABLE \
        -Ilib -Itests -I$b/inc -o $b/$t tests/unit/$t.c $b/libseen.a -lm -lpthread &&
        qemu-aarch64 $b/$t >$b/log 2>&1 || { grep -v '^ok' $b/log; exit 1; }"
done
finish
