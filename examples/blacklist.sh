#!/bin/sh
# blacklist.sh - let requests pass unless their address is on a blacklist.
#
#   examples/blacklist.sh LIST [FILE]...     lines of FILE whose address is not in LIST
#
# Addresses are compared as normalised URLs, so HTTP://Bad.example:80/x and
# http://bad.example/%78 are the same. The filter may call a good address bad, here one in
# a million, so suspects are looked up in the list itself: no good address is refused, and
# only the few suspects cost a search. Cleared suspects come last, once each.
set -eu
[ $# -ge 1 ] || { echo "usage: blacklist.sh LIST [FILE]..." >&2; exit 2; }
list=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen new -n "$(wc -l <"$list")" -e 0.000001 "$work/bad.seen"
seen add -u "$work/bad.seen" "$list"
cat -- "$@" >"$work/in"
# Certainly good lines are printed. Of the suspects, those that are not in the list (read
# as a set of fingerprints) are good after all.
seen has -u -v "$work/bad.seen" "$work/in" >"$work/good" || [ $? = 1 ]
seen has -u "$work/bad.seen" "$work/in" >"$work/suspect" || [ $? = 1 ]
cat "$work/good"
seen uniq -u --against "$list" "$work/suspect"
