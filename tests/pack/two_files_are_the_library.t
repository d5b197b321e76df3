#!/bin/bash
# dist/seen.c compiles alone, with gcc and clang, and is the library: the same answers, the
# same file bytes, the same vectors, with every instruction set; with other systems' formats
# and without them.
. "$(dirname "$0")/../tap.sh"
. "$top/tests/pack/ways.sh"
copy_tree "$work/tree" && cd tree || exit 1
ok "as the README has it: $(way 'two files')" sh -c "$(way 'two files')"
same "two files come out, and the header of the sketches" "seen.c seen.h seen_sketch.h" "$(cd dist && echo *)"
mkdir ../alone && cp dist/* ../alone && cd ../alone || exit 1
mv ../tree/seen.o gcc.o

# The README's program, as it stands there.
{
    printf '#include <stdio.h>\n#include "seen.h"\nint main(void) {\n'
    sed -n '/^```c$/,/^```$/p' "$top/README.md" | grep -v -e '^```' -e '^#include'
    echo 'return 0; }'
} >readme.c
# Every native kind with one seed, keys in batches and one by one; what a filter answers and
# what its file holds.
cat >answers.c <<'C'
#include "seen.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    unsigned n = 0;
    size_t formats = 0;
    seen_formats(&formats);
    for (int kind = 1; kind < 16; kind++) {
        seen_spec spec = {.keys = 20000, .error = 0.01, .kind = (seen_kind)kind, .seed = 7};
        seen_filter *f;
        if (seen_new(&spec, &f) < 0)
            continue;
        uint64_t had = 0, said = 0;
        for (unsigned i = 0; i < 30000; i++) {
            char key[32];
            int len = snprintf(key, sizeof key, "key %u", i % 21000 * 3);
            int is = seen_add(f, key, (size_t)len);
            had += is == SEEN_DUP, said = said * 31 + (uint64_t)(is + 100);
        }
        for (unsigned i = 0; i < 60000; i++)
            said = said * 31 + (uint64_t)seen_has_u64(f, i) + (uint64_t)seen_has_str(f, "key 3");
        char name[64];
        snprintf(name, sizeof name, "%s.%s", argv[1], seen_kind_name((seen_kind)kind));
        int saved = seen_save(f, name);
        printf("%s %" PRIu64 " %016" PRIx64 " %d\n", seen_kind_name((seen_kind)kind), had, said, saved);
        seen_free(f);
        n++;
    }
    printf("%u kinds%s\n", n, argc > 2 ? argv[2] : "");
    return formats > 0 ? 0 : 9;
}
C
gcc -O2 -I"$top/include" answers.c "$build/libseen.a" -lm -lpthread -o library && ./library library >wanted
held "the library answers" $?
ok "about five kinds" eval "test $(tail -n 1 wanted | cut -d' ' -f1) -ge 5"
for cc in gcc clang; do
    command -v $cc >/dev/null || { skip "no $cc here"; continue; }
    # As strict C11; optimised once for each compiler.
    ok "$cc -std=c11, without a warning" eval "$cc $([ $cc = gcc ] && echo -fsyntax-only || echo -O2 -o $cc.o) \
        -std=c11 -Wall -Wno-unused-parameter -Wno-unused-function -c seen.c 2>log && ! grep warning log"
    ok "$cc: the README's program" eval \
        "$cc readme.c $cc.o -lm -o readme && ./readme | grep -x 'first visit' && seen info visited.seen"
    ok "$cc: what it links is libc and libm" eval \
        "! ldd readme | grep -v -e linux-vdso -e libc.so -e libm.so -e ld-linux"
    for simd in scalar avx2 avx512 best; do
        ok "$cc, $simd: the library's answers" eval "$cc -O2 answers.c $cc.o -lm -o answers &&
            SEEN_SIMD=$simd ./answers $cc >got && diff wanted got"
        for f in library.*; do
            cmp "$f" "$cc.${f#library.}" || break
        done >/dev/null
        held "and files of the same bytes" $?
    done
done
for t in vectors_stay vectors_static_stay foreign_golden; do
    ok "tests/unit/$t.c on it" eval "gcc -O1 -D_GNU_SOURCE -I. -I$top/lib -I$top/tests -o t $top/tests/unit/$t.c gcc.o -lm &&
        (cd $top && $work/alone/t)"
done
same "it defines only seen_ and sn_" "" "$(nm --defined-only gcc.o | awk '$2 ~ /^[A-Z]$/ { print $3 }' | grep -vE '^(seen_|sn_)')"

# (The headers of libc serve both word sizes; one more is asked for.)
mkdir -p 32/gnu && touch 32/gnu/stubs-32.h
for cc in gcc clang; do
    ! command -v $cc >/dev/null || ! echo 'int x;' | $cc -m32 -fsyntax-only -xc - 2>/dev/null ||
        ok "$cc -m32: a 32-bit machine is refused in words" eval "! $cc -m32 -fsyntax-only -I32 \
            -idirafter /usr/include/x86_64-linux-gnu seen.c 2>log && grep error: log | head -n 1 | grep 'libseen needs 128-bit integers'"
done

ok "without other systems' formats" gcc -Wall -Wno-unused-parameter -Werror -DSEEN_NO_FOREIGN -c seen.c -o native.o
gcc answers.c native.o -lm -o answers && ./answers native >got
same "there are none, and the answers are the same" 9 $?
ok "the same answers" diff wanted got
ok "and no code of them is left" eval "! nm native.o | grep -q sn_fmt_"
finish
