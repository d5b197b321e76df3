#!/bin/bash
# ./run release refuses a tree that is not in order, and names the file and what is wrong; it
# runs the tests once for a commit, and refuses files that two builds make differently.
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
fails "no version that this is" 2 'release' bash -c './run release 0.2 2>&1 >/dev/null | head -n 1 >&2; exit ${PIPESTATUS[0]}'
rm -f out err
same "another version than this is wrong in every place" "CHANGELOG.md bindings/wasm/package.json debian/changelog include/seen.h pack/abi/libseen-9.9.9.abi" \
    "$(./run release --check 9.9.9 2>&1 | sed 's/^release: //; s/:.*//' | sort -u | xargs)"
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
git tag -d "v$version" >/dev/null
fails "a tree without git" 1 '^release: working tree: not a clone' env GIT_DIR=/nowhere ./run release --check "$version"
rm -f out err

# People are not root; the packages' bare system is.
mkdir ../ask && printf '#!/bin/sh\necho "sudo $*"\n' >../ask/sudo && chmod 755 ../ask/sudo "$work"
person() { "$@"; }
[ "$(id -u)" != 0 ] || person() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
same "./run package asks sudo" "sudo --preserve-env=TWICE,CHECK,QUICK,BARE_CACHE pack/package trixie" \
    "$(person env PATH="$work/ask:$PATH" pack/package trixie 2>&1)"

# ---- the rest of it, with tests, compilers and bare systems that only leave their names -----
cat >run <<'END'
#!/bin/sh
echo "$*" >>../ran
[ ! -e ../broken ]
END
cat >Makefile <<'END'
dist wasm amalgamation static:
	@mkdir -p $(BUILD)/wasm $(DIST)
	@echo $@ >$(DIST)/$@
	@echo archive >$(BUILD)/seen-VERSION.tar.gz
	@echo $(WASM) >$(BUILD)/wasm/seen.wasm
DIST = $(BUILD)/dist
END
sed -i "s/VERSION/$version/" Makefile
printf '#!/bin/sh\necho "bare: no root here" >&2\n! [ -e ../bareless ]\n' >pack/bare
printf '#!/bin/sh\necho "package $TWICE $1" >>../ran\nmkdir -p "$2" && echo "$1" >"$2/seen.deb"\n' >pack/package
mkdir ../bin && printf '#!/bin/sh\ncp "$5/seen.wasm" "$4/seen.tgz"\n' >../bin/npm && chmod +x ../bin/npm
printf '#!/bin/sh\nexec "$@"\n' >../bin/sudo && chmod +x ../bin/sudo
PATH=$work/bin:$PATH
echo build >.gitignore
git add -A && git commit -qm stand-ins || exit 1
release() { rm -f ../ran && pack/release "$version"; }
touch ../bareless
ok "if no bare system can be made, it says so before the tests" eval "! release && ! test -e ../ran"
rm ../bareless && touch ../broken
ok "tests that fail end it" eval "! release && test \"\$(cat ../ran)\" = test && ! test -e build/release/$version"
rm ../broken
ok "it runs tests, builds packages twice, and says what to tag" eval "release >../said &&
    printf 'test\npackage 1 bookworm\npackage 1 trixie\n' | diff - ../ran && grep 'git tag -a v$version' ../said"
same "its folder has everything" "SHA256SUMS bookworm seen-$version.tar.gz seen.tgz static trixie two-files" \
    "$(cd "build/release/$version" && echo *)"
ok "and its sums" eval "(cd build/release/$version && sha256sum --quiet -c SHA256SUMS && test \$(wc -l <SHA256SUMS) = 6)"
ok "for the same commit the tests are not run again" eval "release && ! grep test ../ran"
git commit -q --allow-empty -m next
ok "for another they are" eval "release && grep test ../ran"
ok "two builds that differ are refused" eval "! WASM='\$(BUILD)' release 2>../log && grep 'two builds differ' ../log && ! grep package ../ran"
finish
