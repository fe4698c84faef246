/**
 * The latency heat map: time from left to right, latency upwards on a logarithmic axis, darkness for the number of requests.
 * It keeps what a mean over time throws away: how many populations of latency there are, and when.
 */
import { opNumber } from "./rows/reads.ts";
import type { Op } from "../generated/answers.ts";
import { html } from "../base/elements.ts";
import { formatNanos, formatNumber, formatTick } from "../base/format.ts";
import { column, type Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { binTable, focusIn, histogram } from "./histogram.ts";
import { draw, Plot } from "./plot.ts";
import { resultTable } from "./resultTable.ts";
import { powerTicks } from "./ticks.ts";
import { hasOperations, keepsLog, withoutLog } from "./withoutLog.ts";

export interface HeatmapOptions {
  /** The job to show; all jobs when absent. */
  readonly job?: string | undefined;
  readonly op?: Op;
  readonly width: number;
}

export interface Cell {
  readonly from_s: number;
  readonly to_s: number;
  readonly lower_ns: number;
  readonly upper_ns: number;
  readonly count: number;
}

const binsPerOctave = 4;

/** Requests counted by interval of time and quarter octave of latency. */
export function cellsOf(result: Result, options: HeatmapOptions, intervals: number): readonly Cell[] {
  const ops = (name: string) => column(result, `ops.${name}`);
  const [job, op, submit, latency] = [ops("job"), ops("op"), ops("submit_ns"), ops("latency_ns")];
  const wantedJob = options.job === undefined ? -1 : result.summary.jobs.indexOf(options.job);
  const wantedOp = opNumber(options.op ?? "read");
  const end = Math.max(1, result.summary.simulated_ns);
  const counts = new Map<number, number>();
  for (let row = 0; row < latency.length; row++) {
    if (op[row] !== wantedOp || (wantedJob >= 0 && job[row] !== wantedJob)) continue;
    const interval = Math.min(intervals - 1, Math.floor((submit[row]! / end) * intervals));
    const bin = Math.floor(Math.log2(Math.max(1, latency[row]!)) * binsPerOctave);
    const key = bin * intervals + interval;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const step_s = end / 1e9 / intervals;
  return [...counts].map(([key, count]) => {
    const interval = key % intervals;
    const bin = Math.floor(key / intervals);
    return {
      from_s: interval * step_s,
      to_s: (interval + 1) * step_s,
      lower_ns: 2 ** (bin / binsPerOctave),
      upper_ns: 2 ** ((bin + 1) / binsPerOctave),
      count,
    };
  });
}

export function heatmap(result: Result, options: HeatmapOptions): Element {
  const { width } = options;
  const cells = cellsOf(result, options, Math.max(24, Math.round(width / 9)));
  const most = Math.max(1, ...cells.map((cell) => cell.count));
  const domain: [number, number] = [
    Math.min(...cells.map((cell) => cell.lower_ns), 1e5),
    Math.max(...cells.map((cell) => cell.upper_ns), 1e7),
  ];
  return draw({
    width,
    height: 260,
    marginLeft: 56,
    marginTop: 26,
    marginBottom: 36,
    marginRight: 8,
    ariaLabel: "Heat map of latency over time",
    x: { label: "time, s", labelArrow: "none", domain: [0, result.summary.simulated_ns / 1e9] },
    y: {
      type: "log",
      domain,
      label: "latency",
      labelArrow: "none",
      grid: true,
      ticks: powerTicks(...domain),
      tickFormat: formatTick,
    },
    marks: [
      Plot.rect(cells, {
        x1: "from_s",
        x2: "to_s",
        y1: "lower_ns",
        y2: "upper_ns",
        fill: "var(--ink)",
        // The square root keeps single requests visible beside crowded cells.
        fillOpacity: (cell: Cell) => 0.14 + 0.86 * Math.sqrt(cell.count / most),
        inset: 0.25,
        title: (cell: Cell) =>
          `${cell.count} between ${formatNanos(cell.lower_ns)} and ${formatNanos(cell.upper_ns)}, ` +
          `${cell.from_s.toFixed(2)} to ${cell.to_s.toFixed(2)} s`,
      }),
    ],
    opacity: { type: "identity" },
  });
}

export const heatmapChart: Chart = {
  name: "heatmap",
  title: "Heat map",
  hides: ({ job, op }) =>
    `All ${op}s of all jobs. Hides which job a cell belongs to: the ${op}s of ${job} are mixed with the others.`,
  suits: keepsLog,
  draw: ({ result, focus, reference }, width) =>
    hasOperations(result)
      ? heatmap(result, { op: focusIn(result, focus).op, width })
      : html(
          "div",
          {},
          withoutLog("the heat map has no times; the histogram shows the same latencies without them"),
          histogram(result, { ...focusIn(result, focus), width, reference }),
        ),
  table: ({ result, focus }) =>
    hasOperations(result)
      ? resultTable({
          caption: "Requests by time and latency",
          rows: cellsOf(result, { op: focusIn(result, focus).op, width: 0 }, 24),
          columns: [
            { title: "from, s", value: (cell) => formatNumber(cell.from_s) },
            { title: "to, s", value: (cell) => formatNumber(cell.to_s) },
            { title: "latency from", value: (cell) => formatNanos(cell.lower_ns) },
            { title: "latency to", value: (cell) => formatNanos(cell.upper_ns) },
            { title: "count", value: (cell) => cell.count },
          ],
        })
      : binTable(result, focusIn(result, focus)),
};
