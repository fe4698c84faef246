/**
 * Writes to the devices: group writes completed in each interval. A backend that works and idles in turn is a picket
 * fence.
 */
import { ink, stroke } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { formatBytes, formatNumber, groupThousands } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { draw, Plot, timeMargins } from "./plot.ts";
import { mostTimeRows, resultTable } from "./resultTable.ts";
import {
  clientsEndOf,
  coarser,
  describeMoment,
  endOf,
  type Interval,
  intervalsOf,
  hasWrites,
} from "./rows/writePath.ts";

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
  const whole = `mean ${formatNumber(mean)} MB/s while clients wrote, idle ${formatNumber(idle_percent)}% of that time`;
  const words = width < 500 ? `mean ${formatNumber(mean)} MB/s, idle ${formatNumber(idle_percent)}%` : whole;
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

export const writeRateChart: Chart = {
  name: "write-rate",
  title: "Write rate",
  hides: "Completed group writes, all devices together. Hides how many were in flight, and the reads between them.",
  suits: (scenario) => scenario.zfs !== undefined && hasWrites(scenario),
  draw: ({ result }, width) => writeRate(result, { width }),
  describe: (result) => {
    const { mean_mb_per_s, idle_percent } = rateOf(result);
    return `While clients wrote, the devices took ${formatNumber(mean_mb_per_s)} MB/s on average and were idle for ${formatNumber(idle_percent)}% of the time.`;
  },
  moment: describeMoment,
  table: ({ result }) => intervalTable(result),
};

/** The write path over time, for the charts that draw it. */
export function intervalTable(result: Result): HTMLTableElement {
  return resultTable({
    caption: "Dirty data, entries and writes to the devices over time",
    rows: coarser(intervalsOf(result), mostTimeRows),
    columns: [
      { title: "from, s", value: (row) => formatNumber(row.from_s) },
      { title: "to, s", value: (row) => formatNumber(row.to_s) },
      { title: "dirty, mean", value: (row) => formatBytes(row.dirty_mean_bytes) },
      { title: "dirty, maximum", value: (row) => formatBytes(row.dirty_max_bytes) },
      { title: "limit", value: (row) => (row.limit_bytes === 0 ? "none" : formatBytes(row.limit_bytes)) },
      { title: "in flight", value: (row) => formatNumber(row.async_writes_mean) },
      { title: "written, MB/s", value: (row) => formatNumber(mbPerS(row)) },
      { title: "free", value: (row) => groupThousands(row.not_delayed) },
      { title: "delayed", value: (row) => groupThousands(row.delayed) },
      { title: "stopped", value: (row) => groupThousands(row.blocked) },
    ],
  });
}
