// early.js - runs before anything is drawn: which part is shown, so that nothing jumps.
document.documentElement.className = "js";
document.documentElement.dataset.part = (/^#(plan|play|open)/.exec(location.hash) || [0, "plan"])[1];
