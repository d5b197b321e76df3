#!/bin/sh
# Includes go downward only: base < hash < sketch < kind < foreign < filter, and programs see
# seen.h and the kit, never the library's inside. (RedisBloom's structures are no public
# interface; the module and remote/ share them with the library.)
cd "$(dirname "$0")/.." || exit 1
echo 1..2
up=$(grep -n '^#include "' lib/*/*.[ch] | awk -F'[:/"]' '
    BEGIN { split("base hash sketch kind foreign filter", l, " "); for (i in l) rank[l[i]] = i }
    { file = $0; sub(/:.*/, "", file); split(file, at, "/"); from = at[2]
      to = $0; sub(/^[^"]*"/, "", to); sub(/".*/, "", to); split(to, in_, "/")
      if (to ~ /^seen[a-z_]*\.h$/) next
      if (!(in_[1] in rank) || rank[in_[1]] > rank[from]) print file " includes " to }')
[ -z "$up" ] && echo "ok 1 - the library's layers include downward only" ||
    { echo "not ok 1 - the library's layers include downward only"; echo "$up" | sed 's/^/# /'; }
out=$(grep -nE '^#include "(base|hash|sketch|kind|foreign|filter)/' cli/*.[ch] cli/*/*.[ch] kit/*.[ch] \
    remote/*.[ch] crawl/*.[ch] crawl/*/*.[ch] plugins/*/*.[ch] guard/*.[ch] bindings/*/*/*.[ch] examples/*.[ch] 2>/dev/null |
    grep -vE '^(remote|plugins/redis)/.*"foreign/redisbloom\.h"')
[ -z "$out" ] && echo "ok 2 - programs see only seen.h" ||
    { echo "not ok 2 - programs see only seen.h"; echo "$out" | sed 's/^/# /'; }
