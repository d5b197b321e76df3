// draw_kinds.mjs - each kind of filter drawn as it is: bits, cache lines, buckets, a ribbon.
//
// Pure text to SVG. HITS are the bits that a key reads, by layer.
import { escapeText } from "./human_words.mjs";
import { bitOf, cuckooBuckets, ribbonSegments, setBuckets } from "./native_layers.mjs";

const WIDE = 640, PAD = 6;
const r1 = (x) => Number(x.toFixed(1));

// Squares of CELL for the bits from AT on, COLS in a row, at (x, y). Each square that is hit is
// framed, and remembered in RAYS.
function squares(body, at, n, cols, cell, x, y, hits, rays) {
  const size = r1(cell - 1.2);
  let zero = "", one = "", hit = "";
  for (let i = 0; i < n; i++) {
    const cx = r1(x + (i % cols) * cell), cy = r1(y + Math.floor(i / cols) * cell), on = bitOf(body, at + i);
    const d = `M${cx} ${cy}h${size}v${size}h-${size}z`;
    if (on) one += d;
    else zero += d;
    if (hits.has(at + i)) {
      hit += `<path class="hit${on ? " full" : ""}" d="${d}"/>`;
      rays.push([cx + size / 2, cy + size / 2]);
    }
  }
  return `<path class="zero" d="${zero}"/><path class="one" d="${one}"/>${hit}`;
}

const touches = (hits, at, n) => { for (const b of hits) if (b >= at && b < at + n) return true; return false; };
function frameOf(x, y, w, h, touched) {
  return `<rect class="unit${touched ? " touched" : ""}" x="${r1(x)}" y="${r1(y)}" width="${r1(w)}" height="${r1(h)}" rx="3"/>`;
}

// Each drawer: (layer, y, hits, rays) to [svg, height].
const DRAWERS = {
  classic(layer, y, hits, rays) {
    const cols = layer.units <= 1024 ? 32 : 64, cell = Math.min(18, (WIDE - 2 * PAD) / cols);
    return [squares(layer.body, 0, layer.units, cols, cell, PAD, y, hits, rays), Math.ceil(layer.units / cols) * cell + 8];
  },
  blocked(layer, y, hits, rays) {
    const cell = (WIDE - 4 * PAD) / 64, h = 8 * cell + 2 * PAD;
    let out = "";
    for (let l = 0; l < layer.units; l++) {
      const top = y + l * (h + 8);
      out += frameOf(PAD, top, WIDE - 2 * PAD, h, touches(hits, l * 512, 512)) +
        squares(layer.body, l * 512, 512, 64, cell, 2 * PAD, top + PAD, hits, rays);
    }
    return [out, layer.units * (h + 8)];
  },
  split(layer, y, hits, rays) {
    const w = (WIDE - 3 * PAD) / 2, cell = (w - 2 * PAD) / 32, h = 8 * cell + 2 * PAD;
    let out = "";
    for (let b = 0; b < layer.units; b++) {
      const left = PAD + (b % 2) * (w + PAD), top = y + Math.floor(b / 2) * (h + 8);
      out += frameOf(left, top, w, h, touches(hits, b * 256, 256)) +
        squares(layer.body, b * 256, 256, 32, cell, left + PAD, top + PAD, hits, rays);
    }
    return [out, Math.ceil(layer.units / 2) * (h + 8)];
  },
  set: (layer, y, hits, rays) => bucketsOf(setBuckets(layer), 1, y, hits, rays, (x) => x.toString(16).padStart(16, "0").slice(0, 8)),
  cuckoo: (layer, y, hits, rays) => bucketsOf(cuckooBuckets(layer), 3, y, hits, rays, (x) => x.toString(16).padStart(Math.ceil((layer.k + 1) / 4), "0")),
  ribbon(layer, y, hits, rays) {
    const cell = (WIDE - 4 * PAD) / 64;
    let out = "", top = y;
    for (const s of ribbonSegments(layer)) {
      const h = Math.ceil(s.bits / 64) * cell + 2 * PAD;
      out += frameOf(PAD, top, WIDE - 2 * PAD, h, touches(hits, s.at, s.bits)) +
        squares(layer.body, s.at, s.bits, 64, cell, 2 * PAD, top + PAD, hits, rays);
      top += h + 5;
    }
    return [out, top - y];
  },
};

// Buckets with their fingerprints, ACROSS in a row; a slot in a bucket that is read is marked.
function bucketsOf(buckets, across, y, hits, rays, show) {
  const w = (WIDE - PAD * (across + 1)) / across, h = 26;
  let out = "";
  buckets.forEach((b, i) => {
    const left = PAD + (i % across) * (w + PAD), top = y + Math.floor(i / across) * (h + PAD);
    const mine = touches(hits, b.at, b.bits), slot = (w - 26) / b.slots.length;
    out += frameOf(left, top, w, h, mine) + `<text x="${r1(left + 4)}" y="${top + 17}">${i}</text>`;
    b.slots.forEach((v, s) => {
      const x = left + 22 + s * slot;
      out += `<rect class="slot${v ? " used" : ""}" x="${r1(x)}" y="${top + 4}" width="${r1(slot - 3)}" height="18" rx="2"/>` +
        (v ? `<text class="print" x="${r1(x + 3)}" y="${top + 17}">${show(v)}</text>` : "");
    });
    if (mine) rays.push([left + 10, top + h / 2]);
  });
  return [out, Math.ceil(buckets.length / across) * (h + PAD) + 4];
}

const UNIT_NAMES = {
  classic: (l) => `${l.units} bits, anywhere`, blocked: (l) => `${l.units} cache line${l.units > 1 ? "s" : ""} of 512 bits`,
  split: (l) => `${l.units} block${l.units > 1 ? "s" : ""} of eight 32-bit words`, set: (l) => `${l.units} buckets of eight 64-bit fingerprints`,
  cuckoo: (l) => `${l.units} buckets of four fingerprints of ${l.k + 1} bits`, ribbon: () => "segments of 64 slots",
};
export const unitNames = (layer) => (UNIT_NAMES[layer.kind] ? UNIT_NAMES[layer.kind](layer) : `${layer.body.length} bytes`);

// LAYERS of layersOf; HITS [Set of bits, ...] by layer; LABEL the word and its hash, or "".
export function drawFilter(layers, hits, label) {
  let y = label ? 34 : 4, out = "";
  const rays = [];
  layers.forEach((layer, i) => {
    const title = `${layers.length > 1 ? `layer ${i + 1}: ` : ""}${layer.kind}, ${unitNames(layer)}${layer.k ? `, k = ${layer.k}` : ""}`;
    out += `<text class="head" x="${PAD}" y="${r1(y + 12)}">${escapeText(title)}</text>`;
    const draw = DRAWERS[layer.kind] || DRAWERS.classic;
    const shape = DRAWERS[layer.kind] ? layer : { ...layer, units: layer.body.length * 8 };
    const [svg, high] = draw(shape, y + 20, hits[i] || new Set(), rays);
    out += svg;
    y += 20 + high + 10;
  });
  const from = [PAD + 30, 22];
  const few = rays.length <= 40 ? rays : [];
  const lines = few.map(([x, ry]) => `<path class="ray" d="M${from[0]} ${from[1]}L${r1(x)} ${r1(ry)}"/>`).join("");
  return `<svg class="bits" viewBox="0 0 ${WIDE} ${Math.ceil(y)}" role="img" aria-label="${escapeText(describe(layers, hits, label))}">` +
    (label ? `<text class="word" x="${PAD}" y="16">${escapeText(label)}</text>` : "") + out + lines + "</svg>";
}

function describe(layers, hits, label) {
  const what = layers.map((l) => `${l.kind}, ${unitNames(l)}`).join("; ");
  const read = hits.reduce((n, h) => n + (h ? h.size : 0), 0);
  return `The filter: ${what}.${label && read ? ` ${label} reads ${read} bits.` : ""}`;
}

// ---- how full, for filters too large to show bit by bit --------------------------------

// The share of ones in up to 1024 stretches of BYTES, as a map of squares.
export function fillMap(bytes) {
  const cells = Math.min(1024, Math.max(1, bytes.length)), cols = Math.min(64, cells), cell = WIDE / cols;
  const shares = fillShares(bytes, cells);
  const rows = Math.ceil(cells / cols);
  return `<svg class="bits fillmap" viewBox="0 0 ${WIDE} ${r1(rows * cell)}" role="img" aria-label="Share of ones in ${cells} stretches of the filter">` +
    shares.map((s, i) => `<rect class="zero" x="${r1((i % cols) * cell)}" y="${r1(Math.floor(i / cols) * cell)}" width="${r1(cell - 1)}" height="${r1(cell - 1)}"/>` +
      (s ? `<rect class="one" opacity="${s.toFixed(2)}" x="${r1((i % cols) * cell)}" y="${r1(Math.floor(i / cols) * cell)}" width="${r1(cell - 1)}" height="${r1(cell - 1)}"/>` : "")).join("") + "</svg>";
}

const ONES = Uint8Array.from({ length: 256 }, (_, b) => { let n = 0; for (let x = b; x; x &= x - 1) n++; return n; });
export function fillShares(bytes, cells) {
  const shares = [];
  for (let i = 0; i < cells; i++) {
    const from = Math.floor(i * bytes.length / cells), to = Math.max(from + 1, Math.floor((i + 1) * bytes.length / cells));
    const step = Math.max(1, Math.floor((to - from) / 4096)); // a sample is enough for a square
    let ones = 0, n = 0;
    for (let j = from; j < to && j < bytes.length; j += step) { ones += ONES[bytes[j]]; n += 8; }
    shares.push(n ? ones / n : 0);
  }
  return shares;
}
