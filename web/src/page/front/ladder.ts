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

export function ladder(incidents: readonly Incident[]): HTMLElement {
  const byMean = incidents.toSorted((a, b) => a.place.mean_ns - b.place.mean_ns);
  const percent = (latency_ns: number) => `${(placeOn(latency_ns) * 100).toFixed(2)}%`;
  const axis = html(
    "div",
    { class: "ladder-axis", "aria-hidden": "true" },
    ...ticks().map((at, nth, all) => {
      const words = html(
        "span",
        nth === 0 ? { class: "first" } : nth === all.length - 1 ? { class: "last" } : {},
        formatTick(at),
      );
      words.style.left = percent(at);
      return words;
    }),
  );
  const rows = byMean.map((incident) => {
    const { place, id, code, title } = incident;
    const told =
      `mean ${formatNanos(place.mean_ns)}, median ${formatNanos(place.median_ns)}, ` +
      `longest ${formatNanos(place.longest_ns)}`;
    const line = svg("line", {
      x1: percent(place.median_ns),
      x2: percent(Math.max(place.longest_ns, place.median_ns)),
      y1: 9,
      y2: 9,
    });
    const mean = svg("circle", { cx: percent(place.mean_ns), cy: 9, r: 5 });
    return html(
      "li",
      {},
      html("a", { href: `${id}.html`, title: `A ${place.op}: ${told}` }, html("b", {}, code), ` ${title}`),
      svg(
        "svg",
        { class: "rung", width: "100%", height: 18, role: "img", "aria-label": `A ${place.op}: ${told}` },
        line,
        mean,
      ),
    );
  });
  return html(
    "div",
    { class: "ladder" },
    html("div", { class: "ladder-head" }, html("span"), axis),
    html("ol", {}, ...rows),
    html(
      "p",
      { class: "quiet legend" },
      "Each line shows the run that the incident's page opens with, from its median to its longest request; the dot is the mean. Each step of the axis is a factor of ten.",
    ),
  );
}
