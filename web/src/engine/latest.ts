/**
 * Latest wins, without starving.
 *
 * While a slider moves, runs are asked for faster than they finish. Cancelling the running one each time would show nothing
 * until the hand rests; queueing them all would lag behind. So: one run at a time, and one request waiting, the newest. While
 * a newer request waits, a run is cancelled as soon as something of it has been shown, or after `patienceMs`.
 */

export interface LatestOptions<Request, Result> {
  /** Runs; tells when something of the run is about to be shown before its end. */
  readonly run: (request: Request, signal: AbortSignal, onShown: () => void) => Promise<Result>;
  /** A result that comes although its run was overtaken is dropped. */
  readonly onResult: (result: Result, request: Request) => void;
  readonly onError: (error: unknown, request: Request) => void;
  /** Called when the last run asked for has ended, however it ended. */
  readonly onIdle?: () => void;
  readonly patienceMs?: number;
}

export class Latest<Request, Result> {
  readonly #options: LatestOptions<Request, Result>;
  #current: AbortController | undefined;
  #isShown = false;
  #next: Request | undefined;

  constructor(options: LatestOptions<Request, Result>) {
    this.#options = options;
  }

  /** Whether a run is going on. */
  get busy(): boolean {
    return this.#current !== undefined;
  }

  request(request: Request): void {
    if (this.#current === undefined) {
      void this.#start(request);
      return;
    }
    const isFirstToWait = this.#next === undefined;
    this.#next = request;
    if (this.#isShown) this.#overtake();
    else if (isFirstToWait) {
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

  /** Starts what waits at once, so that it runs while the picture of the one before is drawn. */
  #goOn(): boolean {
    const next = this.#next;
    if (next === undefined) return false;
    this.#next = undefined;
    void this.#start(next);
    return true;
  }

  #overtake(): void {
    const overtaken = this.#current;
    if (this.#goOn()) overtaken?.abort();
  }

  async #start(request: Request): Promise<void> {
    const { run, onResult, onError, onIdle } = this.#options;
    const controller = new AbortController();
    this.#current = controller;
    this.#isShown = false;
    const isCurrent = () => this.#current === controller;
    try {
      const result = await run(request, controller.signal, () => {
        if (!isCurrent()) return;
        this.#isShown = true;
        this.#overtake();
      });
      if (!isCurrent()) return;
      if (!this.#goOn()) this.#current = undefined;
      onResult(result, request);
    } catch (error) {
      if (isCurrent() && !this.#goOn()) this.#current = undefined;
      // What is wrong with a run that was overtaken is no news.
      if (!this.busy) onError(error, request);
    }
    if (!this.busy) onIdle?.();
  }
}
