#!/bin/bash
# docs.t - what docs/crawl.md shows does what it says; help and man page agree.
. "$(dirname "$0")/lib.sh"
root=$PWD
case $crawl in /*) ;; *) crawl=$root/$crawl ;; esac
start_site --pages 300
# `seen crawl` becomes seen-crawl, as here, so that kill meets the crawler.
printf '#!/bin/sh\nshift\nexec "%s" "$@"\n' "$crawl" >"$dir/seen"
chmod +x "$dir/seen"
PATH=$dir:$PATH
sed -n '/^```sh/,/^```/p' docs/crawl.md | sed '/^```/d; /^SITE=/d' >"$dir/example"
is "$(wc -l <"$dir/example")" 4 "docs/crawl.md shows an example of four commands"
SITE=http://127.0.0.1:$port/
# However slow the machine, the crawl has begun before it is killed.
sleep() {
    until [ -e c/options ] || ! kill -0 $!; do command sleep 0.05; done
    command sleep "$@"
}
cd "$dir" || exit 1
. ./example >listed 2>err
cd "$root" || exit 1
is "$(cut -f1 "$dir/listed" | sort -u | wc -l) $(wc -l <"$dir/listed")" "301 301" \
    "crawl, kill, resume, list: 300 pages and the redirect to the first, each once"
is "$($crawl --help | grep -oE -- '--[a-z-]+' | sort -u)" \
    "$(sed 's/\\-/-/g' docs/man/seen-crawl.1 | grep -oE -- '--[a-z]+(-[a-z]+)*' | sort -u)" \
    "the man page has the options that --help has"
if command -v man >/dev/null && command -v groff >/dev/null; then
    is "$(man --warnings -l docs/man/seen-crawl.1 2>&1 >/dev/null)" "" "the man page is well formed"
fi
stop_site
plan
