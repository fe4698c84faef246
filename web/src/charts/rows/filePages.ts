/** Reads of a page cache over time: the engine's table of decisions, and the log of reads that hit cached pages. */
import { column, type Result } from "../../engine/api.ts";

export const pageBytes = 4096;

/** Why a page that a read came to made the cache fetch something, in the engine's order. */
export const whys = ["alone", "begins", "continues", "marker", "context"] as const;

/** A decision at a page, in pages of the file. */
export interface Guess {
  readonly time_ns: number;
  readonly page: number;
  readonly asked: number;
  /** Pages cached just before it. */
  readonly history: number;
  /** Start of the range that is cached from then on. */
  readonly start: number;
  readonly end: number;
  readonly fetched: number;
  readonly why: (typeof whys)[number];
}

/** A range of pages that is fetched, or asked for, at a time. */
export interface Change {
  readonly time_ns: number;
  readonly start: number;
  readonly end: number;
  readonly isAsked: boolean;
}

export interface FilePages {
  /** Pages of the file, as far as somebody reads it. */
  readonly count: number;
  readonly guesses: readonly Guess[];
  /** All fetches and reads, in order of time. */
  readonly changes: readonly Change[];
}

/** The pages of the file of a run with a page cache that has a read side. */
export function filePagesOf(result: Result): FilePages | undefined {
  if (result.scenario.page_cache?.read_ahead == null) return undefined;
  const [time, page, asked, history, start, end, fetched, why] = [
    "time_ns",
    "page",
    "asked",
    "history",
    "start",
    "end",
    "fetched",
    "why",
  ].map((name) => column(result, `read_ahead.${name}`));
  const guesses = [...time!].map((time_ns, row) => ({
    time_ns,
    page: page![row]!,
    asked: asked![row]!,
    history: history![row]!,
    start: start![row]!,
    end: end![row]!,
    fetched: fetched![row]!,
    why: whys[why![row]!] ?? "alone",
  }));
  const jobs = result.scenario.jobs;
  const offsets = jobs.map(({ offset }) => bytesOf(offset));
  const [job, place, bytes, begin] = ["job", "offset", "bytes", "submit_ns"].map((name) =>
    column(result, `ops.${name}`),
  );
  const reads = [...begin!].map((time_ns, row) => {
    const first = offsets[job![row]!]! + place![row]!;
    return {
      time_ns,
      start: Math.floor(first / pageBytes),
      end: Math.ceil((first + bytes![row]!) / pageBytes),
      isAsked: true,
    };
  });
  const fetches = guesses.map(({ time_ns, start, end }) => ({ time_ns, start, end, isAsked: false }));
  const ends = jobs.map(({ size }, nth) => (offsets[nth]! + bytesOf(size)) / pageBytes);
  return {
    count: Math.ceil(Math.max(1, ...ends, ...guesses.map(({ end }) => end))),
    guesses,
    // A read and what it makes the cache fetch come at the same time: the fetch first.
    changes: [...fetches, ...reads].toSorted((a, b) => a.time_ns - b.time_ns || Number(a.isAsked) - Number(b.isAsked)),
  };
}

/** A size as the engine writes it out: bytes, or nothing that is one. */
function bytesOf(value: unknown): number {
  const bytes = Number(value ?? 0);
  return Number.isFinite(bytes) ? bytes : 0;
}
