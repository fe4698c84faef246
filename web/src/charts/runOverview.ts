/**
 * A whole run in one small picture, for a card, whatever the run has recorded: single requests when there is a log, dirty data
 * against the limit on a write path, else the mean latency of each interval.
 */
import type { Op } from "../generated/answers.ts";
import { column, type Result } from "../engine/api.ts";
import { fill, stroke } from "../base/colours.ts";
import { formatBytes, formatNumber, formatTick } from "../base/format.ts";
import { latencyOverview } from "./latencyOverview.ts";
import { svg } from "../base/elements.ts";
import { clientsEndOf, coarser, intervalsOf, type Interval } from "./rows/writePath.ts";

export interface RunOverviewOptions {
  readonly job: string;
  readonly op: Op;
  readonly width: number;
  readonly height: number;
  readonly latency_max_ns: number;
  /** Kind of the picture. Default: the most informative one. */
  readonly kind?: OverviewKind;
}

export type OverviewKind = "requests" | "dirty" | "intervals";

export function overviewKind(result: Result): OverviewKind {
  return (["dirty", "requests"] as const).find((kind) => hasKind(result, kind)) ?? "intervals";
}

/** Whether a run has recorded what a kind of picture shows. */
export function hasKind(result: Result, kind: OverviewKind): boolean {
  const needed = { dirty: "zfs.dirty_mean_bytes", requests: "ops.id", intervals: "series.time_ns" };
  return column(result, needed[kind]).length > 0;
}

export function runOverview(result: Result, options: RunOverviewOptions): SVGSVGElement {
  switch (options.kind ?? overviewKind(result)) {
    case "requests":
      return latencyOverview(result, options);
    case "dirty":
      return dirtyOverview(result, options);
    case "intervals":
      return intervalOverview(result, options);
  }
}

/** Return the value of a picture's full height. */
export function overviewScale(
  result: Result,
  options: Pick<RunOverviewOptions, "op" | "latency_max_ns" | "kind">,
): string {
  const { op, latency_max_ns, kind = overviewKind(result) } = options;
  switch (kind) {
    case "requests":
      return `full height ${formatTick(latency_max_ns)}`;
    case "dirty":
      return `full height ${formatBytes(mostDirty(intervalsOf(result)))} dirty`;
    case "intervals":
      return `full height ${formatNumber(Math.max(0, ...column(result, `series.${op}_latency_mean_ms`)))} ms`;
  }
}

function mostDirty(intervals: readonly Interval[]): number {
  return Math.max(1, ...intervals.map(({ dirty_max_bytes }) => dirty_max_bytes));
}

function root({ width, height }: Pick<RunOverviewOptions, "width" | "height">): SVGSVGElement {
  const baseline = svg("line", { class: "baseline", x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 });
  return svg(
    "svg",
    { class: "overview", viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
    baseline,
  );
}

const stripHeight = 6;

function dirtyOverview(result: Result, options: RunOverviewOptions): SVGSVGElement {
  const { width, height } = options;
  const end = clientsEndOf(result);
  const intervals = coarser(
    intervalsOf(result).filter(({ to_s }) => to_s <= end + 1e-9),
    width / 2,
  );
  const element = root(options);
  const most = mostDirty(intervals);
  const tall = height - stripHeight - 3;
  const x = (time: number) => ((time / end) * width).toFixed(1);
  const y = (bytes: number) => (tall - (bytes / most) * (tall - 2)).toFixed(1);
  const line = intervals.map(
    ({ from_s, to_s, dirty_mean_bytes }) => `${x((from_s + to_s) / 2)} ${y(dirty_mean_bytes)}`,
  );
  element.append(
    svg("path", { d: `M0 ${tall}L${line.join("L")}L${width} ${tall}z`, fill: stroke("memory"), "fill-opacity": 0.3 }),
    svg("path", { d: `M${line.join("L")}`, fill: "none", stroke: stroke("memory"), "stroke-width": 1.2 }),
  );
  const marked = (held: (interval: Interval) => boolean, paint: string) => {
    const d = intervals
      .filter(held)
      .map(({ from_s, to_s }) => `M${x(from_s)} ${height - stripHeight}H${x(to_s)}V${height}H${x(from_s)}z`)
      .join("");
    if (d !== "") element.append(svg("path", { d, fill: paint }));
  };
  marked(({ delayed, blocked }) => delayed > 0 && blocked === 0, fill("delayed"));
  marked(({ blocked }) => blocked > 0, stroke("stopped"));
  const title = svg("title", {}, `At most ${formatBytes(most)} dirty`);
  element.prepend(title);
  return element;
}

function intervalOverview(result: Result, options: RunOverviewOptions): SVGSVGElement {
  const { op, width, height } = options;
  const means = Array.from(column(result, `series.${op}_latency_mean_ms`));
  const element = root(options);
  const most = Math.max(0, ...means);
  const columns = Math.min(means.length, Math.floor(width / 2));
  let d = "";
  for (let at = 0; at < columns; at++) {
    const from = Math.floor((at * means.length) / columns);
    const to = Math.max(from + 1, Math.floor(((at + 1) * means.length) / columns));
    const mean = Math.max(...means.slice(from, to));
    if (mean === 0) continue;
    const tall = Math.max(1, (mean / most) * (height - 2)).toFixed(1);
    d += `M${((at * width) / columns).toFixed(1)} ${height}v-${tall}h${(width / columns).toFixed(1)}v${tall}z`;
  }
  if (d !== "") element.append(svg("path", { d, fill: "var(--ink-soft)" }));
  return element;
}
