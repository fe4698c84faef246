/**
 * The limit of a rate by a count, such as cores or shards: a line, the ceiling of another part as a ruler, and the
 * measured run on the stage as a dot.
 */
import type { Op } from "../generated/answers.ts";
import { ink, type Meaning, stroke } from "../base/colours.ts";
import { formatNumber } from "../base/format.ts";
import { draw, Plot } from "./plot.ts";

export interface CountLimit {
  readonly width: number;
  readonly marginLeft: number;
  readonly op: Op;
  /** The thing that is counted, such as “cores”. */
  readonly of: string;
  /** The part that serves the requests, such as “the server”. */
  readonly who: string;
  /** The run on the stage: how many it has, and its rate. */
  readonly run: { readonly count: number; readonly rate: number };
  /** The line ends here. */
  readonly most: number;
  /** Requests a second of so many. */
  readonly limit: (count: number) => number;
  /** Another part's ceiling, which is drawn where it is in sight. */
  readonly ceiling: {
    readonly rate: number;
    readonly words: string;
    readonly meaning: Meaning;
    readonly side: "left" | "right";
  };
  /** Marks each point of the line. */
  readonly hasMarkers?: boolean;
}

export function countLimit(options: CountLimit): Element {
  const { width, marginLeft, op, of, who, run, most, limit, ceiling, hasMarkers = false } = options;
  const points = Array.from({ length: most }, (_, at) => ({ count: at + 1, rate: limit(at + 1) }));
  const top = 1.15 * Math.max(run.rate, ...points.map((point) => point.rate));
  const rulers = ceiling.rate <= top ? [ceiling.rate] : [];
  const rate = formatNumber(run.rate);
  return draw({
    width,
    height: 250,
    marginLeft,
    marginTop: 26,
    marginBottom: 36,
    marginRight: 16,
    ariaLabel: `${op}s a second that ${who} can do, against its ${of}. This run: ${rate} with ${run.count}.`,
    x: { label: of, labelArrow: "none", domain: [0, most], ticks: 6 },
    y: { label: `${op}s/s`, labelArrow: "none", domain: [0, top], ticks: 5, grid: true },
    marks: [
      Plot.ruleY(rulers, { stroke: stroke(ceiling.meaning), strokeDasharray: "3 3" }),
      Plot.text(rulers, {
        y: (value: number) => value,
        frameAnchor: ceiling.side,
        textAnchor: ceiling.side === "left" ? "start" : "end",
        dx: ceiling.side === "left" ? 6 : 0,
        dy: -8,
        text: () => ceiling.words,
        fill: ink(ceiling.meaning),
      }),
      Plot.line(points, {
        x: "count",
        y: "rate",
        stroke: "var(--ink)",
        strokeWidth: 1.5,
        marker: hasMarkers ? "circle" : "none",
      }),
      Plot.dot([run], { x: "count", y: "rate", r: 6, fill: stroke("processor"), stroke: "var(--paper)" }),
      Plot.text([run], {
        x: "count",
        y: "rate",
        dy: 18,
        dx: 6,
        textAnchor: "start",
        fill: ink("processor"),
        text: () => `${rate} ${op}s/s`,
      }),
    ],
  });
}
