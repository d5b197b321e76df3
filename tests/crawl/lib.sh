# lib.sh - what the crawl tests share beyond tests/tap.sh: the site, and its end. They run
# in the project's folder; $dir is theirs.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
cd "$top" || exit 1
dir=$work
site=$build/tests/crawl/site
crawl=$build/seen-crawl
[ -x "$crawl" ] && [ -x "$site" ] || skip_all "seen-crawl was not built: its packages are missing"
pids=
at_exit() {
    for p in $pids; do { kill -9 "$p" && wait "$p"; } 2>/dev/null; done
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
    same "$1" "pages $n missing 0 twice 0 again 0 most 1
redirects missing 0 again 0 unwanted 0
unknown 0 outside 0" "$(echo "$r" | grep -v '^robots')"
}
