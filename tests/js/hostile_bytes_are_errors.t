#!/usr/bin/env node
// Bytes from anywhere are a filter or a SeenError: golden and native files, changed ten
// thousand times, never trap the module, and it works afterwards.
const { readdirSync, readFileSync, statSync } = require("node:fs");
const { join } = require("node:path");

import("./js_test.mjs").then(({ suite, top }) => suite(async ({ seen, SeenError, ok, same }) => {
  const files = [];
  const walk = (folder) => readdirSync(folder).sort().forEach((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) walk(path);
    else if (/\.(bin|ldb|parquet|json)$/.test(name) && name !== "params.json") files.push([path, readFileSync(path)]);
  });
  walk(join(top, "tests/golden"));
  for (const kind of ["classic", "blocked", "split", "set", "cuckoo"]) {
    const f = new seen.Filter({ kind, keys: 200, error: 0.01 });
    f.addMany(Array.from({ length: 200 }, (_, i) => `key ${i}`));
    files.push([kind, Buffer.from(f.save())]);
    f.free();
  }
  files.push(["ribbon", Buffer.from(seen.build(Array.from({ length: 200 }, (_, i) => `key ${i}`)).save())]);
  const formats = [undefined, ...seen.formats().map((format) => format.name)];
  const params = { keys: 1000, error: 0.01, bits: 5000, k: 4, seeds: [1, 2, 3] };

  let state = 42; // xorshift: the same changes in every run
  const dice = (n) => {
    state ^= state << 13, state ^= state >>> 17, state ^= state << 5;
    return (state >>> 0) % n;
  };
  const change = (from) => {
    let bytes = Uint8Array.from(from);
    for (let i = dice(4); i >= 0; i--) {
      const at = dice(bytes.length + 1), how = dice(6);
      if (how === 0) bytes = bytes.slice(0, at);
      else if (how === 1) bytes = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(dice(at + 1))]);
      else if (how === 2) bytes.fill(255, at, at + 1 + dice(8));
      else if (how === 3) bytes.fill(0, at, at + 1 + dice(8));
      else if (at < bytes.length) bytes[at] = how === 4 ? bytes[at] ^ 1 << dice(8) : dice(256);
      if (!bytes.length) break;
    }
    return bytes;
  };
  let opened = 0, refused = 0, other = null;
  for (let i = 0; i < 10000 && !other; i++) {
    const [path, from] = files[i % files.length];
    const small = from.length > 20000 ? from.subarray(0, 20000) : from;
    const bytes = i % 5 ? change(from.length > 20000 && dice(2) ? small : from) : change(small);
    const format = i % 3 ? undefined : formats[dice(formats.length)];
    try {
      const f = seen.open(bytes, format ? { format, ...params } : {});
      opened++;
      f.hasMany(["a", "key 5", ""]);
      f.info();
      if (dice(4) === 0) f.add("b");
      if (dice(8) === 0) f.save();
      f.free();
    } catch (error) {
      refused++;
      if (!(error instanceof SeenError)) other = `${path} ${format}: ${error.stack}`;
    }
  }
  same(other, null, "ten thousand changed files bring no other error");
  ok(opened > 100 && refused > 1000, `${opened} opened, ${refused} were refused`);
  const f = new seen.Filter({ keys: 100 });
  ok(f.add("after") && f.has("after"), "and the module works as before");
}));
