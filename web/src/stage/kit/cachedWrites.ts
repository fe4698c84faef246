/** The writes to a drive with a cache, some of them past it: their rate over the run, as a curve and as text. */
import { formatNumber } from "../../base/format.ts";
import { timeWords } from "../scenes/words.ts";
import { curveOn, sumsOf } from "./curve.ts";
import type { Box } from "./picture.ts";

/** Rates in MB/s: `cached` into the cache, `direct` past it. */
interface Rates {
  readonly cached: number;
  readonly direct: number;
}

interface Interval extends Rates {
  readonly from_s: number;
  readonly to_s: number;
}

/** Where writes go. */
export const destinations = { cached: "into the cache", direct: "past the cache" } as const;

/** At the highest rate, this many squares pass in a second of the reader's time. */
const passing = 22;
/** The run plays for this long, so that the reader sees all of it before the opening stops. */
const playedFor_s = 5;

export function cachedWrites(intervals: readonly Interval[], plot: Box, end_s: number) {
  const rateOf = ({ cached, direct }: Rates) => cached + direct;
  const max = Math.max(1, ...intervals.map(rateOf));
  const curve = curveOn(plot, end_s, (rate) => rate / max);
  const goesPast = ({ cached, direct }: Rates) => direct > cached;
  const where = (rates: Rates) => (goesPast(rates) ? destinations.direct : destinations.cached);
  return {
    rateOf,
    goesPast,
    /** The MB that have been written by a moment. */
    written: sumsOf(intervals, (of) => rateOf(of) * (of.to_s - of.from_s)),
    /** The MB that a moving square stands for. */
    perSquare: (speed: number) => (max * speed) / passing,
    words: (rates: Rates) => (rateOf(rates) > 0 ? `${formatNumber(rateOf(rates))} MB/s ${where(rates)}` : "no writes"),
    sentence: (rates: Rates) =>
      rateOf(rates) > 0 ? `${formatNumber(rateOf(rates))} MB/s are written, ${where(rates)}` : "no writes",
    dot: curve.dot.bind(curve),
    backdrop: (): readonly SVGElement[] => [
      curve.title("MB/s written"),
      curve.line(curve.levels(intervals, rateOf)),
      ...curve.axes(formatNumber(max), timeWords(end_s)),
    ],
    pace_ns: (end_s / playedFor_s) * 1e9,
  };
}
