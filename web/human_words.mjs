// human_words.mjs - "2 billion", "1 in 1000", "500 MB" to numbers, and numbers to words.
//
// What `seen plan` accepts means the same here (kit/human_numbers.c): 64M of memory is
// 64 x 1024 x 1024, 64 MB are 64,000,000 bytes, 64M keys are 64,000,000. Beyond that, words.

const ONES = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7,
  eight: 8, nine: 9, ten: 10, hundred: 100, thousand: 1e3, million: 1e6, billion: 1e9, half: 0.5 };
const COUNTS = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12, p: 1e15, e: 1e18, hundred: 100,
  thousand: 1e3, million: 1e6, mio: 1e6, b: 1e9, bn: 1e9, billion: 1e9, trillion: 1e12, keys: 1 };
const SIZES = ["k", "m", "g", "t", "p", "e"];
const SIZE_WORDS = { kilo: 1, mega: 2, giga: 3, tera: 4, peta: 5, exa: 6 };

// [number, rest] at the front of TEXT, or null. A comma is allowed between thousands only.
function leadingNumber(text) {
  const t = text.trim().toLowerCase().replace(/_/g, "");
  let m = /^(\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)\s*(.*)$/.exec(t);
  if (m && !m[2].startsWith(","))
    return [Number(m[1].replace(/,/g, "")), m[2]];
  m = /^(?:(half)\s+an?|([a-z]+))(?:\s+(.*))?$/.exec(t);
  const word = m && (m[1] || m[2]);
  return word && word in ONES ? [ONES[word], (m[3] || "").trim()] : null;
}

const inRange = (x) => (x >= 1 && x < 9.2e18 ? Math.floor(x) : null);

// Each of these returns null for what it does not understand.
export function parseCount(text) {
  const n = leadingNumber(text);
  if (!n) return null;
  let [x, rest] = n;
  for (const word of rest ? rest.split(/\s+/) : []) {
    if (!(word in COUNTS)) return null;
    x *= COUNTS[word];
  }
  return inRange(x);
}

export function parseBytes(text) {
  const n = leadingNumber(text);
  if (!n) return null;
  const [x, rest] = n;
  if (/^(b|bytes?)?$/.test(rest)) return inRange(x);
  let m = /^(kilo|mega|giga|tera|peta|exa)bytes?$/.exec(rest);
  if (m) return inRange(x * 1000 ** SIZE_WORDS[m[1]]);
  m = /^([kmgtpe])(b|ib)?$/.exec(rest);
  return m && inRange(x * (m[2] === "b" ? 1000 : 1024) ** (SIZES.indexOf(m[1]) + 1));
}

export function parseError(text) {
  const n = leadingNumber(text);
  if (!n) return null;
  let [x, rest] = n;
  if (/^(%|per ?cent)$/.test(rest)) [x, rest] = [x / 100, ""];
  const below = /^(?:in\s|per\s|of\s|out of\s|\/|:)\s*(.+)$/.exec(rest);
  if (below) {
    const y = parseCount(below[1]);
    if (!y) return null;
    x /= y;
  } else if (rest) {
    return null;
  }
  return x > 0 && x < 1 ? x : null;
}

export function parseBitsPerKey(text) {
  const n = leadingNumber(text);
  return n && /^(bits?)?( (a|per) key)?$/.test(n[1]) && n[0] > 0 && n[0] <= 1e6 ? n[0] : null;
}

export function parseProbes(text) {
  const n = leadingNumber(text);
  return n && !n[1] && Number.isInteger(n[0]) && n[0] >= 1 && n[0] <= 64 ? n[0] : null;
}

// ---- to words ---------------------------------------------------------------------

const three = (x) => Number(x.toPrecision(3));

export function showBytes(b) {
  const units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
  let u = 0;
  while (b >= 999.5 && u < 6) { b /= 1000; u++; }
  return `${u && b < 9.95 ? b.toFixed(1) : b.toFixed(0)} ${units[u]}`;
}

export const withCommas = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

export function showCount(n) {
  const names = [[1e15, "quadrillion"], [1e12, "trillion"], [1e9, "billion"], [1e6, "million"]];
  for (const [size, name] of names)
    if (n >= size * 0.9995) return `${three(n / size)} ${name}`;
  return withCommas(Math.round(n));
}

// "1 in 1,040"; above a half, where "1 in 2" would hide the difference, a percentage.
export function showError(p) {
  if (!(p > 0)) return "never";
  if (p > 0.5) return `${(100 * p).toFixed(p > 0.999 ? 1 : 0)}%`;
  const n = 1 / p;
  return `1 in ${n < 9.95 ? Number(n.toFixed(1)) : n < 1e6 ? withCommas(Math.round(three(n))) : showCount(n)}`;
}

export function showShare(p) {
  return p >= 0.001 ? `${Number((100 * p).toPrecision(3))}%` : p.toExponential(1).replace("e-", "e−");
}

export const escapeText = (s) => String(s).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
