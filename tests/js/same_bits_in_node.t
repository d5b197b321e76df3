#!/usr/bin/env node
// A key has the same bits in JavaScript and in C: files go both ways, byte for byte.
const { writeFileSync } = require("node:fs");

import("./js_test.mjs").then(({ suite }) => suite(async ({ seen, ok, same, fails, run, read }) => {
  const keys = Array.from({ length: 2000 }, (_, i) => `http://example.org/${i}`).concat(["käse", "中文", "🦔", ""]);
  // Every length up to that of several blocks of the keyed hash, with all bits of a byte in use.
  for (let len = 1; len <= 400; len++) keys.push(Array.from({ length: len }, (_, i) => String.fromCharCode(33 + (i * i * 31 + len * 7) % 222)).join("").replace(/[\x7f-\xa0]/g, "z"));
  const absent = Array.from({ length: 2000 }, (_, i) => `http://example.com/${i}`);
  const lines = keys.map((key) => `${key}\n`).join("");
  const found = (filter, some) => filter.hasMany(some).reduce((a, b) => a + b, 0);

  for (const kind of ["classic", "blocked", "split", "set", "cuckoo", "quotient"]) {
    const f = new seen.Filter({ kind, keys: 3000, error: 0.001, seed: 1 });
    f.addMany(keys);
    writeFileSync("js.seen", f.save());
    same(run(["seen", "has", "-v", "js.seen"], lines), "", `${kind}: the command finds every key`);
    ok(/good/.test(run(["seen", "verify", "js.seen"])), `${kind}: and the checksums are right`);
    run(["seen", "new", "-f", "--kind", kind, "-n", "3000", "-e", "0.001", "--seed", "1", "c.seen"]);
    run(["seen", "add", "c.seen"], lines);
    const g = seen.open(read("c.seen"));
    same(found(g, keys), keys.length, `${kind}: JavaScript finds every key of the command`);
    same(Buffer.compare(Buffer.from(f.body()), Buffer.from(g.body())), 0, `${kind}: both filters have the same bits`);
    ok(found(g, absent) < 40, `${kind}: and other keys are absent`);
    const info = g.info(), told = JSON.parse(run(["seen", "info", "--json", "c.seen"]));
    for (const name of ["kind", "layers", "probes", "keys", "capacity", "bits", "bits_set", "bytes", "fixed"])
      same(info[name], told[name], `${kind}: info says ${name} as seen info does`);
    f.free();
    g.free();
  }
}));
