/**
 * Devices of the intent logs over time: what they write, how long each commit takes, and how much of what they hold is still
 * needed. A commit is a line from its begin to its end, at the height of its duration: a massive one, and the line of small
 * ones behind it, are seen at once.
 */
import { fill, ink, stroke } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { formatBytes, formatNanos, formatNumber, formatTick, groupThousands } from "../base/format.ts";
import { column, type Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { draw, Plot, timeMargins } from "./plot.ts";
import { mostTimeRows, resultTable } from "./resultTable.ts";
import { coarser, describeMoment, endOf, type Interval, intervalsOf } from "./rows/writePath.ts";
import { binaryTicks, powerTicks } from "./ticks.ts";

export interface Commit {
  readonly dataset: number;
  readonly from_s: number;
  readonly to_s: number;
  readonly writes: number;
  readonly bytes: number;
  readonly diverted_bytes: number;
}

const memo = new WeakMap<Result, readonly Commit[]>();

export function commitsOf(result: Result): readonly Commit[] {
  let commits = memo.get(result);
  if (commits === undefined) memo.set(result, (commits = readCommits(result)));
  return commits;
}

function readCommits(result: Result): Commit[] {
  const of = (name: string) => column(result, `commits.${name}`);
  const [starts, ends, writes] = [of("started_ns"), of("ended_ns"), of("writes")];
  const [bytes, diverted] = [of("bytes"), of("diverted_bytes")];
  return Array.from(of("dataset"), (dataset, row) => ({
    dataset,
    from_s: starts[row]! / 1e9,
    to_s: ends[row]! / 1e9,
    writes: writes[row]!,
    bytes: bytes[row]!,
    diverted_bytes: diverted[row]!,
  }));
}

/** All bytes of a commit's blocks. */
export const sizeOf = (commit: Commit) => commit.bytes + commit.diverted_bytes;
/** From its begin until it is durable, s. */
export const timeOf = (commit: Commit) => commit.to_s - commit.from_s;

/** The shortest and the longest commit of each file system that end in each of `most` equal stretches of time: what a picture of that width can show. */
export function extremes(commits: readonly Commit[], end_s: number, most: number): readonly Commit[] {
  const kept = new Map<string, Commit>();
  for (const commit of commits) {
    const place = `${commit.dataset} ${Math.floor((commit.to_s / Math.max(end_s, 1e-9)) * most)}`;
    for (const [key, isMore] of [
      [`${place} shortest`, (other: Commit) => timeOf(commit) < timeOf(other)],
      [`${place} longest`, (other: Commit) => timeOf(commit) > timeOf(other)],
    ] as const) {
      const other = kept.get(key);
      if (other === undefined || isMore(other)) kept.set(key, commit);
    }
  }
  return [...new Set(kept.values())];
}

/** The largest commits, the largest first. */
export function largest(commits: readonly Commit[], count: number): readonly Commit[] {
  return [...commits].sort((one, other) => sizeOf(other) - sizeOf(one)).slice(0, count);
}

/** The file system's name: the job's, when each has its own. */
export function datasetName(result: Result, dataset: number): string {
  const { scenario } = result;
  const isOwn = scenario.zfs?.log?.datasets === "job";
  return isOwn ? (scenario.jobs[dataset]?.name ?? `file system ${dataset}`) : "all";
}

export function describeCommits(result: Result): string {
  const [first] = largest(commitsOf(result), 1);
  if (first === undefined) return "No commits: no write here is synchronous.";
  const diverted =
    first.diverted_bytes === 0 ? "" : `, ${formatBytes(first.diverted_bytes)} of it diverted to the pool`;
  const most = Math.max(0, ...intervalsOf(result).map((interval) => interval.log_live_bytes));
  const held = most === 0 ? "" : ` The log devices needed at most ${formatBytes(most)}.`;
  return (
    `${groupThousands(commitsOf(result).length)} commits; the largest had ${formatBytes(sizeOf(first))}${diverted} ` +
    `and took ${formatNanos(timeOf(first) * 1e9)}.${held}`
  );
}

export function logDevices(result: Result, options: { readonly width: number }): Element {
  const { width } = options;
  const commits = commitsOf(result);
  if (commits.length === 0) return html("p", { class: "empty" }, describeCommits(result));
  const end = Math.max(endOf(result), ...largest(commits, 1).map(({ to_s }) => to_s));
  const intervals = coarser(
    intervalsOf(result).filter(({ to_s }) => to_s <= end + 1e-9),
    width / 2,
  );
  const hasDevices = intervals.some((interval) => interval.log_bytes > 0);
  const time = { domain: [0, end] as [number, number] };
  const figure = html("div", { class: "stacked" });
  if (hasDevices) figure.append(rateChart(intervals, time, width));
  figure.append(commitChart(result, extremes(commits, end, width / 2), time, width, !hasDevices));
  if (hasDevices) figure.append(liveChart(intervals, time, width));
  return figure;
}

const rateOf = (interval: Interval) => interval.log_bytes / 1e6 / (interval.to_s - interval.from_s);

function title(text: string, paint: string) {
  return Plot.text([text], {
    frameAnchor: "top-left",
    text: (said: string) => said,
    dy: -15,
    fill: paint,
    fontWeight: 600,
  });
}

function rateChart(intervals: readonly Interval[], time: { domain: [number, number] }, width: number): Element {
  const said = `log devices write, up to ${formatNumber(Math.max(...intervals.map(rateOf)))} MB/s`;
  return draw({
    ...timeMargins,
    width,
    height: 110,
    marginTop: 24,
    marginBottom: 6,
    ariaLabel: said,
    x: { ...time, axis: null },
    y: { label: "MB/s", labelArrow: "none", ticks: 3, nice: true },
    marks: [
      Plot.rectY(intervals, {
        x1: "from_s",
        x2: "to_s",
        shapeRendering: "crispEdges",
        y: rateOf,
        fill: stroke("flash"),
        title: (interval: Interval) =>
          `${interval.from_s.toFixed(2)} to ${interval.to_s.toFixed(2)} s: ${formatNumber(rateOf(interval))} MB/s`,
      }),
      Plot.ruleY([0]),
      title(said, ink("flash")),
    ],
  });
}

// A logarithm of 0 is nowhere.
const leastTime_s = 1e-6;

function commitChart(
  result: Result,
  commits: readonly Commit[],
  time: { domain: [number, number] },
  width: number,
  isLast: boolean,
): Element {
  const isDiverted = (commit: Commit) => commit.diverted_bytes > commit.bytes;
  const height = (commit: Commit) => Math.max(timeOf(commit), leastTime_s) * 1e3;
  const [lowest, highest] = [Math.min(...commits.map(height)) / 1.3, Math.max(...commits.map(height)) * 1.3];
  const biggest = largest(commits, 1).filter((commit) => timeOf(commit) > 0.02 * time.domain[1]);
  const marks = (some: readonly Commit[], paint: string, shape: "flash" | "disk") => [
    Plot.link(some, { x1: "from_s", x2: "to_s", y1: height, y2: height, stroke: paint, strokeWidth: 2.5 }),
    Plot.dot(some, {
      x: "to_s",
      y: height,
      r: 1.6,
      fill: paint,
      symbol: shape === "disk" ? "square" : "circle",
      title: (commit: Commit) =>
        `${datasetName(result, commit.dataset)}: ${formatBytes(sizeOf(commit))}, ${groupThousands(commit.writes)} writers, ` +
        `${commit.from_s.toFixed(3)} to ${commit.to_s.toFixed(3)} s (${formatNanos(timeOf(commit) * 1e9)})` +
        (commit.diverted_bytes === 0 ? "" : `, ${formatBytes(commit.diverted_bytes)} diverted`),
    }),
  ];
  return draw({
    ...timeMargins,
    width,
    height: isLast ? 230 : 190,
    marginTop: 24,
    marginBottom: isLast ? 38 : 8,
    ariaLabel: `Commits by time and duration. ${describeCommits(result)}`,
    x: isLast ? { ...time, label: "time, s", labelArrow: "none", ticks: 6 } : { ...time, axis: null },
    y: {
      type: "log",
      domain: [lowest, highest],
      label: null,
      ticks: powerTicks(lowest, highest),
      tickFormat: (ms: number) => formatTick(ms * 1e6),
      grid: true,
    },
    marks: [
      ...marks(
        commits.filter((commit) => !isDiverted(commit)),
        stroke("flash"),
        "flash",
      ),
      ...marks(
        commits.filter((commit) => isDiverted(commit)),
        stroke("disk"),
        "disk",
      ),
      Plot.text(biggest, {
        x: "from_s",
        y: height,
        textAnchor: "start",
        dy: 12,
        text: (commit: Commit) =>
          `${datasetName(result, commit.dataset)}: ${formatBytes(sizeOf(commit))} in ${formatNanos(timeOf(commit) * 1e9)}`,
        fill: "var(--ink)",
        stroke: "var(--paper)",
        strokeWidth: 4,
        paintOrder: "stroke",
      }),
      title(
        width < 560 ? "time of each commit" : "time of each commit: circles on the log, squares diverted to the pool",
        "var(--ink-soft)",
      ),
    ],
  });
}

function liveChart(intervals: readonly Interval[], time: { domain: [number, number] }, width: number): Element {
  const most = Math.max(1, ...intervals.map((interval) => interval.log_live_bytes));
  const said = `needed on the log devices, at most ${formatBytes(most)}`;
  return draw({
    ...timeMargins,
    width,
    height: 130,
    marginTop: 24,
    marginBottom: 38,
    ariaLabel: said,
    x: { ...time, label: "time, s", labelArrow: "none", ticks: 6 },
    y: { domain: [0, most], label: null, ticks: binaryTicks(0, most, 3), tickFormat: formatBytes },
    marks: [
      Plot.areaY(intervals, {
        x: (interval: Interval) => (interval.from_s + interval.to_s) / 2,
        y: "log_live_bytes",
        fill: fill("flash"),
        fillOpacity: 0.35,
        curve: "step",
      }),
      Plot.ruleY([0]),
      title(said, ink("flash")),
    ],
  });
}

export const logDevicesChart: Chart = {
  name: "log-devices",
  title: "Intent log",
  hides:
    "The shortest and the longest commits of each file system at each moment, all log devices together. Hides what a write waited for before its commit started.",
  suits: ({ zfs }) => zfs?.log?.devices !== undefined,
  draw: ({ result }, width) => logDevices(result, { width }),
  describe: describeCommits,
  moment: describeMoment,
  table: ({ result }) => commitTable(result),
};

function commitTable(result: Result): HTMLTableElement {
  return resultTable({
    caption: "The largest commits of the intent logs",
    rows: largest(commitsOf(result), mostTimeRows),
    columns: [
      { title: "file system", value: (row) => datasetName(result, row.dataset) },
      { title: "began, s", value: (row) => formatNumber(row.from_s) },
      { title: "took, ms", value: (row) => formatNumber((row.to_s - row.from_s) * 1e3) },
      { title: "writers", value: (row) => groupThousands(row.writes) },
      { title: "on the log", value: (row) => formatBytes(row.bytes) },
      { title: "diverted", value: (row) => formatBytes(row.diverted_bytes) },
    ],
  });
}
