/** Inputs of the engine. Its outputs are generated from its own types (`make wasm`), and only re-exported here. */
import type { Answers, Control as Described, ToolName, Value } from "../generated/answers.ts";
import type { Scenario } from "../generated/scenario.ts";

export type * from "../generated/answers.ts";

/** Fields of the scenario that differ from the variant, by path. */
export type Changes = Readonly<Record<string, Value>>;

/** A slider or a select: a control as the engine describes it, or one that a page makes of its own and says less about. */
export type Control = Pick<Described, "path" | "title" | "help" | "value"> &
  Partial<Omit<Described, "choices">> & {
    readonly choices?:
      readonly { readonly value: Value; readonly title?: string; readonly help?: string | null }[] | null;
  };

/** A run: a case with changes, or a whole scenario. */
export type RunRequest =
  | {
      readonly case: string;
      readonly variant?: string | undefined;
      readonly set?: Changes | undefined;
      readonly seed?: number;
    }
  | { readonly scenario: Scenario; readonly seed?: number };

/** Options of the text tools that print what the real tools print. */
export interface TextRequest {
  readonly tool: ToolName;
  readonly [option: string]: string | number | boolean;
}

export type Fact = Answers["facts"][number];
export type FactCheck = Fact["checks"][number];

/** Points of a mechanism's own curve, computed by the code that runs it. */
export interface CurveRequest {
  readonly name: "openzfs-delay" | "openzfs-async-writes" | "zfs2008-limit" | "ssd-write-amplification";
  readonly at: readonly number[];
  readonly set?: Readonly<Record<string, string | number>>;
}

/** Inputs of each question that the page asks. */
interface Inputs {
  version: Record<string, never>;
  cases: Record<string, never>;
  case: { id: string };
  presets: Record<string, never>;
  scenario: { case: string; variant?: string; set?: Changes };
  control: { case: string; variant?: string; set?: Changes };
  validate: { scenario: Scenario };
  facts: { case?: string; id?: string };
  curve: CurveRequest;
  design: Readonly<Record<string, number | Readonly<Record<string, number>>>>;
  /** A drive's parameters as JSON and a trace as CSV, both as text. */
  drive: { drive: string; trace: string; times?: boolean };
  alignment: { start: string; block?: number; bs?: number };
  fio_parse: { files: Readonly<Record<string, string>>; main: string; preset: string };
}

export type Question = keyof Inputs;

/** The questions the engine answers at once, with what each takes and gives. */
export type Questions = {
  readonly [Q in Question]: {
    readonly input: Inputs[Q];
    readonly answer: Answers[Q];
  };
};
