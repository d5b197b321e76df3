#!/usr/bin/env node
// The npm package has what it says: its files, types for every method, a module of at most 220 kB, 95 kB packed, that imports no system.
const { existsSync, readFileSync, statSync } = require("node:fs");
const { spawnSync } = require("node:child_process");
const { join } = require("node:path");

import("./js_test.mjs").then(({ suite, build, top }) => suite(async ({ seen, ok, same }) => {
  const folder = join(build, "wasm"), about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  same(about.files.filter((name) => !existsSync(join(folder, name))), [], "every file of the package is there");
  same(about.version, seen.version, "its version is the library's");
  const types = readFileSync(join(folder, "seen.d.ts"), "utf8");
  const declared = (name) => [...types.match(new RegExp(`interface ${name} \\{([^]*?)\\n\\}`))[1].matchAll(/^ {2}(?:readonly )?(\w+)/gm)].map(([, word]) => word);
  const methods = Object.getOwnPropertyNames(seen.Filter.prototype).filter((name) => name !== "constructor");
  same(declared("Filter").sort(), methods.sort(), "the types name every method of a filter");
  same(declared("Seen").sort(), Object.keys(seen).sort(), "and every function");
  const info = new seen.Filter().info();
  same(Object.keys(info).filter((name) => !declared("Info").includes(name)), [], "and every field of info()");
  const module = join(folder, "seen.wasm");
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(module)));
  same(imports.filter((one) => !["env memory", "seen piece", "seen random"].includes(`${one.module} ${one.name}`) && one.module !== "math"), [],
    "the module imports memory, logarithms and two functions of the loader, and nothing of a system");
  if (spawnSync("wasm-opt", ["--version"]).status === 0) {
    const size = statSync(module).size, packed = spawnSync("gzip", ["-9nc", module]).stdout.length;
    ok(size <= 220000, "the module has at most 220,000 bytes", `${size} bytes`);
    ok(packed > 0 && packed <= 95000, "and at most 95,000 when gzip -9 has packed it", `${packed} bytes`);
  }
  const readme = readFileSync(join(folder, "README.md"), "utf8").match(/```js\n([^]*?)```/)[1];
  const run = spawnSync("node", ["--input-type=module", "-e", readme.replace('"seen-filter"', JSON.stringify(join(folder, "seen.mjs")))], { encoding: "utf8" });
  same(run.stderr, "", "the example of its README runs");
  if (spawnSync("npm", ["--version"]).status === 0) {
    const packed = spawnSync("npm", ["pack", "--dry-run", "--json", "--offline"], { cwd: folder, encoding: "utf8" });
    const names = JSON.parse(packed.stdout)[0].files.map((file) => file.path).sort();
    same(names, ["README.md", "package.json", "seen.d.ts", "seen.mjs", "seen.wasm"], "npm packs these files and no others");
  }
  for (const block of readFileSync(join(top, "docs/javascript.md"), "utf8").matchAll(/```js\n([^]*?)```/g)) {
    const text = block[1].replace('"seen-filter"', JSON.stringify(join(folder, "seen.mjs")));
    const done = spawnSync("node", ["--input-type=module", "-e", text], { encoding: "utf8" });
    same(done.stderr, "", `docs/javascript.md: ${block[1].split("\n")[2]}`);
  }
}));
