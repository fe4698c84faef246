/**
 * Service times of a drive, simulated beside measured, for one class of requests: how they are distributed, and how far
 * apart they are at equal rank. The demerit is the root mean square of the second over the mean of the first.
 */
import type { DriveAgreement } from "../engine/types.ts";
import { ink } from "../base/colours.ts";
import { formatNumber } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";
import { html } from "../base/elements.ts";

export interface ServiceTimesOptions {
  readonly op: "read" | "write";
  readonly width: number;
  /** End of the axis of times, the same for both classes. */
  readonly longest_ms: number;
}

/** One rank of a class: the share of requests that take at most so long. */
export interface Rank {
  readonly percent: number;
  readonly simulated_ms: number;
  readonly measured_ms: number;
}

const points = 240;
const margins = { marginLeft: 48, marginRight: 14 } as const;

/** Ranks of a class, evenly spaced: enough to draw, not one for each request. */
export function ranksOf(times: NonNullable<DriveAgreement["times"]>, op: "read" | "write"): Rank[] {
  const sorted = (values: readonly number[]) =>
    values.filter((_, at) => times.is_write[at] === (op === "write")).toSorted((a, b) => a - b);
  const [simulated, measured] = [sorted(times.simulated_us), sorted(times.measured_us)];
  const last = simulated.length - 1;
  if (last < 0) return [];
  const count = Math.min(points, last + 1);
  return Array.from({ length: count }, (_, nth) => {
    const at = count === 1 ? 0 : Math.round((nth * last) / (count - 1));
    return {
      percent: (100 * (at + 1)) / (last + 1),
      simulated_ms: simulated[at]! / 1000,
      measured_ms: measured[at]! / 1000,
    };
  });
}

export function serviceTimes(agreement: DriveAgreement, options: ServiceTimesOptions): HTMLElement {
  const { op, width, longest_ms } = options;
  const ranks = agreement.times === undefined ? [] : ranksOf(agreement.times, op);
  if (ranks.length === 0) return html("p", { class: "empty" }, `This trace has no ${op}s.`);
  const of = agreement[op];
  const x = { domain: [0, longest_ms] as [number, number] };
  const furthest = Math.max(0.5, ...ranks.map(({ simulated_ms, measured_ms }) => Math.abs(simulated_ms - measured_ms)));
  const percent = [0, 25, 50, 75, 100];
  return html(
    "div",
    { class: "stacked" },
    draw({
      ...margins,
      width,
      height: 210,
      marginTop: 24,
      marginBottom: 18,
      ariaLabel: `Share of ${op}s by service time. Mean ${formatNumber(of.mean_ms)} ms simulated, ${formatNumber(of.measured_mean_ms)} ms in the trace`,
      x: { ...x, label: null, tickFormat: () => "" },
      y: { domain: [0, 100], ticks: percent, grid: true, label: `${op}s done by then, %`, labelArrow: "none" },
      marks: [
        Plot.line(ranks, {
          x: "measured_ms",
          y: "percent",
          stroke: "var(--ink)",
          strokeWidth: 3.5,
          strokeOpacity: 0.35,
        }),
        Plot.line(ranks, { x: "simulated_ms", y: "percent", stroke: ink("disk"), strokeWidth: 1.5 }),
      ],
    }),
    draw({
      ...margins,
      width,
      height: 120,
      marginTop: 20,
      marginBottom: 34,
      ariaLabel: `Simulated minus measured at equal rank: root mean square ${formatNumber(of.rms_ms)} ms, ${formatNumber(100 * of.demerit)}% of the mean`,
      x: { ...x, label: `service time of ${op}s, ms`, labelArrow: "none", labelAnchor: "center" },
      y: {
        domain: [-furthest, furthest],
        ticks: 3,
        grid: true,
        label: "simulated minus measured, ms",
        labelArrow: "none",
        tickFormat: (value: number) => (value > 0 ? `+${value}` : String(value).replace("-", "−")),
      },
      marks: [
        Plot.ruleY([0], { stroke: "var(--rule-strong)" }),
        Plot.areaY(ranks, {
          x: "measured_ms",
          y1: 0,
          y2: (rank: Rank) => rank.simulated_ms - rank.measured_ms,
          fill: ink("disk"),
          fillOpacity: 0.25,
        }),
        Plot.line(ranks, {
          x: "measured_ms",
          y: (rank: Rank) => rank.simulated_ms - rank.measured_ms,
          stroke: ink("disk"),
          strokeWidth: 1.2,
        }),
      ],
    }),
  );
}
