import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { buildPage } from "../../src/page/shared/pageSetup.ts";
import { messageBox } from "../../src/page/shared/messages.ts";

const pauses: (() => void)[] = [];
let grow: () => void;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.stubGlobal("requestIdleCallback", (call: () => void) => pauses.push(call));
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(call: () => void) {
        grow = call;
      }

      observe(): void {
        // The test says when something grows.
      }
    },
  );
  document.body.innerHTML = `<main><section class="stage-section"></section><section id="a"></section><div
    class="after-question" id="b"></div></main><footer class="site" id="c"></footer>`;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  document.body.replaceChildren();
  pauses.length = 0;
});

describe("what is far below the window", () => {
  it("is laid out late, a section in each pause", async () => {
    await buildPage({ root: document.body, message: messageBox() }, () => undefined);
    const laidOut = () => Array.from(document.querySelectorAll(".laid-out"), ({ id }) => id);
    vi.advanceTimersByTime(5000);
    expect([laidOut(), pauses.length]).toEqual([[], 0]);
    vi.advanceTimersByTime(2000);
    const seen = [];
    for (let pause = pauses.shift(); pause !== undefined; pause = pauses.shift()) {
      pause();
      seen.push(laidOut());
    }
    expect(seen).toEqual([["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "c"]]);
  });
});

describe("what a key has given the focus", () => {
  it("stays in the window while what is above it grows, until the reader scrolls", async () => {
    await buildPage({ root: document.body, message: messageBox() }, () => undefined);
    const link = document.createElement("a");
    link.href = "#a";
    document.body.append(link);
    let top = 100;
    link.getBoundingClientRect = () => new DOMRect(0, top, 50, 20);
    Object.defineProperty(link, "matches", { value: (selector: string) => selector === ":focus-visible" });
    const shown = (link.scrollIntoView = vi.fn());
    link.focus();
    grow();
    expect(shown).not.toHaveBeenCalled();
    top = innerHeight + 120;
    grow();
    expect(shown).toHaveBeenCalledTimes(1);
    dispatchEvent(new Event("wheel"));
    grow();
    expect(shown).toHaveBeenCalledTimes(1);
  });
});
