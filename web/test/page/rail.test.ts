import { describe, expect, it, vi } from "vitest";
import { dial } from "../../src/page/shared/dial.ts";
import { rail } from "../../src/page/shared/rail.ts";
import { zfsResult } from "../fixtures/zfs.ts";

const result = zfsResult();
const starts = result.columns["groups.sync_started_ns"]!;
const steps = [
  { say: "Missing.", from: { column: "groups.sync_started_ns", nth: 1000 } },
  { say: "First.", from: { column: "groups.sync_started_ns" } },
  { say: "Second.", from: { column: "groups.sync_started_ns", nth: 2 } },
];

describe("the rail", () => {
  const made = () => {
    const play = vi.fn();
    const built = rail({ steps, play });
    built.show(result);
    const buttons = Array.from(built.element.querySelectorAll<HTMLButtonElement>(".steps button"));
    const current = () => buttons.findIndex((button) => button.getAttribute("aria-current") === "step");
    return { ...built, play, buttons, current };
  };

  it("begins with the first step that the run has a moment for, and disables the others", () => {
    const { begin, play, buttons, current } = made();
    expect(begin()).toBe(true);
    expect(current()).toBe(1);
    expect(buttons.map((button) => button.disabled)).toEqual([true, false, false]);
    expect(play.mock.calls.at(-1)![0]).toEqual({ from_ns: starts[0], to_ns: starts[0] });
  });

  it("goes on from the moment that a clip has come to", () => {
    const { begin, play } = made();
    begin(starts[0]! + 5);
    expect(play.mock.calls.at(-1)![2]).toBe(starts[0]! + 5);
  });

  it("goes on with Next and the arrow keys, not beyond its ends", () => {
    const { element, current, buttons } = made();
    const scrolled = vi.fn();
    Element.prototype.scrollIntoView = function (this: Element, how) {
      scrolled(this, how);
    };
    element.querySelector<HTMLButtonElement>(".next-step")!.click();
    expect(current()).toBe(2);
    expect(scrolled).toHaveBeenCalledWith(buttons[2], { block: "nearest" });
    const press = (key: string) =>
      buttons[current()]!.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    press("ArrowDown");
    expect(current()).toBe(2);
    press("ArrowUp");
    expect(current()).toBe(1);
    press("ArrowUp");
    expect(current()).toBe(1);
  });

  it("plays nothing where the run has none of the moments", () => {
    const play = vi.fn();
    const built = rail({ steps: steps.slice(0, 1), play });
    built.show(result);
    expect(built.begin()).toBe(false);
    expect(play).not.toHaveBeenCalled();
  });
});

describe("the dial", () => {
  const run = (value: number) => ({
    ...result,
    summary: { ...result.summary, metrics: { m: value }, units: { m: "ms" } },
  });
  const normal = { label: "normally", variant: "fixed", value: 2.5 };

  it("shows the number with the normal one, and with the documented one once they differ", () => {
    const { element, show } = dial({ metric: "m", label: "Mean read", normal });
    show(run(25), undefined, () => false);
    expect(element.querySelector("b")!.textContent).toBe("25.0");
    expect(element.querySelector(".dial-normal")!.textContent).toContain("2.50");
    show(run(30), run(25), () => false);
    expect(element.querySelector(".dial-normal")!.textContent).toContain("25.0");
  });

  it("shows no number that would answer the question", () => {
    const { element, show } = dial({ metric: "m", label: "Mean read", normal });
    show(run(25), run(30), (metric) => metric === "m");
    expect(element.textContent).not.toMatch(/\d/);
  });
});
