/** Which night: its number in the address, the ticket of the day, and the nights that were played on this device. */
import type { Ended, Kept } from "../lab/night/protocol.ts";
import { recall, remember } from "./remember.ts";

export type ChosenNight =
  | { readonly kind: "none" }
  | { readonly kind: "night"; readonly seed: number }
  | { readonly kind: "problem"; readonly message: string };

/** Nights that are drawn have such numbers, as those of the command line. */
const drawnFrom = 100_000;
const longestShown = 40;
const mostPlayed = 60;

export function readNight(hash: string): ChosenNight {
  if (hash.length <= 1 || hash === "#page") return { kind: "none" };
  const found = /^#seed=(\d{1,15})$/.exec(hash);
  if (found !== null) return { kind: "night", seed: Number(found[1]) };
  const shown = hash.length > longestShown ? `${hash.slice(0, longestShown)}…` : hash;
  return {
    kind: "problem",
    message: `The link ends with “${shown}”, which names no night: it should be #seed= and a whole number of at most 15 digits, as in #seed=7. Here is the ticket of the day.`,
  };
}

export function nightHash(seed: number): string {
  return `#seed=${seed}`;
}

/** The same for everybody on a day: the day's digits, in universal time, as `seeklab oncall --today` has it. */
export function ticketOfTheDay(now = new Date()): number {
  return Number(now.toISOString().slice(0, 10).replaceAll("-", ""));
}

export function anotherNight(random = Math.random): number {
  return Math.floor(random() * drawnFrom);
}

export interface Played {
  readonly seed: number;
  readonly total: number;
  readonly case: string;
  readonly title: string;
}

const playedKey = "oncall.played";
const nightKey = "oncall.night";

/** Nights that were played to their end, the newest first; a night that was played again is there once, with its best points. */
export function played(read: (key: string) => string | null = recall): readonly Played[] {
  const value = parsed(read(playedKey));
  return Array.isArray(value) ? value.filter(isPlayed).slice(0, mostPlayed) : [];
}

export function rememberPlayed({
  seed,
  score,
  case: id,
  title,
}: Pick<Ended, "seed" | "score" | "case" | "title">): void {
  const before = played();
  const best = Math.max(score.total, ...before.filter((one) => one.seed === seed).map(({ total }) => total));
  const rest = before.filter((one) => one.seed !== seed);
  remember(playedKey, JSON.stringify([{ seed, total: best, case: id, title }, ...rest].slice(0, mostPlayed)));
}

/** The night that has not been ended. */
export function nightUnderWay(read: (key: string) => string | null = recall): Kept | undefined {
  const value = parsed(read(nightKey));
  return isRecord(value) && isSeed(value.seed) && Array.isArray(value.commands) && value.commands.length > 0
    ? (value as unknown as Kept)
    : undefined;
}

export function rememberNight(kept: Kept | undefined): void {
  if (kept === undefined) remember(nightKey, "");
  else if (kept.commands.length > 0) remember(nightKey, JSON.stringify(kept));
}

function isPlayed(value: unknown): value is Played {
  return (
    isRecord(value) &&
    isSeed(value.seed) &&
    typeof value.total === "number" &&
    typeof value.title === "string" &&
    typeof value.case === "string" &&
    /^[a-z0-9-]+$/.test(value.case)
  );
}

function isSeed(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
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
