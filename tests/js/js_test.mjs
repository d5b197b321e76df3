// js_test.mjs - the tests of the JavaScript binding: TAP, a folder of their own, the module loaded.
//
//   import("./js_test.mjs").then(({ suite }) => suite(async ({ seen, ok, same, fails }) => { ... }));
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const top = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const build = resolve(top, process.env.BUILD ?? "build");

export async function suite(tests) {
  if (!existsSync(join(build, "wasm", "seen.wasm"))) {
    console.log("1..0 # SKIP the module is not built: clang's wasm32 target is not here");
    return;
  }
  const { load, SeenError } = await import(join(build, "wasm", "seen.mjs"));
  let n = 0, failed = 0;
  const say = (good, what, note) => {
    console.log(`${good ? "ok" : "not ok"} ${++n} - ${what}`);
    if (!good) failed++;
    if (!good && note !== undefined) console.log(`# ${note}`.slice(0, 500));
  };
  const work = mkdtempSync(join(tmpdir(), "seen-js-"));
  process.chdir(work);
  try {
    const ok = (good, what, note) => say(Boolean(good), what, note);
    await tests({
      seen: await load(), load, SeenError, work, ok,
      same: (got, wanted, what) => ok(Object.is(got, wanted) || JSON.stringify(got) === JSON.stringify(wanted), what,
        `wanted ${String(JSON.stringify(wanted))}, got ${String(JSON.stringify(got))}`),
      // CALL throws a SeenError of this code whose words match.
      fails: (code, words, call, what) => {
        try {
          call();
          ok(false, what, "nothing was thrown");
        } catch (error) {
          ok(error instanceof SeenError && error.code === code && words.test(error.message), what,
            `${error.name} ${error.code}: ${error.message}`);
        }
      },
      // What a command prints; LINES are its input. Status 1 is an answer, not a failure.
      run: (words, lines) => {
        const done = spawnSync(join(build, words[0]), words.slice(1), { input: lines ?? "", encoding: "utf8", maxBuffer: 1 << 28 });
        if (done.status !== 0 && done.status !== 1) throw new Error(`${words.join(" ")}: ${done.stderr}`);
        return done.stdout;
      },
      read: (path) => new Uint8Array(readFileSync(path)),
    });
  } catch (error) {
    say(false, "the test runs to its end", error.stack.replaceAll("\n", " "));
  } finally {
    process.chdir("/");
    rmSync(work, { recursive: true, force: true });
  }
  console.log(`1..${n}`);
  process.exitCode = failed ? 1 : 0;
}
