// copy_lines.mjs - a row of the plan as lines to copy: shell, C, Python, Redis.
//
// Each makes a filter of the kind of the row, for its keys and its error or memory; all but
// the static one grow if more keys come. A test runs them.

// As short as it can be without changing what the command makes of it.
const plain = (x) => String(Number(x.toPrecision(6)));

// PLAN of makePlan, for its row shown; [{name, text}].
export function copyLines(plan) {
  const r = plan.shown, q = plan.q;
  const byMemory = q.bytes !== undefined && q.keys !== undefined;
  const keys = Math.floor(r.keys), error = q.error || Math.min(0.99, r.error);
  if (!r.can.includes("add")) return staticLines(plan, byMemory, error);
  const size = byMemory ? `-n ${keys} -m ${q.bytes}` : `-n ${keys} -e ${plain(error)}`;
  const k = q.k ? ` -k ${q.k}` : "";
  const c = [`.kind = SEEN_${r.kind.toUpperCase()}`, `.keys = ${keys}`,
    byMemory ? `.memory = ${q.bytes}` : `.error = ${plain(error)}`];
  const py = [String(keys), byMemory ? `memory=${q.bytes}` : plain(error), `kind="${r.kind}"`];
  if (q.k) { c.push(`.probes = ${q.k}`); py.push(`probes=${q.k}`); }
  return [
    { name: "Command", text: `seen new ${size} --kind ${r.kind}${k} visited.seen\nseen add visited.seen keys.txt\nseen has visited.seen more.txt` },
    { name: "C", text: `seen_spec spec = { ${c.join(", ")} };\nseen_filter *f;\nif (seen_new(&spec, &f) < 0)\n    fprintf(stderr, "%s\\n", seen_reason());\nelse if (seen_add_str(f, "a key") == SEEN_NEW)\n    puts("new");` },
    { name: "Python", text: `import seen\nf = seen.Filter(${py.join(", ")})\nf.add("a key")\nprint("a key" in f)` },
    redisLines(r, keys, error),
  ];
}

function redisLines(r, keys, error) {
  if (r.kind === "cuckoo" || r.kind === "set")
    return { name: "Redis", text: `CF.RESERVE visited ${keys}\nCF.ADD visited "a key"\nCF.DEL visited "a key"` };
  return { name: "Redis", text: `BF.RESERVE visited ${plain(error)} ${keys}\nBF.ADD visited "a key"\nBF.EXISTS visited "a key"` };
}

function staticLines(plan, byMemory, error) {
  const size = byMemory ? `-m ${plan.q.bytes}` : `-e ${plain(error)}`;
  const spec = byMemory ? `.memory = ${plan.q.bytes}` : `.error = ${plain(error)}`;
  return [
    { name: "Command", text: `seen build ${size} words.seen keys.txt\nseen has words.seen more.txt` },
    { name: "C", text: `seen_build_spec spec = { ${spec} };\nseen_key key = { "a key", 5 };\nseen_builder *b;\nseen_filter *f = NULL;\nif (seen_builder_new(&spec, &b) < 0 || seen_builder_add(b, &key, 1) < 0 ||\n    seen_builder_finish(b, &f) < 0)\n    fprintf(stderr, "%s\\n", seen_reason());` },
    { name: "Python", text: `import seen\nb = seen.Builder(${byMemory ? `memory=${plan.q.bytes}` : plain(error)})\nb.update(["a key"])\nprint("a key" in b.finish())` },
    { name: "Redis", text: "# Redis has no static filters: nginx, C, Python and\n# the command read the file that seen build writes." },
  ];
}
