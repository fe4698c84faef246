/**
 * The latency histogram twice on one logarithmic axis: by count, as monitors show it, and by total time, as users feel it.
 * A few slow requests vanish in the first and rule the second.
 */
import { opNumber } from "./rows/reads.ts";
import type { Op } from "../generated/answers.ts";
import { stroke } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { formatNanos, formatNumber, formatTick } from "../base/format.ts";
import { column, type Result } from "../engine/api.ts";
import type { Chart, Focus } from "./chart.ts";
import { draw, Plot } from "./plot.ts";
import { resultTable } from "./resultTable.ts";
import { powerTicks } from "./ticks.ts";

// As in the style sheet.
const betweenCharts = 32;

/** The parts of a run that are read here; the console has only these. */
type Tables = Pick<Result, "summary" | "columns">;

export interface HistogramOptions {
  readonly job: string;
  readonly op?: Op;
  readonly width: number;
  /** Another run, drawn as an outline on the same axis. */
  readonly reference?: { readonly result: Result; readonly label: string } | undefined;
}

export interface Bin {
  readonly lower_ns: number;
  readonly upper_ns: number;
  readonly count: number;
  readonly total_ns: number;
  readonly count_percent: number;
  readonly time_percent: number;
}

/** The non-empty bins of one job, with their shares. */
export function binsOf(result: Tables, job: string, op: Op): readonly Bin[] {
  const bins = (name: string) => column(result, `bins.${name}`);
  const [ofJob, ofOp, lower, upper] = [bins("job"), bins("op"), bins("lower_ns"), bins("upper_ns")];
  const [count, total] = [bins("count"), bins("total_ns")];
  const [wantedJob, wantedOp] = [result.summary.jobs.indexOf(job), opNumber(op)];
  const rows: number[] = [];
  for (let row = 0; row < lower.length; row++) {
    if (ofJob[row] === wantedJob && ofOp[row] === wantedOp) rows.push(row);
  }
  const requests = rows.reduce((sum, row) => sum + count[row]!, 0);
  const time = rows.reduce((sum, row) => sum + total[row]!, 0);
  return rows.map((row) => ({
    lower_ns: lower[row]!,
    upper_ns: upper[row]!,
    count: count[row]!,
    total_ns: total[row]!,
    count_percent: (100 * count[row]!) / requests,
    time_percent: (100 * total[row]!) / time,
  }));
}

export function histogram(result: Tables, options: HistogramOptions): HTMLElement {
  const { job, op = "read", width, reference } = options;
  const bins = binsOf(result, job, op);
  const others = reference === undefined ? [] : binsOf(reference.result, job, op);
  const all = [...bins, ...others];
  const domain = decadeAround(
    Math.min(...all.map((bin) => bin.lower_ns)) / 1.15,
    Math.max(...all.map((bin) => bin.upper_ns)) * 1.15,
  );
  const isNarrow = width < 560;
  const each = isNarrow ? width : Math.floor((width - betweenCharts) / 2);
  const marks = percentileMarks(result, job, op);
  const figure = html("div", { class: "histograms" });
  if (all.length === 0) {
    figure.append(html("p", { class: "empty" }, `No ${op}s to count.`));
    return figure;
  }
  const panels = [
    { share: "count_percent", title: `share of ${op}s, %`, mark: marks.median },
    { share: "time_percent", title: "share of all time spent, %", mark: marks.tail },
  ] as const;
  for (const { share, title, mark } of panels) {
    figure.append(
      draw({
        width: each,
        height: 210,
        marginTop: 34,
        marginBottom: 36,
        marginLeft: 34,
        marginRight: 8,
        ariaLabel: `Latency histogram, ${title}`,
        x: {
          type: "log",
          domain,
          label: "latency",
          labelArrow: "none",
          ticks: powerTicks(...domain),
          tickFormat: formatTick,
        },
        y: { label: title, labelArrow: "none", labelAnchor: "top", ticks: 4, grid: true, nice: true },
        marks: [
          Plot.rectY(bins, {
            x1: "lower_ns",
            x2: "upper_ns",
            y: share,
            fill: "var(--ink-soft)",
            insetLeft: 0.5,
            title: (bin: Bin) =>
              `${formatNanos(bin.lower_ns)} to ${formatNanos(bin.upper_ns)}: ${bin.count} ${op}s, ${formatNumber(bin[share])}%`,
          }),
          others.length > 0
            ? Plot.rectY(others, {
                x1: "lower_ns",
                x2: "upper_ns",
                y: share,
                fill: "none",
                stroke: stroke("broken"),
                strokeDasharray: "2 2",
              })
            : null,
          others.length > 0
            ? Plot.text([tallest(others, share)], {
                x: (bin: Bin) => Math.sqrt(bin.lower_ns * bin.upper_ns),
                y: share,
                text: () => reference!.label,
                dy: -7,
                fill: "var(--broken-text)",
              })
            : null,
          mark === undefined ? null : Plot.ruleX([mark], { x: "nanos", stroke: "var(--ink)", strokeDasharray: "1 3" }),
          mark === undefined
            ? null
            : Plot.text([mark], {
                x: "nanos",
                frameAnchor: "top",
                dy: -10,
                text: "label",
                fill: "var(--ink)",
                // Words beside the right edge end at their line.
                textAnchor: Math.log(mark.nanos / domain[0]) > 0.8 * Math.log(domain[1] / domain[0]) ? "end" : "middle",
              }),
          Plot.ruleY([0]),
        ],
      }),
    );
  }
  return figure;
}

interface PercentileMark {
  readonly nanos: number;
  readonly label: string;
}

function percentileMarks(result: Tables, job: string, op: string) {
  const metric = (name: string, label: string): PercentileMark | undefined => {
    const ms = result.summary.metrics[`${job}.${op}_latency_${name}_ms`];
    return ms === undefined || ms <= 0 ? undefined : { nanos: ms * 1e6, label: `${label} ${formatNanos(ms * 1e6)}` };
  };
  return { median: metric("p50", "median"), tail: metric("p99", "p99") };
}

function tallest(bins: readonly Bin[], share: "count_percent" | "time_percent"): Bin {
  return bins.reduce((best, bin) => (bin[share] > best[share] ? bin : best));
}

/** At least a factor of ten, so that its axis has something to say where all requests are alike. */
function decadeAround(low: number, high: number): [number, number] {
  const room = Math.max(1, Math.sqrt((10 * low) / high));
  return [low / room, high * room];
}

export const histogramChart: Chart = {
  name: "histogram",
  title: "Histogram",
  hides: "Above, requests by latency, as a monitor counts them; below, time by latency. Both hide when it happened.",
  suits: () => true,
  draw: ({ result, focus, reference }, width) => histogram(result, { ...focusIn(result, focus), width, reference }),
  table: ({ result, focus }) => binTable(result, focusIn(result, focus)),
};

/** The bins of one job and direction, with their shares. */
export function binTable(result: Result, { job, op }: Focus): HTMLTableElement {
  return resultTable({
    caption: `Latency of ${op}s of ${job}, by bin`,
    rows: binsOf(result, job, op),
    columns: [
      { title: "from", value: (bin) => formatNanos(bin.lower_ns) },
      { title: "to", value: (bin) => formatNanos(bin.upper_ns) },
      { title: "count", value: (bin) => bin.count },
      { title: "share of count, %", value: (bin) => formatNumber(bin.count_percent) },
      { title: "share of time, %", value: (bin) => formatNumber(bin.time_percent) },
    ],
  });
}

/** The job and direction to show of a run: the case's, or in a run without them the first that has any. */
export function focusIn(result: Result, focus: Focus): Focus {
  const all = result.summary.jobs.flatMap((job) => (["read", "write"] as const).map((op) => ({ job, op })));
  return [focus, ...all].find(({ job, op }) => binsOf(result, job, op).length > 0) ?? focus;
}
