#!/bin/sh
# Linters have nothing to say: shellcheck, cppcheck and clang-tidy with the checks that find
# bugs (.shellcheckrc, .cppcheck, .clang-tidy). `make lint` shows what they say.
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1
git ls-files >/dev/null 2>&1 || skip_all "$(why_no_git): no list of files"
ok "no line of C is longer than 88 columns" make -s lint-columns
# Other versions have other opinions; the tree is kept clean with those of Debian 12.
clang-tidy --version 2>/dev/null | grep -q 'version 14\.' || { skip "clang-tidy 14 is not here: other versions have other opinions" 3; finish; }
for tool in shellcheck:shell cppcheck:cppcheck clang-tidy:tidy; do
    if command -v "${tool%:*}" >/dev/null; then
        ok "${tool%:*} finds nothing" make -s -j2 BUILD="${BUILD:-build}" "lint-${tool#*:}"
    else
        skip "package ${tool%:*} is not installed"
    fi
done
finish
