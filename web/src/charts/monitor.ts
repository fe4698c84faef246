/**
 * A monitor against the truth on one axis of time: above the rate, below the latency. The truth is the run's own series in
 * short intervals; the monitor has one point for each of its windows. One of the two disagrees, the other does not.
 */
import { ink, stroke } from "../base/colours.ts";
import { html } from "../base/elements.ts";
import { counted, formatNanos, formatNumber } from "../base/format.ts";
import { column, type Result } from "../engine/api.ts";
import type { Chart } from "./chart.ts";
import { draw, Plot, timeMargins } from "./plot.ts";
import { resultTable } from "./resultTable.ts";

/** One point of the monitor's chart. */
export interface MonitorWindow {
  readonly from_s: number;
  readonly to_s: number;
  readonly ios: number;
  readonly mib_per_s: number;
  /** 0 when nothing completed. */
  readonly latency_ms: number;
}

interface Moment {
  readonly from_s: number;
  readonly to_s: number;
  readonly mib_per_s: number;
  readonly latency_ms: number;
}

const mib = 2 ** 20;
const halo = { stroke: "var(--paper)", strokeWidth: 4, paintOrder: "stroke" } as const;

export function windowsOf(result: Result): readonly MonitorWindow[] {
  const of = (name: string) => column(result, `monitor.${name}`);
  const [from, to, ios, bytes, latency] = [of("from_ns"), of("to_ns"), of("ios"), of("bytes"), of("latency_mean_ms")];
  return Array.from(from, (start, row) => ({
    from_s: start / 1e9,
    to_s: to[row]! / 1e9,
    ios: ios[row]!,
    mib_per_s: bytes[row]! / mib / ((to[row]! - start) / 1e9),
    latency_ms: latency[row]!,
  }));
}

/** The window that holds most; the one a reader looks at. */
export function busiestOf(windows: readonly MonitorWindow[]): MonitorWindow | undefined {
  return windows.reduce<MonitorWindow | undefined>(
    (best, window) => (best === undefined || window.mib_per_s > best.mib_per_s ? window : best),
    undefined,
  );
}

/** The end of the axis of time, s. */
export function watchedUntil(windows: readonly MonitorWindow[]): number {
  return windows.at(-1)?.to_s ?? 1;
}

function truthOf(result: Result): readonly Moment[] {
  const of = (name: string) => column(result, `series.${name}`);
  const [time, reads, writes] = [of("time_ns"), of("reads"), of("writes")];
  const [readBytes, writeBytes] = [of("read_bytes"), of("write_bytes")];
  const [readMs, writeMs] = [of("read_latency_mean_ms"), of("write_latency_mean_ms")];
  const step_s = time.length > 1 ? (time[1]! - time[0]!) / 1e9 : result.summary.simulated_ns / 1e9;
  return Array.from(time, (start, row) => ({
    from_s: start / 1e9,
    to_s: start / 1e9 + step_s,
    mib_per_s: (readBytes[row]! + writeBytes[row]!) / mib / step_s,
    latency_ms: (reads[row]! * readMs[row]! + writes[row]! * writeMs[row]!) / Math.max(1, reads[row]! + writes[row]!),
  })).filter(({ mib_per_s }) => mib_per_s > 0);
}

export function describeMonitor(result: Result): string {
  const windows = windowsOf(result);
  const busy = windows.filter(({ ios }) => ios > 0);
  const first = windows[0];
  if (first === undefined) return "No monitor watches this run, or its window is longer than the watched time.";
  const truth = truthOf(result);
  const most = Math.max(0, ...truth.map(({ mib_per_s }) => mib_per_s));
  const each = busy.map(
    (window) =>
      `${formatNumber(window.mib_per_s)} MiB/s at ${formatNumber(window.latency_ms)} ms from ${formatNumber(window.from_s)} s`,
  );
  return (
    `Windows of ${formatNanos((first.to_s - first.from_s) * 1e9)}: the monitor shows ` +
    `${each.slice(0, 3).join(", ")}${each.length > 3 ? `, and ${each.length - 3} more` : ""}. In intervals of ` +
    `${formatNanos(((truth[0]?.to_s ?? 0) - (truth[0]?.from_s ?? 0)) * 1e9)} the rate reached ${formatNumber(most)} MiB/s.`
  );
}

/** A moment: what is true, and what the monitor's window says of it. */
function describeMoment(result: Result, time_s: number): string {
  const isAt = ({ from_s, to_s }: { from_s: number; to_s: number }) => from_s <= time_s && time_s < to_s;
  const truth = truthOf(result).find(isAt);
  const window = windowsOf(result).find(isAt);
  const now =
    truth === undefined
      ? "no requests"
      : `${formatNumber(truth.mib_per_s)} MiB/s at ${formatNumber(truth.latency_ms)} ms`;
  const said =
    window === undefined
      ? ""
      : ` For ${formatNumber(Math.max(0, window.from_s))} to ${formatNumber(window.to_s)} s the monitor shows ${formatNumber(window.mib_per_s)} MiB/s.`;
  return `${formatNumber(time_s)} s: ${now}.${said}`;
}

export function monitorTable(result: Result): HTMLTableElement {
  return resultTable({
    caption: "Points of the monitor",
    rows: windowsOf(result).slice(0, 500),
    columns: [
      { title: "from, s", value: (window) => formatNumber(window.from_s) },
      { title: "to, s", value: (window) => formatNumber(window.to_s) },
      { title: "requests", value: (window) => window.ios },
      { title: "MiB/s", value: (window) => formatNumber(window.mib_per_s) },
      { title: "latency, ms", value: (window) => (window.ios === 0 ? "–" : formatNumber(window.latency_ms)) },
    ],
  });
}

export function monitor(result: Result, width: number): HTMLElement {
  const figure = html("div", { class: "stacked" });
  const windows = windowsOf(result);
  if (windows.length === 0) {
    figure.append(html("p", { class: "empty" }, describeMonitor(result)));
    return figure;
  }
  const truth = truthOf(result);
  const busy = windows.filter(({ ios }) => ios > 0);
  const time = { domain: [0, watchedUntil(windows)] as [number, number] };
  const inside = (window: { from_s: number }) => Math.max(0, window.from_s);
  const rates = [...windows, ...truth].map(({ mib_per_s }) => mib_per_s);
  const top = Math.max(1, ...rates) * 1.15;
  const latencies = [...busy, ...truth].map(({ latency_ms }) => latency_ms).filter((ms) => ms > 0);
  const latency: [number, number] = [Math.min(1, ...latencies) / 1.5, Math.max(100, ...latencies) * 3];
  // Words on every window of a fine monitor would cover each other.
  const labelled = busy.length <= 4 ? busy : [];
  const label = (unit: string, value: (window: MonitorWindow) => number, y: (window: MonitorWindow) => number) =>
    Plot.text(labelled, {
      x: (window: MonitorWindow) => (inside(window) + Math.min(window.to_s, time.domain[1])) / 2,
      y,
      text: (window: MonitorWindow) => `${formatNumber(value(window))} ${unit}`,
      dy: -9,
      fontWeight: 600,
      fill: ink("fixed"),
      ...halo,
    });
  const monitorLine = (y: (window: MonitorWindow) => number, of: readonly MonitorWindow[]) =>
    Plot.link(of, {
      x1: inside,
      x2: "to_s",
      y1: y,
      y2: y,
      stroke: stroke("fixed"),
      strokeWidth: 2.5,
      strokeLinecap: "butt",
      title: (window: MonitorWindow) =>
        `${formatNumber(window.from_s)} to ${formatNumber(window.to_s)} s: ${counted(window.ios, "request")}, ` +
        `${formatNumber(window.mib_per_s)} MiB/s, ${formatNumber(window.latency_ms)} ms`,
    });
  figure.append(
    draw({
      ...timeMargins,
      width,
      height: 210,
      marginTop: 26,
      marginBottom: 8,
      ariaLabel: `Rate over time. ${describeMonitor(result)}`,
      x: { ...time, axis: null },
      y: { domain: [0, top], label: "MiB/s", labelArrow: "none", ticks: 4, grid: true },
      marks: [
        Plot.rectY(truth, {
          x1: "from_s",
          x2: "to_s",
          y: "mib_per_s",
          fill: stroke("disk"),
          fillOpacity: 0.75,
          shapeRendering: "crispEdges",
        }),
        monitorLine(({ mib_per_s }) => mib_per_s, windows),
        label(
          "MiB/s",
          ({ mib_per_s }) => mib_per_s,
          ({ mib_per_s }) => mib_per_s,
        ),
        Plot.ruleY([0]),
      ],
    }),
    draw({
      ...timeMargins,
      width,
      height: 190,
      marginTop: 26,
      marginBottom: 38,
      ariaLabel: "Latency over time: the monitor's values and the actual ones agree",
      x: { ...time, label: "time, s", labelArrow: "none", ticks: 6 },
      y: {
        type: "log",
        domain: latency,
        label: "latency, ms",
        labelArrow: "none",
        ticks: [0.1, 1, 10, 100, 1000].filter((ms) => ms >= latency[0] && ms <= latency[1]),
        tickFormat: (ms: number) => String(ms),
        grid: true,
      },
      marks: [
        Plot.rect(truth, {
          x1: "from_s",
          x2: "to_s",
          y1: () => latency[0],
          y2: "latency_ms",
          fill: stroke("disk"),
          fillOpacity: 0.75,
          shapeRendering: "crispEdges",
        }),
        monitorLine(({ latency_ms }) => latency_ms, busy),
        label(
          "ms",
          ({ latency_ms }) => latency_ms,
          ({ latency_ms }) => latency_ms,
        ),
      ],
    }),
    html(
      "p",
      { class: "quiet note" },
      html("b", { style: `color:${ink("disk")}` }, "Filled"),
      ": actual values, in intervals of 100 ms. ",
      html("b", {}, "Lines"),
      ": the monitor's points, one for each window.",
    ),
  );
  return figure;
}

export const monitorChart: Chart = {
  name: "monitor",
  title: "Monitor",
  hides: "Rate by time, latency by request. Hides when requests arrived and when there were none.",
  suits: ({ monitor: spec }) => spec !== undefined,
  draw: ({ result }, width) => monitor(result, width),
  describe: describeMonitor,
  moment: describeMoment,
  end_s: (result) => watchedUntil(windowsOf(result)),
  table: ({ result }) => monitorTable(result),
};
