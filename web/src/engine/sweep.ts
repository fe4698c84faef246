/**
 * Many runs over several threads: each thread takes the next request when it has finished one.
 *
 * The threads live as long as the sweep. A failure or a raised signal ends all of them, and drops their runs.
 */
import { EngineClient } from "./client.ts";
import { Cancelled } from "./api.ts";
import type { RunRequest, Summary } from "./types.ts";

export interface SweepOptions {
  readonly signal: AbortSignal;
  /** A run has ended: which one, what it came to, and how many have ended with it. */
  readonly onRun: (index: number, summary: Summary, done: number) => void;
  /** At most so many threads; the default leaves the page some room on a machine with many cores. */
  readonly threads?: number;
}

const mostThreads = 8;

export async function sweep(requests: readonly RunRequest[], options: SweepOptions): Promise<void> {
  const { signal, onRun, threads = Math.min(navigator.hardwareConcurrency, mostThreads) } = options;
  const engines = Array.from({ length: Math.min(threads, requests.length) }, () => new EngineClient());
  let next = 0;
  let done = 0;
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Cancelled()), { once: true });
  });
  const work = async (engine: EngineClient) => {
    for (let index = next++; index < requests.length; index = next++) {
      const { summary } = await engine.run(requests[index]!, { signal });
      done += 1;
      onRun(index, summary, done);
    }
  };
  try {
    await Promise.race([Promise.all(engines.map(work)), stopped]);
  } finally {
    for (const engine of engines) engine.close();
  }
}
