/**
 * The result of a test for increasing amounts of one part, by the cost of the pool. Where the line is flat, money buys
 * nothing.
 */
import { stroke } from "../base/colours.ts";
import { formatNumber, groupThousands } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";

export interface CostPoint {
  /** Amount of the part, with its unit. */
  readonly part: string;
  readonly cost: number;
  readonly value: number;
  /** The most that any run of the test can give with it. */
  readonly most: number;
  /** Whether it is the pool that the page shows. */
  readonly isShown: boolean;
}

export interface CostCurveOptions {
  readonly width: number;
  readonly test: string;
  readonly unit: string;
  /** Sign before an amount; empty without a currency. */
  readonly currency: string;
}

const height = 260;

export function costCurve(points: readonly CostPoint[], options: CostCurveOptions): Element {
  const { width, test, unit, currency } = options;
  const drawn = points.toSorted((one, other) => one.cost - other.cost);
  const ends = [drawn[0], drawn.at(-1)].map((point) => (point === undefined ? "" : formatNumber(point.value)));
  const most = Math.max(...drawn.flatMap((point) => [point.value, point.most]), 1e-9);
  return draw({
    width,
    height,
    marginLeft: 64,
    marginRight: 28,
    marginTop: 30,
    marginBottom: 40,
    ariaLabel: `${test}, ${unit}, against what the pool costs: from ${ends[0]} to ${ends[1]}`,
    x: {
      label: currency === "" ? "the pool costs" : `the pool costs, ${currency}`,
      labelArrow: "none",
      nice: true,
      ticks: Math.max(2, Math.floor(width / 110)),
      tickFormat: (value: number) => groupThousands(Math.round(value)),
    },
    y: { label: `${test}, ${unit}`, labelArrow: "none", domain: [0, most * 1.08], ticks: 4, grid: true },
    marks: [
      Plot.line(drawn, { x: "cost", y: "most", stroke: stroke("waiting"), strokeDasharray: "4 3" }),
      Plot.line(drawn, { x: "cost", y: "value", stroke: "var(--ink)", strokeOpacity: 0.4 }),
      Plot.dot(drawn, {
        x: "cost",
        y: "value",
        r: 3.2,
        fill: "var(--ink)",
        title: ({ part, cost, value }: CostPoint) =>
          `${part}: ${formatNumber(value)} ${unit} for ${groupThousands(Math.round(cost))}`,
      }),
      Plot.text(drawn, { x: "cost", y: "value", text: "part", dy: 12, fill: "var(--ink)" }),
      Plot.dot(
        drawn.filter(({ isShown }) => isShown),
        { x: "cost", y: "value", r: 6.5, stroke: stroke("memory"), strokeWidth: 2 },
      ),
    ],
  });
}
