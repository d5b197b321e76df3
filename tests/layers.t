#!/bin/sh
# Includes go downward only: base < hash < sketch < kind < foreign < filter, and programs see
# seen.h and the kit, never the library's inside. (RedisBloom's structures are no public
# interface; the module and remote/ share them with the library. Files are written by one code:
# the kit and the guard wrap the library's. What stands in for files of the library in
# WebAssembly is declared by their headers.)
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1
up=$(grep -n '^#include "' lib/*/*.[ch] lib/*/*/*.[ch] | awk -F'[:/"]' '
    BEGIN { split("base hash sketch kind foreign filter", l, " "); for (i in l) rank[l[i]] = i }
    { file = $0; sub(/:.*/, "", file); split(file, at, "/"); from = at[2]
      to = $0; sub(/^[^"]*"/, "", to); sub(/".*/, "", to); split(to, in_, "/")
      if (to ~ /^seen[a-z_]*\.h$/) next
      if (!(in_[1] in rank) || rank[in_[1]] > rank[from]) print file " includes " to }')
same "the library's layers include downward only" "" "$up"
out=$(grep -nE '^#include "(base|hash|sketch|kind|foreign|filter)/' cli/*.[ch] cli/*/*.[ch] corpus/*.[ch] kit/*.[ch] \
    remote/*.[ch] crawl/*.[ch] crawl/*/*.[ch] plugins/*/*.[ch] plugins/*/*/*.[ch] guard/*.[ch] bindings/*/*/*.[ch] examples/*.[ch] 2>/dev/null |
    grep -vE -e '^(remote|plugins/redis)/.*"foreign/redisbloom/redisbloom\.h"' \
        -e '^(kit/(durable|output)\.c|guard/(control|mapped_filters)\.c):.*"base/(replace|sync)\.h"')
same "programs see only seen.h" "" "$out"
same "only lib/base/cpu.c asks the processor what it can" "lib/base/cpu.c" "$(find lib kit \
    cli corpus guard remote crawl plugins bindings -name '*.[ch]' -exec grep -lE '__builtin_cpu_|getauxval|cpuid' {} +)"
# The crawler's rooms: each may include its own files, small headers of crawl/ and kit/, and
# the rooms named after it. Whatever has no slash stands beside the file or in kit/.
out=$(grep -n '^#include "' crawl/*/*.[ch] | awk '
    BEGIN { may["page"] = " net "; may["queue"] = " net page "; may["archive"] = " net queue "
            may["shared"] = may["view"] = " queue " }
    { file = $0; sub(/:.*/, "", file); split(file, at, "/"); room = at[2]
      to = $0; sub(/^[^"]*"/, "", to); sub(/".*/, "", to); n = split(to, in_, "/")
      if (n > 1 ? !index(may[room], " " in_[1] " ") : to ~ /^(crawler|outputs|crawl_options)[.]h$/)
          print file " includes " to }')
same "the crawler's rooms include each other in one direction only" "" "$out"
finish
