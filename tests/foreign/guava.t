#!/bin/sh
# guava.t - real Guava (libguava-java and a JDK, where present) and we share filters.
. "$(dirname "$0")/../tap.sh"
seen=$(command -v seen)
jar=/usr/share/java/guava.jar
[ -e "$jar" ] && command -v javac >/dev/null && command -v java >/dev/null || {
    echo "1..0 # SKIP no JDK, or no Guava (libguava-java)"
    exit 0
}
javac -cp "$jar" -d . "$top/tests/foreign/Guava.java" >javac.log 2>&1 || {
    echo "1..0 # SKIP Guava does not compile here"
    exit 0
}
guava() { java -Xshare:auto -XX:TieredStopAtLevel=1 -cp "$jar:." Guava "$@"; }
seq 1 400 | sed 's/^/schl\xc3\xbcssel \xf0\x9f\x94\x91 /' >text.keys
seq 401 1400 | sed 's/^/schl\xc3\xbcssel \xf0\x9f\x94\x91 /' >text.others
seq -200 199 >int.keys
seq 200 1199 >int.others
for type in bytes utf8 utf16 int32 int64; do
    case $type in int*) set=int ;; *) set=text ;; esac
    how="--format guava:type=$type"
    guava make "theirs.$type" "$type" 400 0.03 <$set.keys
    same "$type: we find every key in Guava's file" 400 \
        "$("$seen" has -c $how "theirs.$type" $set.keys)"
    "$seen" new --kind "guava:type=$type" -n 400 -e 0.03 "ours.$type"
    "$seen" add $how "ours.$type" $set.keys
    ok "$type: we write the very same file" cmp "ours.$type" "theirs.$type"
    same "$type: both call the same absent keys present" \
        "$(guava ask "ours.$type" "$type" <$set.others | cksum)" \
        "$("$seen" has $how "theirs.$type" $set.others | cksum)"
    "$seen" add $how "theirs.$type" $set.others
    same "$type: Guava reads what we added" 1000 \
        "$(guava ask "theirs.$type" "$type" <$set.others | wc -l)"
done
finish
