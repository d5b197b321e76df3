#!/bin/bash
# many_workers.t - four crawlers, one crawl: through one Redis and through a cluster of six;
# one of them is killed with -9.
. "$(dirname "$0")/lib.sh"
command -v redis-server >/dev/null || { echo "1..0 # SKIP no redis-server"; exit 0; }

soon="timeout 900" # a crawl that does not end is a failure, too

# start_redis OPTION...: and waits until it answers, it and nobody else; sets p and redis_pid.
start_redis() {
    for _ in 1 2 3 4 5; do
        p=$(free_port)
        mkdir -p "$dir/r$p"
        (cd "$dir/r$p" && exec redis-server --port "$p" --bind 127.0.0.1 --save '' --appendonly no \
            "$@" >log 2>&1) &
        redis_pid=$!
        until redis-cli -p "$p" info server 2>/dev/null | tr -d '\r' | grep -qx "process_id:$redis_pid"; do
            kill -0 $redis_pid 2>/dev/null || continue 2 # somebody else was quicker
            sleep 0.05
        done
        pids="$pids $redis_pid"
        return
    done
    echo "Bail out! no redis-server: $(tail -n 3 "$dir/r$p/log" | xargs)"
    exit 1
}

# four_workers URL WORDS OPTION...: a crawl by four, of which the second is killed in the
# middle, and what must come of it.
four_workers() {
    redis=$1 words=$2
    shift 2
    start_site --pages 2500 --hosts 40 --spell --wait 2
    rm -f "$dir"/w*
    at_once=30
    # Nobody loses a lease because the machine is slow; what the dead one had is free soon.
    set -- --allow-private --delay 0 --any-host --per-host 2 --connections $at_once --lease 120 \
        --quiet --redis "$redis" "$@"
    $soon "$crawl" "$@" --out "$dir/w1" "http://127.0.0.1:$port/p/0.html" &
    w1=$!
    until "$crawl" "$@" --max-pages 1 --out "$dir/w0" 2>/dev/null || ! kill -0 $w1; do sleep 0.05; done
    "$crawl" "$@" --lease 5 --out "$dir/w2" & w2=$!
    $soon "$crawl" "$@" --out "$dir/w3" & w3=$!
    $soon "$crawl" "$@" --out "$dir/w4" & w4=$!
    # In the middle, and when it has something to lose.
    until_answered 1000 $w1
    while ! [ -s "$dir/w2" ] && [ "$(answered)" -lt 3000 ] && kill -0 $w2; do sleep 0.02; done
    kill -9 $w2
    wait $w2 2>/dev/null
    bad=0
    for w in $w1 $w3 $w4; do wait $w || bad=1; done
    same "$words: the others come to the end" 0 $bad
    r=$(report)
    same "$words: every page and redirect was fetched" \
        "pages 2500 missing 0
redirects missing 0
unknown 0" \
        "$(echo "$r" | sed -n 's/ twice.*//p; s/ again.*//p; s/ outside.*//p')"
    most=$(echo "$r" | sed -n 's/.*most //p')
    again=$(($(echo "$r" | sed -n 's/.*again \([0-9]*\).*/\1/p' | paste -sd+)))
    echo "# $again fetched again; by worker: $(wc -l "$dir"/w[1-4] | awk '$2 != "total" { printf "%s ", $1 }')"
    # The killed worker had 30 connections, and 20 ms of answers not yet acknowledged.
    [ "$again" -le $((at_once * 8)) ] && [ "$most" -le 2 ]
    held "$words: only what the killed worker had in flight was fetched again, once" $?
    same "$words: all workers together keep to --per-host 2" 2 \
        "$(echo "$r" | sed -n 's/.*busiest \([0-9]*\).*/\1/p')"
    same "$words: the living workers list no page twice" 0 \
        "$(cat "$dir/w1" "$dir/w3" "$dir/w4" | cut -f1 | sort | uniq -d | wc -l)"
    stop_site
}

start_redis
one=$p

# How addresses are hashed. old.invalid is nowhere, but its address is remembered.
# remembered NAME: the fingerprints in its sets. (make test gives every filter one seed: not these.)
remembered() {
    env -u SEEN_SEED "$crawl" --quiet --delay 0 --retries 0 --redis "redis://127.0.0.1:$one/$1" --out "$dir/h" "${@:2}" \
        http://old.invalid/ 2>"$dir/err"
    redis-cli -p "$one" smembers "seen:$1:{$1.30}:set" | head -c 8 | od -An -tx8 --endian=little | tr -d ' '
}
redis-cli -p "$one" hset seen:xxh3:crawl version 1 mode set cap 1000 err 0.001 seed 12345 >/dev/null
same "a crawl that an earlier version began goes on with XXH3 and its seed" f95f999f78bdcd60 \
    "$(remembered xxh3)"
redis-cli -p "$one" hset seen:keyed:crawl version 2 mode set cap 1000 err 0.001 seed 1 \
    seed_high 2 >/dev/null
same "one of now has a keyed hash and a secret of two words" 205b083c1ff6c702 "$(remembered keyed)"
a=$(remembered new1 --exact) b=$(remembered new2 --exact)
[ ${#a} = 16 ] && [ ${#b} = 16 ] && [ "$a" != "$b" ]
held "each new crawl has a secret of its own" $?
same "of 128 bits" "2 2" "$(redis-cli -p "$one" hget seen:new1:crawl version) $(
    redis-cli -p "$one" hmget seen:new1:crawl seed seed_high | sort -u | grep -c '^[1-9][0-9]*$')"
redis-cli -p "$one" hdel seen:new1:crawl seed_high >/dev/null
same "without its second word it is refused" "1" "$(remembered new1 >/dev/null; grep -c 'not text' "$dir/err")"
redis-cli -p "$one" hset seen:new2:crawl version 3 >/dev/null
same "and so is a crawl of a later version" "1" \
    "$(remembered new2 >/dev/null; grep -c 'not a crawl of this version' "$dir/err")"
four_workers "redis://127.0.0.1:$one/plain" "one Redis, bitmaps"
same "without a module: plain bitmaps" bitmap "$(redis-cli -p "$one" hget seen:plain:crawl mode)"
redis-cli -p "$one" hdel seen:plain:crawl cap >/dev/null
"$crawl" --quiet --redis "redis://127.0.0.1:$one/plain" >"$dir/log" 2>&1
same "keys that somebody else has changed are an error" \
    "2 seen crawl: Redis: a reply is not text: does another program" \
    "$? $(cut -c1-60 "$dir/log")"
four_workers "redis://127.0.0.1:$one/exact" "one Redis, fingerprints" --exact

# Stopped cleanly, a worker gives back what it had: the next one begins at once.
start_site --pages 400 --hosts 3 --wait 5
"$crawl" --allow-private --delay 0 --any-host --quiet --lease 600 --out "$dir/s1" \
    --redis "redis://127.0.0.1:$one/stop" "http://127.0.0.1:$port/p/0.html" &
pid=$!
until_answered 60 $pid
kill -INT $pid
wait $pid
same "Ctrl-C stops a worker" 130 $?
"$crawl" --allow-private --delay 0 --any-host --quiet --per-host 4 --out "$dir/s2" \
    --redis "redis://127.0.0.1:$one/stop"
all_once "another without a URL finishes: each page once"
"$crawl" --redis "redis://127.0.0.1:$one/nothing" 2>"$dir/err"
same "a crawl nobody began cannot be joined" "2 1" "$? $(grep -c 'has not begun' "$dir/err")"
stop_site

# A worker is stopped, at one moment or another, for longer than its lease; what it had is
# fetched by another; then it goes on.
for moment in 1 2 3; do
    start_site --pages 1500 --hosts 40 --spell --wait 20
    set -- --allow-private --delay 0 --any-host --per-host 2 --connections 30 --quiet \
        --redis "redis://127.0.0.1:$one/sleep$moment" "http://127.0.0.1:$port/p/0.html"
    "$crawl" "$@" --lease 1 --out "$dir/a" --links "$dir/al" --warc "$dir/a.warc.gz" & a=$!
    until_answered $((150 + 7 * moment)) $a
    kill -STOP $a
    $soon "$crawl" "$@" --lease 120 --out "$dir/b" --links "$dir/bl" --warc "$dir/b.warc.gz"
    same "a worker sleeps ($moment): another comes to the end" 0 $?
    kill -CONT $a
    wait $a
    same "and so does the sleeper, when it wakes" 0 $?
    echo "# $(report | head -1); sleeper $(wc -l <"$dir/a"), other $(wc -l <"$dir/b")"
    same "no page is listed twice" 0 "$(cat "$dir/a" "$dir/b" | cut -f1 | sort | uniq -d | wc -l)"
    same "and each is listed" 1500 "$(cat "$dir/a" "$dir/b" | awk -F'\t' '$2 == 200' | wc -l)"
    same "so it is in the archives" "$(cat "$dir/a" "$dir/b" | wc -l)" \
        "$(cat "$dir/a.warc.gz" "$dir/b.warc.gz" | gzip -dc | grep -ac '^WARC-Type: response')"
    for w in a b; do
        k=$(wc -l <"$dir/$w")
        same "each where its index says, whatever was withdrawn ($w)" "pages=$k responses=$k " \
            "$(perl tests/crawl/check_index.pl "$dir/$w.cdxj" 2>"$dir/files")"
    done
    same "and in the list of links" \
        "$("$crawl" --allow-private --delay 0 --any-host --per-host 9 --quiet --links "$dir/cl" \
            "http://127.0.0.1:$port/p/0.html" >/dev/null
        cut -f1 "$dir/cl" | sort -u | wc -l) $(wc -l <"$dir/cl")" \
        "$(cat "$dir/al" "$dir/bl" | cut -f1 | sort -u | wc -l) $(cat "$dir/al" "$dir/bl" | wc -l)"
    stop_site
done

# One sleeps while it asks for robots.txt, another takes its only host and gives it back:
# the first one claims it anew.
start_site --pages 2 --wait 2500 # so that it is still on its way when the sleeper wakes
set -- --allow-private --delay 0 --quiet --redis "redis://127.0.0.1:$one/again" \
    "http://127.0.0.1:$port/p/0.html"
"$crawl" "$@" --lease 1 --out "$dir/a" & a=$!
until_answered 1 $a
kill -STOP $a
"$crawl" "$@" --lease 120 --out "$dir/b" & b=$!
until_answered 2 $b
kill -CONT $a
kill -INT $b
wait $b
for _ in $(seq 1200); do kill -0 $a 2>/dev/null && sleep 0.1; done
kill -9 $a 2>/dev/null
wait $a 2>/dev/null
same "a host lost and claimed again is crawled to its end" "0 2 2" \
    "$? $(cat "$dir/a" "$dir/b" | cut -f1 | sort -u | wc -l) $(cat "$dir/a" "$dir/b" | wc -l)"
stop_site

if [ -f "$BUILD/seen.so" ]; then
    start_redis --loadmodule "$(cd "$BUILD" && pwd)/seen.so"
    with=$p
    four_workers "redis://127.0.0.1:$with/m" "one Redis with the module"
    same "with it: its filters" module "$(redis-cli -p "$with" hget seen:m:crawl mode)"
fi

nodes=
for _ in 1 2 3 4 5 6; do
    start_redis --cluster-enabled yes --cluster-node-timeout 60000 --repl-diskless-sync-delay 0
    nodes="$nodes 127.0.0.1:$p"
    first=${first:-$p} first_pid=${first_pid:-$redis_pid}
done
redis-cli --cluster create $nodes --cluster-replicas 1 --cluster-yes >"$dir/cluster.log" 2>&1
# All agree, and every replica is in step; it may have complained that they are slow.
ready() {
    up=0
    for p in $nodes; do
        redis-cli -p "${p#*:}" cluster info | grep -q cluster_state:ok || return 1
        redis-cli -p "${p#*:}" info replication | grep -q master_link_status:up && up=$((up + 1))
    done
    [ $up = 3 ]
}
for _ in $(seq 1200); do ready && break; sleep 0.1; done
if ready; then
    four_workers "redis://127.0.0.1:$first/c" "a cluster of six"
    n=0
    for p in $nodes; do
        [ "$(redis-cli -p "${p#*:}" keys 'seen:c:*' | wc -l)" -gt 0 ] && n=$((n + 1))
    done
    same "three masters and their replicas hold parts of it" 6 $n

    # A master is killed in the middle of a crawl that waits for replicas.
    start_site --pages 2500 --hosts 40 --spell --wait 4
    for w in 1 2; do
        $soon "$crawl" --allow-private --delay 0 --any-host --per-host 2 --connections 30 --lease 5 --quiet \
            --wait 1 --redis "redis://127.0.0.1:$first/f?timeout=120" --out "$dir/f$w" \
            "http://127.0.0.1:$port/p/0.html" 2>>"$dir/f.err" &
        eval "w$w=\$!"
    done
    until_answered 800 $w1
    for p in $nodes; do
        redis-cli -p "${p#*:}" config set cluster-node-timeout 2000 >/dev/null
    done
    kill -9 "$first_pid"
    wait $w1 && wait $w2
    same "a master dies in the middle: the crawl comes to its end" 0 $?
    r=$(report)
    same "and with --wait 1 nothing is missing" \
        "pages 2500 missing 0
redirects missing 0
unknown 0" \
        "$(echo "$r" | sed -n 's/ twice.*//p; s/ again.*//p; s/ outside.*//p')"
    echo "# $(echo "$r" | head -1)"
    stop_site
else
    sed 's/^/# /' "$dir/cluster.log"
    held "a cluster of six can be made" 1
fi
finish
