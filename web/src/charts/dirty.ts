/**
 * Dirty data against their limit, with what changes at which fill, and below on the same axis of time how writes entered:
 * freely, after a delay, after a stop.
 */
import { fill, ink, stroke } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { formatBytes, formatNumber, groupThousands } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { draw, Plot, timeMargins } from "./plot.ts";
import {
  coarser,
  describeMoment,
  describeRun,
  endOf,
  type Interval,
  intervalsOf,
  type Threshold,
  throttleOf,
  hasWrites,
} from "./rows/writePath.ts";
import { binaryTicks } from "./ticks.ts";
import { intervalTable } from "./writeRate.ts";

export interface DirtyOptions {
  readonly width: number;
}

const halo = { stroke: "var(--paper)", strokeWidth: 4, paintOrder: "stroke" } as const;

const entrances: readonly {
  readonly title: string;
  readonly count: "not_delayed" | "delayed" | "blocked";
  readonly paint: string;
  readonly words: string;
}[] = [
  { title: "entered freely", count: "not_delayed", paint: stroke("memory"), words: ink("memory") },
  { title: "delayed on purpose", count: "delayed", paint: fill("delayed"), words: ink("delayed") },
  { title: "stopped at the limit", count: "blocked", paint: fill("stopped"), words: ink("stopped") },
];

export function dirty(result: Result, options: DirtyOptions): HTMLElement {
  const { width } = options;
  const figure = html("div", { class: "stacked" });
  const all = intervalsOf(result);
  const zfs = result.scenario.zfs;
  if (all.length === 0 || zfs === undefined || zfs === null) {
    figure.append(html("p", { class: "empty" }, describeRun(result)));
    return figure;
  }
  const end = endOf(result);
  const intervals = coarser(
    all.filter(({ to_s }) => to_s <= end),
    width / 2,
  );
  const throttle = throttleOf(zfs);
  const hasLimit = intervals.some((interval) => interval.limit_bytes > 0);
  const highest = Math.max(
    1,
    ...intervals.map((interval) => Math.max(interval.dirty_max_bytes, hasLimit ? reached(interval, intervals) : 0)),
  );
  const top = highest * 1.1;
  const time = { domain: [0, end] as [number, number] };
  const lines = throttle.thresholds.filter((line) => line.bytes !== undefined || hasLimit);
  figure.append(
    draw({
      ...timeMargins,
      width,
      height: width < 560 ? 240 : 280,
      marginTop: 26,
      marginBottom: 22,
      ariaLabel: `Dirty data over time. ${describeRun(result)}`,
      x: { ...time, label: null, ticks: 6, tickFormat: () => "" },
      y: {
        domain: [0, top],
        label: "dirty data",
        labelArrow: "none",
        ticks: binaryTicks(0, top, 5),
        tickFormat: (bytes: number) => formatBytes(bytes),
      },
      marks: [
        Plot.areaY(intervals, {
          x: middle,
          y: "dirty_mean_bytes",
          fill: stroke("memory"),
          fillOpacity: 0.22,
        }),
        Plot.lineY(intervals, { x: middle, y: "dirty_mean_bytes", stroke: stroke("memory"), strokeWidth: 1.5 }),
        // The mean of an interval hides that the limit was touched in it.
        Plot.ruleX(
          intervals.filter((interval) => hasLimit && interval.dirty_max_bytes >= interval.limit_bytes),
          { x: middle, y1: "dirty_mean_bytes", y2: "dirty_max_bytes", stroke: stroke("stopped"), strokeOpacity: 0.6 },
        ),
        ...lines.flatMap((line) => thresholdMarks(line, lines, intervals, top, result)),
        Plot.ruleY([0]),
      ],
    }),
    ...entrances.map((entrance, at) => entranceChart(entrance, intervals, time, width, at === entrances.length - 1)),
  );
  if (throttle.isPerGroup) {
    figure.append(
      html(
        "p",
        { class: "quiet note" },
        "The limit is for one transaction group. Up to three are dirty at once, so the total of dirty data may exceed it.",
      ),
    );
  }
  return figure;
}

function middle(interval: Interval): number {
  return (interval.from_s + interval.to_s) / 2;
}

// A limit that is far above the data would press them flat; it is drawn where it comes near.
function reached(interval: Interval, intervals: readonly Interval[]): number {
  const most = Math.max(...intervals.map(({ dirty_max_bytes }) => dirty_max_bytes));
  return interval.limit_bytes <= 4 * most ? interval.limit_bytes : 0;
}

function levelOf(line: Threshold, interval: Interval): number {
  return line.bytes ?? (line.share ?? 1) * interval.limit_bytes;
}

function thresholdMarks(
  line: Threshold,
  lines: readonly Threshold[],
  intervals: readonly Interval[],
  top: number,
  result: Result,
) {
  const level = (interval: Interval) => levelOf(line, interval);
  const last = intervals.findLast((interval) => level(interval) > 0 && level(interval) <= top);
  if (last === undefined) return [];
  const isStop = line.share === 1;
  // Two lines a word's height apart: the words of the lower one go below it.
  const isCrowded = lines.some((other) => {
    const gap = levelOf(other, last) - level(last);
    return gap > 0 && gap < top * 0.065;
  });
  return [
    Plot.line(intervals, {
      x: "from_s",
      y: (interval: Interval) => (level(interval) > 0 && level(interval) <= top ? level(interval) : Number.NaN),
      curve: "step-before",
      stroke: isStop ? stroke("stopped") : "var(--ink-faint)",
      strokeWidth: isStop ? 1.8 : 1,
      ...(isStop ? {} : { strokeDasharray: "4 3" }),
    }),
    Plot.text([last], {
      x: () => endOf(result),
      y: level,
      text: () => line.label,
      textAnchor: "end",
      dx: -4,
      dy: isCrowded ? 9 : -7,
      fill: isStop ? ink("stopped") : "var(--ink-soft)",
      ...halo,
    }),
  ];
}

// Each in its own scale: sixteen stopped writes matter, however many thousand entered.
function entranceChart(
  entrance: (typeof entrances)[number],
  intervals: readonly Interval[],
  time: { readonly domain: [number, number] },
  width: number,
  isLast: boolean,
): Element {
  const { title, count, paint, words } = entrance;
  const rate = (interval: Interval) => interval[count] / (interval.to_s - interval.from_s);
  const some = intervals.filter((interval) => interval[count] > 0);
  const most = Math.max(1e-9, ...some.map(rate));
  const said = some.length === 0 ? `${title}: none` : `${title}, up to ${formatNumber(most)} /s`;
  return draw({
    ...timeMargins,
    width,
    height: isLast ? 82 : 46,
    marginTop: 18,
    marginBottom: isLast ? 38 : 2,
    ariaLabel: `Writes ${said}`,
    x: { ...time, label: isLast ? "time, s" : null, labelArrow: "none", ticks: 6, ...(isLast ? {} : { axis: null }) },
    y: { domain: [0, most], axis: null },
    marks: [
      Plot.rectY(some, {
        x1: "from_s",
        x2: "to_s",
        shapeRendering: "crispEdges",
        y: rate,
        fill: paint,
        title: (interval: Interval) =>
          `${interval.from_s.toFixed(2)} to ${interval.to_s.toFixed(2)} s: ${groupThousands(interval[count])} writes ${title}`,
      }),
      Plot.ruleY([0], { stroke: "var(--rule-strong)" }),
      Plot.text([said], {
        frameAnchor: "top-left",
        text: (text: string) => text,
        dy: -13,
        fill: words,
        fontWeight: 600,
      }),
    ],
  });
}

export const dirtyChart: Chart = {
  name: "dirty",
  title: "Dirty data",
  hides: "All files and writers together. Hides which block is dirty, for how long, and what one write waited for.",
  suits: (scenario) => scenario.zfs !== undefined && hasWrites(scenario),
  draw: ({ result }, width) => dirty(result, { width }),
  describe: describeRun,
  moment: describeMoment,
  table: ({ result }) => intervalTable(result),
};
