/**
 * A run in slices, on whichever thread the engine lives.
 *
 * 1. `open` checks the scenario and throws everything that is wrong with it.
 * 2. Each slice advances the run by a bounded number of events, then lets the thread hear messages.
 * 3. A finished run stays open, so that the text tools can print it; whoever holds it frees it.
 */
import type { Scenario } from "../generated/scenario.ts";
import { Cancelled, column, EngineError, unwrap, type Result } from "./api.ts";
import type { ColumnEntry, RunRequest, Summary } from "./types.ts";

/** One run inside the engine, as its JavaScript binding offers it. */
export interface OpenRun {
  step(maxEvents: number): number;
  summary(): string;
  columns(): string;
  f64(name: string): Float64Array;
  u32(name: string): Uint32Array;
  text(json: string): string;
  free(): void;
}

/** The part of the engine's module that a run needs. */
export interface Engine {
  call(name: string, json: string): string;
  Run: { open(json: string): OpenRun };
}

export interface SimulateOptions {
  readonly sliceEvents?: number;
  readonly cancelled?: () => boolean;
  readonly onProgress?: (progress: number) => void;
  /**
   * Called with the run as far as it is, after a moment and then now and then: long runs are drawn as they come. Resolves when
   * it has been drawn: until then nothing more is told, and after it the run has three times as long to itself.
   */
  readonly onPartial?: (run: OpenRun) => Promise<void>;
  /** Gives the thread a turn; the default waits for one message task. */
  readonly breathe?: () => Promise<void>;
}

/** A drag waits about so long for a first picture, and a run that goes on is drawn again so often. */
const firstPartialMs = 25;
const nextPartialMs = 600;
/** How long the run goes on by itself for each millisecond that a picture of it took. */
const runMsPerDrawnMs = 3;

/** Opens a run; problems in the envelope of the error become an {@link EngineError}. */
export function open(engine: Engine, request: RunRequest): OpenRun {
  try {
    return engine.Run.open(JSON.stringify(request));
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("{")) unwrap(error.message);
    throw error;
  }
}

/** Runs to the end, slice by slice. The caller owns the run it gets and frees it. */
export async function simulate(engine: Engine, request: RunRequest, options: SimulateOptions = {}): Promise<OpenRun> {
  const { sliceEvents = 4_000, cancelled = () => false, onProgress, onPartial, breathe = nextTask } = options;
  const run = open(engine, request);
  const begun_ms = performance.now();
  let partialAt_ms = begun_ms + firstPartialMs;
  // A run that ends soon is drawn once, when it is complete.
  const endsSoon = (progress: number) => ((performance.now() - begun_ms) * (1 - progress)) / progress <= firstPartialMs;
  try {
    for (;;) {
      const progress = run.step(sliceEvents);
      if (progress < 0) unwrap(run.summary());
      if (progress === 1) return run;
      onProgress?.(progress);
      if (onPartial !== undefined && performance.now() >= partialAt_ms && !endsSoon(progress)) {
        const toldAt_ms = performance.now();
        partialAt_ms = Infinity;
        void onPartial(run).then(() => {
          const now_ms = performance.now();
          partialAt_ms = now_ms + Math.max(nextPartialMs, runMsPerDrawnMs * (now_ms - toldAt_ms));
        });
      }
      await breathe();
      if (cancelled()) throw new Cancelled();
    }
  } catch (error) {
    run.free();
    throw error;
  }
}

/** The scenario that a request stands for, as it runs. */
export function scenarioOf(engine: Engine, request: RunRequest): Scenario {
  const json =
    "scenario" in request
      ? engine.call("validate", JSON.stringify({ scenario: request.scenario }))
      : engine.call("scenario", JSON.stringify({ case: request.case, variant: request.variant, set: request.set }));
  return unwrap<Scenario>(json);
}

let listed: readonly ColumnEntry[] | undefined;

/**
 * Copies the whole result out of the engine's memory, but for columns of zeros, which are empty until {@link fillZeroColumns} fills them
 * where they are looked at: there are dozens of them, and they need not cross between threads.
 */
export function readResult(run: OpenRun, scenario: Scenario): Result {
  const summary = unwrap<Summary>(run.summary());
  const columns: Record<string, Float64Array | Uint32Array> = {};
  // Every run has the same columns, and to list them the engine makes each of them.
  listed ??= unwrap<ColumnEntry[]>(run.columns());
  const isZero = new Set(summary.zero_columns);
  for (const { name, dtype } of listed) {
    if (isZero.has(name)) columns[name] = new Float64Array(0);
    else columns[name] = dtype === "u32" ? run.u32(name) : run.f64(name);
  }
  const hasProcessors = scenario.server != null || scenario.controller != null;
  const folded = hasProcessors ? unwrap<string>(run.text(JSON.stringify({ tool: "folded" }))) : undefined;
  return { scenario, summary, columns, ...(folded === undefined ? {} : { folded }) };
}

/**
 * Return a result with its columns of zeros, in the engine's order. They share one array, because results are
 * read-only.
 */
export function fillZeroColumns(result: Result): Result {
  const rows = column(result, "ops.id").length;
  if (zeros.length < rows) zeros = new Float64Array(2 * rows);
  const columns = { ...result.columns };
  for (const name of result.summary.zero_columns) columns[name] = zeros.subarray(0, rows);
  return { ...result, columns };
}

let zeros = new Float64Array(0);

/** Whatever was thrown, as problems that can cross to another thread. */
export function problemsOf(error: unknown): EngineError["problems"] {
  if (error instanceof EngineError) return error.problems;
  return [{ path: "", message: error instanceof Error ? error.message : String(error) }];
}

// A message, unlike a timer, is not held back by 4 ms when it is sent again and again.
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}
