#!/bin/sh
# dcso.t - the command `bloom` (golang-github-dcso-bloom-cli) and we share filters.
. "$(dirname "$0")/../tap.sh"
seen=$(command -v seen)
command -v bloom >/dev/null || {
    echo "1..0 # SKIP no bloom command (golang-github-dcso-bloom-cli)"
    exit 0
}
seq 1 2000 | sed 's/^/key /' >keys
seq 2001 9000 | sed 's/^/key /' >others
bloom create -p 0.01 -n 3000 theirs
bloom insert theirs <keys
ok "info recognises what bloom wrote" sh -c "'$seen' info theirs | grep -q dcso"
same "we find every key" 2000 "$("$seen" has -c theirs keys)"
same "and call the same absent ones present" "$(bloom check theirs <others | cksum)" \
    "$("$seen" has theirs others | cksum)"
"$seen" new --kind dcso -n 3000 -e 0.01 ours
"$seen" add ours keys
ok "we write the very same file" cmp theirs ours
"$seen" add ours others
same "bloom finds what we added" 7000 "$(bloom check ours <others | wc -l)"
bloom insert theirs <others
ok "and adds the same bits and the same count" cmp theirs ours
bloom --gzip create -p 0.01 -n 3000 z.gz
bloom --gzip insert z.gz <keys
same "compressed ones are asked" 2000 "$("$seen" has -c z.gz keys)"
"$seen" add z.gz others
same "added to, and read by bloom" 7000 "$(bloom --gzip check z.gz <others | wc -l)"
echo "some data" | bloom set-data ours >/dev/null 2>&1
"$seen" add --word one-more ours
same "attached data stays" "$(bloom get-data ours)" "some data"
finish
