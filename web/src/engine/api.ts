/**
 * What crosses the border to the engine.
 *
 * Every answer of the engine is one envelope: a value, or the list of everything that is wrong with the question. Results
 * cross as typed arrays, one per column.
 */
import type { Scenario } from "../generated/scenario.ts";
import type { Problem, Question, Questions, Summary } from "./types.ts";

export type Envelope<T> = { readonly ok: T } | { readonly errors: readonly Problem[] };

/** The engine refused: `problems` holds every reason. The message is ready to be shown. */
export class EngineError extends Error {
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super(problems.map(sentence).join("\n"));
    this.name = "EngineError";
    this.problems = problems;
  }
}

/** The run was stopped by the reader or overtaken by a newer one. */
export class Cancelled extends Error {
  constructor() {
    super("The run was cancelled.");
    this.name = "Cancelled";
  }
}

/** A problem as one line: where, what. */
export function sentence(problem: Problem): string {
  return problem.path === "" ? problem.message : `${problem.path}: ${problem.message}`;
}

/** Opens an envelope; throws {@link EngineError} when it holds problems. */
// The caller names the type it asked the engine for: JSON carries none.
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
export function unwrap<T>(json: string): T {
  const envelope = JSON.parse(json) as Envelope<T>;
  if ("errors" in envelope) throw new EngineError(envelope.errors);
  return envelope.ok;
}

export type Column = Float64Array | Uint32Array;

/** A finished run: what it amounts to, and its tables column by column (`ops.latency_ns`, `bins.count`, ...). */
export interface Result {
  /** The scenario that ran, with every preset filled in. */
  readonly scenario: Scenario;
  /** Processor time by stack of functions, folded, where the run has a server or a controller. */
  readonly folded?: string;
  readonly summary: Summary;
  readonly columns: Readonly<Record<string, Column>>;
}

/** A column of a result, empty when the run did not record it. */
export function column(result: Pick<Result, "columns">, name: string): Column {
  return result.columns[name] ?? new Float64Array(0);
}

/** Asks the engine one of the questions that it answers at once, wherever it lives. */
export type AskEngine = <Q extends Question>(name: Q, input: Questions[Q]["input"]) => Promise<Questions[Q]["answer"]>;
