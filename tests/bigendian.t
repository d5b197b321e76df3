#!/bin/sh
# Unit programs of the library, cross-compiled and run on a big-endian machine under qemu:
# the same bits, hashes and file bytes as here, for our own files and other systems'.
#   BIGENDIAN=all tests/bigendian.t     all of them, also those that take minutes under qemu
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1
cc=s390x-linux-gnu-gcc
{ command -v $cc && command -v qemu-s390x; } >/dev/null ||
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
# The kit's own programs need libraries that are not there for s390x.
kit=$(for h in kit/*.h; do grep -l "^#include \"${h#kit/}\"" tests/unit/*.c; done | sed 's|.*/||; s|\.c$||' | sort -u | tr '\n' ' ')
slow="build_from_streams cuckoo_removes error_rate foreign_golden \
    keyed_hash_bound losses_within_interval memory_from_the_caller never_denies_a_key \
    promise_holds_for_few_keys ribbon_finds_every_key textbook_billion"
[ "${BIGENDIAN-}" != all ] || slow=
for t in tests/unit/*.c; do
    t=${t#tests/unit/} t=${t%.c}
    case " $kit $slow " in *" $t "*) continue ;; esac
    ok "$t on s390x" sh -c "$cc -std=gnu11 -D_GNU_SOURCE -DSEEN_LESS_WORK -O2 -ffp-contract=off \
        -static -Iinclude -DSEEN_UNSTABLE -Ilib -Itests -I$b/inc -o $b/$t tests/unit/$t.c $b/libseen.a -lm -lpthread &&
        qemu-s390x $b/$t >$b/log 2>&1 || { grep -v '^ok' $b/log; exit 1; }"
done
finish
