# lib.sh - what the crawl tests share: TAP, a folder, the site, and their end.
BUILD=${BUILD:-build}
site=$BUILD/tests/crawl/site
crawl="$BUILD/seen-crawl"
export LC_ALL=C
[ -x "$crawl" ] && [ -x "$site" ] || {
    echo "1..0 # SKIP seen-crawl was not built: its packages are missing"
    exit 0
}
dir=$(mktemp -d)
pids=
count=0
failed=0

finish() {
    for p in $pids; do { kill -9 "$p" && wait "$p"; } 2>/dev/null; done
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM

# ok RESULT WORDS...: a promise, and whether it held (0 is yes).
ok() {
    count=$((count + 1))
    result=$1
    shift
    if [ "$result" = 0 ]; then
        echo "ok $count - $*"
    else
        echo "not ok $count - $*"
        failed=1
    fi
}

# is GOT WANT WORDS...
is() {
    got=$1 want=$2
    shift 2
    [ "$got" = "$want" ]
    ok $? "$*"
    [ "$got" = "$want" ] || { echo "$got" | sed 's/^/# got  /'; echo "$want" | sed 's/^/# want /'; }
}

plan() {
    echo "1..$count"
    exit $failed
}

# Starts a site with these options; sets port and site_pid.
start_site() {
    rm -f "$dir/port"
    "$site" "$@" serve >"$dir/port" &
    site_pid=$!
    pids="$pids $site_pid"
    while ! [ -s "$dir/port" ]; do sleep 0.02; done
    port=$(cat "$dir/port")
}

stop_site() {
    kill -9 "$site_pid"
    wait "$site_pid" 2>/dev/null
}

report() { "$site" ask "$port" "/_report${1-}"; }

# The site's report is as it must be: nothing missing, nothing twice, nothing else.
all_once() {
    r=$(report "${2-}")
    n=$(echo "$r" | sed -n 's/^pages \([0-9]*\) .*/\1/p')
    is "$(echo "$r" | grep -v '^robots')" "pages $n missing 0 twice 0 again 0 most 1
redirects missing 0 again 0 unwanted 0
unknown 0 outside 0" "$1"
}
