/**
 * A server's analytics: its work in each interval, its clients' view, and the busy shares of cores and devices. Below
 * are each client and each device separately. The server's rate and the clients' differ while requests are in flight.
 */
import { ink, type Meaning, stroke } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { formatNumber } from "../base/format.ts";
import { column, type Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { draw, Plot } from "./plot.ts";
import { resultTable } from "./resultTable.ts";

/** One interval of the run, all clients and devices together. */
export interface Interval {
  readonly from_s: number;
  readonly to_s: number;
  readonly server_ios: number;
  readonly server_mib_per_s: number;
  readonly server_ms: number;
  readonly clients_ios: number;
  readonly clients_mib_per_s: number;
  readonly clients_ms: number;
  readonly cores_percent: number;
  readonly device_percent: number;
}

/** The activity of one client or device in one interval. */
export interface Share {
  readonly who: number;
  readonly from_s: number;
  readonly to_s: number;
  /** MiB a second of a client; percent busy of a device. */
  readonly value: number;
}

const mib = 2 ** 20;
const [client, job, device] = [0, 1, 2] as const;

function rowsOf(result: Result) {
  const [time, width, of, who, ios, bytes, total] = [
    "time_ns",
    "width_ns",
    "of",
    "who",
    "ios",
    "bytes",
    "total_ns",
  ].map((name) => column(result, `analytics.${name}`)) as [
    Float64Array,
    Float64Array,
    Uint32Array,
    Uint32Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  return Array.from(time, (time_ns, at) => ({
    time_ns,
    width_ns: width[at]!,
    of: of[at]!,
    who: who[at]!,
    ios: ios[at]!,
    bytes: bytes[at]!,
    total_ns: total[at]!,
  }));
}

export function intervalsOf(result: Result): readonly Interval[] {
  const server = result.scenario.server;
  const hz = server == null ? 0 : server.cores * server.hz;
  const cycles = column(result, "cores.cycles");
  const widths = column(result, "cores.width_ns");
  const starts = column(result, "cores.time_ns");
  const rows = new Map<number, ReturnType<typeof rowsOf>>();
  for (const row of rowsOf(result)) rows.set(row.time_ns, [...(rows.get(row.time_ns) ?? []), row]);
  return Array.from(starts, (time_ns, at) => {
    const seconds = widths[at]! / 1e9;
    const here = rows.get(time_ns) ?? [];
    const sum = (of: number) =>
      here
        .filter((row) => row.of === of)
        .reduce((all, row) => ({ ios: all.ios + row.ios, bytes: all.bytes + row.bytes, ns: all.ns + row.total_ns }), {
          ios: 0,
          bytes: 0,
          ns: 0,
        });
    const [served, seen] = [sum(client), sum(job)];
    const busiest = Math.max(0, ...here.filter((row) => row.of === device).map((row) => row.total_ns));
    const mean = (all: { ios: number; ns: number }) => (all.ios === 0 ? 0 : all.ns / all.ios / 1e6);
    return {
      from_s: time_ns / 1e9,
      to_s: time_ns / 1e9 + seconds,
      server_ios: served.ios / seconds,
      server_mib_per_s: served.bytes / mib / seconds,
      server_ms: mean(served),
      clients_ios: seen.ios / seconds,
      clients_mib_per_s: seen.bytes / mib / seconds,
      clients_ms: mean(seen),
      cores_percent: hz === 0 ? 0 : busyPercent((1e9 * cycles[at]!) / hz, widths[at]!),
      device_percent: busyPercent(busiest, widths[at]!),
    };
  }).filter(({ from_s, to_s }) => to_s > from_s);
}

/** Work is counted when it ends: an interval could show a little more than all of its time. */
function busyPercent(busy_ns: number, width_ns: number): number {
  return Math.min(100, (100 * busy_ns) / width_ns);
}

/** Each client (`of` 0, MiB/s) or each device (2, % busy) in each interval. */
export function sharesOf(result: Result, of: 0 | 2): readonly Share[] {
  return rowsOf(result)
    .filter((row) => row.of === of && row.width_ns > 0)
    .map(({ who, time_ns, width_ns, bytes, total_ns }) => ({
      who,
      from_s: time_ns / 1e9,
      to_s: (time_ns + width_ns) / 1e9,
      value: of === device ? busyPercent(total_ns, width_ns) : bytes / mib / (width_ns / 1e9),
    }));
}

export function describeAnalytics(result: Result): string {
  const intervals = intervalsOf(result);
  if (intervals.length === 0) return "This run kept no analytics.";
  const most = (of: (interval: Interval) => number) => formatNumber(Math.max(...intervals.map(of)));
  return `At its busiest the server served ${most((i) => i.server_mib_per_s)} MiB/s with ${most((i) => i.cores_percent)}% of its cores; the busiest device was busy ${most((i) => i.device_percent)}% of an interval.`;
}

export function analytics(result: Result, { width }: { readonly width: number }): Element {
  const intervals = intervalsOf(result);
  if (intervals.length === 0) return html("p", { class: "empty" }, describeAnalytics(result));
  const end = intervals.at(-1)!.to_s;
  const element = html("div", { class: "analytics" });
  const server = { label: "served", meaning: "processor", value: (i: Interval) => i.server_mib_per_s } as const;
  const clients = {
    label: "seen by clients",
    meaning: "network",
    value: (i: Interval) => i.clients_mib_per_s,
    dash: "5 3",
  } as const;
  const cores = { label: "cores", meaning: "processor", value: (i: Interval) => i.cores_percent } as const;
  const busiest = {
    label: "busiest device",
    meaning: "disk",
    value: (i: Interval) => i.device_percent,
    dash: "5 3",
  } as const;
  element.append(
    lines(intervals, [server, clients], { width, end, label: "MiB/s" }),
    lines(intervals, [cores, busiest], { width, end, label: "busy, %", top: 100 }),
    strips(sharesOf(result, client), { width, end, label: "client", meaning: "network", unit: "MiB/s" }),
    strips(sharesOf(result, device), { width, end, label: "device", meaning: "disk", unit: "% busy" }),
  );
  return element;
}

interface Line {
  readonly label: string;
  readonly meaning: Meaning;
  readonly value: (interval: Interval) => number;
  readonly dash?: string;
}

interface Frame {
  readonly width: number;
  readonly end: number;
  readonly label: string;
}

function lines(
  intervals: readonly Interval[],
  all: readonly Line[],
  frame: Frame & { readonly top?: number },
): Element {
  const { width, end, label, top } = frame;
  const highest = top ?? 1.1 * Math.max(1, ...all.flatMap(({ value }) => intervals.map(value)));
  return draw({
    width,
    height: 130,
    marginLeft: 56,
    marginTop: 26,
    marginBottom: 22,
    ariaLabel: `${label} over time: ${all.map((line) => line.label).join(", ")}`,
    x: { domain: [0, end], label: null, ticks: 6 },
    y: { domain: [0, highest], label, labelArrow: "none", ticks: 3, grid: true },
    marks: [
      ...all.map(({ value, meaning, dash }) =>
        Plot.line(intervals, {
          x: (interval: Interval) => (interval.from_s + interval.to_s) / 2,
          y: value,
          stroke: stroke(meaning),
          strokeWidth: 2,
          ...(dash === undefined ? {} : { strokeDasharray: dash }),
        }),
      ),
      ...all.map(({ label: words, meaning, dash }, at) =>
        Plot.text([`${dash === undefined ? "—" : "- -"} ${words}`], {
          frameAnchor: "top-right",
          dy: -14,
          dx: -150 * (all.length - 1 - at),
          textAnchor: "end",
          fill: ink(meaning),
        }),
      ),
    ],
  });
}

function strips(
  shares: readonly Share[],
  frame: Frame & { readonly meaning: Meaning; readonly unit: string },
): Element {
  const { width, end, label, meaning, unit } = frame;
  const rows = Math.max(0, ...shares.map(({ who }) => who)) + 1;
  const most = Math.max(1e-9, ...shares.map(({ value }) => value));
  return draw({
    width,
    height: 48 + Math.min(160, Math.max(24, rows * 4)),
    marginLeft: 56,
    marginTop: 22,
    marginBottom: 26,
    ariaLabel: `Each ${label} over time; the darkest cell is ${formatNumber(most)} ${unit}`,
    x: { domain: [0, end], label: "time, s", labelArrow: "none", ticks: 6 },
    y: { domain: [rows, 0], label: `${label} (darkest: ${formatNumber(most)} ${unit})`, labelArrow: "none", ticks: 3 },
    marks: [
      Plot.rect(shares, {
        x1: "from_s",
        x2: "to_s",
        y1: "who",
        y2: (share: Share) => share.who + 1,
        fill: stroke(meaning),
        fillOpacity: (share: Share) => share.value / most,
        title: (share: Share) =>
          `${label} ${share.who}, ${share.from_s.toFixed(2)} to ${share.to_s.toFixed(2)} s: ${formatNumber(share.value)} ${unit}`,
      }),
    ],
  });
}

export const analyticsChart: Chart = {
  name: "analytics",
  title: "Analytics",
  hides:
    "Sums over an interval, as a server counts them. Hides the network and the client: time before a request's last frame arrives and after its reply leaves.",
  suits: ({ record }) => record?.analytics === true,
  draw: ({ result }, width) => analytics(result, { width }),
  describe: describeAnalytics,
  table: ({ result }) =>
    resultTable({
      caption: "Work of the server in each interval, and the clients' view",
      rows: intervalsOf(result),
      columns: [
        { title: "from, s", value: (row) => row.from_s.toFixed(2) },
        { title: "served/s", value: (row) => formatNumber(row.server_ios) },
        { title: "MiB/s", value: (row) => formatNumber(row.server_mib_per_s) },
        { title: "mean, ms", value: (row) => formatNumber(row.server_ms) },
        { title: "cores, %", value: (row) => formatNumber(row.cores_percent) },
        { title: "seen/s", value: (row) => formatNumber(row.clients_ios) },
        { title: "MiB/s", value: (row) => formatNumber(row.clients_mib_per_s) },
        { title: "mean, ms", value: (row) => formatNumber(row.clients_ms) },
        { title: "busiest device, %", value: (row) => formatNumber(row.device_percent) },
      ],
    }),
};
