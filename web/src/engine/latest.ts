/**
 * Latest wins, without starving.
 *
 * While a slider moves, runs are asked for faster than they finish. Cancelling the running one each time would show nothing
 * until the hand rests; queueing them all would lag behind. So: one run at a time, and one request waiting, the newest. A run
 * that takes longer than `patienceMs` while a newer request waits is cancelled.
 */
import { Cancelled } from "./api.ts";

export interface LatestOptions<Request, Result> {
  readonly run: (request: Request, signal: AbortSignal) => Promise<Result>;
  readonly onResult: (result: Result, request: Request) => void;
  readonly onError: (error: unknown, request: Request) => void;
  /** Called when the last run asked for has ended, however it ended. */
  readonly onIdle?: () => void;
  readonly patienceMs?: number;
}

export class Latest<Request, Result> {
  readonly #options: LatestOptions<Request, Result>;
  #current: AbortController | undefined;
  #next: Request | undefined;

  constructor(options: LatestOptions<Request, Result>) {
    this.#options = options;
  }

  /** Whether a run is going on. */
  get busy(): boolean {
    return this.#current !== undefined;
  }

  /** Whether a newer request waits. */
  get hasNext(): boolean {
    return this.#next !== undefined;
  }

  request(request: Request): void {
    if (this.#current === undefined) {
      void this.#start(request);
      return;
    }
    const isFirstToWait = this.#next === undefined;
    this.#next = request;
    if (isFirstToWait) {
      const overtaken = this.#current;
      setTimeout(() => {
        if (this.#next !== undefined && this.#current === overtaken) overtaken.abort();
      }, this.#options.patienceMs ?? 120);
    }
  }

  /** Stops the running one and forgets the waiting one. */
  cancel(): void {
    this.#next = undefined;
    this.#current?.abort();
  }

  async #start(request: Request): Promise<void> {
    const controller = new AbortController();
    this.#current = controller;
    try {
      const result = await this.#options.run(request, controller.signal);
      this.#options.onResult(result, request);
    } catch (error) {
      // A run overtaken by a newer request ends silently; one that the reader stopped does not.
      if (!(error instanceof Cancelled && this.#next !== undefined)) this.#options.onError(error, request);
    } finally {
      this.#current = undefined;
      const next = this.#next;
      this.#next = undefined;
      if (next === undefined) this.#options.onIdle?.();
      else void this.#start(next);
    }
  }
}
