import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Cancelled, EngineError } from "../../src/engine/api.ts";
import type { RunRequest, Summary } from "../../src/engine/types.ts";

class FakeEngine {
  static readonly started: FakeEngine[] = [];
  isClosed = false;
  constructor() {
    FakeEngine.started.push(this);
  }
  summary(request: RunRequest, signal: AbortSignal): Promise<Summary> {
    if (signal.aborted) return Promise.reject(new Cancelled());
    return answer(request, signal);
  }
  call() {
    return Promise.resolve({});
  }
  close() {
    this.isClosed = true;
  }
}
let answer: (request: RunRequest, signal: AbortSignal) => Promise<Summary>;

vi.mock("../../src/engine/client.ts", () => ({ EngineClient: FakeEngine }));
const { coarseToFine, prepareSweep, sweep } = await import("../../src/engine/sweep.ts");

const requests = Array.from({ length: 5 }, (_, nth) => ({ case: `${nth}` }));
const summary = (request: RunRequest) => ({ fingerprint: (request as { case: string }).case }) as Summary;
const signal = new AbortController().signal;

beforeEach(() => {
  answer = (request) => Promise.resolve(summary(request));
});

it("names each place once, the ends and the middle first", () => {
  expect(coarseToFine(9)).toEqual([0, 8, 4, 2, 6, 1, 3, 5, 7]);
  expect(coarseToFine(6)).toEqual([0, 5, 4, 2, 1, 3]);
  for (let count = 0; count <= 40; count += 1)
    expect(coarseToFine(count).toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, nth) => nth));
});

it("tells each run with its place, and keeps its threads for the next sweep", async () => {
  for (let nth = 0; nth < 2; nth += 1) {
    const told: [number, string, number][] = [];
    const onRun = (index: number, { fingerprint }: Summary, done: number) => told.push([index, fingerprint, done]);
    await sweep(requests, { signal, onRun, threads: 2 });
    expect(told.map(([index]) => index).toSorted()).toEqual([0, 1, 2, 3, 4]);
    expect(told.every(([index, name]) => name === `${index}`)).toBe(true);
    expect(told.map(([, , done]) => done)).toEqual([1, 2, 3, 4, 5]);
  }
  expect(FakeEngine.started).toHaveLength(2);
});

it("ends the other runs when one is refused, and when the signal is raised", async () => {
  const ended: string[] = [];
  const never = (request: RunRequest, of: AbortSignal) =>
    new Promise<Summary>((_, reject) =>
      of.addEventListener("abort", () => {
        ended.push(summary(request).fingerprint);
        reject(new Cancelled());
      }),
    );
  answer = (request, of) =>
    summary(request).fingerprint === "0" ? Promise.reject(new EngineError([])) : never(request, of);
  await expect(sweep(requests, { signal, onRun: vi.fn(), threads: 2 })).rejects.toThrow(EngineError);
  expect(ended).toEqual(["4"]);

  answer = never;
  const stop = new AbortController();
  const swept = sweep(requests, { signal: stop.signal, onRun: vi.fn(), threads: 2 });
  stop.abort();
  await expect(swept).rejects.toThrow(Cancelled);
  expect(ended).toEqual(["4", "0", "4"]);
  expect(FakeEngine.started.some(({ isClosed }) => isClosed)).toBe(false);
});

it("replaces threads that have stopped", async () => {
  answer = () => Promise.reject(new Error("The engine stopped"));
  await expect(sweep(requests, { signal, onRun: vi.fn(), threads: 2 })).rejects.toThrow("stopped");
  expect(FakeEngine.started.every(({ isClosed }) => isClosed)).toBe(true);
  answer = (request) => Promise.resolve(summary(request));
  await sweep(requests, { signal, onRun: vi.fn(), threads: 2 });
  expect(FakeEngine.started).toHaveLength(4);
});

it("runs what is not known yet, and counts the rest as done", async () => {
  const told: [number, number][] = [];
  await sweep(requests, {
    signal,
    isKnown: (index) => index % 2 === 0,
    onRun: (index, _, done) => told.push([index, done]),
    threads: 1,
  });
  expect(told).toEqual([
    [1, 4],
    [3, 5],
  ]);
});

describe("the threads", () => {
  const open = () => FakeEngine.started.filter(({ isClosed }) => !isClosed).length;
  let isHidden = false;

  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(document, "hidden", "get").mockImplementation(() => isHidden);
    setHidden(true); // ends those of other tests
    setHidden(false);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });

  function setHidden(next: boolean) {
    isHidden = next;
    document.dispatchEvent(new Event("visibilitychange"));
  }

  it.each([
    [1, 1],
    [2, 1],
    [4, 3],
    [64, 8],
  ])("leave a core to the page: of %i they take %i", async (hardwareConcurrency, count) => {
    vi.stubGlobal("navigator", { hardwareConcurrency });
    await prepareSweep();
    expect(open()).toBe(count);
  });

  it("end when no sweep has come for a while", async () => {
    await sweep(requests, { signal, onRun: vi.fn(), threads: 2 });
    vi.advanceTimersByTime(20_000);
    await sweep(requests, { signal, onRun: vi.fn(), threads: 2 });
    vi.advanceTimersByTime(20_000);
    expect(open()).toBe(2);
    vi.advanceTimersByTime(20_000);
    expect(open()).toBe(0);
  });

  it("end in the background, but neither there nor later before a sweep has ended", async () => {
    let end: (() => void) | undefined;
    answer = (request) => new Promise((resolve) => (end = () => resolve(summary(request))));
    const swept = sweep(requests.slice(0, 1), { signal, onRun: vi.fn(), threads: 1 });
    vi.advanceTimersByTime(40_000);
    expect(open()).toBe(1);
    setHidden(true);
    expect(open()).toBe(1);
    end!();
    await swept;
    expect(open()).toBe(0);
  });
});
