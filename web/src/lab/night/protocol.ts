/** What a front-end and the desk of the incident room (`seeklab.oncall.session`) say to each other. */

/** A command and its answer. */
export interface Entry {
  readonly command: string;
  /** The time of the night when it was answered. */
  readonly clock: string;
  readonly seconds: number;
  readonly points: number;
  readonly output: string;
}

/** Which night it is. */
export interface NightName {
  readonly seed: number;
  /** Weeks of the course that it is drawn from, such as `1-5`; null for all incidents. */
  readonly weeks: string | null;
}

/** What has happened in a night, from which it can be taken up again. */
export interface Kept extends NightName {
  /** The digest of the case that somebody wrote, when it is the night of one. */
  readonly own: string | null;
  readonly commands: readonly Entry[];
  readonly looked: readonly string[];
  readonly named: readonly string[];
  readonly set: Readonly<Record<string, unknown>>;
  readonly seconds: number;
  readonly spent: number;
  /** The users' own number after so many seconds, as a share of last month's. */
  readonly users: readonly (readonly [seconds: number, share: number])[];
}

export interface Score {
  readonly cause: number;
  readonly fix: number;
  readonly time: number;
  readonly total: number;
}

/** How a night ended, and what was wrong. */
export interface Ended extends Kept {
  readonly score: Score;
  /** The points that there are. */
  readonly most: Score;
  readonly right: boolean;
  readonly holds: boolean;
  readonly cause: string;
  /** The incident's case, by its name, which that of a reader has not, and by its title. */
  readonly case: string | null;
  readonly title: string;
  /** The look that would have told it, what is to be seen in it, and what it would have printed. */
  readonly look: string;
  readonly tells: string;
  readonly telling: string;
  readonly remedy: Readonly<Record<string, unknown>>;
}

/** Where a night stands. */
export interface Now {
  readonly clock: string;
  /** When the shift began, in seconds of the day. */
  readonly start_s: number;
  readonly tries: number;
  readonly answers: readonly Entry[];
  readonly kept: Kept;
  readonly ended: Ended | null;
}

export interface Tool {
  readonly command: string;
  readonly shows: string;
  readonly seconds: number;
  readonly points: number;
}

/** A night as it is opened. */
export interface Opened extends Now {
  readonly ticket: string;
  readonly welcome: string;
  readonly tools: readonly Tool[];
  /** All that may be typed; what wants another word ends with a space. */
  readonly words: readonly string[];
}

export type Message =
  /** A night by its number, or by the text of its case. */
  | { readonly open: number | string; readonly weeks: NightName["weeks"]; readonly kept?: Kept | undefined }
  | { readonly type: string };

/** What was asked for, or the sentence that says why there is none, which is thrown. */
export function unlessProblem<T extends Now>(answer: T | { readonly problem: string }): T {
  if ("problem" in answer) throw new Error(answer.problem);
  return answer;
}
