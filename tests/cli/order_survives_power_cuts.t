#!/bin/sh
# What a program writes is safe on disk before its name, its name before the record that
# relies on it: data, rename, folder, for every file of every program; and the state of
# seen uniq last.
. "$(dirname "$0")/../tap.sh"

cc=${CC:-cc}
$cc -O1 -fPIC -shared -o record.so "$top/tests/cli/record_order.c" -ldl || exit 1
if ! LD_PRELOAD=$work/record.so RECORD=$work/try sh -c 'exec seen new try.seen' || [ ! -s try ]; then
    echo "1..0 # SKIP nothing can be preloaded here"
    exit 0
fi

# Runs a command with the recorder; the log is in record.
recorded() {
    rm -f record
    LD_PRELOAD=$work/record.so RECORD=$work/record "$@" >/dev/null 2>said
    grep ^umask record >>touched
}

# Of each file named: its data is safe before it is renamed, its folder after that.
in_order() {
    for name; do
        awk -v name="$name" '
            $1 == "data" { safe[$2] = NR }
            $1 == "rename" && $3 == name { renamed = NR; ino = $2 }
            $1 == "folder" && renamed && !folder { folder = NR }
            END { exit !(renamed && safe[ino] && safe[ino] < renamed && folder > renamed) }' record || {
            echo "$name is not in order:"
            cat record said
            return 1
        }
    done
}

# Of each file named: nothing but its own data comes between its creation and the moment
# when its folder is safe. (SQLite synchronises the folder, too, but later.)
created() {
    for name; do
        awk -v name="$name" '
            $1 == "folder" { waiting = 0 }
            waiting && !($1 == "data" && $3 == name) { late = 1 }
            $1 == "create" && $3 == name { waiting = made = 1 }
            END { exit !made || waiting || late }' record || {
            echo "the folder of $name is not safe after it was created:"
            cat record said
            return 1
        }
    done
}

# FIRST, with its folder, is safe before SECOND is renamed.
before() {
    awk -v first="$1" -v second="$2" '
        $1 == "rename" && $3 == first { there = 1 }
        $1 == "folder" && there { safe = 1 }
        $1 == "rename" && $3 == second { ok = safe; seen = 1 }
        END { exit !(seen && ok) }' record || { cat record; return 1; }
}

seq 1 1000 >in
seq 1 2 100 >odd
seq 2000 2100 >later
seen new --seed 3 -n 1000 a.seen && cp a.seen b.seen
seen new -r -n 1000 c.seen && seen add c.seen in
mkdir elsewhere

recorded seen new new.seen
ok "new" in_order new.seen
recorded seen add a.seen in
ok "add" in_order a.seen
recorded seen rm c.seen odd
ok "rm" in_order c.seen
recorded seen merge -o both.seen a.seen b.seen
ok "merge" in_order both.seen
recorded seen merge -o a.seen a.seen b.seen
ok "merge into one of them" in_order a.seen
recorded seen build -f built.seen in
ok "build" in_order built.seen
seen new --kind parquet -n 100 ids.sbbf
recorded seen convert --to native ids.sbbf ids.seen
ok "convert" in_order ids.seen
recorded seen has -o found a.seen in
ok "has -o" in_order found
recorded seen sort -o sorted in
ok "sort -o" in_order sorted
recorded seen plan -n 1000 --no-time --plot plan.svg
ok "plan --plot" in_order plan.svg
recorded seen uniq -o out in
ok "uniq -o" in_order out
recorded seen uniq -x -o out in
ok "uniq -x -o" in_order out
for j in 1 2; do
    rm -f state
    recorded seen uniq -j $j -s state -o out -D elsewhere/dups in odd
    ok "uniq -j $j with everything" in_order out dups state
    ok "the output is safe before the state counts on it" before out state
    ok "and so are the repeats, in another folder" before dups state
done
recorded seen uniq -s state in odd
ok "uniq -s" in_order state

# A state that is saved on the way: output, new state, the log that knows both, its place.
rm -f state out
recorded seen uniq -s state --checkpoint 1 -o out in odd later
ok "uniq --checkpoint: the output" in_order out
ok "uniq --checkpoint: the order of each save" sh -c '
    awk "\$1 == \"data\" && \$3 == \"state.run\" { log_at = NR; if (!out) early = 1; next }
        \$1 == \"data\" { safe[\$2] = NR; out = 1 }
        \$1 == \"folder\" { waiting = 0 }
        \$1 == \"rename\" && (waiting || !safe[\$2]) { early = 1 }
        \$1 == \"rename\" { waiting = 1 }
        \$1 == \"rename\" && \$3 == \"state\" {
            n++
            if (safe[\$2] > log_at || log_at < last) early = 1
            last = NR; out = 0
        }
        END { exit !(n == 2 && !early && !waiting) }" record || { cat record; exit 1; }'
ok "uniq --checkpoint: the output has its place before the last state" before out state

# dedup's state: the list of files names the new filter before the filter has its place.
seq 1 500 | sed 's/.*/{"text":"document & about number & and nothing but &"}/' >docs.jsonl
recorded seen dedup -s corpus -o kept docs.jsonl
ok "dedup: the results and the state" in_order docs.jsonl corpus
ok "dedup: its new list of files" created corpus.files
ok "dedup: the results are safe before the state counts on them" before docs.jsonl corpus
ok "dedup: the list knows the filter before it is there" sh -c '
    awk "\$1 == \"data\" && \$3 == \"corpus.files\" { listed = NR }
        \$1 == \"rename\" && \$3 == \"corpus.next\" { saved = NR }
        \$1 == \"rename\" && \$3 == \"corpus\" { there = NR }
        END { exit !(saved && saved < listed && listed < there) }" record'

# The guard's control file, and the filter that it builds.
if [ -x "$build/examples/guard_sqlite" ]; then
    recorded "$build/examples/guard_sqlite" .
    ok "guard: the control file" created shop.guard
    ok "guard: the filter" created "$(awk '$1 == "create" && $3 ~ /^shop[.]guard[.]/ { print $3; exit }' record)"
else
    skip "the guard for SQLite is not built here"
fi

same "no program touches the umask, which all its threads share" "" "$(cat touched)"
rm -f record
LD_PRELOAD=$work/record.so RECORD=$work/record seen uniq -s state2 in >printed
ok "lines in a file that is standard output are safe before the state" sh -c '
    awk "\$1 == \"data\" && \$3 == \"printed\" { safe = 1 } \$1 == \"rename\" { ok = safe } END { exit !ok }" record'
finish
