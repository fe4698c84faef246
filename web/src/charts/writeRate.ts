/** What reaches the devices: group writes completed in each interval. A backend that works and idles in turn is a picket fence. */
import * as Plot from "@observablehq/plot";
import type { Result } from "../engine/api.ts";
import { ink, stroke } from "../base/colours.ts";
import { formatNumber } from "../base/format.ts";
import { draw } from "./plot.ts";
import { html } from "../base/elements.ts";
import { clientsEndOf, coarser, endOf, intervalsOf, timeMargins, type Interval } from "./rows/writePath.ts";

export interface WriteRateOptions {
  readonly width: number;
}

/** Mean rate while clients wrote, MB/s, and the share of that time in which nothing was written, %. */
export function rateOf(result: Result): { mean_mb_per_s: number; idle_percent: number } {
  const end = clientsEndOf(result);
  const intervals = intervalsOf(result).filter((interval) => interval.to_s <= end + 1e-9);
  if (intervals.length === 0) return { mean_mb_per_s: 0, idle_percent: 0 };
  const bytes = intervals.reduce((sum, interval) => sum + interval.written_bytes, 0);
  const idle = intervals.filter((interval) => interval.written_bytes === 0).length;
  return { mean_mb_per_s: bytes / 1e6 / end, idle_percent: (100 * idle) / intervals.length };
}

export function mbPerS(interval: Interval): number {
  return interval.written_bytes / 1e6 / (interval.to_s - interval.from_s);
}

export function writeRate(result: Result, options: WriteRateOptions): Element {
  const { width } = options;
  const end = endOf(result);
  const intervals = coarser(
    intervalsOf(result).filter(({ to_s }) => to_s <= end),
    width / 2,
  );
  if (intervals.length === 0) {
    return html("p", { class: "empty" }, "This run has no file system that writes in groups.");
  }
  const { mean_mb_per_s: mean, idle_percent } = rateOf(result);
  const words = `mean ${formatNumber(mean)} MB/s while clients wrote, idle ${formatNumber(idle_percent)} % of that time`;
  return draw({
    ...timeMargins,
    width,
    height: 240,
    marginTop: 40,
    marginBottom: 38,
    ariaLabel: `Rate of writes to the devices, ${words}`,
    x: { domain: [0, end], label: "time, s", labelArrow: "none", ticks: 6 },
    y: { label: "written, MB/s", labelArrow: "none", ticks: 5, grid: true, nice: true },
    marks: [
      Plot.rectY(intervals, {
        x1: "from_s",
        x2: "to_s",
        shapeRendering: "crispEdges",
        y: mbPerS,
        fill: stroke("disk"),
        title: (interval: Interval) =>
          `${interval.from_s.toFixed(2)} to ${interval.to_s.toFixed(2)} s: ${formatNumber(mbPerS(interval))} MB/s`,
      }),
      Plot.ruleY([mean], { stroke: "var(--ink)", strokeDasharray: "4 3" }),
      Plot.ruleY([0]),
      Plot.text([words], { frameAnchor: "top-right", dy: -18, text: (text: string) => text, fill: ink("disk") }),
    ],
  });
}
