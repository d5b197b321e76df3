#!/bin/sh
# Filters that nobody holds are freed by the collector: a thousand of 1 MB in a memory of 32 MB.
. "$(dirname "$0")/../tap.sh"
[ -e "$build/wasm/seen.wasm" ] || skip_all "the module is not built: clang's wasm32 target is not here"
cat >forget.mjs <<EOF
import { load } from "$build/wasm/seen.mjs";
const seen = await load(undefined, { memory: 32 << 20 });
for (let i = 0; i < 1000; i++) {
  new seen.Filter({ bits: 8e6, k: 3 }).add("x");
  if (i % 8 === 7) { globalThis.gc(); await new Promise((done) => setTimeout(done)); }
}
console.log("freed");
EOF
same "memory of forgotten filters comes back" freed "$(node --expose-gc forget.mjs 2>&1 | tail -n 1)"
finish
