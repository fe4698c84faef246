/**
 * The journeys of a run, as the engine recorded them: requests, the stays of each in the order of time, and marks.
 * What they are is told in `engine/model/src/kernel/journeys.rs`, whose numbers have the names of `generated/names.ts`.
 */
import { type LayerName, layerNames, type MarkName, markNames } from "../generated/names.ts";
import { column, type Result } from "./api.ts";

export {
  layerLabels,
  type LayerName,
  layerNames,
  type MarkName,
  markNames,
  type PhaseName,
} from "../generated/names.ts";

/** In place of a phase: another request was at work for it. */
export const below = 255;
const none = 0xffffffff;

/** A part of a request's life at one place. */
export interface Stay {
  readonly layer: LayerName;
  readonly part: number;
  /** The phase's name; `below` where the request that did the work is not known. */
  readonly phase: string;
  readonly from_ns: number;
  readonly to_ns: number;
}

export interface Marks {
  readonly time_ns: Float64Array;
  readonly object: Float64Array;
  readonly value: Float64Array;
}

export class Journeys {
  /** Number of requests, including parts. */
  readonly count: number;
  /** One journey in so many was kept. */
  readonly every: number;
  readonly begin_ns: Float64Array;
  readonly bytes: Float64Array;
  readonly offset: Float64Array;
  readonly job: Uint32Array;
  readonly worker: Uint32Array;
  /** Whether it writes. */
  readonly writes: Uint8Array;
  readonly owner: Uint32Array;
  /** The row of the request that it is a part of; -1 without one. */
  readonly parent: Int32Array;
  /** Stays of row `r` are those from `first[r]` up to `first[r + 1]`. */
  readonly first: Uint32Array;
  readonly layer: Uint8Array;
  readonly part: Uint32Array;
  readonly phase: Uint8Array;
  readonly from_ns: Float64Array;
  readonly to_ns: Float64Array;
  readonly phaseNames: readonly string[];
  /** When the first request began, and the last one ended. */
  readonly window: readonly [number, number];
  readonly #rows = new Map<number, number>();
  readonly #marks: ReadonlyMap<MarkName, Marks>;
  #slices: Uint32Array[] = [];
  /** Number of queries for requests in flight. */
  #looks = 0;

  constructor(result: Result) {
    const real = (name: string) => column(result, name) as Float64Array;
    const index = (name: string) => column(result, name) as Uint32Array;
    const numbers = index("journeys.request");
    this.count = numbers.length;
    this.every = index("journey.every")[0] ?? 1;
    numbers.forEach((number, row) => this.#rows.set(number, row));
    this.begin_ns = real("journeys.begin_ns");
    this.bytes = real("journeys.bytes");
    this.offset = real("journeys.offset");
    this.job = index("journeys.job");
    this.worker = index("journeys.worker");
    this.owner = index("journeys.owner");
    this.writes = Uint8Array.from(index("journeys.op"));
    this.parent = Int32Array.from(index("journeys.parent"), (number) => (number === none ? -1 : this.rowOf(number)));
    const of = index("stays.request");
    this.first = new Uint32Array(this.count + 1);
    for (const number of of) this.first[this.rowOf(number) + 1]! += 1;
    for (let row = 0; row < this.count; row++) this.first[row + 1]! += this.first[row]!;
    const place = this.first.slice();
    const order = new Uint32Array(of.length);
    of.forEach((number, nth) => (order[place[this.rowOf(number)]!++] = nth));
    const sorted = <T extends Float64Array | Uint32Array>(values: T): T =>
      (values as Float64Array).map((_, nth) => values[order[nth]!]!) as T;
    this.layer = Uint8Array.from(sorted(index("stays.layer")));
    this.part = sorted(index("stays.part"));
    this.phase = Uint8Array.from(sorted(index("stays.phase")));
    this.from_ns = sorted(real("stays.from_ns"));
    this.to_ns = sorted(real("stays.to_ns"));
    this.phaseNames = phaseNamesOf(result);
    let [begin, end] = [Infinity, 0];
    for (let row = 0; row < this.count; row++) {
      begin = Math.min(begin, this.begin_ns[row]!);
      const last = this.first[row + 1]!;
      if (last > this.first[row]!) end = Math.max(end, this.to_ns[last - 1]!);
    }
    this.window = this.count === 0 ? [0, 0] : [begin, end];
    this.#marks = marksOf(result);
  }

  rowOf(number: number): number {
    return this.#rows.get(number) ?? -1;
  }

  marks(name: MarkName): Marks {
    return this.#marks.get(name) ?? noMarks;
  }

  /** Calls `see` for every request in flight at a moment, in order of their starts. */
  each(time_ns: number, see: (row: number) => void): void {
    const [from, to] = this.window;
    if (this.count === 0 || time_ns < from || time_ns > to) return;
    const isUnderWay = (row: number) => this.begin_ns[row]! <= time_ns && this.lastOf(row) > time_ns;
    // While a hand moves, each run is looked at once or twice: to order it would take longer.
    if (this.#looks++ < fewLooks) {
      for (let row = 0; row < this.count; row++) if (isUnderWay(row)) see(row);
      return;
    }
    if (this.#slices.length === 0) this.#slice();
    for (const row of this.#slices[this.#sliceAt(time_ns)]!) if (isUnderWay(row)) see(row);
  }

  /** The stay of a request at a moment; -1 when it has none then. */
  stayAt(row: number, time_ns: number): number {
    let [low, high] = [this.first[row]!, this.first[row + 1]!];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.to_ns[middle]! <= time_ns) low = middle + 1;
      else high = middle;
    }
    return low < this.first[row + 1]! && this.from_ns[low]! <= time_ns ? low : -1;
  }

  /** Until when its stays reach. */
  lastOf(row: number): number {
    const last = this.first[row + 1]!;
    return last > this.first[row]! ? this.to_ns[last - 1]! : this.begin_ns[row]!;
  }

  /** The request without a parent that it is a part of. */
  rootOf(row: number): number {
    let at = row;
    while (this.parent[at]! >= 0) at = this.parent[at]!;
    return at;
  }

  phaseOf(stay: number): string {
    const phase = this.phase[stay]!;
    return phase === below ? "below" : (this.phaseNames[phase] ?? "below");
  }

  /** The whole life of a request: where others worked for it, their stays in its place. */
  life(row: number): Stay[] {
    const found: Stay[] = [];
    this.#follow(row, -Infinity, Infinity, 0, found);
    return found;
  }

  #follow(row: number, from_ns: number, to_ns: number, depth: number, found: Stay[]): void {
    for (let stay = this.first[row]!; stay < this.first[row + 1]!; stay++) {
      const from = Math.max(from_ns, this.from_ns[stay]!);
      const to = Math.min(to_ns, this.to_ns[stay]!);
      if (to <= from) continue;
      const part = this.part[stay]!;
      const worker = this.phase[stay] === below ? this.rowOf(part) : -1;
      // A request waits for one below it; the depth is bounded by the number of layers.
      if (worker >= 0 && depth < layerNames.length) this.#follow(worker, from, to, depth + 1, found);
      else {
        const layer = layerNames[this.layer[stay]!] ?? "workload";
        found.push({ layer, part, phase: this.phaseOf(stay), from_ns: from, to_ns: to });
      }
    }
  }

  #sliceAt(time_ns: number): number {
    const [from, to] = this.window;
    return Math.min(slices - 1, Math.floor(((time_ns - from) / Math.max(1, to - from)) * slices));
  }

  #slice(): void {
    const lists: number[][] = Array.from({ length: slices }, () => []);
    for (let row = 0; row < this.count; row++) {
      if (this.first[row + 1] === this.first[row]) continue;
      const last = this.#sliceAt(this.lastOf(row));
      for (let at = this.#sliceAt(this.begin_ns[row]!); at <= last; at++) lists[at]!.push(row);
    }
    this.#slices = lists.map((list) => Uint32Array.from(list));
  }
}

const slices = 2048;
const fewLooks = 10;
const noMarks: Marks = { time_ns: new Float64Array(), object: new Float64Array(), value: new Float64Array() };

// The operation log has a column for each phase, in the order of their numbers, after that of the latency.
function phaseNamesOf(result: Result): readonly string[] {
  const ofOps = Object.keys(result.columns).filter((name) => name.startsWith("ops.") && name.endsWith("_ns"));
  return ofOps.slice(ofOps.indexOf("ops.latency_ns") + 1).map((name) => name.slice("ops.".length, -"_ns".length));
}

function marksOf(result: Result): ReadonlyMap<MarkName, Marks> {
  const [kind, time, object, value] = ["kind", "time_ns", "object", "value"].map((name) =>
    column(result, `marks.${name}`),
  );
  const rows: number[][] = markNames.map(() => []);
  kind!.forEach((of, row) => rows[of]?.push(row));
  return new Map(
    markNames.map((name, of) => {
      const list = rows[of]!.toSorted((a, b) => time![a]! - time![b]!);
      const take = (values: ArrayLike<number>) => Float64Array.from(list, (row) => values[row]!);
      return [name, { time_ns: take(time!), object: take(object!), value: take(value!) }] as const;
    }),
  );
}

const read = new WeakMap<Result, Journeys>();

/** The journeys of a run; empty when none were asked for. */
export function journeysOf(result: Result): Journeys {
  let found = read.get(result);
  if (found === undefined) read.set(result, (found = new Journeys(result)));
  return found;
}
