/** The messages between the page and the thread that runs Python. */
import type { Result } from "../engine/api.ts";

export interface ToPython {
  readonly kind: "run";
  readonly id: number;
  readonly code: string;
}

export type FromPython =
  | { readonly kind: "ready"; readonly version: string }
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
