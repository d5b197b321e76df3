#!/bin/sh
# cut_or_too_large.t - other systems' filters that cannot be as asked, or are not whole,
# are refused with the name of what is wrong; sizes and errors are what the help says.
. "$(dirname "$0")/../tap.sh"
seq 1 500 >keys

# One default for all: 0.01 as the help says, whatever the format's own library takes.
for kind in bits-and-blooms crc32-shift dcso guava libbloom libbloom1 mmh3-17 parquet redisbloom; do
    seen new --kind $kind -n 5000 usual && seen new --kind $kind -n 5000 -e 0.01 given
    ok "$kind: the usual error is 0.01" cmp usual given
    rm -f usual given
done
for kind in leveldb rediscuckoo fnv-split redis-bitmap scrapy-redis; do
    fails "$kind has no error to choose" 2 "leave out -e" seen new --kind $kind -e 0.01 no
done
fails "nor scrapy-redis a number of keys" 2 "leave out -n" seen new --kind scrapy-redis -n 10 no
fails "a Parquet filter for a billion keys" 2 "at most 110906249 keys" seen new --kind parquet -n 1e9 no
ok "nothing is left of those" test ! -e no
ok "the largest that keeps its error" seen new --kind parquet -n 110906249 most
same "has 128 MiB" 134217728 "$(seen info --json most | sed -n 's/.*"bytes": \([0-9]*\).*/\1/p')"
rm -f most

# Cut at every place after the header: the format and the field are named.
for kind in bits-and-blooms bits-and-blooms-le dcso guava libbloom parquet redisbloom rediscuckoo; do
    seen new --kind $kind -n 1000 whole && seen add -q whole keys
    size=$(wc -c <whole) named=0 all=0
    for at in 80 100 $((size / 2)) $((size - 9)) $((size - 1)); do
        head -c $at whole >short
        all=$((all + 1))
        seen info short 2>err && named=-100
        grep -q -e "perhaps a $kind filter that was cut short: .*[0-9]" -e 'bytes is .* follow' err &&
            named=$((named + 1))
    done
    same "$kind: $all cuts are named" $all $named
    rm whole
done
seen new -n 1000 whole # compact: a header of 128 bytes and the body
for at in 9 100 127 128 129 1000; do
    head -c $at whole >short
    fails "native and compact, cut at $at" 2 "cut short" seen info short
done
rm whole
seen new -n 100000 whole
for at in 9 100 127 128 4095 4096 5000; do
    head -c $at whole >short
    fails "native, cut at $at" 2 "cut short" seen info short
done

# A counter at its largest value stays there.
seen new --kind dcso -n 1000 full
printf '\377\377\377\377\377\377\377\377' | dd of=full bs=1 seek=40 conv=notrunc 2>/dev/null
seen add -q full keys
same "N does not wrap" 18446744073709551615 "$(seen info --json full | sed -n 's/.*"keys": \([0-9]*\).*/\1/p')"
finish
