// theory_plot.mjs - the error as a filter fills: theory as a line, what was measured as crosses.
import { showError } from "./human_words.mjs";

const W = 400, H = 270, L = 78, R = 14, T = 14, B = 40;

// EXPECTED [[keys, error]], MEASURED [[keys, share]], PROMISED the error it was made for.
export function theoryPlot(expected, measured, promised, capacity) {
  const most = Math.max(10, ...expected.map((p) => p[0]), ...measured.map((p) => p[0]));
  const x = (n) => (L + n / most * (W - L - R)).toFixed(1);
  const y = (p) => (T + Math.min(4, Math.max(0, -Math.log10(Math.max(p, 1e-9)))) / 4 * (H - T - B)).toFixed(1);
  const out = [];
  for (let d = 0; d <= 4; d++)
    out.push(`<path class="grid" d="M${L} ${y(10 ** -d)}H${W - R}"/><text class="tick end" x="${L - 5}" y="${Number(y(10 ** -d)) + 4}">${d ? showError(10 ** -d) : "always"}</text>`);
  for (const n of [0, Math.round(most / 2), most])
    out.push(`<text class="tick mid" x="${x(n)}" y="${H - B + 17}">${n}</text>`);
  out.push(`<text class="tick mid" x="${(L + W - R) / 2}" y="${H - 6}">keys</text>`);
  if (capacity && capacity <= most)
    out.push(`<path class="chosen-line" d="M${x(capacity)} ${T}V${H - B}"/>`);
  if (promised > 0)
    out.push(`<path class="chosen-line" d="M${L} ${y(promised)}H${W - R}"/><text class="tick faint" x="${L + 4}" y="${Number(y(promised)) - 4}">promised</text>`);
  const line = expected.filter((p) => p[1] > 0).map((p, i) => `${i ? "L" : "M"}${x(p[0])} ${y(p[1])}`).join("");
  if (line) out.push(`<path class="line kind-1 shown" d="${line}"/>`);
  for (const [n, p] of measured)
    if (p > 0) out.push(`<path class="mark open kind-0" transform="translate(${x(n)} ${y(p)})" d="M-3-3l6 6M3-3l-6 6"/>`);
  const last = measured[measured.length - 1];
  const words = last ? `With ${last[0]} keys ${showError(last[1])} absent keys were found` : "Error against keys in the filter";
  return `<svg class="plot" viewBox="0 0 ${W} ${H}" role="img" aria-label="${words}">${out.join("")}</svg>`;
}
