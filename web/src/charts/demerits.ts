/**
 * Errors of two simulators on the same drives, each drive a row: ours as a dot, DiskSim's as a ring, the limit as a bar; and ours
 * of reads and of writes judged apart, as triangles that point up and down, since in the whole they hide each other.
 */
import { ink } from "../base/colours.ts";
import { draw, Plot } from "./plot.ts";

export interface MeasuredDrive {
  readonly id: string;
  readonly title: string;
  readonly disksim_percent: number;
  readonly limit_percent: number;
  readonly measured: {
    readonly mean_ms: number;
    readonly requests: number;
    readonly percent: number;
    readonly reads: number;
    readonly reads_percent: number;
    readonly reads_bias_ms: number;
    readonly writes: number;
    readonly writes_percent: number;
    readonly writes_bias_ms: number;
  };
}

export function demerits(drives: readonly MeasuredDrive[], { width }: { readonly width: number }): Element {
  const most = Math.max(
    ...drives.flatMap((drive) => [
      drive.disksim_percent,
      drive.limit_percent,
      drive.measured.reads_percent,
      drive.measured.writes_percent,
    ]),
  );
  const alone = { y: "title", r: 4, stroke: ink("disk"), strokeWidth: 1.4 };
  return draw({
    width,
    height: 40 + 30 * drives.length,
    marginLeft: width < 480 ? 130 : 160,
    marginRight: 20,
    marginTop: 8,
    marginBottom: 36,
    ariaLabel:
      "Demerit of each measured drive for this engine and DiskSim, with the limit, and for reads and writes separately; the table has the numbers",
    x: {
      label: "demerit, % of the mean service time",
      labelArrow: "none",
      labelAnchor: "center",
      domain: [0, most * 1.05],
      grid: true,
    },
    y: { label: null, domain: drives.map(({ title }) => title), padding: 0.4, tickSize: 0 },
    marks: [
      Plot.tickX(drives, { x: "limit_percent", y: "title", stroke: "var(--ink-soft)", strokeWidth: 1.5 }),
      Plot.dot(drives, { x: "disksim_percent", y: "title", r: 6, stroke: "var(--ink)", strokeWidth: 1.2 }),
      Plot.dot(drives, { ...alone, x: (drive: MeasuredDrive) => drive.measured.reads_percent, symbol: "triangle" }),
      Plot.dot(drives, {
        ...alone,
        x: (drive: MeasuredDrive) => drive.measured.writes_percent,
        symbol: "triangle",
        rotate: 180,
      }),
      Plot.dot(drives, { x: (drive: MeasuredDrive) => drive.measured.percent, y: "title", r: 3.5, fill: ink("disk") }),
    ],
  });
}
