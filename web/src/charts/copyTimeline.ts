/**
 * Copies side by side: how far each has come since its own start, and, enlarged, what its first requests spent their time on.
 * A copy is a job that both reads and writes; each write puts down what a read before it took up.
 */
import { fill, type Meaning, phases } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { formatBytes, formatNanos, formatNumber, groupThousands } from "../base/format.ts";
import type { Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { keyEntry } from "./legend.ts";
import { draw, Plot } from "./plot.ts";
import { resultTable } from "./resultTable.ts";
import { type Read, readsOf } from "./rows/reads.ts";

export interface CopyTimelineOptions {
  readonly width: number;
}

type Share = "network" | "distance" | "waiting" | "window" | "server";

export interface CopyRequest {
  readonly from_ns: number;
  readonly to_ns: number;
  readonly op: "read" | "write";
  readonly bytes: number;
  /** Time by share, in the order in which it is drawn. */
  readonly parts: readonly { readonly share: Share; readonly ns: number }[];
  /** Requests in flight at the same time have different lanes. */
  readonly lane: number;
}

export interface Copy {
  readonly job: string;
  readonly requests: readonly CopyRequest[];
  readonly lanes: number;
  readonly bytes: number;
  readonly elapsed_ns: number;
  /** Time of all requests by share; adds up to the sum of their latencies. */
  readonly shares_ns: Readonly<Record<Share, number>>;
}

const paints: Readonly<Record<Share, { meaning: Meaning; label: string }>> = {
  network: { meaning: "network", label: "bytes on the network" },
  distance: { meaning: "distance", label: "round trips" },
  waiting: { meaning: "waiting", label: "waiting for the link" },
  window: { meaning: "stopped", label: "window full" },
  server: { meaning: "disk", label: "server reads and writes" },
};
// A read asks first and gets its bytes last; a write brings its bytes first.
const order: Readonly<Record<"read" | "write", readonly Share[]>> = {
  read: ["distance", "server", "waiting", "window", "network"],
  write: ["waiting", "window", "network", "server", "distance"],
};
const shareOf = phases.map(({ name }): Share => {
  if (name === "network_transfer") return "network";
  if (name === "round_trip") return "distance";
  if (name === "window_wait") return "window";
  return name === "network_queue" ? "waiting" : "server";
});
const mib = 2 ** 20;
/** Bytes of the slowest copy in the enlarged part. */
const enlargedBytes = 4 * mib;
const mostLanes = 16;
const dashes = ["", "6 3", "2 3", "8 3 2 3"];

const memo = new WeakMap<Result, readonly Copy[]>();

/** The copies of a run, in the order of its jobs. */
export function copiesOf(result: Result): readonly Copy[] {
  let copies = memo.get(result);
  if (copies === undefined) memo.set(result, (copies = result.summary.jobs.flatMap((job) => copyOf(result, job))));
  return copies;
}

function copyOf(result: Result, job: string): Copy[] {
  const [reads, writes] = [readsOf(result, job), readsOf(result, job, "write")];
  if (reads.length === 0 || writes.length === 0) return [];
  const start_ns = Math.min(reads[0]!.submit_ns, writes[0]!.submit_ns);
  const busyUntil: number[] = [];
  const shares_ns = { network: 0, distance: 0, waiting: 0, window: 0, server: 0 };
  const requests = [
    ...reads.map((read) => ({ op: "read" as const, request: read })),
    ...writes.map((write) => ({ op: "write" as const, request: write })),
  ]
    .toSorted((a, b) => a.request.submit_ns - b.request.submit_ns)
    .map(({ op, request }) => {
      const from_ns = request.submit_ns - start_ns;
      const free = busyUntil.findIndex((until) => until <= from_ns);
      const lane = free === -1 ? busyUntil.length : free;
      busyUntil[lane] = from_ns + request.latency_ns;
      const parts = partsOf(op, request);
      for (const { share, ns } of parts) shares_ns[share] += ns;
      return { from_ns, to_ns: from_ns + request.latency_ns, op, bytes: request.bytes, parts, lane };
    });
  return [
    {
      job,
      requests,
      lanes: busyUntil.length,
      bytes: writes.reduce((sum, write) => sum + write.bytes, 0),
      elapsed_ns: Math.max(...requests.map(({ to_ns }) => to_ns)),
      shares_ns,
    },
  ];
}

function partsOf(op: "read" | "write", request: Read): { share: Share; ns: number }[] {
  return order[op]
    .map((share) => ({
      share,
      ns: request.phase_ns.reduce((sum, ns, at) => (shareOf[at] === share ? sum + ns : sum), 0),
    }))
    .filter(({ ns }) => ns > 0);
}

/** The result in a sentence. */
export function describeCopies(result: Result): string {
  const copies = copiesOf(result);
  const slowest = copies.toSorted((a, b) => b.elapsed_ns - a.elapsed_ns)[0];
  if (slowest === undefined) return "";
  const others = copies
    .filter((copy) => copy !== slowest)
    .map((copy) => `${copy.job} is ${formatNumber(slowest.elapsed_ns / copy.elapsed_ns)} times as fast`);
  return `${[`${slowest.job} takes ${formatNanos(slowest.elapsed_ns)}`, ...others].join("; ")}.`;
}

export function copyTimeline(result: Result, options: CopyTimelineOptions): Element {
  const copies = copiesOf(result);
  if (copies.length === 0) return html("p", { class: "empty" }, "This run has no copy.");
  return html("div", { class: "copies" }, progress(copies, options.width), enlarged(copies, options.width));
}

function progress(copies: readonly Copy[], width: number): Element {
  const slowest = Math.max(...copies.map(({ elapsed_ns }) => elapsed_ns));
  const most = Math.max(...copies.map(({ bytes }) => bytes)) / mib;
  const lines = copies.map((copy) => {
    let written = 0;
    const writes = copy.requests.filter(({ op }) => op === "write").toSorted((a, b) => a.to_ns - b.to_ns);
    return [
      { s: 0, done: 0 },
      ...writes.map(({ to_ns, bytes }) => ({ s: to_ns / 1e9, done: (written += bytes) / mib })),
    ];
  });
  const isNarrow = width < 480;
  // Names are above the ends of the lines, each at its own height, because ends may be close to each other.
  const names = copies
    .map((copy) => ({ job: copy.job, s: copy.elapsed_ns / 1e9, done: copy.bytes / mib }))
    .toSorted((a, b) => a.s - b.s);
  return draw({
    width,
    height: isNarrow ? 210 : 245,
    marginLeft: 84,
    marginRight: 60,
    marginTop: 54,
    marginBottom: 36,
    ariaLabel: `Bytes copied since the start of each copy: ${names.map(({ job, s }) => `${job} done after ${formatNumber(s)} s`).join(", ")}`,
    x: { domain: [0, slowest / 1e9], label: "time since the start of the copy, s", labelArrow: "none", ticks: 6 },
    y: { domain: [0, most], label: "copied, MiB", labelArrow: "none", ticks: 4, grid: true },
    marks: [
      ...lines.map((points, at) =>
        Plot.lineY(points, {
          x: "s",
          y: "done",
          stroke: "var(--ink)",
          strokeWidth: 1.6,
          strokeDasharray: dashes[at % dashes.length]!,
        }),
      ),
      ...names.map((name, at) =>
        Plot.text([name], {
          x: "s",
          y: "done",
          text: "job",
          fill: "var(--ink)",
          textAnchor: "start",
          dx: -3,
          dy: -9 - 13 * (names.length - 1 - at),
        }),
      ),
      Plot.ruleY([0]),
    ],
  });
}

function enlarged(copies: readonly Copy[], width: number): Element {
  const end_ns = Math.max(...copies.map((copy) => timeFor(copy, enlargedBytes)));
  const rows = copies.flatMap((copy, track) => {
    const lanes = Math.min(copy.lanes, mostLanes);
    return copy.requests
      .filter(({ from_ns, lane }) => from_ns < end_ns && lane < mostLanes)
      .flatMap((request) => {
        let at = request.from_ns;
        const y1 = track + (0.8 * request.lane) / lanes;
        return request.parts.map(({ share, ns }) => {
          const from = at;
          at += ns;
          const words = `${copy.job}, ${request.op} of ${formatNumber(request.bytes / mib)} MiB: ${paints[share].label} ${formatNanos(ns)}`;
          return { share, x1: from / 1e6, x2: Math.min(at, end_ns) / 1e6, y1, y2: y1 + 0.8 / lanes, words };
        });
      })
      .filter(({ x1, x2 }) => x2 > x1);
  });
  const shown = (Object.keys(paints) as Share[]).filter((share) => rows.some((row) => row.share === share));
  const legend = html(
    "p",
    { class: "key" },
    html("span", {}, `The first ${formatNanos(end_ns)}:`),
    ...shown.map((share) => {
      const { meaning, label } = paints[share];
      return keyEntry(label, meaning);
    }),
  );
  const chart = draw({
    width,
    height: 48 + 44 * copies.length,
    marginLeft: 84,
    marginRight: 14,
    marginTop: 8,
    marginBottom: 36,
    ariaLabel: `Time in each phase of the first requests of each copy, ${formatNanos(end_ns)}`,
    x: { domain: [0, end_ns / 1e6], label: "time since the start of the copy, ms", labelArrow: "none", ticks: 6 },
    y: { domain: [copies.length, 0], axis: null },
    color: { type: "identity" },
    marks: [
      Plot.rect(rows, {
        x1: "x1",
        x2: "x2",
        y1: "y1",
        y2: "y2",
        fill: (row: { share: Share }) => fill(paints[row.share].meaning),
        stroke: "var(--paper)",
        strokeWidth: 0.5,
        title: "words",
      }),
      Plot.text(
        copies.map((copy, track) => ({ job: copy.job, y: track + 0.4 })),
        { x: 0, y: "y", text: "job", textAnchor: "end", dx: -6, fill: "var(--ink)" },
      ),
    ],
  });
  return html("div", {}, legend, chart);
}

/** When the first `bytes` of a copy were written, since its start. */
function timeFor(copy: Copy, bytes: number): number {
  let written = 0;
  const writes = copy.requests.filter(({ op }) => op === "write").toSorted((a, b) => a.to_ns - b.to_ns);
  return writes.find((write) => (written += write.bytes) >= bytes)?.to_ns ?? copy.elapsed_ns;
}

export const copyTimelineChart: Chart = {
  name: "copy-timeline",
  title: "Copies side by side",
  hides:
    "Each copy from its own start, though they ran one after the other. The phases of a request are stacked in a fixed order. Hides which phase came first.",
  suits: () => false, // a case names it
  draw: ({ result }, width) => copyTimeline(result, { width }),
  describe: describeCopies,
  table: ({ result }) => copyTable(result),
};

function copyTable(result: Result): HTMLTableElement {
  return resultTable({
    caption: "Copies",
    rows: copiesOf(result),
    columns: [
      { title: "copy", value: (copy) => copy.job },
      { title: "time", value: (copy) => formatNanos(copy.elapsed_ns) },
      { title: "copied", value: (copy) => formatBytes(copy.bytes) },
      { title: "reads and writes", value: (copy) => groupThousands(copy.requests.length) },
      { title: "on the network", value: (copy) => formatNanos(copy.shares_ns.network) },
      { title: "round trips", value: (copy) => formatNanos(copy.shares_ns.distance) },
      { title: "waiting", value: (copy) => formatNanos(copy.shares_ns.waiting + copy.shares_ns.window) },
      { title: "in the server", value: (copy) => formatNanos(copy.shares_ns.server) },
    ],
  });
}
