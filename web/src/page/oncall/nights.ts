/** Which night: its number in the address, the ticket of the day, and the nights that were played on this device. */
import type { Ended, Kept, NightName } from "../../lab/night/protocol.ts";
import { recall, remember } from "../shared/storage.ts";

export type ChosenNight =
  | { readonly kind: "none" }
  | { readonly kind: "night"; readonly name: NightName }
  /** That of the case that was opened last. */
  | { readonly kind: "case" }
  | { readonly kind: "problem"; readonly message: string };

/** Nights that are drawn have such numbers, as those of the command line. */
const drawnFrom = 100_000;
const longestShown = 40;
const mostPlayed = 60;

/** The address of a night whose case is a file: it is on this device alone. */
export const caseHash = "#case";

export function readNight(hash: string): ChosenNight {
  if (hash.length <= 1 || hash === "#page") return { kind: "none" };
  if (hash === caseHash) return { kind: "case" };
  const found = /^#seed=(\d{1,15})(?:&weeks=(\d{1,2}-\d{1,2}))?$/.exec(hash);
  if (found !== null) return { kind: "night", name: { seed: Number(found[1]), weeks: found[2] ?? null } };
  const shown = hash.length > longestShown ? `${hash.slice(0, longestShown)}…` : hash;
  return {
    kind: "problem",
    message: `The link ends with “${shown}”, which names no night: it should be #seed= and a whole number of at most 15 digits, as in #seed=7, and for a drill its weeks, as in #seed=7&weeks=1-5. Here is the ticket of the day.`,
  };
}

export function nightHash({ seed, weeks }: NightName): string {
  return `#seed=${seed}${weeks === null ? "" : `&weeks=${weeks}`}`;
}

export function isSameNight(one: NightName, other: NightName): boolean {
  return nightHash(one) === nightHash(other);
}

/** The same for everybody on a day: the day's digits, in universal time, as `seeklab oncall --today` has it. */
export function ticketOfTheDay(now = new Date()): number {
  return Number(now.toISOString().slice(0, 10).replaceAll("-", ""));
}

export function anotherNight(random = Math.random): number {
  return Math.floor(random() * drawnFrom);
}

export interface Played extends NightName {
  readonly total: number;
  readonly own: string | null;
  readonly case: string | null;
  readonly title: string;
}

const playedKey = "oncall.played";
const nightKey = "oncall.night";
const caseKey = "oncall.case";

/** Nights that were played to their end, the newest first; a night that was played again is there once, with its best points. */
export function played(read: (key: string) => string | null = recall): readonly Played[] {
  const value = parsed(read(playedKey));
  return Array.isArray(value) ? value.filter(isPlayed).slice(0, mostPlayed) : [];
}

export function rememberPlayed(ended: Pick<Ended, "seed" | "weeks" | "own" | "score" | "case" | "title">): void {
  const { seed, weeks, own, score, case: id, title } = ended;
  const before = played();
  const same = before.filter((one) => isSameNight(one, ended) && (one.own ?? null) === own);
  const best = Math.max(score.total, ...same.map(({ total }) => total));
  const rest = before.filter((one) => !same.includes(one));
  remember(
    playedKey,
    JSON.stringify([{ seed, weeks, own, total: best, case: id, title }, ...rest].slice(0, mostPlayed)),
  );
}

/** The night that has not been ended. */
export function nightUnderWay(read: (key: string) => string | null = recall): Kept | undefined {
  const value = parsed(read(nightKey));
  return isRecord(value) && isNightName(value) && Array.isArray(value.commands) && value.commands.length > 0
    ? (value as unknown as Kept)
    : undefined;
}

export function rememberNight(kept: Kept | undefined): void {
  if (kept === undefined) remember(nightKey, "");
  else if (kept.commands.length > 0) remember(nightKey, JSON.stringify(kept));
}

/** A case that somebody wrote: the name of its file, and its text. */
export interface WrittenCase {
  readonly name: string;
  readonly text: string;
}

/** The case that was opened last. */
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
    isNightName(value) &&
    typeof value.total === "number" &&
    typeof value.title === "string" &&
    (value.case === null || (typeof value.case === "string" && /^[a-z0-9-]+$/.test(value.case)))
  );
}

function isNightName({ seed, weeks }: Record<string, unknown>): boolean {
  const isSeed = typeof seed === "number" && Number.isSafeInteger(seed) && seed >= 0;
  return isSeed && (weeks === null || (typeof weeks === "string" && /^[\d-]{1,5}$/.test(weeks)));
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
