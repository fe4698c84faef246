/**
 * The state machine of one interactive run, for the page and for the notebook's widget. It does not touch elements.
 *
 * 1. The reader changes the state: a variant, values, a seed.
 * 2. The controller asks the engine for a run. During a run only the newest state waits, see {@link Latest}.
 * 3. The stage shows the result and the run that it is compared with; then the listeners hear of it.
 * 4. If the engine refuses a state, the listeners hear of it, and the state goes back to the one whose result is shown, so
 *    that controls and picture always agree.
 */
import type { Result } from "../engine/api.ts";
import type { CaseDocument, Changes, Control, RunRequest, Value } from "../engine/types.ts";
import { Latest } from "../engine/latest.ts";
import type { Prediction } from "./prediction.ts";
import { valuesOf } from "./sweepValues.ts";

/** The inputs of a case's run. */
export interface RunState {
  readonly variant: string;
  /** Values that differ from the variant's own, by path. */
  readonly set: Changes;
  readonly seed: number;
}

/** A finished run. A host may keep more with it, which `free` releases. */
export interface Finished extends Result {
  readonly free?: () => void;
}

/** How the state changed: another one in its place, one that still moves under a hand, or one that the hand has let go. */
export type Change = "replaced" | "moving" | "settled";

export interface RunNews {
  /** Nothing moves and nothing newer waits. */
  readonly isSettled: boolean;
  /** It is the first run that is shown. */
  readonly isOpening: boolean;
  /** The run has not ended: this is what there is so far, or a coarse one that is drawn while a hand moves. */
  readonly isPartial: boolean;
}

export interface RunListeners<Run extends Finished> {
  readonly onResult: (run: Run, news: RunNews) => void;
  /** The run that others are compared with has become known after the one that is shown. */
  readonly onReference?: (run: Run) => void;
  readonly onState: (state: RunState, change: Change) => void;
  readonly onError: (error: unknown) => void;
  /** A run has begun after a rest, or the last one has ended. */
  readonly onBusy?: (isBusy: boolean) => void;
  readonly onProgress?: (share: number) => void;
  /** The reader wants to see the variant that the open question is about. */
  readonly onQuestion?: () => void;
}

export interface RunEngine<Run extends Finished> {
  run(
    request: RunRequest,
    options: {
      readonly signal: AbortSignal;
      readonly onProgress: (share: number) => void;
      readonly onPartial: (run: Run) => void;
    },
  ): Promise<Run>;
}

/** The stage that plays the run. */
export interface PlayedOn {
  readonly stage: { show(result: Result, reference?: Result): void };
  /** The journeys that the engine records for it; undefined if it plays none. */
  readonly journeys: Value | undefined;
}

export interface RunControllerOptions<Run extends Finished> {
  readonly document: Pick<CaseDocument, "id" | "default_variant" | "coarse" | "variants">;
  readonly engine: RunEngine<Run>;
  /** Runs the case as documented, to compare with; without it other runs are compared with the first one. */
  readonly runReference?: ((request: RunRequest) => Promise<Result>) | undefined;
  readonly playedOn?: PlayedOn | undefined;
  readonly listeners: RunListeners<Run>;
  readonly start?: Partial<RunState>;
  /** True if the values stay when the variant changes: in a notebook they belong to the cell. */
  readonly keepsValues?: boolean;
  /** Whether the first run is seen before it has ended: if not, nothing is drawn of it until then. Default: it is. */
  readonly isWatched?: () => boolean;
  /** The question before a variant. */
  readonly prediction?: Pick<Prediction, "isOpenFor">;
}

/** A state to be run, whole or coarse. */
interface Asked {
  readonly state: RunState;
  readonly isCoarse: boolean;
}

/** The seed of a run that says nothing of one. */
export const defaultSeed = 1;

/** A case as documented. */
export function documentedState({ default_variant }: Pick<CaseDocument, "default_variant">): RunState {
  return { variant: default_variant, set: {}, seed: defaultSeed };
}

/** Return the engine's request for a state. */
export function requestOf(
  id: string,
  { variant, set, seed }: { readonly [Key in keyof RunState]?: RunState[Key] | undefined },
): RunRequest {
  return {
    case: id,
    ...(variant === undefined ? {} : { variant }),
    ...(set === undefined ? {} : { set }),
    ...(seed === undefined ? {} : { seed }),
  };
}

export class RunController<Run extends Finished> {
  readonly #options: RunControllerOptions<Run>;
  readonly #latest: Latest<Asked, Run>;
  #playedOn: PlayedOn | undefined;
  #state: RunState;
  #shownState: RunState;
  #run: Run | undefined;
  #reference: Result | undefined;
  #referencesAsked = 0;
  /** Stops the first run once the reader has asked for something else. */
  readonly #opening = new AbortController();
  /** Whether a run was shown to its end. */
  #hasOpened = false;
  #isMoving = false;
  #isClosed = false;

  constructor(options: RunControllerOptions<Run>) {
    this.#options = options;
    this.#playedOn = options.playedOn;
    this.#state = { ...documentedState(options.document), ...options.start };
    this.#shownState = this.#state;
    const { listeners } = options;
    this.#latest = new Latest<Asked, Run>({
      run: (asked, signal, onShown) => this.#start(asked, signal, onShown),
      onResult: (run, { state, isCoarse }) => this.#show(run, state, isCoarse),
      onError: (error) => this.#goBack(error),
      onIdle: () => listeners.onBusy?.(false),
    });
  }

  /** Return the state that the reader wants to see. */
  get state(): RunState {
    return this.#state;
  }

  /** The run that is shown. */
  get run(): Run | undefined {
    return this.#run;
  }

  /** The run that others are compared with. */
  get reference(): Result | undefined {
    return this.#reference;
  }

  /** Takes the first run, which may have been asked for before there was a controller; resolves once a run is shown. */
  async begin(first: Promise<Run> = this.#first()): Promise<void> {
    const { document, listeners } = this.#options;
    const start = this.#state;
    try {
      const run = await first;
      // The reader may have been quicker: what is newer stays.
      if (this.#run === undefined || (this.#state === start && !this.#latest.busy)) this.#show(run, start);
      else run.free?.();
    } catch (error) {
      if (this.#isClosed) return;
      if (this.#opening.signal.aborted) {
        this.#learnReference();
        return;
      }
      listeners.onError(error);
      this.#replace(documentedState(document));
      this.#show(await this.#first(), this.#state);
    }
    this.#learnReference();
  }

  /** Shows another variant, unless a question about it is open. */
  choose(variant: string): void {
    const { prediction, listeners, keepsValues = false } = this.#options;
    if (prediction?.isOpenFor(variant) === true) {
      listeners.onState(this.#state, "settled");
      listeners.onQuestion?.();
    } else this.replace(keepsValues ? { variant } : { variant, set: {} });
  }

  /** Puts another state in the place of this one. */
  replace(changes: Partial<RunState>): void {
    this.#replace({ ...this.#state, ...changes });
    this.#ask(false);
  }

  /** Plays the run on another stage. */
  playOn(playedOn: PlayedOn, needsRun: boolean): void {
    this.#playedOn = playedOn;
    if (needsRun) this.#recordAgain();
    else if (this.#run !== undefined) playedOn.stage.show(this.#run, this.#reference);
  }

  /** Repeats the run, and the one that it is compared with, because other journeys are recorded. */
  #recordAgain(): void {
    if (this.#options.runReference !== undefined) this.#reference = undefined;
    this.replace({});
    // A run as documented is its own reference.
    if (!this.#isDocumented(this.#state)) this.#learnReference();
  }

  /** Sets fields of the scenario; `isSettled` is true once the reader lets go. */
  setValues(values: Changes, isSettled: boolean): void {
    this.#state = { ...this.#state, set: { ...this.#state.set, ...values } };
    this.#ask(!isSettled);
    this.#options.listeners.onState(this.#state, isSettled ? "settled" : "moving");
  }

  /** The variant's own values again. */
  reset(): void {
    this.replace({ set: {} });
  }

  /** The runs of a sweep of one control over its range, all else being as it is. */
  sweep(control: Control): { readonly values: readonly number[]; readonly requests: readonly RunRequest[] } {
    const { variant, set, seed } = this.#state;
    const values = valuesOf(control);
    const requests = values.map((value) =>
      this.#request({ variant, set: { ...set, "record.log": false, [control.path]: value }, seed }),
    );
    return { values, requests };
  }

  /** Stops the run that is going on. */
  cancel(): void {
    this.#latest.cancel();
  }

  /** Stops and frees; nothing is told any more. */
  close(): void {
    this.#isClosed = true;
    this.#opening.abort();
    this.#latest.cancel();
    this.#run?.free?.();
  }

  #request(state: RunState): RunRequest {
    return requestOf(this.#options.document.id, state);
  }

  /** The first run; a coarse one before it, where the whole takes long. */
  async #first(): Promise<Run> {
    const state = this.#state;
    const { signal } = this.#opening;
    if (this.#hasCoarse && this.#isWatched) {
      const coarse = await this.#start({ state, isCoarse: true }, signal);
      // A reader who was quicker has asked for something else.
      if (this.#latest.busy) return coarse;
      this.#show(coarse, state, true);
    }
    return this.#start({ state, isCoarse: false }, signal);
  }

  #start({ state, isCoarse }: Asked, signal: AbortSignal, onShown?: () => void): Promise<Run> {
    const { engine, listeners, document } = this.#options;
    // A coarse run keeps the reader's values.
    const asked = isCoarse ? { ...state, set: { ...coarseOf(document, state.variant), ...state.set } } : state;
    return engine.run(this.#recorded(this.#request(asked)), {
      signal,
      onProgress: (share) => listeners.onProgress?.(share),
      onPartial: (run) => {
        if (signal.aborted || !this.#isWatched) return;
        onShown?.();
        this.#show(run, state, true);
      },
    });
  }

  /** The request with the journeys that the stage plays. */
  #recorded(request: RunRequest): RunRequest {
    const journeys = this.#playedOn?.journeys;
    if (journeys === undefined || !("case" in request)) return request;
    return { ...request, set: { ...request.set, "record.journeys": journeys } };
  }

  get #isWatched(): boolean {
    return this.#hasOpened || this.#options.isWatched?.() !== false;
  }

  get #hasCoarse(): boolean {
    return Object.keys(coarseOf(this.#options.document, this.#state.variant)).length > 0;
  }

  #ask(isMoving: boolean): void {
    this.#opening.abort();
    this.#isMoving = isMoving;
    if (!this.#latest.busy) this.#options.listeners.onBusy?.(true);
    this.#latest.request({ state: this.#state, isCoarse: isMoving && this.#hasCoarse });
  }

  #replace(state: RunState): void {
    this.#state = state;
    this.#options.listeners.onState(state, "replaced");
  }

  #show(run: Run, state: RunState, isPartial = false): void {
    // The page may have closed while the run was in progress.
    if (this.#isClosed) {
      run.free?.();
      return;
    }
    const isOpening = !this.#hasOpened;
    this.#hasOpened ||= !isPartial;
    if (this.#run !== run) this.#run?.free?.();
    this.#run = run;
    this.#shownState = state;
    if (
      !isPartial &&
      this.#reference === undefined &&
      (this.#options.runReference === undefined || this.#isDocumented(state))
    ) {
      this.#reference = run;
    }
    this.#playedOn?.stage.show(run, this.#reference);
    this.#options.listeners.onResult(run, {
      isSettled: !this.#isMoving && !isPartial && !this.#latest.busy,
      isOpening,
      isPartial,
    });
  }

  #goBack(error: unknown): void {
    if (this.#isClosed) return;
    this.#options.listeners.onError(error);
    this.#replace(this.#shownState);
  }

  #isDocumented(state: RunState): boolean {
    return (
      state.variant === this.#options.document.default_variant &&
      Object.keys(state.set).length === 0 &&
      state.seed === defaultSeed
    );
  }

  #learnReference(): void {
    const { runReference, document, listeners } = this.#options;
    if (this.#reference !== undefined || this.#isClosed) return;
    const mine = ++this.#referencesAsked;
    void runReference?.(this.#recorded(requestOf(document.id, { variant: document.default_variant })))
      .then((result) => {
        if (mine !== this.#referencesAsked) return;
        this.#reference ??= result;
        if (this.#isClosed || this.#run === undefined) return;
        this.#playedOn?.stage.show(this.#run, this.#reference);
        listeners.onReference?.(this.#run);
      })
      .catch((error: unknown) => {
        if (mine === this.#referencesAsked) listeners.onError(error);
      });
  }
}

/** The changes with which a variant is drawn while a control moves: its own, or the case's without what it has dropped. */
export function coarseOf(
  { coarse, variants }: Pick<CaseDocument, "coarse" | "variants">,
  variant: string | undefined,
): RunState["set"] {
  const { set = {}, coarse: own } = variants.find(({ name }) => name === variant) ?? {};
  if (own != null) return own;
  const dropped = Object.keys(set).filter((path) => set[path] === null);
  const isDropped = (path: string) =>
    dropped.some((whole) => path === whole || path.startsWith(`${whole}.`) || path.startsWith(`${whole}[`));
  return Object.fromEntries(Object.entries(coarse ?? {}).filter(([path]) => !isDropped(path)));
}
