#!/usr/bin/env node
// Other systems' filters answer in JavaScript as they do in C: every golden vector.
const { join } = require("node:path");

import("./js_test.mjs").then(({ suite, top }) => suite(async ({ seen, ok, same, read }) => {
  const { broken } = await import("./golden_vectors.mjs"), { vectors } = await import("./golden_files.mjs");
  for (const vector of vectors(top)) same(broken(seen, vector), [], `${vector.name} as the original`);
  const table = seen.open(read(join(top, "tests/golden/leveldb/table/table.ldb")));
  same(table.info().format, "leveldb-table", "a LevelDB table is recognised");
  const parquet = seen.open(read(join(top, "tests/golden/parquet/two-groups.parquet")), { column: "id" });
  ok(parquet.info().format === "parquet-file", "a Parquet file too");
}));
