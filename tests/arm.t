#!/bin/sh
# The NEON twins, cross-compiled and run under qemu: bit for bit the scalar ones, and the
# same file bytes as here.
cd "$(dirname "$0")/.." || exit 1
cc=aarch64-linux-gnu-gcc
command -v $cc >/dev/null && command -v qemu-aarch64 >/dev/null || {
    echo "1..0 # SKIP no cross compiler or qemu for ARM"
    exit 0
}
echo 1..3
b=build/arm
mkdir -p $b
# xxhash.h is one header and the same for every machine.
mkdir -p $b/inc && cp /usr/include/xxhash.h $b/inc/
for t in twins vectors filter; do
    n=$((${n:-0} + 1))
    if $cc -std=gnu11 -D_GNU_SOURCE -O2 -ffp-contract=off -static -Iinclude -Ilib -Itests -I$b/inc \
        -o $b/$t tests/unit/$t.c lib/*/*.c -lm -lpthread >$b/log 2>&1 &&
        qemu-aarch64 $b/$t >$b/log 2>&1; then
        echo "ok $n - $t on ARM with NEON"
    else
        echo "not ok $n - $t on ARM with NEON"
        grep -v '^ok' $b/log | head -n 20 | sed 's/^/# /'
    fi
done
