#!/bin/bash
# What is written down in two places says the same: the packages, their tests, the table of
# packages, the releases of Debian, and what GitHub runs.
. "$(dirname "$0")/../tap.sh"
cd "$top" || exit 1
same "debian/control is debian/control.in for Debian 12" "$(sed 's/PGVERSION/15/g' debian/control.in)" "$(cat debian/control)"
packages=$(sed -n 's/^Package: //p' debian/control | sort)
same "every package has a test in debian/tests/control, libseen0 that of libseen-dev" "$packages" \
    "$({ sed -n 's/^Depends: //p' debian/tests/control | tr -s ', ' '\n' | grep -Fx "$packages"; echo libseen0; } | sort -u)"
same "every test in debian/tests is declared, and can be run" \
    "$(find debian/tests -type f -perm -u=x -printf '%f\n' | sort)" "$(sed -n 's/^Tests: //p' debian/tests/control | sort)"
same "docs/releases.md has every package" "$packages" \
    "$(sed -n '/^| package/,/^$/s/^| \([^|]*\) |.*/\1/p' docs/releases.md | grep -o '`[^`]*`' | tr -d '`' | sort)"
same "the README installs from the folder that ./run package writes" "$(sed -n 's|.*build/packages/\([a-z]*\)/seen_.*|\1|p' README.md)" \
    "$(sed -n 's/^suite=${1:-\(.*\)}$/\1/p' pack/package)"
same "docs/releases.md names tests that are there" "" "$(grep -o '`tests/[^`]*`' docs/releases.md | tr -d '`' |
    while read -r t; do [ -e "$t" ] || echo "$t"; done)"
# What runs a test is installed by ./run test PART.
eval "$(grep '^parts=' run; grep '^crawl_needs=' run; sed -n '/^part_needs() {/,/^}/p' run)"
for t in tests/*/*.t; do
    case $(head -n 1 "$t") in *python3*) by=python3 ;; *node*) by=nodejs ;; *) by=perl ;; esac
    part=${t#tests/}
    [[ " $(part_needs "${part%/*}" | xargs) " == *" $by"[\ -]* ]] || echo "$t: $by"
done >"$work/unnamed"
same "./run installs what runs each test" "" "$(cat "$work/unnamed")"
same ".ci/run runs every test" "./run test" "$(sed -n 's/.*exec //p' .ci/run)"

python3 -c 'import yaml' 2>/dev/null || { skip "no python3-yaml here"; finish; }
# The workflow, one line a fact.
python3 - >"$work/facts" <<'END' || echo "not YAML" >"$work/facts"
import yaml
flow = yaml.safe_load(open(".github/workflows/tests.yml"))
job, = flow["jobs"].values()
print("on", *sorted(flow[True]))  # YAML 1.1 reads on as true
print("suites", *job["strategy"]["matrix"]["suite"])
print("image", job["container"]["image"], job["container"]["options"])
for step in job["steps"]:
    print("uses" if "uses" in step else "run", step.get("uses") or step["run"], *step.get("env", {}).items())
END
has() { ok "$1" grep -Fxq -- "$2" "$work/facts"; }
has "GitHub's workflow is for pushes and pull requests" "on pull_request push"
has "on the releases of Debian that ./run release builds for" \
    "suites $(sed -n 's/^for suite in ${SUITES:-\(.*\)}; do$/\1/p' pack/release)"
# (The dollar is the workflow's.)
# shellcheck disable=SC2016
has "in a container where namespaces can be made" 'image debian:${{ matrix.suite }} --privileged'
# shellcheck disable=SC2016
same "whose last step is .ci/run, told which release" "run .ci/run ('SUITE', '\${{ matrix.suite }}')" "$(tail -n 1 "$work/facts")"
while IFS= read -r step; do
    ok "step: $step" bash -n -c "$step"
done < <(sed -n 's/^run //p' "$work/facts" | head -n -1)
finish
