/** Observable Plot, drawn so that assistive technology sees one picture with one name. */
import * as Plot from "@observablehq/plot";

/** Margins of every chart over time, so that one cursor fits all of them. */
export const timeMargins = { marginLeft: 64, marginRight: 12 } as const;

/** No chart is drawn narrower: in less room, as before a page is laid out, its margins alone would not fit. */
const least_px = 240;

export function draw(options: Plot.PlotOptions & { readonly ariaLabel: string }): Element {
  const plot = Plot.plot({ ...options, width: Math.max(least_px, options.width ?? 0) });
  const svg = plot.matches("svg") ? plot : plot.querySelector("svg")!;
  svg.setAttribute("role", "img");
  // Plot names its groups ("rule", "x-axis tick"); inside an image such names are not allowed and say nothing.
  for (const group of svg.querySelectorAll("[aria-label]")) group.removeAttribute("aria-label");
  return plot;
}
