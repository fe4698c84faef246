/**
 * Runs the latest request, without starving.
 *
 * While a slider moves, requests come faster than runs finish. Cancelling the current run each time would show nothing until
 * the hand rests; queueing all of them would lag behind. So there is one run at a time, and only the newest request waits.
 * While a request waits, the current run is cancelled once a part of it has been shown, or after {@link patience_ms}.
 */
const patience_ms = 120;

export interface LatestOptions<Request, Result> {
  /** Starts a run, which calls `onShown` before it shows a part of its result. */
  readonly run: (request: Request, signal: AbortSignal, onShown: () => void) => Promise<Result>;
  /** Not called for a run that a newer request has overtaken. */
  readonly onResult: (result: Result, request: Request) => void;
  readonly onError: (error: unknown, request: Request) => void;
  /** Called when the last run asked for has ended, however it ended. */
  readonly onIdle?: () => void;
}

export class Latest<Request, Result> {
  readonly #options: LatestOptions<Request, Result>;
  #current: AbortController | undefined;
  #isShown = false;
  #next: Request | undefined;

  constructor(options: LatestOptions<Request, Result>) {
    this.#options = options;
  }

  /** True during a run. */
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
      }, patience_ms);
    }
  }

  /** Stops the current run and drops the waiting request. */
  cancel(): void {
    this.#next = undefined;
    this.#current?.abort();
  }

  /** Starts the waiting request at once, so that it runs while the last result is drawn. */
  #startNext(): boolean {
    const next = this.#next;
    if (next === undefined) return false;
    this.#next = undefined;
    void this.#start(next);
    return true;
  }

  #overtake(): void {
    const overtaken = this.#current;
    if (this.#startNext()) overtaken?.abort();
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
      if (!this.#startNext()) this.#current = undefined;
      onResult(result, request);
    } catch (error) {
      if (isCurrent() && !this.#startNext()) this.#current = undefined;
      // An error of an overtaken run is not reported.
      if (!this.busy) onError(error, request);
    }
    if (!this.busy) onIdle?.();
  }
}
