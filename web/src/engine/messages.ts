/** The messages between a page and its engine's worker. Every request has an id; every answer names the request. */
import type { Result } from "./api.ts";
import type { Problem, Question, RunRequest, TextRequest } from "./types.ts";

export type ToWorker =
  /** First of all: the engine, compiled by the page while the worker started, and the library that it is given. */
  | { readonly kind: "engine"; readonly module: WebAssembly.Module; readonly library: string }
  | { readonly kind: "call"; readonly id: number; readonly name: Question; readonly input: unknown }
  /** Runs to the end and keeps the run open under `slot`, in place of the run that was there. */
  | {
      readonly kind: "run";
      readonly id: number;
      readonly slot: string;
      readonly request: RunRequest;
      /** Whether the run is told as it comes, before it has ended. */
      readonly partials: boolean;
    }
  /** Runs to the end and answers with the summary alone. */
  | { readonly kind: "summary"; readonly id: number; readonly request: RunRequest }
  | { readonly kind: "cancel"; readonly id: number }
  /** The last partial result of a run has been drawn. */
  | { readonly kind: "drawn"; readonly id: number }
  /** Prints the finished run in `slot` with one of the text tools. */
  | { readonly kind: "text"; readonly id: number; readonly slot: string; readonly request: TextRequest };

export type FromWorker =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "result"; readonly id: number; readonly result: Result }
  | { readonly kind: "partial"; readonly id: number; readonly result: Result }
  | { readonly kind: "progress"; readonly id: number; readonly progress: number }
  | { readonly kind: "cancelled"; readonly id: number }
  | { readonly kind: "problems"; readonly id: number; readonly problems: readonly Problem[] };
