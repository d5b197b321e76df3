# ways.sh - what the README says about how to install, for the tests that do it.
# shellcheck shell=sh disable=SC2154
# The command of the README's row that begins with these words.
way() { sed -n "s/^| $1.* | \`\(.*\)\` |\$/\1/p" "$top/README.md"; }
# The tracked files, in the folder $1.
copy_tree() {
    mkdir -p "$1" && (cd "$top" && if git rev-parse --git-dir >/dev/null 2>&1; then git ls-files -z; else
        find . -path ./build -prune -o -path ./.git -prune -o -type f -print0; fi | tar -c --null -T -) | tar -x -C "$1"
}
