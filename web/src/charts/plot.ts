/**
 * Observable Plot, drawn so that assistive technology sees one picture with one name.
 *
 * It is a third of a page's code and few stages use it: it is loaded when the first chart is to be drawn. Whoever draws one awaits
 * {@link loadPlot}; charts themselves stay functions from columns to a picture.
 */
import type { PlotOptions } from "@observablehq/plot";

/** Undefined until it is loaded. */
export let Plot: typeof import("./marks.ts");

let loading: Promise<void> | undefined;

/** Rejects where it cannot be fetched; asked again, it tries again. */
export function loadPlot(): Promise<void> {
  return (loading ??= import("./marks.ts").then(
    (marks) => {
      Plot = marks;
    },
    () => {
      loading = undefined;
      throw new Error("The charts could not be loaded. Check the network, then draw them again.");
    },
  ));
}

/** Whether charts can be drawn at once. */
export function isPlotLoaded(): boolean {
  return (Plot as unknown) !== undefined;
}

/** Margins of every chart over time, so that one cursor fits all of them. */
export const timeMargins = { marginLeft: 64, marginRight: 12 } as const;

/** No chart is drawn narrower: in less room, as before a page is laid out, its margins alone would not fit. */
const least_px = 240;

export function draw(options: PlotOptions & { readonly ariaLabel: string }): Element {
  const plot = Plot.plot({ ...options, width: Math.max(least_px, options.width ?? 0) });
  const svg = plot.matches("svg") ? plot : plot.querySelector("svg")!;
  svg.setAttribute("role", "img");
  // Plot names its groups ("rule", "x-axis tick"); inside an image such names are not allowed and say nothing.
  for (const group of svg.querySelectorAll("[aria-label]")) group.removeAttribute("aria-label");
  return plot;
}
