#!/bin/sh
# scandump.t - a chain from a Redis server to a file and back, with the very lines of
# docs/foreign.md; the server has our module in RedisBloom's layout.
. "$(dirname "$0")/../tap.sh"
seen=$(command -v seen)
module=$(dirname "$seen")/seen.so
command -v redis-server >/dev/null && [ -e "$module" ] &&
    /usr/bin/python3 -c "import redis" 2>/dev/null || {
    echo "1..0 # SKIP no redis-server, no module, or no python3-redis"
    exit 0
}
redis-server --port 0 --unixsocket "$work/s" --save '' --appendonly no --dir "$work" \
    --loadmodule "$module" layout compat >redis.log 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; cd /; rm -rf "$work"' EXIT
cli() { redis-cli -s "$work/s" "$@"; }
tries=0
until cli ping >/dev/null 2>&1 || [ $((tries += 1)) -gt 600 ]; do sleep 0.1; done
awk '/^```/ { on = /^```python/; next } on' "$top/docs/foreign.md" |
    sed "s|redis://localhost:6379|unix://$work/s|" >page.py
run_py() { /usr/bin/python3 -c "exec(open('page.py').read()); $1"; }
seq 1 400 >keys
seq 401 900 >others
cli bf.reserve chain 0.01 100 >/dev/null
sed 's/^/BF.ADD chain /' keys | cli >/dev/null
ok "a chain is fetched" run_py "fetch('chain', 'chain.bf')"
same "its dump is recognised" redisbloom \
    "$("$seen" info --json chain.bf | tr ',' '\n' | sed -n 's/.*"format": *//p' | tr -d ' "}')"
same "every key is in it" 400 "$("$seen" has -c chain.bf keys)"
same "absent keys are answered as by the server" \
    "$(sed 's/^/BF.EXISTS chain /' others | cli | sort | uniq -c | awk '$2 == 1 {print $1}')" \
    "$("$seen" has -c chain.bf others | sed 's/^0$//')"
"$seen" new --kind redisbloom -n 100 -e 0.01 ours.bf
"$seen" add ours.bf keys
ok "ours from the same keys is the same dump" cmp chain.bf ours.bf
ok "added to by us" "$seen" add chain.bf others
ok "and put back" run_py "store('chain.bf', 'again')"
same "the server finds all 900" "900" \
    "$(cat keys others | sed 's/^/BF.EXISTS again /' | cli | grep -c 1)"
same "and counts as we do" "$(cli bf.card again)" \
    "$("$seen" info --json chain.bf | tr ',' '\n' | sed -n 's/.*"keys": *//p' | tr -d ' }')"
kill $server
wait $server 2>/dev/null
finish
