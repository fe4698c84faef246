import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { firstPaint } from "../../src/engine/firstPaint.ts";

let painted: (() => void) | undefined;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { hidden: false });
  vi.stubGlobal(
    "PerformanceObserver",
    class {
      constructor(told: () => void) {
        painted = told;
      }
      observe = () => undefined;
      disconnect = () => undefined;
    },
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function isDone(promise: Promise<void>): Promise<boolean> {
  let done = false;
  void promise.then(() => (done = true));
  await vi.advanceTimersByTimeAsync(0);
  return done;
}

describe("the first paint", () => {
  it("is waited for", async () => {
    const waiting = firstPaint();
    expect(await isDone(waiting)).toBe(false);
    painted!();
    expect(await isDone(waiting)).toBe(true);
  });

  it("is not waited for in the background, where nothing is drawn", async () => {
    vi.stubGlobal("document", { hidden: true });
    expect(await isDone(firstPaint())).toBe(true);
  });

  it("is not waited for once it has been", async () => {
    vi.spyOn(performance, "getEntriesByName").mockReturnValue([{} as PerformanceEntry]);
    expect(await isDone(firstPaint())).toBe(true);
  });

  it("is not waited for forever", async () => {
    const waiting = firstPaint();
    await vi.advanceTimersByTimeAsync(2900);
    expect(await isDone(waiting)).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(await isDone(waiting)).toBe(true);
  });
});
