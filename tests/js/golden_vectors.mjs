// golden_vectors.mjs - what other systems' filters answer, asked in JavaScript: runs in Node and in
// browsers. A vector is {name, params, keys, probes, bytes}; see tests/golden/README.md.

const TYPES = { bytes: "bytes", utf8: "utf8", chars: "utf16", int32: "int32", int64: "int64", int: "int32", long: "int64" };

// How a vector is opened, and how an empty filter like it is made.
function understood(p) {
  const sizes = { keys: p.n, error: p.p }, mk = { bits: p.m, k: p.k };
  switch (p.format) {
  case "bits-and-blooms": return ["bits-and-blooms", {}, mk];
  case "dcso-v1": return ["dcso", {}, sizes];
  case "go-crc32-shift16": return ["crc32-shift", sizes, sizes];
  case "go-fnv64-split": return ["fnv-split", mk, mk];
  case "py-mmh3-seed17": return ["mmh3-17", sizes, sizes];
  case "guava": {
    const open = { type: TYPES[p.funnel] };
    return [p.strategy_byte ? "guava" : "guava-32", open, { ...open, keys: p.expected_insertions, error: p.fpp }];
  }
  case "leveldb": return ["leveldb", {}, { keys: p.keys, bitsPerKey: p.bits_per_key }];
  case "libbloom": {
    const made = { keys: p.entries, error: p.error };
    return p.version < 2 ? ["libbloom1", made, made] : ["libbloom", {}, made];
  }
  case "parquet-sbbf": {
    const open = { type: TYPES[p.physical_type] };
    return ["parquet", open, { ...open, bits: 8 * p.bitset_bytes }];
  }
  case "redis-setbit-mmh3": return ["redis-bitmap", { bits: p.m, seeds: p.seeds }, { bits: p.m, seeds: p.seeds }];
  case "scrapy-redis-bloomfilter": return ["scrapy-redis", { bits: p.m, k: p.hash_number }, { bits: p.m, k: p.hash_number }];
  case "redisbloom-scandump":
    return ["redisbloom", {}, { keys: p.first_link_requested_entries, error: 2 * p.first_link_error, expansion: p.growth }];
  default: return [];
  }
}

function keyOf(token) {
  const [how, value, more] = token.split(":");
  const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (two) => parseInt(two, 16));
  if (how === "i") return BigInt(value);
  if (how === "x") return bytes(value);
  if (how === "t") return new TextDecoder().decode(bytes(value));
  if (how === "r") {
    const pattern = bytes(more);
    return Uint8Array.from({ length: Number(value) }, (_, i) => pattern[i % pattern.length]);
  }
  return String.fromCharCode(...new Uint16Array(bytes(value).buffer));
}

const equal = (a, b, skip) => a.length === b.length && a.every((x, i) => x === b[i] || skip(i));

/** The promises that VECTOR breaks, in words. */
export function broken(seen, { name, params, keys, probes, bytes }) {
  const [format, open, make] = understood(params), said = [];
  const lines = (text) => text.split("\n").filter(Boolean).map((line) => line.split("\t"));
  const members = lines(keys).map(([token]) => keyOf(token)), asked = lines(probes);
  const check = (good, what) => good || said.push(`${name}: ${what}`);
  if (!format) return [`${name}: ${params.format} is not known`];
  const f = seen.open(bytes, { format, ...open });
  check(f.hasMany(members).every(Boolean), "a member is missing");
  check(members.every((key) => f.has(key)), "a member is missing when asked alone");
  const answers = f.hasMany(asked.map(([token]) => keyOf(token)));
  check(asked.every(([, wanted], i) => answers[i] === Number(wanted)), "a probe is answered in another way");
  check(equal(f.save(), bytes, () => false), "it is not written back as it was");
  f.free();
  const g = new seen.Filter({ format, ...make });
  g.addMany(members);
  // (libbloom keeps a pointer of the process that wrote it.)
  check(equal(g.save(), bytes, (i) => format === "libbloom" && i >= 67 && i < 75), "the same keys make other bytes");
  g.free();
  return said;
}
