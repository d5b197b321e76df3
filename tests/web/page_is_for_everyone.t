#!/usr/bin/env node
// Desktop and phone, light and dark, paper, keyboard, screen readers, no JavaScript: the page
// is usable in all of them, jumps nowhere, fits in 300 kB and asks no network for anything.
(async () => {
  const t = await import("./browser_test.mjs");
  const { ok, same } = t;
  const { readFileSync, statSync } = await import("node:fs");
  const { spawn } = await import("node:child_process");
  const { join } = await import("node:path");

  await t.inChromium(async ({ open, shot, axe, browser }) => {
    const size = statSync(t.pageFile).size;
    ok(size < 300000, "the page has less than 300 kB", size);
    same(readFileSync(join(t.top, "docs", "plan.svg"), "utf8"), readFileSync(join(t.build, "page", "plan.svg"), "utf8"), "the picture of the README is the one that the build makes (if sizes have changed: cp build/page/plan.svg docs/)");
    const parts = { plan: "#plan", play: "#play", open: "#open" };
    const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };
    for (const [name, hash] of Object.entries(parts)) {
      for (const [where, options] of Object.entries({ desktop: {}, phone })) {
        for (const colorScheme of ["light", "dark"]) {
          const page = await open(hash, { ...options, colorScheme });
          if (name === "open") await page.click("#sample");
          await page.waitForTimeout(150);
          same(await axe(page), [], `${name}, ${where}, ${colorScheme}: axe finds nothing serious`);
          ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name}, ${where}, ${colorScheme}: nothing is wider than the screen`, await page.evaluate(() => document.documentElement.scrollWidth));
          await shot(page, `${name}-${where}-${colorScheme}`);
          await page.context().close();
        }
      }
    }

    // No jumps while it starts, and none while it is used.
    for (const hash of ["#plan?keys=2+billion&error=1+in+1000", "#play", "#open"]) {
      const context = await browser.newContext({ viewport: { width: 1200, height: 900 } }), page = await context.newPage();
      await page.addInitScript(() => {
        window.jumps = 0;
        new PerformanceObserver((list) => { for (const e of list.getEntries()) window.jumps += e.value; }).observe({ type: "layout-shift", buffered: true });
      });
      await page.goto(t.pageUrl + hash);
      await page.waitForSelector("html[data-ready]");
      await page.waitForTimeout(300);
      const jumps = await page.evaluate(() => window.jumps);
      ok(jumps < 0.02, `${hash}: nothing jumps while the page starts`, jumps);
      await context.close();
    }

    // By keyboard alone: skip link, parts, a field, a radio button in the table.
    const page = await open("");
    await page.keyboard.press("Tab");
    same(await page.evaluate(() => document.activeElement.className), "skip", "the first Tab is the way to the content");
    await page.keyboard.press("Enter");
    same(await page.evaluate(() => document.activeElement.id), "main", "which it leads to, and the plan stays");
    await page.focus('nav a[href="#play"]');
    await page.keyboard.press("Enter");
    ok(await page.isVisible("#play-title") && !(await page.isVisible("#plan-title")), "Enter on Play shows it");
    await page.goBack();
    ok(await page.isVisible("#plan-title"), "and the browser's Back leads back");
    await page.focus('#kinds input[value="blocked"]');
    await page.keyboard.press("ArrowDown");
    same(await page.evaluate(() => document.activeElement.value), "split", "arrow keys pick another kind, and the focus stays on it");
    const unnamed = await page.$$eval("input, select, textarea, button", (all) => all.filter((e) => !(e.labels && e.labels.length) && !e.textContent.trim() && !e.getAttribute("aria-label")).map((e) => e.outerHTML));
    same(unnamed, [], "every control has a name");

    // On paper: white, without what cannot be pressed there.
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    same(await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector("nav")).display, getComputedStyle(document.getElementById("print")).display]),
      ["rgb(255, 255, 255)", "none", "none"], "print is ink on paper, without buttons");
    await shot(page, "print");
    const pdf = await page.pdf({ format: "A4", path: join(t.build, "page", "shots", "print.pdf"), margin: { top: "12mm", bottom: "12mm", left: "12mm", right: "12mm" } });
    const pages = (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) || []).length;
    ok(pages >= 1 && pages <= 3, "a plan is at most three sheets", pages);

    // Without JavaScript it is a text with a table.
    const still = await open("", { javaScriptEnabled: false });
    const text = await still.evaluate(() => document.body.innerText).catch(() => still.textContent("body"));
    const plan = t.planJson("-n", "1M", "-e", "0.001");
    const blocked = plan.kinds.find((k) => k.kind === "blocked").bits_per_key.toFixed(2), table = await still.textContent(".figures");
    ok(table.includes(blocked) && /ribbon/.test(table), "without JavaScript there is a table with the command's figures", blocked);
    ok(/seen would choose blocked: 1\.2 MB for 1 million keys/.test(text) && /Without JavaScript/.test(text), "and a plan in words");
    ok(!(await still.isVisible("#plan-form")) && !(await still.isVisible("nav")) && !(await still.isVisible("#play")) && !(await still.isVisible(".copy")), "and nothing that would not work");
    await shot(still, "no-javascript");
  });

  // Served on loopback, as ./run page does where there is no desktop.
  const usual = t.build === join(t.top, "build"), env = { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "" };
  const server = usual ? spawn(join(t.top, "run"), ["page"], { env, stdio: ["ignore", "pipe", "inherit"] })
    : spawn(process.execPath, [join(t.top, "web", "serve.mjs"), t.pageFile], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((go) => { server.stdout.once("data", (d) => go(String(d).trim())); server.once("exit", () => go("")); });
  if (!ok(/^http:\/\/127\.0\.0\.1:\d+\/$/.test(url), `${usual ? "./run page" : "serve.mjs"} serves on loopback`, url)) return t.done();
  const answer = await fetch(url);
  ok(answer.status === 200 && (await answer.text()) === readFileSync(t.pageFile, "utf8"), "the page");
  same((await fetch(`${url}../etc/passwd`)).status, 404, "and nothing else");
  server.kill();
  t.done();
})();
