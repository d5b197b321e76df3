#!/bin/bash
# power_cuts.t - what a crawl keeps is safe on disk in an order that a power cut cannot
# hurt: data before names, folders after names, outputs before the log that counts them.
. "$(dirname "$0")/lib.sh"
${CC:-cc} -O1 -fPIC -shared -o "$dir/record.so" "$top/tests/cli/record_order.c" -ldl || exit 1

# Runs a crawl with the recorder; the log is in record.
recorded() {
    rm -f "$dir/record"
    LD_PRELOAD=$dir/record.so RECORD=$dir/record "$crawl" --allow-private --delay 0 --quiet "$@" 2>"$dir/said"
}
start_site --pages 60
seed=http://127.0.0.1:$port/p/0.html
mkdir "$dir/own"
recorded --dir "$dir/own/c" --max-pages 20 --out "$dir/pages" --links "$dir/links" --warc "$dir/a.warc.gz" \
    --bodies "$dir/bodies" "$seed"
[ -s "$dir/record" ] || skip_all "nothing can be preloaded here"

# The folder of each file named is safe after the file got its name.
named() {
    for name; do
        awk -v name="$name" '
            ($1 == "create" || $1 == "rename") && $3 == name { waiting = made = 1 }
            $1 == "folder" { waiting = 0 }
            END { exit !made || waiting }' "$dir/record" || {
            echo "the folder of $name is not safe:"
            cat "$dir/record" "$dir/said"
            return 1
        }
    done
}
# The data of each file are safe before its rename.
replaced() {
    awk -v name="$1" '
        $1 == "data" { safe[$2] = NR }
        $1 == "rename" && $3 == name { ok = safe[$2] && safe[$2] < NR }
        END { exit !ok }' "$dir/record" || { cat "$dir/record" "$dir/said"; return 1; }
}
# Before the log is made safe for the last time, so are the outputs it counts.
outputs_first() {
    awk '$1 == "data" && $3 == "frontier.log" { log_at = NR }
        $1 == "data" && $3 != "frontier.log" { at[$3] = NR }
        END { exit !(log_at && at["pages"] && at["pages"] < log_at && at["links"] && at["links"] < log_at &&
            at["a.warc.gz"] && at["a.warc.gz"] < log_at) }' "$dir/record" || { cat "$dir/record"; return 1; }
}
ok "the folder of the options, the log and the outputs is safe after they are made" \
    named options frontier.log pages links a.warc.gz a.cdxj
ok "the folder of the crawl itself is safe, in its own folder" \
    grep -q "^folder [0-9]* own$" "$dir/record"
ok "the options are safe before they have their name" replaced options
ok "the outputs are safe before the log that counts them" outputs_first
ok "the index, sorted at the end, is safe before it has its name" replaced a.cdxj
recorded --resume "$dir/own/c" --max-pages 0
ok "resumed: the options are replaced in order" replaced options
ok "resumed: their folder is safe" named options
ok "resumed: the outputs are safe before the log" outputs_first
same "and all pages are there" 60 "$($crawl --list "$dir/own/c" | wc -l)"

# A damaged log that is repaired.
size=$(stat -c %s "$dir/own/c/frontier.log")
printf '\377\377\377\377' | dd of="$dir/own/c/frontier.log" bs=1 seek=$((size / 3)) conv=notrunc 2>/dev/null
rm -f "$dir/record"
LD_PRELOAD=$dir/record.so RECORD=$dir/record "$crawl" --repair "$dir/own/c" 2>"$dir/said"
ok "repaired: the new log is safe before it has its name" replaced frontier.log
ok "repaired: so is the name of the damaged one, and both before the end" \
    named frontier.log.damaged.1 frontier.log
same "repaired: the damaged log has its second name before the new one is there" "frontier.log.damaged.1 frontier.log" \
    "$(awk '$3 ~ /^frontier.log(.damaged.1)?$/ && ($1 == "create" || $1 == "rename") { print $3 }' "$dir/record" | xargs)"
stop_site
finish
