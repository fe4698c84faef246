/** A controller's cache and its battery over a run: the tables that the engine keeps, and what the scenario says of the charge. */
import { column, type Result } from "../../engine/api.ts";

export interface BatteryInterval {
  readonly from_s: number;
  readonly to_s: number;
  /** Commits a second. */
  readonly rate: number;
  /** Transactions that wait at its end. */
  readonly waiting: number;
  /** At its begin: the charge, 0 to 1, and whether the controller writes through. */
  readonly charge: number;
  readonly through: boolean;
}

export interface LogLine {
  readonly at_s: number;
  readonly words: string;
}

export interface BatteryRun {
  readonly intervals: readonly BatteryInterval[];
  readonly log: readonly LogLine[];
  /** The charge that is needed, where there is a battery. */
  readonly needed: number | undefined;
}

/** The controller's lines, by their numbers in the table. */
export const logLines = [
  "battery learn cycle started",
  "battery is discharging",
  "charge below threshold",
  "policy changed to write-through",
  "battery learn cycle completed",
  "policy changed to write-back",
  "charge above threshold",
];

/** Return the cache of a run, its battery and its log; nothing without such a cache. */
export function batteryOf(result: Result): BatteryRun | undefined {
  const begins = column(result, "raid_cache.time_ns");
  const cache = result.scenario.raid_cache;
  if (begins.length === 0 || cache == null) return undefined;
  const [charge, through, writes, waiting, times, kinds] = [
    "raid_cache.charge",
    "raid_cache.write_through",
    "series.writes",
    "backlog.waiting",
    "learn_cycles.time_ns",
    "learn_cycles.line",
  ].map((name) => column(result, name));
  const end_s = result.summary.simulated_ns / 1e9;
  const step_s = begins.length > 1 ? (begins[1]! - begins[0]!) / 1e9 : end_s;
  return {
    intervals: [...begins.keys()].map((row) => {
      const from_s = row * step_s;
      // The last interval ends with the run.
      const for_s = Math.max(1e-9, Math.min(step_s, end_s - from_s));
      return {
        from_s,
        to_s: from_s + for_s,
        rate: (writes![row] ?? 0) / for_s,
        waiting: waiting![row] ?? 0,
        charge: charge![row]!,
        through: through![row] === 1,
      };
    }),
    log: [...times!.keys()].map((row) => ({ at_s: times![row]! / 1e9, words: logLines[kinds![row]!] ?? "" })),
    needed: cache.battery == null ? undefined : (cache.battery.threshold ?? 0.28),
  };
}
