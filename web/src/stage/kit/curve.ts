/** The curve of an amount over a run, beside a picture that shows one moment of it: axes, levels, and a dot for the moment. */
import { svg } from "../../base/elements.ts";
import { disc, arc } from "./drawing.ts";
import { textAt, type Box } from "./picture.ts";
import type { Frame } from "../scenes/scene.ts";

/** A piece of the run, in seconds. */
interface Interval {
  readonly from_s: number;
  readonly to_s: number;
}

/** The number of the interval that a moment lies in, and what share of that is over. */
interface Moment {
  readonly nth: number;
  readonly share: number;
}

/** Return the interval of a moment. All intervals have the same length, except perhaps the last. */
export function momentOf(intervals: readonly Interval[], time_s: number): Moment {
  const each_s = intervals[0]?.to_s ?? 0;
  if (each_s === 0) return { nth: 0, share: 0 }; // a run's first picture is of no time yet
  const nth = Math.max(0, Math.min(intervals.length - 1, Math.floor(time_s / each_s)));
  const { from_s, to_s } = intervals[nth]!;
  return { nth, share: to_s > from_s ? Math.max(0, Math.min(1, (time_s - from_s) / (to_s - from_s))) : 0 };
}

/** Return the sums up to a moment, when each interval adds an amount. */
export function sumsOf<Of extends Interval>(
  intervals: readonly Of[],
  amount: (of: Of) => number,
): (moment: Moment) => number {
  const sums = new Float64Array(intervals.length + 1);
  intervals.forEach((of, nth) => (sums[nth + 1] = sums[nth]! + amount(of)));
  return ({ nth, share }) => sums[nth]! + ((sums[nth + 1] ?? sums[nth]!) - sums[nth]!) * share;
}

/** A curve on a plot, over a run of `end_s`; `share` says how high an amount stands, from 0 to 1. */
export function curveOn(plot: Box, end_s: number, share: (amount: number) => number) {
  const right = plot.x + plot.width;
  const bottom = plot.y + plot.height;
  const x = (time_s: number) => plot.x + (end_s > 0 ? time_s / end_s : 0) * plot.width;
  const y = (amount: number) => plot.y + plot.height * (1 - share(amount));
  const ending = (x: number, y: number, words: string) => textAt(x, y, words, "soft", "end");
  /** End of the time axis. */
  const end = (words: string) => ending(right, bottom + 18, words);

  return {
    x,
    y,
    end,

    /** The path of an amount that stays the same in each interval. */
    levels<Of extends Interval>(intervals: readonly Of[], amount: (of: Of) => number): string {
      return intervals
        .map((of, nth) => {
          const level = y(amount(of)).toFixed(1);
          return `${nth === 0 ? "M" : "L"}${x(of.from_s).toFixed(1)} ${level}L${x(Math.min(end_s, of.to_s)).toFixed(1)} ${level}`;
        })
        .join("");
    },

    line: (d: string) => svg("path", { d, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5 }),

    title: (words: string) => textAt(plot.x, plot.y - 14, words, "soft"),

    /** Both axes, with the labels at the top of the one and at the end of the other. */
    axes: (most: string, last: string): readonly SVGElement[] => [
      svg("path", { d: `M${plot.x} ${plot.y}V${bottom}H${right}`, class: "outline" }),
      ending(plot.x - 4, plot.y + 4, most),
      ending(plot.x - 4, bottom + 4, "0"),
      end(last),
    ],

    /** Where the run is at the moment. */
    dot(frame: Frame, time_s: number, amount: number): void {
      disc(frame, x(time_s), y(amount), 6, "delayed");
      arc(frame, { x: x(time_s), y: y(amount), radius: 6 }, "ink", 1.5);
    },
  };
}
