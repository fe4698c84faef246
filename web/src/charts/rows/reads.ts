/**
 * The requests of one job for the strip and the lifetimes, in the order in which they were issued.
 *
 * The log has the bytes of a request that were in memory, and those that were not fetched ahead. Their position in the
 * request follows from the ranges that were prefetched before it arrived.
 */
import type { Op } from "../../generated/answers.ts";
import { column, type Column, type Result } from "../../engine/api.ts";
import { phases } from "../../base/colours.ts";

export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Prefetched extends Range {
  readonly issue_ns: number;
  readonly done_ns: number;
  readonly used_bytes: number;
}

export interface Read extends Range {
  readonly id: number;
  readonly bytes: number;
  readonly cached_bytes: number;
  readonly missed_bytes: number;
  readonly submit_ns: number;
  readonly latency_ns: number;
  readonly device: number;
  /** Time in each phase, in the order of `phases`; adds up to `latency_ns`. */
  readonly phase_ns: readonly number[];
  /** Parts that no earlier prefetch covers. */
  readonly missing: readonly Range[];
  /** Data that the prefetcher fetched because of this read. */
  readonly prefetched: readonly Prefetched[];
}

const memo = new WeakMap<Result, Map<string, readonly Read[]>>();

/** How the operation log writes an operation. */
export function opNumber(op: Op): number {
  return { read: 0, write: 1, trim: 2 }[op];
}

/** Reads (or writes) of `job`, oldest first. */
export function readsOf(result: Result, job: string, op: Op = "read"): readonly Read[] {
  let byJob = memo.get(result);
  if (byJob === undefined) memo.set(result, (byJob = new Map<string, readonly Read[]>()));
  const key = `${op} ${job}`;
  let reads = byJob.get(key);
  if (reads === undefined) byJob.set(key, (reads = build(result, result.summary.jobs.indexOf(job), op)));
  return reads;
}

function build(result: Result, job: number, op: Op): readonly Read[] {
  const ops = (name: string) => column(result, `ops.${name}`);
  const id = ops("id");
  const [ofJob, ofOp] = [ops("job"), ops("op")];
  const rows: number[] = [];
  const wantedOp = opNumber(op);
  for (let row = 0; row < id.length; row++) if (ofJob[row] === job && ofOp[row] === wantedOp) rows.push(row);
  const submit = ops("submit_ns");
  rows.sort((a, b) => submit[a]! - submit[b]! || id[a]! - id[b]!);

  const prefetches = prefetchesOf(result, job);
  const byTrigger = new Map<number, Prefetched[]>();
  for (const prefetch of prefetches) {
    const list = byTrigger.get(prefetch.trigger);
    if (list === undefined) byTrigger.set(prefetch.trigger, [prefetch]);
    else list.push(prefetch);
  }

  const [offset, bytes, cached, missed] = [ops("offset"), ops("bytes"), ops("cached_bytes"), ops("missed_bytes")];
  const [latency, device] = [ops("latency_ns"), ops("device")];
  const phaseColumns = phases.map((phase) => ops(`${phase.name}_ns`));
  let next = 0;
  const covered: Range[] = [];
  return rows.map((row) => {
    const from = offset[row]!;
    const to = from + bytes[row]!;
    const submit_ns = submit[row]!;
    while (next < prefetches.length && prefetches[next]!.issue_ns <= submit_ns) covered.push(prefetches[next++]!);
    return {
      id: id[row]!,
      from,
      to,
      bytes: bytes[row]!,
      cached_bytes: at(cached, row),
      missed_bytes: at(missed, row),
      submit_ns,
      latency_ns: latency[row]!,
      device: at(device, row),
      phase_ns: phaseColumns.map((values) => at(values, row)),
      missing: missingPart({ from, to }, at(missed, row), covered.slice(-8)),
      prefetched: byTrigger.get(id[row]!) ?? [],
    };
  });
}

function prefetchesOf(result: Result, job: number): (Prefetched & { trigger: number })[] {
  const prefetches = (name: string) => column(result, `prefetches.${name}`);
  const [trigger, ofJob, offset] = [prefetches("trigger"), prefetches("job"), prefetches("offset")];
  const [bytes, issue, done] = [prefetches("bytes"), prefetches("issue_ns"), prefetches("done_ns")];
  const used = prefetches("used_bytes");
  const list: (Prefetched & { trigger: number })[] = [];
  for (let row = 0; row < trigger.length; row++) {
    if (ofJob[row] !== job) continue;
    list.push({
      trigger: trigger[row]!,
      from: offset[row]!,
      to: offset[row]! + bytes[row]!,
      issue_ns: issue[row]!,
      done_ns: done[row]!,
      used_bytes: at(used, row),
    });
  }
  return list.sort((a, b) => a.issue_ns - b.issue_ns || a.from - b.from);
}

// The log's count rules: where the prefetches do not account for it (data read before, say), the missing part is drawn at
// the end of the request.
function missingPart(whole: Range, missed_bytes: number, covered: readonly Range[]): readonly Range[] {
  if (missed_bytes === 0) return [];
  const gaps = uncovered(whole, covered);
  const total = gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  return total === missed_bytes ? gaps : [{ from: whole.to - missed_bytes, to: whole.to }];
}

/** The parts of `whole` that none of `ranges` covers. */
export function uncovered(whole: Range, ranges: readonly Range[]): Range[] {
  const gaps: Range[] = [];
  let reached = whole.from;
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    if (range.to <= reached || range.from >= whole.to) continue;
    if (range.from > reached) gaps.push({ from: reached, to: range.from });
    reached = Math.max(reached, range.to);
  }
  if (reached < whole.to) gaps.push({ from: reached, to: whole.to });
  return gaps;
}

/** Return the source of the bytes that were not fetched ahead. */
export function missedFrom(read: Read): "disk" | "flash" {
  const moved_ns = phaseOf(read, "seek") + phaseOf(read, "rotation");
  return moved_ns === 0 && phaseOf(read, "flash_read") > 0 ? "flash" : "disk";
}

/** Time that a request spent in one phase, in ns. */
export function phaseOf(read: Read, name: (typeof phases)[number]["name"]): number {
  return read.phase_ns[phases.findIndex((phase) => phase.name === name)] ?? 0;
}

function at(values: Column, row: number): number {
  return values[row] ?? 0;
}

/** The end of a time axis that holds several runs: the slowest request, rounded up to a number that reads well. */
export function latencyAxisEnd(job: string, results: readonly Result[], op: Op = "read"): number {
  const slowest = results
    .flatMap((result) => readsOf(result, job, op))
    .reduce((most, request) => Math.max(most, request.latency_ns), 1e3);
  const ms = slowest / 1e6;
  const power = 10 ** Math.floor(Math.log10(ms));
  const steps = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
  return (steps.find((step) => step * power >= ms) ?? 10) * power * 1e6;
}
