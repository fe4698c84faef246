/** A drive's SLC cache over a run: the table that the engine keeps, and what the scenario says of the cells. */
import { column, type Result } from "../../engine/api.ts";

export interface SlcInterval {
  readonly from_s: number;
  readonly to_s: number;
  /** Written into the cache, and past it, in MB/s. */
  readonly cached: number;
  readonly direct: number;
  /** Folded, in MB/s. */
  readonly folded: number;
  /** At its end, in GB: what is in the cache, what may be in it, and what is at full density. */
  readonly used: number;
  readonly limit: number;
  readonly full: number;
}

export interface SlcCache {
  readonly intervals: readonly SlcInterval[];
  /** All cells at full density, in GB. */
  readonly cells: number;
  /** Bits of a cell at full density. */
  readonly bits: number;
  /** At full density at the start, in GB. */
  readonly initial: number;
  /** The most that the cache may hold at the start, in GB. */
  readonly initialLimit: number;
}

/** The cache of the first drive that is described by one. */
export function slcOf(result: Result): SlcCache | undefined {
  const devices = column(result, "slc.device");
  const lun = result.scenario.devices.find((device) => device.lun?.slc != null)?.lun;
  const slc = lun?.slc;
  if (devices.length === 0 || lun == null || slc == null) return undefined;
  const rows = [...devices.keys()].filter((row) => devices[row] === devices[0]);
  const [begins, cached, direct, folded, used, limit, full] = [
    "time_ns",
    "cached_bytes",
    "direct_bytes",
    "folded_bytes",
    "used_bytes",
    "limit_bytes",
    "full_bytes",
  ].map((name) => column(result, `slc.${name}`));
  const step_s = rows.length > 1 ? (begins![rows[1]!]! - begins![rows[0]!]!) / 1e9 : result.summary.simulated_ns / 1e9;
  const { bits = 4, lend = 0.5, zero_at = 0.75, full: share = 0 } = slc;
  const cells = Number(lun.capacity) / 1e9;
  const end_s = result.summary.simulated_ns / 1e9;
  return {
    intervals: rows.map((row, nth) => {
      // The last interval ends with the run.
      const for_s = Math.max(1e-9, Math.min(step_s, end_s - nth * step_s));
      const rate = (bytes: ArrayLike<number>) => bytes[row]! / 1e6 / for_s;
      return {
        from_s: nth * step_s,
        to_s: nth * step_s + for_s,
        cached: rate(cached!),
        direct: rate(direct!),
        folded: rate(folded!),
        used: used![row]! / 1e9,
        limit: limit![row]! / 1e9,
        full: full![row]! / 1e9,
      };
    }),
    cells,
    bits,
    initial: cells * share,
    initialLimit: Number(slc.fixed) / 1e9 + ((cells * lend) / bits) * Math.max(0, 1 - share / zero_at),
  };
}
