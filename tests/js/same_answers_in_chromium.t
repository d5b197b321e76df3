#!/usr/bin/env node
// The package runs in a browser: the golden vectors in Debian's Chromium, in a page and in a worker.
const { spawn, spawnSync } = require("node:child_process");
const { createReadStream, existsSync } = require("node:fs");
const { createServer } = require("node:http");
const { join } = require("node:path");

const PAGE = `<!doctype html><title>seen</title><script type="module" src="/work.mjs"></script>
<script>new Worker("/work.mjs?worker", { type: "module" });</script>`;
const WORK = `
import { load } from "/wasm/seen.mjs";
import { broken } from "/js/golden_vectors.mjs";
const where = typeof document === "undefined" ? "worker" : "page";
const said = [];
try {
  const vectors = await (await fetch("/vectors")).json();
  const seen = await load();
  for (const v of vectors) said.push(...broken(seen, { ...v, bytes: Uint8Array.from(v.bytes) }));
  const f = new seen.Filter({ keys: 1000 });
  f.addMany(["a", "b"]);
  const g = seen.open(f.save());
  if (!g.has("a") || g.has("c")) said.push("a saved filter does not come back");
  try {
    new seen.Filter({ keys: 1e10 });
    said.push("8 GB were made");
  } catch (error) {
    if (error.code !== "ENOMEM") said.push(String(error));
  }
  if (vectors.length < 15) said.push("there are no vectors");
} catch (error) {
  said.push(String(error.stack));
}
await fetch("/done?" + where, { method: "POST", body: JSON.stringify(said) });
`;

import("./js_test.mjs").then(({ suite, top, build }) => suite(async ({ same, ok, work }) => {
  if (spawnSync("chromium", ["--version"]).status !== 0) {
    ok(true, "skipped # SKIP package chromium is not installed");
    return;
  }
  const { vectors } = await import("./golden_files.mjs");
  const all = JSON.stringify(vectors(top).map((v) => ({ ...v, bytes: [...v.bytes] })));
  const answers = {};
  let done;
  const finished = new Promise((resolve) => (done = resolve));
  const server = createServer((request, reply) => {
    const { pathname, search } = new URL(request.url, "http://localhost");
    const send = (type, text) => reply.writeHead(200, { "content-type": type }).end(text);
    if (pathname === "/") return send("text/html", PAGE);
    if (pathname === "/work.mjs") return send("text/javascript", WORK);
    if (pathname === "/vectors") return send("application/json", all);
    if (pathname === "/done") {
      let body = "";
      request.on("data", (piece) => (body += piece)).on("end", () => {
        answers[search.slice(1)] = JSON.parse(body);
        send("text/plain", "");
        if (Object.keys(answers).length === 2) done();
      });
      return undefined;
    }
    const path = pathname.startsWith("/wasm/") ? join(build, pathname) : join(top, "tests", pathname);
    if (!existsSync(path)) return reply.writeHead(404).end();
    reply.writeHead(200, { "content-type": path.endsWith(".wasm") ? "application/wasm" : "text/javascript" });
    return createReadStream(path).pipe(reply);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = spawn("chromium", ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
    `--user-data-dir=${join(work, "profile")}`, `http://127.0.0.1:${server.address().port}/`], { stdio: "ignore" });
  const limit = setTimeout(done, 120000);
  await finished;
  clearTimeout(limit);
  await new Promise((resolve) => {
    browser.on("exit", resolve);
    browser.kill("SIGTERM");
  });
  server.closeAllConnections?.();
  server.close();
  same(answers.page, [], "a page answers as C does");
  same(answers.worker, [], "and so does a worker");
}));
