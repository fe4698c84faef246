/**
 * Many runs over several threads: each thread takes the next request when it has finished one.
 *
 * The threads stay for the next sweep, with the engine and the library in their memory. All of them share one compiled module.
 */
import { Cancelled, EngineError } from "./api.ts";
import { EngineClient } from "./client.ts";
import type { RunRequest, Summary } from "./types.ts";

export interface SweepOptions {
  readonly signal: AbortSignal;
  /** A run has ended: which one, what it came to, and how many have ended with it. */
  readonly onRun: (index: number, summary: Summary, done: number) => void;
  /** At most so many threads; the default leaves the page some room on a machine with many cores. */
  readonly threads?: number;
}

const mostThreads = 8;
const pool: EngineClient[] = [];

function threadsOf(count: number): readonly EngineClient[] {
  while (pool.length < count) pool.push(new EngineClient());
  return pool.slice(0, count);
}

function defaultThreads(): number {
  return Math.min(navigator.hardwareConcurrency, mostThreads);
}

/** Starts the threads, so that a sweep that follows need not wait for them. */
export function prepareSweep(): void {
  threadsOf(defaultThreads());
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
  const { signal, onRun, threads = defaultThreads() } = options;
  const order = coarseToFine(requests.length);
  const ends = new AbortController();
  const end = () => ends.abort();
  signal.addEventListener("abort", end, { once: true });
  let done = 0;
  const work = async (engine: EngineClient) => {
    for (let index = order.shift(); index !== undefined; index = order.shift()) {
      const summary = await engine.summary(requests[index]!, ends.signal);
      if (signal.aborted) throw new Cancelled();
      done += 1;
      onRun(index, summary, done);
    }
  };
  try {
    if (signal.aborted) throw new Cancelled();
    await Promise.all(threadsOf(Math.min(threads, requests.length)).map(work));
  } catch (error) {
    // A thread that stopped answers nothing any more.
    const isAnswer = error instanceof Cancelled || error instanceof EngineError;
    if (!isAnswer) for (const engine of pool.splice(0)) engine.close();
    throw error;
  } finally {
    signal.removeEventListener("abort", end);
    ends.abort();
  }
}
