/**
 * A fitted model against the measured jobs: each job is a mark, simulated over measured, on the diagonal if both agree.
 */
import { ink } from "../base/colours.ts";
import { formatNumber } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";

export interface JudgedJob {
  readonly job: string;
  readonly held_out: boolean;
  readonly mean_us: number;
  readonly simulated_mean_us: number;
  readonly p99_us: number;
  readonly simulated_p99_us: number;
}

export interface MeasuredSimulatedOptions {
  readonly width: number;
  readonly quantity: "mean" | "p99";
}

const titles = { mean: "Mean latency", p99: "99th percentile" } as const;

export function measuredSimulated(jobs: readonly JudgedJob[], { width, quantity }: MeasuredSimulatedOptions): Element {
  const points = jobs.map((one) => {
    const [measured, simulated] =
      quantity === "mean" ? [one.mean_us, one.simulated_mean_us] : [one.p99_us, one.simulated_p99_us];
    const words = `${one.job}: measured ${formatNumber(measured)} µs, simulated ${formatNumber(simulated)} µs`;
    return { measured, simulated, words, held_out: one.held_out };
  });
  const every = points.flatMap(({ measured, simulated }) => [measured, simulated]);
  const low = 10 ** Math.floor(Math.log10(Math.min(...every)));
  const high = Math.max(10 * low, 10 ** Math.ceil(Math.log10(Math.max(...every))));
  const axis = { type: "log", domain: [low, high], grid: true, labelArrow: "none", labelAnchor: "center" } as const;
  return draw({
    width,
    height: Math.round(width * 0.9),
    marginLeft: 64,
    marginRight: 16,
    marginTop: 16,
    marginBottom: 44,
    ariaLabel: `${titles[quantity]} of ${jobs.length} jobs, simulated over measured; the table has the numbers`,
    x: { ...axis, label: "measured, µs", tickFormat: formatNumber, ticks: decades(low, high) },
    y: { ...axis, label: "simulated, µs", tickFormat: formatNumber, ticks: decades(low, high) },
    marks: [
      Plot.link([null], { x1: low, y1: low, x2: high, y2: high, stroke: "var(--ink-soft)" }),
      Plot.dot(
        points.filter(({ held_out: isHeldOut }) => !isHeldOut),
        { x: "measured", y: "simulated", r: 4, stroke: ink("memory"), strokeWidth: 1.5, title: "words" },
      ),
      Plot.dot(
        points.filter(({ held_out: isHeldOut }) => isHeldOut),
        { x: "measured", y: "simulated", r: 5, symbol: "diamond", fill: ink("disk"), title: "words" },
      ),
    ],
  });
}

/** Powers of ten, every other one when there are many. */
function decades(low: number, high: number): number[] {
  const [first, last] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  const step = last - first > 5 ? 2 : 1;
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, at) => 10 ** (first + at * step));
}
