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

# Starts a site with these options; sets port and site_pid. The port, which stands in every
# address, is the same in every run unless somebody has it: so are the hashes.
sites=0
start_site() {
    sites=$((sites + 1))
    for port in $(seq $((11000 + sites)) 50 11999); do
        rm -f "$dir/port"
        "$site" --port "$port" "$@" serve >"$dir/port" 2>"$dir/site.err" &
        site_pid=$!
        until [ -s "$dir/port" ] || ! kill -0 $site_pid 2>/dev/null; do sleep 0.02; done
        [ -s "$dir/port" ] && break
    done
    [ -s "$dir/port" ] || { sed 's/^/Bail out! no site: /' "$dir/site.err"; exit 1; }
    pids="$pids $site_pid"
}

stop_site() {
    kill -9 "$site_pid"
    wait "$site_pid" 2>/dev/null
}

# A free port for another server, below those that connections take for themselves, with
# room for a cluster's second one.
free_port() { perl -MIO::Socket::INET -e 'while (1) { my $p = 12000 + int rand 10000;
    my @s = map { IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:$_") } $p, $p + 10000;
    if ($s[0] && $s[1]) { print $p; exit } }'; }

report() { "$site" ask "$port" "/_report${1-}"; }
answered() { report | sed -n 's/.*answered //p'; }

# until_answered N PID: waits for N answers, but not for a crawler that is gone.
until_answered() {
    while [ "$(answered)" -lt "$1" ] && kill -0 "$2" 2>/dev/null; do sleep 0.02; done
}

# The site's report is as it must be: nothing missing, nothing twice, nothing else.
all_once() {
    r=$(report "${2-}")
    n=$(echo "$r" | sed -n 's/^pages \([0-9]*\) .*/\1/p')
    is "$(echo "$r" | grep -v '^robots')" "pages $n missing 0 twice 0 again 0 most 1
redirects missing 0 again 0 unwanted 0
unknown 0 outside 0" "$1"
}
