// browser_test.mjs - TAP for tests in JavaScript, and Debian's Chromium to run the page in.
//
// playwright-core and axe-core come from npm (tests/fetch_npm). Screenshots are kept in $BUILD/page/shots.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const build = resolve(process.env.BUILD || "build"), top = resolve(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
export const pageFile = join(build, "page", "seen.html");
export const pageUrl = pathToFileURL(pageFile).href;

let run = 0, failed = 0;
export function ok(good, words, note) {
  console.log(`${good ? "ok" : "not ok"} ${++run} - ${words}`);
  if (good) return true;
  failed++;
  if (note !== undefined) console.log(`# ${JSON.stringify(note)}`.slice(0, 600));
  return false;
}
export const same = (got, want, words) => ok(JSON.stringify(got) === JSON.stringify(want), words, { got, want });
export function skipAll(why) {
  console.log(`1..0 # SKIP ${why}`);
  process.exit(0);
}

export const work = mkdtempSync(join(tmpdir(), "seen-web-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

export function seenCommand(words, input) {
  return execFileSync(join(build, "seen"), words, { input, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });
}
// Without quotient filters, which the module of the page leaves out.
export const planJson = (...words) => {
  const plan = JSON.parse(seenCommand(["plan", "--json", "--no-time", ...words]));
  return { ...plan, kinds: plan.kinds.filter((k) => k.kind !== "quotient") };
};
export const golden = (...path) => join(top, "tests", "golden", ...path);
export const readBytes = (path) => readFileSync(path);

function fromNpm() {
  const folder = join(build, "npm");
  if (spawnSync(join(top, "tests", "fetch_npm"), [join(top, "tests", "npm"), folder]).status !== 0)
    skipAll(readFileSync(join(folder, "missing"), "utf8").trim());
  return createRequire(join(folder, "x.js"));
}

// The test: WITH({open, shot, axe, browser}). Every page that OPEN makes must stay without console
// errors, exceptions and requests other than for itself.
export async function inChromium(withBrowser) {
  if (!existsSync(pageFile)) skipAll("the page is not built here (make page)");
  const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
  if (!chromium) skipAll("package chromium is not installed");
  const require = fromNpm();
  const browser = await require("playwright-core").chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  const shots = join(build, "page", "shots"), noise = [];
  mkdirSync(shots, { recursive: true });
  const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

  async function open(hash = "", options = {}) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, reducedMotion: "reduce",
      bypassCSP: false, acceptDownloads: true, ...options });
    const page = await context.newPage();
    page.on("console", (m) => { if (["error", "warning"].includes(m.type())) noise.push(m.text()); });
    page.on("pageerror", (e) => noise.push(String(e.stack)));
    page.on("request", (r) => { if (!/^(file:|data:|blob:)/.test(r.url())) noise.push(`request: ${r.url()}`); });
    await page.goto(pageUrl + hash);
    if (options.javaScriptEnabled !== false) await page.waitForSelector("html[data-ready]");
    return page;
  }
  // What axe finds that is serious or critical. Its script goes in as a debugger's would: the
  // page's own policy allows no other scripts.
  async function axe(page) {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Runtime.evaluate", { expression: axeSource });
    const { result, exceptionDetails } = await cdp.send("Runtime.evaluate", { awaitPromise: true, returnByValue: true,
      expression: "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact)).map(v => [v.id, v.nodes.slice(0, 3).map(n => n.html.slice(0, 120))]))" });
    return exceptionDetails ? ["axe failed", exceptionDetails.exception?.description] : result.value;
  }
  const shot = (page, name) => page.screenshot({ path: join(shots, `${name}.png`), fullPage: true, animations: "disabled" });
  try {
    await withBrowser({ open, shot, axe, browser });
    same(noise, [], "no console error, no exception, no request to a network");
  } catch (e) {
    ok(false, "the test runs to its end", String(e.stack));
  } finally {
    await browser.close();
  }
}

export function done() {
  console.log(`1..${run}`);
  process.exitCode = failed ? 1 : 0;
}
