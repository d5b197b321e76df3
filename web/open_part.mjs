// open_part.mjs - the Open: a filter file, ours or another system's, shown, asked, added to, saved.
//
// Files are strangers: the library checks them, and what it refuses is told in its words.
import { drawFilter, fillMap } from "./draw_kinds.mjs";
import { escapeText, parseCount, parseError, showBytes, showCount, showError, withCommas } from "./human_words.mjs";
import { layersOf } from "./native_layers.mjs";

const byId = (id) => document.getElementById(id);
const MOST_BYTES = 256 * 2 ** 20, MOST_ANSWERS = 500, SMALL_BITS = 8192;

// "0-6", "2+3+5" or both, as the command reads them.
export function parseSeeds(text) {
  const out = [];
  for (const part of text.split("+")) {
    const m = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part);
    if (!m || Number(m[2] ?? m[1]) - Number(m[1]) > 1000) return null;
    for (let s = Number(m[1]); s <= Number(m[2] ?? m[1]); s++) out.push(s);
  }
  return out;
}
const parseBits = (text) => { const m = /^2\^(\d+)$/.exec(text); return m ? 2 ** Number(m[1]) : parseCount(text); };

export function startOpen(seen) {
  let filter = null, name = "", bytes = null;
  const formats = seen.formats();
  byId("format").insertAdjacentHTML("beforeend", formats.map((f) =>
    `<option value="${escapeText(f.name)}">${escapeText(f.name)}: ${escapeText(f.about)}</option>`).join(""));

  function problem(text) {
    const p = byId("open-problem");
    p.hidden = !text;
    p.textContent = text;
    if (text) byId("opened").hidden = true;
  }

  // What the form says of a file whose bytes do not; a wrong number is an error with its field.
  function hints() {
    const h = { name };
    if (byId("format").value) h.format = byId("format").value;
    for (const [id, key, parse, what] of [["how-m", "bits", parseBits, "m"], ["how-k", "k", parseCount, "k"], ["how-n", "keys", parseCount, "n"],
      ["how-p", "error", parseError, "p"], ["how-seeds", "seeds", parseSeeds, "seeds"]]) {
      const text = byId(id).value.trim();
      if (!text) continue;
      h[key] = parse(text);
      if (h[key] === null) throw new Error(`“${text}” is not a value for ${what}`);
    }
    if (byId("how-type").value) h.type = byId("how-type").value;
    if (byId("how-column").value.trim()) h.column = byId("how-column").value.trim();
    return h;
  }

  function openBytes() {
    if (!bytes) return;
    if (filter) filter.free();
    filter = null;
    try {
      filter = seen.open(bytes, hints());
    } catch (e) {
      problem(`Cannot be opened. ${e.message}.`);
      return;
    }
    problem("");
    byId("answers").innerHTML = "";
    byId("asked").textContent = "";
    showFilter();
    byId("opened-name").focus({ preventScroll: true });
  }

  async function take(file) {
    if (!file) return;
    name = file.name;
    bytes = null;
    if (file.size > MOST_BYTES) {
      problem(`${name} has ${showBytes(file.size)}; this page opens up to ${showBytes(MOST_BYTES)}. In a shell, seen info ${name} opens any size.`);
      return;
    }
    try {
      bytes = new Uint8Array(await file.arrayBuffer());
    } catch (e) {
      problem(`${name} cannot be read: ${e.message}.`);
      return;
    }
    openBytes();
  }

  function showFilter() {
    const i = filter.info(), format = formats.find((f) => f.name === i.format);
    const layers = format ? [] : layersOf(filter.save());
    byId("opened").hidden = false;
    byId("opened-name").textContent = name;
    byId("opened-what").textContent = format ? `${format.about}. ${i.words}.` : `A filter of seen: ${i.words}.`;
    const facts = [["Kind", format ? format.name : i.kind], ["Size", showBytes(i.bytes)],
      ["Keys, by the bits", i.keys_estimate >= 0 && Number.isFinite(i.keys_estimate) ? `about ${showCount(Math.round(i.keys_estimate))}` : "unknown"]];
    if (!format) facts.push(["Keys added", withCommas(i.keys)], ["Made for", i.capacity ? `${withCommas(i.capacity)} keys` : "any number"]);
    facts.push(["k", i.probes], ["Layers", i.layers], ["Bits set", i.bits ? `${withCommas(i.bits_set)} of ${withCommas(i.bits)}` : "unknown"],
      ["Fill", `${(100 * i.fill).toFixed(1)}%`], ["Error now", showError(i.error)]);
    if (i.error_promised > 0) facts.push(["Error promised", showError(i.error_promised)]);
    byId("opened-facts").innerHTML = facts.map(([k, v]) => `<dt>${k}</dt><dd>${escapeText(v)}</dd>`).join("");
    // Another system's file is drawn as it is, its header included.
    const drawn = layers.length ? layers : [{ kind: "the file", body: format.write ? filter.save() : bytes }];
    const small = drawn.reduce((n, l) => n + l.body.length * 8, 0) <= SMALL_BITS;
    byId("fill-view").innerHTML = small ? drawFilter(drawn, [], "") : drawn.map((l) => fillMap(l.body)).join("");
    byId("fill-said").textContent = small ? "Every bit of it; a strong square is 1."
      : `Each square is a stretch of the ${layers.length ? "filter" : "file"}; the stronger its tone, the more of its bits are set.`;
    const adds = format ? format.add : i.kind !== "ribbon";
    byId("open-add").disabled = !adds;
    byId("open-add").title = adds ? "" : "this filter takes no more keys";
    byId("save").disabled = Boolean(format) && !format.write;
  }

  const keys = () => byId("ask-keys").value.split("\n").map((k) => k.replace(/\r$/, "")).filter((k) => k !== "");

  function ask() {
    const list = keys();
    if (!list.length) { byId("asked").textContent = "Write a key first, one a line."; return; }
    const found = filter.hasMany(list), yes = found.reduce((a, b) => a + (b ? 1 : 0), 0);
    byId("asked").textContent = `${withCommas(yes)} of ${withCommas(list.length)} are probably in it; the other ${withCommas(list.length - yes)} certainly not.` +
      (list.length > MOST_ANSWERS ? ` The first ${MOST_ANSWERS}:` : "");
    byId("answers").innerHTML = list.slice(0, MOST_ANSWERS).map((k, i) =>
      `<li><span class="${found[i] ? "yes" : "no"}">${escapeText(k)}<span class="hidden">: ${found[i] ? "yes" : "no"}</span></span></li>`).join("");
  }

  function add() {
    const list = keys();
    try {
      const isNew = list.map((k) => filter.add(k)).filter(Boolean).length;
      ask();
      showFilter();
      byId("asked").textContent = list.length ? `${withCommas(isNew)} of ${withCommas(list.length)} were new, and all are in it now. Save the file to keep them.` : "Write a key first, one a line.";
    } catch (e) {
      showFilter();
      byId("asked").textContent = `Not added: ${e.message}.`;
    }
  }

  function save() {
    try {
      const url = URL.createObjectURL(new Blob([filter.save()], { type: "application/octet-stream" }));
      const a = Object.assign(document.createElement("a"), { href: url, download: name });
      a.click();
      setTimeout(() => URL.revokeObjectURL(url), 60000);
      byId("asked").textContent = `Saved as ${name}, where your browser keeps downloads.`;
    } catch (e) {
      byId("asked").textContent = `Not saved: ${e.message}.`;
    }
  }

  function sample() {
    const f = new seen.Filter({ kind: "blocked", keys: 2000, error: 0.01, seed: 1 });
    f.addMany(Array.from({ length: 1500 }, (_, i) => `http://example.org/${i}`));
    bytes = f.save();
    f.free();
    name = "example.seen";
    byId("ask-keys").value = "http://example.org/1\nhttp://example.org/1499\nhttp://example.com/\n";
    openBytes();
  }

  const drop = byId("drop");
  for (const event of ["dragenter", "dragover"])
    document.addEventListener(event, (e) => { e.preventDefault(); drop.classList.add("over"); });
  document.addEventListener("dragleave", (e) => { if (!e.relatedTarget) drop.classList.remove("over"); });
  document.addEventListener("drop", (e) => {
    e.preventDefault();
    drop.classList.remove("over");
    if (!e.dataTransfer.files.length) return;
    location.hash = "#open";
    take(e.dataTransfer.files[0]);
  });
  byId("file").addEventListener("change", (e) => take(e.target.files[0]));
  byId("sample").addEventListener("click", sample);
  byId("how-form").addEventListener("submit", (e) => { e.preventDefault(); openBytes(); });
  byId("format").addEventListener("change", () => {
    const f = formats.find((x) => x.name === byId("format").value);
    byId("how-needs").textContent = f && f.toOpen ? `It needs ${f.toOpen}.` : "";
  });
  byId("ask-form").addEventListener("submit", (e) => { e.preventDefault(); ask(); });
  byId("open-add").addEventListener("click", add);
  byId("save").addEventListener("click", save);
  return { load() {} };
}
