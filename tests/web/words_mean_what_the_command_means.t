#!/usr/bin/env node
// What a reader may write in the page's fields, against the command and against words.
(async () => {
  const { done, ok, planJson, same, seenCommand, top } = await import("./browser_test.mjs");
  const w = await import(`${top}/web/human_words.mjs`);

  // The command says what it understood: it echoes keys, and a size as the most that fits.
  for (const text of ["1000", "20M", "2e7", "1.5k", "2G", ".5M", "3E", "0x10", "12Q", "-5", "", "1e400", "20 M"]) {
    let told = null;
    try { told = planJson("-n", text, "-e", "0.01").kinds.find((k) => k.keys).keys; } catch { /* refused */ }
    if (told === null && w.parseCount(text) !== null && text !== "20 M" && text !== "3E") ok(false, `keys: the command refuses "${text}"`, w.parseCount(text));
    else ok(told === null || w.parseCount(text) === told, `keys: "${text}" is what the command makes of it`, { told, ours: w.parseCount(text) });
  }
  for (const text of ["1000B", "64K", "64KB", "64KiB", "1.5M", "10MB", "1G", "2GiB", "0.5G"]) {
    const ours = w.parseBytes(text);
    same(planJson("-e", "0.01", "-m", text), planJson("-e", "0.01", "-m", String(ours)), `memory: "${text}" is ${ours} bytes to both`);
  }
  for (const text of ["0.001", "1e-3", "0.1%", "1/1000", "50%", "1/3"]) {
    const ours = w.parseError(text);
    same(planJson("-n", "1000", "-e", text), planJson("-n", "1000", "-e", String(ours)), `error: "${text}" is ${ours} to both`);
  }
  for (const [text, bad] of [["2", 1], ["0", 1], ["1x", 1], ["100%", 1]]) {
    let refused = false;
    try { seenCommand(["plan", "-n", "1000", "-e", text, "--no-time"]); } catch { refused = true; }
    ok(bad && refused && w.parseError(text) === null, `error: both refuse "${text}"`);
  }

  // Words, which only the page reads.
  const words = [["2 billion", 2e9], ["1.5 million", 1.5e6], ["20,000,000", 2e7], ["a thousand", 1000], ["half a million", 5e5],
    ["one hundred million", 1e8], ["5 hundred thousand", 5e5], ["3bn", 3e9], ["1_000", 1000], ["1,5 million", null], ["many", null], ["2 billion trillion", null]];
  for (const [text, want] of words) same(w.parseCount(text), want, `keys: ${text}`);
  for (const [text, want] of [["1 in 1000", 0.001], ["one in a million", 1e-6], ["1:500", 0.002], ["0.5 percent", 0.005], ["1 in 2 billion", 5e-10], ["3 in 2", null]])
    same(w.parseError(text), want, `error: ${text}`);
  for (const [text, want] of [["500 MB", 5e8], ["1.5 gigabytes", 1.5e9], ["1 GiB", 2 ** 30], ["64 mb", 64e6], ["12 bytes", 12], ["a megabyte", 1e6], ["5 parsecs", null]])
    same(w.parseBytes(text), want, `memory: ${text}`);
  same([w.showBytes(1241728), w.showBytes(312), w.showBytes(999600), w.showCount(2e9), w.showCount(13997), w.showError(0.00802), w.showError(1e-9)],
    ["1.2 MB", "312 bytes", "1.0 MB", "2 billion", "13,997", "1 in 125", "1 in 1 billion"], "and numbers come out as words");
  for (const n of [1, 999, 1e6, 2e9, 1.5e12]) same(w.parseCount(w.showCount(n)), n, `${w.showCount(n)} can be read back`);
  done();
})();
