import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Cancelled, EngineError } from "../../src/engine/api.ts";
import type { SweepOptions } from "../../src/engine/sweep.ts";
import type { Control, RunRequest, Summary } from "../../src/engine/types.ts";
import type { RunState } from "../../src/lab/runController.ts";
import { stubStageRoom } from "../fixtures/stageRoom.ts";

interface Swept extends SweepOptions {
  readonly end: () => void;
  readonly fail: (error: Error) => void;
}
const sweeps: Swept[] = [];
let ready: () => Promise<void>;
vi.mock("../../src/engine/sweep.ts", () => ({
  prepareSweep: () => ready(),
  sweep: (_: readonly RunRequest[], options: SweepOptions) =>
    new Promise<void>((end, fail) => {
      options.signal.addEventListener("abort", () => fail(new Cancelled()));
      sweeps.push({ ...options, end, fail });
    }),
}));
const { trail } = await import("../../src/page/shared/trail.ts");

const range = [1, 8, 16, 32, 64];

const servers: Control = { path: "servers", title: "Servers", help: "", value: 16, min: 1, max: 64, scale: "log2" };
const other: Control = { path: "window", title: "Window", help: "", value: 20, min: 1, max: 64 };
const summary = (value: number) => ({ metrics: { m: value }, units: { m: "Mbit/s" } }) as unknown as Summary;

function made(isCovered = false, isOpen = () => true) {
  let state: RunState = { variant: "a", set: {}, seed: 1 };
  const controller = {
    run: undefined,
    sweep: () => ({ values: range, requests: range.map((value) => ({ case: `${value}` })) }),
    get state() {
      return state;
    },
  };
  const built = trail({
    dial: { metric: "m", label: "The client gets" },
    controller,
    isCovered: () => isCovered,
    isOpen,
  });
  built.offer([servers, other]);
  const visit = (next: Partial<RunState>, value: number) => {
    state = { ...state, ...next };
    built.visit(summary(value), state);
    vi.advanceTimersByTime(20); // until the next frame
  };
  const dots = (name: string) =>
    Array.from(built.element.querySelectorAll(`circle.${name} title`), (dot) => dot.textContent);
  const line = () => built.element.querySelector("path.whole")?.getAttribute("d")?.split("L").length ?? 0;
  const status = () => built.element.querySelector(".trail-status")!.textContent;
  return { ...built, visit, dots, line, status };
}

let see: (() => void)[] = [];
beforeEach(() => {
  stubStageRoom();
  vi.useFakeTimers();
  sweeps.length = 0;
  see = [];
  ready = () => Promise.resolve();
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      readonly told: (entries: { isIntersecting: boolean }[]) => void;
      constructor(told: (entries: { isIntersecting: boolean }[]) => void) {
        this.told = told;
      }
      observe = () => see.push(() => this.told([{ isIntersecting: true }]));
      disconnect = () => undefined;
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("the trail", () => {
  it("leaves a dot for each visited value of the knob", () => {
    const { visit, dots } = made();
    visit({}, 60);
    visit({ set: { servers: 4 } }, 936);
    visit({ set: { servers: 4 } }, 936);
    expect(dots("visited")).toEqual(["4: 936\u00a0Mbit/s", "16: 60.0\u00a0Mbit/s"]);
    expect(dots("faint")).toEqual([]);
  });

  it("keeps what was visited in another variant as faint dots", () => {
    const { visit, dots } = made();
    visit({}, 60);
    visit({ variant: "b" }, 900);
    expect(dots("visited")).toHaveLength(1);
    expect(dots("faint")).toHaveLength(1);
  });

  it("follows the knob that moves", () => {
    const { element, visit } = made();
    visit({ set: { window: 4 } }, 937);
    expect(element.querySelector(".trail-title")!.textContent).toContain("Window");
  });

  it("shows no number that would answer the question", () => {
    const { visit, dots } = made(true);
    visit({ set: { servers: 4 } }, 936);
    expect(dots("visited")).toEqual([]);
  });
});

describe("the whole range", () => {
  const rested_ms = 220;

  /** A trail in the window that has seen a first run. */
  function begun(isOpen?: () => boolean) {
    const built = made(false, isOpen);
    for (const come of see) come();
    built.visit({}, 60);
    return built;
  }

  async function rest(ms = rested_ms) {
    await vi.advanceTimersByTimeAsync(ms);
  }

  function run(of: Swept, index: number) {
    of.onRun(index, summary(range[index]!), index + 1);
  }

  it("comes by itself while nothing moves, but for what was visited", async () => {
    const { line, status, visit } = begun();
    await rest(150);
    expect(sweeps).toHaveLength(0);
    await rest();
    expect(sweeps).toHaveLength(1);
    const [swept] = sweeps;
    expect(range.map((_, index) => swept!.isKnown!(index))).toEqual([false, false, true, false, false]);
    run(swept!, 0);
    await rest(20);
    expect([line(), status()]).toEqual([2, ""]);
    for (const index of [1, 3, 4]) run(swept!, index);
    swept!.end();
    await rest();
    expect([line(), sweeps.length]).toEqual([range.length, 1]);
    visit({ set: { servers: 8 } }, 500);
    await rest();
    expect([line(), sweeps.length]).toEqual([range.length, 1]);
  });

  it("does not come before the question is answered", async () => {
    let isOpen = false;
    const { open } = begun(() => isOpen);
    await rest(5000);
    expect(sweeps).toHaveLength(0);
    isOpen = true;
    open();
    await rest();
    expect(sweeps).toHaveLength(1);
  });

  it("does not come out of sight", async () => {
    const { visit } = made();
    visit({}, 60);
    await rest(5000);
    expect(sweeps).toHaveLength(0);
    for (const come of see) come();
    await rest();
    expect(sweeps).toHaveLength(1);
  });

  it("makes room for the hand, and goes on with what is missing", async () => {
    const { makeRoom, visit, line } = begun();
    await rest();
    run(sweeps[0]!, 4);
    makeRoom();
    expect(sweeps[0]!.signal.aborted).toBe(true);
    await rest(1000);
    expect(sweeps).toHaveLength(1);
    visit({ set: { servers: 8 } }, 500);
    await rest();
    expect(range.map((_, index) => sweeps[1]!.isKnown!(index))).toEqual([false, true, true, false, true]);
    expect(line()).toBe(3);
  });

  it("begins anew for other values of the other knobs", async () => {
    const { visit, line } = begun();
    await rest();
    for (const index of [0, 1, 3, 4]) run(sweeps[0]!, index);
    sweeps[0]!.end();
    await rest();
    visit({ variant: "b" }, 60);
    expect(line()).toBe(0);
    await rest();
    expect(range.map((_, index) => sweeps[1]!.isKnown!(index))).toEqual([false, false, true, false, false]);
  });

  it("is left to the reader where it takes too long", async () => {
    const { visit, line } = begun();
    await rest();
    run(sweeps[0]!, 0);
    await rest(900);
    expect([sweeps[0]!.signal.aborted, line()]).toEqual([true, 0]);
    visit({ set: { servers: 8 } }, 500);
    await rest(5000);
    expect(sweeps).toHaveLength(1);
    visit({ variant: "b" }, 500);
    await rest();
    expect(sweeps).toHaveLength(2);
  });

  it("does not count the time that its threads take to start", async () => {
    let start: (() => void) | undefined;
    ready = () => new Promise((resolve) => (start = resolve));
    begun();
    await rest(5000);
    expect(sweeps).toHaveLength(0);
    start!();
    await rest(0);
    expect(sweeps[0]!.signal.aborted).toBe(false);
  });

  it.each([new EngineError([{ path: "servers", message: "no" }]), new Error("The engine stopped")])(
    "is left to the reader where it fails, who is told once they ask: %s",
    async (error) => {
      const { element, visit, line, status } = begun();
      await rest();
      run(sweeps[0]!, 0);
      sweeps[0]!.fail(error);
      await rest(5000);
      visit({ set: { servers: 8 } }, 500);
      await rest(5000);
      expect([sweeps.length, line(), status()]).toEqual([1, 0, ""]);
      element.querySelector<HTMLElement>(".whole-range")!.click();
      sweeps[1]!.fail(error);
      await rest();
      expect(status()).toBe(error.message);
    },
  );

  it("is computed at once and to the end for who asks, though it came by itself before", async () => {
    const { element, status } = begun();
    await rest();
    element.querySelector<HTMLElement>(".whole-range")!.click();
    expect(sweeps.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    await rest(5000);
    run(sweeps[1]!, 1);
    expect(status()).toBe("2 of 5");
    expect(sweeps[1]!.signal.aborted).toBe(false);
  });
});
