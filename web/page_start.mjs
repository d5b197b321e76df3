// page_start.mjs - unpacks the library, starts the three parts, follows the address.
import { readLink } from "./link_state.mjs";
import { startOpen } from "./open_part.mjs";
import { startPlan } from "./plan_part.mjs";
import { startPlay } from "./play_part.mjs";
import { load } from "./seen.mjs";

// The module is in the page once, gzip'd and in base64.
async function unpack() {
  if (!globalThis.DecompressionStream || !globalThis.WebAssembly)
    throw new Error("this browser is too old for it: it needs WebAssembly and DecompressionStream (2023 or later)");
  const packed = Uint8Array.from(atob(document.getElementById("wasm").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function showPart(part) {
  document.documentElement.dataset.part = part;
  for (const a of document.querySelectorAll("nav a")) {
    if (a.hash === `#${part}`) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
}

async function start() {
  showPart(readLink(location.hash).part);
  const seen = await load(await unpack());
  const parts = { plan: startPlan(seen), play: startPlay(seen), open: startOpen(seen) };
  const follow = () => {
    if (location.hash && !/^#(plan|play|open)/.test(location.hash)) return;
    const { part, values } = readLink(location.hash);
    showPart(part);
    parts[part].load(values);
  };
  window.addEventListener("hashchange", follow);
  // A part that was left is found again as it was.
  for (const a of document.querySelectorAll("nav a"))
    a.addEventListener("click", (e) => {
      e.preventDefault();
      const part = a.hash.slice(1);
      history.pushState(null, "", parts[part].link ? parts[part].link() : a.hash);
      follow();
      document.getElementById("main").focus({ preventScroll: true });
      window.scrollTo(0, 0);
    });
  document.querySelector(".skip").addEventListener("click", (e) => {
    e.preventDefault();
    document.getElementById("main").focus();
  });
  follow();
  document.documentElement.dataset.ready = "yes";
}

start().catch((e) => {
  const broken = document.getElementById("broken");
  broken.textContent = `The page cannot calculate here: ${e.message}.`;
  broken.hidden = false;
});
