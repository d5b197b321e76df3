// plan_part.mjs - the Plan: fields in, table, plots and lines out, the state in the link.
import { copyLines } from "./copy_lines.mjs";
import { showBytes, showCount, showError, showShare, withCommas } from "./human_words.mjs";
import { keepLink, linkOf } from "./link_state.mjs";
import { FIELDS, GIVEN, keyCurves, makePlan, memoryCurves, readFields, sayChoice } from "./plan_model.mjs";
import { linesHtml, planRows } from "./plan_table.mjs";
import { plotCursor } from "./plot_cursor.mjs";
import { decadesFor, keysPlot, memoryPlot } from "./plot_svg.mjs";

const byId = (id) => document.getElementById(id);
const ECHO = {
  keys: (x) => `${withCommas(x)} keys`, error: (x) => `${showError(x)}, or ${showShare(x)}`,
  memory: (x) => (x < 1e15 ? `${withCommas(x)} bytes` : showBytes(x)), bits: () => "", k: () => "for kinds that have it",
};
const FOLLOWS = {
  keys: (r) => showCount(r.keys), error: (r) => showError(r.error), memory: (r) => showBytes(r.bytes),
  bits: (r) => r.bitsPerKey.toFixed(2), k: (r) => String(Number(r.k.toPrecision(3))),
};

export function startPlan(seen) {
  const form = byId("plan-form"), inputs = Object.fromEntries(Object.keys(FIELDS).map((n) => [n, byId(n)]));
  let order = ["keys", "error"], dropped = null, picked = "", plan = null, waiting = 0;

  const needs = () => ({ static: form.elements.come.value === "static", remove: form.elements.remove.checked,
    merge: form.elements.merge.checked, grow: form.elements.grow.checked });
  const state = () => {
    const n = needs();
    return { ...Object.fromEntries(Object.entries(inputs).map(([k, el]) => [k, el.value.trim()])),
      need: Object.keys(n).filter((k) => n[k]).join(" "), kind: picked };
  };

  // Two of the four decide: a third takes the place of the one given longest ago, which comes
  // back if the third is emptied again.
  function keepTwo(name) {
    if (!GIVEN.includes(name)) return;
    order = order.filter((n) => n !== name);
    if (inputs[name].value.trim()) order.push(name);
    else if (dropped && dropped.by === name) {
      inputs[dropped.name].value = dropped.value;
      order.unshift(dropped.name);
      dropped = null;
    }
    if (order.length > 2) {
      const out = order.shift();
      dropped = { name: out, value: inputs[out].value, by: name };
      inputs[out].value = "";
    }
  }

  function showFields(values, problems) {
    for (const [name, el] of Object.entries(inputs)) {
      const said = byId(`${name}-said`), given = name in values;
      el.classList.toggle("given", given);
      el.setAttribute("aria-invalid", String(name in problems));
      el.placeholder = plan && plan.shown && !given ? `= ${FOLLOWS[name](plan.shown)}` : "";
      said.classList.toggle("bad", name in problems);
      said.textContent = problems[name] || (given ? ECHO[name](values[name]) : name === "k" ? "best if empty" : "follows");
    }
  }

  const memoryCursor = plotCursor(byId("memory-box"), byId("memory-read"), "Error against memory: arrow keys read it, Enter takes a point",
    (bits) => take({ keys: showCount(plan.shown.keys), bits: String(bits) }));
  const keysCursor = plotCursor(byId("keys-box"), byId("keys-read"), "Error against keys: arrow keys read it, Enter takes a point",
    (keys) => take({ keys: showCount(Math.round(keys)), memory: showBytes(plan.shown.bytes) }));
  function take(values) {
    for (const n of GIVEN) inputs[n].value = values[n] || "";
    order = Object.keys(values);
    dropped = null;
    update();
  }

  function drawPlots() {
    byId("plan").dataset.settled = "yes";
    if (!plan.shown) return;
    const r = plan.shown, m = memoryCurves(seen, plan), n = keyCurves(seen, plan);
    const hint = "Point at the plot, or use the arrow keys, to read every kind; click or Enter takes that point.";
    byId("memory-box").innerHTML = memoryPlot(m, r);
    byId("keys-box").innerHTML = keysPlot(n, r);
    const most = m.xs[m.xs.length - 1], from = Math.log2(n.xs[0]), over = Math.log2(n.xs[n.xs.length - 1]) - from;
    memoryCursor(m, decadesFor(r), (x) => x / most, (x) => `${x} bits a key, ${showBytes(r.keys * x / 8)}`,
      Math.max(0, m.xs.findIndex((x) => x >= r.bitsPerKey)), hint);
    keysCursor(n, decadesFor(r), (x) => (Math.log2(x) - from) / over, (x) => `${showCount(x)} keys`, Math.floor(n.xs.length / 2), hint);
  }

  function update() {
    const { values, problems } = readFields(state());
    if (!Object.keys(problems).length) {
      plan = makePlan(seen, values, needs(), picked);
      byId("choice").textContent = sayChoice(plan);
      byId("plan-note").textContent = plan.notes.join(" ");
      if (plan.rows.length) {
        const focus = document.activeElement && document.activeElement.name === "row";
        byId("kinds").tBodies[0].innerHTML = planRows(plan);
        if (focus) document.querySelector("#kinds input:checked")?.focus();
      }
      if (plan.shown) {
        byId("lines").innerHTML = linesHtml(copyLines(plan));
        clearTimeout(waiting);
        byId("plan").dataset.settled = "no";
        waiting = setTimeout(drawPlots, 80);
      }
      keepLink("plan", state());
    } else {
      plan ??= makePlan(seen, { keys: 1e6, error: 0.01 }, needs(), ""); // what the page shows from the start
      byId("plan-note").textContent = "Correct what is marked above; until then this is the plan before it.";
    }
    showFields(values, problems);
  }

  function load(values) {
    for (const [name, el] of Object.entries(inputs)) el.value = values[name] || "";
    if (!Object.keys(FIELDS).some((n) => values[n])) [inputs.keys.value, inputs.error.value] = ["1 million", "1 in 100"];
    order = GIVEN.filter((n) => inputs[n].value);
    while (order.length > 2) inputs[order.shift()].value = "";
    const need = (values.need || "").split(" ");
    form.elements.come.value = need.includes("static") ? "static" : "add";
    for (const n of ["remove", "merge", "grow"]) form.elements[n].checked = need.includes(n);
    picked = values.kind || "";
    dropped = null;
    update();
  }

  form.addEventListener("input", (e) => { keepTwo(e.target.name); update(); });
  form.addEventListener("submit", (e) => e.preventDefault());
  form.addEventListener("reset", (e) => { e.preventDefault(); load({}); });
  byId("kinds").addEventListener("change", (e) => {
    picked = e.target.value === plan.choice ? "" : e.target.value;
    update();
  });
  byId("lines").addEventListener("click", (e) => {
    if (e.target.matches(".copy")) copy(copyLines(plan)[e.target.dataset.line].text, `${e.target.parentNode.querySelector("h3").textContent} copied.`);
  });
  byId("copy-link").addEventListener("click", () => copy(location.href.split("#")[0] + linkOf("plan", state()), "Link copied."));
  byId("print").addEventListener("click", () => window.print());
  async function copy(text, done) {
    try {
      await navigator.clipboard.writeText(text);
      byId("copied").textContent = done;
    } catch {
      byId("copied").textContent = "The browser refuses to copy: select the text instead.";
    }
  }
  return { load, state };
}
