// golden_files.mjs - the vectors of tests/golden, read in Node.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function vectors(top) {
  const root = join(top, "tests/golden"), all = [];
  for (const format of readdirSync(root).sort())
    for (const name of existsSync(join(root, format)) && !format.includes(".") ? readdirSync(join(root, format)).sort() : []) {
      const folder = join(root, format, name), text = (file) => readFileSync(join(folder, file), "utf8");
      if (!existsSync(join(folder, "params.json"))) continue;
      all.push({
        name: `${format}/${name}`, params: JSON.parse(text("params.json")), keys: text("keys.tsv"), probes: text("probes.tsv"),
        bytes: new Uint8Array(readFileSync(join(folder, "filter.bin"))),
      });
    }
  return all;
}
