/** Mean latency in each interval of a run, all jobs together: when requests were slow, where a histogram says only how many. */
import { html } from "../base/elements.ts";
import { formatNumber } from "../base/format.ts";
import { column, type Result } from "../engine/api.ts";
import type { Chart, Focus } from "./chart.ts";
import { draw, Plot, timeMargins } from "./plot.ts";
import { resultTable } from "./resultTable.ts";

interface Interval {
  readonly from_s: number;
  readonly to_s: number;
  readonly requests: number;
  readonly mean_ms: number;
}

/** The intervals in which such requests ended. */
function busyIntervalsOf(result: Result, op: Focus["op"]): readonly Interval[] {
  const [starts, requests] = [column(result, "series.time_ns"), column(result, `series.${op}s`)];
  const means = column(result, `series.${op}_latency_mean_ms`);
  const step_s = (starts.length > 1 ? starts[1]! - starts[0]! : result.summary.simulated_ns) / 1e9;
  return Array.from(means, (mean_ms, row) => ({
    from_s: row * step_s,
    to_s: (row + 1) * step_s,
    requests: requests[row] ?? 0,
    mean_ms,
  })).filter(({ requests, mean_ms }) => requests > 0 || mean_ms > 0);
}

export function latency(result: Result, { op, width }: { readonly op: Focus["op"]; readonly width: number }): Element {
  const intervals = busyIntervalsOf(result, op);
  if (intervals.length === 0) return html("p", { class: "empty" }, `This run has no ${op}s by time.`);
  const slowest = intervals.reduce((most, interval) => (interval.mean_ms > most.mean_ms ? interval : most));
  const words = `${formatNumber(slowest.mean_ms)} ms at ${formatNumber(slowest.from_s)} s`;
  return draw({
    ...timeMargins,
    width,
    height: 240,
    marginTop: 26,
    marginBottom: 38,
    ariaLabel: `Mean latency of ${op}s over time, at most ${words}`,
    x: { domain: [0, result.summary.simulated_ns / 1e9], label: "time, s", labelArrow: "none", ticks: 6 },
    y: { label: `mean of ${op}s, ms`, labelArrow: "none", ticks: 5, grid: true, nice: true },
    marks: [
      Plot.rectY(intervals, {
        x1: "from_s",
        x2: "to_s",
        y: "mean_ms",
        fill: "var(--ink-soft)",
        title: ({ from_s, to_s, mean_ms }: Interval) =>
          `${formatNumber(from_s)} to ${formatNumber(to_s)} s: ${formatNumber(mean_ms)} ms`,
      }),
    ],
  });
}

export const latencyChart: Chart = {
  name: "latency",
  title: "Latency by time",
  hides: ({ op }) =>
    `The mean of each interval, ${op}s of all jobs together. Hides how much single ${op}s differ from the mean.`,
  suits: () => false, // a case names it
  draw: ({ result, focus: { op } }, width) => latency(result, { op, width }),
  table: ({ result, focus: { op } }) =>
    resultTable({
      caption: `Mean latency of ${op}s by interval`,
      rows: busyIntervalsOf(result, op),
      columns: [
        { title: "from, s", value: ({ from_s }) => formatNumber(from_s) },
        { title: "to, s", value: ({ to_s }) => formatNumber(to_s) },
        { title: `${op}s`, value: ({ requests }) => requests },
        { title: "mean, ms", value: ({ mean_ms }) => formatNumber(mean_ms) },
      ],
    }),
};
