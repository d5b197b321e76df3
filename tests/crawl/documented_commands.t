#!/bin/bash
# documented_commands.t - the commands in docs/crawl.md and the man page do what they say.
. "$(dirname "$0")/lib.sh"
root=$PWD
case $crawl in /*) ;; *) crawl=$root/$crawl ;; esac
page=$root/$BUILD/man/seen-crawl.1
start_site --pages 300
SITE=http://127.0.0.1:$port/
# `seen crawl` becomes seen-crawl, as here, so that kill meets the crawler.
printf '#!/bin/sh\nshift\nexec "%s" "$@"\n' "$crawl" >"$dir/seen"
chmod +x "$dir/seen"
PATH=$dir:$PATH
sed -n '/^```sh/,/^```/p' docs/crawl.md | sed '/^```/d; /^SITE=/d' >"$dir/example"
is "$(wc -l <"$dir/example")" 4 "docs/crawl.md shows an example of four commands"
# However slow the machine, the crawl has begun before it is killed.
sleep() {
    until [ -e c/options ] || ! kill -0 $!; do command sleep 0.05; done
    command sleep "$@"
}
cd "$dir" || exit 1
. ./example >listed 2>err
is "$(cut -f1 listed | sort -u | wc -l) $(wc -l <listed)" "301 301" \
    "crawl, kill, resume, list: 300 pages and the redirect to the first, each once"

# The examples of the man page, in their order, on a site of our own.
rm -rf c
sed -n '/^\.EX/,/^\.EE/p' "$page" | grep -v '^\.E' | sed 's/^ *//; s/\\-/-/g; s/\\e/\\/g' |
    sed "s|https://example.org/|--allow-private --delay 0 $SITE|" >examples
[ "$(wc -l <examples)" -ge 3 ]
ok $? "the man page shows examples"
while IFS= read -r line; do
    bash -c "$line" >out 2>err
    is $? 0 "runs: $line"
done <examples
cd "$root" || exit 1
options() { grep -oE -- '--[a-z]+(-[a-z]+)*' | sort -u; }
is "$($crawl --help | grep -E '^ +(-., )?--' | options)" \
    "$({ sed 's/\\-/-/g' "$page" | grep '^.fB-'; echo --help; } | options)" \
    "the man page has the options that --help has"
if command -v man >/dev/null && command -v groff >/dev/null; then
    is "$(man --warnings -l "$page" 2>&1 >/dev/null)" "" "the man page is well formed"
fi
stop_site
plan
