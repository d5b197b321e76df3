#!/usr/bin/env node
// A batch is its keys one by one: the same answers and the same bits, whatever the keys are and
// wherever a batch is cut into the pieces that are copied together.
import("./js_test.mjs").then(({ suite }) => suite(async ({ seen, same }) => {
  let state = 42;
  const random = (n) => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % n;
  const ascii = (len) => Array.from({ length: len }, () => String.fromCharCode(32 + random(95))).join("");
  // Each of these is written differently: "\ud83d" before "\ude00" must not become one character.
  const odd = ["", "\0", "é", "ÿ", "€", "😀", "\ud83d", "\ude00", "a\ud83d", "\ude00b", "\uffff"];
  const makers = [
    () => ascii(random(80)),
    () => odd[random(odd.length)] + (random(2) ? ascii(random(9)) : ""),
    () => Uint8Array.from({ length: random(70) }, () => random(256)),
    () => random(1 << 30),
    () => BigInt(random(1 << 30)) << 20n,
    () => ["part", ascii(5)],
  ];
  const keysOf = (n, kinds) => Array.from({ length: n }, () => makers[random(kinds)]());
  // Copied together are up to 1024 keys and 48 Ki characters, and up to 256 KiB of bytes.
  const batches = new Map([
    ["ASCII", keysOf(3000, 1)], ["text", keysOf(3000, 2)], ["every type", keysOf(3000, 6)],
    ["no key", []], ["empty keys", Array(1025).fill("")],
    ["1023 keys", keysOf(1023, 1)], ["1024 keys", keysOf(1024, 1)], ["1025 keys", keysOf(1025, 1)],
    ["a byte below the room", ["x".repeat(48 * 1024 - 1), "é", "y"]],
    ["all of the room", ["x".repeat(48 * 1024), "y", "", "z"]],
    ["a byte beyond the room", ["x".repeat(48 * 1024 + 1), "y"]],
    ["keys longer than any room", ["a", "x".repeat(1 << 18), "é".repeat(1 << 17), "b", new Uint8Array(300000), "c"]],
    ["text behind ASCII", [...keysOf(700, 1), "\ud83d", "\ude00", ...keysOf(700, 1)]],
    ["bytes behind ASCII", [...keysOf(1024, 1), new Uint8Array([255]), ...keysOf(10, 1)]],
    ["keys that come twice", [...keysOf(5, 2), ...odd, ...odd, "a", "a"]],
  ]);
  const bits = (f) => f.info().format ? f.save() : Buffer.concat(Array.from({ length: f.info().layers }, (_, i) => f.body(i)));
  for (const [name, keys] of batches) {
    const wrong = [];
    for (const options of [{ kind: "blocked" }, { kind: "blocked", hash: "xxh3" }, { kind: "classic", hash: "xxh64" }, { kind: "cuckoo" }, { kind: "set" },
      { keys: 100 }, { format: "guava", error: 0.01 }]) {
      const many = new seen.Filter({ keys: 5000, keyType: options.format ? undefined : "mixed", ...options }), one = new seen.Filter({ keys: 5000, keyType: options.format ? undefined : "mixed", ...options });
      const added = many.addMany(keys), single = keys.map((key) => Number(one.add(key)));
      const asked = [...keys, ...keysOf(50, 6)], found = many.hasMany(asked);
      const told = JSON.stringify(options);
      if (String([...added]) !== String(single)) wrong.push(`${told}: addMany`);
      if (String([...found]) !== String(asked.map((key) => Number(one.has(key))))) wrong.push(`${told}: hasMany`);
      if (Buffer.compare(bits(many), bits(one))) wrong.push(`${told}: bits`);
      many.free();
      one.free();
    }
    same(wrong, [], `${name}: a batch is its keys one by one`);
  }
}));
