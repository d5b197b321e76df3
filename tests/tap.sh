# tap.sh - the one dialect of the shell tests: promises in words, a folder of their own.
#
#   . "$(dirname "$0")/../tap.sh"
#   ok "what is promised" COMMAND...
#   same "what is promised" "$wanted" "$got"
#   fails "what is promised" STATUS PATTERN COMMAND...
#   held "what is promised" $?                  the command stood before
#   finish
#
# A test starts in $work, which is removed at its end, after at_exit, which it may define.
# $top is the project, $build what was built, also first in PATH.
# shellcheck shell=sh disable=SC2034,SC3043
tap_n=0 tap_failed=0
top=$(cd "$(dirname "$0")" && until [ -e tests/tap.sh ]; do cd ..; done && pwd)
build=$(cd "$top" && cd "${BUILD:-build}" && pwd) || exit 1
PATH=$build:$PATH
work=$(mktemp -d) || exit 1
at_exit() { :; }
trap 'at_exit; cd /; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
export LC_ALL=C TMPDIR="$work"
# In containers a clone often belongs to another user than the one who runs the tests.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$top"

# One line of the report; then, if it is a failure, the file $3 as a comment.
tap_say() { # 0 or not, what, file
    tap_n=$((tap_n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $tap_n - $2"
    else
        echo "not ok $tap_n - $2"
        [ ! -s "${3-}" ] || tail -n 40 "$3" | cut -c -500 | sed 's/^/# /'
        tap_failed=1
    fi
}

held() { tap_say "$2" "$1"; }

# The command succeeds. Its output is shown only if it does not.
ok() {
    local what="$1" got=0
    shift
    "$@" >"$work/.log" 2>&1 || got=$?
    tap_say $got "$what" "$work/.log"
}

# Two texts are equal.
same() {
    local got=0
    [ "$2" = "$3" ] || got=1
    [ $got = 0 ] || printf 'wanted: %s\ngot:    %s\n' "$2" "$3" | head -n 20 >"$work/.log"
    tap_say $got "$1" "$work/.log"
}

# A command ends with status $2 and one line of error output that matches the extended
# regular expression $3; its standard output is left in the file out, the line in err.
fails() {
    local what="$1" status="$2" pattern="$3" got=0
    shift 3
    "$@" >out 2>err || got=$?
    if [ "$got" = "$status" ] && [ "$(wc -l <err)" = 1 ] && grep -Eq -- "$pattern" err; then
        tap_say 0 "$what"
    else
        { echo "status $got, wanted $status; wanted one line like: $pattern"; cat err; } >"$work/.log"
        tap_say 1 "$what" "$work/.log"
    fi
}

skip() { # why [, how many promises]
    local i
    for i in $(seq "${2:-1}"); do
        tap_n=$((tap_n + 1))
        echo "ok $tap_n # skip $1"
    done
}

# Why there is no list of files, in git's own words.
why_no_git() {
    command -v git >/dev/null || { echo "git is not installed"; return; }
    git -C "$top" rev-parse HEAD 2>&1 >/dev/null | head -n 1
}

skip_all() { # why; before the first promise
    echo "1..0 # SKIP $1"
    exit 0
}

finish() {
    echo "1..$tap_n"
    exit $tap_failed
}
