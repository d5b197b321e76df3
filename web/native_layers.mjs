// native_layers.mjs - the shapes inside a native file, as docs/format.md lays them out.
//
// For pictures only: it trusts bytes that the library has written or has accepted.

const KINDS = ["", "classic", "blocked", "split", "set", "cuckoo", "ribbon", "", "quotient"];

export function isNative(bytes) {
  const magic = [0x89, 0x73, 0x65, 0x65, 0x6e, 0x0d, 0x0a, 0x1a];
  return bytes.length >= 128 && magic.every((b, i) => bytes[i] === b);
}

// [{kind, k, units, capacity, error, added, own, body}]
export function layersOf(bytes) {
  if (!isNative(bytes)) return [];
  const v = new DataView(bytes.buffer, bytes.byteOffset, bytes.length), layers = [];
  const u64 = (at) => Number(v.getBigUint64(at, true)), u32 = (at) => v.getUint32(at, true);
  if (u32(8) === 3) // the compact header
    return [{
      kind: KINDS[bytes[15]] || `kind ${bytes[15]}`, k: bytes[20], units: u32(24), capacity: u32(28), error: v.getFloat64(56, true),
      own: [0, 1, 2].map((j) => u64(80 + 8 * j)).concat(0), added: u32(68), body: bytes.subarray(128),
    }];
  for (let i = 0; i < v.getUint32(44, true); i++) {
    const at = 128 + 128 * i, kind = v.getUint32(at, true);
    layers.push({
      kind: KINDS[kind] || `kind ${kind}`, k: v.getUint32(at + 4, true), units: u64(at + 8), capacity: u64(at + 16),
      error: v.getFloat64(at + 24, true), own: [0, 1, 2, 3].map((j) => u64(at + 32 + 8 * j)), added: u64(at + 64),
      body: bytes.subarray(u64(at + 72), u64(at + 72) + u64(at + 80)),
    });
  }
  return layers;
}

export const bitOf = (body, i) => (body[i >> 3] >> (i & 7)) & 1;

function wideBits(body, from, n) {
  let x = 0n;
  for (let i = 0; i < n; i++) if (bitOf(body, from + i)) x |= 1n << BigInt(i);
  return x;
}

// ---- set -----------------------------------------------------------------------------

// Buckets of eight 64-bit fingerprints; 0n is empty. [{at, bits, slots}], at in bits.
export function setBuckets(layer) {
  return Array.from({ length: layer.units }, (_, b) => ({
    at: b * 512, bits: 512, slots: Array.from({ length: 8 }, (_, s) => wideBits(layer.body, b * 512 + 64 * s, 64)),
  }));
}

// ---- cuckoo --------------------------------------------------------------------------

// The top nibbles of a bucket's four fingerprints, sorted, for each rank: rank is
// C(a,1) + C(b+1,2) + C(c+2,3) + C(d+3,4).
const NIBBLES = (() => {
  const out = [];
  const choose = (n, k) => { let x = 1; for (let i = 0; i < k; i++) x = x * (n - i) / (i + 1); return Math.round(x); };
  for (let d = 0; d < 16; d++) for (let c = 0; c <= d; c++) for (let b = 0; b <= c; b++) for (let a = 0; a <= b; a++)
    out[choose(a, 1) + choose(b + 1, 2) + choose(c + 2, 3) + choose(d + 3, 4)] = [a, b, c, d];
  return out;
})();
const CUCKOO_HEAD = 64 + 16 * 16;

export function cuckooBuckets(layer) {
  const { k } = layer, low = k - 3, out = [];
  for (let b = 0; b < layer.units; b++) {
    const at = CUCKOO_HEAD * 8 + b * 4 * k, tops = NIBBLES[Number(wideBits(layer.body, at, 12))] || [0, 0, 0, 0];
    out.push({ at, bits: 4 * k, slots: tops.map((t, i) => (BigInt(t) << BigInt(low)) | wideBits(layer.body, at + 12 + i * low, low)) });
  }
  return out;
}

// ---- ribbon --------------------------------------------------------------------------

// Segments of 64 slots: [{level, at, bits}], at in bits: words of 64 bits, one of each slot, and perhaps
// bytes of five trits behind them (docs/format.md).
export function ribbonSegments(layer) {
  const { body, units, k } = layer, words = layer.own[0], out = [];
  const extra = Math.floor(Number(layer.own[1]) / 2 ** 32), fifth = (g) => Math.floor(64 * g / 5);
  const word = (i) => wideBits(body, i * 64, 64);
  const meta = words - 8 * units;
  for (let shard = 0; shard < units; shard++) {
    const m = meta + 8 * shard;
    let at = Number(word(m));
    for (let level = 1; level <= 4; level++) {
      const sw = word(m + 1 + level), s = Number(sw & 0xffffffffn), w = Number(sw >> 32n);
      if (!s) continue;
      if (level > 1 && level < 4) at += Math.ceil(Math.ceil(s / 2) / 32);
      let bit = at * 64;
      for (let g = 0; g <= s; g++) {
        const rows = k + (extra ? (g + 1 < w ? 0 : extra) : (g < w ? 1 : 0));
        const bits = rows * 64 + (extra && g < w ? fifth(g + 1) - fifth(g) : 0) * 8;
        out.push({ shard, level, at: bit, bits });
        bit += bits;
      }
      at = Math.ceil(bit / 64);
    }
  }
  return out.filter((s) => s.at >= 0 && s.at + s.bits <= body.length * 8);
}
