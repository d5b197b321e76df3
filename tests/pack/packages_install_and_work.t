#!/bin/bash
# The Debian packages: built in a bare Debian without a word from lintian; each installed into a bare Debian with nothing else, where its own test passes;
# replaced by a newer version, and removed, they leave nothing behind.
#   SUITE=trixie tests/pack/packages_install_and_work.t      another release [bookworm]
#   TWICE=1 ...               two builds must have the same bytes, as ./run release has it
#   PACKAGES=FOLDER ...       tries what pack/package has put there
suite=${SUITE:-bookworm}
TMPDIR=/var/tmp # on a disk, where programs may run
. "$(dirname "$0")/../tap.sh"
. "$top/tests/pack/ways.sh"
root=$work/root
"$top/pack/bare" make "$root" "$suite" 2>log || skip_all "$(tail -n 1 log)"
rm "$root/etc/dpkg/dpkg.cfg.d/quick" # with documents, which have the examples
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/quick"
if [ -n "${PACKAGES-}" ]; then
    cp -r "$PACKAGES" "$root/debs"
else
    ok "packages are built, and lintian has nothing to say" env QUICK=1 "$top/pack/package" "$suite" "$root/debs"
fi
[ -d "$root/debs" ] || finish
rm -f "$root"/debs/*-dbgsym_*
mkdir "$root/new" && mv "$root"/debs/*.deb "$root/new" || exit 1

# The same packages as an older version, to come from.
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog")
mkdir "$root/old" && cd "$root/old" || exit 1
for d in ../new/*.deb; do
    rm -rf x && dpkg-deb -R "$d" x && sed -i "s/(= $version)/(= 0.0.1-1)/; s/^Version: .*/Version: 0.0.1-1/" x/DEBIAN/control &&
        dpkg-deb -b --root-owner-group -Znone x . >/dev/null
done
rm -rf x
cd "$work" || exit 1
inside() { "$top/pack/bare" enter "$root" "$1" "$2"; }
for d in old new; do (cd "$root/$d" && dpkg-scanpackages -m . >Packages 2>/dev/null); done
use() { echo "deb [trusted=yes] file:/$1 ./" >"$root/etc/apt/sources.list.d/seen.list"; }
use new
ok "the machine's own sources" inside online "apt-get update"
# What is there of ours: packages in any state, and files.
state() {
    inside online "dpkg-query -W -f '\${Package} \${Status}\n' | grep seen
        find / -xdev \( -path /proc -o -path /dev -o -path /var/log -o -path /var/cache -o -path /var/lib/apt -o -path /new -o -path /old \
            -o -path /tests -o -path /debs -o -path /tmp \) -prune -o \( -name '*seen*' -print \)" | grep -v -e '^/etc/apt/' -e '^/var/lib/pam/seen$' -e '^/var/lib/dpkg/[a-z-]*$'
}
same "nothing of ours is there" "" "$(state)"

# ---- as the README has it ---------------------------------------------------------------------
mkdir -p "$root/build/packages" && ln -s /new "$root/build/packages/bookworm"
install=$(way 'Debian packages')
ok "${install#* && }" inside online "cd / && ${install#* && } && seen --version"
inside online "apt-get purge --autoremove seen" >/dev/null 2>&1
rm -r "$root/build"
same "the README builds them so" "./run package" "${install%% && *}"

# ---- each alone ------------------------------------------------------------------------------
# The tests are those that debian/tests/control declares, with the packages that it names.
mv "$root/debs/tests" "$root/tests"
awk '/^Tests:/ { t = $2 } /^Depends:/ { sub(/^Depends: */, ""); gsub(/,/, ""); print t, $0 }' \
    "$root/tests/control" >declared
while read -r test depends; do
    what=$(cd "$root/new" && for d in *.deb; do case " $depends " in *" ${d%%_*} "*) echo "${d%%_*}" ;; esac; done | xargs)
    ok "$what: installed alone" inside online "apt-get install $depends"
    ok "$what: $test" inside alone "/tests/$test"
    inside online "apt-get purge --autoremove $depends" >/dev/null 2>&1 </dev/null
    echo "$what" >>tried
done <declared
ok "every package was tried" eval "test -z \"\$(cd $root/new && ls *.deb | sed 's/_.*//' | sort |
    comm -23 - <(tr ' ' '\n' <$work/tried | sort -u) | grep -vx libseen0)\""
same "and removed without a trace" "" "$(state)"

# ---- from version to version ---------------------------------------------------------------------
all=$(cd "$root/new" && ls ./*.deb | sed 's|^./||; s/_.*//' | xargs)
use old
ok "an older version of all of them" inside online "apt-get update && apt-get install $all"
use new
ok "is replaced by this one" inside online "apt-get update && apt-get dist-upgrade &&
    ! dpkg-query -W $all | grep -Fv '$version'"
ok "which does its jobs beside each other" inside alone "for t in command python-module sqlite-extension nginx-module redis-module; do
    case \$t in redis-module) command -v redis-server || continue ;; sqlite-extension) command -v sqlite3 || continue ;; esac
    /tests/\$t || exit; done"
ok "all of it is removed" inside online "apt-get purge --autoremove $all"
same "without a trace" "" "$(state)"
finish
