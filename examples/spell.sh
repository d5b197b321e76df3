#!/bin/sh
# spell.sh - a spelling checker in 160 kilobytes: the use that made Bloom filters
# famous.
#
#   examples/spell.sh [FILE]...          words that are in no dictionary, once each
#
# The word list is Debian's wamerican (or WORDS). The first run makes the filter and
# keeps it in SPELL (spell.seen): 104,000 words in about 150 kB. One wrong word in a
# hundred slips through. "Not a word" is always right.
set -eu
words=${WORDS:-/usr/share/dict/american-english}
filter=${SPELL:-spell.seen}
if [ ! -e "$filter" ]; then
    [ -r "$words" ] || { echo "spell.sh: no word list $words (apt-get install wamerican)" >&2; exit 2; }
    seen new -n "$(wc -l <"$words")" -e 0.01 "$filter"
    seen add -i "$filter" "$words"
fi
# One word a line; 's and apostrophes at the ends are not part of it.
cat -- "$@" | tr -cs "A-Za-z'" '\n' | sed "s/'s\$//; s/^'*//; s/'*\$//; /^\$/d" |
    { seen has -v -i "$filter" || [ $? = 1 ]; } | seen uniq -i
