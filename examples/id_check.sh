#!/bin/sh
# id_check.sh - refuse identifiers that do not exist before asking the database.
#
#   examples/id_check.sh KNOWN [FILE]...
#
# KNOWN lists the identifiers that exist, one a line. The answer for each line of FILE is
# "ask" (it may exist: ask the database) or "no" (it certainly does not). One invented
# identifier in a thousand still reaches the database; the others cost nothing there.
set -eu
[ $# -ge 1 ] || { echo "usage: id_check.sh KNOWN [FILE]..." >&2; exit 2; }
known=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seen new -n "$(wc -l <"$known")" -e 0.001 "$work/ids.seen"
seen add "$work/ids.seen" "$known"
cat -- "$@" >"$work/in"
{ seen has "$work/ids.seen" "$work/in" || [ $? = 1 ]; } | sed 's/^/ask /'
{ seen has -v "$work/ids.seen" "$work/in" || [ $? = 1 ]; } | sed 's/^/no  /'
