/** Pieces of work that pass by: stays of requests, in the order of their begin. */
import type { Journeys } from "../../engine/journeys.ts";
import { firstFrom } from "./lookup.ts";

export interface Pieces {
  /** Numbers of the stays. */
  readonly stays: readonly number[];
  /** The request of a stay. */
  readonly rowOf: (stay: number) => number;
  /** How long they took, from the shortest to the longest. */
  readonly lengths: readonly number[];
  /** Those that were there at some time of a span. */
  within(from_ns: number, to_ns: number): Generator<number>;
}

export function piecesOf(journeys: Journeys, isShown: (stay: number) => boolean): Pieces {
  const stays: number[] = [];
  const rows: number[] = [];
  for (let row = 0; row < journeys.count; row++) {
    for (let stay = journeys.first[row]!; stay < journeys.first[row + 1]!; stay++) {
      if (!isShown(stay)) continue;
      stays.push(stay);
      rows[stay] = row;
    }
  }
  stays.sort((a, b) => journeys.from_ns[a]! - journeys.from_ns[b]!);
  const lengths = stays.map((stay) => journeys.to_ns[stay]! - journeys.from_ns[stay]!).toSorted((a, b) => a - b);
  const longest = lengths.at(-1) ?? 0;
  return {
    stays,
    rowOf: (stay) => rows[stay]!,
    lengths,
    *within(from_ns, to_ns) {
      const begin = firstFrom(stays.length, (nth) => journeys.from_ns[stays[nth]!]!, from_ns - longest);
      for (let nth = begin; nth < stays.length && journeys.from_ns[stays[nth]!]! <= to_ns; nth++) {
        if (journeys.to_ns[stays[nth]!]! >= from_ns) yield stays[nth]!;
      }
    },
  };
}

/** The marks of one object, in the order of time. */
export function marksOf(
  { time_ns, object, value }: ReturnType<Journeys["marks"]>,
  wanted: number,
): { readonly time: number; readonly value: number }[] {
  const found: { time: number; value: number }[] = [];
  time_ns.forEach((time, nth) => {
    if (object[nth] === wanted) found.push({ time, value: value[nth]! });
  });
  return found;
}
