/** The messages between the page and the thread that runs Python. */
import type { Result } from "../engine/api.ts";

export type ToPython =
  | { readonly kind: "run"; readonly id: number; readonly code: string }
  /** A message for the desk of the incident room, as JSON. */
  | { readonly kind: "night"; readonly id: number; readonly message: string };

export type FromPython =
  /** `loaded` are the addresses of what it took. */
  | { readonly kind: "ready"; readonly version: string; readonly loaded: readonly string[] }
  /** Python is not there and will not be: what has been asked stays without an answer. */
  | { readonly kind: "unloaded"; readonly why: string }
  /** What the desk answers, as JSON; an error is one of ours, not the player's. */
  | { readonly kind: "night"; readonly id: number; readonly answer: string | null; readonly error: string | null }
  | { readonly kind: "print"; readonly text: string; readonly isError: boolean }
  /** The code has ended: its last expression, or the traceback. */
  | { readonly kind: "done"; readonly id: number; readonly value: ShownValue | null; readonly error: string | null };

/** A value as the console shows it. */
export interface ShownValue {
  readonly repr: string;
  /** As a notebook would show it. */
  readonly html?: string;
  /** The run that it is, for charts. */
  readonly run?: Pick<Result, "summary" | "columns">;
}
