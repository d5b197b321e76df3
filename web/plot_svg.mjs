// plot_svg.mjs - two plots as SVG text: error against memory, error against keys.
//
// Pure: the page, the build (first picture, README) and the tests call it alike. A kind is
// told by its dashes, its marks and its name in the legend; colour only helps.
import { escapeText, showBytes, showCount, showError } from "./human_words.mjs";

export const BOX = { width: 520, height: 400, left: 92, right: 30, top: 40, bottom: 118 };

const LOOKS = [
  { dash: "7 3", mark: "circle" }, { dash: "", mark: "square" }, { dash: "2 3", mark: "up" },
  { dash: "10 3 2 3", mark: "cross" }, { dash: "5 2 1 2", mark: "down" }, { dash: "14 4", mark: "diamond" },
  { dash: "1 2", mark: "plus" }, { dash: "4 4", mark: "ring" },
];
const KNOWN = ["classic", "blocked", "split", "set", "cuckoo", "ribbon"];

// Numbers for the style sheet: .kind-0 is classic, ...; kinds to come follow.
export function lookOf(kind, all) {
  const i = KNOWN.indexOf(kind);
  const n = i >= 0 ? i : KNOWN.length + Math.max(0, all.filter((k) => !KNOWN.includes(k)).indexOf(kind));
  return { n: n % LOOKS.length, ...LOOKS[n % LOOKS.length] };
}

// The plot reaches down to 1e-8, or as far as the chosen row needs.
export const decadesFor = (row) => (row.error >= 1e-8 ? 8 : row.error >= 1e-16 ? 16 : 24);
export function yOf(error, decades) {
  const d = Math.min(decades, Math.max(0, -Math.log10(error)));
  return BOX.top + d / decades * (BOX.height - BOX.top - BOX.bottom);
}
const plotWidth = BOX.width - BOX.left - BOX.right;
export const xAt = (share) => BOX.left + share * plotWidth;

const SHAPES = {
  circle: "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z", ring: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
  square: "M-3-3h6v6h-6z", up: "M0-4l4 7h-8z", down: "M0 4l4-7h-8z", diamond: "M0-4.5l4 4.5l-4 4.5l-4-4.5z",
  cross: "M-3-3l6 6M3-3l-6 6", plus: "M-4 0h8M0-4v8",
};
const r1 = (x) => Number(x.toFixed(1));
function markAt(mark, x, y, cls) {
  const open = mark === "cross" || mark === "plus" || mark === "ring";
  return `<path class="mark ${cls}${open ? " open" : ""}" transform="translate(${r1(x)} ${r1(y)})" d="${SHAPES[mark]}"/>`;
}

// TICKS [[share, first line, second line]].
function frame(title, below, ticks, decades) {
  const bottom = BOX.height - BOX.bottom, out = [];
  out.push(`<text class="title" x="${BOX.left}" y="20">${escapeText(title)}</text>`);
  for (let d = 0; d <= decades; d += decades / 4) {
    const y = r1(yOf(10 ** -d, decades));
    out.push(`<path class="grid" d="M${BOX.left} ${y}h${plotWidth}"/>` +
      `<text class="tick end" x="${BOX.left - 6}" y="${r1(y + 4)}">${d > 9 ? `1e−${d}` : d ? showError(10 ** -d).replace("million", "M") : "always"}</text>`);
  }
  for (const [share, one, two] of ticks) {
    const x = r1(xAt(share));
    out.push(`<path class="grid" d="M${x} ${BOX.top}v${bottom - BOX.top}"/>` +
      `<text class="tick mid" x="${x}" y="${bottom + 16}">${escapeText(one)}</text>` +
      (two ? `<text class="tick mid faint" x="${x}" y="${bottom + 32}">${escapeText(two)}</text>` : ""));
  }
  out.push(`<text class="tick mid" x="${xAt(0.5)}" y="${bottom + 50}">${escapeText(below)}</text>`);
  return out.join("");
}

// Line breaks where a kind has no answer, and ends where it leaves the plot below. SHARES are the x of
// the points, 0 to 1.
function linePath(shares, ys, decades) {
  const floor = 10 ** -decades, at = (share, y) => `${r1(xAt(share))} ${r1(yOf(y, decades))}`;
  // Where the line from point i - 1 to point i crosses the floor.
  const crossing = (i) => {
    const from = Math.log(ys[i - 1]), t = (Math.log(floor) - from) / (Math.log(ys[i]) - from);
    return at(shares[i - 1] + t * (shares[i] - shares[i - 1]), floor);
  };
  let d = "";
  ys.forEach((y, i) => {
    const before = i ? ys[i - 1] : null;
    if (y === null) return;
    if (y < floor) { if (before !== null && before >= floor) d += `L${crossing(i)}`; return; }
    if (before === null) d += `M${at(shares[i], y)}`;
    else d += `${before < floor ? `M${crossing(i)}` : ""}L${at(shares[i], y)}`;
  });
  return d;
}

function legend(kinds) {
  const y0 = BOX.height - 54, step = (BOX.width - 20) / 3;
  return [...kinds, "least possible"].map((kind, i) => {
    const x = 14 + (i % 3) * step, y = y0 + Math.floor(i / 3) * 20;
    const look = kind === "least possible" ? null : lookOf(kind, kinds);
    const cls = look ? `kind-${look.n}` : "least";
    return `<path class="line ${cls}" d="M${r1(x)} ${y}h30"${look && look.dash ? ` stroke-dasharray="${look.dash}"` : ""}/>` +
      (look ? markAt(look.mark, x + 15, y, cls) : "") +
      `<text class="tick" x="${r1(x + 36)}" y="${y + 4}">${escapeText(kind)}</text>`;
  }).join("");
}

function plot(id, c, shares, row, at, words, frameText) {
  const shown = row.kind, decades = decadesFor(row), kinds = c.series.map((s) => s.kind), out = [];
  out.push(`<svg class="plot" id="${id}" viewBox="0 0 ${BOX.width} ${BOX.height}" role="img" aria-label="${escapeText(words)}">`);
  out.push(frameText, `<path class="line least" d="${linePath(shares, c.least, decades)}"/>`);
  for (const s of [...c.series].sort((a, b) => (a.kind === shown) - (b.kind === shown))) {
    const look = lookOf(s.kind, kinds), cls = `kind-${look.n}${s.kind === shown ? " shown" : ""}`;
    const d = linePath(shares, s.ys, decades);
    if (!d) continue;
    out.push(`<path class="line ${cls}" d="${d}"${look.dash ? ` stroke-dasharray="${look.dash}"` : ""}/>`);
    const each = Math.max(1, Math.floor(shares.length / 5));
    s.ys.forEach((y, i) => {
      if (y !== null && y >= 10 ** -decades && i % each === (look.n * 2) % each)
        out.push(markAt(look.mark, xAt(shares[i]), yOf(y, decades), cls));
    });
  }
  if (at.x >= 0 && at.x <= 1) {
    const x = r1(xAt(at.x)), y = r1(yOf(at.error, decades)), flip = at.x > 0.55;
    out.push(`<path class="chosen-line" d="M${BOX.left} ${y}H${x}V${BOX.height - BOX.bottom}"/>` +
      `<circle class="chosen" cx="${x}" cy="${y}" r="7"/><circle class="chosen-dot" cx="${x}" cy="${y}" r="2.5"/>` +
      `<text class="chosen-text ${flip ? "end" : ""}" x="${flip ? x - 12 : x + 12}" y="${r1(Math.max(BOX.top + 12, y - 8))}">${escapeText(at.text)}</text>`);
  }
  out.push(legend(kinds), '<g class="cursor"></g></svg>');
  return out.join("");
}

// ROW is the chosen one, C what memoryCurves made.
export function memoryPlot(c, row) {
  const first = 0, most = c.xs[c.xs.length - 1], shares = c.xs.map((b) => (b - first) / (most - first));
  const ticks = [0, 1, 2, 3, 4, 5].map((i) => i * most / 5).map((b) => [b / most, b ? showBytes(row.keys * b / 8) : "0", b ? `${b} bits` : ""]);
  const words = `Error against memory for ${showCount(row.keys)} keys; chosen: ${row.kind}, ${showBytes(row.bytes)}, ${showError(row.error)}`;
  return plot("plot-memory", c, shares, row,
    { x: row.bitsPerKey / most, error: row.error, text: `${row.kind}, ${showBytes(row.bytes)}` }, words,
    frame(`Error against memory, ${showCount(row.keys)} keys`, "memory, and bits a key", ticks, decadesFor(row)));
}

export function keysPlot(c, row) {
  const from = Math.log2(c.xs[0]), over = Math.log2(c.xs[c.xs.length - 1]) - from;
  const shares = c.xs.map((n) => (Math.log2(n) - from) / over);
  const ticks = [0, 2, 4, 6, 8].map((t) => [t / 8, showCount(c.xs[0] * 2 ** t).replace(" million", "M").replace(" billion", "G"), ""]);
  const words = `Error against the number of keys in ${showBytes(row.bytes)}; chosen: ${row.kind}, ${showCount(row.keys)} keys, ${showError(row.error)}`;
  return plot("plot-keys", c, shares, row,
    { x: (Math.log2(row.keys) - from) / over, error: row.error, text: `${row.kind}, ${showError(row.error)}` }, words,
    frame(`Error against keys, in ${showBytes(row.bytes)}`, "keys", ticks, decadesFor(row)));
}
