#!/usr/bin/env node
// The Plan, used as a person would: two fields in words, every kind's figures those of
// `seen plan --json`, the needs, the plots by pointer and keyboard, the lines, the link.
(async () => {
  const t = await import("./browser_test.mjs");
  const { ok, same } = t;
  const { execFileSync, spawn } = await import("node:child_process");
  const { existsSync, writeFileSync } = await import("node:fs");
  const { join } = await import("node:path");

  const put = async (page, values) => {
    for (const name of ["keys", "error", "memory", "bits", "k"]) await page.fill(`#${name}`, "");
    for (const [name, text] of Object.entries(values)) await page.fill(`#${name}`, text);
  };
  const table = (page) => page.$$eval("#kinds tbody tr", (rows) => Object.fromEntries(rows.map((tr) =>
    [tr.dataset.kind, tr.querySelector(".cannot") ? null : [...tr.querySelectorAll("td")].map((td) => Number(td.dataset.value))])));
  // Figures agree to the ten digits that the command prints. Near 1e-10 the error of a blocked
  // filter is a difference of sums near 1, and exp() of two C libraries differs in its last bit:
  // there, to a hundredth.
  function agrees(got, plan, words, within = 2e-9) {
    const close = (a, b) => Math.abs(a - b) <= within * Math.max(Math.abs(a), Math.abs(b)), wrong = [];
    for (const k of plan.kinds) {
      const want = k.cannot ? null : [k.bytes, k.bits_per_key, k.error, k.k, k.keys], row = got[k.kind];
      if (want === null ? row !== null : !row || !want.every((x, i) => close(x, row[i]))) wrong.push([k.kind, want, row]);
    }
    const m = plan.minimum, least = got.minimum;
    if (!least || ![m.bytes, m.bits_per_key, m.error].every((x, i) => close(x, least[i]))) wrong.push(["minimum", m, least]);
    return ok(!wrong.length, words, wrong);
  }

  await t.inChromium(async ({ open, shot }) => {
    const page = await open("");
    agrees(await table(page), t.planJson("-n", "1M", "-e", "0.01"), "the first answer is that of seen plan -n 1M -e 0.01");
    await shot(page, "plan-desktop-light");
    const asked = [
      [{ keys: "2 billion", error: "1 in 1000" }, ["-n", "2G", "-e", "0.001"]],
      [{ keys: "2 billion", memory: "500 MB" }, ["-n", "2G", "-m", "500MB"]],
      [{ error: "0.1%", memory: "64M" }, ["-e", "0.001", "-m", "64M"]],
      [{ keys: "30", error: "5%" }, ["-n", "30", "-e", "0.05"]],
      [{ keys: "1 million", bits: "10" }, ["-n", "1M", "-m", "1250000"]],
      [{ memory: "1250000", bits: "10" }, ["-n", "1M", "-m", "1250000"]],
      [{ keys: "100 million", error: "1 in 10 billion" }, ["-n", "100M", "-e", "1e-10"], 0.01],
    ];
    for (const [fields, command, within] of asked) {
      await put(page, fields);
      const plan = t.planJson(...command);
      agrees(await table(page), plan, `${Object.values(fields).join(" and ")}: the figures of seen plan ${command.join(" ")}`, within);
      ok((await page.textContent("#choice")).includes(`choose ${plan.choice}:`), `and its choice, ${plan.choice}`, await page.textContent("#choice"));
    }
    for (const [need, flag] of [["remove", "-r"], ["static", "--static"]]) {
      await put(page, { keys: "1M", error: "1%" });
      if (need === "static") await page.check("[value=static]"); else await page.check("[name=remove]");
      const plan = t.planJson("-n", "1M", "-e", "0.01", flag);
      ok((await page.textContent("#choice")).includes(`choose ${plan.choice}:`), `${need}: the choice of seen plan ${flag}, ${plan.choice}`, await page.textContent("#choice"));
      await page.click("button[type=reset]");
    }
    await page.check("[name=remove]");
    await page.check("[name=merge]");
    ok((await page.textContent("#choice")).includes("choose cuckoo:"), "remove and merge: the smallest that does both");
    await page.click("button[type=reset]");

    // k, one number alone, three numbers, nonsense.
    await put(page, { keys: "1M", memory: "1250000", k: "4" });
    const four = await page.getAttribute('tr[data-kind="classic"] td.k', "data-value");
    same(four, "4", "k is taken where a kind has it");
    await put(page, { error: "1 in 1000", bits: "12" });
    ok(/1 million/.test(await page.textContent("#plan-note")), "an error and bits a key: it says which number of keys it assumes");
    ok(/errs more often/.test(await page.textContent('tr[data-kind="blocked"]')) && !/errs more often/.test(await page.textContent('tr[data-kind="ribbon"]')),
      "and which kinds keep the error in so many bits");
    await put(page, { keys: "5 million", error: "1%" });
    await page.fill("#memory", "1 GB");
    same(await page.inputValue("#keys"), "", "a third number takes the place of the oldest");
    await page.fill("#memory", "");
    same(await page.inputValue("#keys"), "5 million", "which comes back when the third is emptied");
    await page.fill("#keys", "lots");
    same(await page.getAttribute("#keys", "aria-invalid"), "true", "what is no number is marked");
    ok(/such as 1 million/.test(await page.textContent("#keys-said")), "and the field says what to write");
    ok(/until then this is the plan before it/.test(await page.textContent("#plan-note")), "and the page that the answer is not to this question");
    const broken = await open("#plan?keys=lots&error=2");
    await broken.click("#lines .copy");
    ok(/Correct what is marked/.test(await broken.textContent("#plan-note")) && /copied|refuses/.test(await broken.textContent("#copied")), "a link with wrong numbers has the plan of the start, which can be used");
    await put(page, { keys: "1M", error: "1e-30" });
    ok(/cannot be/.test(await page.textContent("#choice")) && /64-bit hash/.test(await page.textContent("#choice")), "an impossible error is explained in the library's words");

    // The plots.
    await put(page, { keys: "1 million", error: "1%" });
    await page.waitForSelector("#plan[data-settled=yes]");
    same(await page.$$eval(".plots svg .chosen", (c) => c.length), 2, "both plots mark the chosen point");
    await page.check('#kinds input[value="set"]');
    await page.waitForSelector("#plan[data-settled=yes]");
    const set = await page.$$eval(".plots svg .chosen", (c) => c.map((x) => Number(x.getAttribute("cy"))));
    ok(set.length === 2 && set.every((y) => y > 60 && y < 280), "also a point far out, of a set with 73 bits a key", set);
    await page.click("button[type=reset]");
    await page.waitForSelector("#plan[data-settled=yes]");
    const dashes = await page.$$eval("#plot-memory .line:not(.least)", (l) => [...new Set(l.map((x) => x.getAttribute("stroke-dasharray")))].length);
    ok(dashes >= 5, "lines differ without colour, by their dashes", dashes);
    await page.focus("#memory-box");
    const before = await page.getAttribute("#memory-box", "aria-valuetext");
    await page.keyboard.press("ArrowRight");
    const after = await page.getAttribute("#memory-box", "aria-valuetext");
    ok(before !== after && /^\d+ bits a key.*blocked 1 in /.test(after), "arrow keys read a plot aloud", [before, after]);
    const bits = Number(/^(\d+) bits/.exec(after)[1]);
    const want = t.planJson("-n", "1M", "-m", String(Math.floor(1e6 * bits / 8 + 1))).kinds.find((k) => k.kind === "blocked").error;
    const told = /blocked 1 in ([\d,]+)/.exec(after)[1].replace(/,/g, "");
    ok(Math.abs(Number(told) * want - 1) < 0.01, "what it reads is what the command computes", [told, 1 / want]);
    await page.keyboard.press("Enter");
    same(await page.inputValue("#bits"), String(bits), "Enter takes that point");
    await page.waitForSelector("#plan[data-settled=yes]");
    await page.hover("#keys-box", { position: { x: 300, y: 150 } });
    ok(/keys.*classic/.test(await page.textContent("#keys-read")), "the pointer reads the other one");
    await page.click("button[type=reset]");

    // The link is the state.
    await put(page, { keys: "3 million", error: "1 in 500" });
    await page.check("[name=grow]");
    await page.check('#kinds input[value="classic"]');
    const link = new URL(page.url()).hash, again = await open(link);
    same([await again.inputValue("#keys"), await again.inputValue("#error"), await again.isChecked("[name=grow]"), await again.isChecked('#kinds input[value="classic"]')],
      ["3 million", "1 in 500", true, true], "the link opens the same plan");
    same(await again.$$eval("#kinds tbody", (b) => b[0].innerHTML), await page.$$eval("#kinds tbody", (b) => b[0].innerHTML), "with the same table");

    // What is copied runs.
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const redis = [];
    for (const kind of ["classic", "blocked", "split", "set", "cuckoo"]) {
      await page.check(`#kinds input[value="${kind}"]`);
      const dir = join(t.work, kind), lines = await page.$$eval("#lines code", (c) => c.map((x) => x.textContent));
      execFileSync("mkdir", [dir]);
      writeFileSync(join(dir, "keys.txt"), "a\nb\n");
      writeFileSync(join(dir, "more.txt"), "b\nc\n");
      const out = execFileSync("sh", ["-ec", lines[0]], { cwd: dir, encoding: "utf8", env: { ...process.env, PATH: `${t.build}:${process.env.PATH}` } });
      same(out, "b\n", `${kind}: the shell lines make a filter and ask it`);
      const info = JSON.parse(t.seenCommand(["info", "--json", join(dir, "visited.seen")]));
      ok(info.kind === kind && info.error_promised === 0.002, "of that kind, with that error", info);
      if (kind === "blocked") {
        writeFileSync(join(dir, "p.c"), `#include <seen.h>\n#include <stdio.h>\nint main(void) {\n${lines[1]}\nreturn 0; }\n`);
        execFileSync("cc", ["-Wall", "-Werror", `-I${t.top}/include`, "p.c", `${t.build}/libseen.a`, "-lm", "-lpthread", "-o", "p"], { cwd: dir });
        same(execFileSync(join(dir, "p"), { encoding: "utf8" }), "new\n", "the C lines compile and run");
        if (existsSync(join(t.build, "python", "seen", "_seen.abi3.so")))
          same(execFileSync("python3", ["-c", lines[2]], { encoding: "utf8", env: { ...process.env, PYTHONPATH: join(t.build, "python") } }), "True\n", "the Python lines run");
        await page.click('#lines button[data-line="0"]');
        await page.waitForFunction(() => document.getElementById("copied").textContent !== "");
        same(await page.evaluate(() => navigator.clipboard.readText()), lines[0], "the button copies them");
      }
      redis.push(lines[3]);
      ok(/^(BF|CF)\.RESERVE visited( 0\.002)? \d+$/m.test(lines[3]), "and a line for Redis", lines[3]);
    }
    if (existsSync("/usr/bin/redis-server") && existsSync(join(t.build, "seen.so"))) {
      const socket = join(t.work, "redis.sock"), server = spawn("redis-server", ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", t.work,
        "--loadmodule", join(t.build, "seen.so")], { stdio: "ignore" });
      const cli = (input) => execFileSync("redis-cli", ["-s", socket], { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });
      try {
        for (let i = 0; i < 200 && !existsSync(socket); i++) await new Promise((go) => setTimeout(go, 50));
        same(redis.map((l) => cli(`DEL visited\n${l}\n`).trim().split("\n").slice(1).join(" ")), Array(5).fill("OK 1 1"), "the lines for Redis run in a server with the module");
      } finally {
        server.kill();
      }
    }
    await page.check("[value=static]");
    await page.check('#kinds input[value="ribbon"]');
    const ribbon = await page.$$eval("#lines code", (c) => c.map((x) => x.textContent));
    writeFileSync(join(t.work, "keys.txt"), "a\nb\n");
    writeFileSync(join(t.work, "more.txt"), "b\n");
    same(execFileSync("sh", ["-ec", ribbon[0]], { cwd: t.work, encoding: "utf8", env: { ...process.env, PATH: `${t.build}:${process.env.PATH}` } }), "b\n", "ribbon: the shell lines build one and ask it");
    writeFileSync(join(t.work, "p.c"), `#include <seen.h>\n#include <stdio.h>\nint main(void) {\n${ribbon[1]}\nreturn seen_has_str(f, "a key") ? 0 : 1; }\n`);
    execFileSync("cc", ["-Wall", "-Werror", `-I${t.top}/include`, "p.c", `${t.build}/libseen.a`, "-lm", "-lpthread", "-o", "p"], { cwd: t.work });
    execFileSync(join(t.work, "p"));
    ok(true, "and so do the C lines");
    if (existsSync(join(t.build, "python", "seen", "_seen.abi3.so")))
      same(execFileSync("python3", ["-c", ribbon[2]], { encoding: "utf8", env: { ...process.env, PYTHONPATH: join(t.build, "python") } }), "True\n", "and the Python lines");
  });
  t.done();
})();
