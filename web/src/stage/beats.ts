/**
 * Beats: the moments of a run at which its picture is explained, in a sentence each. A moment is found by a query over what the run
 * recorded, so that it cannot become stale; the site's build fails when a query finds nothing in the run that a page opens on.
 */
import type { Result } from "../engine/api.ts";
import { outagesOf } from "../charts/rows/outages.ts";
import { journeysOf, type Journeys, type MarkName, markNames } from "../engine/journeys.ts";

/** The nth of something, from 1; of marks and stays from the last one, -1, backwards as well. Without a number, the first. */
interface Nth {
  readonly nth?: number;
}

/** A row of a table whose value rises above a number or falls below it. */
interface ColumnQuery extends Nth {
  readonly column: string;
  readonly above?: number;
  readonly below?: number;
  /** The value first reaches this share of the largest in the run; with `after_peak`, first falls to it after that. */
  readonly share?: number;
  readonly after_peak?: boolean;
}

export type Query =
  | ColumnQuery
  /** A mark of the journeys. */
  | ({ readonly mark: MarkName } & Nth)
  /** A stay of a request in a phase; `end` is when it is over. */
  | ({ readonly phase: string; readonly end?: boolean } & Nth)
  /** The request that took longest, or the first one; `end` is when it is done. */
  | { readonly request: "slowest" | "first"; readonly end?: boolean }
  /** An outage of a fleet, or one that lost data: on the clock on which each takes a second. */
  | { readonly outage: "any" | "lossy"; readonly nth?: number }
  /** The start or the end of the run. */
  | { readonly run: "start" | "end" };

/** The number that an incident is about. */
export interface DialSpec {
  readonly metric: string;
  readonly label: string;
  /** What the number is where nothing is wrong: in another variant. The site's build adds the value. */
  readonly normal?: { readonly label: string; readonly variant: string; readonly value?: number };
}

/** What `web/beats/` holds of a case. */
export interface Explanation {
  readonly dial?: DialSpec;
  /** Paths of controls that change nothing in the run that the page opens on: they are offered in other runs. */
  readonly idle?: readonly string[];
  readonly steps: readonly Beat[];
}

export interface Beat {
  /** At most {@link mostWords} words. */
  readonly say: string;
  readonly from: Query;
  readonly to?: Query;
  /** Parts of the picture that the step is about, by the names of its scene; the rest is dimmed. */
  readonly look?: readonly string[];
  /** Seconds to begin before the first moment and to go on after the last one. */
  readonly before_s?: number;
  readonly after_s?: number;
}

export const mostWords = 14;
export const fewestSteps = 3;
/** How long an outage is shown. */
export const outage_ns = 1e9;

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
  if ("run" in query) return query.run === "start" ? 0 : result.summary.simulated_ns;
  if ("outage" in query) return momentOfOutage(result, query.outage === "lossy", query.nth ?? 1);
  if ("column" in query) return momentOfColumn(result, query);
  const journeys = journeysOf(result);
  if ("mark" in query) {
    if (!markNames.includes(query.mark))
      throw new Error(`"${query.mark}" is not a mark; known: ${markNames.join(", ")}`);
    return nthOf(journeys.marks(query.mark).time_ns, query.nth ?? 1);
  }
  if ("phase" in query) return momentOfPhase(journeys, query.phase, query.nth ?? 1, query.end === true);
  return momentOfRequest(journeys, query.request, query.end === true);
}

function momentOfOutage(result: Result, isLossy: boolean, nth: number): number | undefined {
  const places = outagesOf(result).flatMap(({ lost }, place) => (isLossy && lost.length === 0 ? [] : [place]));
  const place = places[nth - 1];
  return place === undefined ? undefined : place * outage_ns;
}

/** Names of a column that says when a row of its table was. */
const times = ["time_ns", "begin_ns", "from_ns", "issue_ns"];

function momentOfColumn(result: Result, query: ColumnQuery): number | undefined {
  const { column: name, above, below, share, after_peak = false, nth = 1 } = query;
  const values = result.columns[name];
  if (values === undefined) throw new Error(`the run has no column ${name}`);
  if (share !== undefined) {
    const row = rowOfShare(values, share, after_peak);
    return row < 0 ? undefined : timeOfRow(result, name, row, values.length);
  }
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

/** The first row that reaches a share of the largest value, or that falls to it after the largest; -1 for none. */
function rowOfShare(values: ArrayLike<number>, share: number, isAfterPeak: boolean): number {
  let peak = 0;
  for (let row = 1; row < values.length; row++) if (values[row]! > values[peak]!) peak = row;
  const level = share * (values[peak] ?? 0);
  for (let row = isAfterPeak ? peak + 1 : 0; row < values.length; row++) {
    if (isAfterPeak ? values[row]! <= level : values[row]! >= level) return row;
  }
  return -1;
}

function timeOfRow(result: Result, name: string, row: number, rows: number): number {
  const table = name.slice(0, name.indexOf("."));
  const time = times.map((column) => result.columns[`${table}.${column}`]).find((values) => values?.length === rows);
  // A table without times has a row for each of even intervals.
  return time?.[row] ?? (row / rows) * result.summary.simulated_ns;
}

function nthOf(list: ArrayLike<number>, nth: number): number | undefined {
  return list[nth < 0 ? list.length + nth : nth - 1];
}

function momentOfPhase(journeys: Journeys, phase: string, nth: number, isEnd: boolean): number | undefined {
  const stays: number[] = [];
  for (let stay = 0; stay < journeys.from_ns.length; stay++) if (journeys.phaseOf(stay) === phase) stays.push(stay);
  stays.sort((a, b) => journeys.from_ns[a]! - journeys.from_ns[b]!);
  const stay = nthOf(stays, nth);
  return stay === undefined ? undefined : (isEnd ? journeys.to_ns : journeys.from_ns)[stay];
}

function momentOfRequest(journeys: Journeys, which: "slowest" | "first", isEnd: boolean): number | undefined {
  let [best, most] = [-1, -Infinity];
  for (let row = 0; row < journeys.count; row++) {
    if (journeys.parent[row]! >= 0 || journeys.owner[row] !== 0) continue;
    const begin = journeys.begin_ns[row]!;
    const rank = which === "first" ? -begin : journeys.lastOf(row) - begin;
    if (rank > most) [best, most] = [row, rank];
  }
  if (best < 0) return undefined;
  return isEnd ? journeys.lastOf(best) : journeys.begin_ns[best];
}
