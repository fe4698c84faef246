/** The messages between the page and the thread that runs Python. */
import type { Result } from "../engine/api.ts";

export type ToPython =
  | { readonly kind: "run"; readonly id: number; readonly code: string }
  /** A message for a JSON handler, as JSON. The files replace those of its working directory. */
  | {
      readonly kind: "ask";
      readonly id: number;
      readonly handler: HandlerName;
      readonly message: string;
      readonly files?: readonly GivenFile[] | undefined;
    };

/** The modules that have a JSON handler (`seeklab._json_handlers`). */
export type HandlerName = "seeklab.oncall.session" | "seeklab.diagnosis.handler" | "seeklab.calibration.handler";

export interface GivenFile {
  /** Folders and name, without a leading slash. */
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type FromPython =
  /** `loaded` are the addresses of what it took. */
  | { readonly kind: "ready"; readonly version: string; readonly loaded: readonly string[] }
  /** Python is not there and will not be: what has been asked stays without an answer. */
  | { readonly kind: "unloaded"; readonly why: string }
  /** How far what was asked is, from 0 to 1. */
  | { readonly kind: "progress"; readonly id: number; readonly share: number }
  /** The handler's answer, as JSON; an error is one of ours, not the reader's. */
  | { readonly kind: "answer"; readonly id: number; readonly answer: string | null; readonly error: string | null }
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
