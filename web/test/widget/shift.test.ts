import { describe, expect, it, vi } from "vitest";
import type { Opened } from "../../src/lab/shift/protocol.ts";
import { type Kernel, renderShift } from "../../src/widget/shift.ts";

vi.stubGlobal(
  "ResizeObserver",
  class {
    observe = () => undefined;
    disconnect = () => undefined;
  },
);

const opened: Opened = {
  ticket: "TICKET 7.",
  welcome: "Welcome.",
  tools: [],
  words: [],
  clock: "03:00:00",
  start_s: 10_800,
  tries: 3,
  answers: [],
  kept: {
    seed: 7,
    weeks: null,
    own: null,
    commands: [],
    looked: [],
    named: [],
    set: {},
    seconds: 0,
    spent: 0,
    users: [[0, 0.2]],
  },
  ended: null,
};

/** A kernel that answers as it is told to. */
function kernelThat(answers: (asked: { id: string; type?: string }) => unknown) {
  const listeners = new Set<(content: unknown) => void>();
  const kernel: Kernel = {
    send: (content) => {
      const asked = content as { id: string; type?: string };
      for (const listener of listeners) listener({ id: asked.id, answer: answers(asked) });
    },
    on: (_, listener) => listeners.add(listener),
    off: (_, listener) => listeners.delete(listener),
  };
  return { kernel, listeners };
}

const settled = () => new Promise((done) => setTimeout(done, 0));

describe("a shift in a notebook", () => {
  it("shows what the kernel answers, in each of its views, and goes on from what the kernel has", async () => {
    const typed: string[] = [];
    const { kernel, listeners } = kernelThat(({ type }) => {
      if (type !== undefined) typed.push(type);
      const answers = typed.map((command) => ({ command, clock: "03:00:03", seconds: 3, points: 1, output: "PING" }));
      return { ...opened, answers };
    });
    const [one, two] = [document.createElement("div"), document.createElement("div")];
    const close = renderShift(kernel, one, vi.fn());
    await settled();
    expect(one.textContent).toContain("TICKET 7.");
    one.querySelector("input")!.value = "ping";
    one.querySelector("form")!.dispatchEvent(new Event("submit", { cancelable: true }));
    await settled();
    expect(one.querySelector("[role=log]")!.textContent).toContain("# pingPING");
    renderShift(kernel, two, vi.fn());
    await settled();
    expect(two.querySelector("[role=log]")!.textContent).toContain("# pingPING");
    close();
    expect(listeners.size).toBe(1);
  });

  it("says why there is none", async () => {
    const { kernel } = kernelThat(() => ({ problem: "No shift has begun." }));
    const fail = vi.fn();
    renderShift(kernel, document.createElement("div"), fail);
    await settled();
    expect(fail).toHaveBeenCalledWith(new Error("No shift has begun."));
  });

  it("keeps keys from the notebook, whose commands they would be", async () => {
    const { kernel } = kernelThat(() => opened);
    const [outer, root] = [document.createElement("div"), document.createElement("div")];
    outer.append(root);
    const heard = vi.fn();
    outer.addEventListener("keydown", heard);
    renderShift(kernel, root, vi.fn());
    await settled();
    root.querySelector("input")!.dispatchEvent(new KeyboardEvent("keydown", { key: "d", bubbles: true }));
    expect(heard).not.toHaveBeenCalled();
    expect(root.hasAttribute("data-lm-suppress-shortcuts")).toBe(true);
  });
});
