#!/bin/bash
# container.t - a newcomer's first two commands in an ordinary container: as root, with
# Docker's capabilities, and without the system calls that Docker refuses (in_container.c).
#   SUITE=trixie tests/container.t      another release [bookworm]
#
# Needs root, libseccomp, mmdebstrap and the machine's own package sources; skipped inside a
# container, where none can be made.
suite=${SUITE:-bookworm}
TMPDIR=/var/tmp # on a disk, where programs may run
. "$(dirname "$0")/tap.sh"
cc -O1 -o tool "$top/tests/in_container.c" -lseccomp 2>log || skip_all "package libseccomp-dev is not installed"
root=$work/root
"$top/pack/bare" make "$root" "$suite" 2>log || skip_all "$(tail -n 1 log)"
mkdir "$root/seen"
cd "$top" || exit 1
if git rev-parse --git-dir >/dev/null 2>&1; then git ls-files -z; else
    find . -path ./build -prune -o -path ./.git -prune -o -type f -print0; fi |
    tar -c --null -T - | tar -x -C "$root/seen"
# The folder is of another user than root, as one that was mounted into a container.
chown -R 1234:1234 "$root/seen"

# Quick: what is tried is the container, not how well the library is optimised.
inside() {
    env -i HOME=/root TERM=dumb CFLAGS="-O1 -DSEEN_LESS_WORK" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        "$work/tool" "$root" bash -c "cd /seen && $1" </dev/null
}
ok "it is a container: nothing may be mounted" inside '! mount -t tmpfs none /mnt 2>/dev/null'
ok "and randomness stays in addresses" inside '! setarch -R true 2>/dev/null'
ok "./run demo shows its table" inside "./run demo >table && grep -q 'of awk' table"
ok "./run test unit layers symbols says before what it will do" inside \
    "./run test unit layers symbols >report 2>said && grep 'MB to fetch, .* on disk.* minutes on' said"
ok "and passes" inside "tail -n 1 report | grep -x 'Result: PASS'"
same "what is skipped has a reason" "" "$(inside 'grep "no reason given" report')"
# The tests of a mounted folder skip nothing without need, and say why they skip.
same "nothing but build/ is new in the folder" "" "$(cd "$root/seen" &&
    find . -newer run -path ./build -prune -o -newer run -type f ! -name table ! -name report ! -name said -print | head -n 5)"
finish
