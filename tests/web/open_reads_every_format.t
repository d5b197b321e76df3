#!/usr/bin/env node
// The Open, used as a person would: files of the command and of other systems are dropped,
// asked, added to and saved; every golden file opens in the browser and answers as its own
// library did; damaged and hostile files are errors in words.
(async () => {
  const t = await import("./browser_test.mjs");
  const { ok, same } = t;
  const { existsSync, readFileSync, readdirSync, writeFileSync, statSync } = await import("node:fs");
  const { join } = await import("node:path");

  // How each folder of tests/golden is opened: format and what its bytes do not say.
  const p = (dir) => JSON.parse(readFileSync(t.golden(dir, "params.json"), "utf8"));
  const text = (token) => {
    const [kind, a, b] = token.split(":");
    if (kind === "i") return a;
    if (kind === "r") return Buffer.from(b.repeat(Math.ceil(Number(a) * 2 / b.length)).slice(0, 2 * Number(a)), "hex");
    return kind === "w" ? Buffer.from(a, "hex").toString("utf16le") : Buffer.from(a, "hex");
  };
  const asLine = (x) => { const s = Buffer.isBuffer(x) ? x.toString("utf8") : x; return Buffer.isBuffer(x) && !Buffer.from(s, "utf8").equals(x) || /[\r\n]/.test(s) || s === "" ? null : s; };
  const lines = (dir, file) => readFileSync(t.golden(dir, file), "utf8").split("\n").filter(Boolean).map((l) => l.split("\t"));

  await t.inChromium(async ({ open, shot }) => {
    const page = await open("#open");
    const fact = (name) => page.$eval("#opened-facts", (dl, n) => [...dl.querySelectorAll("dt")].find((d) => d.textContent === n)?.nextSibling.textContent, name);
    const problem = async () => ((await page.isVisible("#open-problem")) ? page.textContent("#open-problem") : "");
    const give = async (name, buffer) => page.setInputFiles("#file", { name, mimeType: "application/octet-stream", buffer });
    const answers = () => page.$$eval("#answers li > span", (s) => s.map((x) => x.className));
    const settled = () => page.waitForFunction(() => !document.getElementById("opened").hidden || !document.getElementById("open-problem").hidden);

    // Ours, made by the command.
    const mine = join(t.work, "mine.seen"), urls = Array.from({ length: 3000 }, (_, i) => `http://example.org/${i}`);
    t.seenCommand(["new", "-n", "5000", "-e", "0.001", "--kind", "blocked", "--seed", "3", mine]);
    t.seenCommand(["add", mine], urls.join("\n") + "\n");
    await give("mine.seen", readFileSync(mine));
    await settled();
    const info = JSON.parse(t.seenCommand(["info", "--json", mine]));
    same([await fact("Kind"), await fact("Keys added"), await fact("k")], ["blocked", "3,000", String(info.probes)], "a file of the command: its kind, keys and k are those of seen info");
    same((await fact("Bits set")).replace(/,/g, ""), `${info.bits_set} of ${info.bits}`, "and its bits");
    ok((await page.$$eval("#fill-view svg .one", (r) => r.length)) > 10, "its fill is drawn");
    await page.fill("#ask-keys", "http://example.org/7\nhttp://example.org/2999\nhttp://example.org/3000\n");
    await page.click("#ask-form button[type=submit]");
    same(await answers(), ["yes", "yes", "no"], "keys are asked");
    await shot(page, "open-native");
    await page.fill("#ask-keys", "brand new\n");
    await page.click("#open-add");
    same(await fact("Keys added"), "3,001", "keys are added");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    same(download.suggestedFilename(), "mine.seen", "it is saved under its name");
    const back = join(t.work, "back.seen");
    await download.saveAs(back);
    same(t.seenCommand(["has", back], "brand new\nhttp://example.org/7\nnever\n"), "brand new\nhttp://example.org/7\n", "and the command reads what the page saved");
    t.seenCommand(["verify", back]);
    ok(true, "with good checksums");

    // Damage. Each is refused with a sentence that says what is wrong.
    const bytes = readFileSync(mine), hurt = (f) => { const b = Buffer.from(bytes); f(b); return b; };
    const bad = [["flipped.seen", hurt((b) => { b[5000] ^= 1; }), /sum|damaged/i], ["short.seen", bytes.subarray(0, bytes.length - 1000), /\w/],
      ["header.seen", hurt((b) => { b[60] ^= 1; }), /\w/], ["newer.seen", hurt((b) => { b[8] = 99; }), /version|newer/i], ["empty.seen", Buffer.alloc(0), /\w/],
      ["text.txt", Buffer.from("hello, this is no filter\n".repeat(20)), /recogni|format/i], ["zeros.bin", Buffer.alloc(100000), /\w/],
      ["huge-claim.bin", Buffer.concat([Buffer.from([1, 7]), Buffer.from("7fffffff", "hex"), Buffer.alloc(64)]), /\w/]];
    for (const [name, buffer, pattern] of bad) {
      await give(name, buffer);
      await page.waitForFunction((n) => document.getElementById("open-problem").textContent.includes(n), name);
      const words = await problem();
      ok(words.length > name.length + 25 && pattern.test(words.replace(name, "")) && !(await page.isVisible("#opened")), `${name} is an error in words`, words);
    }
    await shot(page, "open-damaged");

    // Every golden file.
    const folders = readdirSync(t.golden()).filter((f) => statSync(t.golden(f)).isDirectory());
    await page.click("#how summary");
    let walked = 0;
    for (const folder of folders) {
      for (const name of readdirSync(t.golden(folder)).filter((n) => existsSync(t.golden(folder, n, "filter.bin")))) {
        const dir = join(folder, name), how = hintsFor(folder, p(dir));
        walked++;
        for (const [id, value] of Object.entries({ format: "", "how-type": "" })) await page.selectOption(`#${id}`, how[id] ?? value);
        for (const id of ["how-m", "how-k", "how-n", "how-p", "how-seeds"]) await page.fill(`#${id}`, how[id] ?? "");
        await give(`${folder}-${name}.bin`, readFileSync(t.golden(dir, "filter.bin")));
        await page.waitForFunction((n) => document.getElementById("opened-name").textContent.startsWith(n) && !document.getElementById("opened").hidden ||
          document.getElementById("open-problem").textContent.includes(n), `${folder}-${name}`);
        if (!ok((await problem()) === "", `${dir} opens`, [await problem(), how])) continue;
        const members = lines(dir, "keys.tsv").map((l) => asLine(text(l[0]))), probes = lines(dir, "probes.tsv").map((l) => [asLine(text(l[0])), l[1]]);
        const asked = members.filter((m) => m !== null).map((m) => [m, "1"]).concat(probes.filter((m) => m[0] !== null)).slice(0, 450);
        await page.fill("#ask-keys", asked.map((a) => a[0]).join("\n"));
        await page.click("#ask-form button[type=submit]");
        same(await answers(), asked.map((a) => (a[1] === "1" ? "yes" : "no")), `and answers ${asked.length} keys as its own library did`);
      }
    }
    ok(walked >= 15, "there were golden files", walked);
    await shot(page, "open-foreign");

    // A foreign file is added to and written back in its own form.
    const guava = join(t.work, "ids.guava");
    t.seenCommand(["new", "--kind", "guava", "-n", "1000", "-e", "0.01", guava]);
    await page.selectOption("#format", "");
    await page.selectOption("#how-type", "");
    for (const id of ["how-m", "how-k", "how-n", "how-p", "how-seeds"]) await page.fill(`#${id}`, "");
    await give("ids.guava", readFileSync(guava));
    await page.waitForFunction(() => document.getElementById("opened-name").textContent === "ids.guava");
    await page.fill("#ask-keys", "one\ntwo\n");
    await page.click("#open-add");
    const [second] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    await second.saveAs(guava);
    same(t.seenCommand(["has", guava], "one\nthree\ntwo\n"), "one\ntwo\n", "a Guava file is added to and saved as a Guava file");

    // By drop, and the example; a static filter takes no keys.
    await page.evaluate((b64) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(b64), (c) => c.charCodeAt(0))], "dropped.seen"));
      document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, bytes.toString("base64"));
    await page.waitForFunction(() => document.getElementById("opened-name").textContent === "dropped.seen");
    ok(true, "a file can be dropped");
    const ribbon = join(t.work, "r.seen");
    writeFileSync(join(t.work, "r.txt"), "a\nb\nc\n");
    t.seenCommand(["build", "-e", "0.01", ribbon, join(t.work, "r.txt")]);
    await give("r.seen", readFileSync(ribbon));
    await page.waitForFunction(() => document.getElementById("opened-name").textContent === "r.seen");
    ok(await page.isDisabled("#open-add"), "a static filter offers no adding");
    await page.click("#sample");
    await page.waitForFunction(() => document.getElementById("opened-name").textContent === "example.seen");
    ok(/blocked/.test(await page.textContent("#opened-what")), "the example opens");
  });
  t.done();

  // The fields of the form for a golden folder's params.json.
  function hintsFor(folder, q) {
    const known = { dcso: "", guava: q.strategy_byte === 0 ? "guava-32" : "", libbloom: q.version === 1 ? "libbloom1" : "", "bits-and-blooms": "", parquet: "", redisbloom: "",
      leveldb: "leveldb", "go-fnv64-split": "fnv-split", "go-crc32-shift16": "crc32-shift", "py-mmh3-seed17": "mmh3-17", "redis-setbit-mmh3": "redis-bitmap", "scrapy-redis-bloomfilter": "scrapy-redis" };
    const h = { format: known[folder], "how-type": { int: "int32", int32: "int32", chars: "utf16", long: "int64", int64: "int64" }[q.funnel ?? q.physical_type] ?? "" };
    if (["go-crc32-shift16", "py-mmh3-seed17"].includes(folder)) [h["how-n"], h["how-p"]] = [String(q.n), String(q.p)];
    if (h.format === "libbloom1") [h["how-n"], h["how-p"]] = [String(q.entries), String(q.error)];
    if (["go-fnv64-split", "redis-setbit-mmh3", "scrapy-redis-bloomfilter"].includes(folder)) h["how-m"] = String(q.m);
    if (q.seeds) h["how-seeds"] = q.seeds.join("+");
    if (folder === "go-fnv64-split") h["how-k"] = String(q.k);
    if (q.hash_number) h["how-k"] = String(q.hash_number);
    return h;
  }
})();
