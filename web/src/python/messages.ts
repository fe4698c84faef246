/** The messages between the page and the thread that runs Python. */
export interface ToPython {
  readonly kind: "run";
  readonly id: number;
  readonly code: string;
}

export type FromPython =
  | { readonly kind: "ready"; readonly version: string }
  | { readonly kind: "print"; readonly text: string; readonly isError: boolean }
  /** The code has ended: the repr of its last expression, or the traceback. */
  | { readonly kind: "done"; readonly id: number; readonly result: string | null; readonly error: string | null };
