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
same "docs/crawl.md shows an example of four commands" 4 "$(wc -l <"$dir/example")"
# However slow the machine, the crawl has begun before it is killed.
sleep() {
    until [ -e c/options ] || ! kill -0 $!; do command sleep 0.05; done
    command sleep "$@"
}
cd "$dir" || exit 1
. ./example >listed 2>err
same "crawl, kill, resume, list: 300 pages and the redirect to the first, each once" "301 301" \
    "$(cut -f1 listed | sort -u | wc -l) $(wc -l <listed)"

# The examples of the man page, in their order, on a site of our own.
rm -rf c
sed -n '/^\.EX/,/^\.EE/p' "$page" | grep -v '^\.E' | sed 's/^ *//; s/\\-/-/g; s/\\e/\\/g' |
    sed "s|https://example.org/|--allow-private --delay 0 $SITE|" >examples
[ "$(wc -l <examples)" -ge 3 ]
held "the man page shows examples" $?
while IFS= read -r line; do
    bash -c "$line" >out 2>err
    same "runs: $line" 0 $?
done <examples
cd "$root" || exit 1
options() { grep -oE -- '--[a-z]+(-[a-z]+)*' | sort -u; }
same "the man page has the options that --help has" \
    "$({ sed 's/\\-/-/g' "$page" | grep '^.fB-'; echo --help; } | options)" \
    "$($crawl --help | grep -E '^ +(-., )?--' | options)"
if command -v man >/dev/null && command -v groff >/dev/null; then
    same "the man page is well formed" "" "$(man --warnings -l "$page" 2>&1 >/dev/null)"
fi
stop_site
finish
