/**
 * Beats: the moments of a run at which its picture is explained, in a sentence each. A moment is found by a query over what the run
 * recorded, so that it cannot become stale; the site's build fails when a query finds nothing in the run that a page opens on.
 */
import type { Result } from "../engine/api.ts";
import { journeysOf, type Journeys, type MarkName, markNames } from "../engine/journeys.ts";

/** The nth of something, from 1. Without a number, the first. */
interface Nth {
  readonly nth?: number;
}

/** A row of a table whose value rises above a number or falls below it. */
interface ColumnQuery extends Nth {
  readonly column: string;
  readonly above?: number;
  readonly below?: number;
}

export type Query =
  | ColumnQuery
  /** A mark of the journeys. */
  | ({ readonly mark: MarkName } & Nth)
  /** A stay of a request in a phase; `end` is when it is over. */
  | ({ readonly phase: string; readonly end?: boolean } & Nth)
  /** The request that took longest; `end` is when it is done. */
  | { readonly request: "slowest"; readonly end?: boolean }
  /** A moment counted from the start, for a run in which nothing happens but what the clock says. */
  | { readonly at_s: number };

export interface Beat {
  /** At most {@link mostWords} words. */
  readonly say: string;
  readonly from: Query;
  readonly to?: Query;
  /** Seconds to begin before the first moment and to go on after the last one. */
  readonly before_s?: number;
  readonly after_s?: number;
}

export const mostWords = 14;

export interface Span {
  readonly from_ns: number;
  readonly to_ns: number;
}

/** The part of the run that a beat plays; undefined if the run has no such moment. */
export function spanOf(result: Result, { from, to = from, before_s = 0, after_s = 0 }: Beat): Span | undefined {
  const [begin, end] = [momentOf(result, from), momentOf(result, to)];
  if (begin === undefined || end === undefined || end < begin) return undefined;
  const last = result.summary.simulated_ns;
  return { from_ns: Math.max(0, begin - before_s * 1e9), to_ns: Math.min(last, end + after_s * 1e9) };
}

function momentOf(result: Result, query: Query): number | undefined {
  if ("at_s" in query) return query.at_s * 1e9 <= result.summary.simulated_ns ? query.at_s * 1e9 : undefined;
  if ("column" in query) return momentOfColumn(result, query);
  const journeys = journeysOf(result);
  if ("mark" in query) {
    if (!markNames.includes(query.mark))
      throw new Error(`"${query.mark}" is not a mark; known: ${markNames.join(", ")}`);
    return journeys.marks(query.mark).time_ns[(query.nth ?? 1) - 1];
  }
  if ("phase" in query) return momentOfPhase(journeys, query.phase, query.nth ?? 1, query.end === true);
  return momentOfSlowest(journeys, query.end === true);
}

/** Names of a column that says when a row of its table was. */
const times = ["time_ns", "begin_ns", "from_ns", "issue_ns"];

function momentOfColumn(result: Result, { column: name, above, below, nth = 1 }: ColumnQuery): number | undefined {
  const values = result.columns[name];
  if (values === undefined) throw new Error(`the run has no column ${name}`);
  const isMeant = (value: number | undefined) =>
    value !== undefined && (above === undefined || value > above) && (below === undefined || value < below);
  let found = 0;
  for (let row = 0; row < values.length; row++) {
    // A value that stays beyond the number is one moment.
    if (!isMeant(values[row]) || (row > 0 && isMeant(values[row - 1]) && !name.endsWith("_ns"))) continue;
    found += 1;
    if (found === nth) return name.endsWith("_ns") ? values[row] : timeOfRow(result, name, row, values.length);
  }
  return undefined;
}

function timeOfRow(result: Result, name: string, row: number, rows: number): number {
  const table = name.slice(0, name.indexOf("."));
  const time = times.map((column) => result.columns[`${table}.${column}`]).find((values) => values?.length === rows);
  // A table without times has a row for each of even intervals.
  return time?.[row] ?? (row / rows) * result.summary.simulated_ns;
}

function momentOfPhase(journeys: Journeys, phase: string, nth: number, isEnd: boolean): number | undefined {
  const stays: number[] = [];
  for (let stay = 0; stay < journeys.from_ns.length; stay++) if (journeys.phaseOf(stay) === phase) stays.push(stay);
  stays.sort((a, b) => journeys.from_ns[a]! - journeys.from_ns[b]!);
  const stay = stays[nth - 1];
  return stay === undefined ? undefined : (isEnd ? journeys.to_ns : journeys.from_ns)[stay];
}

function momentOfSlowest(journeys: Journeys, isEnd: boolean): number | undefined {
  let [best, most] = [-1, -1];
  for (let row = 0; row < journeys.count; row++) {
    const took = journeys.lastOf(row) - journeys.begin_ns[row]!;
    if (journeys.parent[row]! < 0 && journeys.owner[row] === 0 && took > most) [best, most] = [row, took];
  }
  if (best < 0) return undefined;
  return isEnd ? journeys.lastOf(best) : journeys.begin_ns[best];
}
