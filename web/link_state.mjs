// link_state.mjs - what the reader entered, in the address: "#plan?keys=2+billion&error=1%25".

// {part, values}; anything that is not ours is the plan, empty.
export function readLink(hash) {
  const m = /^#(plan|play|open)(?:\?(.*))?$/.exec(hash);
  return { part: m ? m[1] : "plan", values: Object.fromEntries(new URLSearchParams((m && m[2]) || "")) };
}

export function linkOf(part, values) {
  const given = Object.entries(values).filter(([, v]) => v !== "" && v !== undefined && v !== null && v !== false);
  const text = new URLSearchParams(given.map(([k, v]) => [k, v === true ? "1" : String(v)])).toString();
  return `#${part}${text ? `?${text}` : ""}`;
}

// Puts it into the address bar, without a step in the history.
export function keepLink(part, values) {
  const link = linkOf(part, values);
  if (location.hash !== link) history.replaceState(null, "", link);
}
