/** A shingled drive over a run: the tables that the engine keeps, and what the scenario says of its cache and zones. */
import { column, type Result } from "../../engine/api.ts";

export interface ShingledInterval {
  readonly from_s: number;
  readonly to_s: number;
  /** Written into the cache, and to shingled zones directly, in MB/s. */
  readonly cached: number;
  readonly direct: number;
  /** The share of the time in which zones were cleaned, and how many were. */
  readonly cleaning: number;
  readonly cleans: number;
  /** In the cache at its end, in GB. */
  readonly used: number;
  /** Where the last write ended, and where the zone begins that was cleaned last, as shares of the addresses. */
  readonly writeAt: number;
  readonly cleanAt: number;
  /** Cached data of each part of the addresses at the end of the interval, in GB. */
  readonly parts: readonly number[];
}

export interface ShingledDrive {
  readonly intervals: readonly ShingledInterval[];
  /** Size of the cache, in GB. */
  readonly cache: number;
  /** A zone in MB, and how many there are. */
  readonly zone: number;
  readonly zones: number;
}

/** The first shingled drive of a run. */
export function shingledOf(result: Result): ShingledDrive | undefined {
  const devices = column(result, "shingled.device");
  const lun = result.scenario.devices.find((device) => device.lun?.shingled != null)?.lun;
  const drive = lun?.shingled;
  if (devices.length === 0 || lun == null || drive == null) return undefined;
  const rows = [...devices.keys()].filter((row) => devices[row] === devices[0]);
  const [begins, cached, direct, cleaning, cleans, used, writeAt, cleanAt] = [
    "time_ns",
    "cached_bytes",
    "direct_bytes",
    "cleaning_ns",
    "cleans",
    "used_bytes",
    "write_at_bytes",
    "clean_at_bytes",
  ].map((name) => column(result, `shingled.${name}`));
  const owners = column(result, "shingled_parts.device");
  const held = column(result, "shingled_parts.cached_bytes");
  const count = new Set(column(result, "shingled_parts.part")).size;
  const ofFirst = [...owners.keys()].filter((row) => owners[row] === devices[0]);
  const end_s = result.summary.simulated_ns / 1e9;
  const step_s = rows.length > 1 ? (begins![rows[1]!]! - begins![rows[0]!]!) / 1e9 : end_s;
  const capacity = Number(lun.capacity);
  const zone = Number(drive.zone ?? 2 ** 28);
  return {
    intervals: rows.map((row, nth) => {
      const for_s = Math.max(1e-9, Math.min(step_s, end_s - nth * step_s));
      return {
        from_s: nth * step_s,
        to_s: nth * step_s + for_s,
        cached: cached![row]! / 1e6 / for_s,
        direct: direct![row]! / 1e6 / for_s,
        cleaning: Math.min(1, cleaning![row]! / 1e9 / for_s),
        cleans: cleans![row]!,
        used: used![row]! / 1e9,
        writeAt: writeAt![row]! / capacity,
        cleanAt: cleanAt![row]! / capacity,
        parts: ofFirst.slice(nth * count, (nth + 1) * count).map((of) => held[of]! / 1e9),
      };
    }),
    cache: Number(drive.cache) / 1e9,
    zone: zone / 1e6,
    zones: Math.ceil(capacity / zone),
  };
}
