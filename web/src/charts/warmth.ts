/**
 * Where reads found their bytes over time, and under it what the caches hold: how a cache device warms, or how read-ahead
 * fills memory and is thrown away.
 */
import { fill, ink, type Meaning, stroke } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { formatBytes, formatNumber } from "../base/format.ts";
import { column, type Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { draw, Plot, timeMargins } from "./plot.ts";
import { mostTimeRows, resultTable } from "./resultTable.ts";
import { endOf } from "./rows/writePath.ts";

export interface WarmthOptions {
  readonly width: number;
}

/** The sources of a read, from the nearest to the farthest. */
export const sources = [
  { name: "memory", label: "memory", meaning: "memory" },
  { name: "on_its_way", label: "in flight", meaning: "prefetched" },
  { name: "flash", label: "flash", meaning: "flash" },
  { name: "pool", label: "disk", meaning: "disk" },
] as const satisfies readonly { name: string; label: string; meaning: Meaning }[];

export interface Interval {
  readonly from_s: number;
  readonly to_s: number;
  /** Bytes read, in the order of {@link sources}. */
  readonly read: readonly number[];
  /** Bytes read ahead. */
  readonly ahead: number;
  /** Bytes read ahead and evicted before anybody had used them. */
  readonly wasted: number;
  /** Bytes in the ARC, and on cache devices, at its end. */
  readonly arc: number;
  readonly l2: number;
}

const memo = new WeakMap<Result, readonly Interval[]>();

export function warmthOf(result: Result): readonly Interval[] {
  let intervals = memo.get(result);
  if (intervals === undefined) memo.set(result, (intervals = readIntervals(result)));
  return intervals;
}

function readIntervals(result: Result): Interval[] {
  const of = (name: string) => column(result, `sources.${name}`);
  const starts = of("time_ns");
  const read = sources.map(({ name }) => of(`${name}_bytes`));
  const [ahead, wasted, arc, l2] = ["ahead", "wasted", "arc", "l2"].map((name) => of(`${name}_bytes`));
  const step_s = starts.length > 1 ? starts[1]! / 1e9 : result.summary.simulated_ns / 1e9;
  return Array.from(starts, (start_ns, row) => ({
    from_s: start_ns / 1e9,
    to_s: start_ns / 1e9 + step_s,
    read: read.map((bytes) => bytes[row]!),
    ahead: ahead![row]!,
    wasted: wasted![row]!,
    arc: arc![row]!,
    l2: l2![row]!,
  }));
}

/** Neighbours put together, so that at most so many are left. */
export function coarserWarmth(intervals: readonly Interval[], most: number): readonly Interval[] {
  const together = Math.ceil(intervals.length / Math.max(1, most));
  if (together <= 1) return intervals;
  const list: Interval[] = [];
  for (let first = 0; first < intervals.length; first += together) {
    const part = intervals.slice(first, first + together);
    const sum = (value: (interval: Interval) => number) => part.reduce((total, interval) => total + value(interval), 0);
    const last = part.at(-1)!;
    list.push({
      from_s: part[0]!.from_s,
      to_s: last.to_s,
      read: sources.map((_, source) => sum(({ read }) => read[source]!)),
      ahead: sum(({ ahead }) => ahead),
      wasted: sum(({ wasted }) => wasted),
      arc: last.arc,
      l2: last.l2,
    });
  }
  return list;
}

function total(interval: Interval): number {
  return interval.read.reduce((sum, bytes) => sum + bytes, 0);
}

function mbPerS(bytes: number, { from_s, to_s }: Interval): number {
  return bytes / 1e6 / (to_s - from_s);
}

export function warmth(result: Result, { width }: WarmthOptions): Element {
  const end = endOf(result);
  const intervals = coarserWarmth(
    warmthOf(result).filter(({ from_s }) => from_s < end),
    width / 3,
  );
  if (intervals.length === 0) return html("p", { class: "empty" }, describeWarmth(result));
  return html("div", { class: "warmth" }, served(intervals, end, width), held(intervals, end, width));
}

function served(intervals: readonly Interval[], end: number, width: number): Element {
  const used = sources.filter((_, source) => intervals.some(({ read }) => read[source]! > 0));
  const bars = intervals.flatMap((interval) =>
    sources.map(({ label, meaning }, source) => ({
      from_s: interval.from_s,
      to_s: interval.to_s,
      label,
      meaning,
      rate: mbPerS(interval.read[source]!, interval),
    })),
  );
  const seen = bars.filter(({ rate }) => rate > 0);
  const words = used.map(({ label }) => label).join(", ");
  return draw({
    ...timeMargins,
    width,
    height: 210,
    marginTop: 34,
    marginBottom: 30,
    ariaLabel: `Rate of reads served, by source: ${words}`,
    x: { domain: [0, end], label: null, ticks: 6 },
    y: { label: "read, MB/s", labelArrow: "none", ticks: 5, grid: true, nice: true },
    marks: [
      Plot.rectY(
        seen,
        Plot.stackY({
          x1: "from_s",
          x2: "to_s",
          y: "rate",
          fill: (bar: (typeof bars)[number]) => fill(bar.meaning),
          order: sources.map(({ meaning }) => fill(meaning)),
          shapeRendering: "crispEdges",
          title: (bar: (typeof bars)[number]) =>
            `${formatNumber(bar.from_s)} to ${formatNumber(bar.to_s)} s: ${formatNumber(bar.rate)} MB/s from ${bar.label}`,
        }),
      ),
      Plot.ruleY([0]),
      ...used.map(({ label, meaning }, place) =>
        Plot.text([`■ ${label}`], {
          frameAnchor: "top-left",
          dx: place * 82,
          dy: -20,
          text: (text: string) => text,
          fill: ink(meaning),
        }),
      ),
    ],
  });
}

function held(intervals: readonly Interval[], end: number, width: number): Element {
  const lines = [
    { label: "ARC", meaning: "memory", dash: "", value: ({ arc }: Interval) => arc },
    { label: "cache device", meaning: "flash", dash: "", value: ({ l2 }: Interval) => l2 },
    { label: "read ahead and discarded", meaning: "broken", dash: "5 3", value: summed(intervals) },
  ] as const satisfies readonly {
    label: string;
    meaning: Meaning;
    dash: string;
    value: (interval: Interval) => number;
  }[];
  const shown = lines.filter(({ value }) => intervals.some((interval) => value(interval) > 0));
  return draw({
    ...timeMargins,
    width,
    height: 170,
    marginTop: 34,
    marginBottom: 38,
    ariaLabel: `Bytes held over time: ${shown.map(({ label, value }) => `${label} ${formatBytes(value(intervals.at(-1)!))}`).join(", ")} at the end`,
    x: { domain: [0, end], label: "time, s", labelArrow: "none", ticks: 6 },
    y: { label: "GiB", labelArrow: "none", ticks: 4, grid: true, nice: true, zero: true },
    marks: [
      Plot.ruleY([0]),
      ...shown.map(({ meaning, dash, value }) =>
        Plot.lineY(intervals, {
          x: (interval: Interval) => Math.min(interval.to_s, end),
          y: (interval: Interval) => value(interval) / 2 ** 30,
          stroke: stroke(meaning),
          strokeWidth: 1.8,
          strokeDasharray: dash,
        }),
      ),
      ...shown.map(({ label, meaning }, place) =>
        Plot.text([`${label === "read ahead and discarded" ? "- -" : "—"} ${label}`], {
          frameAnchor: "top-left",
          dx: place * 105,
          dy: -20,
          text: (text: string) => text,
          fill: ink(meaning),
        }),
      ),
    ],
  });
}

/** Return a function that sums the wasted bytes up to the end of an interval. */
function summed(intervals: readonly Interval[]): (interval: Interval) => number {
  let sum = 0;
  const sums = new Map(intervals.map((interval) => [interval, (sum += interval.wasted)]));
  return (interval) => sums.get(interval) ?? 0;
}

/** The run in a sentence. */
export function describeWarmth(result: Result): string {
  const intervals = warmthOf(result);
  const last = intervals.at(-1);
  if (last === undefined) return "This run has no ARC that reads pass through.";
  const sum = (value: (interval: Interval) => number) => intervals.reduce((all, interval) => all + value(interval), 0);
  const all = Math.max(1, sum(total));
  const shares = sources.map(
    ({ label }, source) => `${formatNumber((100 * sum(({ read }) => read[source]!)) / all)}% ${label}`,
  );
  const ahead = sum((interval) => interval.ahead);
  const wasted = sum((interval) => interval.wasted);
  const thrown =
    ahead === 0 ? "" : ` Of ${formatBytes(ahead)} read ahead, ${formatBytes(wasted)} were discarded unread.`;
  const device = last.l2 === 0 ? "" : ` The cache device holds ${formatBytes(last.l2)} at the end.`;
  return `Sources of the bytes read: ${shares.join(", ")}.${device}${thrown}`;
}

/** One moment in words. */
export function describeWarmthAt(result: Result, time_s: number): string {
  const intervals = warmthOf(result);
  const first = intervals[0];
  if (first === undefined) return "";
  const at = Math.min(intervals.length - 1, Math.max(0, Math.floor(time_s / first.to_s)));
  const interval = intervals[at]!;
  const bytes = total(interval);
  const from = sources
    .map(({ label }, source) => ({ label, share: (100 * interval.read[source]!) / Math.max(1, bytes) }))
    .filter(({ share }) => share > 0)
    .map(({ label, share }) => `${formatNumber(share)}% from ${label}`);
  const rate = `${formatNumber(mbPerS(bytes, interval))} MB/s`;
  const device = interval.l2 > 0 ? `; ${formatBytes(interval.l2)} on the cache device` : "";
  return `${rate}${from.length > 0 ? `, ${from.join(", ")}` : ""}; ${formatBytes(interval.arc)} in memory${device}.`;
}

export const warmthChart: Chart = {
  name: "warmth",
  title: "Warmth",
  hides:
    "All files and readers together, averaged over each interval. Hides the source of each block, and how long each read took.",
  suits: ({ zfs }) => zfs?.arc !== undefined,
  draw: ({ result }, width) => warmth(result, { width }),
  describe: describeWarmth,
  moment: describeWarmthAt,
  table: ({ result }) => warmthTable(result),
};

function warmthTable(result: Result): HTMLTableElement {
  return resultTable({
    caption: "Bytes read by source, and bytes held, over time",
    rows: coarserWarmth(warmthOf(result), mostTimeRows),
    columns: [
      { title: "from, s", value: (row) => formatNumber(row.from_s) },
      { title: "to, s", value: (row) => formatNumber(row.to_s) },
      ...sources.map(({ label }, source) => ({
        title: label,
        value: (row: ReturnType<typeof warmthOf>[number]) => formatBytes(row.read[source]!),
      })),
      { title: "read ahead", value: (row) => formatBytes(row.ahead) },
      { title: "discarded", value: (row) => formatBytes(row.wasted) },
      { title: "in the ARC", value: (row) => formatBytes(row.arc) },
      { title: "on the device", value: (row) => formatBytes(row.l2) },
    ],
  });
}
