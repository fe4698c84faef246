// @vitest-environment node
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Result } from "../../src/engine/api.ts";
import type { CaseDocument } from "../../src/engine/types.ts";
import { CaseState, ownTitle } from "../../src/page/case/caseState.ts";
import { openedOn } from "../../src/page/shared/openedOn.ts";
import { afterRest, whileMoving } from "../../src/page/case/timers.ts";
import { defaultState, type PageState } from "../../src/page/shared/runLink.ts";

const document = {
  id: "q1",
  default_variant: "broken",
  view: "life",
  views: ["life", "histogram"],
  sentence: "{x} ms",
  variants: [
    { name: "broken", title: "Before", summary: "As it was." },
    { name: "fixed", title: "After", summary: "Mended." },
  ],
  ask: { measure: { metric: "x" } },
} as unknown as CaseDocument;
const start: PageState = { ...defaultState, case: "q1", variant: "fixed", set: { "a.b": 3 }, seed: 7, ui: {} };
const resultOf = (fingerprint: string) => ({ summary: { fingerprint, metrics: { x: 5 } } }) as unknown as Result;

function open({ isOpen = false, ...more }: Partial<PageState> & { readonly isOpen?: boolean } = {}) {
  return new CaseState({
    document,
    prediction: { isOpen, coveredIn: () => () => isOpen },
    start: { ...start, ...more },
  });
}

describe("a case's page", () => {
  it("begins with what its link holds, and with the case where it holds nothing", () => {
    expect(open().begin).toEqual({ variant: "fixed", set: { "a.b": 3 }, seed: 7 });
    expect(open({ variant: undefined }).begin.variant).toBe("broken");
  });

  it("keeps the tab in its address, and opens the first view that is not on the stage", () => {
    const state = open();
    expect(state.tab).toBe("histogram");
    state.openTab("iostat");
    const run = { variant: "broken", set: {}, seed: 1 };
    expect(state.pageState(run)).toEqual({ case: "q1", ...run, ui: { tab: "iostat" } });
  });

  it("goes where a link leads: to a state of its own, as it was opened, or to another case", () => {
    const state = open({ ui: { tab: "fio" } });
    expect(state.restore({ ...defaultState, case: "q2" })).toEqual({ kind: "case", id: "q2" });
    expect(state.tab).toBe("fio");
    expect(state.restore({ ...defaultState, ui: { tab: "sync" } })).toEqual({
      kind: "here",
      state: { variant: "broken", set: {}, seed: 1 },
    });
    expect(state.tab).toBe("sync");
    expect(state.restore(undefined)).toEqual({ kind: "here", state: open().begin });
    expect(state.tab).toBe("fio");
  });

  it("plays beside a run the one that is documented, once the question is answered and where they differ", () => {
    const shown = { run: resultOf("1"), reference: resultOf("2"), state: open().begin };
    expect(open().besideOf(shown)).toEqual({ result: shown.reference, label: "Before", own: ownTitle });
    expect(open().besideOf({ ...shown, state: { ...shown.state, set: {} } })?.own).toBe("After");
    expect(open({ isOpen: true }).besideOf(shown)).toBeUndefined();
    expect(open({ isOpen: true }).comparedWith(shown)).toEqual({ result: shown.reference, label: "Before" });
    for (const same of [{ reference: resultOf("1") }, { reference: undefined }, { run: undefined }]) {
      expect(open().besideOf({ ...shown, ...same })).toBeUndefined();
      expect(open().comparedWith({ ...shown, ...same })).toBeUndefined();
    }
  });

  it("says a result with the title of its variant, and hides what the question asks for", () => {
    expect(open().spoken(open().begin, resultOf("1"))).toMatch(/^After: 5(\.\d+)? ms$/);
    expect(open({ isOpen: true }).spoken(open().begin, resultOf("1"))).not.toContain("5");
    expect(open().summaryOf("fixed")).toBe("Mended.");
  });

  it("opens on the variant that its case names", () => {
    expect(openedOn(document).default_variant).toBe("broken");
    expect(openedOn({ ...document, opens: "fixed" }).default_variant).toBe("fixed");
  });
});

describe("what waits for a hand to rest", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it("is drawn at once, then a few times a second, and at last when the hand rests", () => {
    const call = vi.fn();
    const soon = whileMoving(call, { restMs: 60, intervalMs: 300 });
    soon();
    vi.advanceTimersByTime(0);
    expect(call).toHaveBeenCalledTimes(1);
    for (let moved_ms = 0; moved_ms < 900; moved_ms += 20) {
      soon();
      vi.advanceTimersByTime(20);
    }
    expect(call.mock.calls.length).toBeGreaterThanOrEqual(3);
    expect(call.mock.calls.length).toBeLessThanOrEqual(5);
    const before = call.mock.calls.length;
    soon();
    vi.advanceTimersByTime(60);
    expect(call).toHaveBeenCalledTimes(before + 1);
  });

  it("is heard once", () => {
    const call = vi.fn();
    const soon = afterRest(call, 600);
    soon();
    vi.advanceTimersByTime(599);
    soon();
    vi.advanceTimersByTime(599);
    expect(call).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(call).toHaveBeenCalledTimes(1);
  });
});
