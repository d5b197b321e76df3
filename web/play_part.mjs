// play_part.mjs - the Play: a filter so small that every bit is seen, and the library sets it.
import { drawFilter, unitNames } from "./draw_kinds.mjs";
import { escapeText, showBytes, showError, withCommas } from "./human_words.mjs";
import { keepLink, linkOf } from "./link_state.mjs";
import { layersOf } from "./native_layers.mjs";
import { theoryPlot } from "./theory_plot.mjs";

const byId = (id) => document.getElementById(id);
const REMOVES = ["set", "cuckoo"];
const NAMES = ("pear plum fig lime kiwi mango melon grape peach lemon cherry olive date quince guava papaya banana " +
  "carrot onion leek radish turnip celery spinach pepper tomato potato bean lentil rice oats barley rye wheat millet " +
  "thyme basil mint sage dill anise clove ginger nutmeg saffron vanilla honey cocoa tea").split(" ");
const FIRST = ["apple", "pear", "plum", "fig", "lime", "kiwi"]; // so that there is something to see
const nameOf = (i) => (i < NAMES.length ? NAMES[i] : `${NAMES[i % NAMES.length]}${Math.floor(i / NAMES.length) + 1}`);
const ABSENT = Array.from({ length: 4096 }, (_, i) => `never added ${i}`);
const SEED = 7;

export function startPlay(seen) {
  let kind = "blocked", words = [], filter = null, expected = [], measured = [], shown = null, timer = 0;
  const kinds = [...document.querySelectorAll("[name=play-kind]")].map((r) => r.value);
  const made = () => ({ kind, keys: Number(byId("play-keys").value), error: Number(byId("play-error").value),
    grow: byId("play-grow").checked, seed: SEED });
  const isStatic = () => kind === "ribbon";

  function say(text) { byId("play-said").textContent = text; }
  // An error of the library is a sentence in the page.
  function attempt(what) {
    try { return what(); } catch (e) { say(`${e.message[0].toUpperCase()}${e.message.slice(1)}.`); return null; }
  }
  function freshFilter(keys) {
    const m = made();
    return isStatic() ? seen.build(keys, { error: m.error, seed: SEED }) : new seen.Filter(m);
  }

  // What theory expects as the filter fills, from the library's own prediction.
  function expectation() {
    const m = made();
    if (isStatic()) return [[0, m.error], [2 * m.keys, m.error]];
    const f = freshFilter(), out = [];
    const step = Math.max(1, Math.round(m.keys / 20));
    try {
      for (let n = 0; n <= 2 * m.keys; n++) {
        if (n % step === 0) out.push([n, f.info().error_predicted]);
        f.add(`expected ${n}`);
      }
    } catch { /* a fixed filter is full: the line ends there */ }
    f.free();
    return out;
  }

  function makeNew(keep) {
    stop();
    if (filter) filter.free();
    filter = null;
    measured = [];
    shown = null;
    words = [...keep];
    attempt(() => {
      filter = freshFilter(words);
      if (!isStatic()) for (const w of words) filter.add(w);
      expected = expectation();
    });
    show();
  }

  const measure = () => filter.hasMany(ABSENT).reduce((a, b) => a + b, 0) / ABSENT.length;

  // Adds without drawing; null if the library refused.
  function put(word) {
    return attempt(() => {
      if (isStatic()) {
        const had = filter.has(word), next = seen.build([...words, word], { error: made().error, seed: SEED });
        filter.free();
        filter = next;
        if (!words.includes(word)) words.push(word);
        return !had;
      }
      const isNew = filter.add(word);
      if (kind === "cuckoo" || !words.includes(word)) words.push(word);
      return isNew;
    });
  }

  // ---- what a word touches -------------------------------------------------------------

  function hitsOf(word, layers) {
    return layers.map((_, i) => new Set(filter.places(word, i)));
  }
  function drawNow() {
    const layers = layersOf(filter.save());
    const hits = shown === null ? [] : hitsOf(shown, layers);
    const hash = shown === null ? "" : filter.hash(shown).toString(16).padStart(16, "0");
    byId("bits-view").innerHTML = drawFilter(layers, hits, shown === null ? "" : `${shown}  →  hash ${hash}`);
    byId("bits-said").textContent = layers.map((l, i) => `${layers.length > 1 ? `Layer ${i + 1}: ` : ""}${unitNames(l)}`).join("; ") +
      ". A strong square is 1. What the word reads is framed, and filled if it is set.";
    return layers;
  }

  function show() {
    clearTimeout(timer);
    byId("remove").disabled = !REMOVES.includes(kind);
    byId("play-grow").disabled = isStatic();
    if (!filter) {
      byId("bits-view").innerHTML = "";
      return;
    }
    const layers = attempt(drawNow), i = filter.info(), now = measure();
    if (words.length && (!measured.length || measured[measured.length - 1][0] !== words.length)) measured.push([words.length, now]);
    const facts = [["Keys in it", `${words.length} of ${made().keys}`], ["Bits set", `${withCommas(i.bits_set)} of ${withCommas(i.bits)}, ${Math.round(100 * i.fill)}%`],
      ["Memory", showBytes(i.bytes)], ["Layers", layers ? layers.length : 1], ["Error promised", showError(made().error)],
      ["Error by theory", isStatic() ? `at most ${showError(i.error)}` : showError(i.error_predicted)], ["Error measured", showError(now)]];
    byId("play-facts").innerHTML = facts.map(([k, v]) => `<dt>${k}</dt><dd>${escapeText(v)}</dd>`).join("");
    byId("theory-box").innerHTML = theoryPlot(expected, measured, made().error, made().keys);
    byId("words").innerHTML = words.map((w) => `<li><button type="button" data-word="${escapeText(w)}" title="show what it reads">${escapeText(w)}</button></li>`).join("");
    keepState();
  }

  // ---- what the reader does ------------------------------------------------------------

  // What WORD reads in the first layer, in words.
  function reads(word) {
    const [first, ...others] = hitsOf(word, layersOf(filter.save()));
    const more = others.length ? ", and as many places in every later layer" : "";
    return { classic: `${first.size} bits`, blocked: `${first.size} bits of one cache line`, split: `${first.size} bits of one block`,
      set: "one bucket", cuckoo: "two buckets", ribbon: `${first.size} bits of the ribbon` }[kind] + more;
  }
  const wordNow = () => byId("word").value;

  function addOne() {
    const w = wordNow(), knew = words.includes(w), isNew = put(w);
    if (isNew === null) return;
    shown = w;
    say(isStatic() ? `The ribbon was built again with “${w}”: it reads ${reads(w)}, and their parities spell its fingerprint.`
      : isNew ? `“${w}” is certainly new. It reads ${reads(w)}.`
        : kind === "cuckoo" ? `“${w}” was probably there; a cuckoo filter keeps one more copy of its fingerprint.`
          : knew ? `“${w}” was probably there before: nothing changed.`
            : `The filter takes “${w}” for an old key, a false positive: all that it reads is set already, and nothing changed.`);
    show();
  }
  function askOne() {
    const w = wordNow(), found = filter.has(w);
    shown = w;
    say(found ? (words.includes(w) ? `Yes: “${w}” is in it.` : `Yes, says the filter, but “${w}” was never added: a false positive.${owners(w)}`)
      : `No. “${w}” was certainly never added.`);
    show();
  }
  function removeOne() {
    const w = wordNow();
    const gone = attempt(() => filter.remove(w));
    if (gone === null) return;
    const at = words.indexOf(w);
    if (gone && at >= 0) words.splice(at, 1);
    shown = w;
    say(!gone ? `“${w}” was not in it: nothing was removed.` : at >= 0 ? `“${w}” is removed.`
      : `“${w}” was never added, and a fingerprint like its own is gone: some other key is now lost.`);
    show();
  }

  // Whose bits a false positive found; of fingerprints, whose is the same.
  function owners(word) {
    const layers = layersOf(filter.save()), mine = hitsOf(word, layers), by = [];
    if (isStatic()) return " By chance, the parities that it reads spell its fingerprint.";
    const shares = (theirs) => (REMOVES.includes(kind) ? mine.some((m, i) => m.size && m.size === theirs[i].size && [...m].every((b) => theirs[i].has(b)))
      : mine.some((m, i) => [...m].some((b) => theirs[i].has(b))));
    for (const w of words) if (shares(hitsOf(w, layers))) by.push(`“${w}”`);
    if (!by.length) return "";
    const few = by.slice(0, 4).join(", ") + (by.length > 4 ? ` and ${by.length - 4} more` : "");
    return REMOVES.includes(kind) ? ` Its fingerprint and buckets are those of ${few}.` : ` What it reads was set by ${few}.`;
  }

  function findFalse() {
    const had = new Set(words), most = 300000;
    for (let at = 0; at < most; at += 1000) {
      const tries = Array.from({ length: 1000 }, (_, i) => `guess ${at + i}`);
      const found = filter.hasMany(tries).findIndex((yes, i) => yes && !had.has(tries[i]));
      if (found >= 0) {
        const w = tries[found], p = filter.info().error;
        byId("word").value = shown = w;
        say(`Try ${withCommas(at + found + 1)}: “${w}” was never added, and the filter says yes. Theory expects ${isStatic() ? "at most " : ""}${showError(p)}.${owners(w)}`);
        show();
        return;
      }
    }
    say(words.length ? `None in ${withCommas(most)} tries.${kind === "set" ? " A set keeps 64 bits of every key." : ""}` : "The filter is empty: it says no to everything. Add some words first.");
  }

  const stop = () => { clearTimeout(timer); timer = 0; byId("fill").textContent = "Fill it"; };
  let next = 0;
  const given = new Set(); // words that the page chose
  function addNext() {
    while (words.includes(nameOf(next))) next++;
    const w = nameOf(next++), isNew = put(w);
    given.add(w);
    if (isNew !== null) shown = w;
    return isNew !== null;
  }
  function fill(upTo) {
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches || isStatic();
    const step = () => {
      timer = 0;
      if (words.length >= upTo) { finishFill(); return; }
      const before = words.length;
      do { if (!addNext()) { show(); stop(); return; } } while (words.length < upTo && (calm ? words.length - before < 10 : words.length === before && next % 50));
      show();
      timer = setTimeout(step, calm ? 0 : 30);
    };
    byId("fill").textContent = "Stop";
    step();
  }
  function finishFill() {
    stop();
    const layers = layersOf(filter.save()).length;
    say(`${words.length} keys are in it: theory expects ${showError(filter.info().error)}, ${showError(measure())} absent keys are found.` +
      (layers > 1 ? ` It has grown to ${layers} layers, and a key is looked for in each.` : ""));
  }

  // ---- wiring ----------------------------------------------------------------------------

  // A link holds up to 60 words; of more, those that the reader typed, and how many there were.
  const state = () => {
    const few = words.length <= 60 ? words : words.filter((w) => !given.has(w)).slice(0, 60);
    return { kind, keys: byId("play-keys").value, error: byId("play-error").value, fixed: !byId("play-grow").checked,
      words: few.join("\n") || " ", fill: words.length > 60 ? words.length : "" };
  };
  const keepState = () => { if (document.documentElement.dataset.part === "play") keepLink("play", state()); };
  byId("play-form").addEventListener("change", () => {
    kind = document.querySelector("[name=play-kind]:checked").value;
    makeNew(words.slice(0, isStatic() || byId("play-grow").checked ? words.length : Number(byId("play-keys").value)));
    if (filter) say(`The same words in a ${kind} filter.`);
  });
  byId("word-form").addEventListener("submit", (e) => { e.preventDefault(); if (filter) addOne(); });
  byId("ask").addEventListener("click", () => filter && askOne());
  byId("remove").addEventListener("click", () => filter && removeOne());
  byId("find").addEventListener("click", () => filter && findFalse());
  byId("fill").addEventListener("click", () => {
    if (byId("fill").textContent === "Stop") stop();
    else if (filter) fill(Math.max(made().keys, words.length));
  });
  byId("more").addEventListener("click", () => {
    if (!filter) return;
    for (let i = 0; i < 10; i++) if (!addNext()) { show(); return; }
    show();
    finishFill();
  });
  byId("clear").addEventListener("click", () => { next = 0; makeNew([]); say("Empty again."); });
  byId("words").addEventListener("click", (e) => {
    if (!e.target.dataset.word) return;
    byId("word").value = shown = e.target.dataset.word;
    say(`“${shown}” reads ${reads(shown)}.`);
    show();
  });

  let loaded = false;
  return {
    link: () => linkOf("play", state()),
    load(v) {
      if (loaded && !Object.keys(v).length) return;
      loaded = true;
      if (kinds.includes(v.kind)) kind = v.kind;
      for (const [id, value] of [["play-keys", v.keys], ["play-error", v.error]])
        if ([...byId(id).options].some((o) => o.value === value)) byId(id).value = value;
      byId("play-grow").checked = v.fixed !== "1";
      document.querySelector(`[name=play-kind][value=${kind}]`).checked = true;
      makeNew(v.words === undefined ? FIRST : v.words.split("\n").filter((w) => w.trim()).slice(0, 200));
      next = 0;
      while (filter && words.length < Math.min(1000, Number(v.fill) || 0) && addNext());
      if (filter && words.length) {
        byId("word").value = shown = words[0];
        show();
      }
    },
  };
}
