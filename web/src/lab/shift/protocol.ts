/** The messages between a front end and the session of a shift (`seeklab.oncall.session`). */

/** A command and its answer. */
export interface Entry {
  readonly command: string;
  /** The time on the shift's clock after the command. */
  readonly clock: string;
  readonly seconds: number;
  readonly points: number;
  readonly output: string;
}

/** Identifies a shift. */
export interface ShiftId {
  readonly seed: number;
  /** The weeks of the course whose incidents it may use, such as `1-5`; null for all incidents. */
  readonly weeks: string | null;
  /** 1 to 4, for a shift on a platform that several causes share. Without a level it is an incident of the course. */
  readonly level?: number | undefined;
}

/** The state of a shift, from which it can continue. */
export interface Kept extends ShiftId {
  /** The digest of the case file, if the shift uses one; otherwise null. */
  readonly own: string | null;
  readonly commands: readonly Entry[];
  readonly looked: readonly string[];
  readonly named: readonly string[];
  readonly set: Readonly<Record<string, unknown>>;
  readonly seconds: number;
  readonly spent: number;
  /** The users' performance over time, as a share of last month's. */
  readonly users: readonly (readonly [seconds: number, share: number])[];
}

export interface Score {
  readonly cause: number;
  readonly fix: number;
  readonly time: number;
  readonly total: number;
}

/** The result of a finished shift, with the true cause. */
export interface Ended extends Kept {
  readonly score: Score;
  /** The maximum of each score. */
  readonly most: Score;
  readonly right: boolean;
  readonly holds: boolean;
  /** Whether the player left before an answer. The debrief is then empty. */
  readonly hidden: boolean;
  readonly cause: string | null;
  /** The name of the incident's case, or null for a learner's case file. */
  readonly case: string | null;
  readonly title: string;
  /** The command that shows the cause; `tells` explains its output, `telling`. */
  readonly look: string | null;
  readonly tells: string;
  readonly telling: string;
  readonly remedy: Readonly<Record<string, unknown>>;
  readonly debrief: string;
  /** For a shift of a level with two causes: the command that shows the second. */
  readonly also?: readonly { readonly command: string; readonly tells: string }[] | undefined;
  /** For a shift of a level: what excluded each cause that it was not. */
  readonly excluded?: readonly Excluded[] | undefined;
  /** The causes that the player expected, each with the number of commands before it. */
  readonly thoughts?: readonly { readonly looks: number; readonly cause: string }[] | undefined;
}

export interface Excluded {
  readonly cause: string;
  /** The number that differs, here and with that cause. */
  readonly why: string;
  /** Whether the player saw it. */
  readonly mark: string;
}

/** The present state of a shift. */
export interface Now {
  readonly clock: string;
  /** The start of the shift, in seconds after midnight. */
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

/** A shift when it is opened. */
export interface Opened extends Now {
  readonly ticket: string;
  readonly welcome: string;
  readonly tools: readonly Tool[];
  /** The words for completion; one that needs another word ends with a space. */
  readonly words: readonly string[];
}

export type Message =
  /** Opens a shift by its seed, or by the text of its case file. */
  | {
      readonly open: number | string;
      readonly weeks: ShiftId["weeks"];
      readonly level?: ShiftId["level"];
      readonly kept?: Kept | undefined;
    }
  | { readonly type: string };

/** Returns the answer; throws an error if it is a problem. */
export function unlessProblem<T extends Now>(answer: T | { readonly problem: string }): T {
  if ("problem" in answer) throw new Error(answer.problem);
  return answer;
}
