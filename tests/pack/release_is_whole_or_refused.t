#!/bin/bash
# ./run release refuses a tree that is not in order, and names the file and what is wrong.
. "$(dirname "$0")/../tap.sh"
command -v git >/dev/null || skip_all "no git here"
version=$(sed -n 's/^.define SEEN_VERSION "\(.*\)"/\1/p' "$top/include/seen.h")
# A tree with what the check reads, in order, as a repository of its own.
mkdir tree && cd tree || exit 1
(cd "$top" && tar -c run pack include/seen.h debian/changelog bindings/wasm/package.json CHANGELOG.md) | tar -x
sed -i "/^## Unreleased/,\$d" CHANGELOG.md
printf '## Unreleased\n\n## %s\n\n- all: new.\n' "$version" >>CHANGELOG.md
touch "pack/abi/libseen-$version.abi"
git init -q . && git config user.name x && git config user.email x@y && git add -A && git commit -qm x || exit 1

check() { ./run release --check "$version"; }
# refused WORDS PATTERN COMMAND: with that change, committed, the release is refused.
refused() {
    local got=0
    eval "$3"
    git commit -qam change || true
    check >"$work/log" 2>&1 || got=$?
    [ $got = 1 ] && grep -Eq -- "$2" "$work/log" && [ "$(wc -l <"$work/log")" = 1 ]
    held "$1" $?
    git reset -q --hard first
}
git tag first
ok "a tree in order is fine" check
fails "no version" 2 'release' bash -c './run release 2>&1 >/dev/null | head -n 1 >&2; exit ${PIPESTATUS[0]}'
rm -f out err
refused "another version in seen.h" '^release: include/seen.h: SEEN_VERSION is' 'sed -i "s/SEEN_VERSION \"/&9/" include/seen.h'
refused "another number in seen.h" '^release: include/seen.h: the number' 'sed -i "s/SEEN_VERSION_PATCH /&9/" include/seen.h'
refused "an older package" '^release: debian/changelog: ' 'sed -i "1s/(/(0/" debian/changelog'
refused "another version for npm" '^release: bindings/wasm/package.json: ' 'sed -i "s/\"version\": \"/&9/" bindings/wasm/package.json'
refused "lines under Unreleased" '^release: CHANGELOG.md: has lines' 'sed -i "s/^## Unreleased/&\n\n- more/" CHANGELOG.md'
refused "an empty changelog" '^release: CHANGELOG.md: says nothing' 'sed -i "/^- all/d" CHANGELOG.md'
refused "no description of the interface" '^release: pack/abi/libseen-.*: missing' 'git rm -q pack/abi/libseen-'"$version"'.abi'
touch stray
ok "a file that is not committed" eval "! check 2>$work/log && grep -q 'working tree: not clean: .* stray' $work/log"
rm -f stray
git tag "v$version"
ok "a version that is tagged already" eval "! check 2>$work/log && grep -q 'exists already' $work/log"
finish
