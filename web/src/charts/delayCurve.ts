/**
 * The mechanism of the OpenZFS throttle: how long a write is delayed, and how many group writes are in flight, both by how
 * much is dirty. The dot is the moment on the stage; the faint dots are the rest of the run.
 */
import { fill, ink, stroke } from "../base/colours.ts";
import { formatBytes, formatNanos, formatNumber, formatTick } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";
import { html } from "../base/elements.ts";
import { powerTicks } from "./ticks.ts";

export interface CurveAt {
  readonly dirty_bytes: number;
  readonly value: number;
}

export interface DelayCurveOptions {
  readonly width: number;
  readonly most_bytes: number;
  /** The engine's own curves. */
  readonly delay_ns: readonly CurveAt[];
  readonly in_flight: readonly CurveAt[];
  /** Dirty data at the moment on the stage, and in the intervals of the run. */
  readonly now_bytes: number;
  readonly visited_bytes: readonly number[];
}

const margins = { marginLeft: 56, marginRight: 14 } as const;

/** Where to ask for the curves: dense near the limit, where the delay grows without bound. */
export function curvePoints(most_bytes: number): number[] {
  const shares = [
    ...Array.from({ length: 96 }, (_, nth) => nth / 100),
    ...Array.from({ length: 60 }, (_, nth) => 1 - 0.04 * 0.87 ** nth),
  ];
  const points = shares.map((share) => Math.min(most_bytes - 1, Math.floor(share * most_bytes)));
  return [...new Set(points)].toSorted((a, b) => a - b);
}

/** A curve between its points. */
export function valueAt(curve: readonly CurveAt[], dirty_bytes: number): number {
  const after = curve.findIndex((point) => point.dirty_bytes >= dirty_bytes);
  if (after < 0) return curve.at(-1)?.value ?? 0;
  const [low, high] = [curve[Math.max(0, after - 1)]!, curve[after]!];
  const span = high.dirty_bytes - low.dirty_bytes;
  return span === 0 ? high.value : low.value + ((dirty_bytes - low.dirty_bytes) / span) * (high.value - low.value);
}

export function delayCurve(options: DelayCurveOptions): HTMLElement {
  const { width, most_bytes, delay_ns, in_flight, now_bytes, visited_bytes } = options;
  const share = (bytes: number) => (100 * bytes) / most_bytes;
  const x = { domain: [0, 100] as [number, number], ticks: [0, 20, 40, 60, 80, 100] };
  const floor_ns = 1e3;
  const delays = delay_ns.filter(({ value }) => value >= floor_ns);
  const now = { x: share(now_bytes), delay_ns: valueAt(delay_ns, now_bytes), in_flight: valueAt(in_flight, now_bytes) };
  const isDelayed = now.delay_ns > 0;
  const highest = Math.max(1e7, ...delays.map(({ value }) => value));
  const words = `${formatBytes(now_bytes)} dirty, ${formatNumber(now.x)}%: ${isDelayed ? formatNanos(now.delay_ns) : "no delay"}`;
  const inFlightWords = `${formatNumber(now.in_flight)} in flight`;
  const anchor = now.x > 55 ? "end" : "start";
  const visited = visited_bytes.map((bytes) => ({
    x: share(bytes),
    y: Math.max(floor_ns, valueAt(delay_ns, bytes)),
  }));
  return html(
    "div",
    { class: "stacked" },
    draw({
      ...margins,
      width,
      height: 230,
      marginTop: 26,
      marginBottom: 20,
      ariaLabel: `Delay of a write by the share of dirty data. At the moment shown: ${words}`,
      x: { ...x, label: null, tickFormat: () => "" },
      y: {
        type: "log",
        domain: [floor_ns, highest],
        label: "delay of a write",
        labelArrow: "none",
        ticks: powerTicks(floor_ns, highest),
        tickFormat: formatTick,
        grid: true,
      },
      marks: [
        Plot.line(delays, {
          x: (point: CurveAt) => share(point.dirty_bytes),
          y: "value",
          stroke: ink("delayed"),
          strokeWidth: 1.8,
        }),
        Plot.dot(visited, { x: "x", y: "y", r: 2.5, fill: "var(--ink)", fillOpacity: 0.15 }),
        Plot.dot([now], {
          x: "x",
          y: (point: typeof now) => Math.max(floor_ns, point.delay_ns),
          r: 5.5,
          fill: isDelayed ? fill("delayed") : stroke("memory"),
          stroke: "var(--ink)",
        }),
        Plot.text([now], {
          x: "x",
          y: (point: typeof now) => Math.max(floor_ns, point.delay_ns),
          text: () => words,
          textAnchor: anchor,
          dx: anchor === "end" ? -10 : 10,
          dy: -10,
          stroke: "var(--paper)",
          strokeWidth: 4,
          fill: "var(--ink)",
        }),
      ],
    }),
    draw({
      ...margins,
      width,
      height: 130,
      marginTop: 24,
      marginBottom: 36,
      ariaLabel: `Group writes in flight on each device by the share of dirty data. At the moment shown: ${inFlightWords}`,
      x: { ...x, label: "dirty data, % of the limit", labelArrow: "none" },
      y: {
        domain: [0, Math.max(1, ...in_flight.map(({ value }) => value)) * 1.15],
        label: "group writes in flight",
        labelArrow: "none",
        ticks: 3,
        grid: true,
      },
      marks: [
        Plot.line(in_flight, {
          x: (point: CurveAt) => share(point.dirty_bytes),
          y: "value",
          curve: "step-after",
          stroke: stroke("disk"),
          strokeWidth: 1.8,
        }),
        Plot.dot([now], { x: "x", y: "in_flight", r: 5.5, fill: stroke("disk"), stroke: "var(--ink)" }),
        Plot.text([now], {
          x: "x",
          y: "in_flight",
          text: () => inFlightWords,
          textAnchor: anchor,
          dx: anchor === "end" ? -10 : 10,
          dy: 14,
          stroke: "var(--paper)",
          strokeWidth: 4,
          fill: "var(--ink)",
        }),
      ],
    }),
  );
}
