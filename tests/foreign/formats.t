#!/bin/sh
# formats.t - the command on other systems' filters: made, added to, asked, told, converted.
. "$(dirname "$0")/../tap.sh"
seen=$(command -v seen)

seq 1 500 >keys
seq 1001 1500 >others

# Every format that can be made: made, filled, asked, and told what it is.
try() {
    id=$1 opens=$2
    shift 2
    f=f.$id
    ok "$id is made" "$seen" new --kind "$@" "$f"
    ok "$id takes keys" "$seen" add $opens "$f" keys
    same "$id has them all" 500 "$("$seen" has -c $opens "$f" keys)"
    new=$("$seen" has -v -c $opens "$f" others)
    ok "$id: $new of 500 absent keys are told to be absent" [ "$new" -gt 300 ]
    ok "$id: info names it" sh -c "'$seen' info $opens $f | grep -q '$id'"
    same "$id: and in JSON" "\"$id\"" \
        "$("$seen" info --json $opens "$f" | tr ',' '\n' | sed -n 's/.*"format": *//p' | tr -d ' }')"
    "$seen" has $opens "$f" others >yes
    cp "$f" again
    ok "$id: adding what is there" "$seen" add $opens "$f" keys
    ok "$id: changes nothing" cmp "$f" again
    ok "$id: to itself" "$seen" convert -f $opens --to "$id" "$f" again
    ok "$id: is a copy" cmp "$f" again
}

try guava '' guava -n 500 -e 0.02
try guava-32 '--format guava-32' guava-32 -n 500 -e 0.02
try parquet '' parquet -n 500 -e 0.02
try redisbloom '' redisbloom -n 100 -e 0.02
try bits-and-blooms '' bits-and-blooms -n 500 -e 0.02
try bits-and-blooms-le '' bits-and-blooms-le -n 500 -e 0.02
try bits-and-blooms-json '' bits-and-blooms-json -n 500 -e 0.02
try dcso '' dcso -n 500 -e 0.02
try libbloom '' libbloom -n 1000 -e 0.02
try libbloom1 '--format libbloom1:n=1000,p=0.02' libbloom1 -n 1000 -e 0.02
try leveldb '--format leveldb' leveldb:b=12 -n 500
try fnv-split '--format fnv-split:m=5000,k=5' fnv-split -m 5000 -k 5
try crc32-shift '--format crc32-shift:n=500,p=0.02' crc32-shift -n 500 -e 0.02
try mmh3-17 '--format mmh3-17:n=500,p=0.02' mmh3-17 -n 500 -e 0.02
try redis-bitmap '--format redis-bitmap:m=5000,seeds=2+3+5-7' redis-bitmap:seeds=2+3+5-7 -m 5000
try scrapy-redis '--format scrapy-redis:m=2^14,k=4' scrapy-redis:m=2^14,k=4
try rediscuckoo '' rediscuckoo -n 1000

ok "rediscuckoo: a key is removed" "$seen" rm --word 77 f.rediscuckoo
ok "and is no longer there" sh -c "! '$seen' has -q --word 77 f.rediscuckoo"
fails "others cannot remove" 2 'guava filters cannot remove' "$seen" rm --word 77 f.guava

# Types: text of numbers as the bytes Java and Parquet hash.
"$seen" new --kind guava:type=int32 -n 500 -e 0.001 ints
ok "integers are added as integers" "$seen" add --format guava:type=int32 ints keys
same "and asked as integers" 500 "$("$seen" has -c --format guava:type=int32 ints keys)"
same "not as text" 0 "$("$seen" has -c --format guava ints keys)"
fails "a key that is not an integer cannot be added" 2 'key "1x" is not an int32' \
    "$seen" add --format guava:type=int32 --word 1x ints
fails "types a format has not are refused" 2 'has no keys of type' \
    "$seen" has --format dcso:type=int32 f.dcso keys

# Conversion where bits carry over.
ok "Parquet to native" "$seen" convert --to native f.parquet p.seen
same "answers stay" "$("$seen" has f.parquet keys others | cksum)" \
    "$("$seen" has p.seen keys others | cksum)"
ok "a native filter that came from Parquet takes keys" "$seen" add p.seen others
same "and has them" 1000 "$("$seen" has -c p.seen keys others)"
"$seen" convert -f --to native f.parquet p.seen
ok "and native to Parquet" "$seen" convert --to parquet p.seen p.sbbf
ok "the same bytes" cmp f.parquet p.sbbf
ok "JSON to binary" "$seen" convert --to bits-and-blooms f.bits-and-blooms-json b1
ok "is the binary form" cmp b1 f.bits-and-blooms
ok "binary to little-endian" "$seen" convert --to bits-and-blooms-le b1 b2
ok "is that form" cmp b2 f.bits-and-blooms-le
ok "Python's array to a Redis bitmap" \
    "$seen" convert --format mmh3-17:n=500,p=0.02 --to redis-bitmap f.mmh3-17 b3
m=$("$seen" info --format mmh3-17:n=500,p=0.02 f.mmh3-17 | sed -n 's/.*m=\([0-9]*\), k=\([0-9]*\).*/\1/p')
k=$("$seen" info --format mmh3-17:n=500,p=0.02 f.mmh3-17 | sed -n 's/.*m=\([0-9]*\), k=\([0-9]*\).*/\2/p')
same "answers stay" "$("$seen" has --format mmh3-17:n=500,p=0.02 f.mmh3-17 keys others | cksum)" \
    "$("$seen" has --format "redis-bitmap:m=$m,seeds=17-$((16 + k))" b3 keys others | cksum)"
fails "OUT is not overwritten" 2 'exists already' "$seen" convert --to native f.parquet p.seen

# And where they do not: the reason, and commands that work.
cp keys KEYS
for to in native guava dcso libbloom libbloom1 leveldb fnv-split crc32-shift mmh3-17 \
    redis-bitmap scrapy-redis parquet redisbloom bits-and-blooms; do
    from=f.dcso
    [ "$to" = dcso ] && from=f.redisbloom
    rm -f rebuilt
    fails "$from is no $to filter" 2 "cannot become a $to filter.*seen new" \
        "$seen" convert --to "$to" "$from" rebuilt
    sed 's/.*from the keys: //; s/^seen /"$seen" /; s/ seen / "$seen" /' err >rebuild
    export seen
    ok "the commands told rebuild it as $to" sh -e rebuild
    ok "there it is" [ -s rebuilt ]
done

# A k that LevelDB reserves for other encodings: its reader says yes to everything.
{ head -c 100 f.leveldb; printf '\037'; } >reserved
same "a reserved k finds all" 500 "$("$seen" has -c --format leveldb reserved others)"
ok "and info says so" sh -c "'$seen' info --format leveldb reserved | grep -q 'error 1 now'"

# Unions.
for f in 1 2; do "$seen" new --kind dcso -n 2000 -e 0.01 u$f; done
"$seen" add u1 keys
"$seen" add u2 others
ok "two filters of one size are merged" "$seen" merge -o u3 u1 u2
same "and hold the keys of both" 1000 "$("$seen" has -c u3 keys others)"
fails "others are not" 2 'one is dcso with m=' "$seen" merge -o u4 u1 f.dcso

# Errors say what is wrong.
fails "a file of no known format" 2 'not a recognised format' "$seen" info keys
fails "and where the names are" 2 "must be named, see 'seen formats'" "$seen" has keys keys
fails "an unknown format" 2 "no format 'no'" "$seen" info --format no keys
fails "an unknown parameter" 2 "parameter 'q=1'" "$seen" info --format guava:q=1 keys
fails "a missing parameter" 2 'fnv-split needs m and k' "$seen" info --format fnv-split keys
fails "a wrong size" 2 'm = 999 bits are 125 bytes, the file has' \
    "$seen" info --format fnv-split:m=999,k=1 keys
fails "contradicting numbers" 2 'k is [0-9]*, not 99' "$seen" info --format guava:k=99 f.guava
head -c 100 f.guava >"cut"
fails "a file cut short" 2 'words do not fit' "$seen" info --format guava cut
for kind in dcso guava guava-32 libbloom libbloom1 bits-and-blooms crc32-shift mmh3-17; do
    fails "a new $kind without its numbers" 2 'needs keys and error' "$seen" new --kind $kind x
done
fails "a new fnv-split without k" 2 'fnv-split needs m and k' "$seen" new --kind fnv-split -m 1000 x

gzip -c f.dcso >z.gz
same "compressed DCSO filters are asked" 500 "$("$seen" has -c z.gz keys)"
chmod 640 z.gz
ln -s z.gz link.gz
ok "and added to" "$seen" add --word new link.gz
same "in the file, not over the link, which stays as open to others as it was" \
    "lrwxrwxrwx -rw-r-----" "$(ls -l link.gz z.gz | cut -c 1-10 | xargs)"
ok "and stay compressed" gzip -t z.gz
gzip -dc z.gz >z
same "with the key in" 1 "$("$seen" has -c --word new z)"

same "formats lists them all" 21 "$("$seen" formats --json | grep -c '"name"')"
finish
