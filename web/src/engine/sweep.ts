/**
 * Many runs over several threads: each thread takes the next request when it has finished one.
 *
 * The threads stay for the next sweep, with the engine and the library in their memory. All of them share one compiled module. They end
 * when no sweep has come for a while, and in a page that is in the background.
 */
import { Cancelled, EngineError } from "./api.ts";
import { EngineClient } from "./client.ts";
import type { RunRequest, Summary } from "./types.ts";

export interface SweepOptions {
  readonly signal: AbortSignal;
  /** A run has ended: which one, what it came to, and how many have ended with it. */
  readonly onRun: (index: number, summary: Summary, done: number) => void;
  /** Whether a run's summary is known already. */
  readonly isKnown?: (index: number) => boolean;
  /** The most threads; the default leaves one core to the page. */
  readonly threads?: number;
}

const mostThreads = 8;
const idleAfter_ms = 30_000;
const pool: EngineClient[] = [];
let sweeps = 0;
let idle: ReturnType<typeof setTimeout> | undefined;

function threadsOf(count: number): readonly EngineClient[] {
  if (pool.length === 0) document.addEventListener("visibilitychange", endInBackground);
  while (pool.length < count) pool.push(new EngineClient());
  endLater();
  return pool.slice(0, count);
}

function defaultThreads(): number {
  return Math.max(1, Math.min(navigator.hardwareConcurrency - 1, mostThreads));
}

function endThreads(): void {
  clearTimeout(idle);
  document.removeEventListener("visibilitychange", endInBackground);
  for (const engine of pool.splice(0)) engine.close();
}

function endInBackground(): void {
  if (document.hidden && sweeps === 0) endThreads();
}

/** Ends the threads some time after the last sweep, or at once where nobody looks. */
function endLater(): void {
  clearTimeout(idle);
  if (sweeps > 0) return;
  if (document.hidden) endThreads();
  else idle = setTimeout(endThreads, idleAfter_ms);
}

/** Starts the threads, so that a sweep that follows need not wait for them; resolves once they can run something. */
export async function prepareSweep(): Promise<void> {
  await Promise.all(threadsOf(defaultThreads()).map((engine) => engine.call("version", {})));
}

/** Return the places of a list from coarse to fine: both ends, the middle, the quarters, until each place was named once. */
export function coarseToFine(count: number): number[] {
  const places = new Set(count > 0 ? [0, count - 1] : []);
  for (let step = 2 ** Math.floor(Math.log2(Math.max(1, count - 1))); step >= 1; step /= 2)
    for (let place = 0; place < count; place += step) places.add(place);
  return [...places];
}

/**
 * Runs all requests, from coarse to fine. A failure or a raised signal ends the runs that have not ended; the promise then
 * rejects.
 */
export async function sweep(requests: readonly RunRequest[], options: SweepOptions): Promise<void> {
  const { signal, onRun, isKnown = () => false, threads = defaultThreads() } = options;
  const order = coarseToFine(requests.length).filter((index) => !isKnown(index));
  const ends = new AbortController();
  const end = () => ends.abort();
  signal.addEventListener("abort", end, { once: true });
  let done = requests.length - order.length;
  const work = async (engine: EngineClient) => {
    for (let index = order.shift(); index !== undefined; index = order.shift()) {
      const summary = await engine.summary(requests[index]!, ends.signal);
      if (signal.aborted) throw new Cancelled();
      done += 1;
      onRun(index, summary, done);
    }
  };
  sweeps += 1;
  try {
    if (signal.aborted) throw new Cancelled();
    await Promise.all(threadsOf(Math.min(threads, order.length)).map(work));
  } catch (error) {
    // A thread that stopped answers nothing any more.
    const isAnswer = error instanceof Cancelled || error instanceof EngineError;
    if (!isAnswer) endThreads();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
    ends.abort();
    sweeps -= 1;
    endLater();
  }
}
