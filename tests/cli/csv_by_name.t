#!/bin/bash
# --csv: columns by name, several fields as one key, headers, marks and quotes.
. "$(dirname "$0")/../tap.sh"

printf 'id,url,"the, city"\n1,/a,Rome\n2,/b,Rome\n3,/a,Oslo\n' >rows.csv
same "a column by its name, with the header first" "$(printf 'id,url,"the, city"\n1,/a,Rome\n2,/b,Rome')" \
    "$(seen uniq --csv -k url rows.csv)"
same "a name with a comma, in quotes" "$(printf 'id,url,"the, city"\n1,/a,Rome\n3,/a,Oslo')" \
    "$(seen uniq --csv -k '"the, city"' rows.csv)"
for way in "" -x "-j 3" "-s st" "-e 0.001"; do
    same "the same with $way" "$(seen uniq --csv -k 2 rows.csv | tail -n +2 | tail -n 2)" \
        "$(seen uniq $way --csv -k url rows.csv | tail -n 2)"
    same "-d $way: the header and the repeats" "$(printf 'id,url,"the, city"\n3,/a,Oslo')" \
        "$(rm -f st; seen uniq $way -d --csv -k url rows.csv)"
done
seen uniq --csv -k url -D dups.csv -o out.csv rows.csv
same "-D and -o have it too" "$(printf 'id,url,"the, city"\n3,/a,Oslo\nid,url,"the, city"')" \
    "$(cat dups.csv; head -n 1 out.csv)"
rm -f st
same "the next run prints the header, and knows the lines" 'id,url,"the, city"' \
    "$(seen uniq -s st --csv -k url rows.csv >/dev/null; seen uniq -s st --csv -k url rows.csv)"
same "the header is no key" "3" "$(seen uniq --csv -k url --json rows.csv 2>&1 >/dev/null | tr -d ' ' | sed -n 's/.*"lines":\([0-9]*\).*/\1/p')"
printf 'id,url\n7,url\n' >named.csv
same "a line may have the name itself as its key" "$(cat named.csv)" "$(seen uniq --csv -k url named.csv)"
printf 'id,url' >only.csv
same "a file of a header only" "id,url" "$(seen uniq --csv -k url only.csv)"
same "an empty file has none" "" "$(seen uniq --csv -k url /dev/null)"

# Several files.
printf '\357\273\277id,url,"the, city"\r\n8,/c,Bern\r\n' >more.csv
same "several files: one header, a byte order mark and CR do not make another" \
    "$(printf 'id,url,"the, city"\n1,/a,Rome\n2,/b,Rome\n8,/c,Bern\r')" "$(seen uniq --csv -k url rows.csv more.csv)"
fails "another header is refused" 2 'named.csv: its header is not that' seen uniq --csv -k url rows.csv named.csv
printf 'url,n\n/b,1\n' >known.csv
same "a list of --against has its own header" "$(printf 'id,url,"the, city"\n1,/a,Rome')" \
    "$(seen uniq --csv -k url --against known.csv rows.csv)"
seen new -n 10 f.seen && seen add --csv -k url f.seen known.csv
same "seen has prints the header" "$(printf 'id,url,"the, city"\n2,/b,Rome')" "$(seen has --csv -k url f.seen rows.csv)"
same "seen count counts without it" "2" "$(seen count -q --csv -k url rows.csv 2>/dev/null)"

# What cannot be right.
fails "a name that is not there" 2 "rows.csv: no column of the header is called 'ulr'; did you mean 'url'" \
    seen uniq --csv -k ulr rows.csv
printf 'a,b,a\n1,2,3\n' >twice.csv
fails "a name that is there twice" 2 "two columns are called 'a'" seen uniq --csv -k a twice.csv
fails "a name without --csv" 2 "'url' is not a field number.*--csv" seen uniq -k url rows.csv
for k in 0 -1 1,0 ',' '' 1,,2; do
    fails "-k '$k'" 2 "key: '$k' is not a field" seen uniq --csv --key="$k" rows.csv
done
fails "partition has no header to give" 2 'give the number' seen partition --csv -k url -o parts rows.csv

# Several fields.
printf '1,x,"y,z"\n2,"x,y",z\n3,x,"y,z"\n4,x,yz\n' >pairs
same "two fields together, never mistaken for others" "$(printf '1,x,"y,z"\n2,"x,y",z\n4,x,yz')" \
    "$(seen uniq --csv -k 2,3 pairs)"
same "-x agrees" "$(seen uniq --csv -k 2,3 pairs)" "$(seen uniq -x --csv -k 2,3 pairs)"
same "fields of blanks" "$(printf 'a b 1\na c 2')" "$(printf 'a b 1\na c 2\nb b 3\na b 4\n' | seen uniq -k 1,2 | head -n 2)"
same "the key is the fields as a CSV record" 'x,"y,z"' \
    "$(seen new -n 10 p.seen; seen add --csv -k 2,3 p.seen pairs; seen has --word 'x,"y,z"' --word x,y,z p.seen)"
same "names and numbers mix" "$(printf 'id,url,"the, city"\n1,/a,Rome\n2,/b,Rome\n3,/a,Oslo')" \
    "$(seen uniq --csv -k 'url,3' rows.csv)"
same "-i and --trim are for each field" "1" "$(printf 'A ; b\na;B\n' | seen uniq -i --trim -t ';' -k 1,2 | wc -l)"
ok "a field that is missing is counted" sh -c "printf 'a b\nc\n' | seen uniq -k 1,2 --stats 2>&1 | grep -q '^1 lines had no field 1,2'"

# A byte order mark, and quotes.
printf '\357\273\277"a,b",1\n"a,b",2\n' >bom.csv
same "a byte order mark is not part of the first key" "$(head -n 1 bom.csv)" "$(seen uniq --csv -k 1 bom.csv)"
same "nor of a whole record" "1" "$(printf '\357\273\277a\na\n' | seen uniq --csv | wc -l)"
same "without --csv every byte counts" "2" "$(printf '\357\273\277a\na\n' | seen uniq | wc -l)"
printf 'a,1\n"b\nb",2\nc,"3\nd,4\n' >open.csv
fails "a quote that is never closed: its line, not that of the record" 2 'open.csv: line 4: a quote is opened and never closed' \
    seen uniq --csv -k 1 open.csv
same "the records before it are printed" "$(printf 'a,1\n"b\nb",2')" "$(seen uniq --csv -k 1 open.csv 2>/dev/null)"
(yes 'x,"y"' | head -n 200000; printf '1,"2\n') >far.csv
for way in "" "-j 2" -x; do
    fails "far down in a file $way" 2 'line 200001: a quote is opened' sh -c "seen uniq $way --csv -k 1 far.csv >/dev/null"
done
fails "and in a list that is added" 2 'open.csv: line 4' seen add --csv -k 1 f.seen open.csv
perl -e 'print "1,\"", "x" x (17 << 20), "\n"' >large.csv
fails "a quote that is not closed for 16 MB" 2 'line 1: a quote is opened and not closed within' seen uniq --csv large.csv
perl -e 'print "x" x (17 << 20), "\n"' >long.csv
ok "a long record without quotes is fine" sh -c 'seen uniq --csv long.csv | cmp - long.csv'
finish
