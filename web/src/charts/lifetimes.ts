/**
 * Lifetimes: where the time of a request went, phase by phase. The first bar is the mean of all requests with its phases
 * named; below it, single requests on the same axis.
 */
import type { Op } from "../generated/answers.ts";
import { fill, ink, phases } from "../base/colours.ts";
import { formatBytes, formatNanos } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { focusIn } from "./histogram.ts";
import { draw, Plot } from "./plot.ts";
import { resultTable } from "./resultTable.ts";
import { missedFrom, type Read, readsOf } from "./rows/reads.ts";
import { keepsLog, withoutLog } from "./withoutLog.ts";

export interface LifetimesOptions {
  readonly job: string;
  readonly op?: Op;
  readonly width: number;
  /** Requests that follow the mean. */
  readonly pick?: "slowest" | "first" | "around";
  /** The index of the request in the middle, for `around`. */
  readonly around?: number;
  readonly count?: number;
}

interface Segment {
  readonly row: string;
  readonly from: number;
  readonly to: number;
  readonly paint: string;
  readonly title: string;
}

/** The requests that {@link lifetimes} draws, with their place in the run. */
export function pickRequests(result: Result, options: LifetimesOptions): readonly { index: number; read: Read }[] {
  const { pick = "around", around = 0, count = 12 } = options;
  const all = readsOf(result, options.job, options.op).map((read, index) => ({ index, read }));
  if (pick === "slowest") return all.toSorted((a, b) => b.read.latency_ns - a.read.latency_ns).slice(0, count);
  const middle = pick === "first" ? 0 : around - Math.floor(count / 2);
  const start = Math.max(0, Math.min(middle, all.length - count));
  return all.slice(start, start + count);
}

/** The mean time in each phase, in the order of `phases`, in ns. */
export function meanPhases(requests: readonly Read[]): number[] {
  return phases.map(
    (_, at) => requests.reduce((sum, request) => sum + request.phase_ns[at]!, 0) / Math.max(1, requests.length),
  );
}

export function lifetimes(result: Result, options: LifetimesOptions): Element {
  const { width, op = "read" } = options;
  const all = readsOf(result, options.job, op);
  const picked = pickRequests(result, options);
  const mean = meanPhases(all);
  const meanRow = "mean";
  const segments: Segment[] = [
    ...segmentsOf(meanRow, mean, `mean of ${all.length}`),
    ...picked.flatMap(({ index, read }) => segmentsOf(`${index + 1}`, read.phase_ns, `${op} ${index + 1}`)),
  ];
  const end = Math.max(1e-6, ...segments.map((segment) => segment.to));
  const isNarrow = width < 480;
  const marginLeft = 52;
  const minimum = (isNarrow ? 0.09 : 0.055) * end;
  const labels = segmentsOf(meanRow, mean, "")
    .map((segment, at) => ({ ...segment, phase: presentPhases(mean)[at]! }))
    .filter((segment) => segment.to - segment.from > minimum);

  return draw({
    width,
    height: 70 + 20 * (picked.length + 1),
    marginLeft,
    marginRight: 16,
    marginTop: 40,
    marginBottom: 38,
    ariaLabel: "Time in each phase, request by request",
    x: { label: "time since the request, ms", domain: [0, end], labelAnchor: "right", labelArrow: "none", grid: true },
    y: {
      label: op,
      labelAnchor: "top",
      labelArrow: "none",
      domain: [meanRow, ...picked.map(({ index }) => `${index + 1}`)],
      tickSize: 0,
      padding: 0.28,
    },
    marks: [
      Plot.barX(segments, {
        y: "row",
        x1: "from",
        x2: "to",
        fill: "paint",
        title: "title",
      }),
      Plot.text(labels, {
        y: "row",
        x: (segment: { from: number; to: number }) => (segment.from + segment.to) / 2,
        text: (segment: { phase: (typeof phases)[number]; from: number; to: number }) =>
          `${segment.phase.label}\n${formatNanos((segment.to - segment.from) * 1e6)}`,
        fill: (segment: { phase: (typeof phases)[number] }) => ink(segment.phase.meaning),
        dy: -24,
      }),
      Plot.ruleX([0]),
    ],
    color: { type: "identity" },
  });
}

function presentPhases(phase_ns: readonly number[]) {
  return phases.filter((_, at) => phase_ns[at]! > 0);
}

function segmentsOf(row: string, phase_ns: readonly number[], name: string): Segment[] {
  let reached = 0;
  const segments: Segment[] = [];
  phases.forEach((phase, at) => {
    const nanos = phase_ns[at]!;
    if (nanos <= 0) return;
    const from = reached / 1e6;
    reached += nanos;
    segments.push({
      row,
      from,
      to: reached / 1e6,
      paint: fill(phase.meaning),
      title: `${name}, ${phase.label}: ${formatNanos(nanos)}`,
    });
  });
  return segments;
}

export const lifetimesChart: Chart = {
  name: "lifetimes",
  title: "Lifetimes",
  hides: ({ job, op }) =>
    `Phases of each ${op} of ${job}. Hides the order of the phases: the bars are stacked in a fixed order.`,
  suits: keepsLog,
  followsRequest: true,
  draw: ({ result, focus, request }, width) => {
    const own = focusIn(result, focus);
    return readsOf(result, own.job, own.op).length === 0
      ? withoutLog(`there are no single ${own.op}s to show`)
      : lifetimes(result, { ...own, width, around: request });
  },
  table: ({ result, focus, request }) => {
    const own = focusIn(result, focus);
    return requestTable(pickRequests(result, { ...own, width: 0, around: request }), own.op);
  },
};

function requestTable(requests: readonly { index: number; read: Read }[], op: string): HTMLTableElement {
  return resultTable({
    caption: `${op}s around the one on the stage`,
    rows: requests,
    columns: [
      { title: op, value: ({ index }) => index + 1 },
      { title: "at", value: ({ read }) => formatBytes(read.from) },
      { title: "size", value: ({ read }) => formatBytes(read.bytes) },
      { title: "from memory", value: ({ read }) => formatBytes(read.cached_bytes) },
      {
        title: "missing",
        value: ({ read }) =>
          read.missed_bytes === 0 ? "none" : `${formatBytes(read.missed_bytes)} from ${missedFrom(read)}`,
      },
      { title: "latency", value: ({ read }) => formatNanos(read.latency_ns) },
      {
        title: "phases",
        value: ({ read }) =>
          phases
            .map((phase, at) => ({ phase, nanos: read.phase_ns[at]! }))
            .filter(({ nanos }) => nanos > 0)
            .map(({ phase, nanos }) => `${phase.label} ${formatNanos(nanos)}`)
            .join(", "),
      },
    ],
  });
}
