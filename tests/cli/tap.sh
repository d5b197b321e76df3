# tap.sh - for shell tests: a folder of their own, and promises in words.
#
#   . "$(dirname "$0")/tap.sh"
#   same "what is promised" "$expected" "$(command)"
#   ok "what is promised" command...
#   finish
n=0 failed=0
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$(cd "$top" && cd "${BUILD:-build}" && pwd):$PATH
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
export LC_ALL=C TMPDIR="$work"

# States a promise and whether the command that follows held it.
ok() {
    what=$1
    shift
    n=$((n + 1))
    if "$@" >ok.log 2>&1; then
        echo "ok $n - $what"
    else
        echo "not ok $n - $what"
        sed 's/^/# /' ok.log
        failed=1
    fi
}

# Two texts are equal.
same() {
    n=$((n + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf 'expected: %s\ngot:      %s\n' "$2" "$3" | head -20 | sed 's/^/# /'
        failed=1
    fi
}

# Runs a command, whose status must be $2 and whose error output one line that
# matches the extended regular expression $3; standard output goes to out.
fails() {
    what=$1 status=$2 pattern=$3
    shift 3
    n=$((n + 1))
    got=0
    "$@" >out 2>err || got=$?
    if [ "$got" = "$status" ] && [ "$(wc -l <err)" = 1 ] && grep -Eq -- "$pattern" err; then
        echo "ok $n - $what"
    else
        echo "not ok $n - $what"
        echo "# status $got, wanted $status; wanted one line like: $pattern"
        sed 's/^/# /' err
        failed=1
    fi
}

skip() {
    n=$((n + 1))
    echo "ok $n # skip $1"
}

finish() {
    echo "1..$n"
    exit $failed
}
