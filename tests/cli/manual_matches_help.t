#!/bin/sh
# Help, man pages and completions come from one table; every command shown is run here.
. "$(dirname "$0")/../tap.sh"
build=$top/${BUILD:-build}

fixtures() {
    printf 'http://a.example/\nhttp://b.example/\nhttp://a.example/\n' >urls.txt
    printf '192.0.2.1 GET /\n192.0.2.2 GET /\n192.0.2.1 GET /x\n' | gzip >access.log.gz
    printf '2026-11-14T01:00:00 alice\n2026-11-15T01:00:00 bob\n' >visits.log
    printf 'http://bad.example/\nhttp://worse.example/\n' >blocked.txt
    printf '17\n4\n17\n' >numbers.txt
    printf 'tree\nxyzzy\n' >text.txt
    seen new blocked.seen && seen new words.seen && seen add --word tree words.seen
    seen new -r members.seen && seen add --word http://good.example/ members.seen
    seen uniq -s visited.seen urls.txt >/dev/null
    mkdir in && printf '{"id": 1, "text": "one\\ntwo"}\n' | tee in/a.jsonl >tests.jsonl
    seen new --seed 3 -n 1000 east.seen && cp east.seen west.seen
}
if [ -x "$build/seen-crawl" ]; then
    same "seen help crawl is that of the other program" "$(seen crawl --help)" "$(seen help crawl)"
fi
fails "seen help of no command" 2 "no command 'nosuch'" seen help nosuch
mkdir run && cd run && fixtures && cd ..
for c in $(seen help --list); do
    page=$build/man/seen-$c.1
    ok "seen $c --help" sh -c "seen $c --help | grep -q '^Usage: seen $c'"
    ok "seen $c --help: --help stands among the options" sh -c \
        "seen $c --help | sed -n '/^Options:/,\$p' | grep -q '^ *--help '"
    ok "man page of seen $c" grep -q '^.SH NAME' "$page"
    seen "$c" --help | sed -n 's/^ *\(-., \)\{0,1\}--\([a-z-]*\).*/\2/p' | grep -v '^help$' |
        sort >help.options
    sed -n 's/\\-/-/g; s/.*\\fB--\([a-z-]*\)\\fR.*/\1/p' "$page" | sort >page.options
    ok "seen $c: the same options in help and man page" cmp help.options page.options
    if command -v man >/dev/null && [ -x /usr/bin/groff ]; then
        ok "seen $c: no complaint of groff" \
            sh -c "groff -man -Tascii -ww '$page' 2>&1 >/dev/null | grep . && exit 1 || exit 0"
    fi
    # The examples, as they stand.
    sed -n '/^\.EX/,/^\.EE/p' "$page" | grep -v '^\.E' | sed 's/^ *//; s/\\-/-/g; s/\\e/\\/g' >examples
    ok "seen $c: shows an example" test -s examples
    while IFS= read -r line; do
        ok "runs: $line" bash -c "cd run && { $line; test \$? -le 1; }"
    done <examples
done
# -h: what is needed most, of the same table.
for c in uniq dedup has count new build; do
    seen $c -h >short
    ok "seen $c -h: at most 20 lines of at most 80 columns" sh -c \
        'test $(wc -l <short) -le 20 && test $(wc -L <short) -le 80'
    ok "seen $c -h: it begins and ends as it should" sh -c "head -n 1 short | grep -q '^Usage: seen $c' &&
        tail -n 1 short | grep -q \"'seen $c --help' explains all [0-9]* options\""
    seen $c --help >long
    ok "seen $c -h: every option is one of --help" sh -c "
        grep -- '^ .*--' short | sed 's/^\(.\{22\}[^ ]*\).*/\1/; s/ *\$//' | while IFS= read -r o; do
            grep -qF -- \"\$o\" long || exit 1
        done && test \$(grep -c -- '^ .*--' short) -ge 5"
done
same "seen uniq --help has its options in groups" \
    "What counts as the same line:,What is printed:,What is remembered, and where:,How sure, and in how much memory:,The run:" \
    "$(seen uniq --help | sed -n '/^Options:/,/^Examples:/p' | grep '^[A-Z].*:$' | sed '1d;$d' | tr '\n' ',' | sed 's/,$//')"
same "a command with few options says all of them with -h" "$(seen verify --help)" "$(seen verify -h)"
ok "seen(1) names every command" sh -c "for c in \$(seen help --list); do
    grep -q \"seen \$c\" '$build/man/seen.1' || exit 1; done"
same "a command prints its own man page" "$(seen help --man uniq)" "$(seen uniq --help-man)"
ok "and its options for a shell" sh -c 'seen uniq --help-words | grep -q -- " --exact "'
ok "the completion for bash is a script" bash -n "$build/completions/seen.bash"
got=$(bash -c ". '$build/completions/seen.bash'; COMP_WORDS=(seen un); COMP_CWORD=1; _seen; echo \${COMPREPLY[@]}")
same "it completes commands" "uniq" "$got"
got=$(bash -c ". '$build/completions/seen.bash'; COMP_WORDS=(seen uniq --exa); COMP_CWORD=2; _seen; echo \${COMPREPLY[@]}")
same "and options" "--exact" "$got"
# The arguments that can be listed: after a blank and after "=", which bash makes a word.
completed() { # words...
    bash -c ". '$build/completions/seen.bash'; COMP_WORDS=(\"\$@\"); COMP_CWORD=\$((\$# - 1)); _seen
        echo \${COMPREPLY[@]}" bash "$@"
}
same "--kind BL" "blocked" "$(completed seen new --kind bl)"
same "--kind=BL" "blocked" "$(completed seen new --kind = bl)"
ok "--kind= lists all kinds that can be made, and the formats" \
    sh -c "echo '$(completed seen new --kind =)' | grep '^classic .*blocked.* quotient.* guava'"
same "--format, --to, --by" "guava guava-32 guava document" \
    "$(completed seen has --format gua) $(completed seen convert --to guava | sed 's/ .*//') $(completed seen dedup --by d)"
same "a value that cannot be listed is left to the shell" "" "$(completed seen new --seed 1)"
ok "zsh has them too" sh -c "grep -q -- '--kind=.*:value:(classic .*blocked.*guava' '$build/completions/_seen'"
ok "and fish" sh -c "grep -q -- \"__seen_is new' -l kind -x -a 'classic .*blocked.*guava\" '$build/completions/seen.fish'"
for c in $(seen help --list); do
    ok "fish: $c and its options" sh -c "
        grep -q -- '-f -a $c -d ' '$build/completions/seen.fish' || exit 1
        for o in \$(seen $c --help-words); do
            case \$o in --*) grep -q -- \"is $c'.* -l \${o#--}\" '$build/completions/seen.fish' || exit 1 ;; esac
        done"
done
if command -v fish >/dev/null; then
    ok "the completion for fish is a script" fish -n "$build/completions/seen.fish"
    got=$(fish -c "source '$build/completions/seen.fish'; complete -C 'seen new --kind bloc'")
    same "and completes kinds" "blocked" "${got%%	*}"
else
    skip "no fish here"
fi
fails "a mistyped kind is asked about" 2 "did you mean 'blocked'" seen new --kind blokced -n 1 x
fails "a format as well" 2 "did you mean 'guava'" seen new --kind guave:x=1 -n 1 x
fails "and for --format" 2 "did you mean 'guava'" seen info --format guave x
fails "and for --to" 2 "did you mean 'parquet'" seen convert --to parqet x y
fails "what is like nothing is not" 2 "no such kind or format \\(try" seen new --kind zzzzzzzz -n 1 x
if command -v zsh >/dev/null; then
    ok "the completion for zsh is a script" zsh -n "$build/completions/_seen"
else
    skip "no zsh here"
fi
printf '#!/bin/sh\necho other "$@"\n' >seen-other && chmod +x seen-other
printf '#!/bin/sh\ntest "$1" != --help-words || echo --from --other\ntest "$1" != --help-man || echo page\n' >seen-third &&
    chmod +x seen-third
got=$(PATH=.:$PATH bash -c ". '$build/completions/seen.bash'; COMP_WORDS=(seen third --o); COMP_CWORD=2; _seen; echo \${COMPREPLY[@]}")
same "it asks another program for its options" "--other" "$got"
same "as seen help --man does for its page" "page" "$(PATH=.:$PATH seen help --man third)"
same "seen WORD runs seen-WORD" "other a -b" "$(PATH=.:$PATH seen other a -b)"
finish
