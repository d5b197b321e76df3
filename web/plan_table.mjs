// plan_table.mjs - the plan as HTML text: the table of kinds, the lines to copy.
//
// Pure, so that the build writes the first answer into the page: it is there before the
// library is, and without JavaScript.
import { escapeText, showBytes, showCount, showError, showShare } from "./human_words.mjs";
import { lookOf } from "./plot_svg.mjs";

const SAYS = {
  classic: "textbook; one memory access a probe",
  blocked: "one cache line a key; the usual choice",
  split: "Parquet's layout; fastest in cache",
  set: "whole 64-bit fingerprints; exact in practice",
  cuckoo: "small fingerprints that can be removed",
  ribbon: "built once from all keys; smallest",
  quotient: "prefixes of hashes in order; grows in place",
};
const number = (x) => (x === undefined ? "" : ` data-value="${x}"`);

function cells(r, most) {
  const share = Math.max(1, Math.min(100, Math.round(100 * r.bytes / most)));
  return `<td class="memory"${number(r.bytes)}>${showBytes(r.bytes)}<span class="bar" aria-hidden="true"><i style="width:${share}%"></i></span></td>` +
    `<td${number(r.bitsPerKey)}>${r.bitsPerKey.toFixed(2)}</td>` +
    `<td class="error"${number(r.error)}>${showError(r.error)} <small>${showShare(r.error)}</small></td>` +
    `<td class="k"${number(r.k)}>${r.k === undefined ? "" : Number(r.k.toPrecision(3))}</td>` +
    `<td class="keys"${number(r.keys)}>${showCount(r.keys)}</td>`;
}

// The body rows of the table. A row is picked with the radio button in it.
export function planRows(plan) {
  const kinds = plan.rows.map((r) => r.kind);
  const most = Math.max(...plan.rows.filter((r) => !r.cannot && r.kind !== "set").map((r) => r.bytes));
  const rows = plan.rows.map((r) => {
    const chosen = r.kind === plan.choice, shown = plan.shown && r.kind === plan.shown.kind;
    const head = `<th scope="row"><label><input type="radio" name="row" value="${escapeText(r.kind)}"${shown ? " checked" : ""}${r.cannot ? " disabled" : ""}>` +
      `<span class="swatch kind-${lookOf(r.kind, kinds).n}" aria-hidden="true"></span><b>${escapeText(r.kind)}</b>` +
      `${chosen ? ' <strong class="best">best</strong>' : ""}</label>` +
      `<small>${escapeText(SAYS[r.kind] || "")}</small><small class="can">${escapeText((r.can.includes("add") ? r.can : ["static", ...r.can]).join(" "))}${r.unfit ? ` · <em>${escapeText(r.unfit)}</em>` : ""}</small></th>`;
    return `<tr data-kind="${escapeText(r.kind)}" class="${chosen ? "chosen-row" : ""}${shown ? " shown-row" : ""}${r.unfit || r.cannot ? " unfit" : ""}">${head}` +
      (r.cannot ? `<td colspan="5" class="cannot">cannot: ${escapeText(r.cannot)}</td>` : cells(r, most)) + "</tr>";
  });
  const m = plan.minimum;
  if (m)
    rows.push(`<tr class="minimum" data-kind="minimum"><th scope="row"><b>minimum</b><small>no filter can be smaller</small></th>` +
      cells({ bytes: m.bytes, bitsPerKey: m.bitsPerKey, error: m.error, keys: m.keys }, most) + "</tr>");
  return rows.join("");
}

export function linesHtml(lines) {
  return lines.map((l, i) =>
    `<div class="code"><h3 id="line-${i}">${l.name}</h3><button type="button" class="copy" data-line="${i}" aria-describedby="line-${i}">Copy</button>` +
    `<pre tabindex="0" aria-labelledby="line-${i}"><code>${escapeText(l.text)}</code></pre></div>`).join("");
}

// Bits a key for every kind at a few errors: PLANS [{error, plan}] for a million keys.
export function figuresTable(plans) {
  const kinds = plans[0].plan.rows.map((r) => r.kind);
  const head = plans.map((p) => `<th scope="col">${showError(p.error)}</th>`).join("");
  const line = (name, f) => `<tr><th scope="row">${name}</th>${plans.map(f).join("")}</tr>`;
  return `<table class="figures"><caption>Bits a key for an error, with 1 million keys</caption><thead><tr><th scope="col">kind</th>${head}</tr></thead><tbody>` +
    kinds.map((k) => line(escapeText(k), (p) => {
      const r = p.plan.rows.find((x) => x.kind === k);
      return `<td>${r.cannot ? "–" : r.bitsPerKey.toFixed(2)}</td>`;
    })).join("") +
    line("minimum", (p) => `<td>${p.plan.minimum.bitsPerKey.toFixed(2)}</td>`) +
    line("memory of the best", (p) => `<td>${showBytes(p.plan.rows.find((x) => x.kind === p.plan.choice).bytes)}</td>`) +
    "</tbody></table>";
}
