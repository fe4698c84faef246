/**
 * The moment shown, and how it moves: play, step, speed. One clock for the stage of a page and of a notebook.
 *
 * Play runs simulated time at a fraction of real time. When the reader prefers reduced motion, play steps from request to
 * request instead. A run that starts by itself stops after `autoplayMs`.
 */
import { firstAfter } from "./kit/lookup.ts";

export interface PlayerOptions {
  readonly onMove: (time_ns: number) => void;
  readonly onState: (isPlaying: boolean) => void;
}

/** Nothing moves by itself for longer. */
export const autoplayMs = 5000;
const steppedPauseMs = 700;
const spanMs = 4000;
const deadMs = 800;

export class Player {
  readonly #options: PlayerOptions;
  /** Times, in ns, at which something begins: what a step goes to. Rising. */
  #stops: readonly number[] = [0];
  #end_ns = 0;
  #time_ns = 0;
  #events: ArrayLike<number> = [];
  #isRacing = false;
  #frame = 0;
  #isAuto = false;
  /** The wanted moment, which a shorter run does not have yet: a run in progress arrives in parts. */
  #wished: { readonly at: number; readonly share: number } | undefined;
  #wished_ns: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Simulated seconds for each second of the reader. */
  speed = 0.1;

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  get time_ns(): number {
    return this.#time_ns;
  }

  /** The moment to stay at: the one shown, or the one that the run shown has not come to yet. */
  get kept_ns(): number {
    return this.#wished_ns ?? this.#time_ns;
  }

  get end_ns(): number {
    return this.#end_ns;
  }

  /** Whether it plays by itself, without the reader having asked. */
  get isAutoplaying(): boolean {
    return this.isPlaying && this.#isAuto;
  }

  get isPlaying(): boolean {
    return this.#frame !== 0 || this.#timer !== undefined;
  }

  /** Whether the clock races through a stretch in which nothing happens. */
  get isRacing(): boolean {
    return this.#isRacing;
  }

  /**
   * Times at which something happens, in ns, rising. Play takes at most {@link deadMs} for a stretch between two of them; without any,
   * no stretch is dead.
   */
  setEvents(events: ArrayLike<number>): void {
    this.#events = events;
  }

  /** New run, same place: the cursor stays at the same request and the same share of its cycle. */
  setStops(stops: readonly number[], end_ns: number): void {
    const place = this.#wished ?? { at: this.#index(), share: this.#share(this.#index()) };
    const { at, share } = place;
    this.#stops = stops.length === 0 ? [0] : stops;
    this.#end_ns = end_ns;
    this.#wished = at < this.#stops.length ? undefined : place;
    const kept = Math.min(at, this.#stops.length - 1);
    const from = kept < 0 ? 0 : this.#stops[kept]!;
    const to = this.#stops[kept + 1] ?? end_ns;
    this.#time_ns = Math.min(from + share * (to - from), end_ns);
  }

  /** Stays at a moment of the run before, also over parts of a run that end before it. */
  stayAt(time_ns: number): void {
    this.moveTo(time_ns);
    if (time_ns > this.#end_ns) this.#wished_ns = time_ns;
  }

  moveTo(time_ns: number): void {
    this.#wished = undefined;
    this.#wished_ns = undefined;
    this.#time_ns = Math.max(0, Math.min(time_ns, this.#end_ns));
    this.#options.onMove(this.#time_ns);
  }

  /** To the end of the request `by` places on: what a step shows is a finished request. */
  step(by: number): void {
    this.pause();
    const to = Math.max(0, Math.min(this.#index() + by, this.#stops.length - 1));
    this.moveTo(this.endOf(to));
  }

  /** Just before the request after the nth begins. */
  endOf(nth: number): number {
    return (this.#stops[nth + 1] ?? this.#end_ns + 1) - 1;
  }

  toggle(): void {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  /** Plays; for at most `forMs` and not beyond `until_ns`, when they are given. */
  play(forMs = Number.POSITIVE_INFINITY, until_ns = Number.POSITIVE_INFINITY): void {
    this.pause();
    this.#isAuto = Number.isFinite(forMs);
    if (this.#time_ns >= this.#end_ns - 1) this.#time_ns = 0;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.#playStepped(until_ns);
    else this.#playSmooth(forMs, until_ns);
    this.#options.onState(true);
  }

  /**
   * Plays automatically, up to a moment. With reduced motion, it shows at once the still picture of that moment,
   * because stepping through a whole run would take longer than automatic motion may last.
   */
  playByItself(until_ns: number, still_ns = until_ns): void {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.moveTo(still_ns);
    else this.play(autoplayMs, until_ns);
  }

  /** Plays a part of the run in {@link spanMs}, whatever the speed, and holds at its end; from a moment in it on, when that is given. */
  playSpan(from_ns: number, to_ns: number, at_ns = from_ns): void {
    this.pause();
    this.#isAuto = false;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.moveTo(to_ns);
      return;
    }
    this.moveTo(at_ns);
    if (at_ns >= to_ns) return;
    this.#playSmooth(spanMs, to_ns, (to_ns - from_ns) / (spanMs * 1e6));
    this.#options.onState(true);
  }

  /** Plays from the beginning to the end. */
  replay(): void {
    this.moveTo(0);
    this.play();
  }

  pause(): void {
    if (!this.isPlaying) return;
    this.stop();
    this.#options.onState(false);
  }

  /** Stops without a word, as before what it plays is removed. */
  stop(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = 0;
    this.#isRacing = false;
    this.#timer = undefined;
  }

  #playSmooth(forMs: number, until_ns: number, speed?: number): void {
    const begun = performance.now();
    let last = begun;
    const frame = (now: number) => {
      this.#frame = requestAnimationFrame(frame);
      // A tab that was hidden does not leap ahead.
      const passedMs = Math.min(Math.max(0, now - last), 100);
      last = now;
      this.moveTo(Math.min(until_ns, this.#time_ns + passedMs * 1e6 * (speed ?? this.#livelySpeed())));
      if (this.#time_ns >= Math.min(this.#end_ns, until_ns) || now - begun >= forMs) {
        // A span ends where it says, also when frames came late.
        if (speed !== undefined) this.moveTo(until_ns);
        this.pause();
      }
    };
    this.#frame = requestAnimationFrame(frame);
  }

  /** The speed, or the one that leaves a dead stretch in time. */
  #livelySpeed(): number {
    const next = firstAfter(this.#events.length, (nth) => this.#events[nth]!, this.#time_ns);
    const [from, to] = [this.#events[next - 1], this.#events[next]];
    const needed = from === undefined || to === undefined ? 0 : (to - from) / (deadMs * 1e6);
    this.#isRacing = needed > this.speed;
    return Math.max(this.speed, needed);
  }

  #playStepped(until_ns: number): void {
    const tick = () => {
      const next = this.#index() + 1;
      if (next >= this.#stops.length || this.#time_ns >= until_ns) {
        this.pause();
        return;
      }
      this.moveTo(this.endOf(next));
      this.#timer = setTimeout(tick, steppedPauseMs);
    };
    this.#timer = setTimeout(tick, steppedPauseMs);
  }

  #index(): number {
    let [low, high] = [0, this.#stops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#stops[middle]! <= this.#time_ns) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #share(at: number): number {
    const from = at < 0 ? 0 : this.#stops[at]!;
    const to = this.#stops[at + 1] ?? this.#end_ns;
    return to > from ? (this.#time_ns - from) / (to - from) : 0;
  }
}
