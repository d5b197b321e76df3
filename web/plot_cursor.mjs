// plot_cursor.mjs - reading a plot by pointer or keyboard: one slider over its points.
//
// The plot is redrawn often; the slider around it stays, so that the focus does.
import { BOX, xAt, yOf } from "./plot_svg.mjs";
import { escapeText, showError } from "./human_words.mjs";

// BOX_EL holds the svg, READ is where words go, TAKE is called with an index when the reader
// clicks or presses Enter. Returns show(curves, decades, shareOf,
// nameOf, at, hint).
export function plotCursor(boxEl, read, label, take) {
  let c = null, at = 0, decades = 8, shareOf, nameOf, hint = "";
  boxEl.tabIndex = 0;
  boxEl.setAttribute("role", "slider");
  boxEl.setAttribute("aria-label", label);

  const words = (i) => c.series.filter((s) => s.ys[i] !== null).map((s) => [s.kind, showError(s.ys[i])]);
  function draw(active) {
    const g = boxEl.querySelector(".cursor"), x = xAt(shareOf(c.xs[at]));
    boxEl.setAttribute("aria-valuenow", at);
    boxEl.setAttribute("aria-valuetext", `${nameOf(c.xs[at])}: ${words(at).map((w) => w.join(" ")).join(", ")}`);
    if (!active) {
      g.innerHTML = "";
      read.textContent = hint;
      return;
    }
    g.innerHTML = `<path d="M${x} ${BOX.top}V${BOX.height - BOX.bottom}"/>` + c.series.filter((s) => s.ys[at] !== null)
      .map((s) => `<circle cx="${x}" cy="${yOf(s.ys[at], decades)}" r="3"/>`).join("");
    read.innerHTML = `<b>${escapeText(nameOf(c.xs[at]))}</b><br>` +
      words(at).map(([k, e]) => `<span>${escapeText(k)} ${escapeText(e)}</span>`).join(" ");
  }
  function nearest(event) {
    const r = boxEl.querySelector("svg").getBoundingClientRect();
    const share = ((event.clientX - r.left) / r.width * BOX.width - BOX.left) / (BOX.width - BOX.left - BOX.right);
    at = c.xs.reduce((best, x, i) => (Math.abs(shareOf(x) - share) < Math.abs(shareOf(c.xs[best]) - share) ? i : best), 0);
  }
  boxEl.addEventListener("pointermove", (e) => { if (c) { nearest(e); draw(true); } });
  boxEl.addEventListener("pointerleave", () => c && draw(document.activeElement === boxEl));
  boxEl.addEventListener("focus", () => c && draw(true));
  boxEl.addEventListener("blur", () => c && draw(false));
  boxEl.addEventListener("click", (e) => { if (c) { nearest(e); take(c.xs[at]); } });
  boxEl.addEventListener("keydown", (e) => {
    if (!c) return;
    const last = c.xs.length - 1;
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + 5, PageDown: at - 5, Home: 0, End: last }[e.key];
    if (to !== undefined) {
      at = Math.min(last, Math.max(0, to));
      draw(true);
    } else if (e.key === "Enter") {
      take(c.xs[at]);
    } else {
      return;
    }
    e.preventDefault();
  });
  return (curves, down, share, name, start, says) => {
    [c, decades, shareOf, nameOf, hint] = [curves, down, share, name, says];
    boxEl.querySelector("svg").setAttribute("aria-hidden", "true");
    boxEl.setAttribute("aria-valuemin", 0);
    boxEl.setAttribute("aria-valuemax", c.xs.length - 1);
    if (document.activeElement !== boxEl) at = start;
    at = Math.min(at, c.xs.length - 1);
    draw(document.activeElement === boxEl);
  };
}
