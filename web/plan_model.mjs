// plan_model.mjs - what was asked, completed: a row for every kind, and the one to take.
//
// Every figure comes from the C library (SEEN.plan). Here are only units (bits a key times
// keys are bytes), what stands in for a number that was not given, and which kinds serve.
import { parseBitsPerKey, parseBytes, parseCount, parseError, parseProbes, showBytes, showCount,
  showError } from "./human_words.mjs";

// The fields of the form: how each is read, and what to write in it.
export const FIELDS = {
  keys: { parse: parseCount, hint: "a number, such as 1 million, 20M or 2e7" },
  error: { parse: parseError, hint: "a chance below 1, such as 1 in 1000, 0.1% or 1e-3" },
  memory: { parse: parseBytes, hint: "a size, such as 500 MB, 64M or 1 GiB" },
  bits: { parse: parseBitsPerKey, hint: "a number, such as 10" },
  k: { parse: parseProbes, hint: "a whole number from 1 to 64" },
};
const ASSUMED_KEYS = 1e6, ASSUMED_ERROR = 0.01;
export const GIVEN = ["keys", "error", "memory", "bits"];

// TEXTS {keys: "1 million", ...} to {values, problems}; an empty text is not given.
export function readFields(texts) {
  const values = {}, problems = {};
  for (const [name, field] of Object.entries(FIELDS)) {
    const text = (texts[name] || "").trim();
    if (!text) continue;
    const x = field.parse(text);
    if (x === null) problems[name] = `Write ${field.hint}.`;
    else values[name] = x;
  }
  return { values, problems };
}

// The question for the library, and in words what was assumed to be able to put it.
function question(v) {
  const q = {}, notes = [];
  if (v.k) q.k = v.k;
  let { keys, error, memory, bits } = v;
  if (!keys && !(memory && (error || bits))) {
    if (memory) {
      error = ASSUMED_ERROR;
      notes.push("No error is given: 1 in 100 is assumed.");
    } else {
      keys = ASSUMED_KEYS;
      notes.push(bits && error
        ? "An error and bits a key do not say how many keys: the figures are for 1 million."
        : "No number of keys is given: 1 million is assumed.");
    }
  }
  if (bits && keys) memory = Math.ceil(keys * bits / 8);
  else if (bits && memory) keys = Math.max(1, Math.floor(memory * 8 / bits));
  if (keys && !memory && !error) {
    error = ASSUMED_ERROR;
    notes.push("No error is given: 1 in 100 is assumed.");
  }
  if (keys && memory) { q.keys = keys; q.bytes = memory; }
  else if (keys) { q.keys = keys; q.error = error; }
  else { q.bytes = memory; q.error = error; }
  return { q, notes };
}

// What a kind that can CAN (["add", "grow"]) lacks of NEEDS {static, remove, merge, grow}.
export function lacks(can, needs) {
  const out = ["remove", "merge", "grow"].filter((n) => needs[n] && !can.includes(n));
  return needs.static || can.includes("add") ? out : ["add", ...out];
}

// The least error of so many bits a key; keys of one 64-bit hash are one key to any filter.
const leastError = (bitsPerKey, keys) => Math.min(1, Math.max(2 ** -bitsPerKey, keys * 2 ** -64));

// Any filter of error e needs log2(1/e) bits a key, whatever its structure.
function least(q, rows) {
  const keys = q.keys || Math.max(...rows.filter((r) => r.keys).map((r) => r.keys));
  const error = q.error || leastError(q.bytes * 8 / keys, keys), bitsPerKey = Math.log2(1 / error);
  const n = q.keys || q.bytes * 8 / bitsPerKey;
  return { bitsPerKey, keys: n, error, bytes: n * bitsPerKey / 8 };
}

const WHY = {
  blocked: "one memory access a key, hardly larger than classic",
  split: "it fits the fastest cache",
  classic: "blocked would take more bits for this error",
  set: "it has room for whole fingerprints",
  cuckoo: "smaller than classic, and two memory accesses a key",
};

function choose(rows, q, needs, usual) {
  const able = rows.filter((r) => !r.cannot && !r.unfit);
  if (!able.length) return { choice: null, why: "no kind can do that; ask for less" };
  const asked = needs.static || needs.remove;
  if (!asked && able.some((r) => r.kind === usual)) return { choice: usual, why: WHY[usual] || "" };
  const worth = (r) => (!q.bytes ? r.bytes : q.keys ? r.error : -r.keys);
  const best = able.reduce((a, b) => (worth(b) < worth(a) ? b : a));
  const what = q.bytes ? (q.keys ? "nothing errs less often in this memory" : "nothing holds more keys in this memory")
    : "nothing that does all this is smaller";
  return { choice: best.kind, why: what };
}

// V as readFields gives it, NEEDS the boxes. PICKED is the kind that the reader wants to see.
export function makePlan(seen, v, needs, picked) {
  const { q, notes } = question(v);
  let plan;
  try {
    plan = seen.plan(q);
  } catch (e) {
    return { failed: e.message, q, notes, rows: [] };
  }
  // The prints of a ribbon need not be whole: some keys have a bit, or a trit, more.
  const k = (r) => (r.kind === "ribbon" && r.bytes ? -Math.log2(r.error) : r.k);
  const rows = plan.kinds.map((r) => ({ ...r, k: k(r), cannot: r.bytes ? "" : r.why }));
  for (const r of rows) {
    if (r.cannot) continue;
    const missing = lacks(r.can, needs);
    if (missing.length) r.unfit = `cannot ${missing.join(", ")}`;
    else if (v.bits && v.error && r.error > v.error) r.unfit = "errs more often than asked";
    else if (v.bits && r.bitsPerKey > v.bits * 1.0001 && r.bytes > q.bytes) r.unfit = "takes more bits";
  }
  const { choice, why } = choose(rows, q, needs, plan.best);
  const shown = rows.find((r) => r.kind === picked && !r.cannot) || rows.find((r) => r.kind === choice) ||
    rows.find((r) => !r.cannot);
  return { q, notes, rows, choice, why, shown, minimum: least(q, rows) };
}

// "seen would choose blocked: 1.2 MB for 1 million keys, false positives 1 in 100; ..."
export function sayChoice(plan) {
  if (plan.failed) return `That cannot be: ${plan.failed}.`;
  if (!plan.choice) return `Nothing fits: ${plan.why}.`;
  const r = plan.rows.find((x) => x.kind === plan.choice);
  return `seen would choose ${plan.choice}: ${showBytes(r.bytes)} for ${showCount(r.keys)} keys, false positives ${showError(r.error)}` +
    (plan.why ? `; ${plan.why}.` : ".");
}

// ---- curves for the plots -----------------------------------------------------------

// The error of every kind for so many keys in so many bytes: {blocked: 0.01, ...}.
function errorsOf(seen, keys, bytes, k) {
  try {
    const plan = seen.plan({ keys: Math.max(1, Math.floor(keys)), bytes: Math.max(1, Math.floor(bytes)), k });
    return Object.fromEntries(plan.kinds.filter((r) => r.bytes && r.error < 1).map((r) => [r.kind, r.error]));
  } catch {
    return {};
  }
}

// Error against bits a key, at the keys of the row shown: up to 40 bits, or as far as the row is.
export function memoryCurves(seen, plan) {
  const { keys, bitsPerKey } = plan.shown, xs = [];
  const step = bitsPerKey <= 38 ? 1 : Math.ceil(bitsPerKey * 1.1 / 40);
  for (let b = 2 * step; b <= 40 * step; b += step) xs.push(b);
  return curves(plan, xs, (b) => errorsOf(seen, keys, keys * b / 8 + 1, plan.q.k), (b) => leastError(b, keys));
}

const OCTAVES = 8;
// Error against keys, in the bytes of the row shown: from a sixteenth of its keys to 16 times.
export function keyCurves(seen, plan) {
  const { keys, bytes } = plan.shown, xs = [];
  for (let t = 0; t <= OCTAVES; t += 0.25) xs.push(keys / 16 * 2 ** t);
  return curves(plan, xs, (n) => errorsOf(seen, n, bytes, plan.q.k), (n) => leastError(bytes * 8 / n, n));
}

function curves(plan, xs, errorsAt, leastAt) {
  const all = xs.map(errorsAt);
  return {
    xs,
    series: plan.rows.map((r) => ({ kind: r.kind, ys: all.map((e) => e[r.kind] ?? null) })),
    least: xs.map(leastAt),
  };
}
