/** One metric against one control: a dot for each run of a sweep, and a ring around the value that the page shows. */
import { ink, stroke } from "../base/colours.ts";
import { formatNumber, formatSetting, formatValue, trimZeros } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";

export interface SweepPoint {
  readonly value: number;
  /** The metric; NaN where the run lacks it. */
  readonly metric: number;
}

export interface SweepChartOptions {
  readonly width: number;
  readonly control: string;
  readonly controlUnit: string | null | undefined;
  readonly isLog: boolean;
  readonly domain: readonly [number, number];
  readonly metric: string;
  readonly metricUnit: string;
  readonly now: number | undefined;
  /** The curve that the reader predicted before the sweep. */
  readonly expected?: readonly SweepPoint[] | undefined;
}

/** Above this ratio a time is drawn on a log axis. */
const wideRatio = 5;
const times = new Set(["ms", "s", "us", "ns"]);

/** `odx.read_latency_mean_ms` in words, without job and unit. */
export function metricWords(name: string, unit: string): string {
  const own = name.slice(name.indexOf(".") + 1);
  const suffix = unit === "%" ? "_percent" : `_${unit.replaceAll("/", "_per_").toLowerCase()}`;
  return (own.toLowerCase().endsWith(suffix) ? own.slice(0, -suffix.length) : own).replaceAll("_", " ");
}

export function sweepChart(points: readonly SweepPoint[], options: SweepChartOptions): Element {
  const { width, control, controlUnit, isLog, domain, metric, metricUnit, now, expected = [] } = options;
  const drawn = points.filter(({ metric: value }) => Number.isFinite(value));
  const values = [...drawn, ...expected].map((point) => point.metric);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const isLogY = times.has(metricUnit) && least > 0 && most / least > wideRatio;
  const words = metricWords(metric, metricUnit);
  const ends =
    drawn.length === 0
      ? "no run yet"
      : `from ${formatValue(drawn[0]!.metric, metricUnit)} to ${formatValue(drawn.at(-1)!.metric, metricUnit)}`;
  const most_ticks = Math.max(3, Math.floor(width / 85));
  const isBinary = controlUnit === "B" || controlUnit === "B/s";
  const base = isBinary ? 2 : 10;
  const x = isLog
    ? { type: "log" as const, base, ticks: powers(domain, base, most_ticks) }
    : { ticks: isBinary ? binarySteps(domain, most_ticks) : most_ticks };
  return draw({
    width,
    height: 200,
    marginLeft: 56,
    marginRight: 20,
    marginTop: 26,
    marginBottom: 38,
    ariaLabel: `${words} against ${control}: ${ends}`,
    x: {
      ...x,
      domain: [...domain],
      label: control,
      labelArrow: "none",
      tickFormat: (value: number) => formatSetting(value, controlUnit),
    },
    y: {
      ...(isLogY ? { type: "log" as const } : { domain: [Math.min(0, least), most > 0 ? most * 1.05 : 1] }),
      label: metricUnit === "" ? words : `${words}, ${metricUnit}`,
      labelArrow: "none",
      ticks: isLogY ? powers([least, most], most / least > 30 ? 10 : 2, 4) : 4,
      tickFormat: (value: number) => trimZeros(formatNumber(value)),
      grid: true,
    },
    marks: [
      Plot.line(expected, {
        x: "value",
        y: "metric",
        stroke: stroke("memory"),
        strokeWidth: 2,
        strokeDasharray: "5 4",
      }),
      Plot.text(expected.slice(-1), {
        x: "value",
        y: "metric",
        text: () => "yours",
        fill: ink("memory"),
        textAnchor: "end",
        dy: -9,
      }),
      Plot.line(drawn, { x: "value", y: "metric", stroke: "var(--ink)", strokeOpacity: 0.4 }),
      Plot.dot(drawn, {
        x: "value",
        y: "metric",
        r: 3.2,
        fill: "var(--ink)",
        title: (point: SweepPoint) =>
          `${formatSetting(point.value, controlUnit)}: ${formatValue(point.metric, metricUnit)}`,
      }),
      Plot.dot(
        drawn.filter(({ value }) => value === now),
        { x: "value", y: "metric", r: 6.5, stroke: stroke("memory"), strokeWidth: 2 },
      ),
    ],
  });
}

/** The whole powers of a base over a range, few enough to be read. */
function powers([low, high]: readonly [number, number], base: number, most: number): number[] {
  const step = Math.log(base);
  const first = Math.ceil(Math.log(low) / step - 1e-9);
  const count = Math.floor(Math.log(high) / step + 1e-9) - first + 1;
  const every = Math.max(1, Math.ceil(count / most));
  return Array.from({ length: Math.ceil(count / every) }, (_, nth) => base ** (first + nth * every));
}

/** Steps of a round number of binary units. */
function binarySteps([low, high]: readonly [number, number], most: number): number[] {
  const step = 2 ** Math.ceil(Math.log2((high - low) / most));
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, nth) => (first + nth) * step);
}
