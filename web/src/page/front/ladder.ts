/**
 * The ladder of latencies: one axis from 100 ns to 10 s, and on it every incident, a line from the median to the longest of its
 * requests in the run that its page opens on, with a dot at the mean. The numbers are those of the runs that the build has made.
 */
import { formatNanos, formatTick } from "../../base/format.ts";
import { html, svg } from "../../base/elements.ts";
import type { Incident } from "../shared/incidents.ts";

export const ladderFrom_ns = 100;
export const ladderTo_ns = 10e9;

/** Where a latency lies on the ladder, from 0 to 1; what is beyond an end lies at it. */
export function placeOn(latency_ns: number): number {
  const share = Math.log(Math.max(latency_ns, ladderFrom_ns) / ladderFrom_ns) / Math.log(ladderTo_ns / ladderFrom_ns);
  return Math.min(1, share);
}

/** Decades of the axis. */
function ticks(): number[] {
  const list: number[] = [];
  for (let at = ladderFrom_ns; at <= ladderTo_ns * 1.001; at *= 10) list.push(at);
  return list;
}

const percent = (latency_ns: number) => `${(placeOn(latency_ns) * 100).toFixed(2)}%`;

/** The axis above the list, in steps of a factor of ten. */
export function ladderAxis(): HTMLElement {
  return html(
    "div",
    { class: "ladder-axis", "aria-hidden": "true" },
    ...ticks().map((at, nth, all) => {
      const place = nth === 0 ? "first" : nth === all.length - 1 ? "last" : "";
      const words = html("span", place === "" ? {} : { class: place }, formatTick(at));
      words.style.left = percent(at);
      return words;
    }),
  );
}

/** An incident's place on the ladder: from the median to the longest of its requests, with a dot at the mean. */
export function rung({ place }: Pick<Incident, "place">): SVGSVGElement {
  const { op, mean_ns, median_ns, longest_ns } = place;
  const told = `A ${op}: mean ${formatNanos(mean_ns)}, median ${formatNanos(median_ns)}, longest ${formatNanos(longest_ns)}`;
  const to = percent(Math.max(longest_ns, median_ns));
  return svg(
    "svg",
    { class: "rung", width: "100%", height: 18, role: "img", "aria-label": told },
    svg("line", { x1: percent(median_ns), x2: to, y1: 9, y2: 9 }),
    svg("circle", { cx: percent(mean_ns), cy: 9, r: 5 }),
  );
}
