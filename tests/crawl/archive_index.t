#!/bin/bash
# archive_index.t - the index of an archive leads to each page, over rotated files and kill -9.
. "$(dirname "$0")/lib.sh"
RANDOM=3
fast="--allow-private --delay 0 --quiet"
start_site --pages 400
mkdir "$dir/w"
$crawl $fast --out "$dir/pages" --warc "$dir/w/a.warc.gz" "http://127.0.0.1:$port/p/0.html"
same "one file: each page is where the index says" "pages=400 responses=400 " "$(perl tests/crawl/check_index.pl "$dir/w/a.cdxj" 2>"$dir/files")"
same "in one file" 1 "$(cat "$dir/files")"
rm "$dir/w"/*
$crawl $fast --out "$dir/pages" --warc "$dir/w/a.warc.gz" --warc-size 50K "http://127.0.0.1:$port/p/0.html"
same "--warc-size: each page is where the index says" "pages=400 responses=400 " "$(perl tests/crawl/check_index.pl "$dir/w/a.cdxj" 2>"$dir/files")"
[ "$(cat "$dir/files")" -gt 4 ]
held "in several files ($(cat "$dir/files"))" $?
big=$(find "$dir/w" -name '*.gz' -size +60k | wc -l)
same "none of them much larger than asked for" 0 "$big"
stop_site

# Killed again and again: the archive and its index agree.
start_site --pages 1500 --hosts 3 --wait 2
rm "$dir/w"/*
$crawl $fast --any-host --per-host 6 --dir "$dir/c" --out "$dir/pages2" --warc "$dir/w/a.warc.gz" --warc-size 60K "http://127.0.0.1:$port/p/0.html" &
until [ -e "$dir/c/options" ] || ! kill -0 $!; do sleep 0.01; done
for _ in 1 2 3 4 5 6 7 8; do
    pid=$!
    sleep "0.0$((RANDOM % 90 + 10))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    $crawl --resume "$dir/c" 2>>"$dir/err" &
done
wait $!
same "killed eight times: every page once, and all files whole" "pages=1500 responses=1500 " \
    "$(perl tests/crawl/check_index.pl "$dir/w/a.cdxj" 2>"$dir/files")"
same "no file that the index does not know" "$(cat "$dir/files")" "$(find "$dir/w" -name 'a*.warc.gz' | wc -l)"
stop_site
finish
