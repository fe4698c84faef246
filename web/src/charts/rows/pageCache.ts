/** A page cache over a run: the tables that the engine keeps of its pages and its journal, and the thresholds of the scenario. */
import { column, type Result } from "../../engine/api.ts";

export interface CacheInterval {
  readonly from_s: number;
  readonly to_s: number;
  /** Written back, in MB/s. */
  readonly written: number;
  /** At its end, in MB: dirty, and being written to the disk. */
  readonly dirty: number;
  readonly underWay: number;
}

export interface Commit {
  readonly from_s: number;
  readonly to_s: number;
  /** Data of the transaction, in MB. */
  readonly data: number;
}

/** A write that waits until it is durable, or any other write of the job in focus. */
export interface Wait {
  readonly from_s: number;
  readonly to_s: number;
}

export interface PageCache {
  readonly intervals: readonly CacheInterval[];
  readonly commits: readonly Commit[];
  /** In MB. */
  readonly background: number;
  readonly limit: number;
  /** In MB, the most at the end of an interval. */
  readonly most: number;
}

const pageBytes = 4096;

export function pageCacheOf(result: Result): PageCache | undefined {
  const begins = column(result, "page_cache.time_ns");
  if (begins.length === 0) return undefined;
  const [written, dirty, underWay] = ["written_bytes", "dirty_bytes", "under_way_bytes"].map((name) =>
    column(result, `page_cache.${name}`),
  );
  const end_s = result.summary.simulated_ns / 1e9;
  const step_s = begins.length > 1 ? (begins[1]! - begins[0]!) / 1e9 : end_s;
  const intervals = Array.from(begins, (_, nth) => {
    const from_s = nth * step_s;
    // The last interval ends with the run.
    const for_s = Math.max(1e-9, Math.min(step_s, end_s - from_s));
    return {
      from_s,
      to_s: from_s + for_s,
      written: written![nth]! / 1e6 / for_s,
      dirty: dirty![nth]! / 1e6,
      underWay: underWay![nth]! / 1e6,
    };
  });
  const [began, ended, data] = ["began_ns", "end_ns", "data_bytes"].map((name) => column(result, `journal.${name}`));
  const inMb = (metric: string) => ((result.summary.metrics[metric] ?? 0) * pageBytes) / 1e6;
  return {
    intervals,
    commits: Array.from(began!, (from_ns, nth) => ({
      from_s: from_ns / 1e9,
      to_s: ended![nth]! / 1e9,
      data: data![nth]! / 1e6,
    })),
    background: inMb("page_cache_background_pages"),
    limit: inMb("page_cache_limit_pages"),
    most: Math.max(0, ...intervals.map((of) => of.dirty + of.underWay)),
  };
}

/** The writes of a job, in the order in which they ended. */
export function waitsOf(result: Result, job: string): readonly Wait[] {
  const number = result.summary.jobs.indexOf(job);
  const [jobs, begins, latencies] = ["job", "submit_ns", "latency_ns"].map((name) => column(result, `ops.${name}`));
  const rows = [...jobs!.keys()].filter((row) => jobs![row] === number);
  return rows.map((row) => ({ from_s: begins![row]! / 1e9, to_s: (begins![row]! + latencies![row]!) / 1e9 }));
}
