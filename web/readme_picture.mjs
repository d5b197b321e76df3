// readme_picture.mjs - the picture of README.md: the first plot, with its colours inside.
import { memoryCurves } from "./plan_model.mjs";
import { BOX, memoryPlot } from "./plot_svg.mjs";

const STYLE = `text{font:12px sans-serif;fill:#1c2126}.title{font-size:15px;font-weight:600}.end{text-anchor:end}.mid{text-anchor:middle}
.faint{fill:#565e66}.grid{stroke:#d9d5ca;fill:none}.line{fill:none;stroke:currentColor;stroke-width:1.6}.line.shown{stroke-width:3.4}
.mark{fill:currentColor;stroke:#fff}.mark.open{fill:none;stroke:currentColor;stroke-width:2}.least{stroke:#565e66;stroke-width:5;opacity:.45}
.chosen{fill:#fff;fill-opacity:.7;stroke:#1c2126;stroke-width:2.5}.chosen-dot{fill:#1c2126}.chosen-line{stroke:#1c2126;fill:none;stroke-dasharray:1 4}
.chosen-text{font-weight:700;paint-order:stroke;stroke:#fff;stroke-width:5px}
.kind-0{color:#0067a3}.kind-1{color:#a63d00}.kind-2{color:#00734f}.kind-3{color:#555a60}.kind-4{color:#97336f}.kind-5{color:#846000}.kind-6{color:#5b3fa8}.kind-7{color:#00707a}`;

export function readmePicture(seen, plan) {
  const svg = memoryPlot(memoryCurves(seen, plan), plan.shown);
  return svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    .replace(/(<svg [^>]*>)/, `$1<style>${STYLE}</style><rect width="${BOX.width}" height="${BOX.height}" fill="#fff"/>`)
    .replace('<g class="cursor"></g>', "").replace(/></g, ">\n<") + "\n";
}
