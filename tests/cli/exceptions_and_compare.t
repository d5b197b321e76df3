#!/bin/sh
# False positives that were met are answered with no; filters made like others merge.
. "$(dirname "$0")/../tap.sh"

# A filter so small that it errs: one absent key in ten is found.
seq 1 1000 >in
seq 100001 101000 >absent
seen new --seed 5 -n 1000 -e 0.1 f.seen && seen add f.seen in
seen has f.seen absent >false
ok "there are false positives to excuse" test "$(wc -l <false)" -gt 30
one=$(head -n 1 false)
seen excuse -q f.seen "$one"
ok "one excused is not found any more" sh -c "seen has -q --word $one f.seen; test \$? = 1"
same "the others still are" "$(($(wc -l <false) - 1))" "$(seen has -c f.seen absent)"
fails "the number is printed" 0 '^seen excuse: [0-9]+ excused, 1 are not in the filter anyway' \
    seen excuse -i false f.seen
same "a file of them: none is found" 0 "$(seen has -c f.seen absent)"
same "every key that was added is" 1000 "$(seen has -c f.seen in)"
same "--list prints them" "$(sort false)" "$(seen excuse --list f.seen | sort)"
same "uniq --against honours it" "$(cat absent)" "$(seen uniq --against f.seen absent)"
same "and asks by hashes with threads" "$(cat absent)" "$(seen uniq -j 2 --against f.seen absent)"
seen excuse -q --undo f.seen "$one"
ok "--undo: it is found again" seen has -q --word "$one" f.seen
seen excuse -q f.seen "$one"

# Changes of the filter keep the list; keys that are added leave it.
seen add --word "$one" f.seen
ok "a key that is added is found" seen has -q --word "$one" f.seen
same "the others stay excused" 1 "$(seen has -c f.seen absent)"
printf 'p\n' >p && printf 'q\n' >q && printf 'r\n' >r
same "a state with a list takes lines, whenever it is saved" "p q r" \
    "$(seen uniq --checkpoint 1 -s f.seen p q r | tr '\n' ' ' | sed 's/ $//')"
ok "and keeps the list" sh -c 'test "$(seen has -c f.seen absent)" -le 5'
seen add f.seen absent
same "all added, none is excused" 1000 "$(seen has -c f.seen absent)"
fails "which FILTER?" 2 'which FILTER' seen excuse
fails "which KEYs?" 2 'which KEYs' seen excuse f.seen
fails "a list that is missing" 2 'nowhere: No such file' seen excuse -i nowhere f.seen
fails "a filter in a pipe has no place for a list" 2 'standard input|-' sh -c "seen excuse - $one <f.seen"

# --like.
for args in "--kind blocked -n 1000" "--kind classic -n 500 -e 0.001" "--kind set" "-n 10"; do
    rm -f old.seen new.seen
    # shellcheck disable=SC2086
    seen new $args old.seen
    seq 1 400 | seen add old.seen
    ok "new --like: $args" seen new --like old.seen new.seen
    same "it is empty" 0 "$(seq 1 400 | seen has -c new.seen)"
    seq 401 500 | seen add new.seen
    if [ "$args" != "-n 10" ]; then
        ok "and merges" seen merge -o sum.seen old.seen new.seen
        same "with the keys of both" 500 "$(seq 1 500 | seen has -c sum.seen)"
    fi
done
seen new -n 100 a.seen && seen new -n 100 --seed 99 b.seen
fails "filters that do not fit: the error names the way" 2 "seen new --like OLD NEW" \
    seen merge -o sum.seen a.seen b.seen
fails "--like and sizes exclude each other" 2 'leave out' seen new --like a.seen -n 5 c.seen
seen build -f static.seen in
fails "a static filter has no empty likeness" 2 'static.seen' seen new --like static.seen c.seen
ok "nothing was made" test ! -e c.seen
finish
