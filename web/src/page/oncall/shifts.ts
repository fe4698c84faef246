/** Shifts in links and in browser storage: the chosen, the unfinished and the played ones. */
import type { Ended, Kept, ShiftId } from "../../lab/shift/protocol.ts";
import { recall, remember } from "../shared/storage.ts";

export type ChosenShift =
  | { readonly kind: "none" }
  | { readonly kind: "shift"; readonly name: ShiftId }
  /** The shift of the case file that was opened last. */
  | { readonly kind: "case" }
  | { readonly kind: "problem"; readonly message: string };

/** Drawn seeds are below this number, as on the command line. */
const seeds = 100_000;
const maxShown = 40;
const maxPlayed = 60;

/** The hash of a shift whose case is a file; the file is only on this device. */
export const caseHash = "#case";

export function readShift(hash: string): ChosenShift {
  if (hash.length <= 1 || hash === "#page") return { kind: "none" };
  if (hash === caseHash) return { kind: "case" };
  const found = /^#seed=(\d{1,15})(?:&weeks=(\d{1,2}-\d{1,2})|&level=([1-4]))?$/.exec(hash);
  if (found !== null) {
    const level = found[3] === undefined ? {} : { level: Number(found[3]) };
    return { kind: "shift", name: { seed: Number(found[1]), weeks: found[2] ?? null, ...level } };
  }
  const shown = hash.length > maxShown ? `${hash.slice(0, maxShown)}…` : hash;
  return {
    kind: "problem",
    message: `The link ends with “${shown}”, which is not a shift. Use #seed= with an integer of at most 15 digits, such as #seed=7, optionally with weeks (#seed=7&weeks=1-5) or a level from 1 to 4 (#seed=7&level=2). This is the ticket of the day.`,
  };
}

export function shiftHash({ seed, weeks, level }: ShiftId): string {
  return `#seed=${seed}${weeks === null ? "" : `&weeks=${weeks}`}${level === undefined ? "" : `&level=${level}`}`;
}

export function isSameShift(one: ShiftId, other: ShiftId): boolean {
  return shiftHash(one) === shiftHash(other);
}

/** Returns the seed of the day: the digits of the date in UTC, as for `seeklab oncall --today`. */
export function ticketOfTheDay(now = new Date()): number {
  return Number(now.toISOString().slice(0, 10).replaceAll("-", ""));
}

export function drawnSeed(random = Math.random): number {
  return Math.floor(random() * seeds);
}

export interface Played extends ShiftId {
  readonly total: number;
  readonly own: string | null;
  readonly case: string | null;
  readonly title: string;
}

const playedKey = "oncall.played";
/** The key keeps its first name, so that shifts that readers have saved can continue. */
const unfinishedKey = "oncall.night";
const caseKey = "oncall.case";

/** Returns the finished shifts, newest first. A shift that was played again appears once, with its best points. */
export function played(read: (key: string) => string | null = recall): readonly Played[] {
  const value = parsed(read(playedKey));
  return Array.isArray(value) ? value.filter(isPlayed).slice(0, maxPlayed) : [];
}

export function rememberPlayed(
  ended: Pick<Ended, "seed" | "weeks" | "level" | "own" | "score" | "case" | "title">,
): void {
  const { seed, weeks, level, own, score, case: id, title } = ended;
  const before = played();
  const same = before.filter((one) => isSameShift(one, ended) && (one.own ?? null) === own);
  const best = Math.max(score.total, ...same.map(({ total }) => total));
  const rest = before.filter((one) => !same.includes(one));
  remember(
    playedKey,
    JSON.stringify([{ seed, weeks, level, own, total: best, case: id, title }, ...rest].slice(0, maxPlayed)),
  );
}

/** Returns the unfinished shift, if there is one. */
export function unfinishedShift(read: (key: string) => string | null = recall): Kept | undefined {
  const value = parsed(read(unfinishedKey));
  return isRecord(value) && isShiftId(value) && Array.isArray(value.commands) && value.commands.length > 0
    ? (value as unknown as Kept)
    : undefined;
}

export function rememberShift(kept: Kept | undefined): void {
  if (kept === undefined) remember(unfinishedKey, "");
  else if (kept.commands.length > 0) remember(unfinishedKey, JSON.stringify(kept));
}

/** A case file: its name and its text. */
export interface WrittenCase {
  readonly name: string;
  readonly text: string;
}

/** Returns the case file that was opened last. */
export function writtenCase(read: (key: string) => string | null = recall): WrittenCase | undefined {
  const value = parsed(read(caseKey));
  return isRecord(value) && typeof value.name === "string" && typeof value.text === "string"
    ? { name: value.name, text: value.text }
    : undefined;
}

export function rememberCase(written: WrittenCase): void {
  remember(caseKey, JSON.stringify(written));
}

function isPlayed(value: unknown): value is Played {
  return (
    isRecord(value) &&
    isShiftId(value) &&
    typeof value.total === "number" &&
    typeof value.title === "string" &&
    (value.case === null || (typeof value.case === "string" && /^[a-z0-9-]+$/.test(value.case)))
  );
}

function isShiftId({ seed, weeks, level }: Record<string, unknown>): boolean {
  const isSeed = typeof seed === "number" && Number.isSafeInteger(seed) && seed >= 0;
  const isLevel = level === undefined || (typeof level === "number" && [1, 2, 3, 4].includes(level));
  return isSeed && isLevel && (weeks === null || (typeof weeks === "string" && /^[\d-]{1,5}$/.test(weeks)));
}

function parsed(text: string | null): unknown {
  try {
    return text === null || text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
