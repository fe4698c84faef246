/** The visits of transactions to the logs of a database, and the flushes that they shared, out of the journeys of a run. */
import type { Result } from "../../engine/api.ts";
import { below, type Journeys, layerNames } from "../../engine/journeys.ts";

/** A transaction at a log: since when it waits, and when the flush that is for it begins and ends. */
export interface Visit {
  readonly log: number;
  /** The stage that it is at, from 0. */
  readonly stage: number;
  readonly came_ns: number;
  readonly from_ns: number;
  readonly to_ns: number;
}

/** A flush of a log, and for how many transactions it was. */
export interface Flush {
  readonly from_ns: number;
  readonly to_ns: number;
  readonly count: number;
}

export interface Commits {
  /** The names of the logs. */
  readonly logs: readonly string[];
  /** Number of stages that flush each log. */
  readonly stagesOf: readonly number[];
  /** By row of the journeys; nothing if the row is not a transaction. */
  readonly visits: readonly (readonly Visit[])[];
  /** By log, in order of begin. */
  readonly flushes: readonly (readonly Flush[])[];
  readonly largest: number;
}

/** None where the run has no database. */
export function commitsOf(result: Result, journeys: Journeys): Commits | undefined {
  const spec = result.scenario.commit;
  if (spec == null) return undefined;
  const logs = spec.logs.map(({ name }) => name);
  const stages = spec.stages.map((stage) => logs.indexOf(stage));
  const layer = layerNames.indexOf("database");
  const flushes = logs.map(() => new Map<number, Flush>());
  const visits = Array.from({ length: journeys.count }, (_, row) => {
    const found: Visit[] = [];
    if (journeys.owner[row] !== 0) return found;
    let came_ns = Number.NaN;
    for (let stay = journeys.first[row]!; stay < journeys.first[row + 1]!; stay++) {
      if (journeys.layer[stay] !== layer) continue;
      const [from_ns, to_ns] = [journeys.from_ns[stay]!, journeys.to_ns[stay]!];
      const phase = journeys.phaseOf(stay);
      if (phase === "log_wait") came_ns = from_ns;
      // A flush that was drawn, or the write below that stood for it.
      if (phase !== "write_log" && journeys.phase[stay] !== below) continue;
      const log = stages[found.length] ?? 0;
      found.push({ log, stage: found.length, came_ns: Number.isNaN(came_ns) ? from_ns : came_ns, from_ns, to_ns });
      came_ns = Number.NaN;
      const count = (flushes[log]!.get(from_ns)?.count ?? 0) + journeys.every;
      flushes[log]!.set(from_ns, { from_ns, to_ns, count });
    }
    return found;
  });
  const inOrder = flushes.map((of) => [...of.values()].toSorted((a, b) => a.from_ns - b.from_ns));
  return {
    logs,
    stagesOf: logs.map((_, log) => stages.filter((of) => of === log).length),
    visits,
    flushes: inOrder,
    largest: Math.max(1, ...inOrder.flat().map(({ count }) => count)),
  };
}
