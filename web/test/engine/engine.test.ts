import { describe, expect, it, vi } from "vitest";
import type { Scenario } from "../../src/generated/scenario.ts";
import { Cancelled, EngineError, unwrap } from "../../src/engine/api.ts";
import { Latest } from "../../src/engine/latest.ts";
import {
  readResult,
  open,
  problemsOf,
  simulate,
  type Engine,
  type OpenRun,
  fillZeroColumns,
} from "../../src/engine/simulate.ts";

function fakeRun(progress: number[], overrides: Partial<OpenRun> = {}): OpenRun {
  return {
    step: vi.fn(() => progress.shift() ?? 1),
    summary: () => JSON.stringify({ ok: { metrics: {}, zero_columns: [] } }),
    columns: () =>
      JSON.stringify({
        ok: [
          { name: "a", dtype: "f64" },
          { name: "b", dtype: "u32" },
        ],
      }),
    f64: () => Float64Array.of(1),
    u32: () => Uint32Array.of(2),
    text: () => JSON.stringify({ ok: "text" }),
    free: vi.fn(),
    ...overrides,
  };
}
const engineWith = (run: OpenRun): Engine => ({ call: () => "", Run: { open: () => run } });
const breathe = () => Promise.resolve();

describe("an envelope", () => {
  it("holds a value, or every problem with where it is", () => {
    expect(unwrap('{"ok":[1]}')).toEqual([1]);
    const broken =
      '{"errors":[{"path":"jobs[0].bs","message":"\\"8q\\" is not a size"},{"path":"","message":"no devices"}]}';
    expect(() => unwrap(broken)).toThrow('jobs[0].bs: "8q" is not a size\nno devices');
  });
});

describe("a run", () => {
  it("goes in slices, tells its progress and is left open", async () => {
    const run = fakeRun([0.2, 0.6, 1]);
    const onProgress = vi.fn();
    await simulate(engineWith(run), { case: "x" }, { onProgress, breathe, sliceEvents: 5 });
    expect(onProgress.mock.calls).toEqual([[0.2], [0.6]]);
    expect(run.step).toHaveBeenCalledWith(5);
    expect(run.free).not.toHaveBeenCalled();
    expect(readResult(run, {} as Scenario).columns).toEqual({ a: Float64Array.of(1), b: Uint32Array.of(2) });
  });

  it("stops between two slices and is freed when it is cancelled", async () => {
    const run = fakeRun([0.2, 0.6, 1]);
    await expect(simulate(engineWith(run), { case: "x" }, { cancelled: () => true, breathe })).rejects.toThrow(
      Cancelled,
    );
    expect(run.step).toHaveBeenCalledTimes(1);
    expect(run.free).toHaveBeenCalledOnce();
  });

  it("is not told as it comes when it ends soon", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const step = vi.fn(() => (now += 10) / 50);
    const onPartial = vi.fn(() => Promise.resolve());
    await simulate(engineWith(fakeRun([], { step })), { case: "x" }, { onPartial, breathe: () => Promise.resolve() });
    expect(onPartial).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it("is told as it comes, not before the last picture is drawn, and has the greater part of the time to itself", async () => {
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    // Each slice takes 10 ms, and the page draws the first picture at 400 ms: 370 ms after it was told.
    const told: number[] = [];
    const drawn: (() => void)[] = [];
    const step = vi.fn(() => ((now += 10), now >= 3000 ? 1 : now / 3000));
    const onPartial = () => {
      told.push(now);
      return new Promise<void>((resolve) => drawn.push(resolve));
    };
    const draws = () => {
      if (now === 400) drawn[0]?.();
      return Promise.resolve();
    };
    await simulate(engineWith(fakeRun([], { step })), { case: "x" }, { onPartial, breathe: draws });
    expect(told).toEqual([30, 400 + 3 * 370]);
    vi.restoreAllMocks();
  });

  it("does not carry its columns of zeros, and has them again where it is looked at", () => {
    const summary = { ok: { metrics: {}, zero_columns: ["a"] } };
    const run = fakeRun([1], { summary: () => JSON.stringify(summary) });
    expect(readResult(run, {} as Scenario).columns).toEqual({ a: new Float64Array(0), b: Uint32Array.of(2) });
    const none = new Float64Array(0);
    const carried = { "ops.id": Uint32Array.of(1, 2), "ops.memory_ns": none, "ops.disk_ns": Float64Array.of(3, 4) };
    const { columns } = fillZeroColumns({ summary: { zero_columns: ["ops.memory_ns"] }, columns: carried } as never);
    expect(columns).toEqual({ ...carried, "ops.memory_ns": Float64Array.of(0, 0) });
    // Phases are numbered by the order of their columns.
    expect(Object.keys(columns)).toEqual(Object.keys(carried));
  });

  it("that exceeds a limit gives the engine's sentence", async () => {
    const run = fakeRun([0.2, -1], { summary: () => '{"errors":[{"path":"limits.events","message":"exceeded"}]}' });
    await expect(simulate(engineWith(run), { case: "x" }, { breathe })).rejects.toThrow("limits.events: exceeded");
    expect(run.free).toHaveBeenCalledOnce();
  });

  it("that is refused gives every reason", () => {
    const refuse: Engine = {
      call: () => "",
      Run: {
        open: () => {
          throw new Error('{"errors":[{"path":"variant","message":"unknown"}]}');
        },
      },
    };
    expect(() => open(refuse, { case: "x" })).toThrow(EngineError);
    expect(problemsOf(new EngineError([{ path: "a", message: "b" }]))).toEqual([{ path: "a", message: "b" }]);
    expect(problemsOf(new Error("plain"))).toEqual([{ path: "", message: "plain" }]);
  });
});

describe("latest wins", () => {
  it("runs the first and the newest, and skips what lies between", async () => {
    const seen: number[] = [];
    let finish: () => void = () => undefined;
    const latest = new Latest<number, number>({
      run: (n) => new Promise((resolve) => (finish = () => resolve(n))),
      onResult: (n) => seen.push(n),
      onError: () => undefined,
    });
    [1, 2, 3, 4].forEach((n) => latest.request(n));
    expect(latest.busy).toBe(true);
    finish();
    await vi.waitFor(() => expect(seen).toEqual([1]));
    finish();
    await vi.waitFor(() => expect(seen).toEqual([1, 4]));
    expect(latest.busy).toBe(false);
  });

  it("cancels a long run when a newer request waits, without a word", async () => {
    const errors: unknown[] = [];
    const seen: number[] = [];
    const latest = new Latest<number, number>({
      run: (n, signal) =>
        n === 1
          ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Cancelled())))
          : Promise.resolve(n),
      onResult: (n) => seen.push(n),
      onError: (error) => errors.push(error),
    });
    latest.request(1);
    latest.request(2);
    await vi.waitFor(() => expect(seen).toEqual([2]));
    expect(errors).toEqual([]);
  });

  it("goes on to the newest at once when something of a run is shown, and drops what comes of that run later", async () => {
    const started: number[] = [];
    const seen: number[] = [];
    const shown: (() => void)[] = [];
    const finish: (() => void)[] = [];
    const signals: AbortSignal[] = [];
    const onIdle = vi.fn();
    const latest = new Latest<number, number>({
      run: (n, signal, onShown) => {
        started.push(n);
        signals.push(signal);
        shown.push(onShown);
        return new Promise((resolve) => finish.push(() => resolve(n)));
      },
      onResult: (n) => seen.push(n),
      onError: () => undefined,
      onIdle,
    });
    latest.request(1);
    latest.request(2);
    latest.request(3);
    expect(started).toEqual([1]);
    shown[0]!();
    expect(started).toEqual([1, 3]);
    expect(signals[0]!.aborted).toBe(true);
    shown[1]!();
    latest.request(4);
    expect(started).toEqual([1, 3, 4]);
    finish.forEach((end) => end());
    await vi.waitFor(() => expect(seen).toEqual([4]));
    expect(onIdle).toHaveBeenCalledOnce();
    expect(latest.busy).toBe(false);
  });

  it("tells when the reader cancelled", async () => {
    const errors: unknown[] = [];
    const onIdle = vi.fn();
    const latest = new Latest<number, number>({
      run: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Cancelled()))),
      onResult: () => undefined,
      onError: (error) => errors.push(error),
      onIdle,
    });
    latest.request(1);
    latest.cancel();
    await vi.waitFor(() => expect(errors[0]).toBeInstanceOf(Cancelled));
    expect(onIdle).toHaveBeenCalledOnce();
  });
});
