#!/usr/bin/env node
// What a Filter of JavaScript promises: keys, batches, memory, errors in words, plans as the command's.
const { writeFileSync } = require("node:fs");

import("./js_test.mjs").then(({ suite }) => suite(async ({ seen, load, SeenError, ok, same, fails, run }) => {
  // Keys are the bytes that Python and C hash.
  const f = new seen.Filter({ keys: 1000, error: 0.0001, keyType: "mixed" });
  ok(f.add("käse") && !f.add("käse"), "add says what is new");
  ok(f.has(new TextEncoder().encode("käse")), "a string is its UTF-8");
  ok(f.add(258) && f.has(258n) && f.has(Uint8Array.of(2, 1, 0, 0, 0, 0, 0, 0)), "an integer is eight little-endian bytes");
  ok(f.add(-1) && f.has(2n ** 64n - 1n), "a negative one its two's complement");
  ok(f.add(["ab", "c"]) && !f.has(["a", "bc"]), "a list is not another list of the same letters");
  ok(f.has(Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0, 97, 98, 1, 0, 0, 0, 0, 0, 0, 0, 99)), "it is its members behind their lengths");
  ok(f.has(new DataView(new TextEncoder().encode("käse").buffer)), "any view is its bytes");
  const wrong = [1.5, NaN, 2 ** 60, null, undefined, {}, true, [["nested"]]];
  ok(wrong.every((key) => {
    try {
      f.has(key);
      return false;
    } catch (error) {
      return error instanceof TypeError;
    }
  }), "what has no obvious bytes is a TypeError");
  const long = "x".repeat(300000) + "ä";
  ok(f.add(long) && f.has(long) && f.hasMany([long, "short"])[0] === 1, "a key may be longer than every buffer");

  // A filter knows what its keys are.
  const typed = new seen.Filter({ keys: 100 });
  same(typed.keyType, "unsaid", "a new filter has no type");
  typed.add(5);
  same(typed.keyType, "int64", "the first key decides");
  fails("EMISMATCH", /holds 64-bit integers, not text/, () => typed.has("5"), "a string is refused in words");
  fails("EMISMATCH", /not text/, () => typed.addMany([6, "7"]), "also in a batch");
  ok(!typed.has(6), "of which nothing was added");
  fails("EMISMATCH", /not tuples/, () => seen.build(["a", ["b"]]), "and in a static filter");
  same(seen.open(typed.save()).keyType, "int64", "its bytes know it");
  typed.keyType = "mixed";
  ok(typed.add("5") && typed.has(5), "unless it is mixed");

  // Batches are the keys one by one.
  const g = new seen.Filter({ keys: 20000, error: 0.001, keyType: "mixed" }), one = g.copy();
  const mixed = Array.from({ length: 9000 }, (_, i) => (i % 7 === 0 ? i : i % 11 === 0 ? Uint8Array.of(i, i >> 8) : i % 5 ? `k${i % 4000}` : `ключ ${i}`));
  same([...g.addMany(mixed)], mixed.map((key) => Number(one.add(key))), "addMany says for each what add says");
  same(Buffer.compare(Buffer.from(g.save()), Buffer.from(one.save())), 0, "and sets the same bits");
  same(g.hasMany(new Set(mixed.slice(0, 10))).length, 10, "any iterable is a batch");
  const words = BigUint64Array.from({ length: 5000 }, (_, i) => BigInt(i) * 0x9e3779b97f4a7c15n & 0xffffffffffffffffn);
  g.addMany(words);
  ok([...words].every((w) => g.has(w)), "and so is an array of 64-bit words");

  // Merging, removing, growing, building.
  const a = new seen.Filter({ keys: 100, error: 0.001 }), b = a.like();
  a.add("left"), b.add("right");
  ok(a.merge(b).has("right") && a.has("left"), "merge is the union");
  fails("EMISMATCH", /one is split, the other classic/, () => a.merge(new seen.Filter({ kind: "classic", keys: 50 })), "other shapes are refused");
  const c = new seen.Filter({ kind: "cuckoo", keys: 100 });
  c.add("gone");
  ok(c.remove("gone") && !c.has("gone"), "a cuckoo filter removes");
  fails("EKIND", /cannot remove/, () => a.remove("left"), "others say that they cannot");
  const grown = new seen.Filter({ error: 0.01 });
  grown.addMany(Array.from({ length: 300000 }, (_, i) => `key ${i}`));
  ok(grown.hasMany(Array.from({ length: 300000 }, (_, i) => `key ${i}`)).every(Boolean), "a filter that grows loses nothing");
  ok(grown.info().error <= 0.01, "and keeps its error");
  fails("EFULL", /fixed/, () => new seen.Filter({ keys: 10, grow: false, keyType: "mixed" }).addMany(mixed), "a fixed one is full");
  const r = seen.build(mixed, { error: 0.001, keyType: "mixed" });
  ok(r.info().kind === "ribbon" && r.hasMany(mixed).every(Boolean), "a static filter has all its keys");
  writeFileSync("js.ribbon", r.save());
  same(run(["seen", "has", "-c", "js.ribbon"], mixed.filter((k) => typeof k === "string").map((k) => `${k}\n`).join("")).trim(),
    String(mixed.filter((k) => typeof k === "string").length), "and the command reads it");
  same(new seen.Filter({ kind: "blocked", bits: 512, k: 5 }).places("key").length, 5, "places are the bits of a key");

  // Plans.
  for (const [wanted, words] of [[{ keys: 1e6, error: 0.001 }, ["-n", "1e6", "-e", "0.001"]], [{ keys: 5000, bytes: 20000 }, ["-n", "5000", "-m", "20000"]],
    [{ error: 1e-5, bytes: 2 ** 26 }, ["-e", "1e-5", "-m", "64M"]], [{ keys: 77, error: 0.3 }, ["-n", "77", "-e", "0.3"]],
    [{ keys: 2e9, error: 0.01 }, ["-n", "2e9", "-e", "0.01"]], [{ keys: 1e5, error: 0.01, need: { remove: true } }, ["-n", "1e5", "-e", "0.01", "-r"]],
    [{ keys: 1e5, error: 0.01, need: { fixed: true } }, ["-n", "1e5", "-e", "0.01", "--static"]]]) {
    const told = JSON.parse(run(["seen", "plan", "--no-time", "--json", ...words])), plan = seen.plan(wanted);
    const near = (x, y) => Math.abs(x - y) <= 1e-9 * Math.abs(y);
    const bad = told.kinds.filter((row, i) => row.bytes !== undefined &&
      !(row.bytes === plan.kinds[i].bytes && near(row.k, plan.kinds[i].k) && near(plan.kinds[i].error, row.error) &&
        near(plan.kinds[i].bitsPerKey, row.bits_per_key) && near(plan.kinds[i].keys, row.keys)));
    same([bad, plan.best], [[], told.choice], `plan ${words.join(" ")} as the command's`);
  }
  fails("EINVAL", /two of keys/, () => seen.plan({ bytes: 5 }), "half a plan is an error");

  // Memory is bounded, and comes back.
  fails("ENOMEM", /no memory for a filter of \d+ bytes/, () => new seen.Filter({ keys: 2.5e9, error: 0.01, grow: false }), "3 GB are an error, not a crash");
  const little = await load(undefined, { memory: 8 << 20 });
  fails("ENOMEM", /no memory/, () => new little.Filter({ bits: 8 * (8 << 20), k: 3 }), "a smaller bound is kept");
  const big = () => new little.Filter({ bits: 8 * (3 << 20), k: 3 });
  for (let i = 0; i < 100; i++) big().free();
  ok(big().add("again"), "what is freed is had again");
  fails("ENOMEM", /no memory/, () => little.open(new Uint8Array(9 << 20), { format: "fnv-split", bits: 8 * (9 << 20), k: 2 }), "a file larger than the memory is an error");
  const dead = new little.Filter({ keys: 10 });
  dead.free();
  dead.free();
  fails("EINVAL", /was freed/, () => dead.has("x"), "a freed filter says so");
  fails("EFORMAT", /^bad\.seen: /, () => seen.open(new Uint8Array(200), { name: "bad.seen" }), "an error names the file");
  const cut = f.save().slice(0, -8);
  fails("EFORMAT", /cut short/, () => seen.open(cut), "and what is wrong");
  const damaged = f.save();
  damaged[damaged.length - 64] ^= 1;
  ok((() => {
    try {
      seen.open(damaged);
      return false;
    } catch (error) {
      return error instanceof SeenError && error.code === "EDAMAGED";
    }
  })(), "a damaged file is not opened");
}));
