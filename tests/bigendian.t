#!/bin/sh
# Every unit program of the library, cross-compiled and run on a big-endian machine under
# qemu; and its files are those of this machine, byte for byte, in both directions.
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1
cc=s390x-linux-gnu-gcc
command -v $cc >/dev/null && command -v qemu-s390x >/dev/null ||
    skip_all "no cross compiler or qemu for s390x"
b=build/s390x
mkdir -p $b/inc
# xxhash.h is one header and the same for every machine.
cp /usr/include/xxhash.h $b/inc/
make -s -j2 CC=$cc BUILD=$b CFLAGS="-O2 -I$b/inc" $b/libseen.a >$b/log 2>&1 || {
    echo "Bail out! the library does not build for s390x"
    cat $b/log >&2
    exit 1
}
