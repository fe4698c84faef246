/**
 * The tables of a ZFS write path as its views need them: intervals of time, transaction groups, and the thresholds that its
 * version and its tunables put on dirty data.
 */
import { column, type Result } from "../../engine/api.ts";
import type { Era, Scenario, ThrottleKind, ZfsSpec } from "../../generated/scenario.ts";
import { formatBytes, formatNanos, formatNumber, groupThousands } from "../../base/format.ts";

const writing = /^(?:rand)?(?:write|rw)$|^readwrite$/;

/** Whether a job of the scenario writes: without, there are no groups, and nothing to sync. */
export function hasWrites({ jobs = [] }: Partial<Scenario>): boolean {
  return jobs.some((job) => Object.values(job).some((value) => typeof value === "string" && writing.test(value)));
}

export interface Interval {
  readonly from_s: number;
  readonly to_s: number;
  readonly dirty_mean_bytes: number;
  readonly dirty_max_bytes: number;
  /** At the interval's end; 0 when the throttle knows none. */
  readonly limit_bytes: number;
  readonly async_writes_mean: number;
  readonly written_bytes: number;
  readonly not_delayed: number;
  readonly delayed: number;
  readonly delay_ns: number;
  readonly blocked: number;
  readonly blocked_ns: number;
  /** Bytes that log devices have written, each side of a mirror counted. */
  readonly log_bytes: number;
  /** Most bytes that the log devices held for groups that were not in the pool. */
  readonly log_live_bytes: number;
}

/** A transaction group; a time is absent when the run ended before. */
export interface Group {
  readonly group: number;
  readonly opened_s: number;
  readonly closed_s: number | undefined;
  readonly quiesced_s: number | undefined;
  readonly sync_started_s: number | undefined;
  readonly data_written_s: number | undefined;
  readonly synced_s: number | undefined;
  readonly bytes: number;
  readonly metadata_bytes: number;
  readonly limit_bytes: number;
  readonly not_delayed: number;
  readonly delayed: number;
  readonly blocked: number;
}

const intervalMemo = new WeakMap<Result, readonly Interval[]>();

export function intervalsOf(result: Result): readonly Interval[] {
  let intervals = intervalMemo.get(result);
  if (intervals === undefined) intervalMemo.set(result, (intervals = readIntervals(result)));
  return intervals;
}

function readIntervals(result: Result): Interval[] {
  const names = [
    "dirty_mean_bytes",
    "dirty_max_bytes",
    "limit_bytes",
    "async_writes_mean",
    "written_bytes",
    "not_delayed",
    "delayed",
    "delay_ns",
    "blocked",
    "blocked_ns",
    "log_bytes",
    "log_live_bytes",
  ] as const;
  const columns = names.map((name) => column(result, `zfs.${name}`));
  const rows = columns[0]!.length;
  const starts = column(result, "series.time_ns");
  const step_s = (starts.length > 1 ? starts[1]! - starts[0]! : result.summary.simulated_ns / Math.max(1, rows)) / 1e9;
  return Array.from({ length: rows }, (_, row) => ({
    from_s: row * step_s,
    to_s: (row + 1) * step_s,
    ...(Object.fromEntries(names.map((name, at) => [name, columns[at]![row]!])) as Record<
      (typeof names)[number],
      number
    >),
  }));
}

/** Neighbours put together until at most `most` intervals are left. */
export function coarser(intervals: readonly Interval[], most: number): readonly Interval[] {
  const together = Math.ceil(intervals.length / Math.max(1, most));
  if (together <= 1) return intervals;
  const list: Interval[] = [];
  for (let first = 0; first < intervals.length; first += together) {
    const part = intervals.slice(first, first + together);
    const sum = (name: keyof Interval) => part.reduce((total, interval) => total + interval[name], 0);
    list.push({
      from_s: part[0]!.from_s,
      to_s: part.at(-1)!.to_s,
      dirty_mean_bytes: sum("dirty_mean_bytes") / part.length,
      dirty_max_bytes: Math.max(...part.map((interval) => interval.dirty_max_bytes)),
      limit_bytes: part.at(-1)!.limit_bytes,
      async_writes_mean: sum("async_writes_mean") / part.length,
      written_bytes: sum("written_bytes"),
      not_delayed: sum("not_delayed"),
      delayed: sum("delayed"),
      delay_ns: sum("delay_ns"),
      blocked: sum("blocked"),
      blocked_ns: sum("blocked_ns"),
      log_bytes: sum("log_bytes"),
      log_live_bytes: Math.max(...part.map((interval) => interval.log_live_bytes)),
    });
  }
  return list;
}

const groupMemo = new WeakMap<Result, readonly Group[]>();

export function groupsOf(result: Result): readonly Group[] {
  let groups = groupMemo.get(result);
  if (groups === undefined) groupMemo.set(result, (groups = readGroups(result)));
  return groups;
}

function readGroups(result: Result): Group[] {
  const of = (name: string) => column(result, `groups.${name}`);
  const number = of("group");
  const times = ["closed", "quiesced", "sync_started", "data_written", "synced"].map((name) => of(`${name}_ns`));
  const [opened, bytes, metadata, limit] = [of("opened_ns"), of("bytes"), of("metadata_bytes"), of("limit_bytes")];
  const [not_delayed, delayed, blocked] = [of("not_delayed"), of("delayed"), of("blocked")];
  return Array.from(number, (group, row) => {
    // 0 is "not yet", but also the start of a run that begins with full groups: then something later has happened.
    const reached = times.findLastIndex((time) => time[row]! > 0);
    const [closed_s, quiesced_s, sync_started_s, data_written_s, synced_s] = times.map((time, at) =>
      at <= reached ? time[row]! / 1e9 : undefined,
    );
    return {
      group,
      opened_s: opened[row]! / 1e9,
      closed_s,
      quiesced_s,
      sync_started_s,
      data_written_s,
      synced_s,
      bytes: bytes[row]!,
      metadata_bytes: metadata[row]!,
      limit_bytes: limit[row]!,
      not_delayed: not_delayed[row]!,
      delayed: delayed[row]!,
      blocked: blocked[row]!,
    };
  });
}

/** The end of the axis of time, s: the clients' time and what was still to be written after it, not the silence beyond. */
export function endOf(result: Result): number {
  const last = intervalsOf(result).findLast(
    (interval) => entered(interval) + interval.written_bytes + interval.dirty_max_bytes > 0,
  );
  return last?.to_s ?? result.summary.simulated_ns / 1e9;
}

/** When the clients stopped, s: after it the run only empties its buffer. */
export function clientsEndOf(result: Result): number {
  return intervalsOf(result).findLast((interval) => entered(interval) > 0)?.to_s ?? endOf(result);
}

function entered({ not_delayed, delayed, blocked }: Interval): number {
  return not_delayed + delayed + blocked;
}

/** A share of the limit at which something changes. */
export interface Threshold {
  /** A share of the limit, or bytes when the tunable is in bytes. */
  readonly share?: number;
  readonly bytes?: number;
  readonly label: string;
}

export interface Throttle {
  readonly kind: ThrottleKind;
  /** Whether each group has the limit, rather than all dirty data together. */
  readonly isPerGroup: boolean;
  readonly thresholds: readonly Threshold[];
}

const throttles: Readonly<Record<Era, ThrottleKind>> = {
  "zfs-2008-03": "zfs2008",
  "zfs-2008-12": "zfs2010",
  "zfs-2010": "zfs2010",
  "openzfs-2013": "openzfs",
  "openzfs-0.7": "openzfs",
  "openzfs-2.1": "openzfs",
  "openzfs-2.2": "openzfs",
  "openzfs-2.3": "openzfs",
};
const newestEra: Era = "openzfs-2.1";

/** What the throttles of 2008 and 2010 do at 7/8 of the limit: as intended, and with the bug of 2008. */
export const sevenEighths = {
  intended: "7/8: one tick per write",
  shifted: "7/8 as intended; the shift made it 0",
} as const;

/**
 * Return the thresholds of a file system. The percentages are the tunables of its version, unless the scenario replaces
 * them.
 */
export function throttleOf(zfs: ZfsSpec): Throttle {
  const era = zfs.era ?? newestEra;
  const kind = zfs.throttle ?? throttles[era];
  if (kind === "zfs2008" || kind === "zfs2010") {
    const isShifted = zfs.shift_bug ?? era === "zfs-2008-03";
    const label = isShifted ? sevenEighths.shifted : sevenEighths.intended;
    return {
      kind,
      isPerGroup: true,
      thresholds: [
        { share: 1, label: "limit: writes stop" },
        { share: 7 / 8, label },
      ],
    };
  }
  if (kind === "none" || kind === "diagonal") {
    return { kind, isPerGroup: false, thresholds: [{ share: 1, label: "no more memory" }] };
  }
  const thresholds: Threshold[] = [{ share: 1, label: "100%: writes stop" }];
  const percent = (value: number, what: string) => thresholds.push({ share: value / 100, label: `${value}%: ${what}` });
  if (zfs.delay !== false && kind !== "asked") percent(zfs.delay_min_dirty_percent ?? 60, "delays begin");
  if (zfs.ramp !== false && zfs.scheduler !== "deadline") {
    percent(zfs.async_write_min_dirty_percent ?? 30, "more writes in flight");
  }
  const syncPercent = zfs.dirty_data_sync_percent ?? (era === newestEra ? 20 : undefined);
  const syncBytes = zfs.dirty_data_sync ?? (syncPercent === undefined ? 64 * 2 ** 20 : undefined);
  if (syncBytes !== undefined) {
    thresholds.push({ bytes: Number(syncBytes), label: `${formatBytes(Number(syncBytes))}: a group syncs` });
  } else if (syncPercent !== undefined) percent(syncPercent, "a group syncs");
  return { kind, isPerGroup: false, thresholds };
}

const targets_ns: Readonly<Partial<Record<Era, number>>> = { "zfs-2010": 1e9 };

/** Return the target duration of a sync under the throttles of 2008 and 2010. */
export function targetOf(zfs: ZfsSpec): number {
  return Number(zfs.txg_synctime ?? targets_ns[zfs.era ?? newestEra] ?? 5e9);
}

/** How writes entered, over a stretch of the run. */
export function held(intervals: readonly Pick<Interval, "not_delayed" | "delayed" | "blocked">[]) {
  const sum = (name: "not_delayed" | "delayed" | "blocked") =>
    intervals.reduce((total, interval) => total + interval[name], 0);
  return { not_delayed: sum("not_delayed"), delayed: sum("delayed"), blocked: sum("blocked") };
}

/** The run in words, for those who do not see the chart. */
export function describeRun(result: Result): string {
  const intervals = intervalsOf(result);
  if (intervals.length === 0) return "This run has no file system with dirty data.";
  const most = Math.max(...intervals.map((interval) => interval.dirty_max_bytes));
  const limit = Math.max(...intervals.map((interval) => interval.limit_bytes));
  const counts = held(intervals);
  const ofLimit = limit === 0 ? "" : ` (the limit is ${formatBytes(limit)} at most)`;
  return (
    `At most ${formatBytes(most)} were dirty${ofLimit}. Of the writes, ${groupThousands(counts.not_delayed)} entered freely, ` +
    `${groupThousands(counts.delayed)} were delayed on purpose and ${counts.blocked === 0 ? "none" : groupThousands(counts.blocked)} stopped at the limit.`
  );
}

/** One moment in words. */
export function describeMoment(result: Result, time_s: number): string {
  const interval = intervalAt(result, time_s);
  if (interval === undefined) return "";
  const parts = [
    `${formatBytes(interval.dirty_mean_bytes)} dirty${ofTheLimit(result, interval)}`,
    `${formatNumber(interval.async_writes_mean)} group writes in flight`,
    `${formatNumber(rateAt(result, time_s) / 2 ** 20)} MiB/s to the devices`,
  ];
  const mean = (total_ns: number, count: number) => formatNanos(total_ns / count);
  const writes = [
    interval.not_delayed > 0 ? `${groupThousands(interval.not_delayed)} entered freely` : "",
    interval.delayed > 0
      ? `${groupThousands(interval.delayed)} after a delay of ${mean(interval.delay_ns, interval.delayed)} on average`
      : "",
    interval.blocked > 0
      ? `${groupThousands(interval.blocked)} after a stop of ${mean(interval.blocked_ns, interval.blocked)} on average`
      : "",
  ].filter((part) => part !== "");
  const entered = writes.length === 0 ? "no write entered" : `writes: ${writes.join(", ")}`;
  const states = groupsOf(result)
    .map((group) => ({ group: group.group, state: stateAt(group, time_s) }))
    .filter(({ state }) => state !== undefined)
    .map(({ group, state }) => `group ${group} ${state}`);
  const pipeline = states.length === 0 ? "" : ` ${capital(states.join(", "))}.`;
  return `${parts.join(", ")}; ${entered}.${pipeline}`;
}

/** Describe dirty data relative to the limit: of all dirty data, or of each group. */
function ofTheLimit(result: Result, { dirty_mean_bytes, limit_bytes }: Interval): string {
  if (limit_bytes === 0) return "";
  const zfs = result.scenario.zfs;
  if (zfs != null && throttleOf(zfs).isPerGroup) return ` (each group may hold ${formatBytes(limit_bytes)})`;
  const share = dirty_mean_bytes / limit_bytes;
  // A limit that was lowered lies below what had been let in.
  return share > 1
    ? ` (more than the limit, which is ${formatBytes(limit_bytes)} now)`
    : ` (${formatNumber(100 * share)}% of the limit)`;
}

/** Bytes a second that the devices wrote in the second up to a moment: an interval holds so few writes that its own rate jumps. */
export function rateAt(result: Result, time_s: number): number {
  const intervals = intervalsOf(result);
  const last = intervalAt(result, time_s);
  if (last === undefined) return 0;
  const to = intervals.indexOf(last) + 1;
  const many = Math.max(1, Math.round(1 / (last.to_s - last.from_s)));
  const second = intervals.slice(Math.max(0, to - many), to);
  const written = second.reduce((sum, interval) => sum + interval.written_bytes, 0);
  return written / (last.to_s - second[0]!.from_s);
}

export function intervalAt(result: Result, time_s: number): Interval | undefined {
  const intervals = intervalsOf(result);
  const first = intervals[0];
  if (first === undefined) return undefined;
  const at = Math.floor(time_s / (first.to_s - first.from_s));
  return intervals[Math.max(0, Math.min(at, intervals.length - 1))];
}

/** Return the state of a group at a moment; nothing if it does not exist then. */
export function stateAt(group: Group, time_s: number): "open" | "quiescing" | "waiting" | "syncing" | undefined {
  const isPast = (time: number | undefined) => time !== undefined && time <= time_s;
  if (group.opened_s > time_s || isPast(group.synced_s)) return undefined;
  if (isPast(group.sync_started_s)) return "syncing";
  if (isPast(group.quiesced_s)) return "waiting";
  return isPast(group.closed_s) ? "quiescing" : "open";
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
