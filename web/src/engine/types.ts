/**
 * What the engine takes and gives as JSON, as types: each mirrors a type of the engine of the same name.
 *
 * They are written by hand until the generator writes them, as it writes those of a scenario; nothing else belongs in this file.
 */
import type { Scenario } from "../generated/scenario.ts";

/** One thing that is wrong, and where. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  readonly nearest?: string | undefined;
}

/** A value a scenario's field can be set to. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

/** Fields of the scenario that differ from the variant, by path. */
export type Changes = Readonly<Record<string, Value>>;

/** What to run: a case with changes, or a whole scenario. */
export type RunRequest =
  | {
      readonly case: string;
      readonly variant?: string | undefined;
      readonly set?: Changes | undefined;
      readonly seed?: number;
    }
  | { readonly scenario: Scenario; readonly seed?: number };

export interface Summary {
  readonly case: string | null;
  readonly variant: string | null;
  readonly seed: number;
  readonly fingerprint: string;
  readonly metrics: Readonly<Record<string, number>>;
  readonly units: Readonly<Record<string, string>>;
  readonly events: number;
  readonly simulated_ns: number;
  readonly jobs: readonly string[];
  readonly devices: readonly string[];
  /** What the scenario may be but is seldom meant to be. */
  readonly warnings: readonly { readonly path: string; readonly message: string }[];
}

/** Options of the text tools that print what the real tools print. */
export interface TextRequest {
  readonly tool:
    | "oplog"
    | "histogram"
    | "fio"
    | "fio-json"
    | "iostat"
    | "monitor"
    | "folded"
    | "quantize"
    | "lquantize"
    | "packed"
    | "dirty"
    | "sync"
    | "delays"
    | "bonnie"
    | "bonnie-csv"
    | "analytics";
  readonly [option: string]: string | number | boolean;
}

export interface CaseEntry {
  readonly id: string;
  readonly code: string;
  readonly title: string;
  readonly symptom: string;
  readonly family: string;
  readonly source: string;
  readonly variants: readonly string[];
  readonly controls: readonly string[];
}

export interface Source {
  readonly name: string;
  readonly year?: number;
  readonly note?: string;
}

export interface Variant {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly set?: Changes;
}

/** The prediction asked for before a variant is shown; `{answer}` in `reveal` stands for what `measure` gives. */
export interface Ask {
  readonly question: string;
  readonly measure: Measure;
  readonly unit: string;
  readonly min: number;
  readonly max: number;
  readonly scale: "log" | "linear";
  readonly reveal: string;
}

/** A metric of a run of the case. */
export interface Term {
  readonly metric: string;
  readonly variant?: string;
  readonly set?: Changes;
}

export type Measure =
  | Term
  | { readonly ratio: readonly [Term, Term] }
  | { readonly ratios: readonly [readonly [Term, Term], readonly [Term, Term]] }
  | { readonly difference: readonly [Term, Term] };

export interface WhatIf {
  readonly title: string;
  readonly variant: string;
  readonly set?: Changes;
  readonly surprise: string;
}

export interface FactEntry {
  readonly id: string;
  readonly title: string;
  readonly kind: FactKind;
}

/** An incident as its file in `engine/cases` tells it. */
export interface CaseDocument {
  readonly id: string;
  readonly code: string;
  readonly title: string;
  readonly symptom: string;
  readonly subtitle: string;
  readonly family: string;
  readonly story: string;
  readonly source: Source;
  readonly view: string;
  readonly views: readonly string[];
  readonly focus: { readonly job: string; readonly op: "read" | "write" };
  readonly sentence: string;
  readonly ask: Ask;
  readonly why: string;
  readonly model: {
    readonly in: readonly string[];
    readonly out: readonly string[];
    readonly parameters: readonly string[];
  };
  readonly variants: readonly Variant[];
  readonly default_variant: string;
  /** Notebook of the course about it, without its end. */
  readonly notebook?: string;
  /** Folders of the exercises about it. */
  readonly exercises?: readonly string[];
  readonly what_ifs: readonly WhatIf[];
  readonly facts: readonly FactEntry[];
  /** What every variant starts from, before presets are filled in. */
  readonly scenario: Partial<Scenario>;
}

/** Everything a slider or a select needs; values are bytes, nanoseconds, plain numbers or words. */
export interface Control {
  readonly path: string;
  readonly title: string;
  readonly help: string;
  readonly unit?: string | null;
  readonly format?: string | null;
  readonly min?: number | null;
  readonly max?: number | null;
  readonly step?: number | null;
  readonly scale?: string | null;
  readonly value: Value;
  readonly choices?: readonly { readonly value: Value; readonly title?: string; readonly help?: string }[] | null;
}

export type FactKind = "predicted" | "calibrated" | "discrepancy";

/** What came of a fact. A source that contradicts itself is a finding; what the model misses is its fault until shown otherwise. */
export type Verdict = "holds" | "model misses" | "source contradicts itself";

export interface FactCheck {
  readonly title: string;
  readonly documented: number | readonly [number, number];
  readonly simulated: number;
  readonly unit: string;
  readonly tolerance: string;
  readonly ok: boolean;
  /** Least and greatest value, when several seeds were asked for. */
  readonly range?: readonly [number, number];
  /** The value of each of these seeds. */
  readonly values?: readonly number[];
}

export interface Fact extends FactCheck {
  readonly case: string;
  readonly id: string;
  readonly kind: FactKind;
  readonly note?: string | null;
  readonly verdict: Verdict;
  /** Why the fact is known to miss, or what is wrong with the source. */
  readonly misses_because?: string | null;
  readonly checks: readonly FactCheck[];
  /** Of a discrepancy: what holds in place of the source's claim. */
  readonly instead: readonly FactCheck[];
  /** What was last measured over several seeds, and at other values of the fact's inputs. */
  readonly stored?: {
    readonly seeds: number;
    readonly held: boolean;
    readonly range: readonly [number, number];
    readonly inputs: number;
    readonly inputs_held: boolean;
  };
}

export interface Preset {
  readonly name: string;
  readonly title: string;
  readonly source: string;
  readonly kind: string;
}

export interface ParsedJobFile {
  readonly scenario: Scenario;
  readonly ignored: readonly {
    readonly job: string;
    readonly option: string;
    readonly value: string;
    readonly reason: string;
  }[];
  readonly warnings: readonly string[];
}

/** Points of a mechanism's own curve, computed by the code that runs it. */
export interface CurveRequest {
  readonly name: "openzfs-delay" | "openzfs-async-writes" | "zfs2008-limit" | "ssd-write-amplification";
  readonly at: readonly number[];
  readonly set?: Readonly<Record<string, string | number>>;
}

export interface CurvePoint {
  readonly x: number;
  /** Integers beyond 2^53 exist: the engine writes them as text. */
  readonly y: number | string;
  readonly unit: string;
}

/** How near the disk model comes to measured service times, over the requests of one class. */
export interface ClassAgreement {
  readonly requests: number;
  readonly mean_ms: number;
  readonly measured_mean_ms: number;
  /** `mean_ms` less `measured_mean_ms`: positive when the model is too slow. */
  readonly bias_ms: number;
  readonly rms_ms: number;
  /** `rms_ms` over `measured_mean_ms`. */
  readonly demerit: number;
}

export interface DriveAgreement extends ClassAgreement {
  readonly drive: string;
  /** Share of requests whose own two times differ by at most 0.3 ms. */
  readonly within_300_us: number;
  readonly read: ClassAgreement;
  readonly write: ClassAgreement;
  /** Settings of the file that this model does nothing about. */
  readonly ignored: readonly string[];
  /** Request by request, when asked for. */
  readonly times?: {
    readonly is_write: readonly boolean[];
    readonly simulated_us: readonly number[];
    readonly measured_us: readonly number[];
  };
}

/** The questions the engine answers at once, with what each takes and gives. */
export interface Questions {
  version: { input: Record<string, never>; answer: { engine: string } };
  cases: { input: Record<string, never>; answer: CaseEntry[] };
  case: { input: { id: string }; answer: CaseDocument };
  presets: { input: Record<string, never>; answer: Preset[] };
  scenario: { input: { case: string; variant?: string; set?: Changes }; answer: Scenario };
  control: { input: { case: string; variant?: string; set?: Changes }; answer: Control[] };
  validate: { input: { scenario: Scenario }; answer: Scenario };
  facts: { input: { case?: string; id?: string }; answer: Fact[] };
  curve: { input: CurveRequest; answer: CurvePoint[] };
  design: { input: Readonly<Record<string, number | Readonly<Record<string, number>>>>; answer: Design };
  /** A drive's parameters as JSON and a trace as CSV, both as text. */
  drive: { input: { drive: string; trace: string; times?: boolean }; answer: DriveAgreement };
  alignment: { input: { start: string; block?: number; bs?: number }; answer: Alignment };
  fio_parse: {
    input: { files: Readonly<Record<string, string>>; main: string; preset: string };
    answer: ParsedJobFile;
  };
}

/** A part of a pool: how many, within which range, at which price. */
export interface DesignPart {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly number: number;
  /** Least, most, and the step between. */
  readonly range: readonly [number, number, number];
  readonly price: number;
  readonly cost: number;
  readonly is_priced: boolean;
}

/** A test of a pool: what to run, which metric counts, and what each part allows at most, the least first. */
export interface DesignTest {
  readonly name: string;
  readonly title: string;
  readonly variant: string;
  readonly metric: string;
  readonly unit: string;
  readonly set: Changes;
  readonly bounds: readonly { readonly what: string; readonly most: number }[];
}

export interface Design {
  readonly case: string;
  readonly layout: string;
  readonly parts: readonly DesignPart[];
  readonly cost: number;
  readonly capacity_bytes: number;
  /** What can be built but is seldom meant; the path is a part's name. */
  readonly warnings: readonly { readonly path: string; readonly message: string }[];
  readonly tests: readonly DesignTest[];
}

/** Whether a partition's start is a whole number of blocks, and what a write costs there; all in bytes. */
export interface Alignment {
  readonly start: number;
  readonly block: number;
  readonly aligned: boolean;
  readonly into_block: number;
  readonly extra_reads: number;
  readonly bytes_written: number;
  readonly before: number;
  readonly after: number;
}

export type Question = keyof Questions;
