/**
 * The pool that a reader builds: what was chosen, what it comes to, and what its tests gave. No element is touched here.
 *
 * 1. A choice asks the engine what the pool comes to; whatever runs is of another pool, and stops.
 * 2. Once a choice is made, the tests run one after the other.
 * 3. What all tests gave is compared with the pool before, or with one that the reader kept.
 * 4. A price changes no result: what was measured, or runs, stays.
 */
import { Cancelled } from "../../engine/api.ts";
import type { DesignPart, PoolDesign, RunRequest, Summary, Value } from "../../engine/types.ts";
import { bindsOf, runOf, type Measured } from "./poolTests.ts";

/** Numbers by part; prices by `prices.` and the part. */
export type Numbers = Readonly<Record<string, number>>;
export type Results = ReadonlyMap<string, Measured>;

export const pricePrefix = "prices.";

/** A pool that was measured, kept to be compared with others. */
export interface KeptPool {
  readonly design: PoolDesign;
  readonly measured: Results;
}

export interface PoolHost {
  design(request: Record<string, number | Numbers>): Promise<PoolDesign>;
  run(
    request: RunRequest,
    options: { readonly signal: AbortSignal; readonly onProgress: (share: number) => void },
  ): Promise<Pick<Summary, "metrics">>;
}

export interface PoolListeners {
  /** Something that is shown of the pool has changed. */
  onChange(): void;
  /** Numbers were replaced at once, not by the field that shows them. */
  onNumbers(): void;
  /** The cost curve is outdated: it is for another pool, or for other prices. */
  onOutdated(): void;
  /** The pool is one to come back to; the one that the page opens with is not a step. */
  onStep(isOpening: boolean): void;
  onBusy(isBusy: boolean): void;
  /** The share of all tests that is done, 0 to 1. */
  onProgress(share: number): void;
  onAccepted(): void;
  onError(error: unknown): void;
}

export interface PoolOptions {
  readonly host: PoolHost;
  /** The pool that the engine designs when nothing is chosen. */
  readonly defaults: PoolDesign;
  readonly chosen: Numbers;
  readonly listeners: PoolListeners;
}

export class PoolController {
  readonly defaults: PoolDesign;
  readonly #host: PoolHost;
  readonly #listeners: PoolListeners;
  #chosen: Numbers;
  #design: PoolDesign;
  #measured: Results = new Map();
  #before: Results = new Map();
  /** Results of the initial pool, with which experiments are compared. */
  #atStart: Results = new Map();
  #kept: KeptPool | undefined;
  #running: string | undefined;
  #stop = new AbortController();
  #asked = 0;
  #hasOpened = false;

  constructor({ host, defaults, chosen, listeners }: PoolOptions) {
    this.defaults = defaults;
    this.#host = host;
    this.#design = defaults;
    this.#chosen = chosen;
    this.#listeners = listeners;
  }

  get chosen(): Numbers {
    return this.#chosen;
  }

  /** Return the evaluation of the chosen numbers. */
  get design(): PoolDesign {
    return this.#design;
  }

  get measured(): Results {
    return this.#measured;
  }

  /** Return the results with which the tests are compared: those of the kept pool, or of the previous one. */
  get compared(): Results {
    return this.#kept?.measured ?? this.#before;
  }

  get kept(): KeptPool | undefined {
    return this.#kept;
  }

  /** The test that runs now. */
  get running(): string | undefined {
    return this.#running;
  }

  get isMeasured(): boolean {
    return this.#measured.size === this.#design.tests.length;
  }

  /** Return how many tests keep a part busy, and how many wait; nothing before all have run. */
  get tally(): { readonly busy: number; readonly waiting: number } | undefined {
    if (!this.isMeasured) return undefined;
    const { tests } = this.#design;
    const waiting = tests.filter((test) => bindsOf(test, this.#measured.get(test.name)) === "waiting").length;
    return { busy: tests.length - waiting, waiting };
  }

  number(name: string): number {
    return numberIn(this.#chosen, name, this.defaults.parts);
  }

  priceOf({ name, price }: DesignPart): number {
    return this.#chosen[pricePrefix + name] ?? price;
  }

  /** Runs the tests of the pool that the page opens with; a pool that cannot be built is left for the default one. */
  async begin(): Promise<void> {
    await this.measure();
    if (this.#asked === 1 && this.#measured.size === 0) this.#chosen = {};
  }

  /** Chooses numbers while the hand moves: tells what they come to, and runs nothing. */
  async preview(numbers: Numbers): Promise<void> {
    this.#chosen = { ...this.#chosen, ...numbers };
    await this.#ask();
  }

  /** Chooses numbers, and runs the tests. */
  async choose(numbers: Numbers): Promise<void> {
    this.#chosen = { ...this.#chosen, ...numbers };
    await this.measure();
  }

  /** Chooses a layout, with the number of disks that is nearest and makes whole groups. */
  async chooseLayout(width: number, parity: number): Promise<void> {
    this.#chosen = { ...this.#chosen, width, parity, disks: wholeGroups(this.number("disks"), width) };
    this.#listeners.onNumbers();
    await this.measure();
  }

  /** Replaces every number, and runs the tests. */
  async replace(numbers: Numbers): Promise<void> {
    this.#show(numbers);
    await this.measure();
  }

  /** Measures an idea beside the pool that the page starts with, which may have to be measured first. */
  async compare(numbers: Numbers): Promise<void> {
    const prices = Object.fromEntries(Object.entries(this.#chosen).filter(([name]) => name.startsWith(pricePrefix)));
    if (this.#atStart.size === 0) {
      this.#show(prices);
      if (!(await this.measure())) return;
    }
    this.#measured = this.#atStart;
    this.#show({ ...prices, ...numbers });
    await this.measure();
  }

  async setPrice(part: string, price: number): Promise<void> {
    this.#chosen = { ...this.#chosen, [pricePrefix + part]: price };
    try {
      this.#design = await this.designWith({});
    } catch (error) {
      this.#listeners.onError(error);
      return;
    }
    this.#listeners.onOutdated();
    this.#listeners.onAccepted();
    this.step();
    this.#listeners.onChange();
  }

  /** Evaluate the pool with other numbers of some parts. */
  designWith(numbers: Numbers): Promise<PoolDesign> {
    return this.#host.design(requestOf({ ...this.#chosen, ...numbers }));
  }

  /** Keeps the pool to compare others with it, or lets go of the one that was kept. */
  toggleKept(): void {
    this.#kept = this.#kept === undefined ? { design: this.#design, measured: this.#measured } : undefined;
    this.#listeners.onChange();
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Makes what is shown a step to come back to. */
  step(): void {
    this.#listeners.onStep(!this.#hasOpened);
    this.#hasOpened = true;
  }

  /** Runs the tests of the chosen pool; tells whether all of them did. */
  async measure(): Promise<boolean> {
    if (!(await this.#ask())) return false;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.step();
    this.#listeners.onBusy(true);
    const { tests } = this.#design;
    try {
      for (const [at, test] of tests.entries()) {
        this.#running = test.name;
        this.#listeners.onChange();
        const { metrics } = await this.#host.run(runOf(this.#design, test), {
          signal,
          onProgress: (share) => this.#listeners.onProgress((at + share) / tests.length),
        });
        if (signal.aborted) return false;
        const disksBusy = (metrics["load.devices_busy_share_percent"] ?? 0) / 100;
        this.#measured = new Map(this.#measured).set(test.name, { value: metrics[test.metric] ?? 0, disksBusy });
      }
      if (this.#isAtStart()) this.#atStart = this.#measured;
      return true;
    } catch (error) {
      if (!(error instanceof Cancelled)) this.#listeners.onError(error);
      return false;
    } finally {
      if (this.#stop.signal === signal) {
        this.#running = undefined;
        this.#listeners.onBusy(false);
        this.#listeners.onChange();
      }
    }
  }

  /** Asks what the chosen numbers come to. Whatever runs is of another pool, and stops. */
  async #ask(): Promise<boolean> {
    this.stop();
    const mine = ++this.#asked;
    try {
      const found = await this.designWith({});
      if (mine !== this.#asked) return false;
      this.#design = found;
    } catch (error) {
      if (mine === this.#asked) this.#listeners.onError(error);
      return false;
    }
    this.#listeners.onAccepted();
    if (this.isMeasured) this.#before = this.#measured;
    this.#measured = new Map();
    this.#listeners.onOutdated();
    this.#listeners.onChange();
    return true;
  }

  #show(numbers: Numbers): void {
    this.#chosen = numbers;
    this.#listeners.onNumbers();
  }

  #isAtStart(): boolean {
    const { parts } = this.defaults;
    return Object.keys(this.#chosen).every(
      (name) => name.startsWith(pricePrefix) || this.number(name) === numberIn({}, name, parts),
    );
  }
}

function numberIn(chosen: Numbers, name: string, parts: readonly DesignPart[]): number {
  return chosen[name] ?? parts.find((part) => part.name === name)?.number ?? 0;
}

/** The numbers among values, as a link may hold others. */
export function numbersOf(set: Readonly<Record<string, Value>>): Numbers {
  return Object.fromEntries(
    Object.entries(set).filter((entry): entry is [string, number] => typeof entry[1] === "number"),
  );
}

/** Return the engine's input: numbers by part, and prices by part. */
export function requestOf(chosen: Numbers): Record<string, number | Numbers> {
  const prices: Record<string, number> = {};
  const request: Record<string, number | Numbers> = { prices };
  for (const [name, value] of Object.entries(chosen)) {
    if (name.startsWith(pricePrefix)) prices[name.slice(pricePrefix.length)] = value;
    else request[name] = value;
  }
  return request;
}

/** The multiple of a width nearest to a number of disks, one group at least. */
export function wholeGroups(disks: number, width: number): number {
  return Math.max(1, Math.round(disks / width)) * width;
}
