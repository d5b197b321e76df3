#!/usr/bin/env node
// The Play, used as a person would: words go into a filter of every kind, are asked for and
// removed, a false positive is found, the filter is filled and grows, and what is drawn is
// what is in the library's body.
(async () => {
  const t = await import("./browser_test.mjs");
  const { ok, same } = t;
  await t.inChromium(async ({ open, shot }) => {
    const said = (page) => page.textContent("#play-said");
    const fact = (page, name) => page.$eval("#play-facts", (dl, n) => [...dl.querySelectorAll("dt")].find((d) => d.textContent === n)?.nextSibling.textContent, name);
    const word = async (page, w, button) => { await page.fill("#word", w); await page.click(button); };
    const empty = "#play?words=%20&kind=";

    for (const kind of ["classic", "blocked", "split", "set", "cuckoo", "ribbon"]) {
      const page = await open(`${empty}${kind}&keys=100`);
      await word(page, "apple", "#word-form button[type=submit]");
      await word(page, "pear", "#word-form button[type=submit]");
      ok(/“pear”/.test(await said(page)), `${kind}: a word goes in`, await said(page));
      same(await fact(page, "Keys in it"), "2 of 100", "and is counted");
      ok(/^pear {2}→ {2}hash [0-9a-f]{16}$/.test(await page.textContent("#bits-view .word")), "its hash is shown", await page.textContent("#bits-view .word"));
      const hits = await page.$$eval("#bits-view .hit.full", (h) => h.length), touched = await page.$$eval("#bits-view .unit.touched", (h) => h.length);
      const k = Number(/k = (\d+)/.exec(await page.textContent("#bits-view .head"))[1]);
      const right = { classic: hits > 0 && hits <= k, blocked: hits > 0 && hits <= k && touched === 1, split: hits === 8 && touched === 1,
        set: touched === 1, cuckoo: touched === 2 || touched === 1, ribbon: hits + await page.$$eval("#bits-view .hit", (h) => h.length) > 0 && touched <= 2 }[kind];
      ok(right, { classic: "its bits lie anywhere", blocked: "its bits lie in one cache line", split: "its eight bits lie in one block",
        set: "it lies in one bucket", cuckoo: "it may lie in two buckets", ribbon: "it reads a window of the ribbon" }[kind], { hits, touched, k });
      if (["classic", "blocked", "split"].includes(kind)) {
        const drawn = await page.$eval("#bits-view .one", () => [...document.querySelectorAll("#bits-view .one")].reduce((n, p) => n + (p.getAttribute("d").match(/M/g) || []).length, 0));
        same(`${drawn}`, (await fact(page, "Bits set")).split(" ")[0], "as many dark squares as the library counts bits");
      }
      if (kind === "set" || kind === "cuckoo")
        same(await page.$$eval("#bits-view .slot.used", (s) => s.length), 2, "two slots are used, as two words are in");
      await word(page, "apple", "#ask");
      ok(/^Yes: “apple”/.test(await said(page)), "what was added is found");
      await word(page, "zebra-9", "#ask");
      ok(/^No\./.test(await said(page)) || /false positive/.test(await said(page)), "what was not is denied, or called what it is");
      same(await page.isDisabled("#remove"), !["set", "cuckoo"].includes(kind), "only kinds that can remove offer it");
      if (kind === "cuckoo" || kind === "set") {
        await word(page, "apple", "#remove");
        ok(/is removed/.test(await said(page)), "a word is removed");
        await word(page, "apple", "#ask");
        ok(/^No\./.test(await said(page)), "and gone");
        same(await page.$$eval("#bits-view .slot.used", (s) => s.length), 1, "its slot is empty again");
      }
      await page.click("#fill");
      await page.waitForFunction(() => /keys are in it/.test(document.getElementById("play-said").textContent), null, { timeout: 20000 });
      same(await fact(page, "Keys in it"), "100 of 100", "it fills");
      if (kind !== "set") {
        const seenNow = Number((await page.$$eval("#theory-box .mark", (m) => m.length)));
        ok(seenNow > 0, "measured errors stand beside theory", seenNow);
        await page.click("#find");
        ok(/was never added, and the filter says yes/.test(await said(page)), "it finds a false positive", await said(page));
        const w = await page.inputValue("#word");
        ok(!(await page.$$eval("#words button", (b) => b.map((x) => x.dataset.word))).includes(w), "which is not among the words");
        if (kind === "classic") {
          await word(page, w, "#word-form button[type=submit]");
          ok(/a false positive/.test(await said(page)), "added, it is taken for an old key, and the page says so", await said(page));
          await page.click("#ask");
          ok(/^Yes: /.test(await said(page)), "and now it counts as added");
        }
      }
      await shot(page, `play-${kind}`);
      if (kind !== "ribbon" && kind !== "set") {
        await page.click("#more");
        ok(Number(await fact(page, "Layers")) === 2 && /grown to 2 layers/.test(await said(page)), "ten more: it grows by a layer", [await fact(page, "Layers"), await said(page)]);
        await page.click('#words button[data-word="pear"]');
        ok((await page.$$eval("#bits-view .hit.full, #bits-view .unit.touched", (h) => h.length)) > 0, "a word of the first layer is still shown there");
        if (kind === "blocked") await shot(page, "play-grown");
      }
      await page.context().close();
    }

    // Theory: 4096 questions to a full classic filter. Expected 4096 e, with a deviation of
    // sqrt(4096 e (1 - e)); six of them, for a fixed seed and fixed words.
    const page = await open(`${empty}classic&keys=100&error=0.05`);
    await page.click("#fill");
    await page.waitForFunction(() => /keys are in it/.test(document.getElementById("play-said").textContent), null, { timeout: 20000 });
    const share = async (name) => 1 / Number(/1 in ([\d.,]+)/.exec(await fact(page, name))[1].replace(/,/g, ""));
    const theory = await share("Error by theory"), measured = await share("Error measured");
    ok(Math.abs(measured - theory) < 6 * Math.sqrt(theory * (1 - theory) / 4096), "a full filter errs as theory says, within six sigma", [measured, theory]);

    const full = await open(new URL(page.url()).hash);
    same(await fact(full, "Bits set"), await fact(page, "Bits set"), "the link of a full filter opens the same one");

    // A filter that may not grow says so.
    const fixed = await open("#play?words=%20&kind=blocked&keys=20&fixed=1");
    await fixed.click("#fill");
    await fixed.waitForFunction(() => /keys are in it/.test(document.getElementById("play-said").textContent));
    await fixed.click("#more");
    ok(/full|20 keys/i.test(await said(fixed)), "a fixed filter that is full says so in words", await said(fixed));

    // The link is the state; keyboard alone is enough.
    const link = await open("#play?kind=cuckoo&keys=20&words=one%0Atwo");
    same(await link.$$eval("#words button", (b) => b.map((x) => x.textContent)), ["one", "two"], "words come with the link");
    await link.focus("#word");
    await link.fill("#word", "three");
    await link.keyboard.press("Enter");
    same((await link.$$eval("#words button", (b) => b.length)), 3, "Enter adds a word");
    ok(/three/.test(decodeURIComponent(new URL(link.url()).hash)), "and it is in the link");
    await link.fill("#word", "<img src=x onerror=alert(1)>");
    await link.keyboard.press("Enter");
    same(await link.$$eval("#play img", (i) => i.length), 0, "a word is text, never markup");
  });
  t.done();
})();
