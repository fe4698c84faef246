/**
 * The first look at a shift, before Python is ready: a stored ticket whose first commands have stored answers. Any other command
 * continues the shift in Python, from the state that has been reached.
 */
import type { Entry, Kept, Now, Opened, ShiftId } from "../../lab/shift/protocol.ts";
import stored from "./firstLook.json" with { type: "json" };

interface Stored {
  readonly opened: Opened;
  /** Commands that take no time. */
  readonly free: readonly string[];
  /** The state after commands, by their lines; the past commands are left out of it. */
  readonly replies: Readonly<Record<string, Now>>;
}

const look = stored as unknown as Stored;

export const firstShift: ShiftId = { seed: look.opened.kept.seed, weeks: look.opened.kept.weeks };

/** Commands that are answered at once. */
export const atOnce: readonly string[] = [
  ...look.free,
  ...Object.keys(look.replies).filter((lines) => !lines.includes("\n") && !look.free.includes(lines)),
];

export class FirstLook {
  readonly opened = look.opened;
  #paid: readonly string[] = [];
  #commands: readonly Entry[] = [];
  #now: Now = look.opened;

  /** The state from which Python continues. */
  get kept(): Kept {
    return this.#now.kept;
  }

  /** Return the state after a command, or nothing where only Python knows it. */
  answer(typed: string): Now | undefined {
    const line = typed.trim().replace(/\s+/g, " ");
    const isFree = look.free.includes(line);
    const lines = isFree ? [line] : [...this.#paid, line];
    const reply = look.replies[lines.join("\n")];
    if (reply === undefined) return undefined;
    this.#commands = [...this.#commands, ...reply.answers];
    if (!isFree) this.#paid = lines;
    // A free command changes nothing but the log.
    const state = isFree ? { ...this.#now, answers: reply.answers } : reply;
    this.#now = { ...state, kept: { ...state.kept, commands: this.#commands } };
    return this.#now;
  }
}
