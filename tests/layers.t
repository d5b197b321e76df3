#!/bin/sh
# Every room includes only what is below it, with "..." and with <...>; ARCHITECTURE.md
# names only what exists.
. "$(dirname "$0")/tap.sh"
cd "$top" || exit 1

# Each room, and what it may include besides itself and the public headers (include/, and
# seen_*.h of guard and plugins): rooms, or single headers where that is all it may see.
# Rooms of programs see seen.h, kit and remote; plugins and bindings see public headers,
# and Redis's and Python's the one header more that they share with the library.
cat >"$work/allowed" <<'TABLE'
include
lib/base
lib/hash lib/base
lib/sketch lib/base lib/hash
lib/kind lib/base lib/hash lib/sketch
lib/foreign/redisbloom lib/base lib/hash lib/sketch lib/kind
lib/foreign lib/base lib/hash lib/sketch lib/kind lib/foreign/redisbloom
lib/filter lib/base lib/hash lib/sketch lib/kind lib/foreign
kit lib/base/replace.h lib/base/sync.h
remote lib/foreign/redisbloom/redisbloom.h
corpus kit
cli/lines kit
cli/filters kit remote
cli/uniq kit cli/lines cli/filters
cli kit corpus cli/lines cli/filters cli/uniq
guard remote lib/base/sync.h
crawl/net kit crawl/buf.h crawl/config.h crawl/outcome.h
crawl/page kit crawl/net crawl/buf.h
crawl/queue kit crawl/net crawl/page crawl/buf.h crawl/config.h crawl/outcome.h
crawl/archive kit crawl/net crawl/queue crawl/buf.h
crawl/shared kit remote crawl/queue
crawl/view kit crawl/queue crawl/buf.h crawl/config.h
crawl kit remote crawl/net crawl/page crawl/queue crawl/archive crawl/shared crawl/view
plugins/redis/server lib/foreign/redisbloom/redisbloom.h
plugins/redis/bf plugins/redis/server lib/foreign/redisbloom/redisbloom.h
plugins/redis/cf plugins/redis/server lib/foreign/redisbloom/redisbloom.h
plugins/redis/sketches plugins/redis/server lib/foreign/redisbloom/redisbloom.h
plugins/redis plugins/redis/server plugins/redis/bf plugins/redis/cf plugins/redis/sketches
plugins/nginx
plugins/leveldb
plugins/rocksdb
plugins/sql
plugins/sqlite plugins/sql
plugins/postgres plugins/sql
bindings/python/src remote/remote.h
bindings/wasm/src
examples
TABLE

# FILE HEADER-AS-WRITTEN, of all sources; then FILE FILE-IT-MEANS for headers of ours.
find include lib kit remote cli corpus crawl guard plugins bindings examples \( -name '*.[ch]' -o \
    -name '*.cc' \) ! -path '*/libc/*' | sort >"$work/files"
xargs grep -HE '^[ \t]*#[ \t]*include[ \t]*[<"]' <"$work/files" |
    sed -E 's/^([^:]*):[^<"]*[<"]([^>"]*).*/\1 \2/' >"$work/includes"
awk 'NR == FNR { n = split($1, at, "/"); of[at[n]] = of[at[n]] " " $1; next }
    { n = split($2, at, "/"); m = split(of[at[n]], may, " ")
      for (i = 1; i <= m; i++) {
          end = "/" $2; whole = "/" may[i]
          if (substr(whole, length(whole) - length(end) + 1) == end) { print $1, may[i]; break }
      } }' "$work/files" "$work/includes" >"$work/arrows"

same "no two headers of ours have one name" "" "$(sed -n 's#.*/\([^/]*\.h\)$#\1#p' "$work/files" | sort | uniq -d)"
wrong=$(awk 'function room(f) { sub("/[^/]*$", "", f); return f }
    NR == FNR { known[$1] = 1; for (i = 2; i <= NF; i++) may[$1, $i] = 1; next }
    { from = room($1); to = room($2) }
    !(from in known) { print from " is a room that tests/layers.t does not know"; next }
    from == to || to == "include" || $2 ~ /^(guard|plugins\/[a-z]*)\/seen_[a-z]*\.h$/ { next }
    !((from, to) in may) && !((from, $2) in may) { print $1 " includes " $2 }' "$work/allowed" "$work/arrows" | sort -u)
same "every room includes only what is below it" "" "$wrong"

# A table that allowed a circle would allow anything: take away rooms that include none that
# is left, until nothing is left.
same "no room is above and below another" "" "$(awk '
    { room[$1] = 1; n[$1] = 0; for (i = 2; i <= NF; i++) if ($i !~ /\.h$/) under[$1, ++n[$1]] = $i }
    END { do { gone = 0
              for (r in room) { free = 1
                  for (i = 1; i <= n[r]; i++) if (under[r, i] in room) free = 0
                  if (free) { delete room[r]; gone = 1 } }
          } while (gone)
          for (r in room) print r }' "$work/allowed")"
# A single header that a lower room may see must not lead it up again.
same "headers that lower rooms see include nothing of their room" "" "$(awk '
    NR == FNR { for (i = 2; i <= NF; i++) if ($i ~ /^crawl\/.*\.h$/) leaf[$i] = 1; next }
    ($1 in leaf) && $2 ~ /^crawl\// && !($2 in leaf) { print $1 " includes " $2 }' "$work/allowed" "$work/arrows")"

same "the library needs libc, libm and xxhash" "" "$(grep '^lib/' "$work/includes" | awk '{ print $2 }' | sort -u |
    grep -vE '/.*/|^(base|hash|sketch|kind|foreign|filter)/|^seen[a-z_]*\.h$|^sys/' |
    grep -vxE '(arm_neon|errno|fcntl|float|immintrin|inttypes|limits|math|poll|pthread|sched|std(arg|bool|def|int|io|lib)|string|time|unistd|wasm_simd128|xxhash)\.h')"
same "only lib/base/cpu.c asks the processor what it can" "lib/base/cpu.c" "$(xargs grep -lE \
    '__builtin_cpu_|getauxval|cpuid' <"$work/files")"
same "only lib/base/replace.c and the two callers that have a reason rename files" "" "$(xargs grep -lE \
    '\<(rename|renameat2?) *\(' <"$work/files" | grep -vxE 'lib/base/replace\.c|kit/durable\.c|crawl/outputs\.c')"

# ---- ARCHITECTURE.md -----------------------------------------------------------------
# Paths with a slash exist; a bare name of a file in the table is one somewhere.
grep -oE '[A-Za-z0-9_.-]+(/[A-Za-z0-9_.*-]+)+/?|`[^`]*`' ARCHITECTURE.md | grep -v '`' | grep -E '^(include|lib|kit|remote|cli|corpus|crawl|guard|plugins|bindings|web|pack|tests|docs|debian|bench|examples)/' |
    sed 's/[.,;:]*$//' | sort -u >"$work/paths"
missing=$(while read -r p; do
    # shellcheck disable=SC2086
    ls -d $p >/dev/null 2>&1 || echo "$p"
done <"$work/paths")
same "every path in ARCHITECTURE.md exists" "" "$missing"
# Of each row of the look-up table: its files, and the identifiers in backticks beside them.
wrong=$(sed -n '/^## Where to look/,/^## /s/^| [^|]* | \(.*\) |$/\1/p' ARCHITECTURE.md | tail -n +3 | while read -r row; do
    files=
    for name in $(echo "$row" | sed 's/`[^`]*`//g' | grep -oE '[A-Za-z0-9_./-]+' | grep -E '\.[a-z]+$|/'); do
        name=${name%.}
        if [ -e "$name" ]; then found=$name; else found=$(find . -path ./build -prune -o -name "${name##*/}" -print | grep -v '^./\.' | head -n 1); fi
        if [ -n "$found" ]; then files="$files $found"; else echo "no file $name in: $row"; fi
    done
    [ -n "$files" ] || echo "no file in: $row"
    for word in $(echo "$row" | grep -oE '`[A-Za-z_][A-Za-z0-9_]*`' | tr -d '`'); do
        # shellcheck disable=SC2086
        grep -rqw -- "$word" $files || echo "$word is not in:$files"
    done
done)
same "each row of the look-up table leads to files, and its identifiers are in them" "" "$wrong"

# ---- lines, for people who wonder -----------------------------------------------------
# Before: at 91a632e, when the third edition of the house began (corpus/ was cli/dedup/).
lines() { find "$@" -type f \( -name '*.[ch]' -o -name '*.cc' -o -name '*.py' -o -name '*.mjs' -o -name '*.js' \) -exec cat {} + | wc -l; }
echo "# room: lines before, lines now"
total_before=0 total_now=0
while read -r room before; do
    now=$(lines "$room")
    [ "$room" != cli ] || now=$(lines cli)
    echo "# $room: $before, $now"
    total_before=$((total_before + before)) total_now=$((total_now + now))
done <<'BEFORE'
include 948
lib/base 843
lib/hash 1010
lib/sketch 1856
lib/kind 6312
lib/foreign 6282
lib/filter 4677
kit 3971
remote 2161
cli 9477
corpus 4661
crawl 13377
guard 4976
plugins/redis 8017
plugins/nginx 1348
plugins/leveldb 440
plugins/rocksdb 464
plugins/sql 277
plugins/sqlite 325
plugins/postgres 473
bindings/python 2537
bindings/wasm 1742
web 1647
BEFORE
echo "# all: $total_before, $total_now"
finish
