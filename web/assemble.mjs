// assemble.mjs - the page in one file: styles, scripts, the library and the first answer.
//
//   node web/assemble.mjs SEEN_MJS SEEN_WASM SEEN_COMMAND OUT.html README.svg
//
// The figures that are in the page without JavaScript are those of `seen plan --json`.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { copyLines } from "./copy_lines.mjs";
import { keyCurves, makePlan, memoryCurves, sayChoice } from "./plan_model.mjs";
import { figuresTable, linesHtml, planRows } from "./plan_table.mjs";
import { keysPlot, memoryPlot } from "./plot_svg.mjs";
import { readmePicture } from "./readme_picture.mjs";

const [mjs, wasmFile, command, out, picture] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => readFileSync(join(here, name), "utf8");

// ---- modules into one script -------------------------------------------------------------
// Each becomes a function that returns what it exports; what it imports must stand before it.

const variable = (path) => `m_${path.replace(/^.*\//, "").replace(/\W/g, "_")}`;

function asFunction(path, text) {
  const exported = [...text.matchAll(/^export (?:async )?(?:function|const|let|class) (\w+)/gm)].map((m) => m[1]);
  for (const m of text.matchAll(/^export \{([^}]*)\};?$/gm)) exported.push(...m[1].split(",").map((s) => s.trim()).filter(Boolean));
  const body = text.replace(/^import \{([^}]*)\} from "([^"]+)";$/gm, (_, names, from) => `const {${names}} = ${variable(from)};`)
    .replace(/^export \{[^}]*\};?$/gm, "").replace(/^export default .*$/gm, "").replace(/^export /gm, "");
  return `const ${variable(path)} = (() => {\n${body}\nreturn { ${exported.join(", ")} };\n})();`;
}

function collect(path, text, done, order) {
  if (done.has(path)) return;
  done.add(path);
  for (const m of text.matchAll(/^import \{[^}]*\} from "\.\/([^"]+)";$/gm))
    collect(m[1], m[1] === "seen.mjs" ? readFileSync(mjs, "utf8") : read(m[1]), done, order);
  order.push(asFunction(path, text));
}

const order = [];
collect("page_start.mjs", read("page_start.mjs"), new Set(), order);
// Comments of a line's own are for readers of the sources.
const script = order.join("\n").replace(/^\s*\/\/.*\n/gm, "").replace(/<\/script/g, "<\\/script");
const early = read("early.js").replace(/^\/\/.*\n/gm, "").trim();

// ---- the first answer --------------------------------------------------------------------

const library = await (await import(pathToFileURL(resolve(mjs)))).load(readFileSync(wasmFile));
function commandPlan(...words) {
  const p = JSON.parse(execFileSync(command, ["plan", "--json", "--no-time", ...words], { encoding: "utf8" }));
  return { best: p.choice, kinds: p.kinds.map((r) => ({ ...r, bitsPerKey: r.bits_per_key, why: r.cannot,
    can: (r.can || "").split(" ").filter((word) => word && word !== "static") })) };
}
const told = { plan: () => commandPlan("-n", "1000000", "-e", "0.01") };
const needs = { static: false, remove: false, merge: false, grow: false };
const first = makePlan(told, { keys: 1e6, error: 0.01 }, needs, "");
const glance = [0.1, 0.01, 0.001, 1e-4, 1e-6].map((error) => ({
  error, plan: makePlan({ plan: () => commandPlan("-n", "1000000", "-e", String(error)) }, { keys: 1e6, error }, needs, ""),
}));

const parts = {
  STYLE: read("style.css").replace(/\/\*[^]*?\*\//g, "").replace(/\n\s*/g, "\n"),
  EARLY: early,
  SCRIPT: script,
  WASM: gzipSync(readFileSync(wasmFile), { level: 9 }).toString("base64"),
  HASHES: [early, script].map((s) => `'sha256-${createHash("sha256").update(s).digest("base64")}'`).join(" "),
  VERSION: library.version,
  CHOICE: sayChoice(first),
  ROWS: planRows(first),
  LINES: linesHtml(copyLines(first)),
  FIGURES: figuresTable(glance),
  PLOT_MEMORY: memoryPlot(memoryCurves(library, first), first.shown),
  PLOT_KEYS: keysPlot(keyCurves(library, first), first.shown),
};
const page = read("page.html").replace(/@([A-Z_]+)@/g, (_, name) => {
  if (!(name in parts)) throw new Error(`page.html names @${name}@, which the build does not make`);
  return parts[name];
});

function replaceFile(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
if (Buffer.byteLength(page) >= 300000) throw new Error(`the page has ${Buffer.byteLength(page)} bytes; it promises less than 300,000`);
replaceFile(out, page);
if (picture) replaceFile(picture, readmePicture(library, first));
